r"""What every rule needs to score each training row without it, at a ladder of bandwidths.

What leaves with a row, u, is all of its weight ω, or one of its copies where rows of another class
lie at the same place (`mercer.samples._weights`).  Leaving row i out changes

- its own terms;
- the density at every other row, F_j − u g_ij, and with it the weight β_j = ω_j F_j^(−1/2): exact
  in the sums, as the engine removes i's window from each F_j in its pass over the pairs;
- the norms V_c, whose double sums change with every β_j: exact where f ≡ 1, else to first order in
  the change of the weights, 2 Σ_j Δβ_j R_j, which the same pass computes;
- the links between classes, in which the change of the other rows' weights is left out:
  it is of relative size 1/N.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer.classifiers._class_vectors import ClassVectors, add_to_own_class
from mercer.kernels import Kernel, overlap_width
from mercer.samples import Rows, SortedSample, logsumexp, safe_log
from mercer.sums import Removal


@dataclass(frozen=True)
class LeftOut:
    """Some rows, each with the sums, norms and links of the sample without it, at one bandwidth.

    Arrays are (rows, C), the weights (rows,).  The `whole` classes, with the row, are for rules
    that could tell from its size which class lacks it.
    """

    rows: Rows
    rung: int  # the index of the bandwidth
    counts: Array  # N_c; 0 for a class of which nothing is left
    log_sums: Array  # log A_c
    log_norms: Array | None  # log V_c; −inf for a class of which nothing is left
    log_links: Array | None  # log Σ_{j≠c} ⟨M_c, M_j⟩ / V_j, or with N_j for V_j
    log_weight: Array  # log a: the weight that the row would have
    whole: "Whole | None" = None

    def ways(self, rule: str) -> list["LeftOut"]:
        """Return what a rule is judged by: of "append" also the classes with all their rows.

        Appending a row to a smaller class changes more, so that this rule can tell by its size from
        which class a row is missing.  Where windows are so narrow that sums tell nothing,
        leave-one-out would then find every row right.  So a row counts as right only if
        it is right either way.
        """
        if rule != "append":
            return [self]
        assert self.whole is not None  # noqa: S101
        return [self, replace(self, **vars(self.whole))]


@dataclass(frozen=True)
class Whole:
    """The classes with all their rows at one bandwidth: (1, C) each."""

    counts: Array
    log_norms: Array
    log_links: Array


class Ladder(Protocol):
    """What scores rows without them need, at bandwidths with the widest first."""

    @property
    def bandwidths(self) -> tuple[float, ...]:
        """Parzen widths."""

    def at(self, rungs: Sequence[int]) -> "Ladder":
        """Return the same of some bandwidths, with what has been computed of them."""

    def parts(self, rows: NDArray[np.int64] | None = None) -> Iterator[LeftOut]:
        """Yield what the rules need for these rows, or for all."""


@dataclass(frozen=True)
class LeftOutWindows:
    """The plain class sums of kernels: all that Parzen's rule needs."""

    vectors: ClassVectors  # at the Parzen widths; every row counts by its weight

    @classmethod
    def of(
        cls, sample: SortedSample, bandwidths: tuple[float, ...], kernel: Kernel
    ) -> "LeftOutWindows":
        """Take windows of these widths."""
        return cls(ClassVectors(sample, bandwidths, sample.copies(len(bandwidths)), kernel))

    @property
    def bandwidths(self) -> tuple[float, ...]:
        """Parzen widths."""
        return self.vectors.widths

    def at(self, rungs: Sequence[int]) -> "LeftOutWindows":
        """Return the same of some bandwidths, with what has been computed of them."""
        return replace(self, vectors=self.vectors.at(rungs))

    def parts(self, rows: NDArray[np.int64] | None = None) -> Iterator[LeftOut]:
        """Yield sums and counts."""
        vectors, sample = self.vectors, self.vectors.sample.in_memory
        for some in vectors.slabs(rows):
            at = sample.index(some)
            copies = sample.weights[at] - sample.unit[at]
            sums = add_to_own_class(sample, vectors.sums(some), copies, some)
            counts, zero = sample.counts_without(some), 0 * copies
            for rung in range(len(self.bandwidths)):
                yield LeftOut(some, rung, counts, sums[rung], None, None, zero)


