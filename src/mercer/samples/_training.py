"""Samples as users pass them to `fit` and to measures: checked, without rows of weight zero.

A warning says where one column drowns the others, which one width for all columns cannot avoid.
"""

import sys
import warnings
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_torch_array
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from mercer._arrays import Array, refuse_tensor, take_rows, to_numpy
from mercer._sklearn import get_namespace
from mercer.samples._checks import (
    as_array,
    check_rows,
    check_same_library,
    check_span,
    check_tensor,
    classes_of,
    dense_rows,
    match_rows,
    wide_enough,
)
from mercer.samples._dask_arrays import (
    as_blocks,
    check_dask_rows,
    check_dask_weights,
    class_codes,
    drop_weightless_rows,
    find_classes,
    merge_dask_copies,
    rows_in_blocks,
    settle_dask_weights,
)
from mercer.samples._homes import is_in_blocks
from mercer.samples._in_blocks import ones, row_numbers
from mercer.samples._sample import BlockSample, Sample
from mercer.samples._weights import check_counts, check_row_weights, check_some_weight, merge_copies

# The widest column may spread this many times as far as half of the columns without a warning:
# scaling gains beyond 34 times, and gains as often as it costs below 16
# (benchmarks/study_scales.py, docs/classifiers.md).
_WIDEST_TIMES = 25.0
# Scales are compared on about this many rows, at equal steps: enough to tell orders of magnitude.
_SCALE_ROWS = 1000


def check_training(
    model: Any, X: Any, y: Any, sample_weight: Any, *, one_width: bool = True
) -> Sample | BlockSample:
    """Check what users pass to `fit`; return the sample, and set `classes_`.

    Parameters
    ----------
    model : estimator
    X : array-like, sparse matrix, tensor or Dask array of shape (n, d)
    y : array-like of shape (n,)
    sample_weight : array-like of shape (n,) or None
    one_width : bool
        Whether one width serves all columns, so that a warning is due where scales differ much.

    Returns
    -------
    Sample or BlockSample
        Rows of weight 0 are left out, as if they had not been given; copies of a row are one.
    """
    if is_in_blocks(X):
        return _blocks_of(model, X, y, sample_weight)
    X, y = validate_training(model, X, y)
    if one_width:
        warn_of_scales(model, X)
    return sample_of(model, X, y, sample_weight)


def validate_training(
    model: Any,
    X: Any,
    y: Any = "no_validation",
    *,
    double: bool = False,
    tensors: bool = True,
    span: bool = False,
    reset: bool = True,
    instead: str = "",
    **options: Any,
) -> Any:
    """Return dense rows as floats, and labels where y is given, as scikit-learn validates them.

    Parameters
    ----------
    double : bool
        Whether float32 becomes float64.
    tensors : bool
        Whether tensors are accepted, and stay on their device.
    span : bool
        Whether squares of differences must be in range.
    reset : bool
        Whether the number of columns is learnt, or compared.
    instead : str
        What else can be done with a sparse matrix that is too large to be made dense.
    **options
        Of scikit-learn's `validate_data`.
    """
    if not tensors:
        refuse_tensor(X, model)
    X = check_tensor(X)
    xp, _ = get_namespace(X)
    options |= {"dtype": xp.float64 if double else [xp.float64, xp.float32], "reset": reset}
    has_y = not (isinstance(y, str) and y == "no_validation")
    checked = validate_data(model, X, y, accept_sparse="csr", **options)
    X, y = checked if has_y else (checked, y)
    X = dense_rows(X, instead)
    if span:
        check_span(X)
    return (X, y) if has_y else X


def sample_of(model: Any, X: Array, y: Array, sample_weight: Any) -> Sample:
    """Return validated rows in memory as a sample, and set `classes_` where y is."""
    check_classification_targets(y)
    xp = array_namespace(X)
    labels, weights = to_numpy(y), check_row_weights(sample_weight, X.shape[0])
    rows = np.arange(X.shape[0])
    if sample_weight is not None:
        rows = np.flatnonzero(weights > 0)
        check_some_weight(rows.size > 0)
    if rows.size < X.shape[0]:
        X, labels, weights = take_rows(X, rows), labels[rows], weights[rows]
    classes, codes = np.unique(labels, return_inverse=True)
    check_two_classes(model, classes)
    is_tensor = is_torch_array(X) and is_torch_array(y)
    model.classes_ = xp.asarray(classes, device=device(y)) if is_tensor else classes
    codes = codes.astype(np.int64)
    X = wide_enough(X, weights)
    merged = merge_copies(X, codes, weights)
    return Sample(
        merged.take(X),
        merged.take(codes),
        merged.weights,
        merged.leaving,
        classes.size,
        rows[merged.rows],
        merged.index,
        rows,
    )


