"""Nodes: a few rows that stand for a class vector, for faster prediction.

Herding takes, one after the other, the row at which what is still missing of the class vector is
largest; the nodes' weights are then the best ones that are not negative, so that logarithms of
sums still exist.
"""

from collections.abc import Sequence

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from scipy.linalg import lstsq
from scipy.optimize import nnls

from mercer._arrays import Array, like, take_rows, to_numpy
from mercer.kernels import Kernel
from mercer.samples import BlockSample, Sample, heaviest_rows, random_rows
from mercer.spectral import pivoted_cholesky
from mercer.sums import kernel_sum


def choose_nodes(
    selection: str,
    sample: Sample | BlockSample,
    weights: Array,
    kernel: Kernel,
    widths: Sequence[float],
    n_nodes: int,
    random_state: np.random.RandomState,
) -> tuple[NDArray[np.int64], Array, NDArray[np.int64], Array]:
    """Return which rows are the nodes, sorted, these rows, their classes and weights, in memory.

    Every class gets nodes in proportion to its rows, and at least one; `widths` are those of the
    kernel in each class.
    """
    shares = node_shares(sample.sizes, n_nodes)
    if selection == "herding":
        if isinstance(sample, BlockSample):
            raise ValueError(
                "node_selection='herding' looks at all rows of a class for every node and takes no "
                "Dask array; use 'largest' or 'random'."
            )
        return _herd_classes(sample, weights, kernel, widths, shares)
    if selection == "largest":
        nodes = heaviest_rows(sample, shares, weights)
    else:
        nodes = random_rows(sample, shares, random_state)
    X, codes, kept = sample.take(nodes, sample.X, sample.codes, weights)
    used = np.flatnonzero(to_numpy(kept) > 0)
    X, kept = (take_rows(A, used) for A in (X, kept))
    return nodes[used], X, codes[used].astype(np.int64), kept


def _herd_classes(
    sample: Sample,
    weights: Array,
    kernel: Kernel,
    widths: Sequence[float],
    shares: NDArray[np.int64],
) -> tuple[NDArray[np.int64], Array, NDArray[np.int64], Array]:
    """Herd one class after the other."""
    rows, kept = [], []
    for c, size in enumerate(shares):
        members = np.flatnonzero(sample.codes == c)
        beta = take_rows(weights, members)
        rows_of_class = take_rows(sample.X, members)
        chosen, beta_chosen = _herd(rows_of_class, beta, kernel, widths[c], int(size))
        used = beta_chosen > 0
        rows.append(members[chosen[used]])
        kept.append(beta_chosen[used])
    nodes, node_weights = np.concatenate(rows), np.concatenate(kept)
    in_order = np.argsort(nodes, kind="stable")
    nodes = nodes[in_order]
    node_weights = like(node_weights[in_order], weights)
    return nodes, take_rows(sample.X, nodes), sample.codes[nodes], node_weights


def node_shares(counts: NDArray[np.int64], n_nodes: int) -> NDArray[np.int64]:
    """Divide nodes among classes by size: at least one each, and no more than it has rows."""
    if n_nodes < counts.size:
        raise ValueError(
            f"n_nodes={n_nodes} is less than the number of classes, {counts.size}: each needs one."
        )
    shares: NDArray[np.int64] = np.maximum(
        1, np.floor(n_nodes * counts / counts.sum()).astype(np.int64)
    )
    while shares.sum() > n_nodes:
        shares[np.argmax(shares)] -= 1
    while shares.sum() < min(n_nodes, counts.sum()):
        wanting = np.where(shares < counts, n_nodes * counts / counts.sum() - shares, -np.inf)
        shares[np.argmax(wanting)] += 1
    return shares


def _herd(
    X: Array, beta: Array, kernel: Kernel, width: float, size: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return `size` rows of one class and weights with which they stand for Σ β_i Φ(x_i).

    The error ‖M − Σ_s b_s Φ(x_s)‖² falls fastest along the row of the largest residual
    ⟨M − M̂, Φ(x_j)⟩; a step of Σβ/size each keeps the total weight, as herding does.
    """
    xp = array_namespace(X)
    counts = xp.astype(beta, X.dtype)
    wanted = to_numpy(kernel_sum(X, weights=counts, kernel=kernel, bandwidth=width))
    wanted = wanted.astype(np.float64)
    residual, step = wanted.copy(), float(xp.sum(beta)) / size
    free = np.ones(wanted.size, dtype=bool)
    chosen = []
    for _ in range(size):
        j = int(np.argmax(np.where(free, residual, -np.inf)))
        chosen.append(j)
        free[j] = False
        residual -= step * _column(X, j, kernel, width)
    nodes = np.array(chosen)
    return nodes, _best_weights(X, beta, kernel, width, nodes)


def _best_weights(
    X: Array, beta: Array, kernel: Kernel, width: float, nodes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the weights b ≥ 0 of the nodes for which ‖Σ β_i Φ(x_i) − Σ_s b_s Φ(x_s)‖² is least.

    It computes in float64 for rows of any precision: the kernel matrix of rows that are close
    together is nearly singular, and rounding to float32 would make it indefinite.
    """
    xp = array_namespace(X)
    X = xp.astype(X, xp.float64)
    at_nodes = take_rows(X, nodes)
    sums = kernel_sum(
        at_nodes, X, weights=xp.astype(beta, xp.float64), kernel=kernel, bandwidth=width
    )
    wanted = to_numpy(sums)
    K = np.stack([_column(at_nodes, j, kernel, width) for j in range(nodes.size)])
    # ‖M − Σ bΦ‖² = ‖Fᵀb − t‖² + constant, with K = FFᵀ, Ft = m and m_s = ⟨M, Φ(x_s)⟩.
    F = pivoted_cholesky(K)
    weights: NDArray[np.float64] = nnls(F.T, lstsq(F, wanted)[0])[0]
    return weights


def _column(X: Array, j: int, kernel: Kernel, width: float) -> NDArray[np.float64]:
    """Return the kernel values of all rows with row j."""
    with np.errstate(over="ignore"):  # k is 0 at an infinite distance.
        scaled = (X - X[j, :]) / width
        d2 = kernel.squared_distances(scaled[:, f] for f in range(X.shape[1]))
    return np.asarray(to_numpy(kernel.profile(d2, 1.0)), dtype=np.float64)
