"""Integrals of products of factors along a line, with each factor's change taken out in turn."""

import numpy as np

from mercer.sums.cpu._compile import compiled

_TERMS = 128  # So many terms are multiplied at once: their factors stay in the cache.

_reordering = compiled("contract", "reassoc", "nsz")


@_reordering
def add_diagonal_shares(u, w, coef, nodes, weights, first, last, out):
    """Add Σⱼ aⱼ Σₜ ωₜ (u_gj − w_bgj) Π_{l≠g} (t·u_lj + (1 − t)·w_blj) to out_bg, b in first…last.

    The product without its factor g is that of the factors before it and of those behind it.
    """
    n_groups, n_terms = u.shape
    factors = np.empty((n_groups, _TERMS))
    before = np.empty((n_groups, _TERMS))
    running = np.empty(_TERMS)
    for b in range(first, last):
        for start in range(0, n_terms, _TERMS):
            size = min(_TERMS, n_terms - start)
            for node in range(nodes.size):
                t, weight = nodes[node], weights[node]
                for j in range(size):
                    running[j] = weight * coef[start + j]
                for g in range(n_groups):
                    mine, theirs = u[g, start : start + size], w[b, g, start : start + size]
                    kept, factor = before[g], factors[g]
                    for j in range(size):
                        f = theirs[j] + t * (mine[j] - theirs[j])
                        kept[j] = running[j]
                        factor[j] = f
                        running[j] *= f
                for j in range(size):
                    running[j] = 1.0
                for back in range(n_groups):
                    g = n_groups - 1 - back
                    mine, theirs = u[g, start : start + size], w[b, g, start : start + size]
                    kept, factor = before[g], factors[g]
                    total = 0.0
                    for j in range(size):
                        total += kept[j] * running[j] * (mine[j] - theirs[j])
                        running[j] *= factor[j]
                    out[b, g] += total
