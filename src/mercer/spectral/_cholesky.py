"""Factors of a positive semidefinite matrix: K ≈ FFᵀ, whole or from a few of its columns."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from mercer._arrays import FloatArray

_NO_FACTOR = (
    "The kernel is 0 for all rows: a kernel matrix without positive diagonal has no factor."
)


def pivoted_cholesky(K: FloatArray) -> FloatArray:
    """Factor a positive semidefinite matrix to its numerical rank: K = FFᵀ, F of shape (n, r).

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric; ValueError if it is negative beyond rounding.

    Returns
    -------
    ndarray of shape (n, r)
        The factor F.

    Notes
    -----
    LAPACK's pivoted Cholesky, n·r² − … ≤ n³/3 products.  It stops where no pivot is
    above n·eps·max(diag K); what is left is smaller than that everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.spectral import pivoted_cholesky
    >>> F = pivoted_cholesky(np.array([[4.0, 2.0], [2.0, 1.0]]))
    >>> F
    array([[2.],
           [1.]])
    """
    n = K.shape[0]
    top = float(np.max(np.diag(K), initial=0.0))
    factor, pivots, rank, _ = linalg.lapack.dpstrf(
        np.asarray(K, dtype=np.float64), lower=1, tol=n * np.finfo(np.float64).eps * top
    )
    if top <= 0 or rank == 0:
        raise ValueError(_NO_FACTOR)
    F = np.zeros((n, int(rank)))
    F[pivots - 1] = np.tril(factor)[:, :rank]
    worst = float((np.diag(K) - np.einsum("ij,ij->i", F, F)).min())
    if worst < -1e-8 * top:
        raise ValueError("The kernel matrix is not positive semidefinite: choose a Mercer kernel.")
    return F


def partial_cholesky(
    diagonal: FloatArray,
    column: Callable[[int], FloatArray],
    n_columns: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, NDArray[np.intp]]:
    """Factor K ≈ FFᵀ from a few columns, chosen at random by what is still unexplained.

    Each pivot is drawn with a probability proportional to the residual of the diagonal
    ("randomly pivoted Cholesky"), which neither clings to outliers, as the greatest residual
    does, nor forgets rare regions, as uniform draws do.

    Parameters
    ----------
    diagonal : ndarray of shape (n,)
        Of K.
    column : callable
        Called as column(i), it returns K[:, i].
    n_columns : int
        How many; fewer where the residual vanishes before.
    rng : Generator
        For the draws.

    Returns
    -------
    F : ndarray of shape (n, m)
        On the rows `pivots`, K = FFᵀ exactly, and F[pivots] is lower triangular.
    pivots : ndarray of shape (m,)
        The rows drawn, in their order.

    References
    ----------
    Y. Chen, E. N. Epperly, J. A. Tropp and R. J. Webber, "Randomly pivoted Cholesky",
    Communications on Pure and Applied Mathematics 78 (2025), doi:10.1002/cpa.22234.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.spectral import partial_cholesky
    >>> K = np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 9.0]])
    >>> F, pivots = partial_cholesky(K.diagonal(), lambda i: K[:, i], 3, np.random.default_rng(0))
    >>> F.shape, bool(np.allclose(F @ F.T, K))
    ((3, 2), True)
    """
    n = len(diagonal)
    residual = np.array(diagonal, dtype=np.float64)
    F = np.zeros((n, min(n_columns, n)), order="F")
    pivots: list[int] = []
    # Pivots below this share of the largest entry would make F[pivots] too hard to invert.
    floor = 1e-11 * residual.max()
    for k in range(F.shape[1]):
        residual[residual < floor] = 0.0
        total = residual.sum()
        if total <= 0:
            break
        i = int(rng.choice(n, p=residual / total))
        new = column(i) - F[:, :k] @ F[i, :k]
        F[:, k] = new / np.sqrt(new[i])
        residual -= F[:, k] ** 2
        residual[i] = 0.0
        pivots.append(i)
    m = len(pivots)
    if m == 0:
        raise ValueError(_NO_FACTOR)
    rows = np.array(pivots, dtype=np.intp)
    F[rows, :m] = np.tril(F[rows, :m])  # zeros where rounding left some 1e-17
    return F[:, :m], rows
