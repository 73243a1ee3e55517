"""Weights and groups, as users write them, brought to ordered segments.

Rows are sorted by group once, so that ten classes cost what one does.  Weights are divided by
a power of two for each segment (exact), and a group whose weights span more than the range
in which they can safely be multiplied with kernel values is cut into bands, each a segment of
its own.
"""

from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace, is_torch_array
from numpy.typing import NDArray

from mercer._arrays import (
    Array,
    itemsize,
    take_rows,
    times_powers_of_two,
    to_numpy,
)
from mercer.sums._reductions import Law

BAND = {4: 60, 8: 480}  # binary orders of magnitude that the weights of a segment may span
ZERO = -(10**6)  # stands for the exponent of a zero weight


@dataclass(frozen=True)
class Arrangement:
    """Order, scaled weights and bounds of a problem, and how its outputs become groups."""

    order: Array | None
    weights: Array | None
    bounds: tuple[int, ...]
    exponents: NDArray[np.int64] | None = None  # of the power of two taken out of each output
    groups: NDArray[np.int64] | None = None  # of each output, where a group has several

    def restore(self, out: Array, law: Law) -> Array:
        """Put powers of two back and merge bands: (b, n, outputs) to (b, n, groups)."""
        if self.exponents is not None and self.exponents.any():
            out = law.scale(out, self.exponents)
        if self.groups is None:
            return out
        merged: list[Array] = []
        for s, g in enumerate(self.groups):
            if g < len(merged):
                merged[g] = law.merge(merged[g], out[:, :, s])
            else:
                merged.append(out[:, :, s])
        return array_namespace(out).stack(merged, axis=2)


def arrange(n_rows: int, weights: Array | None, groups: Array | None, log: bool) -> Arrangement:
    """Sort the rows by group and by band of weight.

    Zero weights have no logarithm: for logs their rows are left out.
    """
    if weights is None and groups is None:
        return Arrangement(None, None, (0, n_rows))
    if is_torch_array(groups if weights is None else weights):
        from mercer.sums.torch._arrange import arrange_tensors

        return arrange_tensors(n_rows, weights, groups, log)
    group = np.zeros(n_rows, np.int64) if groups is None else groups
    n_groups = int(group.max()) + 1
    exponent = np.zeros(n_rows, np.int64) if weights is None else _exponents(weights)
    band = 1 if weights is None else BAND[itemsize(weights)]
    top = np.full(n_groups, ZERO)
    np.maximum.at(top, group, exponent)
    bands = np.where(exponent == ZERO, 0, (top[group] - exponent) // band)
    n_bands = int(bands.max()) + 1

    key = group * n_bands + bands
    order = np.argsort(key, kind="stable")
    if log:
        order = order[exponent[order] != ZERO]
    counts = np.bincount(key[order], minlength=n_groups * n_bands)
    # A group has a segment, if an empty one, for its heaviest rows; others where there are rows.
    segments = np.flatnonzero((np.arange(counts.size) % n_bands == 0) | (counts > 0))
    counts = counts[segments]
    segment_group, segment_band = np.divmod(segments, n_bands)
    is_natural = order.size == n_rows and bool((np.diff(order) == 1).all())

    exponents = None
    if weights is not None:
        highest = top[segment_group]
        exponents = np.where(highest == ZERO, 0, highest - segment_band * band)
        weights = weights if is_natural else take_rows(weights, order)
        weights = times_powers_of_two(weights, -np.repeat(exponents, counts))
    return Arrangement(
        order=None if is_natural else order,
        weights=weights,
        bounds=(0, *np.cumsum(counts).tolist()),
        exponents=exponents,
        groups=segment_group if n_bands > 1 else None,
    )


def scale_columns(weights: Array) -> Arrangement:
    """Scale each column of an (m, c) matrix of weights; all of them share the one segment."""
    top = _exponents(weights).max(axis=0)
    exponents = np.where(top == ZERO, 0, top)
    scaled = times_powers_of_two(weights, -exponents)
    return Arrangement(None, scaled, (0, weights.shape[0]), exponents)


def must_go_by_column(weights: Array, log: bool) -> bool:
    """Whether the columns of an (m, c) matrix of weights can not share a common factor.

    A column may span no more than a band; and for logs, which are taken relative to the
    nearest row, that row must count in every column.
    """
    exponent = _exponents(weights)
    top = exponent.max(axis=0)
    lowest = np.where(exponent == ZERO, top, exponent).min(axis=0)
    return bool(
        (log and (exponent == ZERO).any()) or (top - lowest > BAND[itemsize(weights)]).any()
    )


def _exponents(weights: Array) -> NDArray[np.int64]:
    """Binary exponents of weights."""
    w = to_numpy(weights)
    return np.where(w == 0, ZERO, np.frexp(w)[1])
