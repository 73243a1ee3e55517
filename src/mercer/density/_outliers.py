"""Outliers: rows at which the density of all others is low."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from array_api_compat import array_namespace, device
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import Array, FloatArray, detached, take_rows, to_numpy
from mercer._sklearn import Interval, StrOptions, fit_context
from mercer.density._estimator import KernelDensity
from mercer.samples import refuse_dask, row_keys

_LOWEST = -np.finfo(np.float64).max  # in the place of log 0, so that differences are numbers
# Tukey's outer fence: this many interquartile ranges below the lower quartile.
_RANGES = 3.0


class DensityOutlierDetector(OutlierMixin, KernelDensity):
    r"""Call rows outliers at which the density of all other rows is low.

    A row of the training sample is judged without its own window, so that it cannot vouch for
    itself, however narrow the windows are; a new row by all windows.

    Parameters
    ----------
    contamination : float or "auto", default="auto"
        The share of the training rows, by weight, that are outliers.  "auto" takes those whose log
        density is more than three interquartile ranges below the lower quartile of all.
    bandwidth : float, str or array-like of shape (d,) or (d, d), default="normal-reference"
        The width of the windows, as for :class:`KernelDensity`.
    kernel : {"gaussian", "exponential", "laplacian", "epanechnikov", "cauchy"}, default="gaussian"
        The window.
    metric : {"euclidean", "seuclidean", "mahalanobis"}, default="euclidean"
        In which units a number, or a name, is meant.
    adaptive : bool, default=False
        Whether windows are wider where the density is low.
    debiased : bool, default=False
        Whether rows are moved uphill before the windows are put around them.
    bounds : None, pair, sequence of pairs or dict, default=None
        Ends of columns, at which windows are reflected.
    tol : float or None, default=None
        Relative error allowed to the densities of new rows.

    Attributes
    ----------
    offset_ : float
        The log density below which a row is an outlier.
    training_scores_ : ndarray of shape (n_rows,)
        Log densities at the rows of `X_fit_`, each by all others.
    bandwidth_ : float or ndarray of shape (d,) or (d, d)
        As used.
    widths_ : ndarray of shape (d,)
        How far a window reaches along each column.
    factors_ : ndarray of shape (n_rows,)
        Only with ``adaptive=True``: what the width is multiplied by at each row.
    bounds_ : ndarray of shape (d, 2) or None
        Ends of the columns.
    X_fit_ : array of shape (n_rows, d)
        The training rows of positive weight.
    weights_ : array of shape (n_rows,) or None
        Their weights, as given.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    KernelDensity : The density itself.

    Notes
    -----
    Time: half a pass over all n² pairs to fit, n_new·n·d to answer.  A new row that equals a
    training row is taken for that row, and judged without its window, or one of its copies:
    `predict` of the training rows is what `fit_predict` returns.

    References
    ----------
    .. [1] J. W. Tukey (1977). Exploratory Data Analysis. Addison-Wesley. Section 2D.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import DensityOutlierDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[0] = 6.0, 6.0
    >>> model = DensityOutlierDetector(contamination=0.01).fit(X)
    >>> np.flatnonzero(model.predict(X) == -1)
    array([  0, 151])
    >>> model.predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelDensity._parameter_constraints,
        "contamination": [Interval(Real, 0, 0.5, closed="right"), StrOptions({"auto"})],
    }

    def __init__(
        self,
        *,
        contamination: float | str = "auto",
        bandwidth: Any = "normal-reference",
        kernel: str = "gaussian",
        metric: str = "euclidean",
        adaptive: bool = False,
        debiased: bool = False,
        bounds: Any = None,
        tol: float | None = None,
    ) -> None:
        super().__init__(
            bandwidth=bandwidth, kernel=kernel, metric=metric, adaptive=adaptive,
            debiased=debiased, bounds=bounds, tol=tol,
        )  # fmt: skip
        self.contamination = contamination

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "DensityOutlierDetector":
        """Estimate the density, and below which value a row is an outlier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : Ignored
            Not used: it is there for pipelines.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers say how often each row counts; others are relative.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_dask(
            X, f"{type(self).__name__}.fit", "training rows are looked up when they come again",
            "fit a sample X[rows].compute(); the fitted model answers Dask arrays block by block",
        )  # fmt: skip
        self._fit_windows(X, sample_weight)
        self.training_scores_ = to_numpy(self.leave_one_out_scores())
        keys = to_numpy(row_keys(detached(self.X_fit_)))
        self._key_order = np.argsort(keys, kind="stable")
        self._keys = keys[self._key_order]
        self.offset_ = _offset(self.training_scores_, self.weights_, self.contamination)
        return self

    def decision_function(self, X: Any) -> Array:
        """Return how far the log density of each row is above that of the last outlier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples,)
            `score_samples` less `offset_`: negative for outliers, and always finite.
        """
        scores = self.score_samples(X)
        return array_namespace(scores).clip(scores, _LOWEST / 2, None) - self.offset_

    def predict(self, X: Any) -> Array:
        """Return −1 for outliers and 1 for all other rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of int of shape (n_samples,)
            −1 or 1 for each row.
        """
        check_is_fitted(self)
        is_inlier = self.decision_function(X) >= 0
        xp = array_namespace(is_inlier)
        return xp.astype(is_inlier, xp.int64) * 2 - 1

    def _log_densities(self, X: Array) -> Array:
        """Return the log densities at checked rows, at training rows by all others."""
        logs = super()._log_densities(X)
        keys = to_numpy(row_keys(detached(X)))
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        found = np.flatnonzero(self._keys[places] == keys)
        if found.size:
            rows = self._key_order[places[found]]
            is_same = take_rows(X, found) == take_rows(self.X_fit_, rows)
            is_same = to_numpy(is_same).all(axis=1)  # Keys may be the same by chance.
            numbers = np.asarray(found[is_same])
            xp: Any = array_namespace(logs)
            scores = self.training_scores_[rows[is_same]]
            logs[numbers] = xp.asarray(scores, dtype=logs.dtype, device=device(logs))
        return logs


def _offset(scores: FloatArray, weights: Any, contamination: float | str) -> float:
    """Return the score below which rows are outliers: finite, whatever the scores."""
    finite = scores > -np.inf
    if not finite.any():
        raise ValueError(
            "No training row is in reach of another one's window, so that all of them are "
            "outliers; use a wider bandwidth, or kernel='gaussian'."
        )
    order = np.argsort(scores, kind="stable")
    w = np.ones(len(scores)) if weights is None else weights
    # The weight of rows of lower score; equal scores have that of the first.
    below = (np.cumsum(w[order]) - w[order]) / w.sum()

    def quantile(share: float) -> float:
        """Return the greatest score below which no more than this share lies, if it is finite."""
        last = int(np.flatnonzero(below <= share * (1 + 1e-12))[-1])
        return float(max(scores[order[last]], scores[finite].min()))

    if contamination != "auto":
        return quantile(float(contamination))
    low, high = quantile(0.25), quantile(0.75)
    return low - _RANGES * (high - low)
