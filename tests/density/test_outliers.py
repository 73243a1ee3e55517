"""Outliers: shares, what a training row is judged by, and the fence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mercer import DensityOutlierDetector, KernelDensity


def sample(n=120, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@given(st.integers(2, 60), st.floats(0.01, 0.5), st.integers(0, 9))
def test_the_share_of_outliers_is_the_contamination(n, share, seed):
    X = sample(n, 2, seed)
    model = DensityOutlierDetector(contamination=share)
    answers = model.fit_predict(X)
    assert (answers == -1).sum() == int(share * n * (1 + 1e-12))
    assert_array_equal(model.predict(X), answers)
    # and they are the rows of least density by all others
    worst = np.argsort(model.training_scores_)[: (answers == -1).sum()]
    assert (answers[worst] == -1).all()


def test_training_rows_are_judged_without_themselves():
    X = sample()
    model = DensityOutlierDetector().fit(X)
    left_out = KernelDensity().fit(X).leave_one_out_scores()
    assert_allclose(model.training_scores_, left_out)
    assert_allclose(model.score_samples(X[::-1]), left_out[::-1])
    moved = X + 1e-9  # They are new rows, which all windows judge.
    assert_allclose(model.score_samples(moved), KernelDensity().fit(X).score_samples(moved))
    assert_allclose(model.decision_function(moved), model.score_samples(moved) - model.offset_)


def test_a_narrow_window_does_not_hide_an_outlier():
    X = sample()
    X[7] = 8.0
    for width in (0.05, 0.5):
        model = DensityOutlierDetector(contamination=1 / 120, bandwidth=width).fit(X)
        assert model.score_samples(X[7:8]) == model.training_scores_.min()


def test_weights_are_copies():
    X, times = sample(40), np.random.default_rng(1).integers(0, 4, 40)
    for contamination in ("auto", 0.2):
        model = DensityOutlierDetector(contamination=contamination)
        offset = model.fit(np.repeat(X, times, axis=0)).offset_
        answers = model.predict(X)
        assert model.fit(X, sample_weight=times).offset_ == pytest.approx(offset)
        assert_array_equal(model.predict(X), answers)


def test_the_fence_is_tukeys():
    X = sample(101, 1)
    model = DensityOutlierDetector().fit(X)
    low, high = np.quantile(model.training_scores_, [0.25, 0.75], method="lower")
    assert model.offset_ == pytest.approx(low - 3 * (high - low))


def test_rows_out_of_reach_are_outliers_with_finite_decisions():
    X = np.r_[sample(30, 1), [[50.0], [60.0]]]
    options = {"kernel": "epanechnikov", "bandwidth": 1.0}
    model = DensityOutlierDetector(contamination=0.1, **options).fit(X)
    assert np.isfinite(model.offset_)
    assert model.score_samples([[50.0], [99.0]]).tolist() == [-np.inf, -np.inf]
    assert np.isfinite(model.decision_function([[50.0], [99.0]])).all()
    assert model.predict([[50.0], [99.0], [0.0]]).tolist() == [-1, -1, 1]
    with pytest.raises(ValueError, match=r"^No training row is in reach of another"):
        DensityOutlierDetector(kernel="epanechnikov", bandwidth=1e-9).fit(X)


def test_rows_of_clean_samples_are_rarely_outliers():
    """Three in a hundred of a normal column, one in a hundred of two, and fewer of more."""
    shares = [
        np.mean([np.mean(DensityOutlierDetector().fit_predict(sample(300, d, s)) == -1)
                 for s in range(6)])
        for d in (1, 2, 8)
    ]  # fmt: skip
    assert 0.01 < shares[0] < 0.06
    assert 0.003 < shares[1] < 0.03
    assert shares[2] < 0.02
