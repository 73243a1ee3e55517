"""``partial_fit``: blocks of rows from a table that does not fit in memory."""

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import is_torch_array
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mercer._arrays import Array, FloatArray, like, take_rows, to_numpy
from mercer._memory import explain_full_device
from mercer._sklearn import fit_context
from mercer.discriminants._base import validate_rows
from mercer.discriminants._buffer import RowBuffer
from mercer.discriminants._coding import Coding, class_sums, encode_rows
from mercer.samples import (
    Merged,
    check_class_weight,
    check_given_weights,
    check_row_weights,
    check_same_home,
    merge_copies,
    refuse_dask,
)

if TYPE_CHECKING:
    from mercer.discriminants._sparse import SparseKernelFisherDiscriminant as Sparse

# Rows are kept, and nodes chosen again, until there are this many of them.
_MOST_KEPT = 10_000


@dataclass
class BlockState:
    """What ``partial_fit`` remembers.

    Attributes
    ----------
    class_counts : ndarray of shape (n_classes,)
        Sample weight of the rows of each class so far.
    n_rows : int
        Number of rows so far.
    buffer : RowBuffer or None
        Rows that are kept; None once the nodes are final.
    rng : RandomState or None
        For the choice of nodes, while it may be made again.
    """

    class_counts: FloatArray
    n_rows: int
    buffer: RowBuffer | None = None
    rng: Any = None


class BlockFitting:
    """Adds ``partial_fit`` to a discriminant whose fit is a choice of nodes and a sum over rows."""

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self: "Sparse", X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "Sparse":
        """Add a block of rows.

        Rows are kept until there are 10 000 of them, and width and nodes are chosen again each
        time their number has doubled.  From then on the nodes stay, and a block only adds to
        their moments, so that memory no longer grows.  Blocks should be drawn at random.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), default=None
            All classes that any block will have; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers say how often each row counts.  Others are relative to those of the
            other blocks, and after `fit` to a mean of one.

        Returns
        -------
        SparseKernelFisherDiscriminant
            Itself.  It can predict once rows of two classes have come.
        """
        what = f"{type(self).__name__}.partial_fit"
        refuse_dask(X, what, "it adds blocks that are in memory", "fit takes all blocks at once")
        first = not hasattr(self, "_state")
        X, y = validate_rows(self, X, y, double=True, reset=first)
        _check_parameters(self)
        if first:
            _start(self, classes, X, y)
        else:
            check_same_home(X, self._state.buffer.X if self._state.buffer else self.X_fit_)
        labels = _labels(to_numpy(self.classes_), to_numpy(y))
        counts = check_given_weights(sample_weight, X.shape[0])
        rows = np.flatnonzero(counts > 0)
        position = self._state.n_rows + rows
        self._state.n_rows += X.shape[0]
        with explain_full_device(f"a block of {len(rows)} rows"):
            _add(self, take_rows(X, rows), labels[rows], counts[rows], position)
        return self


def _check_parameters(estimator: "Sparse") -> None:
    """Raise ValueError for parameters that need all rows at once."""
    refused = {
        "class_weight": ("balanced",),
        "scatter": ("class",),
        "node_choice": ("loo", "validation"),
        "alpha": ("loo",),
    }
    for name, values in refused.items():
        value = getattr(estimator, name)
        if isinstance(value, str) and value in values:
            raise ValueError(f"partial_fit cannot use {name}={value!r}, which needs all rows.")


def _start(estimator: "Sparse", classes: Any, X: Array, y: Array) -> None:
    """Set the classes, and a state without rows."""
    if classes is None:
        raise ValueError(
            "The first call of partial_fit needs classes: all that any block will have."
        )
    known = np.unique(to_numpy(classes) if is_torch_array(classes) else classes)
    if len(known) < 2:
        raise ValueError("partial_fit needs at least two classes in classes.")
    estimator._check_components(len(known))
    estimator.classes_ = like(known, y) if is_torch_array(y) else known
    rng = check_random_state(estimator.random_state)
    estimator._state = BlockState(np.zeros(len(known)), 0, RowBuffer.empty(X), rng)


