"""Rows without their own terms, where the weights of all others stay as they are fitted.

Leave-one-out proper (`_leave_one_out`) takes one width for all classes, and sums over all pairs for
norms and links.  This takes a width for each class, and norms and links however they were fitted:
from some of the rows, or within a tolerance.  It takes time rows·n for each
width.  What it leaves out is how the weights of others, and the links between classes, change
with a row: by a share of some 1/N.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer.classifiers._class_vectors import add_to_own_class
from mercer.classifiers._leave_one_out import LeftOut, Whole
from mercer.kernels import Kernel
from mercer.samples import Rows, SortedSample, safe_log
from mercer.sums import group_slabs, left_out_log_sums


@dataclass(frozen=True)
class OwnTermsLeftOut:
    """What rules need to score rows without their own terms, at the widths that were fitted."""

    sample: SortedSample
    weights: Array  # β: (n,)
    widths: NDArray[np.float64]  # of the kernel, one for each class
    kernel: Kernel
    squared_norms: Array | None = None  # V_c² of all rows; None for rules without norms
    log_links: Array | None = None  # of all rows
    log_factors: Array | None = None  # Sums of each class are multiplied by these.

    def parts(self, rows: NDArray[np.int64] | None = None) -> Iterator[LeftOut]:
        """Yield what the rules need for these rows, or for all."""
        n = self.sample.in_memory.codes.size if rows is None else rows.size
        for start, stop in group_slabs(n, self.sample.n_classes, 1):
            yield self._part(slice(start, stop) if rows is None else rows[start:stop])

    def _part(self, rows: Rows) -> LeftOut:
        sample, sums = self.sample.in_memory, self._sums(rows)
        xp, at = array_namespace(sums), sample.index(rows)
        (beta,) = self.sample.gather(rows, self.weights)
        omega, u = sample.weights[at], sample.unit[at]
        a, counts = beta / omega, sample.counts_without(rows)
        log_norms = whole = log_links = None
        if self.squared_norms is not None:
            is_own = sample.is_of_class(rows)
            own_sums = xp.sum(xp.where(is_own, xp.exp(sums), 0.0), axis=1) + beta
            # V² − 2uaR + u²a²; rounding must not make that of a class that has rows negative.
            change = (u * a) ** 2 - 2 * u * a * own_sums
            norms = self.squared_norms + xp.where(is_own, change[:, None], 0.0)
            norms = xp.where(counts > 0, xp.maximum(norms, 1e-300), 0.0)
            log_norms = 0.5 * safe_log(norms)
        if self.log_links is not None:
            log_links = self.log_links + xp.zeros_like(sums)
            whole_norms = 0.5 * safe_log(self.squared_norms)
            whole = Whole(sample.counts[None, :], whole_norms[None, :], self.log_links[None, :])
        sums = add_to_own_class(sample, sums, (omega - u) * a, rows)
        if self.log_factors is not None:
            sums = sums + self.log_factors
        return LeftOut(rows, 0, counts, sums, log_norms, log_links, safe_log(a), whole)

    def _sums(self, rows: Rows) -> Array:
        """Return log Σ_{j in c} β_j k_c(x_i, x_j) without j = i: (rows, C)."""
        columns: list[Array] = [None] * self.sample.n_classes
        for width in np.unique(self.widths).tolist():
            logs, _ = left_out_log_sums(
                self.sample.X,
                self.sample.codes,
                bandwidths=(width,),
                weights=self.weights[None, :],
                kernel=self.kernel,
                rows=self.sample.places(rows),
                n_groups=self.sample.n_classes,
            )
            for c in np.flatnonzero(self.widths == width).tolist():
                columns[c] = logs[0, :, c]
        return array_namespace(*columns).stack(columns, axis=1)
