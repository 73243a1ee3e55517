"""Several metrics in one run: the first ranks, and one correction counts all of them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from mercer.comparison import compare_in_rounds, holm_correction

METRICS = ["accuracy", "auc", "log-loss"]


@pytest.fixture(scope="module")
def compared():
    X, y = load_breast_cancer(return_X_y=True)
    models = {
        "bayes": GaussianNB(),
        "knn": KNeighborsClassifier(),
        "perceptron": Perceptron(random_state=0),  # no probabilities
        "dummy": DummyClassifier(),
    }

    def run(metric):
        return compare_in_rounds(
            models, X, y, metric=metric, floor="dummy", max_rounds=6, random_state=0
        )

    return run


@pytest.fixture(scope="module")
def several(compared):
    return compared(METRICS)


def every_view(several):
    return {several.metric: several, **several.also_by}


def test_the_first_ranks_and_the_others_are_views_of_the_same_rounds(several, compared):
    assert several.metric == "accuracy"
    assert list(several.also_by) == ["auc", "log-loss"]
    for metric, found in every_view(several).items():
        alone = compared(metric) if metric != "log-loss" else None
        if alone is None:
            continue
        pd.testing.assert_frame_equal(found.scores, alone.scores)
        kept = ["score", "low", "high", "difference"]
        pd.testing.assert_frame_equal(found.summary[kept], alone.summary[kept])
        pd.testing.assert_series_equal(found.pairs["pvalue"], alone.pairs["pvalue"])


def test_p_values_are_corrected_over_the_pairs_by_all_metrics_together(several):
    """Holm's correction written out again: of the models, and of the floor, each apart."""
    views = every_view(several).values()
    for with_floor in (False, True):
        family = [one.pairs[(one.pairs["b"] == "dummy") == with_floor] for one in views]
        plain = np.concatenate([part["pvalue"] for part in family])
        corrected = np.concatenate([part["pvalue_holm"] for part in family])
        known = np.sort(plain[~np.isnan(plain)])
        worst, expected = 0.0, {}
        for k, p in enumerate(known):
            worst = max(worst, min(1.0, (len(known) - k) * p))
            expected[p] = worst
        for p, adjusted in zip(plain, corrected, strict=True):
            assert np.isnan(adjusted) if np.isnan(p) else adjusted == pytest.approx(expected[p])


def test_verdicts_go_by_the_common_correction(several):
    for found in every_view(several).values():
        for pair in found.pairs.itertuples():
            if not np.isnan(pair.pvalue_holm):
                assert pair.verdict.endswith("is better") == (pair.pvalue_holm < 0.05)


def test_who_has_no_such_score_is_not_tested_by_it_and_costs_nobody_anything(several):
    found = several.also_by["log-loss"]
    untested = found.pairs[found.pairs["pvalue"].isna()]
    assert set(untested["a"]) | set(untested["b"]) == {"bayes", "knn", "perceptron", "dummy"}
    assert (untested["verdict"] == "not tested: perceptron has no log-loss").all()
    assert np.isnan(found.summary.loc["perceptron", "score"])
    assert found.summary.index[-1] == "perceptron"
    assert "perceptron" not in found.answer
    assert "perceptron" in several.answer


def test_a_loss_is_better_where_it_is_less(several):
    found = several.also_by["log-loss"]
    scored = found.summary["score"].dropna()
    assert scored.is_monotonic_increasing
    for pair in found.pairs.dropna(subset="pvalue").itertuples():
        gap = found.scores[pair.b].mean() - found.scores[pair.a].mean()
        assert pair.difference == pytest.approx(gap)


def test_what_is_printed_has_a_table_for_each(several):
    text = " ".join(str(several).split())
    for metric, found in several.also_by.items():
        assert f"{metric}. {found.finding}" in text


def test_one_metric_is_what_it_was(compared):
    found, listed = compared("auc"), compared(["auc"])
    assert not found.also_by
    pd.testing.assert_frame_equal(found.pairs, listed.pairs)
    assert found.answer == listed.answer


@pytest.mark.parametrize("wrong", [[], ["auc", "r2"], ["accuracy", "cost"]])
def test_wrong_metrics_are_refused_in_a_sentence(compared, wrong):
    with pytest.raises(ValueError, match=r"metric"):
        compared(wrong)


@given(st.lists(st.floats(1e-9, 1.0), min_size=2, max_size=12), st.integers(1, 4))
def test_asking_for_more_never_makes_a_p_value_smaller(pvalues, more):
    alone = holm_correction(pvalues)
    together = holm_correction([*pvalues, *pvalues[:more]])[: len(pvalues)]
    assert (together >= alone - 1e-15).all()
