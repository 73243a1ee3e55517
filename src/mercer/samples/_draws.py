"""Draws of some rows of each class: the same rows, in memory or in blocks."""

from functools import partial
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import to_numpy
from mercer.samples._blocks import Blocks, compute
from mercer.samples._in_blocks import class_sizes
from mercer.samples._sample import BlockSample, Sample

# Up to this many rows all labels come to one place, so that the rows drawn are those that would
# be drawn in memory.
_LABELS_TOGETHER = 10_000_000
Numbers = NDArray[np.int64]


def stratified_rows(
    groups: NDArray[np.integer], size: int, power: float, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw row numbers, sorted, so that a group of n rows gets a share ∝ n^power.

    No group gets more than it has, and what it cannot take goes to the others; every group with
    rows gets at least one where `size` allows it.  All rows are returned if `size` covers them.

    Parameters
    ----------
    groups : ndarray of int of shape (n,)
        The group of each row, from 0 on.
    size : int
        How many rows.
    power : float
        1 keeps the shares of the groups, 0 makes them equal.
    rng : RandomState
        For the draws.

    Returns
    -------
    ndarray of int
        Sorted row numbers.
    """
    n_rows = len(groups)
    if size >= n_rows:
        return np.arange(n_rows)
    counts = np.bincount(groups)
    quotas = _quotas(counts, size, power)
    order = rng.permutation(n_rows)
    by_group = order[np.argsort(groups[order], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    parts = [by_group[a : a + q] for a, q in zip(starts, quotas, strict=True)]
    return np.sort(np.concatenate(parts))


def _quotas(counts: NDArray[np.integer], size: int, power: float) -> NDArray[np.intp]:
    """Share out `size` in proportion to counts**power, within the counts."""
    wish = np.where(counts > 0, np.maximum(counts, 1).astype(float) ** power, 0.0)
    quotas = np.zeros(len(counts))
    unfilled = counts > 0
    while unfilled.any():
        rest = size - quotas[~unfilled].sum()
        share = np.where(unfilled, wish / wish[unfilled].sum() * rest, quotas)
        full = unfilled & (share >= counts)
        quotas = np.where(unfilled, np.minimum(share, counts), quotas)
        if not full.any():
            break
        unfilled &= ~full
    whole = np.floor(quotas).astype(np.intp)
    whole[(counts > 0) & (whole == 0)] = 1
    while whole.sum() > size and whole.max() > 1:
        # Rows that small groups were given are taken from the groups furthest above their quota.
        whole[np.argmax(np.where(whole > 1, whole - quotas, -np.inf))] -= 1
    by_remainder = np.argsort(-(quotas - np.floor(quotas)), kind="stable")
    for group in by_remainder:
        if whole.sum() >= size:
            break
        whole[group] += int(whole[group] < counts[group])
    return whole


def draw_rows(
    codes: Any, n_classes: int, size: int, power: float, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw rows of a Dask array as `stratified_rows` does, whatever the blocks.

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


def random_rows(
    sample: Sample | BlockSample, shares: Numbers, rng: np.random.RandomState
) -> Numbers:
    """Draw as many rows of each class as `shares` says; return their sorted numbers."""
    ranks = [
        np.sort(rng.permutation(total)[:size])
        for total, size in zip(sample.sizes.tolist(), shares, strict=True)
    ]
    if isinstance(sample, Sample):
        parts = (members[r] for members, r in zip(_by_class(sample), ranks, strict=True))
        return np.sort(np.concatenate(list(parts)))
    blocks = Blocks.of(sample.codes)
    counts = blocks.map(partial(_count, len(shares)), name="count")
    by_block = np.array(compute(counts.merged(add, name="count"))[0])
    before = np.cumsum(by_block, axis=0) - by_block
    starts = dict(zip(blocks.starts[:-1].tolist(), before, strict=False))
    found = blocks.map(partial(_at_ranks, ranks, starts), name="nodes")
    rows = np.sort(np.concatenate(compute(found.merged(add, name="nodes"))[0]))
    return rows.astype(np.int64)


def heaviest_rows(sample: Sample | BlockSample, shares: Numbers, weights: Any) -> Numbers:
    """Return the sorted numbers of the rows of largest weight: `shares` of each class."""
    if isinstance(sample, Sample):
        numbers, parts = to_numpy(weights), []
        for members, size in zip(_by_class(sample), shares, strict=True):
            parts.append(members[np.argsort(-numbers[members], kind="stable")[:size]])
        return np.sort(np.concatenate(parts))
    blocks = Blocks.of(sample.codes)
    found = blocks.map(partial(_largest, shares), Blocks.of(weights), name="nodes")
    best = compute(found.merged(partial(_keep_largest, shares), name="nodes"))[0]
    return np.sort(np.concatenate([numbers for _, numbers in best])).astype(np.int64)


def _by_class(sample: Sample) -> list[Numbers]:
    """Return the rows of each class."""
    order = np.argsort(sample.codes, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(sample.sizes)])
    return [order[low:high] for low, high in pairwise(bounds)]


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


def _count(n_classes: int, _: int, codes: NDArray[Any]) -> list[NDArray[np.int64]]:
    return [np.bincount(codes, minlength=n_classes)]


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
            ranks_here = wanted - before[start][c]
            is_here = (ranks_here >= 0) & (ranks_here < members.size)
            found.append(start + members[ranks_here[is_here]])
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
