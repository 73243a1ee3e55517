"""Class vectors M_c = Σ_{i in c} β_i Φ(x_i) in the kernel's feature space: norms and products.

With b sets of weights β, one for each bandwidth of a ladder, everything comes from one pass over
the pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from array_api_compat import array_namespace

from mercer.classifiers._logs import logsumexp, safe_log
from mercer.classifiers._sample import Sample
from mercer.sums import left_out_log_sums
from mercer.sums._geometry import row_slabs, working_memory

Array = Any
_ARRAYS = 12  # of (rows, classes) that are held at once for one bandwidth, beside the sums


@dataclass(frozen=True)
class ClassVectors:
    """The class vectors of a sample, for every bandwidth.

    Parameters
    ----------
    sample : Sample
    widths : tuple of float
        Of the Mercer kernel, the widest first.
    weights : float64 array of shape (b, n)
        β.
    """

    sample: Sample
    widths: tuple[float, ...]
    weights: Array

    @cached_property
    def own_sums(self) -> Array:
        """R_i = Σ_{j in i's class} β_j k(x_i, x_j), the row itself included: (b, n)."""
        xp = array_namespace(self.weights)
        parts = []
        for low, high in pairwise(self.sample.bounds):
            X, codes = self.sample.X[low:high, :], self.sample.codes[low:high] * 0
            weights = self.weights[:, low:high]
            logs, _ = left_out_log_sums(X, codes, bandwidths=self.widths, weights=weights)
            parts.append(xp.exp(logs[:, :, 0]) + weights)
        return xp.concat(parts, axis=1)

    @cached_property
    def squared_norms(self) -> Array:
        """V_c² = Σ_{i in c} β_i R_i: (b, C)."""
        return self.sample.class_sums(self.weights * self.own_sums)

    @cached_property
    def log_products(self) -> Array:
        """Return log ⟨M_c, M_j⟩: (b, C, C)."""
        xp = array_namespace(self.weights)
        n_classes = self.sample.n_classes
        products: list[Any] = [None] * n_classes
        log_weights = safe_log(self.weights)
        for rows in self.slabs():
            sums = self.sums(rows, with_self=True)
            for c, (low, high) in enumerate(pairwise(self.sample.bounds)):
                first, last = max(low, rows.start), min(high, rows.stop)
                if first >= last:
                    continue
                terms = sums[:, first - rows.start : last - rows.start, :]
                terms = terms + log_weights[:, first:last, None]
                part = logsumexp(xp.permute_dims(terms, (0, 2, 1)))
                products[c] = part if products[c] is None else xp.logaddexp(products[c], part)
        return xp.stack(products, axis=1)

    def sums(self, rows: slice, *, with_self: bool = False) -> Array:
        """Return log Σ_{j in c} β_j k(x_i, x_j), with or without j = i: (b, rows, C)."""
        sums, _ = left_out_log_sums(
            self.sample.X,
            self.sample.codes,
            bandwidths=self.widths,
            weights=self.weights,
            rows=rows,
        )
        return add_own(self.sample, sums, self.weights[:, rows], rows) if with_self else sums

    def slabs(self) -> Iterator[slice]:
        """Cut the rows into ranges whose sums fit the memory budget."""
        bytes_per_row = 8 * self.sample.n_classes * (3 * len(self.widths) + _ARRAYS)
        n = self.sample.X.shape[0]
        for start, stop in row_slabs(n, bytes_per_row, working_memory() // 2):
            yield slice(start, stop)


def add_own(sample: Sample, log_sums: Array, values: Array, rows: slice) -> Array:
    """Add values (…, rows) to the sums (…, rows, C) of each row's own class."""
    xp = array_namespace(log_sums)
    if not bool(xp.any(values > 0)):
        return log_sums
    with_values = xp.logaddexp(log_sums, xp.expand_dims(safe_log(values), axis=-1))
    return xp.where(sample.own(rows), with_values, log_sums)
