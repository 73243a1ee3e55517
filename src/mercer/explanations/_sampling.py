"""Shares of columns for one row, of any score: Shapley values by walks in random order.

E. Štrumbelj, I. Kononenko (2014). Explaining prediction models and individual predictions with
feature contributions.  Knowledge and Information Systems 41, 647-665.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import FloatArray
from mercer._memory import row_slabs, working_memory

_ORDERS = 3  # From each row of the background, so many orders, each with its reverse.


def sampled_shares(
    score: Callable[[FloatArray], FloatArray],
    row: FloatArray,
    background: FloatArray,
    groups: NDArray[np.intp],
    rng: np.random.RandomState,
) -> tuple[FloatArray, FloatArray]:
    """Return estimates of the Shapley values of a score, one line for each row of the background.

    From each background row pairs of walks lead to the row that is explained, which take its groups
    of columns over one by one, in a random order and in the reverse of it.  The mean of what a
    group changes in them is the estimate.

    Parameters
    ----------
    score : callable
        From rows (n, n_columns) to their scores (n,).
    row : ndarray of shape (n_columns,)
    background : ndarray of shape (n_background, n_columns)
    groups : ndarray of int of shape (n_columns,)
    rng : RandomState

    Returns
    -------
    values : ndarray of shape (n_background, n_groups)
        Each line adds up to the score of the row less that of the background row.
    variances : ndarray of shape (n_background, n_groups)
        Of these, because orders are drawn.
    """
    n_groups, n = int(groups.max()) + 1, len(background)
    found = np.zeros((_ORDERS, n, n_groups))
    n_bytes = 2 * (n_groups + 1) * (row.size + 8) * 8
    for pair in found:
        orders = np.array([rng.permutation(n_groups) for _ in range(n)])
        for start, stop in row_slabs(n, n_bytes, working_memory() // 2):
            part, lines = background[start:stop], np.arange(start, stop)[:, None]
            for order in (orders[start:stop], orders[start:stop, ::-1]):
                place = np.argsort(order, axis=1)[:, groups]  # when each column is taken over
                taken = place[:, None, :] < np.arange(n_groups + 1)[None, :, None]
                walks = np.where(taken, row, part[:, None, :])
                scores = score(walks.reshape(-1, row.size)).reshape(walks.shape[:2])
                np.add.at(pair, (lines, order), np.diff(scores, axis=1) / 2)
    return found.mean(axis=0), found.var(axis=0, ddof=1) / _ORDERS