def _labels(classes: NDArray[Any], y: NDArray[Any]) -> NDArray[np.intp]:
    """Return the positions of y in the classes."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"y holds {unknown[0]}, which is not among the classes given first.")
    return np.searchsorted(classes, y).astype(np.intp)


def _add(
    estimator: "Sparse",
    X: Array,
    labels: NDArray[np.intp],
    counts: FloatArray,
    position: NDArray[np.intp],
) -> None:
    """Add rows, choose nodes again if there are twice as many rows as at the last choice, solve."""
    state = estimator._state
    buffer, seen, classes = state.buffer, state.class_counts, to_numpy(estimator.classes_)
    new = class_sums(labels, counts, len(seen))
    if buffer is None and ((seen == 0) & (new > 0)).any():
        late = classes[(seen == 0) & (new > 0)][0]
        warnings.warn(
            f"Class {late} comes for the first time after the nodes were chosen, so none of them "
            "stands for it: give partial_fit blocks drawn at random.",
            stacklevel=4,
        )
    seen += new
    class_weight = check_class_weight(estimator.class_weight, classes, seen)
    estimator._set_priors(seen * class_weight, X)
    temperature = None
    if buffer is None:
        _add_block(estimator, X, labels, counts, class_weight)
        estimator._path = estimator._solve(None, None)
    else:
        buffer = state.buffer = buffer.extend(X, labels, counts, position)
        if len(np.unique(buffer.labels)) < 2:
            return
        merged = merge_copies(buffer.X, buffer.labels, buffer.counts)
        rows = merged.take(buffer.X)
        kept = _encode_merged(merged, buffer.labels, class_weight, estimator.scatter)
        is_full, sampled = len(buffer.labels) >= _MOST_KEPT, None
        if is_full or len(buffer.labels) >= 2 * buffer.chosen_at:
            sampled, nodes = estimator._choose(rows, kept, state.rng)
            at = merged.rows[nodes]
            estimator._set_support(buffer.position[at], buffer.labels[at], X)
            buffer = state.buffer = replace(buffer, chosen_at=len(buffer.labels))
            X, labels, counts = buffer.X, buffer.labels, buffer.counts
        _add_block(estimator, X, labels, counts, class_weight)
        estimator._path = estimator._solve(rows, kept)
        if sampled is not None:
            units = (kept.weights * kept.removed)[sampled]
            # Relative weights of blocks do not add up to the number of rows, as those of sets do.
            counts = check_row_weights(kept.counts[sampled], len(sampled))
            sample = take_rows(rows, sampled), replace(kept.take(sampled), counts=counts), units
            n_nodes = len(estimator._path)
            left_out = estimator._leave_out(*sample, n_nodes)
            temperature = estimator._calibrate(*left_out, n_nodes, seen)
        if is_full:
            state.buffer = None
    if temperature is None:  # The nodes stay, and so does what was found with them.
        temperature = 1.0 if estimator.calibration is None else estimator.temperature_
    estimator._finish(len(estimator._path), temperature)


def _encode_merged(
    merged: Merged, labels: NDArray[np.intp], class_weight: FloatArray, scatter: str
) -> Coding:
    """Return the coding of rows of which no two of a class are the same."""
    return encode_rows(merged.take(labels), merged.weights, merged.leaving, class_weight, scatter)


def _add_block(
    estimator: "Sparse",
    X: Array,
    labels: NDArray[np.intp],
    counts: FloatArray,
    class_weight: FloatArray,
) -> None:
    """Add rows to the moments."""
    merged = merge_copies(X, labels, counts)
    coding = _encode_merged(merged, labels, class_weight, "total")
    estimator._add_up(merged.take(X), coding)
    total = float(estimator._moments.weights.sum())
    estimator._scale = total if estimator.scatter == "sum" else 1.0
