"""Gradients through torch tensors, against finite differences and closed forms."""

import numpy as np
import pytest
from sklearn import config_context

from mercer.sums import kernel_sum, log_kernel_sum

SMOOTH = [
    "gaussian",
    "exponential",
    "laplacian",
    "cauchy",
]  # Epanechnikov's has a kink where its support ends


@pytest.fixture
def points(torch):
    """Return a maker of normal points that want a gradient."""
    generator = torch.Generator().manual_seed(0)

    def make(*shape, positive=False):
        A = torch.randn(*shape, generator=generator, dtype=torch.float64)
        return (A.abs() + 0.2 if positive else A).requires_grad_()

    return make


@pytest.fixture(params=[kernel_sum, log_kernel_sum], ids=["plain", "log"])
def function(request):
    return request.param


@pytest.mark.parametrize("kernel", SMOOTH)
@pytest.mark.parametrize("d", [2, 7])  # differences; products (where the kernel allows them)
def test_gradients_of_rows_and_weights(torch, points, function, kernel, d):
    X, Y, w = points(4, d), points(5, d), points(5, positive=True)

    def value(X, Y, w):
        return function(X, Y, weights=w, kernel=kernel, bandwidth=0.8 * np.sqrt(d))

    assert torch.autograd.gradcheck(value, (X, Y, w))


def test_gradient_of_epanechnikov_inside_its_support(torch, points, function):
    X, Y = points(4, 3), points(5, 3)
    options = {"kernel": "epanechnikov", "bandwidth": 20.0}
    assert torch.autograd.gradcheck(lambda X, Y: function(X, Y, **options), (X, Y))


@pytest.mark.parametrize("kernel", SMOOTH)
@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize("d", [2, 7])
def test_gradients_of_self_sums(torch, points, function, kernel, exclude_self, d):
    X, w = points(5, d), points(5, positive=True)

    def value(X, w):
        options = {"kernel": kernel, "bandwidth": 1.5, "exclude_self": exclude_self}
        return function(X, weights=w, **options)

    assert torch.autograd.gradcheck(value, (X, w))


def test_gradients_of_columns_of_weights(torch, points, function):
    X, Y, W = points(3, 2), points(5, 2), points(5, 3, positive=True)
    assert torch.autograd.gradcheck(
        lambda X, Y, W: function(X, Y, weights=W, bandwidth=1.0), (X, Y, W)
    )


def test_gradients_of_groups(torch, points, function):
    """One of the groups has no row: its logarithm, −inf, is left out of the check."""
    X, Y, w = points(3, 2), points(6, 2), points(6, positive=True)
    groups = [2, 0, 2, 3, 0, 3]

    def value(X, Y, w):
        return function(X, Y, weights=w, groups=groups, bandwidth=1.0)[:, [0, 2, 3]]

    assert torch.autograd.gradcheck(value, (X, Y, w))
    assert torch.autograd.gradcheck(
        lambda X, Y: function(X, Y, groups=groups, bandwidth=1.0)[:, [0, 2, 3]], (X, Y)
    )


@pytest.mark.parametrize("widths", [[2.0, 2**0.5, 1.0, 0.5**0.5], [0.7, 3.0, 0.7, 1.1]])
def test_gradients_of_ladders(torch, points, function, widths):
    X, Y, w = points(3, 6), points(4, 6), points(4, positive=True)
    assert torch.autograd.gradcheck(
        lambda X, Y, w: function(X, Y, weights=w, bandwidth=widths), (X, Y, w)
    )


def test_gradient_does_not_depend_on_a_common_offset(torch, points, function):
    X, Y = points(4, 6).detach(), points(5, 6).detach()
    near, far = (
        torch.autograd.grad(function(A, Y + shift, bandwidth=1.0).sum(), A)[0]
        for shift in (0.0, 2.0**20)
        for A in [(X + shift).requires_grad_()]
    )
    # The shift itself rounds the coordinates to 2**-33.
    torch.testing.assert_close(far, near, rtol=1e-8, atol=1e-8)


def test_gradient_of_the_log_where_the_sum_underflows(torch):
    """One far point: the gradient of −r²/2b² is −(x − y)/b², whatever underflows."""
    X = torch.tensor([[300.0, 400.0]], dtype=torch.float64, requires_grad=True)
    Y = torch.zeros(1, 2, dtype=torch.float64, requires_grad=True)
    assert kernel_sum(X, Y, bandwidth=1.0).item() == 0
    log_kernel_sum(X, Y, bandwidth=0.5).sum().backward()
    torch.testing.assert_close(X.grad, -4 * X.detach(), rtol=1e-13, atol=0)
    torch.testing.assert_close(Y.grad, 4 * X.detach(), rtol=1e-13, atol=0)


