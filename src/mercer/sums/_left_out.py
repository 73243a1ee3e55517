"""Sums over groups as if the window of the row at hand had left every density.

What leave-one-out of a density-weighted classifier needs: removing row i changes not only its own
term but the weight F_j^(−1/2) of every other row.  For each rung b of a ladder of bandwidths,

    out[b, i, g]   = log Σ_{j in group g, j ≠ i} w[b, j] k_b(i, j) ρ_b(i, j)
    drift[b, i, g] =     Σ_{j in group g, j ≠ i} q[b, j] (ρ_b(i, j) − 1)
    ρ_b(i, j)      = (1 − removed[i] k_b(i, j)^p / F[b, j])^(−1/2)

exactly, for all rungs in one pass over the pairs.
"""

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer.kernels import KERNELS
from mercer.sums._dispatch import compute
from mercer.sums._problem import Problem, Removal


def left_out_log_sums(
    X: Array,
    groups: Array,
    *,
    bandwidths: tuple[float, ...],
    weights: Array,
    removal: Removal | None = None,
    rows: slice | NDArray[np.int64] | None = None,
    Y: Array | None = None,
    n_groups: int | None = None,
) -> tuple[Array, Array | None]:
    """Return the logarithms and the drifts, (b, rows, groups) each, in float64.

    Parameters
    ----------
    X : float32 or float64 array of shape (n, d)
        Rows, in memory or in the blocks of a Dask array; weights, groups and what is removed are
        then Dask arrays too, cut alike along the rows, and what is returned is in memory.
    groups : NumPy array of int of shape (n,)
        The group of each row.
    bandwidths : tuple of float
        Of the Gaussian kernel that is summed, the widest first.
    weights : array of shape (b, n)
        Not negative, within some 100 orders of magnitude of each other.
    removal : Removal or None
        None leaves the densities as they are: ρ = 1, and there is no drift.
    rows : slice, NumPy array of int or None
        Rows of X for which the sums are wanted, in any order; all when None.
    Y : array of shape (m, d) or None
        Rows that are summed over, none of which is in X, with their groups, weights and
        densities; X itself when None.
    n_groups : int or None
        How many groups there are, where the last may have no row here; None counts them.

    Returns
    -------
    logs : array of shape (b, rows, groups)
        Natural logarithms of the sums.
    drifts : array of shape (b, rows, groups) or None
        Sums of the drift weights times ρ − 1; None without a removal.
    """
    is_self = Y is None
    problem = Problem(
        X, X if is_self else Y, None, None, (), KERNELS["gaussian"], bandwidths,
        log=True, self_sum=is_self, exclude_self=is_self, method="direct", tol=None,
        precision="high", groups=groups, n_groups=n_groups, rung_weights=weights,
        removal=removal, rows=rows,
    )  # fmt: skip
    logs, drifts = compute(problem)
    return logs, drifts
