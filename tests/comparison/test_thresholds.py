"""What it takes to find a rare class: counted literally, by no look at true classes."""

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
    if coarse:  # many rows of one probability
        values = np.round(values, 1)
    table = threshold_table(compared(is_rare, values), "model", "rare")
    assert (np.diff(table["threshold"]) < 0).all()
    for line in table.itertuples():
        named = values.astype(np.float32) >= line.threshold
        assert line.named == pytest.approx(1000 * named.mean())
        assert line.recall == pytest.approx(recall_score(is_rare, named))
        assert line.precision == pytest.approx(precision_score(is_rare, named))
        assert line.alarms == pytest.approx(1000 * np.mean(named & ~is_rare))


def test_as_many_are_named_as_a_line_says_with_those_of_one_probability_together():
    is_rare = np.arange(1000) < 100
    smooth = threshold_table(compared(is_rare, np.linspace(1, 0, 1000)), "model", "rare")
    assert smooth["named"].tolist() == [10, 20, 50, 100, 200, 500]
    coarse = threshold_table(compared(is_rare, np.linspace(1, 0, 1000).round(1)), "model", "rare")
    assert (coarse["named"].to_numpy() >= [50, 150, 250, 500][: len(coarse)]).all()
    assert coarse["threshold"].is_unique


@pytest.mark.parametrize(("n_rare", "ends"), [(400, (50, 500)), (50, (5, 500)), (4, (0.5, 20))])
def test_lines_go_from_a_tenth_of_the_share_to_ten_times_that(n_rare, ends):
    is_rare = np.arange(10_000) < 10 * n_rare
    table = threshold_table(compared(is_rare, np.linspace(1, 0, 10_000)), "model", "rare")
    assert (table["named"].iloc[0], table["named"].iloc[-1]) == ends


@given(st.integers(0, 10_000))
def test_true_classes_do_not_move_the_thresholds(seed):
    rng = np.random.default_rng(seed)
    values, is_rare = rng.random(400), np.arange(400) < 30
    one = threshold_table(compared(is_rare, values), "model", "rare")
    other = threshold_table(compared(rng.permutation(is_rare), values), "model", "rare")
    assert one["threshold"].tolist() == other["threshold"].tolist()


def test_rare_classes_come_rarest_first_for_models_whose_outputs_were_kept():
    truth = np.repeat(["a", "b", "c", "d"], [10, 500, 20, 470])
    outputs = np.full((1000, 4), 0.25, dtype=np.float32)
    found = SimpleNamespace(
        outputs={"model": outputs},
        classes=np.array(["a", "b", "c", "d"]),
        predictions=pd.DataFrame({"y_true": truth}),
        has_probabilities={"model": True},
    )
    tables = rare_class_tables(found, ("model", "not kept"))
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
    with pytest.raises(ValueError, match="No probabilities or scores of 'other'"):
        threshold_table(found, "other", "rare")
