"""How much rows and classes count: sample weights, priors, and factors on the rows of a class.

One law for everything that takes sample weights (docs/weights.md tells users):

1. Weights that are all whole numbers are copies: 2 is the same as the row twice.
2. Other weights are relative: a common factor changes nothing.  They count as many rows as
   have one.
3. Leave-one-out takes a row and all its copies, identical rows of the same class.  Where rows of
   another class lie at the same place, the copies are observations that differ, and one of
   them leaves at a time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj, is_torch_array
from numpy.typing import NDArray

from mercer._arrays import Array, FloatArray, take_rows, to_numpy
from mercer._memory import row_slabs, working_memory

# Floating point has whole numbers only above this one, so that a whole weight need not be a count.
_MOST_COPIES = 2.0**52
# Weights of estimators lie within this factor of their mean, so that products stay in range.
MOST_WEIGHT = 1e100
# Multiplying by these two odd numbers mixes the bits of a row into two independent keys.
KEY_FACTORS = (0x2545F4914F6CDD1D, 0x369DEA0F31A53F85)
# Rows are mixed by this many bytes at a time, so that they stay in the cache.
_BYTES_AT_ONCE = 2**19


def is_whole(weights: FloatArray) -> bool:
    """Tell whether the weights are numbers of copies: all whole, and none too large to tell."""
    return bool(weights.max(initial=0.0) < _MOST_COPIES and (weights == np.rint(weights)).all())


def leaving_weights(weights: FloatArray) -> FloatArray:
    """Return what leaves with each row: one of its copies, or a relative weight as a whole."""
    return np.minimum(weights, 1.0) if is_whole(weights) else weights


def as_counts(weights: FloatArray) -> FloatArray:
    """Return weights that add up to N: whole ones as they are, others scaled.

    Raises
    ------
    ValueError
        If a relative weight is so far below the mean that its square would vanish.
    """
    if is_whole(weights):
        return weights
    heaviest = float(weights.max())
    shares = weights / heaviest
    scaled: FloatArray = shares / (shares.sum() / np.count_nonzero(weights > 0))
    light = (weights > 0) & (scaled < 1 / MOST_WEIGHT)
    if light.any():
        row = int(np.flatnonzero(light)[0])
        raise ValueError(
            f"sample_weight contains {weights[row]:.2g} in row {row} beside {heaviest:.2g} in row "
            f"{int(np.argmax(weights))}: weights must be 0, or lie within a factor of "
            f"{MOST_WEIGHT:g} of their mean."
        )
    return scaled


def check_row_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    """Return weights of any library as NumPy numbers that add up to N; ones for None."""
    return as_counts(check_given_weights(sample_weight, n_rows))


def check_given_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    """Return weights of any library as NumPy numbers, as they were given; ones for None."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = check_counts(sample_weight, n_rows, "sample_weight")
    check_weight_range(weights)
    return weights


def check_counts(sample_weight: Any, n_rows: int, name: str) -> FloatArray:
    """Return weights of rows as NumPy numbers, none negative; a number is that of every row."""
    try:
        is_array = is_array_api_obj(sample_weight)
        weights = to_numpy(sample_weight) if is_array else np.asarray(sample_weight)
        if weights.dtype.kind == "c":
            raise TypeError
        weights = weights.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers.") from None
    if isinstance(sample_weight, Real):
        weights = np.full(n_rows, float(sample_weight))
    check_entries(weights.shape, n_rows, name)
    check_not_negative(weights, name)
    return weights


def check_entries(shape: tuple[int, ...], n_rows: int, name: str) -> None:
    """Raise ValueError unless the shape is that of one entry for each row."""
    if tuple(shape) != (n_rows,):
        raise ValueError(
            f"{name} must have one entry for each of the {n_rows} rows, got shape {tuple(shape)}."
        )


def check_not_negative(weights: FloatArray, name: str, start: int = 0) -> None:
    """Refuse weights that are negative or not finite, naming the first."""
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{name} must be finite and not negative, got {weights[row]:g} in row {row + start}."
        )


def check_some_weight(has_weight: bool, name: str = "sample_weight") -> None:
    """Raise ValueError unless some row has a positive weight."""
    if not has_weight:
        raise ValueError(f"{name} is zero everywhere: no row is left.")


def check_weight_range(weights: FloatArray, start: int = 0) -> None:
    """Refuse weights whose products with each other would leave the range of floating point."""
    beyond = (weights > MOST_WEIGHT) | ((weights > 0) & (weights < 1 / MOST_WEIGHT))
    if beyond.any():
        row = int(np.flatnonzero(beyond)[0])
        raise ValueError(
            f"sample_weight contains {weights[row]:.2g} in row {row + start}: weights count rows, "
            f"and must be 0 or between {1 / MOST_WEIGHT:g} and {MOST_WEIGHT:g}."
        )


@dataclass(frozen=True)
class Merged:
    """Rows without their copies.

    Parameters
    ----------
    rows : NumPy array of int of shape (m,)
        The first of each set of identical rows of one class, in the order of the rows.
    weights : NumPy array of shape (m,)
        What the weights of each set add up to.
    leaving : NumPy array of shape (m,)
        What leaves when one of the set is left out: all of it, or the mean weight of a row where
        rows of another class lie at the same place.
    index : NumPy array of int of shape (n,)
        Which set each row is in.
    """

    rows: NDArray[np.int64]
    weights: FloatArray
    leaving: FloatArray
    index: NDArray[np.int64]

    def take(self, A: Array) -> Array:
        """Return the rows of A (or entries of a vector) that stand for their sets."""
        return A if self.rows.size == self.index.size else take_rows(A, self.rows)


