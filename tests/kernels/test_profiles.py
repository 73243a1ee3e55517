"""Kernels as functions of the squared distance."""

import numpy as np
import pytest

from mercer.kernels import KERNELS, Kernel, get_kernel
from oracles import sums as oracle

NAMES = list(KERNELS)
SQUARES = np.array([0.0, 1e-300, 1e-20, 0.009, 0.5, 1.0, 3.9, 4.0, 100.0, 1e10])


@pytest.mark.parametrize("bandwidth", [0.1, 1.0, 2.0, 1e5])
@pytest.mark.parametrize("name", NAMES)
def test_log_profile_is_the_formula(name, bandwidth):
    with np.errstate(divide="ignore"):
        expected = oracle.LOG_PROFILES[name](
            SQUARES.astype(np.longdouble), np.longdouble(bandwidth)
        )
    out = get_kernel(name).log_profile(SQUARES, bandwidth)
    np.testing.assert_allclose(out, expected.astype(float), rtol=1e-13, atol=1e-18)


@pytest.mark.parametrize("bandwidth", [0.1, 1.0, 2.0, 1e5])
@pytest.mark.parametrize("name", NAMES)
def test_profile_is_the_exponential_of_its_logarithm(name, bandwidth):
    kernel = get_kernel(name)
    with np.errstate(under="ignore"):
        expected = np.exp(kernel.log_profile(SQUARES, bandwidth))
    np.testing.assert_allclose(kernel.profile(SQUARES, bandwidth), expected, rtol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_profile_is_one_at_zero_and_decreases(name):
    kernel = get_kernel(name)
    assert float(kernel.profile(0.0, 2.5)) == 1
    assert float(kernel.log_profile(0.0, 2.5)) == 0
    values = kernel.profile(np.linspace(0, 6, 50), 2.5)
    assert np.all(np.diff(values) < 0)


@pytest.mark.parametrize("name", NAMES)
def test_profile_at_infinity_is_zero(name):
    """The distance of a row that is left out."""
    kernel = get_kernel(name)
    assert float(kernel.profile(np.array(np.inf), 1.0)) == 0
    assert float(kernel.log_profile(np.array(np.inf), 1.0)) == -np.inf


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_profile_keeps_library_and_precision(name, dtype, torch):
    kernel = get_kernel(name)
    values = SQUARES[3:].astype(dtype)
    expected = kernel.profile(values, 2.0)
    assert expected.dtype == dtype
    out = kernel.profile(torch.as_tensor(values), 2.0)
    assert isinstance(out, torch.Tensor)
    assert out.numpy().dtype == dtype
    np.testing.assert_allclose(out.numpy(), expected, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("name", NAMES)
def test_coefficient_is_what_the_profile_depends_on(name):
    """k depends on coefficient(b)·rᵖ alone, and the coefficient on b**−p."""
    kernel, r = get_kernel(name), np.array([0.1, 0.5, 0.9])
    p, ratio = kernel.bandwidth_power, 3.0
    assert kernel.coefficient(ratio) == pytest.approx(kernel.coefficient(1.0) * ratio**-p)
    np.testing.assert_allclose(
        kernel.profile((ratio * r) ** 2, ratio), kernel.profile(r**2, 1.0), rtol=1e-14
    )
    if kernel.is_exponential:
        logs = -kernel.coefficient(0.7) * r**p
        np.testing.assert_allclose(kernel.log_profile(r**2, 0.7), logs, rtol=1e-14)
        doubled = 2.0 ** (-1 / p)  # the width with twice the coefficient
        np.testing.assert_allclose(
            kernel.profile(r**2, doubled), kernel.profile(r**2, 1.0) ** 2, rtol=1e-14
        )


@pytest.mark.parametrize("name", NAMES)
def test_gradients_at_zero_distance_are_finite(name, torch):
    kernel = get_kernel(name)
    for function in (kernel.profile, kernel.log_profile):
        d2 = torch.tensor([0.0, 0.25], dtype=torch.float64, requires_grad=True)
        function(d2, 2.0).sum().backward()
        assert torch.isfinite(d2.grad).all()
        assert d2.grad[1] < 0


def test_gradient_beyond_the_support_is_zero(torch):
    d2 = torch.tensor([4.0, 9.0], dtype=torch.float64, requires_grad=True)
    get_kernel("epanechnikov").profile(d2, 2.0).sum().backward()
    assert d2.grad[1] == 0
    assert torch.isfinite(d2.grad).all()


@pytest.mark.parametrize("name", NAMES)
def test_distances_from_differences(name, torch):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(5, 7)), rng.normal(size=(4, 7))
    expected = oracle.squared_distances(X, Y, name).astype(float)
    for A, B in ((X, Y), (torch.as_tensor(X), torch.as_tensor(Y))):
        differences = (A[:, f, None] - B[None, :, f] for f in range(7))
        out = np.asarray(get_kernel(name).squared_distances(differences))
        np.testing.assert_allclose(out, expected, rtol=1e-14)


def test_get_kernel():
    for name, kernel in KERNELS.items():
        assert get_kernel(name) is kernel
        assert get_kernel(kernel) is kernel
        assert kernel.name == name
        assert isinstance(kernel, Kernel)


@pytest.mark.parametrize("name", ["rbf", "Gaussian", "", None, 3, ["gaussian"]])
def test_unknown_kernel_is_refused(name):
    names = "'gaussian', 'exponential', 'laplacian', 'epanechnikov', 'cauchy'"
    sentence = rf"^kernel must be one of {names}; got .*\.$"
    with pytest.raises(ValueError, match=sentence):
        get_kernel(name)


def test_kernels_are_frozen():
    with pytest.raises(AttributeError):
        get_kernel("gaussian").name = "other"


@pytest.mark.parametrize("bandwidth", [1e-320, 1e-200, 1e200, 1e300])
@pytest.mark.parametrize("name", NAMES)
def test_bandwidths_whose_squares_are_beyond_floating_point(name, bandwidth):
    squares = np.array([0.0, 1e-300, 1.0, 1e300])
    with np.errstate(divide="ignore", over="ignore"):
        b = np.longdouble(bandwidth)
        expected = oracle.LOG_PROFILES[name](squares.astype(np.longdouble), b).astype(float)
    kernel = get_kernel(name)
    np.testing.assert_allclose(
        kernel.log_profile(squares, bandwidth), expected, rtol=1e-13, atol=1e-19
    )
    np.testing.assert_allclose(kernel.profile(squares, bandwidth), np.exp(expected), rtol=1e-13)


def test_a_cauchy_kernel_has_a_logarithm_where_its_exponent_overflows():
    out = get_kernel("cauchy").log_profile(np.array([1.7e308, np.inf]), 0.1)
    assert out[0] == pytest.approx(-np.log(1.7e308) + 2 * np.log(0.1))
    assert out[1] == -np.inf


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bandwidth", [0.0, -1.0, np.inf, np.nan])
def test_what_is_no_bandwidth_is_refused(name, bandwidth):
    kernel = get_kernel(name)
    for call in (
        lambda: kernel.profile(1.0, bandwidth),
        lambda: kernel.log_profile(1.0, bandwidth),
        lambda: kernel.coefficient(bandwidth),
        lambda: kernel.log_normaliser(bandwidth, 1),
        lambda: kernel.log_self_overlap(bandwidth, 1),
    ):
        with pytest.raises(ValueError, match="bandwidth must be positive and finite, got"):
            call()