@dataclass(frozen=True)
class LeftOutVectors:
    """Sums, norms and links of the class vectors.

    Densities sum the kernel itself, or the `squared` one: a Gaussian window of width h is the
    square of the kernel of width √2·h.
    """

    vectors: ClassVectors  # with weights β = ω F^(−1/2), at the widths of the Mercer kernel
    bandwidths: tuple[float, ...]  # Parzen widths, the widest first
    densities: Array | None  # F_j: (b, n); None is f ≡ 1
    squared: bool = True
    leaving: Array | None = None  # weight of each row's window in other densities, if it is not u
    links: str | None = None  # what links are divided by: "norms" or "counts"; None for no links

    @classmethod
    def of(
        cls,
        sample: SortedSample,
        bandwidths: tuple[float, ...],
        densities: Array | None,
        kernel: Kernel,
        tol: float | None = None,
        **options: Any,
    ) -> "LeftOutVectors":
        """Weigh the rows by their densities; norms may have a relative error of tol."""
        widths = tuple(overlap_width(kernel, h, h) for h in bandwidths)
        if densities is None:
            weights = sample.copies(len(widths))
        else:
            weights = sample.weights * densities**-0.5
        vectors = ClassVectors(sample, widths, weights, kernel, tol)
        return cls(vectors, bandwidths, densities, **options)

    def at(self, rungs: Sequence[int]) -> "LeftOutVectors":
        """Return the same of some bandwidths, with what has been computed of them."""
        if len(rungs) == len(self.bandwidths):
            return self
        return replace(
            self,
            vectors=self.vectors.at(rungs),
            bandwidths=tuple(self.bandwidths[r] for r in rungs),
            densities=None if self.densities is None else self.densities[list(rungs)],
        )

    @cached_property
    def removal(self) -> Removal | None:
        """What leaves the densities with a row."""
        if self.densities is None:
            return None
        sample, vectors = self.vectors.sample, self.vectors
        gone = sample.unit if self.leaving is None else self.leaving
        drift_weights = vectors.weights * vectors.own_sums
        return Removal(gone, self.densities, sample.weights, self.squared, drift_weights)

    def parts(self, rows: NDArray[np.int64] | None = None) -> Iterator[LeftOut]:
        """Yield what the rules need, one bandwidth after the other for each slab of rows."""
        vectors = self.vectors
        of_rows = [vectors.own_sums, vectors.weights]
        of_rows += [] if self.densities is None else [self.densities]
        for some in vectors.slabs(rows):
            if self.removal is None:
                sums, drifts = vectors.sums(some), None
            else:
                sums, drifts = vectors.sums_without(some, self.removal)
            plain = vectors.sums(some) if self.links is not None else sums
            gathered = vectors.sample.gather(some, *of_rows)
            for rung in range(len(self.bandwidths)):
                drift = None if drifts is None else drifts[rung]
                known = [numbers[rung] for numbers in gathered]
                yield self._part(some, rung, sums[rung], drift, plain[rung], *known)

    def _part(
        self,
        rows: Rows,
        rung: int,
        sums: Array,
        drifts: Array | None,
        plain: Array,
        R_i: Array,
        beta_i: Array,
        F_i: Array | None = None,
    ) -> LeftOut:
        """Return what the rules need for these rows, from what is known of them."""
        xp, vectors, sample = array_namespace(sums), self.vectors, self.vectors.sample.in_memory
        at, counts = sample.index(rows), sample.counts_without(rows)
        is_own = sample.is_of_class(rows)
        omega, u = sample.weights[at], sample.unit[at]
        copies = omega - u
        F_i = xp.ones_like(omega) if F_i is None else F_i
        a_i = F_i**-0.5
        left = F_i if self.densities is None else F_i - u
        a_left = xp.where(copies <= 0, a_i, xp.where(left <= 0, 1.0, left) ** -0.5)
        # Without the row's own part the norm is V² − 2uaR + u²a², (19).
        change = -2 * u * a_i * R_i + (u * a_i) ** 2
        norms = vectors.squared_norms[rung, :]
        if drifts is not None:
            norms = norms + 2 * drifts
            own_term = xp.sum(xp.where(is_own, xp.exp(sums), 0.0), axis=1)
            change = change - 2 * u * a_i * (own_term - (R_i - beta_i))
            change = change + 2 * copies * (a_left - a_i) * (R_i - u * a_i)
        norms = xp.where(is_own, norms + change[:, None], norms)
        # Rounding must not make the norm of a class that has rows zero or negative.
        norms = xp.where(counts > 0, xp.maximum(norms, 1e-300), 0.0)
        log_norms = 0.5 * safe_log(norms)
        log_links = whole = None
        if self.links is not None:
            whole = self.whole(rung)
            divisor = safe_log(counts) if self.links == "counts" else log_norms
            log_gone, log_kept = safe_log(u * a_i)[:, None], safe_log(copies * a_i)[:, None]
            log_links = _links(vectors, rung, rows, log_gone, log_kept, plain, divisor)
        return LeftOut(
            rows,
            rung,
            counts,
            add_to_own_class(sample, sums, copies * a_left, rows),
            log_norms,
            log_links,
            xp.zeros_like(u) if self.densities is None else -0.5 * xp.log(left + 1),
            whole,
        )

    def whole(self, rung: int) -> Whole:
        """Return the classes as they are with all rows."""
        counts = self.vectors.sample.counts[None, :]
        log_norms = 0.5 * safe_log(self.vectors.squared_norms[rung, :])[None, :]
        divisor = safe_log(counts) if self.links == "counts" else log_norms
        products = self.vectors.products.log_all[rung, :, :]
        xp = array_namespace(products)
        index = xp.arange(products.shape[0], device=device(products))
        others = xp.where(index[:, None] == index, -float("inf"), products - divisor)
        return Whole(counts, log_norms, logsumexp(others)[None, :])


