"""Coordinates in which windows are round: columns divided by widths, or whitened by a matrix."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from mercer._arrays import Array, FloatArray, detached, to_numpy
from mercer.samples import count_rows, home_of, total_weight

# Quartiles come from so many numbers at most, but of no fewer rows than this.
_MOST_NUMBERS, _LEAST_ROWS = 2**24, 10_000
_NORMAL_QUARTILES = 1.3489795003921634  # how far apart those of a standard normal distribution are


@dataclass(frozen=True, eq=False)
class Coordinates:
    """z = F⁻¹(x − c), for the factor F of a matrix F·Fᵀ, or of the squares of widths.

    Parameters
    ----------
    centre : ndarray of shape (d,)
        c, near the rows, so that offsets cost no digits.
    factor : ndarray of shape (d,) or (d, d)
        Widths of the columns, or a lower triangular matrix.
    """

    centre: FloatArray
    factor: FloatArray

    @property
    def is_along_columns(self) -> bool:
        """Whether each coordinate is a column."""
        return self.factor.ndim == 1

    @property
    def log_volume(self) -> float:
        """Log of the volume, in the units of the rows, of a unit cube: log |det F|."""
        widths = self.factor if self.is_along_columns else np.diag(self.factor)
        return float(np.log(widths).sum())

    @property
    def lengths(self) -> FloatArray:
        """How far a unit reaches along each column: the roots of the diagonal of F·Fᵀ."""
        if self.is_along_columns:
            return self.factor
        largest = np.abs(self.factor).max(axis=1)  # whose square may be beyond floating point
        found: FloatArray = largest * np.linalg.norm(self.factor / largest[:, None], axis=1)
        return found

    def of(self, X: Array) -> Array:
        """Return the coordinates of rows."""
        like = home_of(X).like
        centred = X - like(self.centre, X)
        if self.is_along_columns:
            return centred / like(self.factor, X)
        inverse = solve_triangular(self.factor, np.eye(len(self.factor)), lower=True)
        return centred @ like(np.ascontiguousarray(inverse.T), X)

    def back(self, steps: FloatArray) -> FloatArray:
        """Return the differences of rows that have these differences of coordinates."""
        return steps * self.factor if self.is_along_columns else steps @ self.factor.T


def given_coordinates(bandwidth: Any, X: Array) -> Coordinates:
    """Return the coordinates of widths that users give: (d,), or a matrix (d, d).

    Raises
    ------
    ValueError
        For other shapes, for numbers that are no widths, and for a matrix that is no covariance.
    """
    d = int(X.shape[1])
    try:
        values = np.asarray(to_numpy(bandwidth), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("bandwidth must hold numbers.") from None
    if values.shape not in ((d,), (d, d)):
        raise ValueError(
            f"bandwidth must be a number, a name, a width for each of the {d} columns of X, or a "
            f"matrix of shape {(d, d)}; got shape {values.shape}."
        )
    if not np.isfinite(values).all():
        raise ValueError("bandwidth must be finite.")
    if values.ndim == 1:
        if not (values > 0).all():
            column = int(np.flatnonzero(~(values > 0))[0])
            raise ValueError(
                f"bandwidth must be positive, got {values[column]:g} for column {column}."
            )
        return Coordinates(_first_row(X), values)
    scales = np.sqrt(np.abs(np.diag(values)))
    units = np.outer(scales, scales)
    if not (scales > 0).all() or np.abs((values - values.T) / units).max() > 1e-9:
        raise ValueError(
            "bandwidth must be a symmetric matrix with a positive diagonal: the covariance of a "
            "Gaussian window."
        )
    factor = _cholesky(values / units)
    if factor is None:
        raise ValueError(
            "bandwidth must be a positive definite matrix: the covariance of a Gaussian window."
        )
    return Coordinates(_first_row(X), scales[:, None] * factor)


def standard_coordinates(metric: str, X: Array, weights: Any) -> Coordinates:
    """Return the coordinates of a metric: "seuclidean", or "mahalanobis".

    Columns are divided by their standard deviations, or whitened by the covariance of the
    sample; a constant column is left as it is.
    """
    deviations = column_deviations(X, weights)
    centre = _first_row(X)
    if metric == "seuclidean":
        return Coordinates(centre, deviations)
    home = home_of(X)
    Z = home.as_numbers(Coordinates(centre, deviations).of(detached(X)))
    w = (home.ones(Z) if weights is None else weights) / total_weight(X, weights)
    Z = Z - to_numpy(w @ Z)
    N = count_rows(X, weights)
    correlation = to_numpy((Z * w[:, None]).T @ Z) * (N / max(N - 1, 1.0))
    np.fill_diagonal(correlation, 1.0)  # Of a constant column it is 0.
    factor = _cholesky(correlation)
    if factor is None:
        raise ValueError(
            "metric='mahalanobis' needs a covariance of full rank, and some column of X is a "
            "combination of others, or there are fewer rows than columns; use "
            "metric='seuclidean', or reduce the columns."
        )
    return Coordinates(centre, deviations[:, None] * factor)


def column_deviations(X: Array, weights: Any) -> FloatArray:
    """Return the standard deviation of each column (divided by N − 1), 1 where it is zero."""
    N, home, X = count_rows(X, weights), home_of(X), detached(X)
    spreads = [home.spread(X[:, k : k + 1], weights, N) for k in range(X.shape[1])]
    return np.array([unit * spread if spread else 1.0 for unit, spread in spreads])


def robust_deviations(X: Array, weights: Any) -> FloatArray:
    """Return for each column the lesser of its standard deviation and its quartiles' distance.

    The distance is divided by that of a normal distribution.  It counts where it is not zero, and
    comes from rows at equal steps where there are many.
    """
    step = -(-int(X.shape[0]) // max(_LEAST_ROWS, _MOST_NUMBERS // int(X.shape[1])))
    w = None if weights is None else to_numpy(weights[::step])
    if w is not None and w.min() == w.max():
        w = None  # Sums of equal fractions may be off by a rounding just where a quartile is.
    rows = to_numpy(detached(X)[::step, :]).astype(np.float64)
    low, high = np.quantile(rows, [0.25, 0.75], axis=0, weights=w, method="inverted_cdf")
    distances = (high / 2 - low / 2) * (2 / _NORMAL_QUARTILES)
    deviations = column_deviations(X, weights)
    return np.where(distances > 0, np.minimum(distances, deviations), deviations)


def _first_row(X: Array) -> FloatArray:
    first: FloatArray = to_numpy(X[:1, :]).astype(np.float64)[0]
    return first


def _cholesky(matrix: FloatArray) -> FloatArray | None:
    """Return the lower factor of a matrix with unit diagonal; None if it has not full rank."""
    try:
        factor = np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    # Of a singular matrix rounding may leave a diagonal of some eps.
    rounding = 10 * len(matrix) * np.finfo(np.float64).eps
    return factor if (np.diag(factor) ** 2 > rounding).all() else None
