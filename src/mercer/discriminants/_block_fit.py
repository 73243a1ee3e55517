"""Fits on Dask arrays: a sample in memory, and one pass over the blocks for the moments.

Nodes are chosen on a sample of at most 10 000 rows, as in memory.  All rows then pass once:
each block adds up its moments, m × m numbers, which are merged in a tree.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, gen_batches

from mercer._memory import working_memory
from mercer.discriminants._blocks import BlockState
from mercer.discriminants._coding import Coding, contrasts, encode_rows
from mercer.discriminants._count import left_out_scores
from mercer.discriminants._moments import Moments
from mercer.kernels import KernelFunction
from mercer.samples import (
    BlockSample,
    check_class_weight,
    check_dask_rows,
    check_training,
    compute_arrays,
    draw_rows,
    from_memory,
    in_memory,
    log_priors,
)

if TYPE_CHECKING:
    from mercer.discriminants._exact import KernelFisherDiscriminant as Exact
    from mercer.discriminants._sparse import SparseKernelFisherDiscriminant as Sparse

Array = NDArray[np.float64]

_BLOCK = 2**21  # A block of node kernels has this many entries.


def fit_exact(model: "Exact", X: Any, y: Any, sample_weight: Any = None) -> "Exact":
    """Load the rows and fit them; sums over all of them are computed block by block.

    The kernel is chosen on samples, and what steers an iterative solution is built, in one place.
    """
    _check_chunks(X)
    model._validate_params()
    n_bytes = 8 * X.shape[0] * X.shape[1]
    if n_bytes > working_memory():
        raise ValueError(
            f"KernelFisherDiscriminant keeps all rows of a Dask array in one place beside the "
            f"blocks, and these {X.shape[0]} take {n_bytes / 2**20:.0f} MiB, more than "
            f"working_memory={working_memory() / 2**20:.0f} MiB; use "
            "SparseKernelFisherDiscriminant, which passes over the blocks once."
        )
    size = max(X.chunks[0])
    X, y, sample_weight = (in_memory(A) for A in (X, y, sample_weight))

    def share_rows(rows: Any) -> Any:
        return from_memory(rows, size).persist()

    return model._fit_in_memory(X, y, sample_weight, share_rows)


def fit_sparse(model: "Sparse", X: Any, y: Any, sample_weight: Any = None) -> "Sparse":
    """Fit on blocks of rows."""
    from mercer.discriminants._sparse import _LONG_TABLE, _SAMPLE_POWER, _SAMPLE_ROWS

    model._validate_params()
    if model.node_choice == "validation":
        raise ValueError(
            "node_choice='validation' takes no Dask array, because it would copy nine tenths of "
            "it; use 'all' or 'loo'."
        )
    table = _Table.of(model, X, y, sample_weight)
    model._check_components(len(table.in_class))
    model.priors_ = model._resolve_priors(table.in_class * table.class_weight)
    rng = check_random_state(model.random_state)

    picks = draw_rows(table.sample.codes, len(table.in_class), _SAMPLE_ROWS, _SAMPLE_POWER, rng)
    rows, sample = table.take(picks)
    _, chosen = model._choose(rows, sample, rng, table.n_rows)
    nodes, model._codes = picks[chosen], sample.labels[chosen]
    model._moments = _add_up(model, table, is_long=table.n_rows > _LONG_TABLE)
    model._path = model._solve(*_all_rows(model, table))
    n_nodes = len(model._path)
    if model.node_choice == "loo":
        picks = draw_rows(table.sample.codes, len(table.in_class), _SAMPLE_ROWS, _SAMPLE_POWER, rng)
        others, coding = table.take(picks)
        K, options = (
            model._kernel.matrix(others, model.X_fit_),
            (log_priors(model.priors_), model.scoring),
        )
        scores = left_out_scores(model._path, K, coding, table.units(coding), *options)
        n_nodes = model._best_count(scores)
    left_out = model._leave_out(rows, sample, table.units(sample), n_nodes)
    temperature = model._calibrate(*left_out, n_nodes, table.in_class)
    model.support_ = table.original(nodes)
    model._finish(n_nodes, temperature)
    model._state = BlockState(table.in_class, X.shape[0])  # so that partial_fit can follow
    return model


@dataclass(frozen=True)
class _Table:
    """Rows in blocks, their classes and counts, and the weights that the regression gives them.

    Attributes
    ----------
    sample : BlockSample
        Rows of positive weight.
    in_class, class_weight, weights_per_row : ndarrays of shape (C,)
        Sample weight of each class, its factor, and the weight p of a row of sample weight 1.
    scale, total : float
        As in `Coding`.
    """

    sample: BlockSample
    in_class: Array
    class_weight: Array
    weights_per_row: Array
    scale: float
    total: float
    scatter: str

    @classmethod
    def of(cls, model: "Sparse", X: Any, y: Any, sample_weight: Any) -> "_Table":
        """Return the checked table, and set the classes of the model."""
        sample: Any = check_training(model, X, y, sample_weight)
        n_classes, in_class = sample.n_classes, sample.counts
        class_weight = check_class_weight(model.class_weight, model.classes_, in_class)
        # As in `encode`, p is a factor of the class times the row's sample weight.
        total = float((in_class * class_weight).sum())
        if model.scatter == "class":
            per_row, scale = 1 / in_class / n_classes, float(n_classes)
        else:
            per_row, scale = class_weight / total, total if model.scatter == "sum" else 1.0
        return cls(sample, in_class, class_weight, per_row, scale, total, model.scatter)

    @property
    def n_rows(self) -> int:
        return int(self.sample.X.shape[0])

    def take(self, rows: NDArray[np.intp]) -> tuple[NDArray[Any], Coding]:
        """Load a sample of rows, in which every class keeps its weight and targets."""
        X, labels, counts, leaving = self.sample.take(rows, *self.sample.columns)
        labels, removed = labels.astype(np.intp), leaving / counts
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

    def units(self, sample: Coding) -> Array:
        """Return the share of one unit of each row of a sample in the weight of the whole fit."""
        return np.asarray(
            sample.counts * sample.removed * self.weights_per_row[sample.labels], dtype=np.float64
        )

    def original(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return where these rows were in the table as it was given."""
        order = np.argsort(rows)
        out = np.empty(len(rows), dtype=np.intp)
        (out[order],) = self.sample.take(rows[order], self.sample.rows)
        return out


