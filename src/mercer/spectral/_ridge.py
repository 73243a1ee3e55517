"""Least squares with an intercept and a ridge: one eigendecomposition, every ridge.

The problem throughout, with row weights p that add up to one and targets T:

    minimise  Σᵢ pᵢ ‖Tᵢ − fᵢ‖² + α ‖f‖²,   f = K a + b   or   f = Φ β + b,

where ‖f‖² is aᵀKa (the norm of the kernel's space) or βᵀβ, and the intercept b is free.
In the coordinates √p·row, the intercept is a projection on the complement of √p.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

__all__ = ["RidgeBasis", "decompose_features", "decompose_kernel"]

Array = NDArray[np.float64]

# Eigenvalues below this share of the largest are rounding errors.
_ROUNDING = 1e-14
# A kernel with an eigenvalue below minus this share of the largest is not positive.
_INDEFINITE = 1e-7


@dataclass(frozen=True)
class RidgeBasis:
    """The eigenvectors that diagonalise the problem for every ridge at once.

    Attributes
    ----------
    vectors : ndarray of shape (n_rows, rank)
        Orthonormal, and orthogonal to √p: eigenvectors of the centred, weighted Gram matrix.
    values : ndarray of shape (rank,)
        Its eigenvalues λ.
    loadings : ndarray of shape (n_coefficients, rank)
        The coefficients are loadings · (λ + α)⁻¹ · vectorsᵀ · (√p T).
    is_complete : bool
        Whether the vectors span everything but √p, so that nothing is left over.
    root : ndarray of shape (n_rows,)
        √p.
    """

    vectors: Array
    values: Array
    loadings: Array
    is_complete: bool
    root: Array

    def coefficients(self, targets: Array, alpha: float) -> Array:
        """Return a (or β), of shape (n_coefficients, n_targets)."""
        scores = self.vectors.T @ (self.root[:, None] * targets)
        return self.loadings @ (scores / (self.values + alpha)[:, None])

    def residuals(self, targets: Array, alphas: Array) -> tuple[Array, Array]:
        """Return what is left of the targets, and one minus the leverages, for every ridge.

        Parameters
        ----------
        targets : ndarray of shape (n_rows, n_targets)
            With weighted mean zero.
        alphas : ndarray of shape (n_alphas,)
            The ridges.

        Returns
        -------
        residuals : ndarray of shape (n_alphas, n_rows, n_targets)
            T − f.
        complements : ndarray of shape (n_alphas, n_rows)
            1 − hᵢᵢ, h the matrix that maps √p·T to √p·f.  Both are sums of positive parts and
            lose no digits where the fit is nearly perfect.
        """
        n_rows, n_targets = targets.shape
        weighted = self.root[:, None] * targets
        scores = self.vectors.T @ weighted
        kept = alphas[:, None] / (self.values + alphas[:, None])  # (n_alphas, rank)
        stacked = (kept[:, :, None] * scores).transpose(1, 0, 2).reshape(len(self.values), -1)
        residuals = (self.vectors @ stacked).reshape(n_rows, len(alphas), n_targets)
        complements = (self.vectors**2) @ kept.T  # (n_rows, n_alphas)
        if not self.is_complete:
            residuals += (weighted - self.vectors @ scores)[:, None, :]
            outside = 1.0 - self.root**2 - np.einsum("ij,ij->i", self.vectors, self.vectors)
            complements += np.maximum(outside, 0.0)[:, None]
        residuals /= self.root[:, None, None]
        return residuals.transpose(1, 0, 2), complements.T

    def leave_one_out(self, targets: Array, alphas: Array, counts: Array) -> tuple[Array, Array]:
        """Return f at each row from a fit without one unit of that row, and from the full fit.

        Parameters
        ----------
        targets : ndarray of shape (n_rows, n_targets)
            With weighted mean zero; they, the other rows' weights and α stay as they are.
        alphas : ndarray of shape (n_alphas,)
            The ridges.
        counts : ndarray of shape (n_rows,)
            How many units a row stands for: one unit (or all, where that is less) is left out.

        Returns
        -------
        left_out, fitted : ndarray of shape (n_alphas, n_rows, n_targets)
        """
        residuals, complements = self.residuals(targets, alphas)
        share = np.minimum(1.0, counts) / counts  # of the row's weight that is left out
        # Sherman and Morrison: T − f₋ᵢ = (T − f) / (1 − share·h)
        left = (1.0 - share) + share * complements
        left = np.maximum(left, np.finfo(float).tiny)
        return targets - residuals / left[:, :, None], targets - residuals


def decompose_kernel(K: Array, p: Array) -> RidgeBasis:
    """Diagonalise the problem for a kernel matrix.

    Parameters
    ----------
    K : ndarray of shape (n_rows, n_rows)
        Symmetric, positive semi-definite.
    p : ndarray of shape (n_rows,)
        Positive weights that add up to one.

    Raises
    ------
    ValueError
        If K has an eigenvalue that is clearly negative.
    """
    root = np.sqrt(p)
    normal = _reflector(root)
    A = root[:, None] * K * root
    # H A H with H = I − 2 normal normalᵀ: √p becomes the first axis, and is dropped.
    image = A @ normal
    image -= (normal @ image) * normal
    A -= 2.0 * np.outer(normal, image)
    A -= 2.0 * np.outer(image, normal)
    values, reduced = eigh(A[1:, 1:], driver="evd", overwrite_a=True, check_finite=False)
    if values.size and values[0] < -_INDEFINITE * max(abs(values[-1]), np.trace(K) / len(K) * 1e-9):
        raise ValueError(
            "the kernel matrix is not positive semi-definite: its smallest eigenvalue is "
            f"{values[0] / values[-1]:.2g} of the largest"
        )
    vectors = np.empty((len(p), len(values)))
    vectors[0] = 0.0
    vectors[1:] = reduced
    vectors -= 2.0 * np.outer(normal, normal[1:] @ reduced)
    values = np.maximum(values, 0.0)
    return RidgeBasis(vectors, values, root[:, None] * vectors, True, root)


def decompose_features(features: Array, p: Array) -> RidgeBasis:
    """Diagonalise the problem for a matrix of features, of shape (n_rows, n_features)."""
    root = np.sqrt(p)
    design = root[:, None] * (features - p @ features)
    values, axes = eigh(design.T @ design, driver="evd", overwrite_a=True, check_finite=False)
    good = values > _ROUNDING * max(values[-1], 0.0)
    values, axes = values[good], axes[:, good]
    lengths = np.sqrt(values)
    return RidgeBasis(design @ (axes / lengths), values, axes * lengths, False, root)


def _reflector(unit: Array) -> Array:
    """Return the unit normal of a mirror that sends this unit vector to ± the first axis."""
    normal = unit.copy()
    normal[0] += np.copysign(1.0, unit[0])
    return np.asarray(normal / np.linalg.norm(normal))
