"""Kernels by name: scikit-learn's matrices, and the numbers that stand for "scale" and "auto"."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from mercer.kernels import KernelFunction, resolve_gamma
from mercer.sums import combine_kernel

NAMES = ["rbf", "laplacian", "poly", "sigmoid", "linear", "cosine"]
PARAMETERS = {"gamma": 0.3, "degree": 2, "coef0": 0.5}


def rows(seed, n):
    return np.random.default_rng(seed).normal(size=(n, 4))


@pytest.mark.parametrize("name", NAMES)
def test_matrices_are_those_of_scikit_learn(name):
    X, Y, coef = rows(0, 20), rows(1, 7), rows(2, 7)
    X[3] = 0
    kernel = KernelFunction(name, **PARAMETERS)
    expected = pairwise_kernels(X, Y, metric=name, filter_params=True, **PARAMETERS)
    np.testing.assert_allclose(kernel.matrix(X, Y), expected, rtol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(X), kernel.matrix(X, X).diagonal(), atol=1e-15)
    np.testing.assert_allclose(combine_kernel(kernel, X, Y, coef), expected @ coef, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_only_the_profile_depends_on_gamma(name):
    X, Y = rows(0, 9), rows(1, 7)
    kernel = KernelFunction(name, **PARAMETERS)
    wider = kernel.with_gamma(0.1)
    np.testing.assert_array_equal(kernel.base(X, Y), wider.base(X, Y))
    differs = not np.array_equal(kernel.matrix(X, Y), wider.matrix(X, Y))
    assert differs == kernel.uses_gamma


def test_exponential_is_that_of_the_distance():
    X, Y, coef = rows(0, 20), rows(1, 7), rows(2, 7)
    kernel = KernelFunction("exponential", gamma=0.3)
    distance = np.sqrt(((X[:, None] - Y) ** 2).sum(axis=2))
    np.testing.assert_allclose(kernel.matrix(X, Y), np.exp(-0.3 * distance), rtol=1e-12)
    np.testing.assert_array_equal(kernel.matrix(X, X).diagonal(), 1)
    found = combine_kernel(kernel, X, Y, coef)
    np.testing.assert_allclose(found, np.exp(-0.3 * distance) @ coef, atol=1e-12)


@pytest.mark.parametrize("name", ["exponential", *NAMES])
def test_scales_multiply_the_columns(torch, name):
    X, Y, coef, scales = rows(0, 20), rows(1, 7), rows(2, 7), np.array([0.5, 3.0, 1e-3, 1.0])
    plain = KernelFunction(name, **PARAMETERS)
    kernel, A, B = plain.with_scales(scales), X * scales, Y * scales
    assert kernel.with_gamma(0.1).scales == tuple(scales)
    np.testing.assert_array_equal(kernel.scaled(X), A)
    np.testing.assert_array_equal(kernel.matrix(X, Y), plain.matrix(A, B))
    np.testing.assert_allclose(kernel.diagonal(X), plain.diagonal(A))
    expected = combine_kernel(plain, A, B, coef)
    np.testing.assert_array_equal(combine_kernel(kernel, X, Y, coef), expected)
    low, high = X.astype(np.float32), Y.astype(np.float32)
    single = kernel.single_precision_matrix(low, high)
    np.testing.assert_allclose(single, plain.matrix(A, B), rtol=1e-3, atol=2e-6)
    if name != "cosine":
        x, y, c = (torch.as_tensor(M) for M in (X, Y, coef))
        np.testing.assert_allclose(kernel.matrix(x, y).numpy(), kernel.matrix(X, Y), rtol=1e-12)
        np.testing.assert_allclose(combine_kernel(kernel, x, y, c).numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("scales", [None, [0.5, 3.0, 1e-3, 1.0]])
@pytest.mark.parametrize("kernel", ["exponential", *NAMES[:5], lambda A, B: A @ B.T + 1.0])
def test_the_diagonal_is_that_of_the_matrix(request, kernel, scales, library):
    """Of more rows than a function is asked for at once."""
    X = rows(0, 150)
    function = KernelFunction(kernel, **PARAMETERS)
    if scales is not None:
        function = function.with_scales(np.array(scales))
    expected = np.diag(function.matrix(X, X))
    if library == "torch":
        X = request.getfixturevalue("torch").as_tensor(X)
    found = function.diagonal(X)
    assert str(found.dtype).endswith("float64")
    assert type(found) is type(X)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)


def test_callables_take_two_tables_or_two_rows():
    X, Y = rows(0, 9), rows(1, 7)
    tables = KernelFunction(lambda A, B: (A @ B.T + 1) ** 2)
    two_rows = KernelFunction(lambda a, b: (a @ b + 1) ** 2, by_rows=True)
    np.testing.assert_allclose(tables.matrix(X, Y), two_rows.matrix(X, Y), rtol=1e-13)
    np.testing.assert_allclose(two_rows.diagonal(X), tables.matrix(X, X).diagonal(), rtol=1e-13)
    with pytest.raises(ValueError, match=r"shape \(9, 7\) here.* it returned shape \(7, 9\)"):
        KernelFunction(lambda A, B: B @ A.T).matrix(X, Y)


@pytest.mark.parametrize("size", [1e200, 1e-200, np.nan])
def test_values_without_products_are_refused(size):
    kernel, K = KernelFunction("linear"), np.array([[0.0, -size]])
    with pytest.raises(ValueError, match=r"size .* on the rows of X, beyond 1e-100 … 1e\+100;"):
        kernel.check_range(K)
    if size < 1:
        kernel.check_range(K, least=0.0)
    else:
        with pytest.raises(ValueError, match=r"on the rows of X, beyond 1e\+100; scale X"):
            kernel.check_range(K, least=0.0)


def test_gamma_is_what_svc_takes():
    X, y = rows(0, 30) * [1, 2, 3, 4] + 5, np.arange(30) % 2
    for gamma in ("scale", "auto", 0.7):
        assert resolve_gamma(gamma, X) == SVC(gamma=gamma).fit(X, y)._gamma
    assert resolve_gamma("scale", np.ones((3, 2))) == 1.0


def test_gamma_of_weights_is_that_of_copies():
    X, times = rows(0, 30) + 3, np.arange(30) % 4
    copies = resolve_gamma("scale", np.repeat(X, times, axis=0))
    assert resolve_gamma("scale", X, times * 1.0) == pytest.approx(copies, rel=1e-13)
    assert resolve_gamma("scale", X, np.full(30, 2.0)) == resolve_gamma("scale", X)
    assert resolve_gamma("scale", X * 1e140, np.full(30, 1e40)) > 0


def test_gamma_of_the_variance_is_half_the_inverse_mean_squared_distance_from_the_mean():
    X, times = rows(0, 30) * [1, 2, 3, 4] + 5, np.arange(30) % 4
    expected = 0.5 / ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
    assert resolve_gamma("variance", X) == pytest.approx(expected, rel=1e-13)
    copies = resolve_gamma("variance", np.repeat(X, times, axis=0))
    assert resolve_gamma("variance", X, times * 1.0) == pytest.approx(copies, rel=1e-13)
    assert resolve_gamma("variance", np.ones((3, 2)) * [1, 2]) == 1.0
