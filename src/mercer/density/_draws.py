"""Draws from one window of width 1."""

import numpy as np

from mercer._arrays import FloatArray


def unit_draws(kernel: str, n: int, d: int, rng: np.random.RandomState) -> FloatArray:
    """Return points drawn from a window of width 1 about the origin: (n, d).

    A round window is a direction times a distance: of "exponential" the distance has density
    r^(d−1)·exp(−r), of "epanechnikov" r^(d−1)·(1 − r²).
    """
    if kernel == "gaussian":
        return rng.normal(size=(n, d))
    if kernel == "laplacian":
        return rng.laplace(size=(n, d))
    if kernel == "cauchy":
        return rng.standard_cauchy(size=(n, d))
    directions = rng.normal(size=(n, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    if kernel == "exponential":
        distances = rng.gamma(d, size=n)
    else:
        distances = np.sqrt(rng.beta(d / 2, 2, size=n))
    return directions * distances[:, None]
