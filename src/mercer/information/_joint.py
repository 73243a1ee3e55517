"""Two sets of columns of the same rows: the Parzen estimates of each, and of both together.

The joint window is the product of the two.  A product of Gaussian kernels, or of city-block
ones, is a kernel of the same form over all columns, each divided by its width: the double sum of
the product is one kernel sum.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from mercer._arrays import Array
from mercer.bandwidth import resolve_bandwidth
from mercer.information._estimates import Estimate, Weights, as_double, log_mean_kernel
from mercer.kernels import Kernel, get_kernel
from mercer.samples import check_sample, check_sides, home_of, total_weight
from mercer.sums import log_kernel_sum

_PRODUCTS = ("gaussian", "laplacian")


@dataclass(frozen=True)
class Potentials:
    """Logarithms of mean products of the kernels k of X and l of Y, with k(0) = l(0) = 1.

    Attributes
    ----------
    log_joint : scalar array
        Of V_J, the mean of k(i, j)·l(i, j) over pairs of rows.
    log_marginal : scalar array
        Of V_M, the mean of k(i, j) times that of l(i, j).
    log_cross : scalar array
        Of V_C, the mean over rows of the row means of k times those of l.
    """

    log_joint: Array
    log_marginal: Array
    log_cross: Array


@dataclass(frozen=True)
class Joint:
    """Parzen estimates of X and of Y, whose rows belong together and have the same weights."""

    x: Estimate
    y: Estimate

    @classmethod
    def of(
        cls, X: Any, Y: Any, sample_weight: Any, bandwidth: Any, kernel: str | Kernel
    ) -> "Joint":
        """Return the estimates of what users pass, checked; a rule looks at each side alone."""
        kernel = get_kernel(kernel)
        if kernel.name not in _PRODUCTS:
            names = " or ".join(map(repr, _PRODUCTS))
            raise ValueError(
                f"Measures of dependence need a kernel that is a product over columns, {names}; "
                f"got {kernel.name!r}."
            )
        X, Y = check_sides(X, Y)
        if sample_weight is not None:
            given = sample_weight
            X, sample_weight = check_sample(X, given)
            Y, _ = check_sample(Y, given, of=X)
        if X.dtype != Y.dtype:
            xp: Any = array_namespace(X)
            X, Y = (xp.astype(A, xp.float64) for A in (X, Y))
        h_x, h_y = (
            resolve_bandwidth(h, A, sample_weight, kernel=kernel)
            for h, A in zip(bandwidth_of_sides(bandwidth), (X, Y), strict=True)
        )
        return cls(Estimate(X, sample_weight, h_x, kernel), Estimate(Y, sample_weight, h_y, kernel))

    @property
    def weights(self) -> Weights:
        """Weights of the rows, or None."""
        return self.x.weights

    @property
    def n_rows(self) -> int:
        """How many rows have a weight."""
        return int(self.x.X.shape[0])

    @property
    def log_normaliser(self) -> float:
        """Log of the integral of the product of both kernels."""
        return self.x.log_normaliser + self.y.log_normaliser

    def joined(self) -> Array:
        """Return the columns of both sides, over which the product of their kernels has width 1."""
        parts = [side.X / side.width for side in (self.x, self.y)]
        return home_of(self.x.X).side_by_side(parts)

    def potentials(self) -> Potentials:
        """Return V_J, V_M and V_C with the pairs of a row with itself, in logarithms."""
        w, home = self.weights, home_of(self.x.X)
        x = self._log_row_sums(self.x.X, self.x.width)
        y = self._log_row_sums(self.y.X, self.y.width)
        log_w = 0.0 if w is None else home.like(np.log(w), x)
        log_n = float(np.log(total_weight(self.x.X, w)))
        return Potentials(
            log_joint=log_mean_kernel(self.joined(), w, None, w, self.x.kernel, 1.0),
            log_marginal=home.log_total(x + log_w) + home.log_total(y + log_w) - 4 * log_n,
            log_cross=home.log_total(x + y + log_w) - 3 * log_n,
        )

    def potentials_of_pairs(self) -> Potentials:
        """Return sums as V_J, V_M and V_C are, of pairs of different rows, not divided by n."""
        home = home_of(self.x.X)
        x = self._log_row_sums(self.x.X, self.x.width, exclude_self=True)
        y = self._log_row_sums(self.y.X, self.y.width, exclude_self=True)
        both = self._log_row_sums(self.joined(), 1.0, exclude_self=True)
        return Potentials(
            log_joint=home.log_total(both),
            log_marginal=home.log_total(x) + home.log_total(y),
            log_cross=home.log_total(x + y),
        )

    def _log_row_sums(self, X: Array, width: float, *, exclude_self: bool = False) -> Array:
        """Return log Σⱼ wⱼ k(i, j) for every row i of these columns."""
        home = home_of(X)
        weights = None if self.weights is None else home.like(self.weights, X)
        sums = log_kernel_sum(
            X,
            weights=weights,
            kernel=self.x.kernel,
            bandwidth=width,
            exclude_self=exclude_self,
        )
        return home.computed(as_double(sums))


def bandwidth_of_sides(bandwidth: Any) -> tuple[Any, Any]:
    """Return the bandwidth of X and that of Y, where users pass one or two."""
    if isinstance(bandwidth, Sequence) and not isinstance(bandwidth, str):
        if len(bandwidth) != 2:
            raise ValueError(
                f"bandwidth must be one, or two, for X and for Y; got {len(bandwidth)} of them."
            )
        return bandwidth[0], bandwidth[1]
    return bandwidth, bandwidth
