"""McNemar's test against hand counts, SciPy, mlxtend and a literal enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mercer.comparison import mcnemar_test
from mercer.comparison.tests._mcnemar import mcnemar_from_counts


def predictions(only_a, only_b, both=5, none=5):
    """Labels with the given counts of samples that A alone, B alone, both and none get right."""
    y = np.ones(only_a + only_b + both + none, dtype=int)
    a = np.repeat([1, 0, 1, 0], [only_a, only_b, both, none])
    b = np.repeat([0, 1, 1, 0], [only_a, only_b, both, none])
    return y, a, b


def enumerated_pvalue(only_a, only_b, *, mid):
    """Go through all 2ⁿ ways in which the disagreements could have fallen."""
    n = only_a + only_b
    gap = abs(only_a - only_b)
    beyond = same = 0
    for outcome in product([-1, 1], repeat=n):
        beyond += abs(sum(outcome)) > gap
        same += abs(sum(outcome)) == gap
    return (beyond + same * (0.5 if mid else 1)) / 2**n


def test_counts_come_from_the_predictions():
    y = ["x", "x", "y", "z", "z", "y"]
    a = ["x", "y", "y", "z", "x", "y"]  # right: 1, 0, 1, 1, 0, 1
    b = ["y", "x", "y", "y", "x", "y"]  # right: 0, 1, 1, 0, 0, 1
    result = mcnemar_test(y, a, b, names=("svc", "knn"))
    assert result.effect == pytest.approx((2 - 1) / 6)
    assert result.favours == "svc"
    assert mcnemar_test(y, b, a, names=("knn", "svc")).favours == "svc"
    assert str(result) == (
        "where they differ, svc is right 2 times and knn once of 3; that could be chance (p = 1)"
    )


def test_the_sentence_of_the_paper_s_orl_counts():
    result = mcnemar_test(*predictions(8, 2))
    assert result.pvalue == pytest.approx(2 * (1 + 10 + 45) / 1024)  # by hand
    assert str(result) == (
        "where they differ, A is right 8 times and B 2 times of 10; that could be chance (p = 0.11)"
    )


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 1), (1, 7), (3, 3), (5, 4), (0, 9), (10, 1)])
@pytest.mark.parametrize("method", ["exact", "mid-p"])
def test_binomial_methods_match_enumeration(only_a, only_b, method):
    result = mcnemar_test(*predictions(only_a, only_b), method=method)
    expected = enumerated_pvalue(only_a, only_b, mid=method == "mid-p")
    assert result.pvalue == pytest.approx(expected, abs=1e-12)
    assert result.statistic == min(only_a, only_b)
    assert result.df == ()


@settings(deadline=None)
@given(only_a=st.integers(0, 300), only_b=st.integers(0, 300))
def test_exact_matches_scipy_and_is_symmetric(only_a, only_b):
    n = only_a + only_b
    result = mcnemar_from_counts(only_a=only_a, only_b=only_b, n_samples=n + 1, method="exact")
    mirrored = mcnemar_from_counts(only_a=only_b, only_b=only_a, n_samples=n + 1, method="exact")
    expected = stats.binomtest(only_a, n, 0.5).pvalue if n else 1.0
    assert result.pvalue == pytest.approx(expected, rel=1e-9)
    assert result.pvalue == mirrored.pvalue
    assert result.effect == -mirrored.effect
    assert result.interval == pytest.approx((-mirrored.interval[1], -mirrored.interval[0]))


def test_chi2_by_hand_and_from_25_disagreements_on():
    result = mcnemar_test(*predictions(20, 5))
    assert result.statistic == pytest.approx((15 - 1) ** 2 / 25)
    assert result.df == (1,)
    assert result.pvalue == pytest.approx(stats.chi2.sf(7.84, 1))
    assert result.significant
    assert str(result).endswith("; that is unlikely to be chance (p = 0.005)")
    assert mcnemar_test(*predictions(19, 5)).df == ()  # 24 disagreements: exact
    equal = mcnemar_test(*predictions(20, 20))  # the correction stops at no difference
    assert (equal.statistic, equal.pvalue, equal.favours) == (0.0, 1.0, "")


def test_agrees_with_mlxtend_where_it_is_right():
    evaluate = pytest.importorskip("mlxtend.evaluate", reason="mlxtend is the peer")
    for only_a, only_b in [(8, 2), (30, 12), (1, 0), (200, 150), (25, 24)]:
        y, a, b = predictions(only_a, only_b)
        table = evaluate.mcnemar_table(y, a, b)
        chi2, p = evaluate.mcnemar(table, corrected=True)
        ours = mcnemar_test(y, a, b, method="chi2")
        assert ours.statistic == pytest.approx(chi2, abs=1e-9)
        assert ours.pvalue == pytest.approx(p, abs=1e-9)
        _, p = evaluate.mcnemar(table, exact=True)
        assert mcnemar_test(y, a, b, method="exact").pvalue == pytest.approx(p, abs=1e-9)


def test_differs_from_mlxtend_where_it_is_wrong():
    evaluate = pytest.importorskip("mlxtend.evaluate", reason="mlxtend is the peer")
    y, a, b = predictions(4, 4)
    chi2, p = evaluate.mcnemar(evaluate.mcnemar_table(y, a, b), corrected=True)
    assert (chi2, p < 0.73) == (1 / 8, True)  # equal counts, yet it sees a difference
    ours = mcnemar_test(y, a, b, method="chi2")
    assert (ours.statistic, ours.pvalue) == (0.0, 1.0)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        _, p = evaluate.mcnemar(evaluate.mcnemar_table(y, a, a), corrected=True)
    assert (p, mcnemar_test(y, a, a, method="chi2").pvalue) == (0.0, 1.0)


@pytest.mark.parametrize("method", ["auto", "exact", "mid-p", "chi2"])
def test_identical_predictions_are_an_answer(method):
    result = mcnemar_test([0, 1, 1], [0, 1, 0], [0, 1, 0], method=method)
    assert (result.statistic, result.pvalue, result.effect) == (0.0, 1.0, 0.0)
    assert result.interval[0] < 0 < result.interval[1]
    assert str(result) == (
        "A and B are right and wrong on the same samples; nothing tells them apart (p = 1)"
    )


def test_interval_by_hand():
    # 21 children: 1 and 7 disagreements. (1+1)/23 - (7+1)/23 = -6/23, variance (10/23 - 36/529)/23
    result = mcnemar_from_counts(only_a=1, only_b=7, n_samples=21)
    half = 1.959963984540054 * ((10 / 23 - 36 / 529) / 23) ** 0.5
    assert result.interval == pytest.approx((-6 / 23 - half, -6 / 23 + half), abs=1e-12)


def test_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    only_a, only_b, _ = rng.multinomial(150, [0.12, 0.07, 0.81], size=2000).T
    covered = [
        low <= 0.05 <= high
        for low, high in (
            mcnemar_from_counts(only_a=a, only_b=b, n_samples=150).interval
            for a, b in zip(only_a, only_b, strict=True)
        )
    ]
    low, high = stats.binom.interval(0.999, 2000, 0.95)
    assert low <= sum(covered) <= high


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        (([0, 1], [0, 1], [0]), {}, "inconsistent numbers of samples"),
        (([0.0, 1.0], [0.0, np.nan], [0.0, 1.0]), {}, "y_pred_a has no label at position 1"),
        (([], [], []), {}, "at least one sample"),
        (([0, 1], ["0", "1"], [0, 1]), {}, "[Mm]ix of label"),
        (([0, 1], [0, 1], [1, 1]), {"method": "yates"}, "method must be"),
        (([0, 1], [0, 1], [1, 1]), {"confidence_level": 95}, "confidence_level must lie"),
        (([0, 1], [0, 1], [1, 1]), {"names": "AB"}, "names must hold two names"),
    ],
)
def test_bad_input_gets_one_clear_sentence(arguments, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        mcnemar_test(*arguments, **options)
