"""Sums with columns of weights, every form with every option."""

import numpy as np
import pytest
from sklearn import config_context

from mercer.sums import kernel_sum
from mercer.sums.cuda import _columns
from sums.interpreted import EPS, FORMS, RUNTIME_WARNINGS, TARGET, call, check_sums, points

pytestmark = RUNTIME_WARNINGS

each_form = pytest.mark.parametrize(("form", "d", "part"), FORMS.values(), ids=FORMS)


def signed(m, c, seed=0):
    return np.random.default_rng(seed).normal(size=(m, c)).astype(np.float32)


@each_form
@pytest.mark.parametrize("exclude_self", [False, True])
def test_rows_among_themselves(fused, form, d, part, exclude_self):
    X, _, size = points(d, n=150)
    w, widths = signed(150, 5), [part * size, 0.9 * part * size]
    out = call(kernel_sum, X, weights=w, bandwidth=widths, exclude_self=exclude_self)
    for width, sums in zip(widths, out, strict=True):
        check_sums(sums, X, weights=w, bandwidth=width, exclude_self=exclude_self)
    assert fused == [form]


@pytest.mark.parametrize("n_columns", [1, 16, 17, 40, 70])
def test_any_number_of_columns(fused, n_columns):
    X, Y, size = points(7, n=20, m=150)
    w = signed(150, n_columns)
    out = call(kernel_sum, X, Y, weights=w, bandwidth=size)
    assert out.shape == (20, n_columns)
    check_sums(out, X, Y, weights=w, bandwidth=size, within=TARGET)
    assert len(fused) == -(-n_columns // 64)


@pytest.mark.parametrize("kernel", ["exponential", "laplacian", "cauchy", "epanechnikov"])
def test_other_kernels(fused, kernel):
    X, _, size = points(6, n=150)
    for exclude_self in (False, True):
        options = {"weights": signed(150, 3), "kernel": kernel, "exclude_self": exclude_self}
        out = call(kernel_sum, X, bandwidth=4 * size, **options)
        check_sums(out, X, bandwidth=4 * size, within=TARGET, **options)


def test_light_weights_and_far_rows_keep_their_digits(fused):
    """A column's weights span a band, and rows are so far away that the heavy ones do not count."""
    rng = np.random.default_rng(0)
    Y = np.concatenate([rng.normal(size=(60, 3)), 12 + rng.normal(size=(60, 3))]).astype(np.float32)
    w = np.ones((120, 2), np.float32)
    w[:60, 0] = 2.0 ** -rng.integers(0, 58, 60)
    w[60:, 0] = 2.0**-58
    w[:60, 1] = 0
    out = call(kernel_sum, Y, Y.copy(), weights=w, bandwidth=1.0)
    check_sums(out, Y, Y, weights=w, bandwidth=1.0, within=100 * EPS)


def test_kernel_values_near_the_least_normal_number(fused):
    """2**-120 has all its digits: parts of it must not be lost."""
    X = np.zeros((3, 1), np.float32)
    Y = np.full((40, 1), np.sqrt(2 * 119.7 * np.log(2)), np.float32)
    w = np.full((40, 2), 0.3, np.float32)
    out = call(kernel_sum, X, Y, weights=w, bandwidth=1.0)
    check_sums(out, X, Y, weights=w, bandwidth=1.0, within=8 * EPS * 120)


@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize("d", [3, 13, 70])
def test_slabs_give_what_one_does(fused, monkeypatch, d, exclude_self):
    X, _, size = points(d, n=500)
    options = {"weights": signed(500, 20), "bandwidth": size, "exclude_self": exclude_self}
    whole = call(kernel_sum, X, **options)
    pieces = []
    launch = _columns._launch_column_sums

    def count(*given):
        pieces.append(1)
        return launch(*given)

    monkeypatch.setattr(_columns, "_launch_column_sums", count)
    with config_context(working_memory=0.25):
        parts = call(kernel_sum, X, **options)
    assert len(pieces) > 3
    check_sums(parts, X, within=TARGET, **options)
    np.testing.assert_allclose(parts, whole, atol=1e-5 * np.abs(whole).max())


def test_fast_precision_stays_near(fused):
    X, Y, size = points(20, n=30, m=150)
    w = signed(150, 3)
    out = call(kernel_sum, X, Y, weights=w, bandwidth=size, precision="fast")
    check_sums(out, X, Y, weights=w, bandwidth=size, within=3e-3)
