"""Information measures as the papers write them: a window, and sums over pairs of rows.

LC is the Laplacian classifier's paper, EQ the one on equivalences.  Nothing is taken in logs, so
these need few columns and samples that are not far apart.
"""

from math import gamma, pi

import numpy as np


def gaussian_window(x, y, h):
    """LC eq. (9)."""
    return np.exp(-np.sum((x - y) ** 2) / (2 * h**2)) / (2 * pi * h**2) ** (len(x) / 2)


def exponential_window(x, y, h):
    d = len(x)
    sphere = 2 * pi ** (d / 2) / gamma(d / 2)
    return np.exp(-np.linalg.norm(x - y) / h) / (sphere * gamma(d) * h**d)


def laplacian_window(x, y, h):
    return np.prod(np.exp(-abs(x - y) / h) / (2 * h))


def epanechnikov_window(x, y, h):
    d = len(x)
    ball = pi ** (d / 2) / gamma(d / 2 + 1)
    return max(0.0, 1 - np.sum((x - y) ** 2) / h**2) / (ball * 2 / (d + 2) * h**d)


WINDOWS = {
    "gaussian": gaussian_window,
    "exponential": exponential_window,
    "laplacian": laplacian_window,
    "epanechnikov": epanechnikov_window,
}


def overlap(X, Y, h_x, h_y, kernel="gaussian"):
    """EQ eqs. (20)-(22), (27), and (62) for other windows: ∫ p̂ q̂."""
    width = np.sqrt(h_x**2 + h_y**2) if kernel == "gaussian" else h_x
    window = WINDOWS[kernel]
    return sum(window(x, y, width) for x in X for y in Y) / (len(X) * len(Y))


def integrated_squared_error(X, Y, h_x, h_y, kernel="gaussian"):
    """EQ eq. (26)."""
    xx, yy = overlap(X, X, h_x, h_x, kernel), overlap(Y, Y, h_y, h_y, kernel)
    return xx - 2 * overlap(X, Y, h_x, h_y, kernel) + yy


def information_cut(X, Y, h_x, h_y, kernel="gaussian"):
    """EQ eq. (31)."""
    xx, yy = overlap(X, X, h_x, h_x, kernel), overlap(Y, Y, h_y, h_y, kernel)
    return overlap(X, Y, h_x, h_y, kernel) / np.sqrt(xx * yy)


def laplacian_information_cut(X, y, h, kernel="gaussian", density="parzen"):
    """LC eqs. (8)-(13) and (15)."""
    window = WINDOWS[kernel]
    n = len(X)
    width = np.sqrt(2) * h if kernel == "gaussian" else h
    f = np.ones(n)
    if density is not None:
        b = h if density == "parzen" else width  # (8), or the row sums of K
        f = np.array([np.mean([window(x, z, b) for z in X]) for x in X])
    K = np.array([[window(x, z, width) for z in X] for x in X])
    K_f = K / np.sqrt(np.outer(f, f))  # (11)
    classes = np.unique(y)
    inner = np.array(
        [[K_f[np.ix_(y == a, y == b)].mean() for b in classes] for a in classes]  # (12)
    )
    C = len(classes)
    kappa = sum(range(1, C))
    cosines = [
        inner[i, j] / np.sqrt(inner[i, i] * inner[j, j])
        for i in range(C - 1)
        for j in range(i + 1, C)
    ]
    return sum(cosines) / kappa  # (15)
