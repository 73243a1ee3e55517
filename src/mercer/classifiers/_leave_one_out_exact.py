"""Leave-one-out with exact norms and links: every double sum again for every row.

O(n³) for each bandwidth and n² memory: for small samples, and to measure what the fast form
(`_leave_one_out`) leaves out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from mercer._arrays import Array, like, take_rows, to_numpy
from mercer.classifiers._leave_one_out import LeftOut, LeftOutVectors
from mercer.samples import SortedSample, logsumexp, power_of_two, safe_log

MOST_ROWS = 2000  # The exact form is for at most this many rows, as its time grows with n³.
_UNDERFLOWS = 1e-280  # Products below this are added up again in logarithms.


@dataclass(frozen=True)
class ExactlyLeftOut:
    """What `LeftOutVectors` with densities yields, with norms and links (to norms) made exact."""

    fast: LeftOutVectors

    def __post_init__(self) -> None:
        require_few_rows(self.fast.vectors.sample.X.shape[0])

    @property
    def bandwidths(self) -> tuple[float, ...]:
        """Parzen widths."""
        return self.fast.bandwidths

    def at(self, rungs: Sequence[int]) -> "ExactlyLeftOut":
        """Return the same of some bandwidths."""
        return ExactlyLeftOut(self.fast.at(rungs))

    def parts(self, rows: NDArray[np.int64] | None = None) -> Iterator[LeftOut]:
        """Yield what the rules need, one bandwidth after the other for each slab of rows."""
        sample, densities = self.fast.vectors.sample, self.fast.densities
        assert densities is not None  # noqa: S101
        xp = array_namespace(sample.weights)
        n, omega = sample.X.shape[0], sample.weights
        kernel, scale = self.fast.vectors.kernel, power_of_two(sample.X)  # squares stay in range
        X = xp.astype(sample.X, xp.float64) / scale
        d2 = kernel.squared_distances(X[:, f, None] - X[:, f] for f in range(X.shape[1]))
        for part in self.fast.parts(rows):
            at = sample.index(part.rows)
            unit = sample.unit[at]
            width = self.fast.vectors.widths[part.rung] / scale
            log_k = kernel.log_profile(d2, width)
            F, k = densities[part.rung, :], xp.exp(log_k[at, :])
            numbers = xp.arange(n, device=device(omega))
            is_self = numbers[at][:, None] == numbers
            left = xp.where(is_self, (omega[at] - unit)[:, None], omega)
            without = F - unit[:, None] * (k * k if self.fast.squared else k)
            without = xp.maximum(without, left)
            weights = left * xp.where(left > 0, without, xp.ones_like(without)) ** -0.5
            exact = replace(part, log_norms=_log_norms(sample, xp.exp(log_k), weights))
            if part.log_links is not None:
                links = _log_links(sample, log_k, weights, exact.log_norms)
                exact = replace(exact, log_links=links)
            yield exact


def require_few_rows(n: int) -> None:
    """Raise ValueError for more rows than the exact form is for."""
    if n > MOST_ROWS:
        raise ValueError(
            f"loo='exact' takes time n³ and is for at most {MOST_ROWS} rows, got {n}; "
            "use loo='fast'."
        )


def _log_norms(sample: SortedSample, K: Array, weights: Array) -> Array:
    """Return log V_c for each row of weights: (rows, C)."""
    columns = []
    for low, high in pairwise(sample.bounds):
        w = weights[:, low:high]
        columns.append(array_namespace(K).sum((w @ K[low:high, low:high]) * w, axis=1))
    return 0.5 * safe_log(array_namespace(K).stack(columns, axis=1))


def _log_links(sample: SortedSample, log_k: Array, weights: Array, log_norms: Array) -> Array:
    """Return log Σ_{j≠c} ⟨M_c, M_j⟩ / V_j for each row of weights: (rows, C).

    Products are taken relative to the largest kernel value between the two classes; where the row
    that leaves had that value and the others underflow beside it, they are added up in logs.
    """
    xp = array_namespace(log_k)
    present = log_norms != -float("inf")
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
