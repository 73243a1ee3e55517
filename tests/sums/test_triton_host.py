"""What surrounds the fused sums and needs no kernel: arrangement, refusals, full devices."""

import numpy as np
import pytest
from sklearn import config_context

from mercer.kernels import KERNELS, Kernel
from mercer.sums import kernel_sum
from mercer.sums._in_memory import arrange
from mercer.sums._problem import Box, Problem
from mercer.sums.cuda import _run as _triton
from mercer.sums.torch import _tiles as _torch
from mercer.sums.torch._arrange import arrange_tensors
from sums.interpreted import RUNTIME_WARNINGS, call, points, tensor

pytestmark = RUNTIME_WARNINGS


@pytest.mark.parametrize("log", [False, True], ids=["plain", "log"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("decades", [0, 5, 30, 300])
@pytest.mark.parametrize("n_groups", [0, 1, 4])
def test_tensors_are_arranged_as_arrays_are(torch, log, dtype, decades, n_groups):
    rng = np.random.default_rng(decades)
    n, decades = 300, decades if dtype == np.float64 else min(decades, 37)
    w = (10 ** rng.uniform(-decades, decades, n)).astype(dtype)
    w[rng.integers(0, n, 20)] = 0
    groups = None
    if n_groups:
        groups = rng.integers(0, n_groups, n)
        groups[groups == 2] = 3  # 2 has no row
        w[groups == 1] = 0
    for weights in (w, None) if n_groups else (w,):
        theirs = arrange(n, weights, groups, log)
        ours = arrange_tensors(n, tensor(weights), tensor(groups), log)
        assert ours.bounds == theirs.bounds
        everything = np.arange(n)
        orders = (everything if a.order is None else np.asarray(a.order) for a in (ours, theirs))
        np.testing.assert_array_equal(*orders)
        for name in ("weights", "exponents", "groups"):
            a, b = (getattr(x, name) for x in (ours, theirs))
            assert (a is None) == (b is None), name
            if a is not None:
                np.testing.assert_array_equal(np.asarray(a), b, err_msg=name)


def test_one_power_of_two_is_no_weight(torch):
    w = torch.full((6,), 0.25)
    arrangement = arrange_tensors(6, w, None, False)
    assert arrangement.weights is None
    assert arrangement.order is None
    np.testing.assert_array_equal(arrangement.exponents, [-2])
    assert arrange_tensors(6, 3 * w, None, False).weights is not None
    assert arrange_tensors(6, -w, None, False).weights is not None
    assert arrange_tensors(6, 0 * w, None, False).weights is not None
    assert arrange_tensors(6, w.requires_grad_(), None, False).weights is not None


def test_many_groups_of_tensors_are_sorted(torch):
    """More than 16 bits hold."""
    groups = np.random.default_rng(0).permutation(40_000)
    arrangement = arrange_tensors(40_000, None, tensor(groups), False)
    np.testing.assert_array_equal(arrangement.order, np.argsort(groups))


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_box(request, library):
    if library == "torch":
        request.getfixturevalue("torch")
    convert = tensor if library == "torch" else np.asarray
    A, B = np.array([[1.0, -7.0], [2.0, 5.0]]), np.array([[0.0, 1.0]])
    box = Box.of(convert(A), convert(B), convert(np.empty((0, 2))))
    np.testing.assert_array_equal([box.low, box.high], [[0, -7], [2, 5]])
    assert box.extent == 7
    assert box.is_finite
    for bad in (np.nan, np.inf, -np.inf):
        B[0, 0] = bad
        assert not Box.of(convert(A), convert(B)).is_finite


class Strange(Kernel):
    """A kernel that a user brings along."""

    def _profile(self, d2, xp, bandwidth):
        return d2

    _log_profile = _profile

    def log_normaliser(self, bandwidth, n_features):
        raise ValueError("not needed here")

    log_self_overlap = log_normaliser


def state(torch, n=2000, dtype=None, **options):
    """State a problem that only its size keeps from being refused."""
    X = torch.zeros((n, 2), dtype=dtype or torch.float32)
    defaults = {
        "order": None, "weights": None, "bounds": (0, n), "kernel": KERNELS["gaussian"],
        "bandwidths": (1.0,), "log": False, "self_sum": True, "exclude_self": False,
        "method": "auto", "tol": None, "precision": "high",
    }  # fmt: skip
    return Problem(X, X, **{**defaults, **options})


def test_products_with_weights_are_exact_whatever_the_program_allows(torch):
    """Forwards and backwards, a program that allows TF32 gets all digits of its sums."""
    seen = []

    class Watching(Strange):
        def _profile(self, d2, xp, bandwidth):
            matmul = torch.backends.cuda.matmul
            seen.append(getattr(matmul, "fp32_precision", torch.get_float32_matmul_precision()))
            return xp.exp(-d2)

    kernel = Watching("watching", False, 2, True, True)
    X = torch.zeros((3, 2), requires_grad=True)
    torch.set_float32_matmul_precision("high")  # allows TF32
    try:
        kernel_sum(X, weights=torch.ones(3, 2), kernel=kernel, bandwidth=1.0).sum().backward()
    finally:
        torch.set_float32_matmul_precision("highest")
    assert len(seen) == 2
    assert set(seen) <= {"ieee", "highest"}


def test_refusals_are_sentences(torch, monkeypatch):
    monkeypatch.setattr(_triton, "device_refuses", lambda device: None)
    refuses = _triton.refuses
    assert refuses(state(torch)) is None
    assert refuses(state(torch, method="fast")) is not None  # torch has the sentence
    strange = Strange("gaussian", True, 2, False, True)
    assert refuses(state(torch, kernel=strange)) == "kernel 'gaussian' is not compiled for CUDA"
    columns = {"weights": torch.ones(2000, 3)}
    assert refuses(state(torch, **columns)) is None
    assert refuses(state(torch, log=True)) is None
    sentence = "logarithms of sums with columns of weights are taken by torch"
    assert refuses(state(torch, log=True, **columns)) == sentence
    assert refuses(state(torch, dtype=torch.float64)) == "float64 is summed by torch"
    assert refuses(state(torch, n=1000)) == "so few pairs are summed by torch"
    assert refuses(state(torch, rows=slice(500))) == "so few pairs are summed by torch"
    many = state(torch, bounds=tuple(range(0, 2001, 10)))
    assert refuses(many) == "so many small groups are summed by torch"
    assert refuses(state(torch, bounds=tuple(range(0, 2001, 100)))) is None


def test_devices_are_refused_with_a_sentence(torch, monkeypatch):
    capability = (7, 5)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    monkeypatch.setattr(_triton, "find_spec", lambda name: None)
    assert _triton.device_refuses("cuda") == "Triton is not installed"
    monkeypatch.setattr(_triton, "find_spec", lambda name: name)
    assert _triton.device_refuses("cuda") == ("the device has no matrix units that Triton can use")
    capability = (8, 0)
    assert _triton.device_refuses("cuda") is None


def test_a_full_device_gets_smaller_parts(torch):
    budgets = []

    def work():
        from mercer._memory import working_memory

        budgets.append(working_memory())
        if len(budgets) == 1:
            raise torch.OutOfMemoryError("Tried to allocate 20.00 GiB. GPU 0 …")
        return "done"

    with config_context(working_memory=64):
        assert _torch.retry_in_smaller_parts(state(torch), work) == "done"
        assert budgets == [64 * 2**20, 4 * 2**20]


def test_a_device_without_any_room_gets_one_sentence(torch):
    def work():
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 …")

    sentence = (
        r"^The device does not have enough memory for a kernel sum of 2000 rows over 2000: "
        r"20\.00 GiB more were wanted\. Free what other tensors hold, lower "
        r"sklearn\.set_config\(working_memory=…\), or use fewer rows\.$"
    )
    with pytest.raises(MemoryError, match=sentence):
        _torch.retry_in_smaller_parts(state(torch), work)


def test_other_errors_stay_what_they_are(torch):
    def work():
        raise RuntimeError("something else")

    with pytest.raises(RuntimeError, match=r"^something else$"):
        _torch.retry_in_smaller_parts(state(torch), work)


def test_a_full_device_is_summed_on(fused, monkeypatch, torch):
    """Through the public function, without a history and with one."""
    budgets = []
    sums = _triton.fused_sums

    def full_once(problem):
        from mercer._memory import working_memory

        budgets.append(working_memory())
        if len(budgets) % 2:
            raise torch.OutOfMemoryError("Tried to allocate 20.00 GiB")
        return sums(problem)

    X, Y, size = points(7, n=20, m=70)
    expected = call(kernel_sum, X, Y, bandwidth=size)
    monkeypatch.setattr(_triton, "fused_sums", full_once)
    np.testing.assert_array_equal(call(kernel_sum, X, Y, bandwidth=size), expected)
    tracked = kernel_sum(tensor(X).requires_grad_(), tensor(Y), bandwidth=size)
    np.testing.assert_array_equal(tracked.detach(), expected)
    assert tracked.requires_grad
    assert len(budgets) == 4
    assert budgets[1] < budgets[0]
