"""Class vectors in the kernel's feature space, and the decision rules that score by them.

Notation, for a point x and classes c: M_c = Σ_{i in c} β_i Φ(x_i) is the class vector, V_c = ‖M_c‖
its norm; A_c = Σ_{i in c} β_i k(x, x_i) is the inner product of x with it; a is x's own weight
f̂(x)^(−1/2).  With b sets of weights β, one for each bandwidth of a ladder, norms and products come
from one pass over the pairs.  Each rule is a pure function from sums over classes to scores.
The angles come from [1]_, the distances from [2]_.

References
----------
.. [1] R. Jenssen, D. Erdogmus, J. C. Principe and T. Eltoft, "The Laplacian classifier", IEEE
   Transactions on Signal Processing 55(7), 2007.  https://doi.org/10.1109/TSP.2007.894391
.. [2] R. Jenssen, T. Eltoft, D. Erdogmus and J. C. Principe, "Some equivalences between kernel
   methods and information theoretic methods", Journal of VLSI Signal Processing 45, 2006.
   https://doi.org/10.1007/s11265-006-9771-8
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, to_numpy
from mercer._memory import working_memory
from mercer.kernels import Kernel, overlap_width
from mercer.samples import Rows, SortedSample, home_of, log_sum_of_others, logsumexp, safe_log
from mercer.sums import (
    Products,
    Removal,
    group_products,
    group_slabs,
    group_sums,
    left_out_log_sums,
    own_group_sums,
)

_LOG_2 = 0.6931471805599453


@dataclass(frozen=True)
class ClassVectors:
    """The class vectors of a sample, for every bandwidth.

    Sums, norms and products that have been computed are `known`, by name.
    """

    sample: SortedSample
    widths: tuple[float, ...]  # of the kernel, the widest first
    weights: Array  # β in float64: (b, n)
    kernel: Kernel
    tol: float | None = None  # relative error allowed to `own_sums`; None adds up every term
    known: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def _once(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return what is known under this name, or compute and keep it."""
        if name not in self.known:
            self.known[name] = compute()
        return self.known[name]

    def at(self, rungs: Sequence[int]) -> "ClassVectors":
        """Return those of some bandwidths, with what is known of them."""
        if len(rungs) == len(self.widths):
            return self
        rungs = list(rungs)
        widths = tuple(self.widths[r] for r in rungs)
        known = {name: values[rungs] for name, values in self.known.items()}
        return replace(self, widths=widths, weights=self.weights[rungs], known=known)

    @classmethod
    def of(
        cls,
        sample: SortedSample,
        bandwidth: Any,
        weights: Array,
        kernel: Kernel,
        tol: float | None = None,
    ) -> "ClassVectors":
        """Return the class vectors at one Parzen width; at one for each class, for norms alone.

        Norms do not mix classes, so that the rows of each class may be divided by its width.
        """
        if not isinstance(bandwidth, float):
            xp = array_namespace(sample.X)
            own = xp.astype(sample.of_own_class(bandwidth), sample.X.dtype)
            sample, bandwidth = replace(sample, X=sample.X / own[:, None]), 1.0
        width = overlap_width(kernel, bandwidth, bandwidth)
        return cls(sample, (width,), weights[None, :], kernel, tol)

    @property
    def own_sums(self) -> Array:
        """R_i = Σ_{j in i's class} β_j k(x_i, x_j), the row itself included: (b, n)."""
        return self._once("own sums", self._own_sums)

    def _own_sums(self) -> Array:
        X, codes = self.sample.X, self.sample.codes
        options: dict[str, Any] = {
            "bandwidths": self.widths, "weights": self.weights, "kernel": self.kernel
        }  # fmt: skip
        return home_of(X).computed(own_group_sums(X, codes, tol=self.tol, **options))

    @property
    def squared_norms(self) -> Array:
        """V_c² = Σ_{i in c} β_i R_i: (b, C)."""
        return self._once("norms", lambda: self.sample.class_sums(self.weights * self.own_sums))

    @property
    def products(self) -> Products:
        """⟨M_c, M_j⟩, as sums over the rows of c: one pass."""
        products: Products = self._once("products", self._products)
        return products

    def _products(self) -> Products:
        n_classes = self.sample.n_classes
        n_bytes = 8 * 3 * len(self.widths) * n_classes**2
        if n_bytes > working_memory():
            raise ValueError(
                f"Leave-one-out of this rule takes the products of all {n_classes} classes with "
                f"each other, {n_bytes / 2**20:.0f} MiB and more than working_memory="
                f"{working_memory() / 2**20:.0f} MiB; give a number or a rule as bandwidth."
            )
        return group_products(
            self.sample.X, self.sample.codes, n_groups=n_classes, bandwidths=self.widths,
            weights=self.weights, kernel=self.kernel, sums=self.sums,
        )  # fmt: skip

    def sums(self, rows: Rows) -> Array:
        """Return log Σ_{j in c} β_j k(x_i, x_j) without j = i, in memory: (b, rows, C).

        Sums of all rows at once are kept for the next call.
        """
        if self._is_every(rows):
            return self._once("sums", lambda: self.left_out(rows)[0])
        if "sums" in self.known:
            return self.known["sums"][:, self.sample.in_memory.index(rows), :]
        return self.left_out(rows)[0]

    def sums_without(self, rows: Rows, removal: Removal) -> tuple[Array, Array | None]:
        """Return the sums at rows without them and without their windows, and their drifts.

        They are kept for the next call as `sums` are, which is with the same removal.
        """
        names = ("sums without", "drifts")
        if not set(names) <= set(self.known):
            found = self.left_out(rows, removal)
            if not self._is_every(rows):
                return found
            self.known.update(zip(names, found, strict=True))
        sums, drifts = (self.known[name] for name in names)
        at = self.sample.in_memory.index(rows)
        return sums[:, at, :], drifts[:, at, :]

    def _is_every(self, rows: Rows) -> bool:
        return isinstance(rows, slice) and (rows.start, rows.stop) == (0, self.sample.X.shape[0])

    def left_out(self, rows: Rows, removal: Removal | None = None) -> tuple[Array, Array | None]:
        """Return the sums at rows of `sample.in_memory` without them, and their drifts."""
        return left_out_log_sums(
            self.sample.X,
            self.sample.codes,
            bandwidths=self.widths,
            weights=self.weights,
            kernel=self.kernel,
            removal=removal,
            rows=self.sample.places(rows),
            n_groups=self.sample.n_classes,
        )

    def slabs(self, rows: NDArray[np.int64] | None = None) -> Iterator[Any]:
        """Cut these rows, or all, into arrays, or slices, whose sums fit the memory budget."""
        n = self.sample.X.shape[0] if rows is None else rows.size
        for start, stop in group_slabs(n, self.sample.n_classes, len(self.widths)):
            yield slice(start, stop) if rows is None else rows[start:stop]


