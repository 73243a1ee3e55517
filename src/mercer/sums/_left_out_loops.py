"""Compiled: sums as if the window of the row at hand had left every density.

Beside its own kernel value, a term depends on how much of column j's density F_j came from row i:

    Σⱼ wⱼ kᵢⱼ ρᵢⱼ   and   Σⱼ qⱼ (ρᵢⱼ − 1),   ρᵢⱼ = (1 − removedᵢ gᵢⱼ / F_j)^(−1/2),

with g = k² or k.  Weights, densities and q differ from rung to rung; kernel values come from few
exponentials and many squarings, as in `_loops`.
"""

import numpy as np

from mercer.sums._compile import compiled
from mercer.sums._exp2 import exp2
from mercer.sums._loops import _approach, _values
from mercer.sums._simd import ROWS, window
from mercer.sums._tiles import fill_tile, pack_rows, tile_sizes

_NOTHING = 2.0**-60  # share of a density that leaves its weight as it is

_exact = compiled("contract")
_reordering = compiled("contract", "reassoc", "nsz")


@_reordering
def _plain_sum(k, w):
    """Return Σⱼ wⱼ kⱼ and square k for the next rung."""
    total = k.dtype.type(0)
    for j in range(k.size):
        total += w[j] * k[j]
        k[j] *= k[j]
    return total


@_reordering
def _reweighted_sums(k, w, removed, squared, inverse, least, q):
    """Return Σⱼ wⱼ kⱼ ρⱼ and Σⱼ qⱼ (ρⱼ − 1), and square k for the next rung.

    `removed` is in units of the common factor that was taken out of g.
    """
    one = k.dtype.type(1)
    total = drift = k.dtype.type(0)
    for j in range(k.size):
        g = k[j] * k[j]
        rest = one - removed * (g if squared else k[j]) * inverse[j]
        rest = rest if rest > least[j] else least[j]
        growth = one / np.sqrt(rest) - one
        total += w[j] * k[j] * (one + growth)
        drift += q[j] * growth
        k[j] = g
    return total, drift


@_exact
def absorb_left_out(
    X, start, stop, panels, n_columns, bounds, own,
    scale, centre, product, kind, root, coefficients, rungs, own_value,
    W, removed, squared, inverse, highest, least, q, nearest, totals, drifts,
):  # fmt: skip
    """Take rows start…stop of X through all packed columns.

    X is (n, d), `bounds` (segments + 1,), `removed` (n,).  W, `inverse` (1/F), `least` (the
    smallest value of 1 − removed·g/F) and `q` are (rungs, n_columns), flat; all but W are empty
    where nothing is removed; `highest` (rungs,) is the largest 1/F.
    `nearest` is (n, segments); `totals`, kept relative to the nearest row's kernel value, and
    `drifts` are (n, segments, rungs), flat.
    """
    k = X.shape[1] + 1 if product else X.shape[1]
    chunk, group = tile_sizes(k, X.itemsize)
    n_segments, n_rungs = bounds.size - 1, rungs.sum()
    tile = np.empty(ROWS * chunk, X.dtype)
    values = np.empty(chunk, X.dtype)
    rows = np.empty(group * k, X.dtype)
    for top in range(start, stop, group):
        bottom = min(top + group, stop)
        pack_rows(X, top, bottom, scale, centre, product, rows)
        segment = 0
        for first in range(0, n_columns, chunk):
            last = min(first + chunk, n_columns)
            while bounds[segment + 1] <= first:
                segment += 1
            for block in range(top, bottom, ROWS):
                n_rows = min(ROWS, bottom - block)
                fill_tile(
                    rows, (block - top) * k, panels, k, first, last, product, root,
                    own, block, n_rows, own_value, tile, chunk,
                )  # fmt: skip
                for r in range(n_rows):
                    i = block + r
                    s = segment
                    lo = first
                    while lo < last:
                        hi = min(last, bounds[s + 1])
                        at = (i * n_segments + s) * n_rungs
                        if hi > lo:
                            u = window(tile, r * chunk + lo - first, hi - lo)
                            nearest[i * n_segments + s] = base = _approach(
                                u, coefficients, rungs, nearest[i * n_segments + s],
                                totals, at, 1, n_rungs,
                            )  # fmt: skip
                            if base < np.inf:
                                _absorb_run(
                                    kind, u, window(values, 0, hi - lo), coefficients, rungs, base,
                                    lo, n_columns, W, removed[i], squared, inverse, highest,
                                    least, q, totals, drifts, at,
                                )  # fmt: skip
                        lo = hi
                        s += 1


@_exact
def _absorb_run(
    kind, u, k, coefficients, rungs, base, lo, n_columns,
    W, removed, squared, inverse, highest, least, q, totals, drifts, at,
):  # fmt: skip
    """Add one run of distances to the sums of its segment, for every rung."""
    rung = 0
    for step in range(coefficients.size):
        c = float(coefficients[step])
        _values(kind, u, coefficients[step], u.dtype.type(base), 0, k)
        for _ in range(rungs[step]):
            start = rung * n_columns + lo
            w = window(W, start, u.size)
            gone = 0.0
            if inverse.size:
                gone = removed * exp2(-(2 * c if squared else c) * base)
            if gone * highest[rung] < _NOTHING:
                totals[at + rung] += _plain_sum(k, w)
            else:
                total, drift = _reweighted_sums(
                    k, w, u.dtype.type(gone), squared, window(inverse, start, u.size),
                    window(least, start, u.size), window(q, start, u.size),
                )  # fmt: skip
                totals[at + rung] += total
                drifts[at + rung] += drift
            c *= 2
            rung += 1
