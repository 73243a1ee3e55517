"""The density of a sample by kernels, in the habits of scikit-learn."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import Array, FloatArray, like, take_rows, to_numpy
from mercer._sklearn import Interval, StrOptions, fit_context
from mercer.density._bounds import (
    check_bounds,
    fold,
    image,
    images_in_reach,
    is_beyond,
    mirrors_of,
    refuse_rows_beyond,
)
from mercer.density._draws import unit_draws
from mercer.density._width import METRICS, NAMES, resolve_windows
from mercer.density._windows import Windows
from mercer.kernels import KERNELS, get_kernel
from mercer.samples import answer_rows, check_unlabelled, home_of, refuse_dask

# What is said to those who come from scikit-learn with another kernel.
_NOT_HERE = (
    " (scikit-learn's 'tophat', 'linear' and 'cosine' are not here; 'epanechnikov' is nearest)"
)
_ARRAYS = 6  # Scoring holds this many arrays of (rows, groups) at once.


class KernelDensity(BaseEstimator):
    r"""Estimate the density of a sample by windows, one at each row.

    A drop-in for scikit-learn's class of this name: at a bandwidth that is a number, the results
    are the same.  Beyond that, widths follow the data, rows can be left out, columns have ends,
    and all cores share the sums.

    .. math::

        \hat f(x) = \frac{1}{\sum_j w_j} \sum_j w_j\, W_h(x - x_j)

    Parameters
    ----------
    bandwidth : float, str or array-like of shape (d,) or (d, d), default="normal-reference"
        The width of the windows; of Gaussian ones, their standard deviation.  A width for each
        column, or a matrix: the covariance of a Gaussian window.  By name:

        - "normal-reference": for each column [4/((d+2)·N)]^(1/(d+4)) times its standard deviation,
          or the distance of its quartiles over 1.349 if that is less: best for a Gaussian density,
          quick for any number of columns, and too wide for several modes;
        - "scott", "silverman": scikit-learn's rules, N^(−1/(d+4)) and
          [4/((d+2)·N)]^(1/(d+4)), which look at no scale: for standardised columns, or another
          `metric`;
        - "improved-sheather-jones": for one column, of a density of any form; the best choice
          there (:func:`mercer.bandwidth.improved_sheather_jones_bandwidth`);
        - "likelihood-cv", "least-squares-cv": by cross-validation, in one pass over all pairs, for
          several columns of any form (see :mod:`mercer.bandwidth`): the first makes rows that are
          left out most likely, and is drawn to wide windows by outliers; the second minimises the
          squared error of the density, for Gaussian windows.
    kernel : {"gaussian", "exponential", "laplacian", "epanechnikov", "cauchy"}, default="gaussian"
        The window.  "gaussian" for smooth densities, and the only one for `debiased` and
        "least-squares-cv"; "epanechnikov" where density is to be 0 away from the rows;
        "exponential" and "laplacian", with heavier tails, for logs that fall slowly far away.
        "cauchy" is a density in one dimension only.
    metric : {"euclidean", "seuclidean", "mahalanobis"}, default="euclidean"
        In which units a number, or a name, is meant: those of the columns; standard deviations
        of each column, for columns of unlike scales; or such that the sample has the identity as
        covariance, for columns that are correlated.
    adaptive : bool, default=False
        Whether windows are wider where the density is low: h·(g/f)^½ with f the density at the
        row by windows of one width, and g the geometric mean of f.  For long tails, at a width by
        a simple rule; it harms a width that "least-squares-cv" has found.
    debiased : bool, default=False
        Whether each row is moved uphill by h²/2 times the gradient of the log density there,
        before the windows are put around the rows: they flatten peaks less.  Most useful with
        "improved-sheather-jones".  For Gaussian windows of one width, without `bounds`.
    bounds : None, pair, sequence of pairs or dict, default=None
        Ends of columns, such as 0 of a waiting time, at which windows are reflected, so that no
        mass is lost beyond them: (low, high) for one column, a pair for
        each of them, or a dictionary {column: (low, high)} by number or name.  None in the place
        of a pair or a number is no end.
    tol : float or None, default=None
        Relative error allowed to each density, for linear time at up to three features (see
        :func:`mercer.sums.kernel_sum`); None adds up every term.

    Attributes
    ----------
    bandwidth_ : float or ndarray of shape (d,) or (d, d)
        As used: a number in units of the metric, or widths, or a matrix.
    widths_ : ndarray of shape (d,)
        How far a window of width `bandwidth_` reaches along each column: of Gaussian ones,
        their standard deviation.
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
    mercer.ParzenClassifier : Bayes' rule with such densities of classes.

    Notes
    -----
    Time: nothing to fit at a given bandwidth; a pass over n² pairs for cross-validation, and half
    of one where `adaptive`, one where `debiased`; n_new·n·d to score; times the mirrors where
    there are `bounds`, near them.  With `tol` all but cross-validation and `debiased` grows with
    n and n_new.  Memory is O(n).

    Densities are added up as logarithms: far from all rows `score_samples` is right where
    the density itself would underflow.  Adaptive widths are rounded to eighths of an octave,
    so that few groups of rows share a width; each window keeps its volume.  Rows in float32 are
    summed in float32, to five digits of the logarithm.

    References
    ----------
    .. [1] B. W. Silverman (1986). Density Estimation for Statistics and Data Analysis.
       :doi:`10.1201/9781315140919`
    .. [2] I. S. Abramson (1982). On bandwidth variation in kernel estimates – a square root law.
       Annals of Statistics 10, 1217-1223. :doi:`10.1214/aos/1176345986`
    .. [3] E. L. Epstein, R. Dwaraknath, T. Sornwanee, J. Winnicki, J. W. Liu (2025). SD-KDE:
       Score-debiased kernel density estimation. https://arxiv.org/abs/2504.19084

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelDensity
    >>> X = np.random.default_rng(0).normal(size=(500, 2)) * [1.0, 100.0]
    >>> model = KernelDensity().fit(X)
    >>> model.bandwidth_.round(2)
    array([ 0.35, 32.35])
    >>> np.exp(model.score_samples([[0.0, 0.0]])).round(5)
    array([0.00144])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions(set(NAMES)),
                      "array-like"],
        "kernel": [StrOptions(set(KERNELS), more=_NOT_HERE)],
        "metric": [StrOptions(set(METRICS))],
        "adaptive": ["boolean"],
        "debiased": ["boolean"],
        "bounds": ["array-like", dict, None],
        "tol": [Interval(Real, 0, 1, closed="neither"), None],
    }  # fmt: skip

    _windows: Windows

    def __init__(
        self,
        *,
        bandwidth: Any = "normal-reference",
        kernel: str = "gaussian",
        metric: str = "euclidean",
        adaptive: bool = False,
        debiased: bool = False,
        bounds: Any = None,
        tol: float | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.metric = metric
        self.adaptive = adaptive
        self.debiased = debiased
        self.bounds = bounds
        self.tol = tol

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "KernelDensity":
        """Keep the rows and choose the width of the windows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : Ignored
            Not used: it is there for pipelines.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers say how often each row counts: 2 is the same as the row twice.  Others
            are relative: a common factor changes nothing.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._fit_windows(X, sample_weight)
        return self

    def _fit_windows(self, X: Any, sample_weight: Any) -> None:
        X, weights = check_unlabelled(self, X, sample_weight)
        for name, given in (
            ("adaptive=True", self.adaptive),
            ("debiased=True", self.debiased),
            ("bounds", self.bounds is not None),
        ):
            if given:
                refuse_dask(
                    X, f"{type(self).__name__}.fit", f"{name} needs sums at rows one by one",
                    "fit rows in memory, such as X.compute(), or leave that out",
                )  # fmt: skip
        kernel, d = get_kernel(self.kernel), int(X.shape[1])
        if self.debiased and (
            self.adaptive or self.bounds is not None or kernel.name != "gaussian"
        ):
            raise ValueError(
                "debiased=True needs kernel='gaussian', adaptive=False and bounds=None: rows are "
                "moved by windows of one Gaussian width."
            )
        names = getattr(self, "feature_names_in_", None)
        self.bounds_ = check_bounds(self.bounds, d, names)
        if self.bounds_ is not None:
            refuse_rows_beyond(X, self.bounds_)
        self.bandwidth_, self._coordinates, h = resolve_windows(
            self.bandwidth, self.metric, kernel, X, weights
        )
        self._check_columns()
        lengths = np.ones(d) if self._coordinates is None else self._coordinates.lengths
        self.widths_ = h * lengths
        X = array_namespace(X).astype(X, X.dtype, copy=True)  # Users may change theirs.
        self.X_fit_, self.weights_ = X, weights
        self._windows = Windows(self._to_windows(X), weights, kernel, (h,))
        _ = self._windows.log_normalisers  # raises if the window is not a density
        if self.bounds_ is not None:
            self._mirrors = mirrors_of(self.bounds_, kernel, self.widths_)
        if self.debiased:
            self._windows = self._windows.moved_uphill()
        if self.adaptive:
            pilot = self._with_mirrors(X, self._windows.log_sums_at_rows(self.tol), self._sums_at)
            self._windows, self.factors_ = self._windows.adapted(to_numpy(pilot))
            if self.bounds_ is not None:
                widest = max(self._windows.bandwidths) * lengths
                self._mirrors = mirrors_of(self.bounds_, kernel, widest)

    def score_samples(self, X: Any) -> Array:
        """Return the logarithm of the density at each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples,)
            Log densities, in float64; −inf beyond the bounds, and where no window of bounded
            support reaches.
        """
        check_is_fitted(self)
        return answer_rows(
            self, X, self.X_fit_, self._log_densities, bytes_per_row=self._bytes_per_row
        )

    def score(self, X: Any, y: Any = None) -> float:
        """Return the log-likelihood of rows: the sum of `score_samples`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : Ignored
            Not used: it is there for pipelines.

        Returns
        -------
        float
            The sum of the log densities.
        """
        return float(self.score_samples(X).sum())

    def leave_one_out_scores(self) -> Array:
        """Return the log density at each training row by all other rows.

        Returns
        -------
        array of shape (n_rows,)
            For the rows of `X_fit_`.  Of a whole weight, one copy is left out; of any other, the
            row.  Widths, adaptive ones too, and what rows are moved by, stay what they are.
        """
        check_is_fitted(self)
        self._windows.check_more_than_one()
        windows = self._windows
        if self.debiased:  # A row's own window is beside it.
            rows = np.arange(self.X_fit_.shape[0])
            sums = windows.left_out_log_sums_at(rows, self._to_windows(self.X_fit_))
        else:
            sums = windows.left_out_log_sums(self.tol)
        sums = self._with_mirrors(self.X_fit_, sums, windows.left_out_log_sums_at)
        left = windows.log_weight_left()
        return sums - home_of(self.X_fit_).like(left, sums) - self._log_volume

    def sample(self, n_samples: Any = 1, random_state: Any = None) -> Array:
        """Draw points from the density.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, RandomState instance or None, default=None
            For draws that can be repeated.  Windows of one Gaussian width give the points that
            scikit-learn's estimator gives.

        Returns
        -------
        array of shape (n_samples, n_features)
            Points, of the library and type of the training rows.
        """
        check_is_fitted(self)
        if not (isinstance(n_samples, Integral) and int(n_samples) >= 1):
            raise ValueError(f"n_samples must be a positive integer, got {n_samples!r}.")
        rng = check_random_state(random_state)
        rows = self._draw_rows(rng.uniform(0, 1, size=int(n_samples)))
        windows = self._windows
        steps = unit_draws(windows.kernel.name, int(n_samples), int(windows.Z.shape[1]), rng)
        groups = 0 if windows.groups is None else windows.groups[rows]
        steps *= np.broadcast_to(np.array(windows.bandwidths)[groups], len(rows))[:, None]
        if self.debiased:
            moves = to_numpy(windows.Z) - to_numpy(self._to_windows(self.X_fit_))
            steps += moves[rows]
        if self._coordinates is not None:
            steps = self._coordinates.back(steps)
        centres = home_of(self.X_fit_).take_rows(self.X_fit_, rows)
        points = to_numpy(centres).astype(np.float64) + steps
        if self.bounds_ is not None:
            points = fold(points, self.bounds_)
        return home_of(self.X_fit_).like(points, self.X_fit_)

    def _draw_rows(self, shares: FloatArray) -> NDArray[np.int64]:
        """Return rows at these shares of the total weight."""
        if self.weights_ is None:
            rows: NDArray[np.int64] = (shares * self.X_fit_.shape[0]).astype(np.int64)
            return rows
        totals = np.cumsum(to_numpy(self.weights_))
        return np.asarray(np.searchsorted(totals, shares * totals[-1]), dtype=np.int64)

    def _log_densities(self, X: Array) -> Array:
        """Return the log densities at checked rows."""
        sums = self._windows.log_sums(self._to_windows(X), self.tol)
        logs = self._with_mirrors(X, sums, self._sums_at) - self._windows.log_weight()
        logs = logs - self._log_volume
        if self.bounds_ is None:
            return logs
        return array_namespace(logs).where(is_beyond(X, self.bounds_), -np.inf, logs)

    def _sums_at(self, rows: NDArray[np.int64], Z: Array) -> Array:
        return self._windows.log_sums(Z, self.tol)

    def _with_mirrors(
        self, X: Array, sums: Array, sums_at: Callable[[NDArray[np.int64], Array], Array]
    ) -> Array:
        """Return log sums at rows, with those at the mirrors of the rows added.

        `sums_at` is called with numbers of rows and the coordinates of their mirrors.
        """
        if self.bounds_ is None:
            return sums
        logs, rows = to_numpy(sums).copy(), to_numpy(X).astype(np.float64)
        fitted = to_numpy(self.X_fit_)
        box = np.stack([fitted.min(axis=0), fitted.max(axis=0)]).astype(np.float64)
        c = self._coordinates
        lengths = np.ones(len(box[0])) if c is None else c.lengths

        def bound(gaps: Sequence[FloatArray]) -> FloatArray:
            columns = zip(gaps, lengths, strict=False)
            return self._windows.log_bound([gap / length for gap, length in columns])

        for few, mirror in images_in_reach(rows, box, self._mirrors, bound, logs):
            Z = self._to_windows(image(take_rows(X, few), mirror))
            logs[few] = np.logaddexp(logs[few], to_numpy(sums_at(few, Z)))
        return like(logs, sums)

    @property
    def _log_volume(self) -> float:
        return 0.0 if self._coordinates is None else self._coordinates.log_volume

    def _to_windows(self, X: Array) -> Array:
        return X if self._coordinates is None else self._coordinates.of(X)

    def _check_columns(self) -> None:
        """Refuse what goes along the columns where windows do not."""
        if self._coordinates is None or self._coordinates.is_along_columns:
            return
        for name, given in (("kernel='laplacian'", self.kernel == "laplacian"),
                            ("bounds", self.bounds_ is not None)):  # fmt: skip
            if given:
                raise ValueError(
                    f"{name} needs windows along the columns, not a matrix of widths or "
                    "metric='mahalanobis'; use a width for each column."
                )

    def _bytes_per_row(self, X: Array) -> int:
        return 8 * (len(self._windows.bandwidths) + int(X.shape[1])) * _ARRAYS

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # They are made dense, if that fits the memory budget.
        # Dispatch works for torch; this tag would promise every library of the standard.
        tags.array_api_support = False
        return tags
