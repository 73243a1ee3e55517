"""Class vectors M_c = Σ_{i in c} β_i Φ(x_i) in the kernel's feature space: norms and products.

With b sets of weights β, one for each bandwidth of a ladder, everything comes from one pass over
the pairs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_dask_array
from numpy.typing import NDArray

from mercer._arrays import like
from mercer._memory import row_slabs, working_memory
from mercer.samples import Rows, SortedSample, held, logsumexp, safe_log
from mercer.sums import kernel_sum, left_out_log_sums

Array = Any
_BATCH = 128  # rows of small classes that are summed together
_ARRAYS = 12  # of (rows, classes) that are held at once for one bandwidth, beside the sums


@dataclass(frozen=True)
class ClassVectors:
    """The class vectors of a sample, for every bandwidth.

    Parameters
    ----------
    sample : SortedSample
    widths : tuple of float
        Of the Mercer kernel, the widest first.
    weights : float64 array of shape (b, n)
        β.
    tol : float or None
        Relative error allowed to `own_sums`; None adds up every term.
    """

    sample: SortedSample
    widths: tuple[float, ...]
    weights: Array
    tol: float | None = None

    def at(self, rungs: Sequence[int]) -> "ClassVectors":
        """Return those of some bandwidths, with what is known of them."""
        if len(rungs) == len(self.widths):
            return self
        rungs = list(rungs)
        widths = tuple(self.widths[r] for r in rungs)
        some = ClassVectors(self.sample, widths, self.weights[rungs], self.tol)
        known = {k: v for k, v in vars(self).items() if k in ("own_sums", "squared_norms")}
        vars(some).update({name: values[rungs] for name, values in known.items()})
        if "products" in vars(self):
            vars(some)["products"] = self.products.at(rungs)
        if "_all_sums" in vars(self):
            vars(some)["_all_sums"] = self._all_sums[rungs]
        return some

    @cached_property
    def own_sums(self) -> Array:
        """R_i = Σ_{j in i's class} β_j k(x_i, x_j), the row itself included: (b, n)."""
        if is_dask_array(self.weights):
            from mercer.sums.dask._left_out import own_group_sums

            X, codes = self.sample.X, self.sample.codes
            sums = own_group_sums(X, codes, bandwidths=self.widths, weights=self.weights)
            return held(sums + self.weights)
        xp = array_namespace(self.weights)
        if self.tol is not None:
            return self._own_sums_within(self.tol)
        parts = []
        for low, high in _batches(self.sample.bounds):
            codes = self.sample.codes[low:high] - self.sample.codes[low]
            weights = self.weights[:, low:high]
            logs, _ = left_out_log_sums(
                self.sample.X[low:high, :], codes, bandwidths=self.widths, weights=weights
            )
            codes = like(codes, weights, dtype=xp.int64)
            own = codes[:, None] == xp.arange(logs.shape[2], device=device(logs))
            parts.append(xp.sum(xp.where(own, xp.exp(logs), 0.0), axis=2) + weights)
        return xp.concat(parts, axis=1)

    def _own_sums_within(self, tol: float) -> Array:
        """Return `own_sums` by sums over one class after another, which may be approximated."""
        xp = array_namespace(self.weights)
        rungs = []
        for width, weights in zip(self.widths, self.weights, strict=True):
            parts = []
            for low, high in pairwise(self.sample.bounds):
                rows = self.sample.X[low:high, :]
                beta = xp.astype(weights[low:high], rows.dtype)
                sums = kernel_sum(rows, weights=beta, bandwidth=width, tol=tol)
                parts.append(xp.astype(sums, xp.float64))
            rungs.append(xp.concat(parts))
        return xp.stack(rungs)

    @cached_property
    def squared_norms(self) -> Array:
        """V_c² = Σ_{i in c} β_i R_i: (b, C)."""
        return self.sample.class_sums(self.weights * self.own_sums)

    @cached_property
    def products(self) -> "Products":
        """⟨M_c, M_j⟩, as sums over the rows of c: one pass."""
        xp = array_namespace(self.weights)
        n_classes = self.sample.n_classes
        n_bytes = 8 * 3 * len(self.widths) * n_classes**2
        if n_bytes > working_memory():
            raise ValueError(
                f"leave-one-out of this rule takes the products of all {n_classes} classes with "
                f"each other, {n_bytes / 2**20:.0f} MiB and more than working_memory="
                f"{working_memory() / 2**20:.0f} MiB; give a number or a rule as bandwidth."
            )
        if is_dask_array(self.weights):
            from mercer.classifiers._dask_left_out import products_of_blocks

            return products_of_blocks(self)
        parts: list[Any] = [None] * n_classes
        log_weights = safe_log(self.weights)
        for rows in self.slabs():
            sums = self.sums(rows)
            for c, (low, high) in enumerate(pairwise(self.sample.bounds)):
                first, last = max(low, rows.start), min(high, rows.stop)
                if first >= last:
                    continue
                terms = sums[:, first - rows.start : last - rows.start, :]
                terms = terms + log_weights[:, first:last, None]
                part = split_terms(xp.permute_dims(terms, (0, 2, 1)), first)
                parts[c] = part if parts[c] is None else merge_split(parts[c], part)
        tops, largest, rests = (xp.stack(list(p), axis=1) for p in zip(*parts, strict=True))
        return Products(xp.logaddexp(tops, rests), largest, rests)

    def sums(self, rows: Rows) -> Array:
        """Return log Σ_{j in c} β_j k(x_i, x_j) without j = i: (b, rows, C).

        Sums of all rows at once are kept for the next one who asks.
        """
        if isinstance(rows, slice) and (rows.start, rows.stop) == (0, self.sample.X.shape[0]):
            return self._all_sums
        if "_all_sums" in vars(self):
            return self._all_sums[:, self.sample.index(rows), :]
        return self._sums(rows)

    @cached_property
    def _all_sums(self) -> Array:
        return self._sums(slice(0, self.sample.X.shape[0]))

    def _sums(self, rows: Rows) -> Array:
        sums, _ = left_out_log_sums(
            self.sample.X,
            self.sample.codes,
            bandwidths=self.widths,
            weights=self.weights,
            rows=rows,
        )
        return sums

    def slabs(self, rows: NDArray[np.int64] | None = None) -> Iterator[Any]:
        """Cut these rows, or all, into arrays, or slices, whose sums fit the memory budget."""
        bytes_per_row = 8 * self.sample.n_classes * (3 * len(self.widths) + _ARRAYS)
        n = self.sample.X.shape[0] if rows is None else rows.size
        for start, stop in row_slabs(n, bytes_per_row, working_memory() // 2):
            yield slice(start, stop) if rows is None else rows[start:stop]


@dataclass(frozen=True)
class Products:
    """Logarithms of ⟨M_c, M_j⟩ for c ≠ j, from which one row of c can be taken without loss.

    Parameters
    ----------
    log_all : array of shape (b, C, C)
    largest : array of int of shape (b, C, C)
        The row of c that adds most.
    log_rest : array of shape (b, C, C)
        The sum without that row.
    """

    log_all: Array
    largest: Array
    log_rest: Array

    def at(self, rungs: list[int]) -> "Products":
        """Return those of some bandwidths."""
        return Products(self.log_all[rungs], self.largest[rungs], self.log_rest[rungs])


def _batches(bounds: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Yield ranges of whole classes: a large one, or small ones that make a call worth while."""
    low = 0
    for high in bounds[1:]:
        if high - low >= _BATCH or high == bounds[-1]:
            yield low, high
            low = high


def split_terms(terms: Array, first: int) -> tuple[Array, Array, Array]:
    """Return the largest term of the last axis, its index counted from `first`, and log Σ rest."""
    xp = array_namespace(terms)
    at = xp.argmax(terms, axis=-1)
    is_top = xp.arange(terms.shape[-1], device=device(terms)) == xp.expand_dims(at, axis=-1)
    rest = logsumexp(xp.where(is_top, xp.full_like(terms, -float("inf")), terms))
    return xp.max(terms, axis=-1), at + first, rest


def merge_split(a: tuple[Array, Array, Array], b: tuple[Array, Array, Array]) -> tuple[Array, ...]:
    """Merge what `split_terms` returned of two ranges of rows, the first of them first."""
    xp = array_namespace(a[0])
    rest = xp.logaddexp(xp.logaddexp(a[2], b[2]), xp.minimum(a[0], b[0]))
    return xp.maximum(a[0], b[0]), xp.where(b[0] > a[0], b[1], a[1]), rest


def add_own(sample: SortedSample, log_sums: Array, values: Array, rows: Rows) -> Array:
    """Add values (…, rows) to the sums (…, rows, C) of each row's own class."""
    xp = array_namespace(log_sums)
    if bool(xp.all(values <= 0)):
        return log_sums
    with_values = xp.logaddexp(log_sums, xp.expand_dims(safe_log(values), axis=-1))
    return xp.where(sample.own(rows), with_values, log_sums)
