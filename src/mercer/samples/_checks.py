"""Checks of tables as users pass them; each failure is one sentence that says what to do."""

from math import frexp
from typing import Any

import numpy as np
from array_api_compat import (
    array_namespace,
    device,
    is_array_api_obj,
    is_numpy_array,
    is_torch_array,
)
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.utils import check_array

from mercer._arrays import Array, detached, itemsize, refuse_tensor, to_numpy
from mercer._memory import row_slabs, working_memory
from mercer.samples._homes import is_in_blocks

# Squares of numbers up to this one, added up over thousands of columns, are within floating point.
LARGEST = 1e150
# Weights between these two are summed in float32 where the rows are float32.
_FLOAT32_WEIGHTS = (1e-15, 1e15)


def check_rows(A: Any, name: str, of: Array | None = None, finite: bool = True) -> Array:
    """Return A as a float32 or float64 matrix, in the library of `of` or its own.

    Its numbers must be finite, unless `finite` is False because the caller checks that.
    """
    A = as_array(A, name, of)
    check_matrix(A, name)
    if A.shape[1] == 0:
        raise ValueError(f"{name} has no columns.")
    A = as_float(A, name)
    if finite:
        check_finite(A, name)
    return A


def check_matrix(A: Any, name: str) -> None:
    """Raise ValueError unless A has two dimensions."""
    if A.ndim == 1:
        raise ValueError(
            f"{name} must be a matrix with one row for each point, got a vector of length "
            f"{A.shape[0]}; use {name}.reshape(-1, 1) if it is one feature."
        )
    if A.ndim != 2:
        raise ValueError(f"{name} must be a matrix, got {A.ndim} dimensions.")


def match_rows(X: Array, Y: Array) -> tuple[Array, Array]:
    """Return X and Y in one precision, if they are of one library and width."""
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns and Y has {Y.shape[1]}: they must agree.")
    if X.dtype != Y.dtype:
        xp = array_namespace(X)
        X, Y = (xp.astype(A, xp.float64) for A in (X, Y))
    return X, Y


def as_array(A: Any, name: str, of: Array | None = None) -> Array:
    """Return A as an array, in the library and on the device of `of` if that is given."""
    if issparse(A):
        raise TypeError(
            f"{name} is a sparse matrix; kernel sums need dense rows: pass {name}.toarray()."
        )
    if isinstance(A, np.ma.MaskedArray):
        raise TypeError(
            f"{name} is a masked array; leave the masked rows out and pass a plain one."
        )
    if is_torch_array(A) and (str(A.layout) != "torch.strided" or A.device.type == "meta"):
        raise TypeError(f"{name} must be a dense tensor with values; use {name}.to_dense().")
    if is_array_api_obj(A) and not isinstance(A, np.generic):
        if of is not None:
            _check_same_place(A, name, of)
        return A
    try:
        array = np.asarray(A)
    except ValueError:
        raise ValueError(f"{name} has rows of different lengths.") from None
    if of is None or is_numpy_array(of):
        return array
    return array_namespace(of).asarray(as_float(array, name), device=device(of))


def check_same_library(A: Any, name: str, X: Array) -> None:
    """Refuse a tensor beside rows of another library, and the reverse."""
    if is_torch_array(A) != is_torch_array(X):
        raise TypeError(
            f"X is {_kind_of_array(X)} and {name} {_kind_of_array(A)}: pass both as arrays of one "
            "library."
        )


def _kind_of_array(A: Array) -> str:
    """Return words for the library of an array, and for the device of a tensor."""
    if is_torch_array(A):
        return f"a tensor on {A.device}"
    return "a Dask array" if is_in_blocks(A) else "a NumPy array"


def _check_same_place(A: Array, name: str, X: Array) -> None:
    check_same_library(A, name, X)
    if device(A) != device(X):
        raise ValueError(f"X is on {device(X)} and {name} on {device(A)}: put both on one device.")


def as_float(A: Array, name: str) -> Array:
    """Return A in float32 or float64, whichever is nearest to its type."""
    xp: Any = array_namespace(A)
    kind = str(A.dtype).split(".")[-1]
    if kind in ("float32", "float64") and getattr(A.dtype, "isnative", True):
        return A
    if kind in ("float16", "bfloat16"):
        return xp.astype(A, xp.float32)
    is_real = getattr(A.dtype, "kind", kind[0]) in ("b", "i", "u", "f")  # torch: by name
    if is_real:
        return xp.astype(A, xp.float64)
    if kind == "object":
        return _numbers_of_objects(A, name)
    raise ValueError(f"{name} must hold real numbers, got {kind}.")


def _numbers_of_objects(A: NDArray[Any], name: str) -> NDArray[np.float64]:
    out = np.empty(A.shape)
    for index, value in np.ndenumerate(A):
        try:
            if isinstance(value, str):
                raise TypeError
            out[index] = float(value)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"{name} must hold numbers, got {value!r} {describe_index(index)}."
            ) from None
    return out


def check_finite(A: Array, name: str) -> None:
    """Refuse NaN and infinity, naming the first."""
    xp = array_namespace(A)
    bytes_per_row = A.shape[1] if A.ndim == 2 else 1
    for start, stop in row_slabs(A.shape[0], bytes_per_row, 2**24):
        finite = xp.isfinite(A[start:stop])
        if not bool(to_numpy(xp.all(finite))):
            row, *column = first_true(~to_numpy(finite))
            where = (row + start, *column)
            value = to_numpy(A[where[0]])[tuple(column)]
            what = "NaN" if np.isnan(value) else "infinity"
            raise ValueError(f"{name} contains {what} {describe_index(where)}.")


