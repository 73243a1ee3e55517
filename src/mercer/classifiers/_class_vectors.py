"""Class vectors M_c = Σ_{i in c} β_i Φ(x_i) in the kernel's feature space: norms and products.

With b sets of weights β, one for each bandwidth of a ladder, everything comes from one pass over
the pairs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer._memory import working_memory
from mercer.samples import Rows, SortedSample, home_of, safe_log
from mercer.sums import (
    Products,
    Removal,
    group_products,
    group_slabs,
    left_out_log_sums,
    own_group_sums,
)


@dataclass(frozen=True)
class ClassVectors:
    """The class vectors of a sample, for every bandwidth.

    Parameters
    ----------
    sample : SortedSample
    widths : tuple of float
        Of the Mercer kernel, the widest first.
    weights : float64 array of shape (b, n)
        β.
    tol : float or None
        Relative error allowed to `own_sums`; None adds up every term.
    known : dict
        What has been computed so far.
    """

    sample: SortedSample
    widths: tuple[float, ...]
    weights: Array
    tol: float | None = None
    known: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def _once(self, name: str, compute: Callable[[], Any]) -> Any:
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
        return ClassVectors(self.sample, widths, self.weights[rungs], self.tol, known)

    @property
    def own_sums(self) -> Array:
        """R_i = Σ_{j in i's class} β_j k(x_i, x_j), the row itself included: (b, n)."""
        return self._once("own sums", self._own_sums)

    def _own_sums(self) -> Array:
        X, codes = self.sample.X, self.sample.codes
        options: dict[str, Any] = {"weights": self.weights, "tol": self.tol}
        return home_of(X).computed(own_group_sums(X, codes, bandwidths=self.widths, **options))

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
            weights=self.weights, sums=self.sums,
        )  # fmt: skip

    def sums(self, rows: Rows) -> Array:
        """Return log Σ_{j in c} β_j k(x_i, x_j) without j = i, in memory: (b, rows, C).

        Sums of all rows at once are kept for the next one who asks.
        """
        if isinstance(rows, slice) and (rows.start, rows.stop) == (0, self.sample.X.shape[0]):
            return self._once("sums", lambda: self.left_out(rows)[0])
        if "sums" in self.known:
            return self.known["sums"][:, self.sample.in_memory.index(rows), :]
        return self.left_out(rows)[0]

    def left_out(self, rows: Rows, removal: Removal | None = None) -> tuple[Array, Array | None]:
        """Return the sums at rows of `sample.in_memory` without them, and their drifts."""
        return left_out_log_sums(
            self.sample.X,
            self.sample.codes,
            bandwidths=self.widths,
            weights=self.weights,
            removal=removal,
            rows=self.sample.places(rows),
            n_groups=self.sample.n_classes,
        )

    def slabs(self, rows: NDArray[np.int64] | None = None) -> Iterator[Any]:
        """Cut these rows, or all, into arrays, or slices, whose sums fit the memory budget."""
        n = self.sample.X.shape[0] if rows is None else rows.size
        for start, stop in group_slabs(n, self.sample.n_classes, len(self.widths)):
            yield slice(start, stop) if rows is None else rows[start:stop]


def add_own(sample: SortedSample, log_sums: Array, values: Array, rows: Rows) -> Array:
    """Add values (…, rows) to the sums (…, rows, C) of each row's own class."""
    xp = array_namespace(log_sums)
    if bool(xp.all(values <= 0)):
        return log_sums
    with_values = xp.logaddexp(log_sums, xp.expand_dims(safe_log(values), axis=-1))
    return xp.where(sample.is_of_class(rows), with_values, log_sums)
