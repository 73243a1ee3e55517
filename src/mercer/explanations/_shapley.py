"""Shares of columns for one row, exact: Shapley values of a sum of product kernels.

A game among groups of columns: where a group plays, a row of the background has its values from the
row that is explained, elsewhere its own.  For Σⱼ aⱼ Π_g κ_g with factors u_gj = κ_g(x, xⱼ) of the
row and w_gj = κ_g(b, xⱼ) of the background, the game's multilinear extension is a product, and its
Shapley value for a group g is an integral along the diagonal [1]_:

    φ_g = ∫₀¹ Σⱼ aⱼ (u_gj − w_gj) Π_{l≠g} (t·u_lj + (1 − t)·w_lj) dt.

which `mercer.sums` integrates without error.

References
----------
.. [1] G. Owen (1972). Multilinear extensions of games. Management Science 18(5), 64-79.
"""

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import FloatArray
from mercer.kernels import KernelFunction

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
