"""Generated tables: ten classes of many Gaussians, TorchKM's two classes.  For bench_full.py."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

N_CLASSES = 10
N_GAUSSIANS = 30  # of a class
SPREAD = 1.2  # of their centres; the rows' own is 1
SLAB = 100_000  # rows that are drawn at a time


@dataclass
class Table:
    """Training and test rows in float32, their classes, and the best accuracy that is possible."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    best: float = float("nan")


def mixture(n_rows: int, n_test: int, n_features: int = 16) -> Table:
    """Return rows of ten classes, each a mixture of 30 Gaussians about random centres.

    With so many centres, more rows and more nodes go on improving a model for long.
    """
    rng = np.random.default_rng(0)
    centres = SPREAD * rng.standard_normal((N_CLASSES * N_GAUSSIANS, n_features))
    # Test rows come first, so that they do not change with the number of training rows.
    which = rng.integers(0, len(centres), n_test + n_rows)
    X = centres[which].astype(np.float32)
    for start in range(0, len(X), SLAB):
        part = X[start : start + SLAB]
        part += rng.standard_normal(part.shape, dtype=np.float32)
    y = which % N_CLASSES
    best = np.mean(_most_probable(X[:n_test], centres) == y[:n_test])
    return Table(X[n_test:], y[n_test:], X[:n_test], y[:n_test], float(best))


def _most_probable(X, centres):
    """Return the class of the largest density, a sum over the class's Gaussians."""
    X = X.astype(float)
    squares = (X**2).sum(1)[:, None] + (centres**2).sum(1) - 2 * X @ centres.T
    by_class = [logsumexp(-squares[:, c::N_CLASSES] / 2, axis=1) for c in range(N_CLASSES)]
    return np.argmax(by_class, axis=0)


def two_classes(n_rows: int, n_test: int, n_features: int) -> Table:
    """Return rows as the benchmark of the TorchKM paper draws them (its Table 2).

    Each of two classes has five clusters, whose centres are standard normal plus 2 on one half
    of the features, another half for each class.  Rows have a standard deviation of 3 about them.
    Columns are standardised; here with the moments of the training rows for the test rows too.
    """
    rng = np.random.default_rng(42)
    centres = rng.standard_normal((2, 5, n_features))
    half = n_features // 2
    centres[0, :, :half] += 2
    centres[1, :, half:] += 2
    y = rng.integers(0, 2, n_rows + n_test)
    which = rng.integers(0, 5, len(y))
    X = 3 * rng.standard_normal((len(y), n_features), dtype=np.float32)
    X += centres[y, which].astype(np.float32)
    X -= X[:n_rows].mean(0)
    X /= X[:n_rows].std(0)
    return Table(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])
