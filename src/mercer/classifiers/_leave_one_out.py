r"""What every rule needs to judge each training row without it, at a ladder of bandwidths.

One repetition of a row leaves at a time (u = min(1, ω)), so that a weight of 2 is the same as a row
twice.  Leaving row i out changes

- its own terms;
- the density at every other row, F_j − u g_ij, and with it the weight β_j = ω_j F_j^(−1/2): exact
  in the sums, as the engine takes i's window out of each F_j while the pairs pass;
- the norms V_c, whose double sums change with every β_j: exact where f ≡ 1, else to first order in
  the change of the weights, 2 Σ_j Δβ_j R_j, which the same pass adds up;
- the links between classes, in which the change of the other rows' weights is left out:
  it is of relative size 1/N.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from mercer._arrays import like, take_rows, to_numpy
from mercer.classifiers._class_vectors import ClassVectors, add_own
from mercer.classifiers._logs import logsumexp, safe_log
from mercer.classifiers._sample import Sample
from mercer.kernels import mercer_width
from mercer.sums import Removal

Array = Any


@dataclass(frozen=True)
class LeftOut:
    """Some rows, each seen from the sample without it, at one bandwidth.

    Parameters
    ----------
    rows : slice
    rung : int
        Index of the bandwidth.
    counts : array of shape (rows, C)
        N_c; 0 for a class of which nothing is left.
    log_sums : array of shape (rows, C)
        log A_c.
    log_norms : array of shape (rows, C) or None
        log V_c; −inf for a class of which nothing is left.
    log_links : array of shape (rows, C) or None
        log Σ_{j≠c} ⟨M_c, M_j⟩ / V_j, or with N_j for V_j.
    log_weight : array of shape (rows,)
        log a: the weight that the row would have.
    whole : Whole or None
        The classes with the row, which rules of a whole class's size are guarded by.
    """

    rows: slice
    rung: int
    counts: Array
    log_sums: Array
    log_norms: Array | None
    log_links: Array | None
    log_weight: Array
    whole: "Whole | None" = None

    def with_whole_classes(self) -> "LeftOut":
        """Return the same row's sums, judged by the classes as they were with it.

        A rule that looks at the size of a class can tell from it that a row is missing, and
        from which class: where windows are so narrow that sums tell nothing, leave-one-out would
        find it right every time.  What is right must be so either way.
        """
        assert self.whole is not None  # noqa: S101
        return replace(self, **vars(self.whole))


@dataclass(frozen=True)
class Whole:
    """The classes with all their rows at one bandwidth: (1, C) each."""

    counts: Array
    log_norms: Array
    log_links: Array


def left_out_windows(
    sample: Sample,
    widths: tuple[float, ...],
    vectors_of: Callable[..., ClassVectors] = ClassVectors,
) -> Iterator[LeftOut]:
    """Yield the plain class sums of kernels of these widths: all that Parzen's rule needs."""
    xp = array_namespace(sample.weights)
    vectors = vectors_of(sample, widths, xp.stack([sample.weights] * len(widths)))
    for rows in vectors.slabs():
        copies = sample.weights[rows] - sample.unit[rows]
        sums = add_own(sample, vectors.sums(rows), copies, rows)
        counts, zero = sample.counts_without(rows), xp.zeros_like(copies)
        for rung in range(len(widths)):
            yield LeftOut(rows, rung, counts, sums[rung], None, None, zero)