def merge_copies(X: Array, codes: NDArray[Any], weights: FloatArray) -> Merged:
    """Merge identical rows of one class into one that has their weight.

    Parameters
    ----------
    X : array of shape (n, d)
        Of NumPy, or of torch on any device.
    codes : NumPy array of int of shape (n,)
        Classes, 0 … C − 1.
    weights : NumPy array of shape (n,)
        Positive; whole, or relative and adding up to n.
    """
    places = _places(X)
    if places is None:
        every = np.arange(len(codes), dtype=np.int64)
        return Merged(every, weights, weights, every)
    return merge_places(places, codes, weights)


def merge_places(places: NDArray[np.int64], codes: NDArray[Any], weights: FloatArray) -> Merged:
    """Merge rows of one place, a number ≥ 0 for each set of identical rows, and of one class."""
    sets = places * (int(codes.max()) + 1) + codes
    _, first, index = np.unique(sets, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    rows, index = first[order].astype(np.int64), rank[index].astype(np.int64)
    total: FloatArray = np.bincount(index, weights).astype(np.float64)
    copies = weights if is_whole(weights) else np.ones_like(weights)
    is_mixed = np.bincount(places[rows])[places[rows]] > 1
    leaving = np.where(is_mixed, total / np.bincount(index, copies), total)
    return Merged(rows, total, leaving, index)


def row_keys(X: Array, factor: int = KEY_FACTORS[0]) -> Array:
    """Return 64 bits for each row that are the same for identical rows: int64, where X is."""
    xp: Any = array_namespace(X)
    parts = []
    at_once = _BYTES_AT_ONCE if not is_torch_array(X) else working_memory() // 4
    for start, stop in row_slabs(X.shape[0], 8 * X.shape[1], at_once):
        # Adding zero makes −0 and 0 one number.
        bits = (xp.astype(X[start:stop, :], xp.float64) + 0.0).view(xp.int64)
        keys = xp.zeros_like(bits[:, 0])
        for column in range(bits.shape[1]):
            keys = (keys ^ bits[:, column]) * factor
            keys = keys ^ (keys >> 29)
        parts.append(keys)
    return xp.concat(parts)


def _places(X: Array) -> NDArray[np.int64] | None:
    """Return a number for each row that identical rows share; None where all rows differ."""
    keys = row_keys(X)
    xp = array_namespace(keys)
    ordered = xp.sort(keys)
    if not bool(xp.any(ordered[1:] == ordered[:-1])):
        return None
    return places_of_keys(to_numpy(keys), lambda a, b: _are_equal(X, a, b))


def places_of_keys(
    keys: NDArray[np.int64],
    are_equal: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]],
) -> NDArray[np.int64]:
    """Return a number for each row that identical rows share.

    Parameters
    ----------
    keys : NumPy array of int of shape (n,)
        The same for identical rows.
    are_equal : callable
        Whether rows a and rows b are the same, pair by pair: keys may be the same by chance.
    """
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    later = np.flatnonzero(first[places] != np.arange(places.size))
    apart = later[~are_equal(later, first[places[later]])]
    places = places.astype(np.int64)
    places[apart] = first.size + np.arange(apart.size)
    return places


def _are_equal(X: Array, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether rows a and rows b of X are the same, pair by pair."""
    xp = array_namespace(X)
    out = np.empty(a.size, dtype=bool)
    for start, stop in row_slabs(a.size, 24 * X.shape[1], working_memory()):
        same = take_rows(X, a[start:stop]) == take_rows(X, b[start:stop])
        out[start:stop] = to_numpy(xp.all(same, axis=1))
    return out


def check_priors(priors: Any, in_class: FloatArray) -> FloatArray:
    """Return class priors that add up to 1: given ones, equal ones, or the classes' shares.

    Parameters
    ----------
    priors : array-like of shape (C,), "uniform" or None
        A class of prior 0 is never chosen.
    in_class : NumPy array of shape (C,)
        The weight of each class.
    """
    if priors is None:
        return np.asarray(in_class / in_class.sum())
    if isinstance(priors, str):  # "uniform": the constraints allow no other
        return np.full(in_class.size, 1 / in_class.size)
    try:
        values = np.asarray(priors, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"priors must be numbers, got {priors!r}.") from None
    if values.shape != in_class.shape:
        raise ValueError(
            f"priors must have one entry for each of the {in_class.size} classes, got shape "
            f"{values.shape}."
        )
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise ValueError(f"priors must be finite and not negative, got {values.tolist()}.")
    if abs(values.sum() - 1) > 1e-6:
        raise ValueError(f"priors must add up to 1, got {values.sum():g}.")
    return np.asarray(values / values.sum())


def check_class_weight(
    class_weight: Any, classes: NDArray[Any], in_class: FloatArray
) -> FloatArray:
    """Return the factor of each class: ones, N/(C·N_c) for "balanced", or from a dictionary."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):  # "balanced"
        return np.asarray(in_class.sum() / (len(classes) * in_class))
    unknown = [key for key in class_weight if key not in classes]
    if unknown:
        raise ValueError(f"class_weight names {unknown[0]!r}, which is not among the classes.")
    factors = np.array([float(class_weight.get(c, 1.0)) for c in classes.tolist()])
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        raise ValueError("class_weight must be positive for every class.")
    return factors


def log_priors(priors: Array) -> Array:
    """Return the logarithms, −inf for a prior of zero: such a class is never chosen."""
    with np.errstate(divide="ignore"):
        return array_namespace(priors).log(priors)
