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

from mercer.classifiers._leave_one_out import LeftOut
from mercer.classifiers._logs import logsumexp, safe_log
from mercer.classifiers._sample import Sample
from mercer.kernels import get_kernel, mercer_width
from mercer.sums._arrays import like

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
    """Yield what `left_out_vectors` yielded, with norms and links (to norms) made exact.

    Links so small that products underflow stay as they are: no density has changed then.
    """
    xp = array_namespace(sample.weights)
    n = sample.X.shape[0]
    if n > MOST_ROWS:
        raise ValueError(
            f"loo='exact' takes time n³ and is for at most {MOST_ROWS} rows, got {n}; "
            "use loo='fast'."
        )
    omega = sample.weights
    d2 = _squared_distances(xp.astype(sample.X, xp.float64))
    for part in parts:
        rows, unit = part.rows, sample.unit[part.rows]
        K = get_kernel("gaussian").profile(d2, mercer_width(bandwidths[part.rung]))
        F, k = densities[part.rung, :], K[rows, :]
        is_self = like(np.arange(n)[rows, None] == np.arange(n), omega, dtype=xp.bool)
        left = xp.where(is_self, (omega[rows] - unit)[:, None], omega + xp.zeros_like(k))
        without = xp.maximum(F - unit[:, None] * (k * k if squared else k), left)
        weights = left * xp.where(left > 0, without, xp.ones_like(without)) ** -0.5
        products = [  # ⟨M_c, M_j⟩ without each row, as (rows, C) for every class c
            sample.class_sums((weights[:, low:high] @ K[low:high, :]) * weights)
            for low, high in pairwise(sample.bounds)
        ]
        norms = xp.stack([P[:, c] for c, P in enumerate(products)], axis=1)
        exact = replace(part, log_norms=0.5 * safe_log(norms))
        if part.log_links is not None:
            links = xp.stack([_link(P, c, exact.log_norms) for c, P in enumerate(products)], axis=1)
            exact = replace(exact, log_links=xp.where(xp.isfinite(links), links, part.log_links))
        yield exact


def _link(products: Array, c: int, log_norms: Array) -> Array:
    """Return log Σ_{j≠c} ⟨M_c, M_j⟩ / V_j, or −inf where a product underflows: (rows,)."""
    xp = array_namespace(products)
    nothing = xp.full_like(products, -float("inf"))
    terms = xp.where(xp.isfinite(log_norms), safe_log(products) - log_norms, nothing)
    others = [j for j in range(products.shape[1]) if j != c]
    if not others:
        return nothing[:, 0]
    terms, products = terms[:, others], products[:, others]
    present = xp.isfinite(log_norms[:, others])
    is_safe = xp.all((products > _UNDERFLOWS) | ~present, axis=1)
    return xp.where(is_safe, logsumexp(terms), nothing[:, 0])


def _squared_distances(X: Array) -> Array:
    d2 = (X[:, 0, None] - X[:, 0]) ** 2
    for f in range(1, X.shape[1]):
        d2 = d2 + (X[:, f, None] - X[:, f]) ** 2
    return d2
