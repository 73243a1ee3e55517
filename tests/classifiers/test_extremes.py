"""Rows, windows and weights at the ends of floating point, each a fault that torture found."""

import numpy as np
import pytest

import mercer
from mercer.samples import check_row_weights
from oracles import exact

rng = np.random.default_rng(0)
X = np.r_[rng.normal(0, 1, (6, 2)), rng.normal(4, 1, (6, 2))]
y = np.repeat([0, 1], 6)


def test_a_light_class_has_the_width_of_its_rows():
    weights = np.where(y == 0, 0.1, 1.0)
    model = mercer.ParzenClassifier(bandwidth="silverman", per_class=True).fit(X, y, weights)
    expected = mercer.bandwidth.silverman_bandwidth(X[y == 0])
    assert model.bandwidth_[0] == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_window_that_reaches_one_class_only_has_a_finite_decision(dtype):
    model = mercer.ParzenClassifier(kernel="epanechnikov", bandwidth=1.0).fit(X.astype(dtype), y)
    decision = model.decision_function(X.astype(dtype))
    assert np.isfinite(decision).all()
    assert ((decision > 0) == y).all()


def test_append_where_the_point_outweighs_its_class():
    """1 − V/V' was lost where V is small beside x, and the score with it."""
    rows = np.array([[0.0], [0.3], [1.0], [1.4]])
    model = mercer.LaplacianClassifier(bandwidth=1.0, rule="append")
    y, weights = np.array([0, 0, 1, 1]), np.array([1e-60, 1e-60, 1.5, 1.0])
    model.fit(rows, y, sample_weight=weights)
    cuts, _ = exact.Classes(rows, y, check_row_weights(weights, 4), [[30.0]], 1.0).appended_cuts()
    expected = 4 * float(exact.log(cuts[0][0]) - exact.log(cuts[0][1]))
    assert model.decision_function([[30.0]]) == pytest.approx(expected, rel=1e-6, abs=0)


@pytest.mark.parametrize("rule", ["plane", "append"])
def test_windows_as_wide_as_a_thousand_tables_in_single_precision(rule):
    """The classes differ by a millionth of their sums, which float32 does not hold."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 200)
    rows = (rng.normal(size=(200, 3)) + labels[:, None]).astype(np.float32)
    model = mercer.ISEClassifier(bandwidth=2e3, rule=rule)
    exact = model.fit(rows.astype(float), labels).predict_proba(rows.astype(float))
    found = model.fit(rows, labels).predict_proba(rows)
    np.testing.assert_allclose(found, exact, atol=1e-6)


def test_angles_of_cauchy_schwarz_far_away_in_single_precision():
    rows = X.astype(np.float32)
    model = mercer.ISEClassifier(bandwidth=1e-8, weighting="cauchy_schwarz").fit(rows, y)
    assert np.isfinite(model.decision_function(rows * np.float32(1e21))).all()


@pytest.mark.parametrize("scale", [1e160, 1e-160])
def test_cauchy_schwarz_and_exact_leave_one_out_at_any_scale(scale):
    for model in (
        mercer.ISEClassifier(weighting="cauchy_schwarz", bandwidth="silverman"),
        mercer.LaplacianClassifier(loo="exact"),
    ):
        plain = model.fit(X, y).predict(X)
        np.testing.assert_array_equal(model.fit(X * scale, y).predict(X * scale), plain)


def test_the_machine_of_margins_ends():
    """Bounds of 1e105 kept libsvm busy for ever where copies of a row are of two classes."""
    rows, weights = np.repeat(X, 2, axis=0), 10.0 ** np.linspace(-9, 9, 24)
    model = mercer.ISEClassifier(bandwidth=1.0, weighting="margin", C=1e100)
    with pytest.raises(ValueError, match=r"weighting='margin' did not converge .* lower C=1e\+100"):
        model.fit(rows, np.arange(24) % 2, sample_weight=weights)


@pytest.mark.filterwarnings("ignore:Column 0 spreads")
def test_the_machine_of_margins_beside_an_outlier():
    """Kernel values above 1, of distances by products, gave infinite duals."""
    rows = np.r_[X, [[1e12, 0.0]]]
    model = mercer.ISEClassifier(bandwidth=1.0, weighting="margin").fit(rows, np.r_[y, 1])
    plain = mercer.ISEClassifier(bandwidth=1.0, weighting="margin").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def test_herding_where_squares_overflow():
    model = mercer.LaplacianClassifier(bandwidth=1e160, n_nodes=4).fit(X * 1e160, y)
    assert (model.predict(X * 1e160) == y).all()


def test_weights_on_rows_whose_kernels_underflow():
    """A step of the Cauchy–Schwarz weights left no kernel between classes, and divided by it."""
    x = np.array([0.0, -1, -1, -1, -1, 2, 0, 0, -3])[:, None]
    labels = [2, 2, 0, 2, 0, 1, 2, 0, 1]
    model = mercer.ISEClassifier(bandwidth=0.025118864315095794, weighting="cauchy_schwarz", C=1e6)
    assert np.isfinite(model.fit(x, labels).decision_function(x)).all()
