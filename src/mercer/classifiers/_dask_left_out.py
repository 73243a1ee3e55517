"""Leave-one-out of rows in a Dask array: sums by pairs of blocks, then each piece as in memory.

What a row needs to be judged without it is of three kinds: numbers of the row itself (density, own
sum), numbers of all classes (counts, norms, products), and its sums over all other rows.  The first
stay in blocks, the second are small and computed, the third are merged over blocks.  Once a piece
of rows has them, it is judged by the code that judges rows in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._blocks import Blocks, compute
from mercer.bandwidth import silverman_bandwidth
from mercer.classifiers._class_vectors import ClassVectors, Products, merge_split, split_terms
from mercer.classifiers._dask_sample import BlockSample, columns_at_once
from mercer.classifiers._leave_one_out import LeftOut, left_out_vectors, left_out_windows
from mercer.classifiers._logs import safe_log
from mercer.classifiers._sample import Sample
from mercer.classifiers._selection import ladder_centre, tally, usual_spread
from mercer.kernels import Kernel, mercer_width
from mercer.sums import Removal, log_kernel_sum
from mercer.sums._dask_left_out import left_out_blocks, own_group_sums, piece_chunks

__all__ = ["block_centre", "tally_vectors", "tally_windows", "tally_windows_of"]

Array = Any
Rules = Mapping[str, Callable[[LeftOut], Sequence[Array]]]
Results = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class _Piece(Sample):
    """Some rows of a sample, among the counts of all."""

    totals: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    @property
    def n_classes(self) -> int:
        return len(self.totals)

    @property
    def counts(self) -> NDArray[np.float64]:
        return self.totals


@dataclass(frozen=True)
class _PieceVectors(ClassVectors):
    """Class vectors of all rows, as a piece of rows needs them: all of it is given."""

    own_sums: Any = None
    squared_norms: Any = None
    products: Any = None
    plain: Any = None
    left_out: Any = None

    def sums(self, rows: slice) -> Array:
        return self.plain

    def sums_without(self, removal: Removal, rows: slice) -> Any:
        return self.left_out

    def slabs(self) -> Iterator[slice]:
        yield slice(0, self.weights.shape[1])


def tally_windows(sample: BlockSample, widths: tuple[float, ...], rules: Rules) -> Results:
    """Return the leave-one-out results of plain class sums, all that Parzen's rule needs."""
    weights = _copies(sample.weights, len(widths))
    pieces = piece_chunks(sample.X, sample.n_classes, len(widths))
    sums = left_out_blocks(
        sample.X, sample.codes, sample.n_classes, bandwidths=widths, weights=weights, pieces=pieces
    )
    judge = _Judge(widths, sample.counts, rules, partial(_windows, widths))
    return _tally(judge, sums, sample, pieces, [])


def tally_windows_of(
    kernel: Kernel, sample: BlockSample, bandwidths: tuple[float, ...], rules: Rules
) -> Results:
    """Return the same for a kernel without a ladder of squares: one pass for each bandwidth."""
    judged = []
    for rung, h in enumerate(bandwidths):
        sums = log_kernel_sum(
            sample.X,
            weights=sample.weights.astype(sample.X.dtype),
            groups=sample.codes,
            kernel=kernel,
            bandwidth=h,
            exclude_self=True,
        )
        judge = _Judge(bandwidths, sample.counts, rules, partial(_window, rung))
        judged.append(_tally_blocks(judge, Blocks.of(sums), sample, sample.X.chunks[0], []))
    return _table(judge, sum(compute(*judged)))


def tally_vectors(
    sample: BlockSample,
    bandwidths: tuple[float, ...],
    densities: Array | None,
    rules: Rules,
    *,
    squared: bool = True,
    leaving: Array | None = None,
    links: str | None = None,
) -> Results:
    """Return the leave-one-out results of rules that look at class vectors.

    Parameters are those of `left_out_vectors`.  The sums over pairs are made once, and once more
    where products of classes are wanted: to keep them in between would take b·C numbers a row.
    """
    widths = tuple(mercer_width(h) for h in bandwidths)
    F = None if densities is None else densities.persist()
    beta = _copies(sample.weights, len(widths)) if F is None else sample.weights * F**-0.5
    own = own_group_sums(sample.X, sample.codes, bandwidths=widths, weights=beta) + beta
    own = own.persist()
    norms = sample.class_sums(beta * own)
    pieces = piece_chunks(sample.X, sample.n_classes, len(widths))
    block_sums = partial(
        left_out_blocks, sample.X, sample.codes, sample.n_classes,
        bandwidths=widths, weights=beta, pieces=pieces,
    )  # fmt: skip
    products = None
    if links is not None:
        products = _products(block_sums(), sample, beta, pieces)
    removal = None
    if F is not None:
        gone = sample.unit if leaving is None else leaving
        removal = Removal(gone, F, sample.weights, squared, drift_weights=beta * own)
    sums = block_sums(removal=removal)
    if removal is not None and links is not None:
        plain = block_sums()
        sums = sums.map(_both, plain, name="left-out")
    judge = _Judge(
        bandwidths,
        sample.counts,
        rules,
        partial(_vectors, bandwidths, norms, products, squared, links, leaving is not None),
    )
    by_row = [own] + ([] if F is None else [F]) + ([] if leaving is None else [leaving])
    return _tally(judge, sums, sample, pieces, by_row)


def block_centre(sample: BlockSample) -> float:
    """Return the centre of the ladder, from exact quartiles: some columns at a time."""
    X, weights = sample.X, sample.weights
    silverman = silverman_bandwidth(X, sample_weight=weights)
    scale = float(abs(X).max().compute()) or 1.0
    w, step = weights.compute(), columns_at_once(X)
    parts = [
        usual_spread(X[:, k : k + step].compute() / scale, w) for k in range(0, X.shape[1], step)
    ]
    return ladder_centre(silverman, *(np.concatenate(both) for both in zip(*parts, strict=True)))


