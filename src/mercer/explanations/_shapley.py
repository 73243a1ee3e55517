"""Shares of columns for one row, exact: Shapley values of a sum of product kernels.

A game among groups of columns: where a group plays, a row of the background has its values from the
row that is explained, elsewhere its own.  For Σⱼ aⱼ Π_g κ_g with factors u_gj = κ_g(x, xⱼ) of the
row and w_gj = κ_g(b, xⱼ) of the background, the game's multilinear extension is a product, and its
Shapley value for a group g is an integral along the diagonal [1]_:

    φ_g = ∫₀¹ Σⱼ aⱼ (u_gj − w_gj) Π_{l≠g} (t·u_lj + (1 − t)·w_lj) dt.

The integrand is a polynomial of degree G − 1 in t for G groups, for which ⌈G/2⌉ nodes of Gauss and
Legendre are exact.  Nothing is divided by, and factors lie between 0 and 1, so that nothing
overflows and what underflows is nothing.

References
----------
.. [1] G. Owen (1972). Multilinear extensions of games. Management Science 18(5), 64-79.
"""

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import FloatArray
from mercer.kernels import KernelFunction

# A group's factors of some pairs of terms and background rows: so many numbers stay in the cache.
_PAIRS_AT_ONCE = 2**13
# Kernels that are products over columns, and the power of the difference in their exponent.
_POWERS = {"rbf": 2, "laplacian": 1}


def is_product(kernel: KernelFunction) -> bool:
    """Tell whether a kernel is a product over columns of what depends on one column each."""
    return isinstance(kernel.kernel, str) and kernel.kernel in _POWERS


def group_factors(
    kernel: KernelFunction, row: FloatArray, terms: FloatArray, groups: NDArray[np.intp]
) -> FloatArray:
    """Return the factor of each group of columns in the kernels of a row with terms.

    Parameters
    ----------
    kernel : KernelFunction
        A product over columns.
    row : ndarray of shape (n_columns,)
    terms : ndarray of shape (n_terms, n_columns)
    groups : ndarray of int of shape (n_columns,)
        The number of each column's group.

    Returns
    -------
    ndarray of shape (n_groups, n_terms)
        Between 0 and 1.
    """
    power = _POWERS[str(kernel.kernel)]
    differences = np.abs(kernel.scaled(row) - kernel.scaled(terms)) ** power
    out = np.zeros((int(groups.max()) + 1, len(terms)))
    for column, group in enumerate(groups):
        out[group] += differences[:, column]
    return np.exp(-kernel.gamma * out)


def diagonal_nodes(degree: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights that integrate polynomials of this degree over [0, 1] exactly."""
    nodes, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    return (nodes + 1) / 2, weights / 2


def product_shares(u: FloatArray, w: FloatArray, coef: FloatArray) -> FloatArray:
    """Return the Shapley value of each group, against each row of the background.

    Parameters
    ----------
    u : ndarray of shape (n_groups, n_terms)
        Factors of the row that is explained.
    w : ndarray of shape (n_background, n_groups, n_terms)
        Factors of the background.
    coef : ndarray of shape (n_terms,)
        Coefficients of the terms.

    Returns
    -------
    ndarray of shape (n_background, n_groups)
        Each line adds up to the score of the row less that of the background row.
    """
    n_background, n_groups, n_terms = w.shape
    nodes, weights = diagonal_nodes(n_groups - 1)
    out = np.zeros((n_background, n_groups))
    step = max(1, _PAIRS_AT_ONCE // n_terms)
    for start in range(0, n_background, step):
        part = w[start : start + step].transpose(1, 0, 2)
        change = u[:, None, :] - part
        others = np.empty_like(change)
        for t, weight in zip(nodes, weights, strict=True):
            factors = part + t * change
            before = np.broadcast_to(weight * coef, factors.shape[1:])
            for g in range(n_groups):
                others[g] = before
                before = before * factors[g]
            after = np.ones(factors.shape[1:])
            for g in range(n_groups - 1, -1, -1):
                others[g] *= after
                after *= factors[g]
            out[start : start + step] += np.einsum("gbj,gbj->bg", others, change)
    return out


def linear_shares(
    row: FloatArray, background: FloatArray, coef: FloatArray, groups: NDArray[np.intp]
) -> FloatArray:
    """Return the Shapley values where the score is linear, against each row of the background.

    Parameters
    ----------
    row : ndarray of shape (n_columns,)
    background : ndarray of shape (n_background, n_columns)
    coef : ndarray of shape (n_columns,)
    groups : ndarray of int of shape (n_columns,)

    Returns
    -------
    ndarray of shape (n_background, n_groups)
    """
    terms = (row - background) * coef
    out = np.zeros((len(background), int(groups.max()) + 1))
    for column, group in enumerate(groups):
        out[:, group] += terms[:, column]
    return out
