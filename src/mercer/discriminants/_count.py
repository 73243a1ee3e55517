"""The number of nodes: scores at many counts along the path, from one factorisation."""

from collections.abc import Iterable, Iterator

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, FloatArray
from mercer.discriminants._coding import Coding, weight_of_others
from mercer.discriminants._gaussian import score_rule
from mercer.discriminants._path import NodePath

# The score is computed at this many counts of nodes, on a logarithmic scale.
_STAGES = 60


def count_grid(most: int) -> NDArray[np.intp]:
    """Return the node counts to look at, up to `most`."""
    return np.unique(np.round(np.geomspace(1, most, _STAGES)).astype(np.intp))


def fewest_best(score: FloatArray) -> int:
    """Return the first of the best scores."""
    return int(np.argmax(score >= score.max() - 1e-9))


def held_out_scores(
    path: NodePath, K: Array, coding: Coding, log_priors: Array, scoring: str
) -> FloatArray:
    """Return the score at every count of the grid on rows that were not fitted.

    K holds their kernels with all nodes of the path.
    """
    latent = path.latent(K)
    scores = []
    for n_nodes in count_grid(len(path)):
        rule = path.rule(n_nodes, log_priors)
        classes = rule.scores(latent[:, :n_nodes] @ path.q[:n_nodes, :])
        scores.append(float(score_rule(classes, coding.labels, coding.rule_weights, scoring)))
    return np.array(scores)


def left_out_scores(
    path: NodePath, K: Array, coding: Coding, units: Array, log_priors: Array, scoring: str
) -> FloatArray:
    """Return the leave-one-out score at every count of the grid, on fitted rows; see below."""
    counts = count_grid(len(path))
    scores = []
    outputs = left_out_outputs(path, K, coding, units, counts)
    for n_nodes, (output, _) in zip(counts, outputs, strict=True):
        classes = path.rule(n_nodes, log_priors).scores(output)
        scores.append(float(score_rule(classes, coding.labels, coding.rule_weights, scoring)))
    return np.array(scores)


def left_out_outputs(
    path: NodePath, K: Array, coding: Coding, units: Array, counts: Iterable[int]
) -> Iterator[tuple[Array, Array]]:
    """Yield outputs of fitted rows that are left out, and one minus their leverages.

    The nodes themselves were chosen with all rows, so that they are a little optimistic.

    Parameters
    ----------
    path : NodePath
        The fit.
    K : ndarray of shape (n_rows, n_nodes)
        Kernels of some or all of the fitted rows.
    coding : Coding
        Their classes.
    units : ndarray of shape (n_rows,)
        Share of one unit of each row in the weight of the whole fit.
    counts : iterable of int
        Fits on so many of the first nodes.
    """
    latent, targets = path.latent(K), coding.targets
    xp = array_namespace(latent)
    reach = xp.cumulative_sum(latent**2, axis=1)  # leverage over weight, for every count
    level = targets / weight_of_others(units)[:, None]  # relative to the mean of the other targets
    for n_nodes in counts:
        left = 1.0 - units * (1.0 + reach[:, n_nodes - 1])
        residuals = targets - latent[:, :n_nodes] @ path.q[:n_nodes, :]
        yield level - residuals / xp.maximum(left, 1e-9)[:, None], left