def log_class_sums(
    X: Array,
    nodes: Array,
    weights: Array,
    codes: Array,
    n_classes: int,
    bandwidth: Any,
    kernel: Kernel,
    tol: float | None = None,
) -> Array:
    """Return log Σ_{i in c} ω_i W(x − x_i): (n, C).

    W is the kernel, 1 at distance 0; if the bandwidth is one for each class, it integrates to 1.
    """
    shape: dict[str, Any] = {"log": True, "kernel": kernel, "tol": tol}
    if isinstance(bandwidth, float):
        return group_sums(X, nodes, weights, codes, n_classes, bandwidth=bandwidth, **shape)
    widths = to_numpy(bandwidth).tolist()
    sums = group_sums(X, nodes, weights, codes, n_classes, bandwidth=widths, **shape)
    log_normalisers = [kernel.log_normaliser(h, X.shape[1]) for h in widths]
    return sums - home_of(X).like(log_normalisers, sums)


def add_to_own_class(sample: SortedSample, log_sums: Array, values: Array, rows: Rows) -> Array:
    """Add values (…, rows) to the sums (…, rows, C) of each row's own class."""
    xp = array_namespace(log_sums)
    if bool(xp.all(values <= 0)):
        return log_sums
    with_values = xp.logaddexp(log_sums, xp.expand_dims(safe_log(values), axis=-1))
    return xp.where(sample.is_of_class(rows), with_values, log_sums)


