"""Leave-one-out with exact norms and links: every double sum anew for every row.

O(n³) for each bandwidth and n² memory: for small samples, and to measure what the fast form
(`_leave_one_out`) leaves out.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from mercer._arrays import like, take_rows, to_numpy
from mercer.classifiers._leave_one_out import LeftOut
from mercer.classifiers._logs import logsumexp, safe_log
from mercer.classifiers._sample import Sample
from mercer.kernels import get_kernel, mercer_width

Array = Any
MOST_ROWS = 2000
_UNDERFLOWS = 1e-280


def with_exact_norms(
    sample: Sample,
    bandwidths: tuple[float, ...],
    densities: Array,
    parts: Iterator[LeftOut],
    *,
    squared: bool = True,
) -> Iterator[LeftOut]:
    """Yield what `left_out_vectors` yielded, with norms and links (to norms) made exact."""
    xp = array_namespace(sample.weights)
    n = sample.X.shape[0]
    require_few_rows(n)
    omega = sample.weights
    d2 = _squared_distances(xp.astype(sample.X, xp.float64))
    for part in parts:
        rows, unit = part.rows, sample.unit[part.rows]
        log_k = get_kernel("gaussian").log_profile(d2, mercer_width(bandwidths[part.rung]))
        F, k = densities[part.rung, :], xp.exp(log_k[rows, :])
        is_self = like(np.arange(n)[rows, None] == np.arange(n), omega, dtype=xp.bool)
        left = xp.where(is_self, (omega[rows] - unit)[:, None], omega + xp.zeros_like(k))
        without = xp.maximum(F - unit[:, None] * (k * k if squared else k), left)
        weights = left * xp.where(left > 0, without, xp.ones_like(without)) ** -0.5
        exact = replace(part, log_norms=_log_norms(sample, xp.exp(log_k), weights))
        if part.log_links is not None:
            exact = replace(exact, log_links=_log_links(sample, log_k, weights, exact.log_norms))
        yield exact


def require_few_rows(n: int) -> None:
    """Refuse what would take too long."""
    if n > MOST_ROWS:
        raise ValueError(
            f"loo='exact' takes time n³ and is for at most {MOST_ROWS} rows, got {n}; "
            "use loo='fast'."
        )


def _log_norms(sample: Sample, K: Array, weights: Array) -> Array:
    """Return log V_c for each row of weights: (rows, C)."""
    columns = []
    for low, high in pairwise(sample.bounds):
        w = weights[:, low:high]
        columns.append(array_namespace(K).sum((w @ K[low:high, low:high]) * w, axis=1))
    return 0.5 * safe_log(array_namespace(K).stack(columns, axis=1))


def _log_links(sample: Sample, log_k: Array, weights: Array, log_norms: Array) -> Array:
    """Return log Σ_{j≠c} ⟨M_c, M_j⟩ / V_j for each row of weights: (rows, C).

    Products are taken relative to the largest kernel value between the two classes; where the row
    that leaves had that value and the others underflow beside it, they are added up in logs.
    """
    xp = array_namespace(log_k)
    present = xp.isfinite(log_norms)
    divisor = xp.where(present, log_norms, xp.zeros_like(log_norms))
    columns = []
    for c, (low, high) in enumerate(pairwise(sample.bounds)):
        block = log_k[low:high, :]
        tops = xp.stack([xp.max(block[:, a:b]) for a, b in pairwise(sample.bounds)])
        scaled = xp.exp(block - take_rows(tops, sample.codes))
        products = sample.class_sums((weights[:, low:high] @ scaled) * weights)
        logs = safe_log(products) + tops
        for i in np.flatnonzero(to_numpy(xp.any(products < _UNDERFLOWS, axis=1))):
            terms = block + safe_log(weights[i, low:high])[:, None] + safe_log(weights[i, :])
            logs[i, :] = xp.stack(
                [logsumexp(xp.reshape(terms[:, a:b], (-1,))) for a, b in pairwise(sample.bounds)]
            )
        others = like(np.arange(sample.n_classes) != c, log_k, dtype=xp.bool)
        terms = xp.where(present & others, logs - divisor, -float("inf"))
        columns.append(logsumexp(terms))
    return xp.stack(columns, axis=1)


def _squared_distances(X: Array) -> Array:
    d2 = (X[:, 0, None] - X[:, 0]) ** 2
    for f in range(1, X.shape[1]):
        d2 = d2 + (X[:, f, None] - X[:, f]) ** 2
    return d2
