"""Bandwidth rules and cross-validation as they are written down, with loops over rows."""

import numpy as np


def spread(X):
    """σ_X: root of the mean diagonal of the sample covariance."""
    covariance = np.atleast_2d(np.cov(np.asarray(X, dtype=np.float64), rowvar=False))
    return np.sqrt(np.trace(covariance) / covariance.shape[0])


def silverman(X):
    """LC eq. (21) and EQ eq. (18), as printed."""
    n, d = np.shape(X)
    return spread(X) * (4 / ((2 * d + 1) * n)) ** (1 / (d + 4))


def silverman_amise(X):
    n, d = np.shape(X)
    return spread(X) * (4 / ((d + 2) * n)) ** (1 / (d + 4))


def scott(X):
    n, d = np.shape(X)
    return spread(X) * n ** (-1 / (d + 4))


def window(x, y, h):
    """LC eq. (9)."""
    d = len(x)
    return np.exp(-np.sum((x - y) ** 2) / (2 * h**2)) / (2 * np.pi * h**2) ** (d / 2)


def left_out_density(X, i, h, window=window):
    """Parzen estimate at row i from the other rows."""
    return np.mean([window(X[i], X[j], h) for j in range(len(X)) if j != i])


def log_likelihood(X, h, window=window):
    """Mean leave-one-out log-likelihood."""
    return np.mean([np.log(left_out_density(X, i, h, window)) for i in range(len(X))])


def least_squares(X, h):
    """∫f̂² − 2/N Σ f̂₋ᵢ(xᵢ), the integral by the convolution of two windows."""
    n = len(X)
    square = sum(window(x, y, np.sqrt(2) * h) for x in X for y in X) / n**2
    return square - 2 / n * sum(left_out_density(X, i, h) for i in range(n))
