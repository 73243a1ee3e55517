"""Products of the kernel matrix of all rows with columns of any scale."""

import numpy as np
import pytest

from lazy import cut
from mercer.kernels import KernelFunction
from mercer.sums import combine_kernel, kernel_products

KERNELS = [
    KernelFunction("rbf", gamma=0.3),
    KernelFunction("exponential", gamma=0.5),
    KernelFunction("laplacian", gamma=0.2),
    KernelFunction("poly", gamma=0.2, degree=2, coef0=1.0),
    KernelFunction("linear"),
    KernelFunction("rbf", gamma=0.3).with_scales(np.array([0.5, 2.0, 1.0])),
]
ENGINE = [kernel for kernel in KERNELS if kernel.kernel not in ("poly", "linear")]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: str(kernel.kernel))


def rows(n_rows=130):
    return np.random.default_rng(0).normal(size=(n_rows, 3))


def coefficients(n_rows=130, n_columns=4):
    return np.random.default_rng(1).normal(size=(n_rows, n_columns))


def literal(kernel, X, coef):
    """Row by row, in float64."""
    X = np.asarray(kernel.scaled(X), dtype=np.float64)
    plain = KernelFunction(
        kernel.kernel, gamma=kernel.gamma, degree=kernel.degree, coef0=kernel.coef0
    )
    out = np.zeros((len(X), coef.shape[1]))
    for i, row in enumerate(X):
        difference = X - row
        match plain.kernel:
            case "rbf":
                k = np.exp(-plain.gamma * (difference**2).sum(axis=1))
            case "exponential":
                k = np.exp(-plain.gamma * np.sqrt((difference**2).sum(axis=1)))
            case "laplacian":
                k = np.exp(-plain.gamma * np.abs(difference).sum(axis=1))
            case "poly":
                k = (plain.gamma * X @ row + plain.coef0) ** plain.degree
            case "linear":
                k = X @ row
        out[i] = k @ coef
    return out


@every_kernel
def test_products_are_those_of_the_literal_matrix(kernel):
    X, coef = rows(), coefficients()
    expected = literal(kernel, X, coef)
    found = kernel_products(kernel, X, coef)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found, combine_kernel(kernel, X, X, coef), rtol=1e-9, atol=1e-11)


@every_kernel
def test_columns_may_be_of_any_scale_or_zero(kernel):
    X, scales = rows(), np.array([1e-200, 1e-100, 0.0, 1.0, 1e150, 1e200])
    coef = coefficients(n_columns=6)
    expected = literal(kernel, X, coef)
    found = kernel_products(kernel, X, coef * scales)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[:, 2], 0)
    some = scales > 0
    np.testing.assert_allclose(
        found[:, some] / scales[some], expected[:, some], rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize("kernel", ENGINE, ids=lambda kernel: str(kernel.kernel))
def test_coefficients_of_one_column_may_be_of_any_scale(kernel):
    """Small ones change no digit of sums that have a large one in reach."""
    X = rows()
    coef = np.random.default_rng(2).normal(size=(130, 2)) * np.logspace(-300, 0, 130)[:, None]
    expected = literal(kernel, X, coef)
    found = kernel_products(kernel, X, coef)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", ENGINE, ids=lambda kernel: str(kernel.kernel))
def test_rows_in_single_precision_are_summed_so_with_columns_of_any_scale(kernel):
    X, scales = rows().astype(np.float32), np.array([1e-200, 1e-30, 0.0, 1.0, 1e30, 1e200])
    coef = coefficients(n_columns=6)
    expected = literal(kernel, X, coef)
    found = kernel_products(kernel, X, coef * scales)
    assert found.dtype == np.float64
    some = scales > 0
    np.testing.assert_allclose(
        found[:, some] / scales[some], expected[:, some], atol=1e-4, rtol=1e-5
    )
    np.testing.assert_array_equal(found[:, 2], 0)
    same = np.array_equal(found, kernel_products(kernel, X.astype(np.float64), coef * scales))
    assert not same, "in float32"


@every_kernel
def test_tensors(torch, kernel):
    X, coef = rows(), coefficients()
    found = kernel_products(kernel, torch.as_tensor(X), torch.as_tensor(coef))
    assert found.dtype == torch.float64
    np.testing.assert_allclose(found.numpy(), literal(kernel, X, coef), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kernel", ENGINE, ids=lambda kernel: str(kernel.kernel))
def test_blocks_share_the_pairs_and_the_products_are_in_memory(kernel):
    dask = pytest.importorskip("dask")
    X, coef = rows(), coefficients()
    with dask.config.set(scheduler="synchronous"):
        found = kernel_products(kernel, cut(X), coef)
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, literal(kernel, X, coef), rtol=1e-9, atol=1e-11)
