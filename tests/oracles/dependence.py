"""Measures of dependence and entropies by the sums that are printed, pair by pair."""

import numpy as np

from oracles.information import WINDOWS


def windows(X, h, kernel="gaussian"):
    """Windows of width √2·h between all rows, or of width h where they are not Gaussian."""
    width = np.sqrt(2) * h if kernel == "gaussian" else h
    return np.array([[WINDOWS[kernel](x, z, width) for z in X] for x in X])


def potentials(X, Y, h_x, h_y, weights=None, kernel="gaussian"):
    """Principe (2010), chapter 2: V_J, V_M and V_C."""
    n = len(X)
    w = np.ones(n) / n if weights is None else weights / weights.sum()
    K, L = windows(X, h_x, kernel), windows(Y, h_y, kernel)
    joint = sum(w[i] * w[j] * K[i, j] * L[i, j] for i in range(n) for j in range(n))
    marginal = (w @ K @ w) * (w @ L @ w)
    cross = sum(w[i] * (K[i] @ w) * (L[i] @ w) for i in range(n))
    return joint, marginal, cross


def hsic(X, Y, h_x, h_y, kernel="gaussian"):
    """tr(KHLH)/n², with ones on the diagonals of K and L."""
    n = len(X)
    K, L = (windows(A, h, kernel) for A, h in ((X, h_x), (Y, h_y)))
    K, L = K / K[0, 0], L / L[0, 0]
    H = np.eye(n) - 1 / n
    return np.trace(K @ H @ L @ H) / n**2


def unbiased_hsic(X, Y, h_x, h_y, kernel="gaussian"):
    """The U-statistic of Song et al. (2012)."""
    n, one = len(X), np.ones(len(X))
    K, L = (windows(A, h, kernel) for A, h in ((X, h_x), (Y, h_y)))
    K, L = K / K[0, 0] - np.eye(n), L / L[0, 0] - np.eye(n)
    total = np.trace(K @ L) + (one @ K @ one) * (one @ L @ one) / ((n - 1) * (n - 2))
    return (total - 2 / (n - 2) * (one @ K @ L @ one)) / (n * (n - 3))


def renyi_entropy(X, order, h, leave_one_out, kernel="gaussian"):
    """Principe (2010), chapter 2, and its limits."""
    n = len(X)
    K = np.array([[WINDOWS[kernel](x, z, h) for z in X] for x in X])
    f = (K.sum(1) - np.diag(K)) / (n - 1) if leave_one_out else K.mean(1)
    if order == 1:
        return -np.mean(np.log(f))
    if order == np.inf:
        return -np.log(f.max())
    return np.log(np.mean(f ** (order - 1))) / (1 - order)