def test_gradient_of_the_log_is_a_weighted_mean(torch, points):
    """Where several far points share the sum: soft-max weights times −(x − y)/b²."""
    X = (100 + points(3, 5)).detach().requires_grad_()
    Y = points(6, 5).detach()
    (grad,) = torch.autograd.grad(log_kernel_sum(X, Y, bandwidth=1.0).sum(), X)
    difference = X.detach()[:, None] - Y[None]
    share = torch.softmax(-0.5 * (difference**2).sum(2), dim=1)
    expected = -(share[:, :, None] * difference).sum(1)
    torch.testing.assert_close(grad, expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize("kernel", SMOOTH)
def test_coinciding_points_have_finite_gradients(torch, function, kernel):
    X = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    Y = torch.zeros(3, 3, dtype=torch.float64, requires_grad=True)
    function(X, Y, kernel=kernel, bandwidth=1.0).sum().backward()
    assert not X.grad.any()  # by symmetry
    assert not Y.grad.any()


@pytest.mark.parametrize("kernel", SMOOTH)
def test_single_precision_gradients_are_close(torch, points, function, kernel):
    tensors = points(20, 6), points(30, 6), points(30, positive=True)

    def gradients(dtype):
        X, Y, w = (A.detach().to(dtype).requires_grad_() for A in tensors)
        out = function(X, Y, weights=w, kernel=kernel, bandwidth=2.0)
        assert out.dtype == dtype
        return torch.autograd.grad(out.sum(), (X, Y, w))

    for single, double in zip(gradients(torch.float32), gradients(torch.float64), strict=True):
        assert single.dtype == torch.float32
        scale = double.abs().max().item()
        torch.testing.assert_close(single.double(), double, rtol=1e-4, atol=1e-5 * scale)


def test_double_backward_is_refused(torch, points, function):
    X = points(3, 2)
    objective = (function(X, bandwidth=1.0) ** 2).sum()
    (once,) = torch.autograd.grad(objective, X, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiated only once"):
        torch.autograd.grad(once.sum(), X)


# ------------------------------------------------------------------------------- torch.func


@pytest.mark.parametrize("kernel", SMOOTH)
@pytest.mark.parametrize("groups", [None, [2, 0, 2, 3, 0, 3]], ids=["plain", "groups"])
def test_transforms_give_the_gradients_of_autograd(torch, points, function, kernel, groups):
    """With weights of several bands, which are arranged by value."""
    X, Y, w = points(4, 2).detach(), points(6, 2).detach(), points(6, positive=True).detach()
    w = w * 10.0 ** torch.tensor([0, 200, -200, 0, 3, -3], dtype=torch.float64)

    def value(X, Y, w):
        out = function(X, Y, weights=w, groups=groups, kernel=kernel, bandwidth=[1.0, 0.7])
        return out if groups is None else out[:, :, [0, 2, 3]]

    expected = torch.autograd.functional.jacobian(value, (X, Y, w))
    for found, part in zip(torch.func.jacrev(value, (0, 1, 2))(X, Y, w), expected, strict=True):
        torch.testing.assert_close(found, part, rtol=1e-12, atol=0)
    out, pull = torch.func.vjp(value, X, Y, w)
    torch.testing.assert_close(out, value(X, Y, w), rtol=0, atol=0)
    for found, part in zip(pull(torch.ones_like(out)), expected, strict=True):
        # Slopes of a kernel with a kink are ±1 times its value, and may cancel but for rounding.
        torch.testing.assert_close(found, part.sum(tuple(range(out.ndim))), rtol=1e-12, atol=1e-15)
    gradient = torch.func.grad(lambda X: value(X, Y, w).sum())(X)
    torch.testing.assert_close(gradient, expected[0].sum(tuple(range(out.ndim))))


def test_self_sums_and_columns_of_weights_in_transforms(torch, points, function):
    X, W = points(5, 3).detach(), points(5, 2, positive=True).detach()

    def value(X, W):
        return function(X, weights=W, bandwidth=1.2, exclude_self=True)

    expected = torch.autograd.functional.jacobian(value, (X, W))
    for found, part in zip(torch.func.jacrev(value, (0, 1))(X, W), expected, strict=True):
        torch.testing.assert_close(found, part, rtol=1e-12, atol=1e-15)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # torch's own use
def test_what_transforms_can_not_do_is_said(torch, points, function):
    X = points(3, 2).detach()

    def value(X):
        return function(X, bandwidth=1.0).sum()

    with pytest.raises(RuntimeError, match=r"no forward-mode derivatives \(torch\.func\.jvp"):
        torch.func.jvp(value, (X,), (X,))
    for transform in (torch.func.jacfwd, torch.func.hessian):
        with pytest.raises(RuntimeError, match="no forward-mode derivatives"):
            transform(value)(X)
    for batched in (value, torch.func.grad(value)):
        with pytest.raises(RuntimeError, match=r"torch\.vmap hides the values of a batch"):
            torch.vmap(batched)(torch.stack([X, X]))
    with pytest.raises(RuntimeError, match=r"torch\.vmap hides the values of a batch"):
        torch.vmap(lambda w: function(X, weights=w, bandwidth=1.0))(torch.ones(2, 3))
    with pytest.raises(RuntimeError, match="differentiated only once"):
        torch.func.grad(lambda X: torch.func.grad(value)(X).sum())(X)


def test_transforms_refuse_zero_weights_of_logarithms_too(torch, points):
    X = points(2, 2).detach()
    call = torch.func.grad(lambda w: log_kernel_sum(X, weights=w, bandwidth=1.0).sum())
    with pytest.raises(ValueError, match=r"cannot differentiate with respect to weights"):
        call(torch.tensor([1.0, 0.0], dtype=torch.float64))


def test_single_precision_tensors_draw_no_warning(torch, function):
    torch.set_warn_always(True)
    try:
        function(torch.randn(3, 2, requires_grad=True), bandwidth=1.0)
    finally:
        torch.set_warn_always(False)


def test_row_without_terms_has_no_gradient(torch, points):
    """Outside Epanechnikov's support, alone without itself, in an empty group."""
    far = torch.tensor([[100.0], [0.1]], dtype=torch.float64, requires_grad=True)
    Y = points(4, 1).detach()
    logs = log_kernel_sum(far, Y, kernel="epanechnikov", bandwidth=5.0)
    assert logs[0].item() == -np.inf
    logs.sum().backward()
    assert far.grad[0] == 0
    assert far.grad[1] != 0
    assert torch.isfinite(far.grad).all()

    alone = points(1, 2)
    log_kernel_sum(alone, bandwidth=1.0, exclude_self=True).sum().backward()
    assert not alone.grad.any()

    X = points(3, 2)
    log_kernel_sum(X, Y.expand(4, 2), groups=[1, 1, 1, 1], bandwidth=1.0)[:, 0].sum().backward()
    assert not X.grad.any()


def test_log_refuses_gradients_of_zero_weights(torch, points):
    w = torch.tensor([1.0, 0.0], dtype=torch.float64, requires_grad=True)
    with pytest.raises(ValueError, match=r"cannot differentiate with respect to weights"):
        log_kernel_sum(points(3, 2), points(2, 2), weights=w, bandwidth=1.0)
    out = log_kernel_sum(points(3, 2), points(2, 2), weights=w.detach(), bandwidth=1.0)
    assert torch.isfinite(out).all()


def test_gradients_do_not_depend_on_tiles(torch, points, function):
    X, Y, w = points(40, 6), points(50, 6), points(50, positive=True)

    def gradients(megabytes):
        with config_context(working_memory=megabytes):
            out = function(X, Y, weights=w, bandwidth=2.0)
            return torch.autograd.grad(out.sum(), (X, Y, w))

    for small, large in zip(gradients(0.01), gradients(1024), strict=True):
        torch.testing.assert_close(small, large, rtol=1e-12, atol=1e-13)


def test_graph_keeps_nothing_of_the_size_of_the_matrix(torch, points, function):
    """What is saved for the backward pass are the inputs and the result."""
    X, Y = points(300, 3), points(400, 3)
    sizes = []

    def pack(saved):
        sizes.append(saved.numel())
        return saved

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        out = function(X, Y, bandwidth=1.0)
    assert sizes
    assert max(sizes) <= Y.numel()
    out.sum().backward()
    assert torch.isfinite(X.grad).all()
