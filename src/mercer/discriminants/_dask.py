"""Fits on Dask arrays: a sample in memory, and one pass over the blocks for the moments.

Nodes are chosen on a sample of at most 10 000 rows, as in memory.  All rows then pass once:
each block adds up its moments, m × m numbers, which are merged in a tree.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from mercer._memory import working_memory
from mercer.discriminants._base import log_priors, resolve_class_weight, resolve_priors
from mercer.discriminants._blocks import BlockState
from mercer.discriminants._coding import Coding, contrasts, encode
from mercer.discriminants._count import left_out_scores
from mercer.discriminants._moments import Moments
from mercer.kernels import KernelFunction
from mercer.samples import (
    Blocks,
    check_dask_rows,
    check_dask_vector,
    class_codes,
    class_sizes,
    class_totals,
    compute,
    counted,
    find_classes,
    gather_rows,
    is_dask_array,
    keep_counted,
    merge_dask_copies,
    ones,
    row_numbers,
    settle_dask_weights,
)
from mercer.spectral import stratified_rows
from mercer.spectral._landmarks import _quotas

if TYPE_CHECKING:
    from mercer.discriminants._exact import KernelFisherDiscriminant as Exact
    from mercer.discriminants._sparse import SparseKernelFisherDiscriminant as Sparse

__all__ = ["fit_exact", "fit_sparse", "sample_rows"]

Array = NDArray[np.float64]

# Rows whose labels are brought together, so that the sample is the one that is drawn in memory.
_LABELS_TOGETHER = 10_000_000
_BLOCK = 2**21  # entries of a block of node kernels


def fit_exact(model: "Exact", X: Any, y: Any, sample_weight: Any = None, *, most: int) -> "Exact":
    """Bring a short table together and fit it; refuse a long one."""
    _check_chunks(X)
    if X.shape[0] > most:
        raise ValueError(
            f"KernelFisherDiscriminant decomposes the kernel matrix of all rows in one place, and "
            f"takes Dask arrays of up to {most} rows, got {X.shape[0]}; use "
            "SparseKernelFisherDiscriminant, which passes over the blocks once."
        )
    X, y, sample_weight = (A.compute() if is_dask_array(A) else A for A in (X, y, sample_weight))
    fitted: Exact = model.fit(X, y, sample_weight)
    return fitted


def fit_sparse(model: "Sparse", X: Any, y: Any, sample_weight: Any = None) -> "Sparse":
    """Fit on blocks of rows."""
    from mercer.discriminants._sparse import _LONG_TABLE, _SAMPLE_POWER, _SAMPLE_ROWS

    model._validate_params()
    if model.node_choice == "validation":
        raise ValueError(
            "node_choice='validation' takes no Dask array, of which it would copy nine tenths; "
            "use 'all' or 'loo'."
        )
    table = _Table.of(model, X, y, sample_weight)
    model._check_components(len(table.in_class))
    model.priors_ = resolve_priors(model.priors, table.in_class * table.class_weight)
    rng = check_random_state(model.random_state)

    picks = sample_rows(table.codes, len(table.in_class), _SAMPLE_ROWS, _SAMPLE_POWER, rng)
    rows, sample = table.take(picks)
    chosen = picks[model._choose(rows, sample, rng)]
    model._moments = _add_up(model, table, is_long=table.n_rows > _LONG_TABLE)
    model._path = model._solve(*_all_rows(model, table))
    n_nodes = len(model._path)
    if model.node_choice == "loo":
        picks = sample_rows(table.codes, len(table.in_class), _SAMPLE_ROWS, _SAMPLE_POWER, rng)
        rows, sample = table.take(picks)
        units = sample.counts * sample.removed * table.weights_per_row[sample.labels]
        K = model._kernel.matrix(rows, model.X_fit_)
        options = (log_priors(model.priors_), model.scoring)
        n_nodes = model._best_count(left_out_scores(model._path, K, sample, units, *options))
    model.support_ = table.original(chosen)
    model._finish(n_nodes)
    model._state = BlockState(table.in_class, X.shape[0])  # for partial_fit after fit
    return model


@dataclass(frozen=True)
class _Table:
    """Rows in blocks, their classes and counts, and what the regression makes of the classes.

    Attributes
    ----------
    X, codes, counts, removed, numbers : Dask arrays
        Rows that count, classes 0 … C − 1, sample weights, the share of them that leave-one-out
        takes away, and where the rows were.
    in_class, class_weight, weights_per_row : ndarrays of shape (C,)
        Sample weight of each class, its factor, and the weight p of a row of sample weight 1.
    scale, total : float
        As in `Coding`.
    """

    X: Any
    codes: Any
    counts: Any
    removed: Any
    numbers: Any
    in_class: Array
    class_weight: Array
    weights_per_row: Array
    scale: float
    total: float
    scatter: str

    @classmethod
    def of(cls, model: "Sparse", X: Any, y: Any, sample_weight: Any) -> "_Table":
        """Check what users pass, and set the classes."""
        _check_chunks(X)
        validate_data(model, X, skip_check_array=True)
        X = check_dask_rows(X, "X")
        classes, labels = find_classes(y, X)
        counts, numbers = ones(X), row_numbers(X)
        if sample_weight is not None:
            counts = check_dask_vector(sample_weight, "sample_weight", X, check=counted)
            counts, X, labels, numbers = keep_counted(counts, X, labels, numbers)
            classes = classes[:0] if X.shape[0] == 0 else find_classes(labels, X)[0]
            counts = settle_dask_weights(counts) if X.shape[0] else counts
        check_classification_targets(classes)
        if len(classes) < 2:
            raise ValueError(
                f"{type(model).__name__} needs rows of at least two classes with a positive "
                f"weight, got {len(classes)} class."
            )
        model.classes_ = classes
        codes = class_codes(classes, labels)
        counts, leaving, X, codes, numbers = merge_dask_copies(X, codes, counts, numbers)
        in_class = class_totals(codes, counts, len(classes))
        class_weight = resolve_class_weight(model.class_weight, classes, in_class)
        # As `encode` makes them: p is a factor of the class times the row's sample weight.
        total = float((in_class * class_weight).sum())
        if model.scatter == "class":
            per_row, scale = 1 / in_class / len(classes), float(len(classes))
        else:
            per_row, scale = class_weight / total, total if model.scatter == "sum" else 1.0
        return cls(
            X, codes, counts, leaving / counts, numbers,
            in_class, class_weight, per_row, scale, total, model.scatter,
        )  # fmt: skip

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    def take(self, rows: NDArray[np.intp]) -> tuple[NDArray[Any], Coding]:
        """Bring a sample together, in which every class keeps its weight and targets."""
        parts = (self.X, self.codes, self.counts, self.removed)
        X, labels, counts, removed = (gather_rows(A, rows) for A in parts)
        labels = labels.astype(np.intp)
        has = np.bincount(labels, counts, len(self.in_class))
        stands_for = np.divide(self.in_class, has, out=np.ones_like(has), where=has > 0)[labels]
        shares = self.in_class * self.weights_per_row
        coding = Coding(
            labels,
            counts,
            removed,
            counts * (self.class_weight / self.total)[labels] * stands_for,
            counts * self.weights_per_row[labels] * stands_for,
            shares,
            contrasts(shares),
            self.scale,
            self.total,
        )
        return X, coding

    def original(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return where these rows were in the table as it was given."""
        order = np.argsort(rows)
        out = np.empty(len(rows), dtype=np.intp)
        out[order] = gather_rows(self.numbers, rows[order])
        return out