def cosine_scores(log_sums: Array, log_norms: Array) -> Array:
    """Return log γ_c = log A_c − log V_c, [1]_ (18); −inf for a class without rows."""
    xp = array_namespace(log_sums)
    present = log_norms != -float("inf")
    absent = xp.full_like(log_sums, -float("inf"))
    return xp.where(present, log_sums - xp.where(present, log_norms, 0.0), absent)


def append_scores(
    log_sums: Array, log_norms: Array, log_links: Array, log_weight: Array, n_total: Array
) -> Array:
    """Return −N log LIC(x in c) + N log LIC: how much less the multiway cut is with x in c.

    The Laplacian information cut is Σ_{i<j} cos∠(M_i, M_j), [1]_ (15).  Of its terms only those
    of class c change when x joins it:

        Σ_{j≠c} ⟨M_c + aΦ(x), M_j⟩ / (V'_c V_j) = (B_c + a Σ_{j≠c} A_j/V_j) / V'_c,
        V'_c² = V_c² + 2aA_c + a²,

    with links B_c = Σ_{j≠c} ⟨M_c, M_j⟩/V_j.  The new cut is LIC + t₁ − t₂ with
    t₁ = a Σ_{j≠c} (A_j/V_j) / V'_c and t₂ = B_c (1/V_c − 1/V'_c), both positive.

    log A, log V and log B broadcast to (n, classes), log a is (n,); V = 0 for a class without rows.
    N counts the divergence of a sample once for each of its points, as a log-likelihood is.
    """
    xp = array_namespace(log_sums)
    cosines = cosine_scores(log_sums, log_norms)
    present = log_norms + xp.zeros_like(log_sums) != -float("inf")
    log_a = xp.expand_dims(log_weight, axis=-1)
    log_v = xp.where(present, log_norms, xp.zeros_like(cosines))
    # V'² − V² = 2aA + a²
    log_growth = log_a + xp.logaddexp(log_sums + _LOG_2, log_a + xp.zeros_like(log_sums))
    log_appended = 0.5 * xp.logaddexp(2 * log_v, log_growth)
    log_cut = logsumexp(xp.where(present, log_links - log_v, -float("inf"))) - _LOG_2
    log_cut = xp.expand_dims(log_cut, axis=-1)
    has_cut = log_cut != -float("inf")
    log_cut = xp.where(has_cut, log_cut, xp.zeros_like(log_cut))
    t1 = log_a + log_sum_of_others(cosines) - log_appended - log_cut
    # 1/V − 1/V' = (V'² − V²) / (V V' (V + V'))
    t2 = log_links + log_growth - log_v - log_appended - xp.logaddexp(log_v, log_appended) - log_cut
    share = xp.exp(t2)
    is_small = share < 0.5
    # 1 − t₂ where x outweighs its class: the share of the pairs without c, and B_c/V'.  With two
    # classes there are no pairs without c.
    n_present = xp.sum(xp.astype(present, log_sums.dtype), axis=-1, keepdims=True)
    kept = 1 - xp.exp(xp.where(present, log_links - log_v, -float("inf")) - log_cut)
    kept = xp.where(n_present > 2, kept, xp.zeros_like(kept))
    direct = xp.logaddexp(safe_log(kept), log_links - log_appended - log_cut)
    left = xp.where(is_small, xp.log1p(-xp.where(is_small, share, 0.0)), direct)
    scores = -n_total * xp.logaddexp(left, t1)
    # A single class has no cut, and is the answer.
    scores = xp.where(has_cut, scores, xp.zeros_like(scores))
    return xp.where(present, scores, xp.full_like(scores, -float("inf")))


