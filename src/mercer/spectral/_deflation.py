"""Deflation: what is left of a regularised linear problem orthogonal to a direction.

Rows F of shape (n, r) and the penalty ‖w‖²_A = wᵀAw with A = I + λS turn into a plain problem by
A⁻¹ = RRᵀ: with G = FR and w = Rv, fᵀw = gᵀv and wᵀAw = vᵀv.  Restricting w to the complement of a
direction w̃ is one rank-one change of G and R:

    r = Rᵀw̃/‖Rᵀw̃‖,    G ← G − (Gr)rᵀ,    R ← R − (Rr)rᵀ.

The same step on matrices of n × n, K = FFᵀ and M = GGᵀ, loses digits every time it is taken.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from mercer._arrays import FloatArray
from mercer._linalg import cholesky, lapack_threads, solve_triangular


@dataclass
class Whitened:
    """Rows and directions in coordinates where the penalty is the plain norm.

    Attributes
    ----------
    G : ndarray of shape (n, r)
        The rows, G = FR.
    R : ndarray of shape (r, r)
        From these coordinates back to directions: w = Rv.
    """

    G: FloatArray
    R: FloatArray

    def direction(self, v: FloatArray, found: FloatArray) -> tuple[FloatArray, float]:
        """Return the unit vector w̃ = Rv/‖Rv‖, orthogonal to the columns `found`, and ‖Rv‖."""
        w = self.R @ v
        length = float(np.linalg.norm(w))
        w -= found @ (found.T @ w)  # removes what rounding has left of them
        return w / np.linalg.norm(w), length

    def deflate(self, w: FloatArray) -> FloatArray:
        """Remove the direction w from G and R; return Gr, so that M falls by (Gr)(Gr)ᵀ."""
        r = self.R.T @ w
        r /= np.linalg.norm(r)
        lost: FloatArray = self.G @ r
        self.G -= np.outer(lost, r)
        self.R -= np.outer(self.R @ r, r)
        return lost


def whiten(F: FloatArray, S: FloatArray, weight: float) -> Whitened:
    """Return coordinates for the penalty A = I + weight·S by one Cholesky factor.

    Parameters
    ----------
    F : ndarray of shape (n, r)
        Coordinates of the rows.
    S : ndarray of shape (r, r)
        The penalty in these coordinates; not looked at where the weight is zero.
    weight : float
        Of the penalty.

    Returns
    -------
    Whitened
        The rows in coordinates where the penalty is the identity, and the way back.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.spectral import whiten
    >>> whiten(np.eye(2), np.diag([3.0, 0.0]), 1.0).G
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    if weight == 0.0:
        return Whitened(F.copy(), np.eye(F.shape[1]))
    A = np.eye(F.shape[1]) + weight * S
    L = cholesky(A, lower=True)  # A = LLᵀ, R = L⁻ᵀ
    if L is None:  # S is so large that I is lost in its rounding.
        return PenaltyPath(F, S).at(weight)
    R = solve_triangular(L, np.eye(len(A)), lower=True).T
    return Whitened(F @ R, np.ascontiguousarray(R))


class PenaltyPath:
    """`whiten` for many weights: one eigendecomposition S = UΓUᵀ, then R = U(I + weight·Γ)^(−½).

    >>> import numpy as np
    >>> from mercer.spectral import PenaltyPath, whiten
    >>> F, S = np.arange(6.0).reshape(3, 2), np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> one, two = PenaltyPath(F, S).at(7.0), whiten(F, S, 7.0)
    >>> bool(np.allclose(one.G @ one.G.T, two.G @ two.G.T))
    True
    """

    def __init__(self, F: FloatArray, S: FloatArray) -> None:
        with lapack_threads(S):
            gamma, self._axes = linalg.eigh(S, check_finite=False)
        self._gamma = np.maximum(gamma, 0.0)
        self._rotated = F @ self._axes

    def at(self, weight: float) -> Whitened:
        """Return the coordinates for this weight."""
        shrink = 1.0 / np.sqrt(1.0 + weight * self._gamma)
        return Whitened(self._rotated * shrink, self._axes * shrink)
