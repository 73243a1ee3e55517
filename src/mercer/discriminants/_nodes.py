"""Significant nodes: which rows of a sample to expand the discriminants on."""

from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, take_rows
from mercer._linalg import add_to_diagonal, one_thread
from mercer.discriminants._coding import Coding, contrasts
from mercer.discriminants._moments import Moments, accumulate, near_mean
from mercer.kernels import KernelFunction
from mercer.samples import stratified_rows
from mercer.spectral import StopRule, greedy_selection

# "auto" takes one node for so many rows, no more than these, and fewer where a pass over the rows
# would cost more products than 500 nodes of a million rows do.
_ROWS_PER_NODE, _MOST_NODES, _MOST_PRODUCTS = 10, 2000, 500**2 * 1e6
_ROUNDING = 1e-14  # This share of the total scatter is added to the within-class scatter.


@dataclass(frozen=True)
class Nodes:
    """Rows of the sample in order of selection, and the criterion after each."""

    rows: NDArray[np.intp]
    criterion: NDArray[np.float64]


@dataclass(frozen=True)
class NodeLimits:
    """How many nodes to take at most, and from how many candidates (None: all rows)."""

    max_nodes: int
    n_candidates: int | None

    @classmethod
    def resolve(
        cls,
        max_nodes: int | str,
        n_candidates: int | str | None,
        n_classes: int,
        n_rows: int,
    ) -> "NodeLimits":
        """Return numbers for "auto", at least two candidates for a node.

        There are more nodes for more classes, and for fewer rows: a pass over the rows costs their
        number times the square of that of the nodes.
        """
        if max_nodes == "auto":
            least = 500 if n_classes < 10 else 1000 if n_classes <= 20 else 2000
            affordable = int(np.sqrt(_MOST_PRODUCTS / n_rows))
            max_nodes = max(least, min(_MOST_NODES, n_rows // _ROWS_PER_NODE, affordable))
        if n_candidates == "auto":
            n_candidates = max(2 * int(max_nodes), 2000 if n_classes <= 10 else 4000)
        return cls(int(max_nodes), None if n_candidates is None else int(n_candidates))


def choose_nodes(
    kernel: KernelFunction,
    X: Array,
    coding: Coding,
    *,
    alpha: float,
    penalty: str,
    criterion: str,
    max_nodes: int,
    tol: float,
    stop_rule: StopRule,
    n_candidates: int | None,
    rng: np.random.RandomState,
) -> Nodes:
    """Take nodes one by one so that Fisher's criterion grows most: eqs (13)–(20) for all at once.

    Parameters
    ----------
    kernel : KernelFunction
        With its gamma.
    X : array of shape (n_rows, n_features)
        The sample, in float64.
    coding : Coding
        Its classes and weights.
    alpha : float
        Ridge, relative to the normalised scatter.
    penalty : {"rkhs", "coef"}
        αᵀKα or αᵀα.
    criterion : {"within", "total"}
        tr(Uᵀ(S + αR)⁻¹U) with the scatter within the classes, or about the overall mean.
    max_nodes, tol, stop_rule
        See :func:`mercer.spectral.greedy_selection`; `tol` is in units of the criterion.
    n_candidates : int or None
        Size of a random subset, classes ∝ √n; None for all rows.
    rng : RandomState
        For the subset.
    """
    xp = array_namespace(X)
    size = X.shape[0] if n_candidates is None else n_candidates
    picks = stratified_rows(coding.labels, size, 0.5, rng)
    candidates = take_rows(X, picks)
    shift = near_mean(kernel.matrix(X[:256, :], candidates), coding.weights[:256])
    on_device = coding.like(X)
    moments = accumulate(
        Moments.empty(len(coding.shares), shift),
        lambda rows: kernel.matrix(X[rows, :], candidates),
        on_device.labels,
        on_device.weights,
        on_device.observations,
    )
    U = (moments.class_means.T * moments.shares) @ contrasts(moments.shares)
    G = moments.total_scatter()
    if criterion == "within":  # The difference must stay positive in spite of rounding.
        G = add_to_diagonal(moments.within_scatter(), _ROUNDING * xp.linalg.diagonal(G))
    if penalty == "rkhs":
        G += alpha * kernel.matrix(candidates, candidates)
    else:
        G = add_to_diagonal(G, alpha)
    unit = 1.0
    if criterion == "within":  # The paper's J has N = `scale` times the scatter, and M = d dᵀ.
        two = len(coding.shares) == 2
        unit = (1.0 / float(np.prod(coding.shares)) if two else 1.0) / coding.scale
    with one_thread():  # Threads do not speed up many small products.
        path = greedy_selection(
            lambda j: G[j, :], xp.linalg.diagonal(G), U, max_nodes, tol / unit, stop_rule
        )
    if path.order.size == 0:  # Nothing separates the classes: with any node, priors decide.
        return Nodes(picks[:1], np.zeros(1))
    return Nodes(picks[path.order], path.criterion * unit)
