"""The density of a number, given the columns beside it: Nadaraya and Watson's with windows."""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import log_softmax, logsumexp, ndtr, ndtri
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, to_numpy
from mercer._memory import row_slabs, working_memory
from mercer._sklearn import Interval, StrOptions, fit_context
from mercer.density._conditional_widths import choose_widths
from mercer.density._coordinates import Coordinates, given_coordinates, standard_coordinates
from mercer.samples import (
    check_row_weights,
    check_some_weight,
    refuse_dask,
    validate_training,
)
from mercer.sums import log_kernel_sum

# Widths from the middle of the fitted rows: beyond the first, distances are compared by products.
_FAR_AWAY, _FARTHEST = 1e4, 1e150
_ARRAYS = 4  # Slabs of this many arrays of (rows, n_rows) are held at once.
# Where the log of a sum is less, the difference of two such has lost digits: shares are taken pair
# by pair.
_FAR = -1e4
_STEPS = 100  # of Newton's method or bisection; some 8 are usual


class ConditionalDensity(RegressorMixin, BaseEstimator):
    r"""Estimate the density of y given x: rows near x, each with a Gaussian window about its y.

    .. math::

        \hat f(y \mid x) = \frac{\sum_j w_j K_h(x - x_j)\, W_b(y - y_j)}{\sum_j w_j K_h(x - x_j)}

    Its mean is the regression of Nadaraya and Watson, `predict`.  Skewness, several modes and a
    spread that changes with x are followed: by `quantile`, `sample` and `log_prob`.

    Parameters
    ----------
    bandwidth : "likelihood-cv", float or array-like of shape (d,), default="likelihood-cv"
        The width h of Gaussian windows in x: of all columns, or of each.  "likelihood-cv" makes
        the y of rows that are left out most likely, given their x, with one width for all columns
        in units of their standard deviations.
    target_bandwidth : "likelihood-cv" or float, default="likelihood-cv"
        The width b of Gaussian windows in y.

    Attributes
    ----------
    bandwidth_ : ndarray of shape (d,)
        h of each column.
    target_bandwidth_ : float
        b.
    log_likelihood_ : float
        The mean of log f̂(yᵢ|xᵢ) over training rows that are left out, where a width was searched;
        else None.
    X_fit_, y_fit_, weights_ : ndarrays of shape (n_rows, d), (n_rows,), (n_rows,)
        The training rows of positive weight.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    KernelDensity : Without columns that are given.

    Notes
    -----
    Time: a search takes some dozen passes over n² pairs; `log_prob` and `predict` n_new·n·d; a
    quantile or a draw some ten times that.  Memory stays within scikit-learn's
    ``working_memory``.
    Both sums are logarithms: far from all rows the density is that beside the nearest of them.
    Equal rows leave together where rows are left out.

    One width serves all columns of x, so that many columns that say nothing about y cost much.

    References
    ----------
    .. [1] P. Hall, J. Racine, Q. Li (2004). Cross-validation and the estimation of conditional
       probability densities. Journal of the American Statistical Association 99, 1015-1026.
       :doi:`10.1198/016214504000000548`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ConditionalDensity
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, size=(400, 1))
    >>> y = X[:, 0] + 0.1 * rng.normal(size=400)
    >>> model = ConditionalDensity().fit(X, y)
    >>> model.quantile([[0.5]], [0.05, 0.5, 0.95]).round(2)
    array([[0.34, 0.51, 0.68]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: [Interval(Real, 0, None, closed="neither"), StrOptions({"likelihood-cv"}), *more]
        for name, more in (("bandwidth", ["array-like"]), ("target_bandwidth", []))
    }

    def __init__(
        self, *, bandwidth: Any = "likelihood-cv", target_bandwidth: Any = "likelihood-cv"
    ) -> None:
        self.bandwidth = bandwidth
        self.target_bandwidth = target_bandwidth

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ConditionalDensity":
        """Keep the rows and choose the widths.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers say how often each row counts; others are relative.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_dask(
            X, "ConditionalDensity.fit", "it has no sums over blocks", "fit X.compute(), or a part"
        )
        X, y = validate_training(
            self, X, y, double=True, tensors=False, span=True, y_numeric=True, ensure_min_samples=2
        )
        weights = check_row_weights(sample_weight, X.shape[0])
        check_some_weight(bool(weights.any()))
        if y.dtype.kind not in "biuf":
            raise ValueError(f"y must hold numbers, got {y.dtype}.")
        X, y, weights = X[weights > 0], y[weights > 0].astype(np.float64), weights[weights > 0]
        in_y = standard_coordinates("seuclidean", y[:, None], weights)
        h, b = None, None
        if isinstance(self.bandwidth, str):
            in_x = standard_coordinates("seuclidean", X, weights)
        else:
            widths = np.asarray(to_numpy(self.bandwidth), dtype=np.float64)
            each = widths if widths.ndim else np.full(X.shape[1], widths)
            in_x, h = given_coordinates(each, X), 1.0
            if not in_x.is_along_columns:
                raise ValueError("bandwidth must be a number, or a width for each column of X.")
        if not isinstance(self.target_bandwidth, str):
            b = float(self.target_bandwidth) / float(in_y.factor[0])
        self.log_likelihood_ = None
        if h is None or b is None:
            h, b, score = choose_widths(in_x.of(X), in_y.of(y[:, None])[:, 0], weights, h, b)
            self.log_likelihood_ = score - float(np.log(in_y.factor[0]))
        self.bandwidth_, self.target_bandwidth_ = h * in_x.factor, b * float(in_y.factor[0])
        self.X_fit_, self.y_fit_, self.weights_ = X, y, weights
        self._coordinates = Coordinates(in_x.centre, self.bandwidth_)
        self._Z = self._coordinates.of(X)
        return self

    def log_prob(self, X: Any, y: Any) -> FloatArray:
        """Return log f̂(y|x).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, k)
            A number for each row, or several.

        Returns
        -------
        ndarray of the shape of y
            Log densities.
        """
        Z, y = self._check(X), np.asarray(to_numpy(y), dtype=np.float64)
        if y.ndim not in (1, 2) or y.shape[0] != Z.shape[0]:
            raise ValueError(
                f"y must have an entry for each of the {Z.shape[0]} rows of X, got shape {y.shape}."
            )
        if not np.isfinite(y).all():
            raise ValueError("y contains NaN or infinity.")
        b, centre = self.target_bandwidth_, self.y_fit_[0]
        rows = np.repeat(Z, y.size // Z.shape[0], axis=0)
        points = np.column_stack([rows, (y.ravel() - centre) / b])
        fitted = np.column_stack([self._Z, (self.y_fit_ - centre) / b])
        together = log_kernel_sum(points, fitted, weights=self.weights_, bandwidth=1.0)
        together = np.asarray(together, dtype=np.float64).reshape(y.shape)
        below, scale = self._log_sums(Z), np.log(b * np.sqrt(2 * np.pi))
        with np.errstate(invalid="ignore"):  # Both are −∞ at rows far away, which come next.
            logs: FloatArray = (together.T - below).T
        for far, log_shares in self._log_shares_at(Z, np.flatnonzero(below < _FAR)):
            targets = y[far].reshape(len(far), -1)
            for k, target in enumerate(targets.T):
                terms = -0.5 * ((target[:, None] - self.y_fit_) / b) ** 2
                logs.reshape(len(Z), -1)[far, k] = logsumexp(log_shares + terms, axis=1)
        logs -= scale
        return logs

    def predict(self, X: Any) -> FloatArray:
        """Return the mean of y at each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Means.
        """
        Z = self._check(X)
        low, extent = self.y_fit_.min(), np.ptp(self.y_fit_) or 1.0
        # Between 1 and 2: a sum of logarithms has no negative terms, and none of 0.
        shares = 1 + (self.y_fit_ - low) / extent
        below = self._log_sums(Z)
        with np.errstate(invalid="ignore"):  # Both are −∞ at rows far away, which come next.
            mean: FloatArray = low + extent * np.expm1(self._log_sums(Z, shares) - below)
        for rows, log_shares in self._log_shares_at(Z, np.flatnonzero(below < _FAR)):
            mean[rows] = np.exp(log_shares) @ self.y_fit_
        return mean

    def quantile(self, X: Any, q: Any = 0.5) -> FloatArray:
        """Return quantiles of y at each row: where its distribution function is q.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        q : float or array-like of shape (k,), default=0.5
            Between 0 and 1, without the ends.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, k)
            Quantiles.
        """
        Z, shares = self._check(X), np.asarray(q, dtype=np.float64)
        if shares.ndim > 1 or not ((shares > 0) & (shares < 1)).all():
            raise ValueError(f"q must be between 0 and 1, or several such numbers; got {q!r}.")
        out = np.empty((Z.shape[0], shares.size))
        for rows, log_shares in self._log_shares_at(Z):
            for k, share in enumerate(np.atleast_1d(shares)):
                out[rows, k] = _quantiles(
                    np.exp(log_shares), self.y_fit_, self.target_bandwidth_, share
                )
        return out if shares.ndim else out[:, 0]

    def sample(self, X: Any, n_samples: Any = 1, random_state: Any = None) -> FloatArray:
        """Draw numbers from the density at each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.
        n_samples : int, default=1
            How many for each row.
        random_state : int, RandomState instance or None, default=None
            For draws that can be repeated.

        Returns
        -------
        ndarray of shape (n_rows, n_samples)
            Numbers.
        """
        Z, rng = self._check(X), check_random_state(random_state)
        if not (isinstance(n_samples, Integral) and int(n_samples) >= 1):
            raise ValueError(f"n_samples must be a positive integer, got {n_samples!r}.")
        size = Z.shape[0], int(n_samples)
        shares = rng.uniform(size=size)
        out: FloatArray = self.target_bandwidth_ * rng.normal(size=size)
        for rows, log_shares in self._log_shares_at(Z):
            totals = np.cumsum(np.exp(log_shares), axis=1)
            for i, total in zip(rows, totals, strict=True):
                out[i] += self.y_fit_[np.searchsorted(total[:-1], shares[i] * total[-1], "right")]
        return out

    def _check(self, X: Any) -> FloatArray:
        """Return new rows in units of the widths."""
        check_is_fitted(self)
        rows: FloatArray = validate_training(self, X, double=True, tensors=False, reset=False)
        Z: FloatArray = self._coordinates.of(rows)
        return Z

    def _log_sums(self, Z: FloatArray, factors: FloatArray | float = 1.0) -> FloatArray:
        weights = self.weights_ * factors
        sums: FloatArray = log_kernel_sum(Z, self._Z, weights=weights, bandwidth=1.0)
        return sums

    def _log_shares_at(
        self, Z: FloatArray, rows: NDArray[np.int64] | None = None
    ) -> Iterator[tuple[NDArray[np.int64], FloatArray]]:
        """Yield some of the rows and, pair by pair, the log shares of all training rows there."""
        rows, log_weights = np.arange(len(Z)) if rows is None else rows, np.log(self.weights_)
        for start, stop in row_slabs(len(rows), 8 * _ARRAYS * len(self._Z), working_memory()):
            some = rows[start:stop]
            yield some, log_softmax(log_weights + _relative_logs(Z[some], self._Z), axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # They are made dense, if that fits the memory budget.
        return tags


def _relative_logs(Z: FloatArray, fitted: FloatArray) -> FloatArray:
    """Return −‖z − zⱼ‖²/2, up to a number for each row z, wherever that row is."""
    logs = -0.5 * cdist(Z, fitted, "sqeuclidean")
    centre = fitted.mean(axis=0)
    largest = np.finfo(np.float64).max
    away = np.clip(Z, -largest / 2, largest / 2) - centre
    reach = np.abs(away).max(axis=1)
    far = reach > _FAR_AWAY
    # Far away ‖z‖² has no digits left for what tells the rows apart; without it, that is linear
    # in z, and where even that would overflow the direction of z alone decides.
    away = away[far] * np.minimum(1.0, _FARTHEST / reach[far])[:, None]
    around = fitted - centre
    logs[far] = away @ around.T - 0.5 * np.einsum("ij,ij->i", around, around)
    relative: FloatArray = logs
    return relative


def _quantiles(weights: FloatArray, y: FloatArray, b: float, share: float) -> FloatArray:
    """Return where Σⱼ weights[i, j]·Φ((t − yⱼ)/b) is the share, for each i.

    Newton's steps from the middle of an interval that holds the quantile, and halves of the
    interval where they would leave it.
    """
    # The quantile of a mixture lies between those of its parts.
    low, high = (np.full(len(weights), end + b * ndtri(share)) for end in (y.min(), y.max()))
    t = low + (high - low) / 2
    for _ in range(_STEPS):
        u = (t[:, None] - y) / b
        excess = np.einsum("ij,ij->i", weights, ndtr(u)) - share
        slope = np.einsum("ij,ij->i", weights, np.exp(-0.5 * u * u)) / (b * np.sqrt(2 * np.pi))
        low, high = np.where(excess < 0, t, low), np.where(excess < 0, high, t)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = t - excess / slope
        before, t = t, np.where((step > low) & (step < high), step, low + (high - low) / 2)
        if (np.abs(t - before) <= 1e-12 * b + 4e-16 * np.abs(t)).all():
            break
    found: FloatArray = t
    return found
