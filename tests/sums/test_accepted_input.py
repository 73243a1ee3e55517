"""Every kind of array that holds numbers gives the oracle's answer for those numbers."""

import numpy as np
import pytest

from mercer import sums
from oracles import sums as oracle

GRID = np.array([[0, 1], [2, 3], [4, 6], [1, 1], [7, 2]])  # exact in every type
WEIGHTS = [1, 2, 3, 1, 2]
WIDTH = 1.5


def assert_right(rows, dtype=np.float64, weights=WEIGHTS, **options):
    """Both functions agree with the oracle on GRID and give the precision expected."""
    rtol = 20 * np.finfo(dtype).eps
    for name in ("kernel_sum", "log_kernel_sum"):
        out = getattr(sums, name)(rows, weights=weights, bandwidth=WIDTH, **options)
        expected = getattr(oracle, name)(GRID, weights=WEIGHTS, bandwidth=WIDTH, **options)
        out = np.asarray(out)
        assert out.dtype == dtype
        np.testing.assert_allclose(out, expected.astype(dtype), rtol=rtol, atol=rtol)


@pytest.mark.parametrize(
    ("dtype", "computed"),
    [
        *((kind, np.float64) for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")),
        *((kind, np.float64) for kind in (">i4", ">f8", "<f8", np.longdouble, object)),
        *((kind, np.float32) for kind in (np.float16, np.float32, "<f2")),
    ],
)
def test_types_of_numbers(dtype, computed):
    assert_right(GRID.astype(dtype), computed)


@pytest.mark.parametrize("dtype", [">f4", ">f2"])
def test_foreign_byte_order_of_short_floats(dtype):
    """In which precision is ours to choose; the values are not."""
    out = sums.kernel_sum(GRID.astype(dtype), bandwidth=WIDTH)
    expected = oracle.kernel_sum(GRID, bandwidth=WIDTH).astype(float)
    np.testing.assert_allclose(out, expected, rtol=1e-6)


def test_truth_values():
    rows = np.array([[True, False], [False, False], [True, True]])
    expected = oracle.kernel_sum(rows.astype(float), bandwidth=1.0).astype(float)
    np.testing.assert_allclose(sums.kernel_sum(rows, bandwidth=1.0), expected, rtol=1e-14)


def test_large_integers_are_not_cut_off():
    rows = np.array([[2**40], [2**40 + 3]])
    expected = np.full(2, 1 + np.exp(-4.5))
    np.testing.assert_allclose(sums.kernel_sum(rows, bandwidth=1.0), expected, rtol=1e-14)


def _memmap(A, folder):
    np.save(folder / "rows.npy", A)
    return np.load(folder / "rows.npy", mmap_mode="r")


def _read_only(A, folder):
    A = A.copy()
    A.setflags(write=False)
    return A


LAYOUTS = {
    "strided rows": lambda A, folder: np.repeat(A, 3, axis=0)[::3],
    "strided columns": lambda A, folder: np.repeat(A, 2, axis=1)[:, ::2],
    "reversed": lambda A, folder: np.ascontiguousarray(A[::-1, ::-1])[::-1, ::-1],
    "fortran": lambda A, folder: np.asfortranarray(A),
    "transposed": lambda A, folder: np.ascontiguousarray(A.T).T,
    "read-only": _read_only,
    "memmap": _memmap,
    "field of a record": lambda A, folder: A.view([("a", A.dtype), ("b", A.dtype)]).view(A.dtype),
    "unaligned": lambda A, folder: np.frombuffer(
        b"\0" + A.tobytes(), np.uint8)[1:].view(A.dtype).reshape(A.shape),
    "subclass": lambda A, folder: A.view(type("Rows", (np.ndarray,), {})),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_in_memory(layout, dtype, tmp_path):
    rows = LAYOUTS[layout](GRID.astype(dtype), tmp_path)
    np.testing.assert_array_equal(rows, GRID)
    assert_right(rows, dtype)
    assert_right(rows, dtype, groups=[0, 1, 0, 2, 1])
    for name in ("kernel_sum", "log_kernel_sum"):
        out = getattr(sums, name)(rows[:2], rows, bandwidth=WIDTH)
        expected = getattr(oracle, name)(GRID[:2], GRID, bandwidth=WIDTH)
        np.testing.assert_allclose(out, expected.astype(dtype), rtol=20 * np.finfo(dtype).eps)


def test_strided_array_of_a_large_self_sum():
    """Sums of a pair once are packed from the array itself."""
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(1200, 6))
    wide.setflags(write=False)
    rows = wide[::-1, ::2]
    out = sums.kernel_sum(rows, bandwidth=1.0)[::97]
    expected = oracle.kernel_sum(rows[::97], rows, bandwidth=1.0).astype(float)
    np.testing.assert_allclose(out, expected, rtol=1e-13)


@pytest.mark.parametrize(
    "weights",
    [
        WEIGHTS,
        tuple(WEIGHTS),
        np.array(WEIGHTS, np.int32),
        np.array(WEIGHTS, np.float16),
        np.array(WEIGHTS, np.longdouble),
        np.array(WEIGHTS, ">f8"),
        np.array(WEIGHTS, object),
        np.repeat(WEIGHTS, 2)[::2],
        np.array(WEIGHTS[::-1], float)[::-1],
    ],
    ids=lambda w: f"{type(w).__name__} {getattr(w, 'dtype', '')}",
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kinds_of_weights(weights, dtype):
    assert_right(GRID.astype(dtype), dtype, weights=weights)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8", ">i8"])
def test_kinds_of_group_numbers(dtype):
    groups = np.array([0, 2, 1, 0, 2])
    out = sums.kernel_sum(GRID, groups=groups.astype(dtype), bandwidth=WIDTH)
    expected = oracle.kernel_sum(GRID, groups=groups, bandwidth=WIDTH).astype(float)
    np.testing.assert_allclose(out, expected, rtol=1e-14)


def test_lists_and_tables():
    import pandas as pd

    assert_right(GRID.tolist())
    assert_right(tuple(map(tuple, GRID.tolist())))
    frame = pd.DataFrame(GRID, columns=["a", "b"])
    assert_right(frame)
    assert_right(frame.astype({"a": "float32", "b": "int8"}), np.float32)  # their common type
    assert_right(frame.astype(object))
    assert_right(frame, weights=pd.Series(WEIGHTS))
    assert_right(frame, groups=pd.Series([0, 1, 0, 2, 1]))
    assert_right(frame.sort_index(ascending=False).sort_index())


@pytest.mark.parametrize("bandwidth", [1, np.float32(1), np.int64(1), np.array(1.0), np.float16(1)])
def test_a_number_of_any_type_is_one_bandwidth(bandwidth):
    out = sums.kernel_sum(GRID, bandwidth=bandwidth)
    np.testing.assert_array_equal(out, sums.kernel_sum(GRID, bandwidth=1.0))


@pytest.mark.parametrize("bandwidth", [[1, 2], (1.0, 2.0), np.array([1, 2], np.uint8)])
def test_a_sequence_is_several_bandwidths(bandwidth):
    out = sums.kernel_sum(GRID, bandwidth=bandwidth)
    assert out.shape == (2, 5)
    expected = [oracle.kernel_sum(GRID, bandwidth=b).astype(float) for b in (1, 2)]
    np.testing.assert_allclose(out, expected, rtol=1e-14)


def test_mixed_precisions_are_computed_in_the_higher_one(backend):
    X, Y = GRID.astype(np.float32), GRID[:3].astype(np.float64) + 1e-9
    expected = oracle.kernel_sum(X, Y, bandwidth=WIDTH).astype(float)
    out = backend.kernel_sum(X, Y, bandwidth=WIDTH)
    assert out.dtype == np.float64
    np.testing.assert_allclose(out, expected, rtol=1e-14)


def test_input_is_left_as_it_is():
    X, w = GRID.astype(float), np.array(WEIGHTS, float)
    groups = np.array([2, 1, 0, 1, 2])
    sums.log_kernel_sum(X, weights=w, groups=groups, bandwidth=[1.0, 0.5], exclude_self=True)
    np.testing.assert_array_equal(X, GRID)
    np.testing.assert_array_equal(w, WEIGHTS)
    np.testing.assert_array_equal(groups, [2, 1, 0, 1, 2])


@pytest.mark.parametrize(
    ("kind", "computed"),
    [("int32", np.float64), ("uint8", np.float64), ("half", np.float32), ("bfloat16", np.float32)],
)
def test_torch_types(torch, kind, computed):
    rows = torch.as_tensor(GRID).to(getattr(torch, kind))
    weights = torch.as_tensor(WEIGHTS)
    for name in ("kernel_sum", "log_kernel_sum"):
        out = getattr(sums, name)(rows, weights=weights, bandwidth=WIDTH)
        expected = getattr(oracle, name)(GRID, weights=WEIGHTS, bandwidth=WIDTH)
        assert out.numpy().dtype == computed
        np.testing.assert_allclose(out.numpy(), expected.astype(computed), rtol=3e-6)


def test_torch_rows_take_plain_weights_and_groups(torch):
    rows = torch.as_tensor(GRID, dtype=torch.float64)
    assert_right(rows, weights=WEIGHTS)
    assert_right(rows, weights=torch.as_tensor(WEIGHTS), groups=[0, 1, 0, 2, 1])
    assert_right(rows.T.contiguous().T, groups=np.array([0, 1, 0, 2, 1]))
    out = sums.kernel_sum(rows, groups=torch.tensor([0, 1, 0, 2, 1]), bandwidth=WIDTH)
    expected = oracle.kernel_sum(GRID, groups=[0, 1, 0, 2, 1], bandwidth=WIDTH).astype(float)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-14)


def test_torch_and_numpy_do_not_mix(torch):
    rows = torch.as_tensor(GRID, dtype=torch.float64)
    with pytest.raises(TypeError, match=r"X is a tensor on cpu and Y a NumPy array: pass both as"):
        sums.kernel_sum(rows, GRID, bandwidth=1.0)
    with pytest.raises(TypeError, match=r"X is a NumPy array and Y a tensor on cpu: pass both as"):
        sums.kernel_sum(GRID, rows, bandwidth=1.0)
    with pytest.raises(TypeError, match=r"X is a NumPy array and weights a tensor on cpu: pass"):
        sums.kernel_sum(GRID, weights=rows[:, 0], bandwidth=1.0)


def test_torch_refusals(torch):
    rows = torch.as_tensor(GRID, dtype=torch.float64)
    with pytest.raises(ValueError, match=r"X must hold real numbers, got complex64\.$"):
        sums.kernel_sum(rows.to(torch.complex64), bandwidth=1.0)
    with pytest.raises(ValueError, match=r"X contains NaN in row 2, column 1\.$"):
        sums.kernel_sum(torch.tensor([[0, 0], [0, 0], [0, float("nan")]]), bandwidth=1.0)
    with pytest.raises(ValueError, match=r"bandwidth cannot be differentiated through; divide"):
        sums.kernel_sum(rows, bandwidth=torch.tensor(1.0, requires_grad=True))