@dataclass(frozen=True)
class _AddUp:
    """A function from a block to its moments, in single precision if the table is long."""

    kernel: KernelFunction
    nodes: Array
    shift: Array
    per_row: Array
    single: bool

    def __call__(
        self, _: int, X: NDArray[Any], labels: NDArray[Any], counts: Array, leaving: Array
    ) -> Moments:
        moments = Moments.empty(len(self.per_row), self.shift)
        labels = labels.astype(np.intp)
        weights, removed = counts * self.per_row[labels], leaving / counts
        centre = self.nodes.mean(axis=0)
        near = np.asarray(self.nodes - centre, dtype=np.float32)
        for rows in gen_batches(len(X), max(_BLOCK // len(self.nodes), 256)):
            if self.single:
                part = np.subtract(X[rows], centre, dtype=np.float32)
                K: NDArray[Any] = self.kernel.single_precision_matrix(part, near)
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
        table.weights_per_row * table.total,  # so that moments of later blocks can be added
        is_long and model._kernel.kernel == "rbf",
    )
    moments: Moments = table.sample.reduce(add, _merge)
    return moments


def _merge(a: Moments, b: Moments) -> Moments:
    both = Moments.empty(len(a.weights), a.shift)  # Dask may use `a` and `b` again.
    both.merge(a)
    both.merge(b)
    return both


def _all_rows(model: "Sparse", table: _Table) -> tuple[NDArray[Any] | None, Coding | None]:
    """Load all rows if the ridge is chosen by leave-one-out; else return None twice."""
    if model._given_alpha() is not None or not model._ridge_by_loo():
        return None, None
    n_bytes = 8 * table.n_rows * (len(model.X_fit_) + table.sample.X.shape[1])
    if n_bytes > working_memory():
        raise ValueError(
            f"alpha={model.alpha!r} needs the kernels of all {table.n_rows} rows with "
            f"{len(model.X_fit_)} nodes in one place, {n_bytes / 2**20:.0f} MiB and more than "
            f"working_memory={working_memory() / 2**20:.0f} MiB; use alpha='gcv'."
        )
    X, codes, counts, leaving = compute_arrays(*table.sample.columns)
    labels = codes.astype(np.intp)
    return X, encode_rows(labels, counts, leaving, table.class_weight, table.scatter)


def _check_chunks(X: Any) -> None:
    if X.ndim != 2 or np.isnan(X.shape[0]):
        check_dask_rows(X, "X")  # raises the error