def check_two_classes(model: Any, classes: NDArray[Any], note: str = "") -> None:
    """Raise ValueError for fewer than two classes; `note` may say why there are so few."""
    if classes.size < 2:
        got = f"one class: {classes.tolist()[0]!r}" if classes.size else "none"
        raise ValueError(
            f"{type(model).__name__} needs at least two classes in y with a positive weight, got "
            f"{got}.{note}"
        )


def _blocks_of(model: Any, X: Any, y: Any, sample_weight: Any) -> BlockSample:
    """Return rows in a Dask array as a sample, and set `classes_`."""
    if X.ndim == 2 and not np.isnan(X.shape[0]):
        validate_data(model, X, skip_check_array=True)
    X = check_dask_rows(X, "X")
    classes, labels = find_classes(y, X)
    weights, rows = ones(X), row_numbers(X)
    if sample_weight is not None:
        weights = check_dask_weights(sample_weight, "sample_weight", X)
        weights, X, labels, rows = drop_weightless_rows(weights, X, labels, rows)
        check_some_weight(X.shape[0] > 0)
        weights = settle_dask_weights(weights)
        classes, labels = find_classes(labels, X)
    if classes.dtype.kind == "f" and not np.isfinite(classes).all():
        raise ValueError("y contains NaN or infinity.")
    check_classification_targets(classes)
    check_two_classes(model, classes)
    model.classes_ = classes
    codes = class_codes(classes, labels)
    weights, unit, X, codes, rows = merge_dask_copies(X, codes, weights, rows)
    bounds = (0,) * (classes.size + 1)
    return BlockSample(X, codes, weights, unit, bounds, np.empty(0, np.int64), rows)