def left_out_vectors(
    sample: Sample,
    bandwidths: tuple[float, ...],
    densities: Array | None,
    *,
    squared: bool = True,
    leaving: Array | None = None,
    links: str | None = None,
    vectors_of: Callable[..., ClassVectors] = ClassVectors,
) -> Iterator[LeftOut]:
    """Yield sums, norms and links of the class vectors.

    Parameters
    ----------
    sample : Sample
    bandwidths : tuple of float
        Parzen widths, the widest first.
    densities : array of shape (b, n) or None
        F_j; None is f ≡ 1.
    squared : bool
        Whether densities sum windows of width h (the squared Mercer kernel) or the kernel itself.
    leaving : array of shape (n,) or None
        Weight of each row's window in the other rows' densities, where it is not u.
    links : {"norms", "counts"} or None
        What links are divided by; None if they are not wanted.
    vectors_of : callable
        Makes the class vectors of a sample, widths and weights.
    """
    xp = array_namespace(sample.weights)
    widths = tuple(mercer_width(h) for h in bandwidths)
    omega, unit = sample.weights, sample.unit
    F = xp.stack([xp.ones_like(omega)] * len(widths)) if densities is None else densities
    a = F**-0.5
    vectors = vectors_of(sample, widths, omega * a)
    own_sums = vectors.own_sums
    removal = None
    if densities is not None:
        gone = unit if leaving is None else leaving
        removal = Removal(gone, F, omega, squared, drift_weights=vectors.weights * own_sums)
    for rows in vectors.slabs():
        counts, own = sample.counts_without(rows), sample.own(rows)
        if removal is None:
            sums, drifts = vectors.sums(rows), None
        else:
            sums, drifts = vectors.sums_without(removal, rows)
        plain = vectors.sums(rows) if links is not None else sums
        copies, u = omega[rows] - unit[rows], unit[rows]
        for rung in range(len(widths)):
            a_i, R_i, beta_i = a[rung, rows], own_sums[rung, rows], vectors.weights[rung, rows]
            left = F[rung, rows] - u if densities is not None else F[rung, rows]
            a_left = xp.where(copies > 0, xp.where(left > 0, left, 1.0) ** -0.5, a_i)
            norms = vectors.squared_norms[rung, :] + xp.zeros_like(counts)
            # The row's own part leaves: V² − 2uaR + u²a², (19).
            change = -2 * u * a_i * R_i + (u * a_i) ** 2
            if drifts is not None:
                norms = norms + 2 * drifts[rung]
                own_term = xp.sum(xp.where(own, xp.exp(sums[rung]), 0.0), axis=1)
                change = change - 2 * u * a_i * (own_term - (R_i - beta_i))
                change = change + 2 * copies * (a_left - a_i) * (R_i - u * a_i)
            norms = xp.where(own, norms + change[:, None], norms)
            # Rounding must not take a norm below that of what surely is left.
            norms = xp.where(counts > 0, xp.maximum(norms, _tiny(norms)), xp.zeros_like(norms))
            log_norms = 0.5 * safe_log(norms)
            log_links = whole = None
            if links is not None:
                whole = _whole(vectors, rung, links)
                divisor = safe_log(counts) if links == "counts" else log_norms
                log_gone, log_kept = safe_log(u * a_i)[:, None], safe_log(copies * a_i)[:, None]
                log_links = _links(vectors, rung, rows, log_gone, log_kept, plain[rung], divisor)
            yield LeftOut(
                rows,
                rung,
                counts,
                add_own(sample, sums[rung], copies * a_left, rows),
                log_norms,
                log_links,
                -0.5 * xp.log(left + 1) if densities is not None else xp.zeros_like(u),
                whole,
            )


def _whole(vectors: ClassVectors, rung: int, links: str) -> Whole:
    """Return the classes as they are with all rows."""
    xp = array_namespace(vectors.weights)
    counts = vectors.sample.counts[None, :]
    log_norms = 0.5 * safe_log(vectors.squared_norms[rung, :])[None, :]
    divisor = safe_log(counts) if links == "counts" else log_norms
    products = vectors.products.log_all[rung, :, :]
    index = xp.arange(products.shape[0], device=device(products))
    others = xp.where(index[:, None] == index, -float("inf"), products - divisor)
    return Whole(counts, log_norms, logsumexp(others)[None, :])


def _links(
    vectors: ClassVectors,
    rung: int,
    rows: slice,
    log_gone: Array,
    log_kept: Array,
    plain: Array,
    divisor: Array,
) -> Array:
    """Return log Σ_{j≠c} ⟨M_c, M_j⟩ / v_j without each row: (rows, C), v in logs.

    Nothing is subtracted but what is at most half of the sum that it leaves, and nothing is scaled
    by what has left: far classes keep their digits where the row was all that linked them.
    """
    xp = array_namespace(plain)
    own, codes = vectors.sample.own(rows), vectors.sample.codes[rows]
    nothing, gone = xp.full_like(plain, -float("inf")), ~xp.isfinite(divisor)
    divisor = xp.where(gone, 0.0, divisor)
    left = _products_without(vectors, rung, rows, log_gone, log_kept, plain)
    of_own = logsumexp(xp.where(own | gone, nothing, left - divisor))

    # Links of the other classes c: j = y without the row, and all j but c and y as they are,
    # relative to the largest of these products.
    products = vectors.products.log_all[rung, :, :]
    index = xp.arange(products.shape[0], device=device(products))
    products = xp.where(index[:, None] == index, -float("inf"), products)
    shares = xp.where(own | gone, 0.0, xp.exp(-divisor))
    nearest = xp.argmax(products, axis=1)
    beyond = xp.where(index == nearest[:, None], -float("inf"), products)
    is_nearest = like(to_numpy(nearest) == codes[:, None], plain, dtype=xp.bool)
    others = xp.where(is_nearest, _log_combine(shares, beyond), _log_combine(shares, products))
    from_y = left - xp.sum(xp.where(own, divisor, 0.0), axis=1, keepdims=True)
    return xp.where(own, of_own[:, None], xp.logaddexp(others, from_y))


def _products_without(
    vectors: ClassVectors, rung: int, rows: slice, log_gone: Array, log_kept: Array, plain: Array
) -> Array:
    """Return log ⟨M_y, M_j⟩ of each row's class y without the row: (rows, C)."""
    xp = array_namespace(plain)
    products, codes = vectors.products, vectors.sample.codes[rows]
    log_all, log_rest = (
        take_rows(p[rung, :, :], codes) for p in (products.log_all, products.log_rest)
    )
    largest = to_numpy(products.largest[rung, :, :])[codes, :]
    is_largest = like(largest == np.arange(rows.start, rows.stop)[:, None], plain, dtype=xp.bool)
    # u a Σ_{l in j} β_l k(x_i, x_l) leaves; repetitions of the row stay.
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


def _tiny(a: Array) -> Array:
    return array_namespace(a).full_like(a, 1e-300)
