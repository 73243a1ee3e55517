"""The Bayesian correlated t test against baycomp, an integral, and the corrected t test."""

import numpy as np
import pytest
from scipy import integrate, special

from mercer.comparison import bayesian_correlated_t_test, corrected_t_test

A = np.array([0.91, 0.89, 0.93, 0.90, 0.92, 0.88, 0.91, 0.94, 0.90, 0.92])
B = np.array([0.90, 0.90, 0.90, 0.89, 0.90, 0.88, 0.90, 0.91, 0.89, 0.91])
SIZES = {"n_train": 90, "n_test": 10}


def density(x, mean, scale, df):
    """Student's density, as it is printed."""
    z = (x - mean) / scale
    top = special.gamma((df + 1) / 2) / (special.gamma(df / 2) * np.sqrt(df * np.pi) * scale)
    return top * (1 + z**2 / df) ** (-(df + 1) / 2)


@pytest.mark.parametrize("rope", [0.0, 0.003, 0.01])
def test_probabilities_are_integrals_of_the_posterior(rope):
    d = A - B
    scale = np.sqrt((1 / 10 + 10 / 90) * d.var(ddof=1))
    result = bayesian_correlated_t_test(A, B, **SIZES, rope=rope)
    above = integrate.quad(density, rope, np.inf, args=(d.mean(), scale, 9))[0]
    below = integrate.quad(density, -np.inf, -rope, args=(d.mean(), scale, 9))[0]
    assert result.p_a == pytest.approx(above, abs=1e-7)
    assert result.p_b == pytest.approx(below, abs=1e-7)
    assert result.p_a + result.p_rope + result.p_b == pytest.approx(1)


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("rope", [0.0, 0.01])
def test_probabilities_are_those_of_baycomp(runs, rope):
    baycomp = pytest.importorskip("baycomp")
    folds = len(A) / runs
    theirs = baycomp.CorrelatedTTest.probs(A, B, rope=rope, runs=runs)
    ours = bayesian_correlated_t_test(A, B, n_train=folds - 1, n_test=1, rope=rope)
    expected = theirs if rope else (theirs[0], 0.0, theirs[1])
    assert (ours.p_a, ours.p_rope, ours.p_b) == pytest.approx(expected, abs=1e-9)


def test_without_a_region_it_is_half_the_p_value_of_the_corrected_t_test():
    p = corrected_t_test(A, B, **SIZES).pvalue
    assert bayesian_correlated_t_test(A, B, **SIZES, rope=0).p_b == pytest.approx(p / 2)


def test_scores_of_any_size_have_the_same_probabilities():
    small = bayesian_correlated_t_test(A, B, **SIZES, rope=0.01)
    large = bayesian_correlated_t_test(A * 2.0**900, B * 2.0**900, **SIZES, rope=0.01 * 2.0**900)
    assert (large.p_a, large.p_rope) == pytest.approx((small.p_a, small.p_rope))


def test_equal_scores_are_equivalent_and_a_constant_difference_has_no_scale():
    same = bayesian_correlated_t_test(A, A, **SIZES)
    assert (same.p_a, same.p_rope, same.p_b) == (0, 1, 0)
    constant = bayesian_correlated_t_test(A + 0.1, A, **SIZES)
    assert np.isnan([constant.p_a, constant.p_rope, constant.p_b]).all()


def test_a_negative_region_is_refused():
    with pytest.raises(ValueError, match="rope must be 0 or more; got -1"):
        bayesian_correlated_t_test(A, B, **SIZES, rope=-1)
