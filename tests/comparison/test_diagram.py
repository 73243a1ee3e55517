"""The critical-difference diagram shows the ranks, and bars where the tests see no difference."""

import sys

import numpy as np
import pandas as pd
import pytest

from mercer.comparison import compare_over_datasets, plot_critical_difference

BASE = np.linspace(0.6, 0.9, 12)
WIGGLE = 0.01 * np.cos(np.arange(12) * 2.0)
SCORES = pd.DataFrame({"best": BASE + 0.05, "good": BASE + WIGGLE, "same": BASE, "bad": BASE - 0.1})


@pytest.fixture
def plt():
    matplotlib = pytest.importorskip("matplotlib", reason="extra plot")
    pytest.importorskip("scikit_posthocs", reason="extra plot")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def bars(ax):
    """Spans of the black bars below the axis."""
    lines = [line for line in ax.get_lines() if line.get_color() == "k"]
    return [(min(line.get_xdata()), max(line.get_xdata())) for line in lines]


def test_wilcoxon_bars_join_only_the_twins(plt):
    ax = compare_over_datasets(SCORES, random_state=0).plot()
    ranks = compare_over_datasets(SCORES, random_state=0).ranks
    assert bars(ax) == [tuple(sorted(ranks[["good", "same"]]))]
    labels = {text.get_text().strip() for text in ax.texts}
    assert {"best (1.00)", "(4.00) bad"} <= labels
    assert "Wilcoxon with Holm's correction" in ax.get_title()


def test_bars_go_by_the_corrected_p_values_and_the_level(plt):
    steps = np.arange(6) / 100  # six data sets, all one way: p is 2/2⁶ = 0.031, 0.094 corrected
    scores = pd.DataFrame(
        {"best": 0.9 + steps, "good": 0.8 + 3 * steps / 2, "bad": 0.7 + steps / 3}
    )
    assert bars(plot_critical_difference(scores)) == [(1.0, 3.0)]
    assert bars(plot_critical_difference(scores, confidence_level=0.9)) == []


def test_nemenyi_states_its_critical_difference(plt):
    ax = plot_critical_difference(SCORES, posthoc="nemenyi")
    assert "critical difference 1.35" in ax.get_title()  # 2.569 √(20/72)
    spans = [high - low for low, high in bars(ax)]
    assert spans
    assert max(spans) < 1.35


def test_draws_where_it_is_told(plt):
    _, ax = plt.subplots()
    assert plot_critical_difference(1 - SCORES, greater_is_better=False, ax=ax) is ax
    labels = {text.get_text().strip() for text in ax.texts}
    assert {"best (1.00)", "(4.00) bad"} <= labels  # errors rank the other way


def test_unknown_posthoc():
    with pytest.raises(ValueError, match="posthoc must be 'wilcoxon' or 'nemenyi'"):
        plot_critical_difference(SCORES, posthoc="tukey")


@pytest.mark.parametrize("missing", ["matplotlib", "scikit_posthocs"])
def test_missing_extra_is_named(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r'pip install "\.\[plot\]"'):
        plot_critical_difference(SCORES)
