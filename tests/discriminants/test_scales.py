"""Scales of the columns: derivatives, groups of dummies, and what is learned of columns."""

import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder

from mercer.discriminants import KernelFisherDiscriminant
from mercer.discriminants._coding import encode_rows
from mercer.discriminants._scales import Scaled, _Descent, dummy_groups, learn_scales
from mercer.kernels import KernelFunction
from oracles.fisher import left_out_outputs


def problem(seed=0, n_rows=40, n_classes=3):
    """Rows of five columns, with weights, copies and a group of two columns."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, 5)) + labels[:, None] * [1, 0.5, 0, 0, 0]
    weights = rng.integers(1, 4, n_rows) * 1.0
    leaving = np.where(rng.random(n_rows) < 0.5, 1.0, weights)  # one copy, or all of them
    coding = encode_rows(labels, weights, leaving, np.array([1.0, 2, 1])[:n_classes], "class")
    return X, coding, np.array([0, 1, 1, 2, 3])


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("name", ["laplacian", "rbf"])
def test_derivatives_are_those_of_finite_differences(request, name, library):
    X, coding, groups = problem()
    if library == "torch":
        X = request.getfixturevalue("torch").as_tensor(X)
    descent = _Descent(KernelFunction(name, 0.3), X, coding.like(X), groups)
    at = np.array([0.3, -0.5, 0.1, -1.0, np.log(1e-2)])
    value, slope = descent(at)
    for k in range(len(at)):
        step = 1e-5 * (np.arange(len(at)) == k)
        expected = (descent(at + step)[0] - descent(at - step)[0]) / 2e-5
        assert slope[k] == pytest.approx(expected, rel=1e-5, abs=1e-8), k
    assert np.isfinite(value)


def test_the_error_is_that_of_refitting_without_each_row():
    X, _, groups = problem()
    labels, one = np.arange(len(X)) % 3, np.ones(len(X))
    coding = encode_rows(labels, one, one, np.ones(3), "class")
    theta, kernel = np.array([0.3, -0.5, 0.1, -1.0]), KernelFunction("laplacian", 0.3)
    value, _ = _Descent(kernel, X, coding, groups)(np.append(theta, np.log(1e-2)))
    scaled = X * np.exp(theta)[groups]
    K = np.exp(-0.3 * np.abs(scaled[:, None] - scaled).sum(axis=2))
    left_out = left_out_outputs(K, coding.targets, coding.weights, 1e-2)
    error = np.sum(coding.weights[:, None] * (coding.targets - left_out) ** 2)
    prior = np.sum((theta - theta.mean()) ** 2) / len(X)
    assert value == pytest.approx(np.log(error) + prior, rel=1e-9)


def test_a_step_that_leaves_no_positive_matrix_is_a_barrier(monkeypatch):
    X, coding, groups = problem()
    monkeypatch.setattr("mercer.discriminants._scales.factor_kernel", lambda *_: None)
    value, slope = _Descent(KernelFunction("rbf", 0.3), X, coding, groups)(np.zeros(5))
    assert value == 1e10
    assert not slope.any()


def test_columns_of_a_group_get_one_scale_and_the_error_falls():
    X, coding, groups = problem()
    kernel = KernelFunction("laplacian", 0.3)
    descent = _Descent(kernel, X, coding, groups)

    def value(at):
        return descent(np.log([*at.scales[[0, 1, 3, 4]], at.alpha]))[0]

    start = Scaled(np.ones(5), 1e-2)
    found = learn_scales(kernel, X, coding, groups, start, 12)
    assert found.scales[1] == found.scales[2]
    assert len(np.unique(found.scales)) == 4
    assert value(found) < value(start) - 0.05
    # A descent that begins where another ended goes further down.
    begun = learn_scales(kernel, X, coding, groups, start, 4)
    further = learn_scales(kernel, X, coding, groups, begun, 4)
    assert value(further) < value(begun) < value(start)


def dummies(n_rows=60, n_categories=4, seed=0):
    cells = np.random.default_rng(seed).integers(0, n_categories, (n_rows, 1))
    return OneHotEncoder(sparse_output=False).fit_transform(cells)


def test_dummies_of_a_category_are_one_group():
    numbers = np.random.default_rng(1).normal(size=(60, 2))
    one, other, constant = dummies(), dummies(seed=2), np.full((60, 1), 3.0)
    np.testing.assert_array_equal(dummy_groups(one), [0, 0, 0, 0])
    np.testing.assert_array_equal(dummy_groups(0.5 * one), [0, 0, 0, 0])
    np.testing.assert_array_equal(dummy_groups(np.hstack([one, other])), [0] * 4 + [1] * 4)
    table = np.hstack([numbers[:, :1], one, numbers[:, 1:], constant, other])
    np.testing.assert_array_equal(dummy_groups(table), [0, 1, 1, 1, 1, 2, 3, 4, 4, 4, 4])
    # Another height is another kind of column; so is one that is there together with another.
    np.testing.assert_array_equal(dummy_groups(one * [1, 1, 2, 2]), [0, 0, 1, 1])
    np.testing.assert_array_equal(dummy_groups(one[:, [0, 0, 1, 2]]), [0, 1, 1, 1])
    np.testing.assert_array_equal(dummy_groups(numbers), [0, 1])
    np.testing.assert_array_equal(dummy_groups(-one), [0, 1, 2, 3])
    np.testing.assert_array_equal(dummy_groups(constant), [0])


@pytest.mark.parametrize("absent", range(4))
def test_a_category_that_no_row_of_a_sample_has_does_not_part_the_others(absent):
    one = dummies()
    np.testing.assert_array_equal(dummy_groups(one[one[:, absent] == 0]), [0, 0, 0, 0])


def exclusive_or(n_rows, seed, n_noise=10):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 2 + n_noise))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)


def test_two_columns_of_an_exclusive_or_are_found_among_noise():
    X, y = exclusive_or(400, 0)
    new, new_y = exclusive_or(1000, 1)
    plain = KernelFisherDiscriminant(kernel="laplacian").fit(X, y)
    scaled = KernelFisherDiscriminant(kernel="laplacian", column_scales="loo").fit(X, y)
    assert plain.column_scales_ is None
    assert scaled.column_scales_[:2].min() > 2 * scaled.column_scales_[2:].max()
    assert scaled.column_scales_.mean() == pytest.approx(1)
    assert set(np.argsort(scaled.column_shares_)[-2:]) == {0, 1}
    assert scaled.score(new, new_y) > plain.score(new, new_y) + 0.1
    assert scaled.choice_.startswith("Leave-one-out on up to 400 rows chose laplacian with column")


def test_scales_are_rarely_kept_where_labels_are_noise():
    kept = 0
    for seed in range(10):
        X, y = exclusive_or(150, seed, n_noise=4)
        y = np.random.default_rng(seed + 100).permutation(y)
        model = KernelFisherDiscriminant(kernel="laplacian", column_scales="loo").fit(X, y)
        kept += model.column_scales_ is not None
    assert kept <= 1
