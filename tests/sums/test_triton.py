"""The fused sums in Triton's interpreter: each form once, and what is quickly tried.

Forms with all their options, slabs, extremes and left-out sums: ``make interpreter``.
"""

import numpy as np
import pytest

from mercer.sums import _problem, kernel_sum, log_kernel_sum
from mercer.sums.cuda._layout import count_pieces
from sums.interpreted import (
    FORMS,
    LOG_PROMISE,
    RUNTIME_WARNINGS,
    TARGET,
    call,
    check,
    check_form,
    check_left_out,
    check_logs,
    check_sums,
    left_out_case,
    points,
    tensor,
)

pytestmark = RUNTIME_WARNINGS


@pytest.mark.parametrize(("form", "d", "part"), FORMS.values(), ids=FORMS)
def test_sums_and_logs(fused, form, d, part):
    check_form(fused, form, d, part)


def test_rows_that_no_bump_reaches(fused):
    X, Y = np.zeros((2, 6), np.float32), np.full((9, 6), 3, np.float32)
    Y[0] = 0
    for groups, expected in ((None, [1, 1]), (np.arange(9) % 2, [[1, 0], [1, 0]])):
        options = {"kernel": "epanechnikov", "bandwidth": 1.0, "groups": groups}
        np.testing.assert_allclose(call(kernel_sum, X, Y, **options), expected, rtol=TARGET)
        logs = call(log_kernel_sum, X, Y, **options)
        nothing = np.where(np.array(expected) > 0, 0, -np.inf)
        np.testing.assert_allclose(logs, nothing, atol=TARGET)


def test_weights_that_are_zero_or_negative(fused):
    X, Y, size = points(7, n=40, m=200)
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, 200)
    w = rng.random(200).astype(np.float32)
    w[::3] = 0
    w[groups == 1] = 0
    check(X, Y, bandwidth=size, weights=w, groups=groups)
    check(X, Y, bandwidth=size, weights=w)
    w = rng.normal(size=200).astype(np.float32)
    check_sums(call(kernel_sum, X, Y, weights=w, bandwidth=size), X, Y, weights=w, bandwidth=size)


@pytest.mark.parametrize(("form", "d", "part"), FORMS.values(), ids=FORMS)
def test_columns_of_weights(fused, form, d, part):
    X, Y, size = points(d, n=70, m=200)
    w = np.random.default_rng(d).normal(size=(200, 3)).astype(np.float32)
    out = call(kernel_sum, X, Y, weights=w, bandwidth=part * size)
    check_sums(out, X, Y, weights=w, bandwidth=part * size)
    assert fused == [form]


def test_logs_of_columns_of_weights_are_left_to_torch(fused):
    X, Y, _ = points(3, n=4, m=5)
    with pytest.raises(ValueError, match="logarithms of sums with columns of weights are taken"):
        call(log_kernel_sum, X, Y, weights=np.ones((5, 2), np.float32), bandwidth=1.0)


def test_laplace_kernels_climb_by_two(fused):
    X, Y, size = points(5, n=20, m=150)
    widths = size * 0.5 ** np.arange(5)
    out = call(log_kernel_sum, X, Y, kernel="exponential", bandwidth=widths)
    for rung, width in enumerate(widths):
        check_logs(out[rung], X, Y, kernel="exponential", bandwidth=width)


def test_a_row_meets_itself_at_distance_zero(fused):
    X, _, _ = points(20, n=80)
    width = 0.02 * np.sqrt(20)
    np.testing.assert_array_equal(call(kernel_sum, X, bandwidth=width), 1)
    np.testing.assert_array_equal(call(log_kernel_sum, X, bandwidth=width), 0)
    assert not call(kernel_sum, X, bandwidth=width, exclude_self=True).any()


def test_twins_are_no_strangers(fused):
    """Excluding a row by number leaves its copies in."""
    X = np.repeat(points(7, n=50)[0], 2, axis=0)
    check(X, bandwidth=1.0, exclude_self=True)
    np.testing.assert_array_equal(call(kernel_sum, X, bandwidth=1e-2, exclude_self=True), 1)


def test_the_device_is_given_enough_programs():
    tiles = np.array([0, 1600, 1600, 1700])
    assert count_pieces(tiles, 10**6, 1) == 1
    assert count_pieces(tiles, 1, 1) == 100  # of 16 tiles
    assert count_pieces(tiles, 100, 1) == 14  # 4096 programs
    assert count_pieces(np.array([0, 3]), 1, 1) == 1


@pytest.mark.parametrize("function", [kernel_sum, log_kernel_sum], ids=["plain", "log"])
@pytest.mark.parametrize("d", [3, 7])
def test_gradients(fused, monkeypatch, torch, function, d):
    X, Y, size = points(d, n=20, m=70)
    w = np.random.default_rng(0).uniform(0.2, 1, 70).astype(np.float32)
    groups = np.arange(70) % 3

    def gradients(dtype):
        tensors = [tensor(A).to(dtype).requires_grad_() for A in (X, Y, w)]
        out = function(
            *tensors[:2], weights=tensors[2], groups=groups, bandwidth=[size, 0.8 * size]
        )
        return out, torch.autograd.grad((out * out).sum(), tensors)

    out, single = gradients(torch.float32)
    assert fused
    monkeypatch.setattr(_problem, "_BACKENDS", ("mercer.sums._in_memory", "mercer.sums.torch"))
    exact, double = gradients(torch.float64)
    np.testing.assert_allclose(out.detach(), exact.detach(), rtol=LOG_PROMISE, atol=LOG_PROMISE)
    for ours, theirs in zip(single, double, strict=True):
        scale = theirs.abs().max().item()
        torch.testing.assert_close(ours.double(), theirs, rtol=1e-4, atol=1e-5 * scale)


def test_tiles_near_and_far(fused):
    """Two groups far apart: for a row, the tiles of its own group count, the others are skipped."""
    X, groups, widths, weights, removal = left_out_case(7, removing="squared")
    X = X + 10 * tensor(groups)[:, None]
    # Data much wider than the windows: logarithms that rows are judged by may lose a digit.
    check_left_out((X, groups, widths, weights, removal))
