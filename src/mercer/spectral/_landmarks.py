"""Landmarks: a few rows that stand for all, and the feature map that they span."""

from array_api_compat import array_namespace

from mercer._arrays import Array
from mercer._linalg import add_to_diagonal, cholesky, solve_triangular

__all__ = ["LandmarkMap"]


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
            "The kernel matrix of the landmarks is not positive semi-definite: take a Mercer "
            "kernel, or penalty='coef'."
        )

    def features(self, K: Array) -> Array:
        """Return Φ for K(rows, landmarks)."""
        return solve_triangular(self.factor, K.T, lower=False, transposed=True).T

    def dual(self, beta: Array) -> Array:
        """Return a such that K(·, S) a = Φ β."""
        return solve_triangular(self.factor, beta, lower=False)
