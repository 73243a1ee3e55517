"""Shapley values of sums of products: integrals along the diagonal between two rows."""

import numpy as np

from mercer._arrays import FloatArray

# So many rows of the background make a task for one core.
_ROWS_AT_ONCE = 8


def diagonal_shares(u: FloatArray, w: FloatArray, coef: FloatArray) -> FloatArray:
    """Return what each factor adds to Σⱼ aⱼ Π_g w_bgj on the way to Σⱼ aⱼ Π_g u_gj.

    That is the Shapley value of the game v(S) = Σⱼ aⱼ Π_{g∈S} u_gj Π_{g∉S} w_bgj, the integral of
    the derivative of its multilinear extension along the diagonal:

        ∫₀¹ Σⱼ aⱼ (u_gj − w_bgj) Π_{l≠g} (t·u_lj + (1 − t)·w_blj) dt.

    The integrand is a polynomial of degree G − 1 in t for G factors, for which ⌈G/2⌉ nodes of Gauss
    and Legendre are exact.  Nothing is divided by: what underflows is nothing.

    Parameters
    ----------
    u : ndarray of shape (G, n)
        Factors between 0 and 1.
    w : ndarray of shape (B, G, n)
        Factors of other rows, between 0 and 1.
    coef : ndarray of shape (n,)
        The aⱼ.

    Returns
    -------
    ndarray of shape (B, G)
        In about 10·B·G·⌈G/2⌉·n operations of compiled code.
    """
    from mercer.sums.cpu._share_loops import add_diagonal_shares
    from mercer.sums.cpu._threads import run_all

    nodes, weights = np.polynomial.legendre.leggauss((len(u) + 1) // 2)
    nodes, weights = (nodes + 1) / 2, weights / 2
    u, w, coef = (np.ascontiguousarray(A, dtype=np.float64) for A in (u, w, coef))
    out = np.zeros(w.shape[:2])

    def add(first: int) -> None:
        last = min(first + _ROWS_AT_ONCE, len(w))
        add_diagonal_shares(u, w, coef, nodes, weights, first, last, out)

    run_all(add, [(first,) for first in range(0, len(w), _ROWS_AT_ONCE)])
    return out
