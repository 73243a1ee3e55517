"""Training rows in a Dask array: checked, encoded and kept where they are."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from mercer.classifiers._sample import Sample
from mercer.samples import (
    Blocks,
    check_dask_rows,
    check_dask_vector,
    class_codes,
    class_totals,
    compute,
    compute_arrays,
    counted,
    find_classes,
    gather_rows,
    keep_counted,
    merge_dask_copies,
    ones,
    settle_dask_weights,
)

__all__ = ["BlockSample", "check_dask_fit", "choose_dask_nodes"]

Array = Any


@dataclass(frozen=True)
class BlockSample(Sample):
    """Rows in blocks, in the order in which they came: codes and weights are cut as X is.

    Parameters
    ----------
    X, codes, weights, unit : Dask arrays
    bounds : tuple of zeros
        C + 1 of them: a class is no slice here.
    order : empty
        Rows are as they were given.
    """

    def as_given(self, values: Array) -> Array:
        """Return (n,) numbers as they are."""
        return values

    @cached_property
    def judged(self) -> Sample:
        """Classes and weights in memory, sorted by class as rows in memory are; no columns."""
        codes, weights, unit = compute_arrays(self.codes, self.weights, self.unit)
        return Sample.sorted(np.empty((codes.size, 0)), codes.astype(np.int64), weights, unit)

    def loaded(self) -> Sample:
        """Return all rows in memory."""
        parts = (self.X, self.codes, self.weights, self.unit)
        X, codes, weights, unit = compute_arrays(*parts)
        return Sample.sorted(X, codes.astype(np.int64), weights, unit)

    def class_sums(self, values: Array) -> NDArray[np.float64]:
        """Add up (…, n) numbers by class: (…, C), computed."""
        return class_totals(self.codes, values, self.n_classes)


def check_dask_fit(model: Any, X: Any, y: Any, sample_weight: Any) -> BlockSample:
    """Check training data; return the sample, and set `classes_`.

    Rows of weight 0 are gone, as if they had not been given, and copies of a row are one.
    """
    validate_data(model, X, skip_check_array=True)
    X = check_dask_rows(X, "X")
    classes, labels = find_classes(y, X)
    weights = ones(X)
    if sample_weight is not None:
        weights = check_dask_vector(sample_weight, "sample_weight", X, check=counted)
        weights, X, labels = keep_counted(weights, X, labels)
        if X.shape[0] == 0:
            raise ValueError("sample_weight is zero everywhere: no row is left to learn from.")
        weights = settle_dask_weights(weights)
        classes, labels = find_classes(labels, X)
    if classes.dtype.kind == "f" and not np.isfinite(classes).all():
        raise ValueError("y contains NaN or infinity.")
    check_classification_targets(classes)
    if classes.size < 2:
        raise ValueError(
            f"{type(model).__name__} needs at least two classes in y, got one class: "
            f"{classes.tolist()[0]!r}."
        )
    model.classes_ = classes
    codes = class_codes(classes, labels)
    weights, unit, X, codes = merge_dask_copies(X, codes, weights)
    bounds = (0,) * (classes.size + 1)
    return BlockSample(X, codes, weights, unit, bounds, np.empty(0, np.int64))


def choose_dask_nodes(
    selection: str,
    X: Array,
    codes: Array,
    weights: Array,
    shares: NDArray[np.int64],
    random_state: np.random.RandomState,
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64], NDArray[np.float64]]:
    """Return the nodes' row numbers, sorted, their rows, classes and weights, all in memory."""
    if selection == "herding":
        raise ValueError(
            "node_selection='herding' looks at all rows of a class for every node and takes no "
            "Dask array; use 'largest' or 'random'."
        )
    counts = Blocks.of(codes).map(partial(_count, len(shares)), name="count")
    by_block = np.array(compute(counts.merged(_join, name="count"))[0])
    if selection == "random":
        ranks = [
            np.sort(random_state.permutation(total)[:size])
            for total, size in zip(by_block.sum(axis=0), shares, strict=True)
        ]
        before = np.cumsum(by_block, axis=0) - by_block
        starts = dict(zip(Blocks.of(codes).starts[:-1].tolist(), before, strict=False))
        parts = Blocks.of(codes).map(partial(_at_ranks, ranks, starts), name="nodes")
        rows = np.sort(np.concatenate(compute(parts.merged(_join, name="nodes"))[0]))
    else:
        parts = Blocks.of(codes).map(partial(_largest, shares), Blocks.of(weights), name="nodes")
        best = compute(parts.merged(partial(_keep_largest, shares), name="nodes"))[0]
        rows = np.sort(np.concatenate([numbers for _, numbers in best]))
    rows = rows.astype(np.int64)
    node_codes = gather_rows(codes, rows).astype(np.int64)
    return rows, gather_rows(X, rows), node_codes, gather_rows(weights, rows)


def _count(n_classes: int, _: int, codes: NDArray[Any]) -> list[NDArray[np.int64]]:
    return [np.bincount(codes, minlength=n_classes)]


def _join(a: list[Any], b: list[Any]) -> list[Any]:
    return a + b


def _at_ranks(
    ranks: list[NDArray[np.int64]],
    before: dict[int, NDArray[np.int64]],
    start: int,
    codes: NDArray[Any],
) -> list[NDArray[np.int64]]:
    """Return the rows of a block that have these ranks within their classes."""
    found = []
    for c, wanted in enumerate(ranks):
        members = np.flatnonzero(codes == c)
        if members.size:
            here = wanted - before[start][c]
            found.append(start + members[here[(here >= 0) & (here < members.size)]])
    return found


def _largest(
    shares: NDArray[np.int64], start: int, codes: NDArray[Any], weights: NDArray[np.float64]
) -> list[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Return weights and row numbers of the heaviest rows of each class in a block."""
    best = []
    for c, size in enumerate(shares):
        members = np.flatnonzero(codes == c)
        heaviest = members[np.argsort(-weights[members], kind="stable")[:size]]
        best.append((weights[heaviest], start + heaviest))
    return best


def _keep_largest(shares: NDArray[np.int64], a: list[Any], b: list[Any]) -> list[Any]:
    kept = []
    for size, first, second in zip(shares, a, b, strict=True):
        weights, rows = (np.concatenate(pair) for pair in zip(first, second, strict=True))
        order = np.lexsort((rows, -weights))[:size]
        kept.append((weights[order], rows[order]))
    return kept
