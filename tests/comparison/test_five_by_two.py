"""The 5×2 tests against mlxtend, a literal loop and hand-computed examples."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from mercer.comparison import five_by_two_f_test, five_by_two_t_test

# differences: (2, 1), (1, 4), (3, 1), (2, 0), (1, 4), in hundredths
A = np.array([[0.92, 0.88], [0.91, 0.90], [0.93, 0.89], [0.90, 0.90], [0.92, 0.91]])
B = np.array([[0.90, 0.87], [0.90, 0.86], [0.90, 0.88], [0.88, 0.90], [0.91, 0.87]])


def test_t_by_hand():
    result = five_by_two_t_test(A, B)
    # Σs² = (1 + 9 + 4 + 4 + 9)/2 = 13.5 in units of 1e-4
    assert result.statistic == pytest.approx(2 / np.sqrt(13.5 / 5))
    assert result.pvalue == pytest.approx(2 * stats.t.sf(2 / np.sqrt(2.7), 5))
    assert result.df == (5,)
    assert result.effect == pytest.approx(0.02)
    half = 2.5705818366147395 * np.sqrt(2.7e-4)  # t of 5 degrees of freedom at 97.5 %
    assert result.interval == pytest.approx((0.02 - half, 0.02 + half))


def test_f_by_hand():
    result = five_by_two_f_test(A, B)
    # Σp² = 4+1+1+16+9+1+4+0+1+16 = 53 in units of 1e-4
    assert result.statistic == pytest.approx(53 / 27)
    assert result.pvalue == pytest.approx(stats.f.sf(53 / 27, 10, 5))
    assert result.df == (10, 5)
    assert result.effect == pytest.approx(0.019)


def test_agrees_with_mlxtend():
    evaluate = pytest.importorskip("mlxtend.evaluate", reason="mlxtend is the peer")
    X, y = load_breast_cancer(return_X_y=True)
    models = GaussianNB(), LinearDiscriminantAnalysis()
    rng = np.random.RandomState(7)
    scores = np.zeros((2, 5, 2))
    for i in range(5):  # the peer's splits
        parts = train_test_split(X, y, test_size=0.5, random_state=rng.randint(0, 32767))
        for k, model in enumerate(models):
            scores[k, i, 0] = clone(model).fit(parts[0], parts[2]).score(parts[1], parts[3])
            scores[k, i, 1] = clone(model).fit(parts[1], parts[3]).score(parts[0], parts[2])
    for peer, test in (
        (evaluate.paired_ttest_5x2cv, five_by_two_t_test),
        (evaluate.combined_ftest_5x2cv, five_by_two_f_test),
    ):
        statistic, p = peer(*models, X, y, random_seed=7)
        result = test(*scores)
        assert result.statistic == pytest.approx(statistic, abs=1e-9)
        assert result.pvalue == pytest.approx(p, abs=1e-9)


@pytest.mark.parametrize("test", [five_by_two_t_test, five_by_two_f_test])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_interval_holds_what_the_test_does_not_reject(test, level):
    """Shift B until the test is at the edge of its level."""
    low, high = test(A, B, confidence_level=level).interval
    for edge in (low, high):
        assert test(A, B + edge).pvalue == pytest.approx(1 - level, abs=1e-9)
    assert test(A, B + (low + high) / 2).pvalue > 1 - level
    assert test(A, B + high + 0.01).pvalue < 1 - level


def test_f_without_any_acceptable_difference_has_no_interval():
    a = np.array([[1.0, 0.99], [0, 0.01], [1, 0.99], [0, 0.01], [1, 0.99]])
    result = five_by_two_f_test(a, np.zeros((5, 2)))
    assert result.significant
    assert np.isnan(result.interval).all()
    assert "(no 95 % interval: no single difference fits all replications)" in str(result)
    assert result.favours == "A"  # all ten differences point one way
    assert five_by_two_f_test(a, np.full((5, 2), 0.5)).favours == ""  # these do not


@pytest.mark.parametrize("test", [five_by_two_t_test, five_by_two_f_test])
def test_ten_scores_in_order_will_do(test):
    assert test(A.ravel(), B.ravel()) == test(A, B)


def test_f_does_not_depend_on_the_order_and_t_does():
    swapped = A[:, ::-1], B[:, ::-1]
    assert five_by_two_f_test(*swapped).pvalue == pytest.approx(five_by_two_f_test(A, B).pvalue)
    assert five_by_two_t_test(*swapped).pvalue != pytest.approx(five_by_two_t_test(A, B).pvalue)


@pytest.mark.parametrize("test", [five_by_two_t_test, five_by_two_f_test])
def test_equal_scores_are_a_tie(test):
    result = test(A, A)
    assert (result.statistic, result.pvalue, result.effect) == (0.0, 1.0, 0.0)
    assert str(result).endswith("nothing tells them apart (p = 1)")


@pytest.mark.parametrize("test", [five_by_two_t_test, five_by_two_f_test])
@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        (A[:4], B[:4], r"shape \(5, 2\) or \(10,\)"),
        (A.T, B.T, r"shape \(5, 2\) or \(10,\)"),
        (np.where(A > 0.92, np.nan, A), B, "scores_a holds nan at position 4"),
    ],
)
def test_bad_input_gets_one_clear_sentence(test, a, b, sentence):
    with pytest.raises(ValueError, match=sentence):
        test(a, b)


@pytest.mark.parametrize("test", [five_by_two_f_test, five_by_two_t_test])
@pytest.mark.parametrize("scale", [2.0**-1060, 2.0**-600, 2.0**600, 2.0**1000])
def test_scores_of_any_size_are_judged_alike(test, scale):
    """Their squares are beyond floating point, t and F are not."""
    a, b = np.random.default_rng(0).integers(0, 20, size=(2, 5, 2)).astype(float)
    here, there = test(a, b), test(a * scale, b * scale)
    assert (there.statistic, there.pvalue) == (here.statistic, here.pvalue)
    assert there.effect == pytest.approx(here.effect * scale, rel=1e-3, abs=0)
