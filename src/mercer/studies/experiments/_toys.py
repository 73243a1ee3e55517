"""Data that the papers draw: two Gaussians, a ring, half-moons."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["half_moons", "ring", "two_gaussians"]

_Sample = tuple[NDArray[np.float64], NDArray[np.int64]]


def two_gaussians(rng: np.random.Generator, rare: int, common: int) -> _Sample:
    """Return unit Gaussians about (0.6, 0.6), class 0, and (2, 2), class 1."""
    X = np.concatenate([rng.normal(0.6, 1, (rare, 2)), rng.normal(2.0, 1, (common, 2))])
    return X, np.repeat([0, 1], [rare, common])


def ring(rng: np.random.Generator, n_ring: int = 63, n_disc: int = 200) -> _Sample:
    """Return a ring, class 1, and then the points of a Gaussian within it, class 0."""
    angle = np.linspace(0, 2 * np.pi, n_ring, endpoint=False)
    radius = rng.normal(2.5, 0.1, n_ring)
    outer = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    X = np.concatenate([outer, rng.normal(0, 0.5, (n_disc, 2))])
    return X, np.repeat([1, 0], [n_ring, n_disc])


def half_moons(
    rng: np.random.Generator, n: int, *, radius: float, noise: float, apart: float = 0.0
) -> _Sample:
    """Return an upper half-moon, class 0, and a lower one, class 1; `n` points of each.

    Noise is the standard deviation of each coordinate, `apart` how much further down the lower
    moon lies than where the two interlock, both in units of the radius.
    """
    angle = rng.uniform(0, np.pi, (2, n))
    upper = np.column_stack([np.cos(angle[0]), np.sin(angle[0])])
    lower = np.column_stack([1 - np.cos(angle[1]), 0.5 - np.sin(angle[1]) - apart])
    X: Any = np.concatenate([upper, lower]) + rng.normal(0, noise, (2 * n, 2))
    return radius * X, np.repeat([0, 1], n)