def check_span(X: Array) -> None:
    """Refuse numbers so large, or rows so close together, that their squares leave the range."""
    check_size(X)
    xp = array_namespace(X)
    lows, highs = xp.min(X, axis=0), xp.max(X, axis=0)
    spread = float(xp.max(highs / 2 - lows / 2)) * 2
    if 0 < spread < 1 / LARGEST:
        raise ValueError(
            f"X varies by {spread:.2g} at most: squares of differences below {1 / LARGEST:g} "
            "underflow; "
            "multiply X by a constant."
        )


def classes_of(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes in order, and the number of each label's class."""
    try:
        return np.unique(labels, return_inverse=True)
    except TypeError:
        raise ValueError(
            "y has labels that cannot be put in order, such as numbers beside text: make them all "
            "of one type."
        ) from None


def check_size(X: Array) -> None:
    """Refuse numbers so large that their squares leave the range, naming the first."""
    if issparse(X):
        entries = X.tocoo()
        beyond = np.flatnonzero(np.abs(entries.data) > LARGEST)[:1]
        for k in beyond.tolist():
            _refuse_size(entries.data[k], tuple(int(index[k]) for index in entries.coords))
        return
    xp = array_namespace(X)
    if max(-float(xp.min(X)), float(xp.max(X))) > LARGEST:
        where = first_true(to_numpy(xp.abs(X) > LARGEST))
        _refuse_size(to_numpy(X)[where], where)


def _refuse_size(number: float, where: tuple[int, ...]) -> None:
    raise ValueError(
        f"X contains {number:.2g} {describe_index(where)}: squares of numbers beyond {LARGEST:g} "
        f"overflow; divide column {where[1]} by a constant."
    )


def check_width_span(bandwidth: float) -> None:
    """Raise ValueError for a width whose square is beyond floating point."""
    if not 1 / LARGEST <= bandwidth <= LARGEST:
        raise ValueError(
            f"bandwidth={bandwidth:g} is too extreme: it must lie between {1 / LARGEST:g} and "
            f"{LARGEST:g}."
        )


def power_of_two(X: Array) -> float:
    """Return the power of two just above the largest number; X divided by it loses no digit."""
    xp = array_namespace(X)
    largest = float(xp.max(xp.abs(X)))
    return float(2.0 ** frexp(largest)[1]) if largest > 0 else 1.0


def first_true(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the index of the first entry that is True."""
    return tuple(int(i) for i in np.argwhere(mask)[0])


def describe_index(index: tuple[int, ...]) -> str:
    """Return "in row 3" or "in row 3, column 1"."""
    return "in " + ", ".join(
        f"{what} {i}" for what, i in zip(("row", "column"), index, strict=False)
    )


def check_tensor(X: Any) -> Any:
    """Return a tensor without gradient history, and anything else as it is.

    TypeError for a tensor that scikit-learn's validation would not accept.
    """
    if not is_torch_array(X):
        return X
    as_array(X, "X")
    if X.device.type != "cpu" and not get_config()["array_api_dispatch"]:
        raise TypeError(
            f"X is a tensor on {X.device}: switch on sklearn.set_config(array_api_dispatch=True), "
            "or pass X.cpu().numpy()."
        )
    return detached(X)


def dense_rows(X: Any, otherwise: str = "") -> Any:
    """Return a sparse matrix in full, if that fits the memory budget, and anything else as it is.

    Where it does not fit, the error ends with `otherwise`: what else the user may do.
    """
    if not issparse(X):
        return X
    n_bytes = X.shape[0] * X.shape[1] * X.dtype.itemsize
    if n_bytes > working_memory():
        raise ValueError(
            f"X is sparse and would take {n_bytes / 2**20:.0f} MiB as a dense array, more than "
            f"working_memory={working_memory() / 2**20:.0f} MiB; reduce its columns (say, by "
            "sklearn.decomposition.TruncatedSVD) or raise sklearn.set_config(working_memory=…)"
            f"{otherwise}."
        )
    return X.toarray()


def check_coordinates(Z: Any, n_components: int, who: object) -> NDArray[np.float64]:
    """Return coordinates for `inverse_transform`; ValueError unless one for each component."""
    refuse_tensor(Z, who)
    Z = check_array(Z, dtype=np.float64, input_name="X")
    if Z.shape[1] != n_components:
        raise ValueError(
            f"X has {Z.shape[1]} features, but {type(who).__name__}.inverse_transform is expecting "
            f"{n_components}: one for each component."
        )
    return np.asarray(Z)


def check_same_home(X: Array, fitted: Array) -> None:
    """Refuse new rows of another library, or on another device, than what was fitted."""
    if is_torch_array(X) == is_torch_array(fitted) and device(X) == device(fitted):
        return
    raise ValueError(
        f"X is {_kind_of_array(X)} and what was fitted is {_kind_of_array(fitted)}: put both in "
        "one place."
    )


def wide_enough(X: Array, weights: NDArray[np.float64]) -> Array:
    """Return the rows in a precision that holds their weights, and products of two weights."""
    if itemsize(X) == 8 or (
        _FLOAT32_WEIGHTS[0] <= weights.min() <= weights.max() <= _FLOAT32_WEIGHTS[1]
    ):
        return X
    xp = array_namespace(X)
    return xp.astype(X, xp.float64)
