"""Dask arrays for tests, and what workers must be able to import."""

import time

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

MEMORY_LIMIT = 500 * 2**20  # of a worker of the tests' cluster


def cut(A, sizes=None):
    """Return A as a Dask array, cut by rows into uneven blocks, one of them of one row."""
    da = pytest.importorskip("dask.array")
    n = len(A)
    if sizes is None:
        sizes = (n // 3, 0, 1, n - n // 3 - 1)
    return da.from_array(A, chunks=(sizes, *A.shape[1:]))


def cut_elsewhere(A):
    """Return A as a Dask array, cut into blocks of other sizes."""
    return cut(A, (len(A) // 2, len(A) - len(A) // 2))


def labelled(n=150, n_classes=3, n_features=2, *, seed=0, dtype=np.float64):
    """Return rows and labels, sorted in part, so that blocks lack classes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n)
    codes[: n // 3] = np.sort(codes[: n // 3])
    codes[: n // 6] = 0
    X = (rng.normal(size=(n, n_features)) + 1.3 * codes[:, None]).astype(dtype)
    return X, np.array([f"class {c}" for c in range(n_classes)])[codes]


def slowly(block):
    """Return a block after a while."""
    time.sleep(0.05)
    return block


def wide_rows(numbers, n_features):
    """Make rows of 16 columns from their numbers."""
    a = (numbers[:, None] * np.array([1.0, 7.0, 13.0, 29.0])[:n_features]) % 101 / 101
    return np.repeat(a, 4, axis=1)


def most_memory():
    """Return the most bytes that this process has had."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Slow(GaussianNB):
    """Takes four seconds to fit."""

    def fit(self, X, y):
        time.sleep(4)
        return super().fit(X, y)
