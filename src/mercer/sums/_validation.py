"""What users may pass, and the one sentence they get for anything else."""

from math import inf
from numbers import Real
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

from mercer.sums._arrays import Array, to_numpy
from mercer.sums._geometry import row_slabs


def check_rows(A: Any, name: str, of: Array | None = None) -> Array:
    """Return A as a finite float32 or float64 matrix, in the library of `of` or its own."""
    A = _as_array(A, name, of)
    if A.ndim == 1:
        raise ValueError(
            f"{name} must be a matrix with one row for each point, got a vector of length "
            f"{A.shape[0]}; use {name}.reshape(-1, 1) if it is one feature."
        )
    if A.ndim != 2:
        raise ValueError(f"{name} must be a matrix, got {A.ndim} dimensions.")
    if A.shape[1] == 0:
        raise ValueError(f"{name} has no columns.")
    A = _as_float(A, name)
    _check_finite(A, name)
    return A


def match_rows(X: Array, Y: Array) -> tuple[Array, Array]:
    """Return X and Y in one precision, if they are of one library and width."""
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns and Y has {Y.shape[1]}: they must agree.")
    if X.dtype != Y.dtype:
        xp = array_namespace(X)
        X, Y = (xp.astype(A, xp.float64) for A in (X, Y))
    return X, Y


def check_weights(weights: Any, n_rows: int, X: Array, log: bool) -> Array | None:
    """Return weights (m,) or (m, c) as floats of X's library and precision."""
    if weights is None:
        return None
    weights = _as_array(weights, "weights", of=X)
    if weights.ndim not in (1, 2) or weights.shape[0] != n_rows:
        raise ValueError(
            f"weights must have one entry or row for each of the {n_rows} rows that are summed "
            f"over, got shape {tuple(weights.shape)}."
        )
    if weights.ndim == 2 and weights.shape[1] == 0:
        raise ValueError("weights has no columns.")
    weights = _as_float(weights, "weights")
    _check_finite(weights, "weights")
    xp = array_namespace(X)
    narrow = xp.astype(weights, X.dtype)
    if weights.dtype != X.dtype:
        changed = ~xp.isfinite(narrow) | ((narrow == 0) != (weights == 0))
        if bool(xp.any(changed)):
            raise ValueError(
                "weights hold numbers beyond the range of float32, which X has; pass X as float64."
            )
    if log:
        if bool(xp.any(narrow < 0)):
            where = _first(to_numpy(narrow) < 0)
            raise ValueError(
                f"log_kernel_sum needs weights that are not negative, got {to_numpy(narrow)[where]}"
                f" {_place(where)}; use kernel_sum."
            )
        if getattr(narrow, "requires_grad", False) and bool(xp.any(narrow == 0)):
            raise ValueError(
                "log_kernel_sum can not differentiate with respect to weights that are zero; "
                "leave those rows out, or detach the weights."
            )
    return narrow


def check_groups(groups: Any, n_rows: int, weights: Array | None) -> NDArray[np.int64] | None:
    """Return group numbers 0…G−1 as NumPy integers."""
    if groups is None:
        return None
    if weights is not None and weights.ndim == 2:
        raise ValueError(
            "groups go with weights of one entry for each row, not with columns of weights."
        )
    numbers = to_numpy(_as_array(groups, "groups"))
    if numbers.shape != (n_rows,):
        raise ValueError(
            f"groups must have one entry for each of the {n_rows} rows that are summed over, "
            f"got shape {numbers.shape}."
        )
    if numbers.dtype.kind not in "iu":
        raise ValueError(
            f"groups must be integers 0, 1, …, got {numbers.dtype}; "
            "sklearn.preprocessing.LabelEncoder makes such numbers of labels."
        )
    if n_rows and not 0 <= numbers.min() <= numbers.max() < 2**31:
        worst = numbers.min() if numbers.min() < 0 else numbers.max()
        raise ValueError(f"groups must be integers 0, 1, …, got {worst}.")
    return numbers.astype(np.int64)