@dataclass(frozen=True)
class _AddUp:
    """The moments of one block; long tables in single precision, as in memory."""

    kernel: KernelFunction
    nodes: Array
    shift: Array
    per_row: Array
    single: bool

    def __call__(
        self, _: int, X: NDArray[Any], labels: NDArray[Any], counts: Array, removed: Array
    ) -> Moments:
        moments = Moments.empty(len(self.per_row), self.shift)
        labels = labels.astype(np.intp)
        weights = counts * self.per_row[labels]
        centre = self.nodes.mean(axis=0)
        near = np.asarray(self.nodes - centre, dtype=np.float32)
        for rows in gen_batches(len(X), max(_BLOCK // len(self.nodes), 256)):
            if self.single:
                part = np.subtract(X[rows], centre, dtype=np.float32)
                K: NDArray[Any] = self.kernel.single(part, near)
            else:
                K = self.kernel.matrix(X[rows], self.nodes)
            moments.absorb(K, labels[rows], weights[rows], 1.0 / removed[rows])
        return moments


def _add_up(model: "Sparse", table: _Table, *, is_long: bool) -> Moments:
    """Return the moments of all rows, relative to the shift that was chosen with the nodes."""
    shift = model._moments.shift
    add = _AddUp(
        model._kernel,
        model.X_fit_,
        shift,
        table.weights_per_row * table.total,  # moments of later blocks can be added
        is_long and model._kernel.kernel == "rbf",
    )
    others = (Blocks.of(A) for A in (table.codes, table.counts, table.removed))
    blocks = Blocks.of(table.X).map(add, *others, name="moments")
    moments: Moments = compute(blocks.merged(_merge, name="moments"))[0]
    return moments


def _merge(a: Moments, b: Moments) -> Moments:
    both = Moments.empty(len(a.weights), a.shift)  # what a task was given stays as it is
    both.merge(a)
    both.merge(b)
    return both


def _all_rows(model: "Sparse", table: _Table) -> tuple[NDArray[Any] | None, Coding | None]:
    """Bring all rows together where the ridge is chosen by leave-one-out; else nothing."""
    if model._given_alpha() is not None or not model._ridge_by_loo():
        return None, None
    n_bytes = 8 * table.n_rows * (len(model.X_fit_) + table.X.shape[1])
    if n_bytes > working_memory():
        raise ValueError(
            f"alpha={model.alpha!r} needs the kernels of all {table.n_rows} rows with "
            f"{len(model.X_fit_)} nodes in one place, {n_bytes / 2**20:.0f} MiB and more than "
            f"working_memory={working_memory() / 2**20:.0f} MiB; use alpha='gcv'."
        )
    parts = (table.X, table.codes, table.counts, table.removed)
    X, codes, counts, removed = (A.compute() for A in parts)
    return X, encode(codes.astype(np.intp), counts, removed, table.class_weight, table.scatter)


def sample_rows(
    codes: Any, n_classes: int, size: int, power: float, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw row numbers as `stratified_rows` does, whatever the blocks.

    Up to ten million rows these are the same rows.  Beyond, labels stay where they are: every row
    gets a key, hashed from its number and a seed, and the rows of the smallest keys are taken.
    """
    if codes.shape[0] <= _LABELS_TOGETHER:
        return stratified_rows(codes.compute().astype(np.intp), size, power, rng)
    quotas = _quotas(class_sizes(codes, n_classes), size, power)
    seed = int(rng.randint(2**31))
    parts = Blocks.of(codes).map(partial(_smallest_keys, quotas, seed), name="sample")
    best = compute(parts.merged(partial(_keep_smallest, quotas), name="sample"))[0]
    return np.sort(np.concatenate([rows for _, rows in best]).astype(np.intp))


def _smallest_keys(
    quotas: NDArray[np.intp], seed: int, start: int, codes: NDArray[Any]
) -> list[tuple[NDArray[np.uint64], NDArray[np.int64]]]:
    rows = np.arange(start, start + len(codes))
    keys = _hash(rows, seed)
    best = []
    for c, quota in enumerate(quotas):
        members = np.flatnonzero(codes == c)
        few = members[np.argsort(keys[members], kind="stable")[:quota]]
        best.append((keys[few], rows[few]))
    return best


def _keep_smallest(quotas: NDArray[np.intp], a: list[Any], b: list[Any]) -> list[Any]:
    kept = []
    for quota, first, second in zip(quotas, a, b, strict=True):
        keys, rows = (np.concatenate(pair) for pair in zip(first, second, strict=True))
        order = np.lexsort((rows, keys))[:quota]
        kept.append((keys[order], rows[order]))
    return kept


def _hash(rows: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """Return a well mixed number for each row: the finaliser of SplitMix64."""
    z = rows.astype(np.uint64) + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed


def _check_chunks(X: Any) -> None:
    if X.ndim != 2 or np.isnan(X.shape[0]):
        check_dask_rows(X, "X")  # refuses it
