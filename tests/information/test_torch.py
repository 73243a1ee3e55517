"""Torch tensors: the same values, gradients that finite differences confirm."""

import numpy as np
import pytest

from information.samples import two_classes
from mercer import information

ONE = ["information_potential", "log_information_potential", "renyi_quadratic_entropy"]
TWO = [
    "cauchy_schwarz_divergence",
    "cross_information_potential",
    "information_cut",
    "integrated_squared_error",
    "log_cross_information_potential",
    "log_information_cut",
    "log_integrated_squared_error",
]
LABELLED = ["laplacian_information_cut", "log_laplacian_information_cut"]
KERNELS = ["gaussian", "exponential", "laplacian", "cauchy"]


@pytest.fixture
def samples(torch):
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(5, 1, generator=generator, dtype=torch.float64)
    Y = torch.randn(4, 1, generator=generator, dtype=torch.float64) + 0.7
    return X.requires_grad_(), Y.requires_grad_()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ONE)
def test_gradients_of_one_sample(torch, samples, name, kernel):
    measure = getattr(information, name)
    call = lambda X: measure(X, bandwidth=0.8, kernel=kernel, sample_weight=[1, 2, 1, 0, 3])  # noqa: E731
    assert torch.autograd.gradcheck(call, samples[:1])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", TWO)
def test_gradients_of_two_samples(torch, samples, name, kernel):
    measure = getattr(information, name)
    call = lambda X, Y: measure(X, Y, bandwidth=0.8, kernel=kernel, sample_weight_y=[1, 2, 0.5, 1])  # noqa: E731
    assert torch.autograd.gradcheck(call, samples)


@pytest.mark.parametrize("name", TWO)
def test_gradients_with_two_bandwidths(torch, samples, name):
    measure = getattr(information, name)
    assert torch.autograd.gradcheck(lambda X, Y: measure(X, Y, bandwidth=(0.5, 0.9)), samples)


@pytest.mark.parametrize("density", ["parzen", "mercer", None])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", LABELLED)
def test_gradients_of_cuts(torch, name, kernel, density):
    X = torch.randn(7, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    y, w = torch.tensor([0, 1, 2, 0, 1, 2, 2]), [1, 2, 1, 0, 3, 1, 1]
    measure = getattr(information, name)
    options = {"bandwidth": 0.8, "kernel": kernel, "density": density, "sample_weight": w}
    call = lambda X: measure(X, y, **options)  # noqa: E731
    assert torch.autograd.gradcheck(call, X.requires_grad_())


@pytest.mark.parametrize("single", [False, True])
def test_values_are_those_of_numpy(torch, single):
    X, Y = two_classes("moons")
    precision = torch.float32 if single else torch.float64
    U, V = torch.tensor(X, dtype=precision), torch.tensor(Y, dtype=precision)
    near = {"rel": 1e-4 if single else 1e-10}
    y = np.repeat([0, 1], [len(X), len(Y)])
    for rule in (0.3, "silverman"):
        calls = [
            *((getattr(information, n), (X,), (U,)) for n in ONE),
            *((getattr(information, n), (X, Y), (U, V)) for n in TWO),
            *(
                (getattr(information, n), (np.vstack([X, Y]), y), (torch.cat([U, V]), y))
                for n in LABELLED
            ),
        ]
        for measure, arrays, tensors in calls:
            found = measure(*tensors, bandwidth=rule)
            assert found.shape == ()
            assert found.dtype == precision
            assert float(found) == pytest.approx(measure(*arrays, bandwidth=rule), **near)


def test_gradients_stay_finite(torch):
    """Equal samples, samples far apart, windows that do not meet, many columns."""
    X = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    wide = torch.randn(6, 784, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    cases = [
        ("integrated_squared_error", X, X.clone(), {}),
        ("cauchy_schwarz_divergence", X, X.clone(), {}),
        ("cauchy_schwarz_divergence", X, X + 1e3, {}),
        ("log_cross_information_potential", X, X + 1e3, {}),
        ("cross_information_potential", X, X + 1e3, {"kernel": "epanechnikov"}),
        ("log_integrated_squared_error", wide, wide + 0.1, {}),
        ("cauchy_schwarz_divergence", wide, wide + 0.1, {"kernel": "exponential"}),
    ]
    for name, A, B, options in cases:
        A = A.clone().requires_grad_()
        getattr(information, name)(A, B, bandwidth=0.5, **options).backward()
        assert bool(torch.isfinite(A.grad).all()), name


def test_mixed_libraries_are_refused(torch):
    X, Y = two_classes("moons")
    with pytest.raises(TypeError, match="pass both as arrays of one library"):
        information.information_cut(torch.tensor(X), Y, bandwidth=1.0)


@pytest.mark.parametrize("name", [*ONE, *TWO, *LABELLED])
def test_transforms_give_the_gradients_of_autograd(torch, samples, name):
    X, Y = (A.detach() for A in samples)
    more = () if name in ONE else (Y,) if name in TWO else ([0, 1, 0, 1, 1],)

    def measure(X):
        return getattr(information, name)(X, *more, bandwidth=0.8)

    expected = torch.autograd.functional.jacobian(measure, X)
    for transform in (torch.func.grad, torch.func.jacrev):
        torch.testing.assert_close(transform(measure)(X), expected, rtol=1e-12, atol=1e-15)
    with pytest.raises(RuntimeError, match=r"torch\.vmap hides the values of a batch"):
        torch.vmap(measure)(torch.stack([X, X]))


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_on_a_device(torch, device):
    X, Y = two_classes("moons")
    U, V = (torch.tensor(A, device=device, requires_grad=True) for A in (X, Y))
    w = np.arange(len(X)) % 3
    for name in TWO:
        measure = getattr(information, name)
        found = measure(U, V, bandwidth="silverman", sample_weight=w)
        assert found.device.type == device
        expected = measure(X, Y, bandwidth="silverman", sample_weight=w)
        assert found.item() == pytest.approx(expected, rel=1e-9)
        found.backward()
        assert bool(torch.isfinite(U.grad).all())
    y = np.repeat([0, 1], [len(X), len(Y)])
    found = information.laplacian_information_cut(torch.cat([U, V]), y, bandwidth=0.3)
    expected = information.laplacian_information_cut(np.vstack([X, Y]), y, bandwidth=0.3)
    assert found.item() == pytest.approx(expected, rel=1e-9)
    options = {"n_permutations": 99, "random_state": 0}
    assert (
        information.two_sample_test(U, V + 0.2, **options).pvalue
        == information.two_sample_test(X, Y + 0.2, **options).pvalue
    )