def _links(
    vectors: ClassVectors,
    rung: int,
    rows: Rows,
    log_gone: Array,
    log_kept: Array,
    plain: Array,
    divisor: Array,
) -> Array:
    """Return log Σ_{j≠c} ⟨M_c, M_j⟩ / v_j without each row: (rows, C), v in logs.

    Only terms of at most half of a sum are subtracted from it, and no scale comes from a row that
    is left out: far classes keep their digits even where one row makes up almost all of their link.
    """
    xp, sample = array_namespace(plain), vectors.sample.in_memory
    is_own, classes = sample.is_of_class(rows), sample.classes[sample.index(rows)]
    nothing, gone = xp.full_like(plain, -float("inf")), divisor == -float("inf")
    divisor = xp.where(gone, 0.0, divisor)
    left = _products_without(vectors, rung, rows, log_gone, log_kept, plain)
    of_own = logsumexp(xp.where(is_own | gone, nothing, left - divisor))

    # Links of the other classes c are sums over j: j = y without the row, and all j but c and y
    # unchanged, relative to the largest of these products.
    products = vectors.products.log_all[rung, :, :]
    index = xp.arange(products.shape[0], device=device(products))
    products = xp.where(index[:, None] == index, -float("inf"), products)
    shares = xp.where(is_own | gone, 0.0, xp.exp(-divisor))
    nearest = xp.argmax(products, axis=1)
    beyond = xp.where(index == nearest[:, None], -float("inf"), products)
    is_nearest = nearest == classes[:, None]
    others = xp.where(is_nearest, _log_combine(shares, beyond), _log_combine(shares, products))
    from_y = left - xp.sum(xp.where(is_own, divisor, 0.0), axis=1, keepdims=True)
    return xp.where(is_own, of_own[:, None], xp.logaddexp(others, from_y))


def _products_without(
    vectors: ClassVectors, rung: int, rows: Rows, log_gone: Array, log_kept: Array, plain: Array
) -> Array:
    """Return log ⟨M_y, M_j⟩ of each row's class y without the row: (rows, C)."""
    xp, sample, products = array_namespace(plain), vectors.sample, vectors.products
    classes = sample.in_memory.classes[sample.in_memory.index(rows)]
    parts = (products.log_all, products.largest, products.log_rest)
    log_all, largest, log_rest = (p[rung][classes] for p in parts)
    is_largest = largest == sample.numbers(rows)[:, None]
    # u a Σ_{l in j} β_l k(x_i, x_l) is removed; copies of the row stay.
    scale = xp.where(xp.isfinite(log_all), log_all, 0.0)
    gone = xp.where(is_largest, 0.0, xp.exp(log_gone + plain - scale))
    smaller = log_all + xp.log1p(-xp.minimum(gone, xp.full_like(gone, 0.75)))
    return xp.where(is_largest, xp.logaddexp(log_rest, log_kept + plain), smaller)


def _log_combine(shares: Array, log_products: Array) -> Array:
    """Return log Σ_j s_ij exp(p_cj), (rows, C), relative to the largest of each c."""
    xp = array_namespace(shares)
    top = xp.max(log_products, axis=1, keepdims=True)
    top = xp.where(xp.isfinite(top), top, 0.0)
    return safe_log(shares @ xp.exp(log_products - top).T) + top[:, 0]
