"""What it takes to find a rare class: counted literally, and never flattered by rounding."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_score, recall_score

from mercer.comparison import choose_metric, threshold_table
from mercer.comparison._thresholds import rare_class_tables


def compared(is_rare, values):
    """A comparison of one model of two classes, whose probabilities of "rare" are given."""
    values = np.asarray(values)
    return SimpleNamespace(
        outputs={"model": np.column_stack([1 - values, values]).astype(np.float32)},
        classes=np.array(["often", "rare"]),
        predictions=pd.DataFrame({"y_true": np.where(is_rare, "rare", "often")}),
        has_probabilities={"model": True},
    )


@given(st.integers(0, 10_000), st.sampled_from([0.3, 0.1, 0.03]), st.booleans())
def test_figures_are_those_of_naming_by_hand(seed, share, coarse):
    rng = np.random.default_rng(seed)
    is_rare = rng.random(300) < share
    is_rare[0] = True
    values = np.clip(0.4 * is_rare + 0.6 * rng.random(300), 0, 1)
    if coarse:  # ties, and values that are thresholds themselves
        values = np.round(values, 1)
    table = threshold_table(compared(is_rare, values), "model", "rare")
    assert (np.diff(table["threshold"]) < 0).all()
    for line in table.itertuples():
        named = values.astype(np.float32) >= np.float32(line.threshold)
        assert line.recall == pytest.approx(recall_score(is_rare, named))
        if named.any():
            assert line.precision == pytest.approx(precision_score(is_rare, named))
        else:
            assert np.isnan(line.precision)
        assert line.alarms == pytest.approx(1000 * np.mean(named & ~is_rare))


def test_a_probability_that_is_the_threshold_reaches_it():
    """As float32, 0.7 is less than 0.7; seven of ten neighbours are seven tenths all the same."""
    table = threshold_table(compared([True, False], [0.7, 0.1]), "model", "rare")
    assert table.set_index("threshold").loc[0.7, "recall"] == 1


@pytest.mark.parametrize(("n_rare", "last"), [(400, 0.3), (50, 0.05), (4, 0.002)])
def test_thresholds_end_at_the_share_of_the_class(n_rare, last):
    is_rare = np.arange(1000) < n_rare
    table = threshold_table(compared(is_rare, 0.5 * is_rare), "model", "rare")
    assert table["threshold"].iloc[-1] == last
    assert table["threshold"].iloc[-1] <= max(is_rare.mean(), 0.001)


def test_rare_classes_come_rarest_first_and_only_with_probabilities():
    truth = np.repeat(["a", "b", "c", "d"], [10, 500, 20, 470])
    outputs = np.full((1000, 4), 0.25, dtype=np.float32)
    found = SimpleNamespace(
        outputs={"model": outputs, "scores only": outputs},
        classes=np.array(["a", "b", "c", "d"]),
        predictions=pd.DataFrame({"y_true": truth}),
        has_probabilities={"model": True, "scores only": False},
    )
    tables = rare_class_tables(found, ("model", "scores only", "not kept"))
    assert list(tables) == ["a", "c"]
    assert all(list(one) == ["model"] for one in tables.values())


def test_the_reason_for_balanced_accuracy_names_the_rarest():
    metric, reason = choose_metric(["a"] * 10 + ["b"] * 500 + ["c"] * 20 + ["d"] * 470)
    assert metric == "balanced"
    assert "'a' has only 1.0 % of the rows" in reason


def test_what_cannot_be_told_is_refused():
    found = compared([True, False], [0.7, 0.1])
    with pytest.raises(ValueError, match="no class 'rarest'"):
        threshold_table(found, "model", "rarest")
    with pytest.raises(ValueError, match="No probabilities of 'other'"):
        threshold_table(found, "other", "rare")