def check_bandwidth(bandwidth: Any) -> tuple[tuple[float, ...], bool]:
    """Return the bandwidths and whether a single one was given as a number."""
    if getattr(bandwidth, "requires_grad", False):
        raise ValueError(
            "bandwidth can not be differentiated through; divide X and Y by it and pass "
            "bandwidth=1."
        )
    try:
        values = to_numpy(bandwidth)
        if values.dtype.kind not in "iuf" or values.ndim > 1 or values.size == 0:
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(
            f"bandwidth must be a positive number or a vector of them, got {bandwidth!r}."
        ) from None
    with np.errstate(over="ignore", under="ignore"):
        numbers = values.ravel().astype(float).tolist()
    for number, value in zip(numbers, values.ravel(), strict=True):
        if not 0 < number < inf:
            raise ValueError(f"bandwidth must be positive and finite, got {value}.")
    return tuple(numbers), values.ndim == 0


def check_options(options: dict[str, Any]) -> None:
    """Refuse what the options that are no arrays can not be."""
    for name, choices in (("method", ("auto", "direct", "fast")), ("precision", ("high", "fast"))):
        value = options[name]
        if not (isinstance(value, str) and value in choices):
            listed = ", ".join(map(repr, choices))
            raise ValueError(f"{name} must be one of {listed}; got {value!r}.")
    tol, exclude_self = options["tol"], options["exclude_self"]
    if tol is not None and not (isinstance(tol, Real) and 0 < float(tol) < 1):
        raise ValueError(f"tol must be None or a number between 0 and 1, got {tol!r}.")
    if not isinstance(exclude_self, bool | np.bool_):
        raise ValueError(f"exclude_self must be True or False, got {exclude_self!r}.")


def _as_array(A: Any, name: str, of: Array | None = None) -> Array:
    """Return A as an array, one of the library of `of` if that is given."""
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
    return array_namespace(of).asarray(_as_float(array, name), device=device(of))


def _check_same_place(A: Array, name: str, X: Array) -> None:
    if is_torch_array(A) != is_torch_array(X):
        raise TypeError(
            f"X is a {type(X).__name__} and {name} a {type(A).__name__}: pass both as arrays of "
            "one library."
        )
    if device(A) != device(X):
        raise ValueError(f"X is on {device(X)} and {name} on {device(A)}: put both on one device.")


def _as_float(A: Array, name: str) -> Array:
    """Return A in the nearest precision that is computed with."""
    xp: Any = array_namespace(A)
    kind = str(A.dtype).split(".")[-1]
    if kind in ("float32", "float64") and getattr(A.dtype, "isnative", True):
        return A
    if kind in ("float16", "bfloat16"):
        return xp.astype(A, xp.float32)
    is_real = getattr(A.dtype, "kind", kind[0]) in ("b", "i", "u", "f")  # torch has names only
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
            raise ValueError(f"{name} must hold numbers, got {value!r} {_place(index)}.") from None
    return out


def _check_finite(A: Array, name: str) -> None:
    """Refuse NaN and infinity, naming the first."""
    xp = array_namespace(A)
    bytes_per_row = A.shape[1] if A.ndim == 2 else 1
    for start, stop in row_slabs(A.shape[0], bytes_per_row, 2**24):
        finite = xp.isfinite(A[start:stop])
        if not bool(xp.all(finite)):
            row, *column = _first(~to_numpy(finite))
            where = (row + start, *column)
            value = to_numpy(A[where[0]])[tuple(column)]
            what = "NaN" if np.isnan(value) else "infinity"
            raise ValueError(f"{name} contains {what} {_place(where)}.")


def _first(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])


def _place(index: tuple[int, ...]) -> str:
    return "in " + ", ".join(
        f"{what} {i}" for what, i in zip(("row", "column"), index, strict=False)
    )
