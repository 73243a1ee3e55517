"""`arrange` for tensors: they are sorted on their device, and only counts come to the host."""

from math import frexp
from typing import Any

import numpy as np

from mercer._arrays import Array, times_powers_of_two, to_numpy
from mercer.sums._in_memory import BAND, ZERO, Arrangement
from mercer.sums._problem import ByGroup


def arrange_tensors(
    n_rows: int,
    weights: Array | None,
    groups: Array | None,
    log: bool,
    weight_ends: tuple[float, float] | None = None,
    by_group: ByGroup | None = None,
) -> Arrangement:
    """Sort the rows by group and by band of weight; see `mercer.sums._in_memory.arrange`."""
    import torch

    if (groups is None) == (by_group is None):
        known = _from_ends(n_rows, weights, weight_ends, by_group)
        if known is not None:
            return known
    if groups is None and weights is not None:
        one = _one_band(n_rows, weights, log)
        if one is not None:
            return one
    given: Array = groups if weights is None else weights
    whole: dict[str, Any] = {"dtype": torch.int64, "device": given.device}
    group = torch.zeros(n_rows, **whole) if groups is None else groups
    n_groups = 1 if groups is None else int(group.max()) + 1
    n_bands, top = 1, np.zeros(n_groups, np.int64)
    key, common = group, None if weights is None else _common_exponent(weights)
    if common is not None:  # Equal weights need not be multiplied with: the sums are scaled.
        weights = None
    if weights is not None:
        values = weights.detach()
        zero = values == 0
        exponent = torch.where(zero, ZERO, torch.frexp(values)[1].to(torch.int64))
        tops = torch.full((n_groups,), ZERO, **whole).scatter_reduce_(0, group, exponent, "amax")
        bands = torch.where(zero, 0, (tops[group] - exponent) // BAND[values.element_size()])
        top = to_numpy(tops)
        n_bands = int(bands.max()) + 1
        key = group * n_bands + bands
        if log:  # Zero weights have no logarithm, so that their rows are left out.
            key = torch.where(zero, n_groups * n_bands, key)
    n_keys = n_groups * n_bands
    counts = to_numpy(torch.bincount(key, minlength=n_keys + 1))[:n_keys]
    # Keys that fit 16 bits take a quarter of the passes of a radix sort.
    small = key.to(torch.int16) if n_keys < 2**15 else key
    order = torch.sort(small, stable=True)[1][: int(counts.sum())]

    segments = np.flatnonzero((np.arange(n_keys) % n_bands == 0) | (counts > 0))
    counts = counts[segments]
    segment_group, segment_band = np.divmod(segments, n_bands)
    exponents = None if common is None else np.full(counts.size, common)
    if weights is not None:
        highest = top[segment_group]
        exponents = np.where(
            highest == ZERO, 0, highest - segment_band * BAND[weights.element_size()]
        )
        repeats = torch.as_tensor(counts, **whole)
        by_row = torch.repeat_interleave(
            torch.as_tensor(exponents, **whole), repeats, output_size=order.shape[0]
        )
        weights = times_powers_of_two(weights[order], -by_row)
    return Arrangement(
        order=None if n_keys == 1 and order.shape[0] == n_rows else order,
        weights=weights,
        bounds=(0, *np.cumsum(counts).tolist()),
        exponents=exponents,
        groups=segment_group if n_bands > 1 else None,
    )


def _from_ends(
    n_rows: int,
    weights: Array | None,
    ends: tuple[float, float] | None,
    by_group: ByGroup | None,
) -> Arrangement | None:
    """Return the rows by group, if weights are known to be positive and one band holds them all.

    One power of two then serves all groups, and nothing has to come from the device.
    """
    order, counts = None, np.array([n_rows])
    if by_group is not None and by_group.counts.size > 1:
        order, counts = by_group.order, by_group.counts
    bounds = (0, *np.cumsum(counts).tolist())
    if weights is None:
        return Arrangement(order, None, bounds)
    if ends is None or not 0 < ends[0] <= ends[1]:
        return None
    (_, lowest), (mantissa, top) = frexp(ends[0]), frexp(ends[1])
    if top - lowest >= BAND[weights.element_size()]:
        return None
    if ends[0] == ends[1] and mantissa == 0.5 and not weights.requires_grad:
        return Arrangement(order, None, bounds, np.full(counts.size, top - 1))
    weights = weights if order is None else weights[order]
    scaled = times_powers_of_two(weights, np.array([-top]))
    return Arrangement(order, scaled, bounds, np.full(counts.size, top))


def _one_band(n_rows: int, weights: Array, log: bool) -> Arrangement | None:
    """Return all rows in their order, if there are no groups and one band holds all weights."""
    import torch

    sizes = weights.detach().abs()
    least = torch.where(sizes == 0, torch.inf, sizes).amin()  # the least that is not zero
    low, some, high = torch.stack([sizes.amin(), least, sizes.amax()]).tolist()
    if high == 0 or (log and low == 0):
        return None
    top = frexp(high)[1]
    if top - frexp(some)[1] >= BAND[weights.element_size()]:
        return None
    power = low == high and frexp(high)[0] == 0.5 and not weights.requires_grad
    if power and bool((weights > 0).all()):
        return Arrangement(None, None, (0, n_rows), np.array([top - 1]))
    exponents = np.array([top])
    return Arrangement(None, times_powers_of_two(weights, -exponents), (0, n_rows), exponents)


def _common_exponent(weights: Array) -> int | None:
    """Return e where all weights are 2**e, as repetitions often are; else None."""
    import torch

    if weights.requires_grad:
        return None
    low, high = torch.stack(torch.aminmax(weights)).tolist()
    mantissa, exponent = frexp(low)
    return exponent - 1 if low == high and mantissa == 0.5 else None
