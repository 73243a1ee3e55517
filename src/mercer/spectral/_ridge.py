"""Least squares with an intercept and a ridge: by eigenvectors every ridge, by Cholesky one.

The problem throughout, with row weights p that add up to one and targets T:

    minimise  Σᵢ pᵢ ‖Tᵢ − fᵢ‖² + α ‖f‖²,   f = K a + b   or   f = Φ β + b,

where ‖f‖² is aᵀKa (the norm of the kernel's space) or βᵀβ, and the intercept b is free.
In the coordinates √p·row, the intercept is a projection on the complement of √p.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array

from mercer._arrays import Array, like
from mercer._linalg import cholesky, eigh, invert_triangular

# Eigenvalues below this share of the largest are rounding errors.
_ROUNDING = 1e-14
# Eigenvalues of a kernel below this share of its trace are taken to be zero.
_ZERO = 1e-15
# Errors of left-out rows are clipped to this size, in units of the targets.
_MOST_ERROR = 1e100
# With more features than this share of the rows, their residuals are mostly rounding.
_NEARLY_ALL = 0.85
# A kernel with an eigenvalue below minus this share of the largest is not positive.
_INDEFINITE = 1e-7


class RidgeSolution(ABC):
    """What is known of the problem once its matrix is decomposed."""

    @abstractmethod
    def coefficients(self, targets: Array, alpha: float) -> Array:
        """Return a (or β), of shape (n_coefficients, n_targets)."""

    @abstractmethod
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

    def leave_one_out(self, targets: Array, alphas: Array, share: Array) -> tuple[Array, Array]:
        """Return f at each row from a fit without (part of) that row, and from the full fit.

        Parameters
        ----------
        targets : ndarray of shape (n_rows, n_targets)
            With weighted mean zero; they, the other rows' weights and α stay as they are.
        alphas : ndarray of shape (n_alphas,)
            The ridges.
        share : ndarray of shape (n_rows,)
            Share of each row's weight that is left out, 1 for all of it.

        Returns
        -------
        left_out, fitted : ndarray of shape (n_alphas, n_rows, n_targets)
        """
        residuals, complements = self.residuals(targets, alphas)
        xp = array_namespace(share)
        # Sherman and Morrison: T − f₋ᵢ = (T − f) / (1 − share·h)
        left = (1.0 - share) + share * complements
        left = xp.maximum(left, np.finfo(float).tiny)
        # For a row with nearly all of the weight it is rounding, whose squares must be finite.
        errors = xp.clip(residuals / left[:, :, None], -_MOST_ERROR, _MOST_ERROR)
        return targets - errors, targets - residuals


@dataclass(frozen=True)
class RidgeBasis(RidgeSolution):
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
        return self.loadings @ (scores * self._shrunk(alpha)[:, None])

    def target_weights(self, features: Array, alpha: float) -> Array:
        """Return the weight of each row's target in f at new rows; see `RidgeFactor`."""
        scores = (features @ self.loadings) * self._shrunk(alpha)
        return scores @ (self.root[:, None] * self.vectors).T

    def _shrunk(self, alpha: float) -> Array:
        """Return 1/(λ + α); a direction of eigenvalue zero gets no coefficients."""
        return array_namespace(self.values).where(self.values <= 0, 0.0, 1 / (self.values + alpha))

    def residuals(self, targets: Array, alphas: Array) -> tuple[Array, Array]:
        """Return residuals and one minus the leverages, for every ridge."""
        xp = array_namespace(targets)
        alphas = like(alphas, targets)
        n_rows, n_targets = targets.shape
        weighted = self.root[:, None] * targets
        scores = self.vectors.T @ weighted
        kept = alphas[:, None] / (self.values + alphas[:, None])  # (n_alphas, rank)
        stacked = xp.permute_dims(kept[:, :, None] * scores, (1, 0, 2))
        stacked = xp.reshape(stacked, (self.values.shape[0], alphas.shape[0] * n_targets))
        residuals = xp.reshape(self.vectors @ stacked, (n_rows, alphas.shape[0], n_targets))
        complements = (self.vectors**2) @ kept.T  # (n_rows, n_alphas)
        if not self.is_complete:
            residuals += (weighted - self.vectors @ scores)[:, None, :]
            outside = 1.0 - self.root**2 - xp.vecdot(self.vectors, self.vectors)
            complements += xp.maximum(outside, 0.0)[:, None]
        residuals /= self.root[:, None, None]
        return xp.permute_dims(residuals, (1, 0, 2)), complements.T


