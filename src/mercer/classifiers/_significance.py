"""Densities at the training rows, and the weights that the Laplacian classifier makes of them."""

from dataclasses import dataclass, replace

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, to_numpy
from mercer.classifiers._class_vectors import log_class_sums
from mercer.kernels import Kernel, overlap_width
from mercer.samples import SortedSample, home_of, logsumexp
from mercer.sums import kernel_sum


@dataclass(frozen=True)
class Density:
    """How f̂ is estimated: a Parzen estimate over all rows or a subset, the row itself included.

    Densities are in units of one window's peak: F_j = Σ_l ω_l g(x_j, x_l) with g = 1 at distance 0.
    Windows are of width h, [1] (8), for "parzen", and of the Mercer kernel's width for "mercer",
    which is √2·h if they are Gaussian; None is f ≡ 1.
    """

    kind: str | None
    kernel: Kernel
    subset: NDArray[np.int64] | None = None  # the rows that f̂ is estimated from; None is all

    @property
    def squared(self) -> bool:
        """Whether the window is the square of the Mercer kernel."""
        return self.kind == "parzen" and self.kernel.name == "gaussian"

    def window(self, bandwidth: float) -> float:
        """Return the width of the windows."""
        if self.kind == "parzen":
            return bandwidth
        return overlap_width(self.kernel, bandwidth, bandwidth)

    def of_rows(self, order: NDArray[np.int64]) -> "Density":
        """Return the same for rows in another order."""
        if self.subset is None or order.size == 0:  # Rows of a Dask array keep their order.
            return self
        is_in = np.isin(order, self.subset)
        return replace(self, subset=np.flatnonzero(is_in))

    def at_rows(
        self,
        X: Array,
        weights: Array,
        bandwidths: tuple[float, ...],
        tol: float | None = None,
    ) -> Array | None:
        """Return F at the training rows, within tol: (b, n); None for f ≡ 1."""
        if self.kind is None:
            return None
        xp = array_namespace(weights)
        widths = [self.window(h) for h in bandwidths]
        counts = xp.astype(weights, X.dtype)
        if self.subset is None:
            F = kernel_sum(X, weights=counts, kernel=self.kernel, bandwidth=widths, tol=tol)
            return home_of(weights).computed(xp.maximum(xp.astype(F, xp.float64), weights))
        # Every row has its own term, in the subset or not; terms of other rows are scaled up.
        home = home_of(weights)
        chosen, rows = (home.take_rows(A, self.subset) for A in (counts, X))
        F = kernel_sum(X, rows, weights=chosen, kernel=self.kernel, bandwidth=widths, tol=tol)
        self_terms = self.subset_weights(weights)
        others = xp.maximum(xp.astype(F, xp.float64) - self_terms, xp.zeros_like(self_terms))
        return home.computed(weights + others * self._scale(weights))

    def of_widths(self, sample: SortedSample, bandwidths: Array, tol: float | None) -> Array | None:
        """Return F with a width for each class, in units of the least F of a row's class: (n,).

        Windows integrate to 1, so that those of different widths can be added up.
        """
        if self.kind is None:
            return None
        if self.subset is not None:
            raise ValueError(
                "density_subset takes one width for all classes; leave it out, or give one "
                "bandwidth."
            )
        windows = sample.per_class([self.window(h) for h in to_numpy(bandwidths).tolist()])
        X, codes, n_classes = sample.X, sample.codes, sample.n_classes
        logs = logsumexp(
            log_class_sums(X, X, sample.weights, codes, n_classes, windows, self.kernel, tol)
        )
        least = -home_of(logs).class_maxima(codes, -logs, n_classes)
        xp = array_namespace(logs)
        return xp.exp(logs - sample.of_own_class(sample.per_class(least)))

    def rows_for_points(self, X: Array, weights: Array) -> tuple[Array, Array]:
        """Return rows and weights whose windows, with a point's own, add up to F at that point."""
        xp = array_namespace(weights)
        if self.subset is None:
            return X, weights
        rows, chosen = (home_of(A).take_rows(A, self.subset) for A in (X, weights))
        return rows, chosen * (xp.sum(weights) / xp.sum(chosen))

    def leaving(self, weights: Array, unit: Array) -> Array | None:
        """Return the weight of each row's window in other densities; None if that is `unit`."""
        if self.subset is None:
            return None
        share = self.subset_weights(weights) / weights
        return unit * share * float(array_namespace(weights).min(self._scale(weights)))

    def subset_weights(self, weights: Array) -> Array:
        """Return the weights of rows in the subset, 0 for others: (n,)."""
        mask = np.zeros(weights.shape[0])
        mask[self.subset] = 1
        return weights * home_of(weights).beside(mask, weights)

    def _scale(self, weights: Array) -> Array:
        """Return the factor by which the subset's other rows stand for all other rows: (n,)."""
        xp = array_namespace(weights)
        chosen = self.subset_weights(weights)
        rest = xp.sum(chosen) - chosen
        alone = rest <= 0
        return xp.where(alone, 0.0, (xp.sum(weights) - weights) / xp.where(alone, 1.0, rest))


def choose_subset(
    size: int | float | None, n: int, random_state: np.random.RandomState
) -> NDArray[np.int64] | None:
    """Return a sorted random subset of rows; a float is a share."""
    if size is None:
        return None
    count = count_of(size, n)
    if count > n:
        raise ValueError(f"density_subset={size} asks for more rows than the {n} of X.")
    return np.sort(random_state.permutation(n)[:count])


def count_of(size: int | float, n: int) -> int:
    """Return how many of n rows are wanted; a float is a share."""
    return int(size) if isinstance(size, int | np.integer) else max(1, round(size * n))