def plane_scores(sums: Array, grams: Array, counts: Array, peak: float, least: float) -> Array:
    """Return 4 (⟨Φ(x), m_c⟩ − ½‖m_c‖²) / τ²: the nearest class mean has the largest, [2]_ (39).

    For two classes their difference is 4 (p̂ − q̂ + b) / τ², (42).  τ² makes it a number without
    unit, so that a soft-max of it says something: with v the mean of ‖m_c‖² over the classes, rows
    lie at a mean squared distance of p − v from their class mean, where p = ‖Φ(x)‖² is the kernel's
    peak, and a class takes up the room of p/v windows that do not meet; τ² = v (p − v) / p is that
    distance, shared out over them.  Of classes without any spread p − v is rounding: it is taken
    to be `least` of p.  The 4 makes these scores those of `ise_scores`, to first order, for two
    classes of one size whose windows do not meet.

    All are (n, classes) or broadcast to it; counts are 0 for a class without rows.
    """
    xp = array_namespace(sums)
    present = counts > 0
    n_classes = xp.sum(xp.astype(present, sums.dtype), axis=-1, keepdims=True)
    v = xp.sum(xp.where(present, grams, 0.0), axis=-1, keepdims=True) / n_classes
    spread = xp.maximum(peak - v, xp.full_like(v, least * peak))
    scores = (sums - grams / 2) * (4 * peak / (v * spread))
    return xp.where(present, scores, xp.full_like(scores, -float("inf")))


def ise_scores(sums: Array, grams: Array, cross: Array, counts: Array) -> Array:
    """Return N log of Σ ISE with x in c over Σ ISE, over all pairs of classes, [2]_ (34)–(36).

    The arguments are those of `ise_gains`.
    """
    xp = array_namespace(sums)
    present = counts > 0
    n_classes = xp.sum(xp.astype(present, sums.dtype), axis=-1, keepdims=True)
    gains = ise_gains(sums, grams, cross, counts)
    # Σ_{i<j} ‖m_i − m_j‖² = C Σ ‖m_c‖² − ‖Σ m_c‖²
    norms = xp.where(present, grams, xp.zeros_like(grams))
    total = n_classes * xp.sum(norms, axis=-1, keepdims=True)
    ise = total - xp.sum(xp.where(present, cross, 0.0), axis=-1, keepdims=True)
    ise = xp.maximum(ise, total * 1e-15)  # Between equal classes the rest is rounding.
    ratio = xp.where(present, gains / ise, xp.zeros_like(gains))
    n_total = xp.sum(counts, axis=-1, keepdims=True)
    scores = n_total * xp.log1p(xp.maximum(ratio, xp.full_like(ratio, -1 + 1e-15)))
    return xp.where(present, scores, xp.full_like(scores, -float("inf")))


def ise_gains(sums: Array, grams: Array, cross: Array, counts: Array) -> Array:
    """Return by how much the sum of pairwise ISE grows when x joins class c, [2]_ (35)–(36).

    With m'_c = m_c + ε(Φ(x) − m_c), ε = 1/(Ω_c + 1), and m = Σ_j m_j over all C classes,

        Σ_{j≠c} ‖m'_c − m_j‖² − ‖m_c − m_j‖²
            = 2ε ⟨Φ(x) − m_c, C m_c − m⟩ + (C − 1) ε² ‖Φ(x) − m_c‖².

    All are (n, classes) or broadcast to it: the sums ⟨Φ(x), m_c⟩ with k(x, x) = 1, the grams
    ‖m_c‖², cross ⟨m_c, m⟩, and the counts Ω_c, 0 for a class without rows.
    """
    xp = array_namespace(sums)
    present = counts > 0
    n_classes = xp.sum(xp.astype(present, sums.dtype), axis=-1, keepdims=True)
    epsilon = 1 / (counts + 1)
    everywhere = xp.sum(xp.where(present, sums, xp.zeros_like(sums)), axis=-1, keepdims=True)
    step = n_classes * sums - everywhere - n_classes * grams + cross
    gains = 2 * epsilon * step + (n_classes - 1) * epsilon**2 * (1 - 2 * sums + grams)
    return xp.where(present, gains, xp.full_like(gains, -float("inf")))