@dataclass(frozen=True)
class RidgeFactor(RidgeSolution):
    """The inverse that solves the problem for one ridge.

    With A the weighted Gram matrix, A + αI = LLᵀ and g = L⁻¹√p as a unit vector, the inverse on the
    complement of √p is P = L⁻ᵀ(I − ggᵀ)L⁻¹: residuals are αP(√p T), leverages 1 − αPᵢᵢ.

    Attributes
    ----------
    inverse : array of shape (n_rows, n_rows)
        L⁻¹.
    normal : array of shape (n_rows,)
        g.
    alpha : float
        The ridge.
    root : array of shape (n_rows,)
        √p.
    """

    inverse: Array
    normal: Array
    alpha: float
    root: Array

    def coefficients(self, targets: Array, alpha: float) -> Array:
        """Return a, of shape (n_rows, n_targets), for the one ridge."""
        self._check(alpha)
        return self.root[:, None] * self._apply(self.root[:, None] * targets)

    def target_weights(self, features: Array, alpha: float) -> Array:
        """Return the weight of each row's target in f at new rows, but for the targets' mean.

        Parameters
        ----------
        features : array of shape (n_new, n_coefficients)
            Kernels of new rows, or their features, less their weighted mean over the fitted rows.
        alpha : float
            The ridge.

        Returns
        -------
        array of shape (n_new, n_rows)
            f is this times the targets, which have weighted mean zero.
        """
        return self.coefficients(features.T, alpha).T

    def residuals(self, targets: Array, alphas: Array) -> tuple[Array, Array]:
        """Return residuals and one minus the leverages; `alphas` holds the one ridge."""
        (alpha,) = alphas
        self._check(float(alpha))
        left = self.alpha * self._apply(self.root[:, None] * targets) / self.root[:, None]
        return left[None, :, :], (self.alpha * self.diagonal())[None, :]

    def diagonal(self) -> Array:
        """Return the diagonal of P."""
        xp = array_namespace(self.inverse)
        lost = (self.normal @ self.inverse) ** 2
        if is_numpy_array(self.inverse):
            return np.einsum("ij,ij->j", self.inverse, self.inverse) - lost
        return xp.sum(self.inverse**2, axis=0) - lost

    def matrix(self) -> Array:
        """Return P in full."""
        half = self.inverse - self.normal[:, None] * (self.normal @ self.inverse)
        return half.T @ half

    def _apply(self, values: Array) -> Array:
        half = self.inverse @ values
        half = half - self.normal[:, None] * (self.normal @ half)
        return self.inverse.T @ half

    def _check(self, alpha: float) -> None:
        if alpha != self.alpha:
            raise ValueError(f"This factor is for the ridge {self.alpha}, not {alpha}.")


@dataclass(frozen=True)
class RidgeAnswer(RidgeSolution):
    """The solution of the problem for one ridge and one set of targets, however it was found.

    Attributes
    ----------
    targets : array of shape (n_rows, n_targets)
        With weighted mean zero.
    solution : array of shape (n_rows, n_targets)
        P(√p T), P as in `RidgeFactor`.
    complements : array of shape (n_rows,)
        αPᵢᵢ: one minus the leverages.
    alpha : float
        The ridge.
    root : array of shape (n_rows,)
        √p.
    """

    targets: Array
    solution: Array
    complements: Array
    alpha: float
    root: Array

    def coefficients(self, targets: Array, alpha: float) -> Array:
        """Return a, of shape (n_rows, n_targets), for the ridge and the targets that it has."""
        self._check(targets, alpha)
        return self.root[:, None] * self.solution

    def residuals(self, targets: Array, alphas: Array) -> tuple[Array, Array]:
        """Return residuals and one minus the leverages; `alphas` holds the one ridge."""
        (alpha,) = alphas
        self._check(targets, float(alpha))
        left = self.alpha * self.solution / self.root[:, None]
        return left[None, :, :], self.complements[None, :]

    def _check(self, targets: Array, alpha: float) -> None:
        if alpha != self.alpha or targets.shape != self.targets.shape:
            raise ValueError(f"This answer is for the ridge {self.alpha} and other targets.")


def decompose_kernel(K: Array, p: Array) -> RidgeBasis:
    """Diagonalise the problem for a kernel matrix.

    Parameters
    ----------
    K : ndarray of shape (n_rows, n_rows)
        Symmetric, positive semi-definite.
    p : ndarray of shape (n_rows,)
        Positive weights that add up to one.

    Returns
    -------
    RidgeBasis
        From which the answer for any ridge is a product.

    Raises
    ------
    ValueError
        If K has an eigenvalue that is clearly negative.
    """
    xp = array_namespace(K)
    root = xp.sqrt(p)
    normal = _reflector(root)
    A = root[:, None] * K * root
    # H A H with H = I − 2 normal normalᵀ: √p becomes the first axis, and is dropped.
    image = A @ normal
    image -= (normal @ image) * normal
    A -= 2.0 * (normal[:, None] * image)
    A -= 2.0 * (image[:, None] * normal)
    size = float(xp.linalg.trace(A))  # before centring
    values, reduced = eigh(A[1:, 1:])
    _check_positive(values, _ROUNDING * size * K.shape[0])
    vectors = xp.concat([xp.zeros_like(A[:1, 1:]), reduced])
    vectors -= 2.0 * (normal[:, None] * (normal[1:] @ reduced))
    values = xp.where(values <= _ZERO * size, 0.0, values)
    return RidgeBasis(vectors, values, root[:, None] * vectors, True, root)


