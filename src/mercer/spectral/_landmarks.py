"""Landmarks: a few rows that stand for all, and the feature map that they span."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._linalg import add_to_diagonal, cholesky, solve_triangular

__all__ = ["LandmarkMap", "stratified_rows"]

Array = Any

# Added to the diagonal of the landmarks' kernel, relative to its mean.
_JITTER = 1e-10


class LandmarkMap:
    """The map Φ = K(·, S) R⁻¹ with K(S, S) = RᵀR: inner products in the span of the landmarks.

    Parameters
    ----------
    K : array of shape (n_landmarks, n_landmarks)
        Kernel of the landmarks with themselves: a NumPy array or a torch tensor.
    """

    def __init__(self, K: Array) -> None:
        mean = float(array_namespace(K).linalg.trace(K)) / K.shape[0]
        jitter = _JITTER * (1.0 if mean <= 0 else mean)
        for _ in range(8):  # a matrix of low rank may need more
            self.factor = cholesky(add_to_diagonal(K, jitter), lower=False)
            if self.factor is not None:
                return
            jitter *= 10.0
        raise ValueError(
            "the kernel matrix of the landmarks is not positive semi-definite: take a Mercer "
            "kernel, or penalty='coef'."
        )

    def features(self, K: Array) -> Array:
        """Return Φ for K(rows, landmarks)."""
        return solve_triangular(self.factor, K.T, lower=False, transposed=True).T

    def dual(self, beta: Array) -> Array:
        """Return a such that K(·, S) a = Φ β."""
        return solve_triangular(self.factor, beta, lower=False)


def stratified_rows(
    groups: NDArray[np.integer], size: int, power: float, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw row numbers, sorted, so that a group of n rows gets a share ∝ n^power.

    No group gets more than it has, and what it cannot take goes to the others; every group with
    rows gets at least one where `size` allows it.  All rows are returned if `size` covers them.

    Parameters
    ----------
    groups : ndarray of int of shape (n,)
        The group of each row, from 0 on.
    size : int
        How many rows.
    power : float
        1 keeps the shares of the groups, 0 makes them equal.
    rng : RandomState
        For the draws.

    Returns
    -------
    ndarray of int
        Sorted row numbers.
    """
    n_rows = len(groups)
    if size >= n_rows:
        return np.arange(n_rows)
    counts = np.bincount(groups)
    quotas = _quotas(counts, size, power)
    order = rng.permutation(n_rows)
    by_group = order[np.argsort(groups[order], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    parts = [by_group[a : a + q] for a, q in zip(starts, quotas, strict=True)]
    return np.sort(np.concatenate(parts))


def _quotas(counts: NDArray[np.integer], size: int, power: float) -> NDArray[np.intp]:
    """Share out `size` in proportion to counts**power, within the counts."""
    wish = np.where(counts > 0, np.maximum(counts, 1).astype(float) ** power, 0.0)
    quotas = np.zeros(len(counts))
    open_ = counts > 0
    while open_.any():
        rest = size - quotas[~open_].sum()
        share = np.where(open_, wish / wish[open_].sum() * rest, quotas)
        full = open_ & (share >= counts)
        quotas = np.where(open_, np.minimum(share, counts), quotas)
        if not full.any():
            break
        open_ &= ~full
    whole = np.floor(quotas).astype(np.intp)
    whole[(counts > 0) & (whole == 0)] = 1
    while whole.sum() > size and whole.max() > 1:  # what small groups got, the largest give back
        whole[np.argmax(np.where(whole > 1, whole - quotas, -np.inf))] -= 1
    by_remainder = np.argsort(-(quotas - np.floor(quotas)), kind="stable")
    for group in by_remainder:
        if whole.sum() >= size:
            break
        whole[group] += int(whole[group] < counts[group])
    return whole
