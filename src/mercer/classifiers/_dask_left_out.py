"""Leave-one-out of rows in a Dask array: sums by pairs of blocks, then each piece as in memory.

What a row needs to be judged without it is of three kinds: numbers of the row itself (density, own
sum), numbers of all classes (counts, norms, products), and its sums over all other rows.  The first
stay in blocks, the second are small and computed, the third are merged over blocks.  Once a piece
of rows has them, it is judged by the code that judges rows in memory.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._blocks import Blocks, compute
from mercer.classifiers._class_vectors import (
    ClassVectors,
    Products,
    add_own,
    merge_split,
    split_terms,
)
from mercer.classifiers._dask_sample import BlockSample
from mercer.classifiers._leave_one_out import LeftOut, LeftOutVectors
from mercer.classifiers._logs import safe_log
from mercer.classifiers._race import verdict
from mercer.classifiers._sample import Sample
from mercer.classifiers._significance import Density
from mercer.kernels import Kernel, mercer_width
from mercer.sums import Removal, log_kernel_sum
from mercer.sums._dask_left_out import left_out_blocks, own_group_sums, piece_chunks

__all__ = ["tally_vectors", "tally_windows"]

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


def tally_windows(
    kernel: Kernel, sample: BlockSample, rules: Rules, bandwidths: tuple[float, ...]
) -> Results:
    """Return the leave-one-out results of plain class sums, all that Parzen's rule needs.

    Only Gaussian kernels have a ladder of squares: others take one pass for each bandwidth.
    """
    if kernel.name == "gaussian":
        weights = _copies(sample.weights, len(bandwidths))
        pieces = piece_chunks(sample.X, sample.n_classes, len(bandwidths))
        sums = left_out_blocks(
            sample.X, sample.codes, sample.n_classes,
            bandwidths=bandwidths, weights=weights, pieces=pieces,
        )  # fmt: skip
        judge = _Judge(bandwidths, sample.counts, rules, _windows)
        return _table(judge, sample, compute(_judged(judge, sums, sample, pieces, []))[0])
    judged = []
    for rung, h in enumerate(bandwidths):
        one = log_kernel_sum(
            sample.X,
            weights=sample.weights.astype(sample.X.dtype),
            groups=sample.codes,
            kernel=kernel,
            bandwidth=h,
            exclude_self=True,
        )
        judge = _Judge(bandwidths, sample.counts, rules, partial(_window, rung))
        judged.append(_judged(judge, Blocks.of(one), sample, sample.X.chunks[0], []))
    return _table(judge, sample, sum(compute(*judged)))


def tally_vectors(
    sample: BlockSample,
    rules: Rules,
    density: Density | None,
    bandwidths: tuple[float, ...],
    *,
    leaving: Array | None = None,
    links: str | None = None,
) -> Results:
    """Return the leave-one-out results of rules that look at class vectors.

    `leaving` and `links` are those of `LeftOutVectors`.  The sums over pairs are made once, and
    once more where products of classes are wanted: to keep them would take b·C numbers a row.
    """
    widths = tuple(mercer_width(h) for h in bandwidths)
    F = None if density is None else density.at_rows(sample.X, sample.weights, bandwidths)
    F = None if F is None else F.persist()
    beta = _copies(sample.weights, len(widths)) if F is None else sample.weights * F**-0.5
    own = own_group_sums(sample.X, sample.codes, bandwidths=widths, weights=beta) + beta
    own = own.persist()
    norms = sample.class_sums(beta * own)
    pieces = piece_chunks(sample.X, sample.n_classes, len(widths))
    block_sums = partial(
        left_out_blocks, sample.X, sample.codes, sample.n_classes,
        bandwidths=widths, weights=beta, pieces=pieces,
    )  # fmt: skip
    products = None if links is None else _products(block_sums(), sample, beta, pieces)
    squared = density is None or density.squared
    removal = None
    if F is not None:
        gone = sample.unit if leaving is None else leaving
        removal = Removal(gone, F, sample.weights, squared, drift_weights=beta * own)
    sums = block_sums(removal=removal)
    if removal is not None and links is not None:
        sums = sums.map(_both, block_sums(), name="left-out")
    parts = _VectorParts(bandwidths, widths, norms, products, squared, links, leaving is not None)
    judge = _Judge(bandwidths, sample.counts, rules, parts)
    by_row = [own] + ([] if F is None else [F]) + ([] if leaving is None else [leaving])
    return _table(judge, sample, compute(_judged(judge, sums, sample, pieces, by_row))[0])


@dataclass(frozen=True)
class _Judge:
    """Judges a piece of rows; what comes of it is a share of the whole table of results."""

    bandwidths: tuple[float, ...]
    counts: NDArray[np.float64]
    rules: Rules
    parts: Callable[..., Iterator[LeftOut]]

    def __call__(
        self, start: int, sums: Any, codes: NDArray[Any], weights: Any, *by_row: Any
    ) -> NDArray[np.float64]:
        n_rungs = len(self.bandwidths)
        out = np.zeros((len(_COLUMNS), len(self.rules), n_rungs))
        if not len(codes):
            return out.reshape(len(_COLUMNS), -1)
        codes, counts = codes.astype(np.int64), self.counts
        rows = np.empty((len(codes), 0))
        piece = _Piece(rows, codes, weights, (), np.arange(len(codes)), counts)
        for part in self.parts(piece, start, sums, *by_row):
            for r, score in enumerate(self.rules.values()):
                found, loss = verdict(piece, part, score(part))
                for k, values in enumerate((found, loss)):
                    in_class = np.bincount(codes, weights * values, len(counts))
                    at = r, n_rungs - 1 - part.rung  # the narrowest first
                    out[(2 * k, *at)] = in_class.sum() / counts.sum()
                    out[(2 * k + 1, *at)] = (in_class / counts).mean()
        return out.reshape(len(_COLUMNS), -1)


def _windows(piece: _Piece, start: int, sums: Any) -> Iterator[LeftOut]:
    for rung, one in enumerate(sums[0]):
        yield from _window(rung, piece, start, one)


def _window(rung: int, piece: _Piece, start: int, sums: NDArray[Any]) -> Iterator[LeftOut]:
    rows, copies = slice(0, len(piece.codes)), piece.weights - piece.unit
    sums = add_own(piece, sums.astype(np.float64), copies, rows)
    counts = piece.counts_without(rows)
    yield LeftOut(rows, rung, counts, sums, None, None, np.zeros_like(copies))


@dataclass(frozen=True)
class _VectorParts:
    """What rules that look at class vectors need of a piece of rows."""

    bandwidths: tuple[float, ...]
    widths: tuple[float, ...]
    norms: NDArray[np.float64]
    products: Products | None
    squared: bool
    links: str | None
    has_leaving: bool

    def __call__(
        self, piece: _Piece, start: int, sums: Any, own: Any, *others: Any
    ) -> Iterator[LeftOut]:
        given = list(others)
        leaving = given.pop() if self.has_leaving else None
        F = given.pop() if given else None
        beta = piece.weights * (np.ones_like(own) if F is None else F**-0.5)
        products = self.products
        if products is not None:  # rows are counted from the first of the piece
            products = replace(products, largest=products.largest - start)
        (logs, drifts), plain = sums if isinstance(sums[0], tuple) else (sums, sums[0])
        given_too = {"own_sums": own, "squared_norms": self.norms, "products": products}
        vectors = _PieceVectors(piece, self.widths, beta, **given_too)
        left_out = LeftOutVectors(vectors, self.bandwidths, F, self.squared, leaving, self.links)
        rows = slice(0, len(piece.codes))
        for rung in range(len(self.bandwidths)):
            drift = None if drifts is None else drifts[rung]
            yield left_out.part(rows, rung, logs[rung], drift, plain[rung])


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


def _judged(
    judge: _Judge,
    sums: Blocks,
    sample: BlockSample,
    pieces: tuple[int, ...],
    by_row: Sequence[Array],
) -> Blocks:
    arrays = [sample.codes, sample.weights, *by_row]
    others = [Blocks.of(A.rechunk({A.ndim - 1: pieces}), A.ndim - 1) for A in arrays]
    return sums.map(judge, *others, name="judge").merged(np.add, name="judge")


def _table(judge: _Judge, sample: BlockSample, totals: Any) -> Results:
    """Return columns as of a table, as `race` does of rows in memory that are all judged."""
    rules, rungs = tuple(judge.rules), len(judge.bandwidths)
    return {
        "rule": np.repeat(np.array(rules), rungs),
        "bandwidth": np.tile(judge.bandwidths[::-1], len(rules)),
        **dict(zip(_COLUMNS, totals, strict=True)),
        "rows": np.full(len(rules) * rungs, sample.X.shape[0]),
        "error": np.zeros(len(rules) * rungs),  # all rows have been judged
    }


_COLUMNS = ("accuracy", "balanced_accuracy", "log_loss", "balanced_log_loss")