def factor_kernel(K: Array, p: Array, alpha: float) -> RidgeFactor | None:
    """Solve the problem for one ridge only, in a tenth of the time; None if K is not positive.

    Parameters
    ----------
    K : array of shape (n_rows, n_rows)
        Symmetric, positive semi-definite.
    p : array of shape (n_rows,)
        Positive weights that add up to one.
    alpha : float
        The ridge.

    Returns
    -------
    RidgeFactor or None
        It answers for this one ridge.  Beside K, it takes the memory of one such matrix.
    """
    xp = array_namespace(K)
    root = xp.sqrt(p)
    A = root[:, None] * K
    A *= root
    at = xp.arange(A.shape[0], device=device(A))
    A[at, at] += alpha
    factor = cholesky(A, lower=True, overwrite=True)
    if factor is None:
        return None
    inverse = invert_triangular(factor)
    g = inverse @ root
    return RidgeFactor(inverse, g / xp.linalg.vector_norm(g), alpha, root)


def decompose_features(features: Array, p: Array) -> RidgeBasis:
    """Diagonalise the problem for a matrix of features.

    Parameters
    ----------
    features : array of shape (n_rows, n_features)
        Features of the rows.
    p : array of shape (n_rows,)
        Positive weights that add up to one.

    Returns
    -------
    RidgeBasis
        From which the answer for any ridge is a product.

    Notes
    -----
    With nearly as many features as rows, residuals and leave-one-out would be mere rounding.  Then
    singular vectors are computed that span all rows but √p, so that nothing is left over.
    """
    xp = array_namespace(features)
    root = xp.sqrt(p)
    design = root[:, None] * (features - p @ features)
    if features.shape[1] > _NEARLY_ALL * features.shape[0] > 1:
        return _decompose_wide(design, root)
    values, axes = eigh(design.T @ design)
    largest = float(values[-1]) if values.shape[0] else 0.0
    good = ~(values <= _ROUNDING * max(largest, 0.0))  # NaN is kept
    values, axes = values[good], axes[:, good]
    lengths = xp.sqrt(values)
    return RidgeBasis(design @ (axes / lengths), values, axes * lengths, False, root)


def _decompose_wide(design: Array, root: Array) -> RidgeBasis:
    """Diagonalise √p·(features about their mean) by singular vectors of all that is not √p."""
    xp, normal = array_namespace(design), _reflector(root)
    turned = (design - 2.0 * (normal[:, None] * (normal @ design)))[1:, :]  # without √p
    n_left, n_features = turned.shape
    left, lengths, right = xp.linalg.svd(turned, full_matrices=n_features < n_left)
    vectors = xp.concat([xp.zeros_like(left[:1, :]), left])
    vectors -= 2.0 * (normal[:, None] * (normal[1:] @ left))
    rank = lengths.shape[0]
    loadings = xp.zeros((n_features, n_left), dtype=xp.float64, device=device(design))
    loadings[:, :rank] = right[:rank, :].T * lengths
    values = xp.zeros(n_left, dtype=xp.float64, device=device(design))
    values[:rank] = lengths**2
    return RidgeBasis(vectors, values, loadings, True, root)


def _check_positive(values: Array, rounding: float) -> None:
    """Raise ValueError if the first of ascending eigenvalues is clearly negative."""
    if values.shape[0] == 0:
        return
    least, most = float(values[0]), float(values[-1])
    if least < -max(_INDEFINITE * abs(most), rounding):
        raise ValueError(
            "The kernel matrix is not positive semi-definite: its smallest eigenvalue is "
            f"{least:.2g}, the largest {most:.2g}; penalty='coef' takes such a kernel."
        )


def _reflector(unit: Array) -> Array:
    """Return the unit normal of a mirror that sends this unit vector to ± the first axis."""
    xp = array_namespace(unit)
    normal = xp.asarray(unit, copy=True)
    normal[0] += 1.0 if float(unit[0]) >= 0 else -1.0
    return normal / xp.linalg.vector_norm(normal)
