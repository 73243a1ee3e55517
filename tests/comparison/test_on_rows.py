"""The corrected test of rows against its formula, its limits, and McNemar's test."""

import numpy as np
import pytest
from scipy import stats

from mercer.comparison import corrected_rows_test, corrected_t_test, mcnemar_test

RNG = np.random.default_rng(0)


def draws(n=60, repetitions=2):
    rows = np.tile(np.arange(n), repetitions)
    return (RNG.random(len(rows)) < 0.8).astype(float), (RNG.random(len(rows)) < 0.7), rows


def literal(a, b, rows, n_train):
    """Row by row, as the formula is printed."""
    means = []
    for row in sorted(set(rows)):
        gaps = [x - y for x, y, r in zip(a, b, rows, strict=True) if r == row]
        means.append(sum(gaps) / len(gaps))
    n = len(means)
    mean = sum(means) / n
    variance = sum((d - mean) ** 2 for d in means) / (n - 1)
    return mean / ((1 / n + 1 / n_train) * variance) ** 0.5


def test_it_is_its_formula():
    a, b, rows = draws()
    b = b.astype(float)
    result = corrected_rows_test(a, b, rows, n_train=54)
    expected = literal(a.tolist(), b.tolist(), rows.tolist(), 54)
    assert result.statistic == pytest.approx(expected)
    assert result.pvalue == pytest.approx(2 * stats.t.sf(abs(expected), 59))
    assert result.effect == pytest.approx((a - b).mean())
    edge = corrected_rows_test(a - result.interval[0], b, rows, n_train=54)
    assert edge.pvalue == pytest.approx(0.05)  # the interval inverts the test


def test_of_a_split_for_each_row_it_is_the_corrected_t_test():
    a, b, rows = draws(repetitions=1)
    of_rows = corrected_rows_test(a, b, rows, n_train=59)
    of_splits = corrected_t_test(a, b, n_train=59, n_test=1)
    assert of_rows.pvalue == pytest.approx(of_splits.pvalue)
    assert of_rows.interval == pytest.approx(of_splits.interval)


def test_with_endless_training_rows_it_is_nearly_mcnemar_s():
    n = 4000
    a, b = (RNG.random(n) < 0.9).astype(int), (RNG.random(n) < 0.885).astype(int)
    rows = corrected_rows_test(a, b, np.arange(n), n_train=1e12)
    chi2 = (np.sum(a > b) - np.sum(a < b)) ** 2 / np.sum(a != b)  # without continuity correction
    assert rows.statistic**2 == pytest.approx(chi2, rel=0.01)
    assert rows.favours == mcnemar_test(np.ones(n, dtype=int), a, b).favours


def test_what_was_said_again_does_not_count_as_more_rows():
    a, b, rows = draws(repetitions=1)
    once = corrected_rows_test(a, b, rows, n_train=54)
    again = corrected_rows_test(np.tile(a, 5), np.tile(b, 5), np.tile(rows, 5), n_train=54)
    assert again.pvalue == pytest.approx(once.pvalue)


def test_order_and_names_of_rows_change_nothing():
    a, b, rows = draws()
    order = RNG.permutation(len(rows))
    names = np.array([f"row {row}" for row in rows])
    expected = corrected_rows_test(a, b, rows, n_train=54).pvalue
    found = corrected_rows_test(a[order], b[order], names[order], n_train=54).pvalue
    assert found == pytest.approx(expected)


def test_rows_without_spread_are_judged_by_their_signs():
    ones, zeros = np.ones(8), np.zeros(8)
    assert corrected_rows_test(ones, zeros, range(8), n_train=7).pvalue == pytest.approx(2 / 2**8)
    assert corrected_rows_test(ones, ones, range(8), n_train=7).pvalue == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_train": 0}, "n_train must be positive and finite; got 0"),
        ({"rows": [1, 1, 1]}, "at least two scores"),
        ({"rows": [1, 2]}, "inconsistent numbers of samples"),
    ],
)
def test_what_cannot_be_tested_is_refused(options, sentence):
    given = {"rows": [1, 2, 3], "n_train": 5, **options}
    with pytest.raises(ValueError, match=sentence):
        corrected_rows_test([1, 0, 1], [0, 1, 1], **given)
