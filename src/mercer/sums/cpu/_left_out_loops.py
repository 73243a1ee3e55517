"""Compiled: sums as if the window of the row at hand had left every density.

Beside its own kernel value, a term depends on how much of column j's density F_j came from row i:

    Σⱼ wⱼ kᵢⱼ ρᵢⱼ   and   Σⱼ qⱼ (ρᵢⱼ − 1),   ρᵢⱼ = (1 − removedᵢ gᵢⱼ / F_j)^(−1/2),

with g = k² or k.  Weights, densities and q differ from rung to rung; kernel values come from few
exponentials and many squarings, as in `_loops`.
"""

import numpy as np

from mercer.sums.cpu._compile import compiled
from mercer.sums.cpu._exp2 import exp2
from mercer.sums.cpu._loops import _approach, _values, fill_tile, pack_rows, tile_sizes
from mercer.sums.cpu._simd import ROWS, window

# A removed share of a density below this does not change its weight.
_NOTHING = 2.0**-50
# Up to this share, five terms of a series replace the root, with an error of 2e-13.
_LITTLE = 2.0**-8

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
def _plain_powers(u, c, base, w1, w2, w4, w8):
    """Return Σⱼ wⱼ kⱼ of an exponential kernel, its square, fourth and eighth power."""
    s1 = s2 = s4 = s8 = u.dtype.type(0)
    for j in range(u.size):
        e = exp2(c * (base - u[j]))
        s1 += w1[j] * e
        e *= e
        s2 += w2[j] * e
        e *= e
        s4 += w4[j] * e
        e *= e
        s8 += w8[j] * e
    return s1, s2, s4, s8


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
        rest = least[j] if rest < least[j] else rest
        growth = one / np.sqrt(rest) - one
        total += w[j] * k[j] * (one + growth)
        drift += q[j] * growth
        k[j] = g
    return total, drift


@_reordering
def _slightly_reweighted_sums(k, w, removed, squared, inverse, q):
    """Return the same where removed·g/F is at most _LITTLE: ρ by its series, without a root."""
    number = k.dtype.type
    c1, c2, c3, c4 = number(1 / 2), number(3 / 8), number(5 / 16), number(35 / 128)
    total = drift = k.dtype.type(0)
    for j in range(k.size):
        g = k[j] * k[j]
        t = removed * (g if squared else k[j]) * inverse[j]
        growth = t * (c1 + t * (c2 + t * (c3 + t * c4)))
        total += w[j] * k[j] * (1 + growth)
        drift += q[j] * growth
        k[j] = g
    return total, drift


@_exact
def absorb_left_out(
    X, start, stop, panels, n_columns, bounds, own,
    scale, centre, product, kind, absolute, root, coefficients, rungs, own_value,
    relative, W, removed, squared, inverse, highest, least, q, nearest, totals, drifts,
):  # fmt: skip
    """Add all packed columns to the sums of rows start…stop of X.

    X is (n, d), `bounds` (segments + 1,), `removed` (n,).  W, `inverse` (1/F), `least` (the
    smallest value of 1 − removed·g/F) and `q` are (rungs, n_columns), flat; all but W are empty
    if nothing is removed; `highest` (rungs,) is the largest 1/F.
    `nearest` is (n, segments); `totals`, with `relative` kept relative to the nearest row's kernel
    value, and `drifts` are (n, segments, rungs), flat.
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
                    rows, (block - top) * k, panels, k, first, last, product, absolute, root,
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
                            if relative:
                                nearest[i * n_segments + s] = _approach(
                                    u, coefficients, rungs, nearest[i * n_segments + s],
                                    totals, at, 1, n_rungs,
                                )  # fmt: skip
                            base = nearest[i * n_segments + s]
                            base = base if base < np.inf else 0.0  # ∞ while there is no term
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
        start = rung * n_columns + lo
        plain = rungs[step] == 4  # and no removed share counts
        for r in range(rungs[step]):
            share = _gone(removed, squared, c * 2**r, base, inverse) * highest[rung + r]
            plain = plain and share < _NOTHING
        if plain:
            sums = _plain_powers(
                u, coefficients[step], u.dtype.type(base),
                window(W, start, u.size), window(W, start + n_columns, u.size),
                window(W, start + 2 * n_columns, u.size), window(W, start + 3 * n_columns, u.size),
            )  # fmt: skip
            for r in range(4):
                totals[at + rung + r] += sums[r]
            rung += 4
            continue
        _values(kind, u, coefficients[step], u.dtype.type(base), 0, k)
        for _ in range(rungs[step]):
            start = rung * n_columns + lo
            w = window(W, start, u.size)
            gone = _gone(removed, squared, c, base, inverse)
            share = gone * highest[rung]
            if share < _NOTHING:
                totals[at + rung] += _plain_sum(k, w)
            else:
                left, v = u.dtype.type(gone), window(inverse, start, u.size)
                q_run = window(q, start, u.size)
                if share < _LITTLE:
                    total, drift = _slightly_reweighted_sums(k, w, left, squared, v, q_run)
                else:
                    floor = window(least, start, u.size)
                    total, drift = _reweighted_sums(k, w, left, squared, v, floor, q_run)
                totals[at + rung] += total
                drifts[at + rung] += drift
            c *= 2
            rung += 1


@_exact
def _gone(removed, squared, c, base, inverse):
    """Return what the row takes from densities, in units of the common factor of the run."""
    if inverse.size == 0:
        return 0.0
    return removed * exp2(-(2 * c if squared else c) * base)
