"""Kernel sums within random parts of a sample: the one pass that a permutation test needs.

A labelling is a row of zeros and ones.  For all of them at once, blocks of the kernel matrix
meet blocks of labels in a matrix product; that is several times as fast as sums with as many
columns of weights, and holds a block at a time.
"""

from dataclasses import dataclass
from math import frexp
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mercer._arrays import Array, FloatArray, itemsize, like, times_powers_of_two, to_numpy
from mercer._memory import row_slabs, working_memory
from mercer.kernels import Kernel
from mercer.samples import home_of
from mercer.sums import log_kernel_sum

# By bytes of a number: the largest squared radius, in squared widths, at which products are
# accurate enough, to 1e-3 (float32) or 1e-10 (float64) in the exponent.
_PRODUCTS_UP_TO = {4: 2.0**10, 8: 2.0**18}
_BLOCK = 512  # A block of this many rows stays in the cache beside its labels.


@dataclass(frozen=True)
class PartSums:
    """Sums of k over ordered pairs of different rows, for each labelling, times exp(log_scale).

    The scale is taken out so that sums are not all zero where every kernel value underflows.
    """

    within_x: FloatArray
    within_y: FloatArray
    across: FloatArray
    log_scale: float
    # The logarithm of the mean, over rows, of the sums over other rows: how much windows overlap.
    log_mean_neighbours: float


def part_sums(
    Z: Array, n_first: int, n_permutations: int, kernel: Kernel, width: float, random_state: Any
) -> PartSums:
    """Return the sums for the labelling "the first n_first rows", then for random ones."""
    logs = log_kernel_sum(Z, kernel=kernel, bandwidth=width, exclude_self=True)
    logs = to_numpy(logs).astype(np.float64)
    log_scale = float(logs.max())
    if log_scale == -np.inf:
        raise ValueError(
            f"bandwidth is too small: windows of width {width:g} do not meet anywhere in the range "
            "of floating point."
        )
    rows = np.exp(logs - log_scale)
    Z, width = _scaled(Z, width)

    random = check_random_state(random_state)
    n, n_labellings = Z.shape[0], n_permutations + 1
    within_x, of_x = np.empty(n_labellings), np.empty(n_labellings)
    for start, stop in row_slabs(n_labellings, 2 * n, working_memory() // 4):
        labels = np.zeros((stop - start, n), dtype=bool)
        for labelling, row in enumerate(labels, start=start):
            chosen = random.permutation(n) if labelling else np.arange(n)
            row[chosen[:n_first]] = True
        with np.errstate(over="ignore"):  # k is 0 at an infinite distance.
            within_x[start:stop] = _sums_within(Z, labels, kernel, width, log_scale)
        of_x[start:stop] = [rows[row].sum() for row in labels]
    across = of_x - within_x
    return PartSums(
        within_x=within_x,
        within_y=rows.sum() - of_x - across,
        across=across,
        log_scale=log_scale,
        log_mean_neighbours=float(home_of(logs).log_total(logs) - np.log(n)),
    )


def _sums_within(
    Z: Array, labels: NDArray[np.bool_], kernel: Kernel, width: float, log_scale: float
) -> FloatArray:
    """Return aᵀKa for each row a of labels, K without its diagonal; the width is near 1."""
    xp: Any = array_namespace(Z)
    centred = Z - xp.mean(Z, axis=0)
    norms = xp.sum(centred * centred, axis=1)
    # Products are off by some eps of the squared radius, which adds to exponents here.
    by_products = float(xp.max(norms)) < _PRODUCTS_UP_TO[itemsize(Z)] and kernel.is_smooth
    total = np.zeros(labels.shape[0])
    slabs = list(row_slabs(Z.shape[0], 1, _block_rows(labels.shape[0], itemsize(Z))))
    for i, (a, b) in enumerate(slabs):
        first = like(labels[:, a:b], Z)
        for c, d in slabs[i:]:
            if by_products:
                products = centred[c:d, :] @ centred[a:b, :].T
                d2 = norms[c:d, None] + norms[None, a:b] - 2 * products
                d2 = xp.where(d2 < 0, xp.zeros_like(d2), d2)
            else:
                d2 = kernel.squared_distances(
                    Z[c:d, f, None] - Z[None, a:b, f] for f in range(Z.shape[1])
                )
            if a == c:
                d2 = xp.where(like(np.eye(b - a, dtype=bool), Z, xp.bool), np.inf, d2)
            # Only rounding of distances can make a value larger than the scale.
            exponents = kernel.log_profile(d2, width) - log_scale
            K = xp.exp(xp.where(exponents > 0, xp.zeros_like(d2), exponents))
            second = first if a == c else like(labels[:, c:d], Z)
            sums = to_numpy(xp.vecdot(first, second @ K))
            total += sums if a == c else 2 * sums
    return total


def _scaled(Z: Array, width: float) -> tuple[Array, float]:
    """Return rows and width divided by a power of two, exactly, so that the width is near 1."""
    xp: Any = array_namespace(Z)
    if not 1e-30 < width < 1e30:
        Z = xp.astype(Z, xp.float64)
    mantissa, exponent = frexp(width)
    return times_powers_of_two(Z, np.array(-exponent)), mantissa


def _block_rows(n_labellings: int, bytes_per_number: int) -> int:
    """Return the rows of a block: four blocks and four strips of labels fit the budget."""
    numbers = working_memory() // (4 * bytes_per_number)
    rows = _BLOCK
    while rows > 1 and rows * (rows + n_labellings) > numbers:
        rows //= 2
    return rows
