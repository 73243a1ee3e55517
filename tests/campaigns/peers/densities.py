"""Densities of scikit-learn and SciPy whose sums of kernels are Mercer's."""

from typing import Any

import numpy as np
from scipy.stats import gaussian_kde
from sklearn import neighbors
from sklearn.utils.validation import check_is_fitted

from mercer.information import cross_information_potential
from mercer.kernels import get_kernel
from mercer.sums import kernel_sum, log_kernel_sum

_KERNELS = {"gaussian": "gaussian", "epanechnikov": "epanechnikov", "exponential": "exponential"}


class KernelDensity(neighbors.KernelDensity):
    """scikit-learn's estimator; sums of the kernels that Mercer has are Mercer's."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "KernelDensity":
        super().fit(X, y, sample_weight)
        self.rows_ = np.asarray(self.tree_.data)
        self.weights_ = None if sample_weight is None else np.asarray(sample_weight, float)
        return self

    def score_samples(self, X: Any) -> Any:
        check_is_fitted(self)
        if self.kernel not in _KERNELS or self.metric not in ("euclidean", "minkowski"):
            return super().score_samples(X)
        kernel = get_kernel(_KERNELS[self.kernel])
        log_sums = log_kernel_sum(
            X, self.rows_, weights=self.weights_, kernel=kernel, bandwidth=self.bandwidth_
        )
        total = len(self.rows_) if self.weights_ is None else self.weights_.sum()
        log_volume = kernel.log_normaliser(self.bandwidth_, self.rows_.shape[1])
        return log_sums - np.log(total) - log_volume


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
