"""The torch backend on a CUDA device, against extended precision."""

import numpy as np
import pytest

from mercer.sums import kernel_sum, log_kernel_sum
from oracles import sums as oracle

pytestmark = pytest.mark.gpu


def _points(d, dtype, n=200, m=3000):
    rng = np.random.default_rng(d)
    X, Y = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(m, d)).astype(dtype)
    return X, Y, 0.4 * np.sqrt(d)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 3, 16, 64, 256, 784])
def test_sums_and_logs(torch, d, dtype):
    X, Y, b = _points(d, dtype)
    x, y = (torch.as_tensor(A, device="cuda") for A in (X, Y))
    expected = oracle.kernel_sum(X, Y, bandwidth=b)
    radius = float((np.concatenate([X, Y]).astype(float) ** 2).sum(axis=1).max())
    bound = 8 * np.finfo(dtype).eps * (1 + radius / (2 * b * b))
    out = kernel_sum(x, y, bandwidth=b)
    assert out.is_cuda
    assert np.abs(out.cpu().numpy() / expected - 1).max() <= bound
    logs = log_kernel_sum(x, y, bandwidth=b / 10).cpu().numpy()
    expected = oracle.log_kernel_sum(X, Y, bandwidth=b / 10)
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    assert np.all(np.abs(logs - expected) <= tolerance * np.maximum(1, np.abs(expected)))


def test_groups_columns_and_self_sums(torch):
    X, Y, b = _points(8, np.float64)
    x, y = (torch.as_tensor(A, device="cuda") for A in (X, Y))
    groups = np.arange(len(Y)) % 7
    W = np.random.default_rng(0).random((len(Y), 3))
    groups_there, W_there = (torch.as_tensor(A, device="cuda") for A in (groups, W))
    for function, literal in (
        (kernel_sum, oracle.kernel_sum),
        (log_kernel_sum, oracle.log_kernel_sum),
    ):
        for ours, options in (
            (function(x, y, groups=groups_there, bandwidth=b), {"groups": groups}),
            (
                function(x, y, weights=W_there, bandwidth=b),
                {"weights": W},
            ),
        ):
            expected = literal(X, Y, bandwidth=b, **options).astype(float)
            np.testing.assert_allclose(ours.cpu(), expected, rtol=1e-11, atol=1e-12)
        expected = literal(X, bandwidth=b, exclude_self=True).astype(float)
        ours = function(x, bandwidth=b, exclude_self=True)
        np.testing.assert_allclose(ours.cpu(), expected, rtol=1e-11, atol=1e-12)


def test_full_float32_whatever_the_program_chose(torch):
    X, Y, b = _points(256, np.float32)
    x, y = (torch.as_tensor(A, device="cuda") for A in (X, Y))
    expected = oracle.kernel_sum(X, Y, bandwidth=b)
    torch.set_float32_matmul_precision("high")  # allows TF32
    try:
        exact = kernel_sum(x, y, bandwidth=b).cpu().numpy()
        fast = kernel_sum(x, y, bandwidth=b, precision="fast").cpu().numpy()
        assert torch.get_float32_matmul_precision() == "high", "the program's choice is kept"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert np.abs(exact / expected - 1).max() < 1e-5
    assert np.abs(fast / expected - 1).max() < 1e-2


def test_runs_are_bit_identical(torch):
    X, Y, b = _points(16, np.float32, n=5000, m=20_000)
    x, y = (torch.as_tensor(A, device="cuda") for A in (X, Y))
    groups = np.arange(len(Y)) % 10
    first = log_kernel_sum(x, y, groups=groups, bandwidth=b)
    assert torch.equal(first, log_kernel_sum(x, y, groups=groups, bandwidth=b))


def test_gradients(torch):
    X, Y, b = _points(5, np.float64, n=7, m=11)
    x, y = (torch.as_tensor(A, device="cuda").requires_grad_() for A in (X, Y))
    for function in (kernel_sum, log_kernel_sum):
        assert torch.autograd.gradcheck(lambda x, y, f=function: f(x, y, bandwidth=b), (x, y))


def test_memory_stays_within_the_budget(torch):
    from sklearn import config_context

    X, Y, b = _points(16, np.float32, n=100_000, m=100_000)
    x, y = (torch.as_tensor(A, device="cuda") for A in (X, Y))
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    with config_context(working_memory=256):
        kernel_sum(x, y, bandwidth=b)
    assert torch.cuda.max_memory_allocated() - before < 300 * 2**20  # the matrix: 40 GB


def test_mixed_devices_are_refused(torch):
    X, Y, b = _points(3, np.float64)
    with pytest.raises(ValueError, match="put both on one device"):
        kernel_sum(torch.as_tensor(X, device="cuda"), torch.as_tensor(Y), bandwidth=b)
