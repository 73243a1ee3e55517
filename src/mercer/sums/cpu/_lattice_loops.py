"""Compiled: weights of points on a line to a lattice around them, and sums on it back to points.

Eight neighbours of a point share its weight by Lagrange's polynomials, by which a function between
them is read off, too: Σⱼ wⱼ f(yⱼ) ≈ Σₐ mₐ f(gₐ) with mₐ = Σⱼ wⱼ Lₐ(yⱼ).
"""

from math import floor

import numpy as np

from mercer.sums.cpu._compile import compiled

_exact = compiled("contract")


@_exact
def _lagrange(t, out):
    """Write the eight polynomials of the nodes −3, …, 4 at t in [0, 1)."""
    a, b, c, d = t + 3.0, t + 2.0, t + 1.0, t
    e, f, g, h = t - 1.0, t - 2.0, t - 3.0, t - 4.0
    ab, cd, ef, gh = a * b, c * d, e * f, g * h
    abcd, efgh = ab * cd, ef * gh
    out[0] = b * cd * efgh * (-1.0 / 5040.0)
    out[1] = a * cd * efgh * (1.0 / 720.0)
    out[2] = ab * d * efgh * (-1.0 / 240.0)
    out[3] = ab * c * efgh * (1.0 / 144.0)
    out[4] = abcd * f * gh * (-1.0 / 144.0)
    out[5] = abcd * e * gh * (1.0 / 240.0)
    out[6] = abcd * ef * h * (-1.0 / 720.0)
    out[7] = abcd * ef * g * (1.0 / 5040.0)


@_exact
def spread(points, weights, first, last, low, per_unit, masses):
    """Add the weights of points first … last to the masses of their neighbours."""
    shares = np.empty(8)
    for j in range(first, last):
        u = (float(points[j]) - low) * per_unit
        cell = floor(u)
        _lagrange(u - cell, shares)
        at, w = int(cell) - 3, weights[j]
        for k in range(8):
            masses[at + k] += w * shares[k]


@_exact
def gather(points, first, last, low, per_unit, values, out):
    """Write what a function with these values on the lattice is at points first … last."""
    shares = np.empty(8)
    for i in range(first, last):
        u = (float(points[i]) - low) * per_unit
        cell = floor(u)
        _lagrange(u - cell, shares)
        at, total = int(cell) - 3, 0.0
        for k in range(8):
            total += shares[k] * values[at + k]
        out[i] = total
