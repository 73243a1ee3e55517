"""Cochran's Q against statsmodels, the formula as it is printed, and McNemar's test."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mercer.comparison import cochran_q_test, mcnemar_test


def literal_q(right):
    """Cochran (1950) cell by cell, for a list of rows of zeros and ones."""
    k = len(right[0])
    by_classifier = [sum(row[j] for row in right) for j in range(k)]
    by_sample = [sum(row) for row in right]
    mean = sum(by_classifier) / k
    return (
        k
        * (k - 1)
        * sum((total - mean) ** 2 for total in by_classifier)
        / (k * sum(by_sample) - sum(total**2 for total in by_sample))
    )


tables = st.integers(2, 5).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 1), min_size=k, max_size=k), min_size=1, max_size=30)
)


@given(tables)
@settings(max_examples=50, deadline=None)
def test_q_is_the_printed_formula(right):
    predictions = pd.DataFrame(right).add_prefix("m")
    result = cochran_q_test(np.ones(len(right), dtype=int), predictions)
    if result.n_informative:
        assert result.statistic == pytest.approx(literal_q(right), abs=1e-9)
        expected = stats.chi2.sf(result.statistic, len(right[0]) - 1)
        assert result.pvalue == pytest.approx(expected)
    else:
        assert (result.statistic, result.pvalue) == (0.0, 1.0)


def test_q_is_that_of_statsmodels():
    contingency = pytest.importorskip("statsmodels.stats.contingency_tables")
    rng = np.random.default_rng(0)
    right = (rng.random((80, 4)) < [0.6, 0.7, 0.8, 0.9]).astype(int)
    statistic, pvalue, df = contingency.cochrans_q(right)
    ours = cochran_q_test(np.ones(80, dtype=int), pd.DataFrame(right).add_prefix("m"))
    assert ours.statistic == pytest.approx(statistic, abs=1e-9)
    assert ours.pvalue == pytest.approx(pvalue, abs=1e-9)
    assert ours.df == (df,)


def test_q_of_two_is_mcnemar_s_chi2_without_its_correction():
    truth = np.zeros(60, dtype=int)
    a, b = np.zeros(60, dtype=int), np.zeros(60, dtype=int)
    a[:20], b[20:50] = 1, 1  # a alone is wrong 20 times, b alone 30 times
    assert cochran_q_test(truth, {"a": a, "b": b}).statistic == pytest.approx(10**2 / 50)
    corrected = mcnemar_test(truth, a, b, method="chi2").statistic
    assert corrected == pytest.approx(9**2 / 50)


def test_rows_on_which_all_agree_change_nothing():
    truth, a = np.zeros(30, dtype=int), np.arange(30) % 2
    b, c = np.arange(30) % 3 == 0, np.arange(30) % 5 == 0
    predictions = pd.DataFrame({"a": a, "b": b.astype(int), "c": c.astype(int)})
    few = cochran_q_test(truth, predictions)
    more = pd.concat([predictions, predictions * 0, predictions * 0 + 1], ignore_index=True)
    many = cochran_q_test(np.zeros(90, dtype=int), more)
    assert many.statistic == pytest.approx(few.statistic)
    assert (many.n_informative, many.n_samples) == (few.n_informative, 90)


def test_one_classifier_is_refused():
    with pytest.raises(ValueError, match="two classifiers or more for one sample or more; got 1"):
        cochran_q_test([0, 1], {"a": [0, 1]})
