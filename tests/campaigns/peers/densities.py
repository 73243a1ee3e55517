"""Densities with the interfaces of scikit-learn and SciPy that are computed by Mercer."""

from typing import Any

import numpy as np
from scipy.stats import gaussian_kde
from sklearn.neighbors._kde import KernelDensity as TreeDensity

from mercer import density
from mercer.information import cross_information_potential
from mercer.kernels import get_kernel
from mercer.sums import kernel_sum, log_kernel_sum

_OF_A_TREE = ("algorithm", "atol", "rtol", "breadth_first", "leaf_size", "metric_params")


class KernelDensity(density.KernelDensity):
    """Mercer's estimator, which is told of scikit-learn's trees and does without them.

    Distances that it does not have are left to scikit-learn's.
    """

    def __init__(
        self,
        *,
        bandwidth: Any = 1.0,
        algorithm: str = "auto",
        kernel: str = "gaussian",
        metric: str = "euclidean",
        atol: float = 0,
        rtol: float = 0,
        breadth_first: bool = True,
        leaf_size: int = 40,
        metric_params: Any = None,
    ) -> None:
        is_ours = metric in ("euclidean", "minkowski")
        super().__init__(bandwidth=bandwidth, kernel=kernel)
        self.metric = "euclidean" if is_ours else metric
        self.algorithm, self.leaf_size = algorithm, leaf_size
        self.atol, self.rtol, self.breadth_first = atol, rtol, breadth_first
        self.metric_params = metric_params

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "KernelDensity":
        if self.metric == "euclidean":
            fitted: KernelDensity = super().fit(X, y, sample_weight)
            return fitted
        theirs = {name: getattr(self, name) for name in ("bandwidth", "kernel", "metric")}
        theirs |= {name: getattr(self, name) for name in _OF_A_TREE}
        self.theirs_ = TreeDensity(**theirs).fit(X, y, sample_weight)
        return self

    def score_samples(self, X: Any) -> Any:
        fitted = self.theirs_ if hasattr(self, "theirs_") else super()
        return fitted.score_samples(X)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        fitted = self.theirs_ if hasattr(self, "theirs_") else super()
        return fitted.sample(n_samples, random_state)


class GaussianDensity(gaussian_kde):
    """SciPy's density; its sums over rows in whitened coordinates are Mercer's."""

    def evaluate(self, points: Any) -> Any:
        rows, dtype = self._whitened(points)
        volume = np.exp(self._log_volume())
        return (self._sums(kernel_sum, rows) / volume).astype(dtype)

    __call__ = evaluate

    def pdf(self, x: Any) -> Any:
        return self.evaluate(x)

    def logpdf(self, x: Any) -> Any:
        rows, dtype = self._whitened(x)
        return (self._sums(log_kernel_sum, rows) - self._log_volume()).astype(dtype)

    def integrate_kde(self, other: gaussian_kde) -> float:
        if not np.array_equal(self.covariance, other.covariance):
            return super().integrate_kde(other)
        potential = cross_information_potential(
            self._whiten(self.dataset),
            self._whiten(other.dataset),
            bandwidth=1.0,
            sample_weight=self.weights,
            sample_weight_y=other.weights,
        )
        return float(potential / np.prod(np.diag(self._factor())))

    def _sums(self, function: Any, rows: Any) -> Any:
        return function(rows, self._whiten(self.dataset), weights=self.weights, bandwidth=1.0)

    def _whitened(self, points: Any) -> tuple[Any, Any]:
        points = np.atleast_2d(np.asarray(points))
        if points.shape[0] != self.d:
            if points.shape != (1, self.d):
                raise ValueError(
                    f"points have dimension {points.shape[0]}, dataset has dimension {self.d}"
                )
            points = points.T
        return self._whiten(points), np.result_type(self.covariance, points)

    def _whiten(self, points: Any) -> Any:
        return np.linalg.solve(self._factor(), np.asarray(points, float)).T

    def _factor(self) -> Any:
        return np.linalg.cholesky(np.asarray(self.covariance, float))

    def _log_volume(self) -> float:
        """Return log ∫ of a Gaussian with the covariance of this density."""
        log_determinant = np.log(np.diag(self._factor())).sum()
        return float(get_kernel("gaussian").log_normaliser(1.0, self.d) + log_determinant)