def warn_of_scales(estimator: Any, X: Any) -> None:
    """Warn if a column of X spreads so much further than half of the columns that these are lost.

    Parameters
    ----------
    estimator : object
        Named in the warning; its ``feature_names_in_``, where there are any, name the columns.
    X : array or tensor of shape (n_samples, n_features)
        Training rows, finite.
    """
    step = -(-X.shape[0] // _SCALE_ROWS)
    times, wide, middle = widest_against_half(to_numpy(X[::step, :]))
    if times < _WIDEST_TIMES:
        return
    names = getattr(estimator, "feature_names_in_", range(X.shape[1]))
    shown = f"{times:.0f}" if times < 1e6 else f"{times:.1g}"
    warnings.warn(
        f"Column {names[wide]!r} spreads {shown} times as far as column {names[middle]!r}, and "
        "half of the columns no further than that, so that they hardly count: "
        f"{type(estimator).__name__} has one width for all columns; put a StandardScaler before "
        "it in a pipeline.",
        UserWarning,
        stacklevel=_levels_to_the_user(),
    )


def _levels_to_the_user() -> int:
    """Return how many calls up the user's code is, beyond all of Mercer and scikit-learn."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] in ("mercer", "sklearn"):
        frame, level = frame.f_back, level + 1
    return level


def widest_against_half(X: NDArray[Any]) -> tuple[float, int, int]:
    """Return how many times as far the widest column spreads as half of them, and which two.

    The widest column counts by its standard deviation, which a far row hardly changes, the others
    by half their range, which does not shrink where a value is rare: 0/1 columns of rare
    categories are no narrower than those of frequent ones.  Constant columns do not count.
    """
    deviation, half_range = _spreads(np.asarray(X, dtype=np.float64))
    varied = np.flatnonzero(half_range > 0)
    if varied.size == 0:
        return 0.0, 0, 0
    wide = int(np.argmax(deviation))
    in_order = varied[np.argsort(half_range[varied], kind="stable")]
    middle = int(in_order[(varied.size - 1) // 2])
    with np.errstate(over="ignore"):
        return float(deviation[wide] / half_range[middle]), wide, middle


def _spreads(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the standard deviation and half the range of each column, however large it is."""
    largest = np.abs(X).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    scaled = X / unit
    half_range = (scaled.max(axis=0) / 2 - scaled.min(axis=0) / 2) * unit
    return scaled.std(axis=0) * unit, half_range


def check_sample(
    X: Any, sample_weight: Any, *, names: tuple[str, str] = ("X", "sample_weight"), of: Any = None
) -> tuple[Array, Any]:
    """Return rows, as floats of their own library or that of `of`, and their weights.

    Rows of weight 0 are gone.  Weights are NumPy floats: they count rows, and are never
    differentiated through.  Rows in blocks have weights in blocks, too.
    """
    if is_in_blocks(X, of):
        return _check_dask_sample(X, sample_weight, names)
    X = check_rows(X, names[0], of=of)
    if X.shape[0] == 0:
        raise ValueError(f"{names[0]} has no rows.")
    if sample_weight is None:
        return X, None
    weights = check_counts(sample_weight, X.shape[0], names[1])
    check_some_weight(bool(weights.any()), names[1])
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            raise ValueError(
                f"{names[1]} adds up to more than floating point can hold; divide it by a constant."
            )
    counted = weights > 0
    if not counted.all():
        X, weights = take_rows(X, np.flatnonzero(counted)), weights[counted]
    return wide_enough(X, weights), weights


def check_unlabelled(model: Any, X: Any, sample_weight: Any) -> tuple[Array, Any]:
    """Check what users pass to a `fit` without classes; return rows and weights, or None.

    Rows of weight 0 are gone; the model learns the number and the names of the columns.
    """
    if not is_in_blocks(X):
        X = validate_training(model, X)
    elif X.ndim == 2 and not np.isnan(X.shape[0]):
        validate_data(model, X, skip_check_array=True)
    return check_sample(X, sample_weight)


def check_pair(X: Any, w_x: Any, Y: Any, w_y: Any) -> tuple[Array, Any, Array, Any]:
    """Return two samples in one library, precision and home: rows and weights of X, and of Y."""
    if is_in_blocks(X, Y):
        check_same_library(Y, "Y", X)
    X, w_x = check_sample(X, w_x, of=Y if is_in_blocks(Y) else None)
    Y, w_y = check_sample(Y, w_y, names=("Y", "sample_weight_y"), of=X)
    X, Y = match_rows(X, Y)
    return X, w_x, Y, w_y


def check_sides(X: Any, Y: Any) -> tuple[Array, Array]:
    """Return two sets of columns of the same rows in one library and home.

    A vector is one column; rows in blocks are cut alike.
    """
    X, Y = (_as_columns(A, name) for A, name in ((X, "X"), (Y, "Y")))
    if is_in_blocks(X, Y):
        check_same_library(Y, "Y", X)
    X, _ = check_sample(X, None, of=Y if is_in_blocks(Y) else None)
    Y, _ = check_sample(Y, None, names=("Y", "sample_weight"), of=X)
    if X.shape[0] != Y.shape[0]:
        raise ValueError(
            f"X has {X.shape[0]} rows and Y has {Y.shape[0]}: each row of X belongs to the row of "
            "Y at the same place."
        )
    return X, as_blocks(Y, X) if is_in_blocks(X) else Y


def _as_columns(A: Any, name: str) -> Array:
    A = as_array(A, name)
    return A[:, None] if A.ndim == 1 else A


def _check_dask_sample(
    X: Any, sample_weight: Any, names: tuple[str, str]
) -> tuple[Array, Array | None]:
    """Return rows and weights as Dask arrays that are cut alike; rows of weight 0 are gone."""
    X = rows_in_blocks(X, names[0])
    if sample_weight is None:
        return X, None
    weights = check_dask_weights(sample_weight, names[1], X)
    weights, X = drop_weightless_rows(weights, X)
    check_some_weight(X.shape[0] > 0, names[1])
    return X, weights


def check_labelled(X: Any, y: Any, sample_weight: Any) -> tuple[Array, Any, int, Any]:
    """Return rows, the numbers of their classes, how many classes there are, and weights.

    Rows of weight 0 are gone; classes and weights are in blocks where the rows are.
    """
    X, _ = check_sample(X, None)
    if is_in_blocks(X):
        names, labels = find_classes(y, X)
        if sample_weight is None:
            return X, class_codes(names, labels), len(names), None
        weights = check_dask_weights(sample_weight, "sample_weight", X)
        weights, X, labels = drop_weightless_rows(weights, X, labels)
        check_some_weight(X.shape[0] > 0)
        names, labels = find_classes(labels, X)
        return X, class_codes(names, labels), len(names), weights
    labels = to_numpy(y) if hasattr(y, "shape") else np.asarray(y)
    if labels.shape != (X.shape[0],):
        raise ValueError(
            f"y must have one class for each of the {X.shape[0]} rows of X, got shape "
            f"{labels.shape}."
        )
    weights = None
    if sample_weight is not None:
        weights = check_counts(sample_weight, X.shape[0], "sample_weight")
        check_some_weight(bool(weights.any()))
        counted_rows = np.flatnonzero(weights)
        labels, weights = labels[counted_rows], weights[counted_rows]
        X = wide_enough(take_rows(X, counted_rows), weights)
    names, codes = classes_of(labels)
    return X, codes, len(names), weights