@dataclass(frozen=True)
class _Judge:
    """Judges a piece of rows; what comes of it is a share of the whole table of results."""

    bandwidths: tuple[float, ...]
    counts: NDArray[np.float64]
    rules: Rules
    parts: Callable[..., Iterable[LeftOut]]

    def __call__(
        self, start: int, sums: Any, codes: NDArray[Any], weights: Any, *by_row: Any
    ) -> NDArray[np.float64]:
        if not len(codes):
            return np.zeros((len(_COLUMNS), len(self.rules) * len(self.bandwidths)))
        codes = codes.astype(np.int64)
        piece = _Piece(np.empty((len(codes), 0)), codes, weights, (), self.counts)
        results = tally(piece, self.bandwidths, self.parts(piece, start, sums, *by_row), self.rules)
        return np.array([results[column] for column in _COLUMNS])


def _windows(widths: tuple[float, ...], piece: _Piece, start: int, sums: Any) -> Iterable[LeftOut]:
    return left_out_windows(piece, widths, vectors_of=partial(_PieceVectors, plain=sums[0]))


def _window(rung: int, piece: _Piece, start: int, sums: NDArray[Any]) -> Iterable[LeftOut]:
    given = partial(_PieceVectors, plain=sums[None].astype(np.float64))
    for part in left_out_windows(piece, (1.0,), vectors_of=given):
        yield replace(part, rung=rung)


def _vectors(
    bandwidths: tuple[float, ...],
    norms: NDArray[np.float64],
    products: Products | None,
    squared: bool,
    links: str | None,
    has_leaving: bool,
    piece: _Piece,
    start: int,
    sums: Any,
    own: NDArray[np.float64],
    *others: NDArray[np.float64],
) -> Iterable[LeftOut]:
    given = list(others)
    leaving = given.pop() if has_leaving else None
    F = given.pop() if given else None
    if products is not None:  # rows are counted from the first of the piece
        products = replace(products, largest=products.largest - start)
    left_out, plain = sums if isinstance(sums[0], tuple) else (sums, sums[0])
    vectors_of = partial(
        _PieceVectors,
        own_sums=own,
        squared_norms=norms,
        products=products,
        plain=plain,
        left_out=left_out,
    )
    return left_out_vectors(
        piece,
        bandwidths,
        F,
        squared=squared,
        leaving=leaving,
        links=links,
        vectors_of=vectors_of,
    )


def _both(_: int, left_out: Any, plain: Any) -> Any:
    return left_out, plain[0]


def _products(sums: Blocks, sample: BlockSample, beta: Array, pieces: tuple[int, ...]) -> Products:
    """Return ⟨M_c, M_j⟩ of all classes, from which one row of c can be taken without loss."""
    others = [
        Blocks.of(sample.codes.rechunk({0: pieces})),
        Blocks.of(beta.rechunk({1: pieces}), axis=1),
    ]
    parts = sums.map(partial(_split_piece, sample.n_classes), *others, name="products")
    tops, largest, rests = compute(parts.merged(merge_split, name="products"))[0]
    return Products(np.logaddexp(tops, rests), largest, rests)


def _split_piece(
    n_classes: int, start: int, sums: Any, codes: NDArray[Any], beta: NDArray[np.float64]
) -> tuple[Any, ...]:
    shape = (len(beta), n_classes, n_classes)
    tops, largest, rests = np.full(shape, -np.inf), np.zeros(shape, int), np.full(shape, -np.inf)
    terms = sums[0] + safe_log(beta)[:, :, None]
    for c in range(n_classes):
        members = np.flatnonzero(codes == c)
        if members.size:
            part = split_terms(np.moveaxis(terms[:, members], 1, 2), 0)
            tops[:, c], rests[:, c] = part[0], part[2]
            largest[:, c] = start + members[part[1]]
    return tops, largest, rests


def _copies(weights: Array, count: int) -> Array:
    """Return (count, n) copies of weights."""
    import dask.array as da

    stacked = da.broadcast_to(weights, (count, *weights.shape), chunks=((count,), *weights.chunks))
    return stacked.map_blocks(np.ascontiguousarray, dtype=weights.dtype)


def _tally(
    judge: _Judge,
    sums: Blocks,
    sample: BlockSample,
    pieces: tuple[int, ...],
    by_row: Sequence[Array],
) -> Results:
    return _table(judge, compute(_tally_blocks(judge, sums, sample, pieces, by_row))[0])


def _tally_blocks(
    judge: _Judge,
    sums: Blocks,
    sample: BlockSample,
    pieces: tuple[int, ...],
    by_row: Sequence[Array],
) -> Blocks:
    arrays = [sample.codes, sample.weights, *by_row]
    others = [Blocks.of(A.rechunk({A.ndim - 1: pieces}), A.ndim - 1) for A in arrays]
    return sums.map(judge, *others, name="judge").merged(np.add, name="judge")


def _table(judge: _Judge, totals: NDArray[np.float64]) -> Results:
    """Return columns as of a table, as `tally` does of rows in memory."""
    rules, rungs = tuple(judge.rules), len(judge.bandwidths)
    return {
        "rule": np.repeat(np.array(rules), rungs),
        "bandwidth": np.tile(judge.bandwidths[::-1], len(rules)),
        **dict(zip(_COLUMNS, totals, strict=True)),
    }


_COLUMNS = ("accuracy", "balanced_accuracy", "log_loss", "balanced_log_loss")
