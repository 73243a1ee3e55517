"""Three steps of the preprocessing that scikit-learn does not have."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._arrays import FloatArray, detached, refuse_tensor
from mercer._sklearn import Interval, fit_context

_BEND = 3.0  # Values more robust standard deviations away than this are brought near to it.
_IQR = 1.3489795  # the interquartile range of a normal distribution, in standard deviations
_HALVINGS = 60  # Halvings of the gap between two knots: a float has no more digits.
_SAME = 1e-12  # Coordinates that are nearer than this are those of one value.
_MOST_KNOTS = 1000  # Ranks of a column of more different values are interpolated between these.
_MOST_DAYS = 2_900_000  # Dates more than almost 8000 years from 1970 count as that far away.


class _NumberTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Base of transformers of numbers that may be missing; it learns how many columns there are."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how many columns there are.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Rows.
        y : Ignored
            Not used: it is there for pipelines.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validated(X, reset=True)
        return self

    def _validated(self, X: Any, *, reset: bool) -> FloatArray:
        """Return the rows as numbers, which may be missing."""
        refuse_tensor(X, self)
        checked: FloatArray = validate_data(
            self, detached(X), reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        return checked

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class FeatureClipper(_NumberTransformer):
    r"""Bring values beyond ±``limit`` to that limit.

    After standardising, a wild value is so many standard deviations away that it decides every
    distance.  Clipped, it is still the most extreme, and no more than that.

    .. math:: x \mapsto \min(\max(x, -\text{limit}), \text{limit})

    Parameters
    ----------
    limit : float, default=4.0
        The largest size of a value.

    Attributes
    ----------
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    sklearn.preprocessing.RobustScaler : Gives columns the unit that a limit is in.

    Notes
    -----
    Missing values stay missing.  Time and memory: one pass and one copy.  A FunctionTransformer of
    scikit-learn would do the same, but holds a function, which no model file may.

    Examples
    --------
    >>> from mercer.tables import FeatureClipper
    >>> FeatureClipper(limit=4).fit_transform([[1.0, -9.0], [0.5, 4.5]])
    array([[ 1. , -4. ],
           [ 0.5,  4. ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "limit": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, *, limit: float = 4.0) -> None:
        self.limit = limit

    def transform(self, X: Any) -> FloatArray:
        """Clip.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Coordinates.
        """
        check_is_fitted(self)
        return self._numbers_of(self._validated(X, reset=False))

    def _numbers_of(self, rows: FloatArray) -> FloatArray:
        """Return the coordinates of rows that were checked."""
        return np.clip(rows, -self.limit, self.limit)


class SoftRankScaler(_NumberTransformer):
    r"""Scale each column so that outliers come near and crowded values move apart.

    A coordinate is the mean of two increasing functions: the value in robust standard deviations
    with its tails bent in, and the rank of the value among those of `fit`, with the same spread.

    .. math::

        x \mapsto \tfrac12 \frac{z}{\sqrt{1 + (z/3)^2}} + \tfrac12 \sqrt{12} \, (F(x) - \tfrac12),
        \qquad z = \frac{x - \text{median}}{\text{IQR} / 1.349}

    Ranks alone forget how far apart values are, values alone let a few large ones decide.  In a sum
    of absolute differences, as the kernel "laplacian" has it, the two halves simply add up, because
    both increase.

    Attributes
    ----------
    center_, scale_ : ndarray of shape (n_features_in_,)
        Median and robust standard deviation of each column; the plain one where the quartiles are
        the same.
    knots_, ranks_ : list of ndarray
        For each column values, and their ranks between 0 and 1; all different values up to 1 000,
        else quantiles.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    sklearn.preprocessing.QuantileTransformer : Ranks alone.
    sklearn.preprocessing.RobustScaler : Values alone, without the bend.

    Notes
    -----
    Missing values stay missing, and do not count.  A column without a value, or with one only,
    becomes 0.  Time is that of sorting the columns.

    Examples
    --------
    >>> from mercer.tables import SoftRankScaler
    >>> SoftRankScaler().fit_transform([[1.0], [2.0], [3.0], [4.0], [1e9]]).round(2)
    array([[-1.31],
           [-0.68],
           [ 0.  ],
           [ 0.68],
           [ 2.19]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn medians, spreads and ranks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : Ignored
            Not used: it is there for pipelines.

        Returns
        -------
        self
            The fitted estimator.
        """
        rows = self._validated(X, reset=True)
        found = [_center_scale_and_ranks(column[~np.isnan(column)]) for column in rows.T]
        center, scale, knots, ranks = zip(*found, strict=True)
        self.center_, self.scale_ = np.array(center), np.array(scale)
        self.knots_, self.ranks_ = list(knots), list(ranks)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Scale.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Coordinates.
        """
        check_is_fitted(self)
        return self._numbers_of(self._validated(X, reset=False))

    def _numbers_of(self, rows: FloatArray) -> FloatArray:
        """Return the coordinates of rows that were checked."""
        out = np.empty_like(rows)
        for k, column in enumerate(rows.T):
            out[:, k] = self._scaled(column, k)
        return out

    def _scaled(self, column: FloatArray, k: int) -> FloatArray:
        """Return the coordinates of values of column k."""
        # Halves are taken first, because a difference of large numbers may overflow.
        with np.errstate(over="ignore"):
            z = (column / 2 - self.center_[k] / 2) / (self.scale_[k] / 2)
        z = np.clip(z, -1e300, 1e300)  # NaN stays NaN, and what overflowed is far away.
        rank = np.interp(column, self.knots_[k], self.ranks_[k])
        rank[np.isnan(column)] = np.nan
        scaled: FloatArray = _BEND * z / np.hypot(_BEND, z) / 2 + np.sqrt(3.0) * (rank - 0.5)
        return scaled

    def inverse_transform(self, X: Any) -> FloatArray:
        """Return the values that have these coordinates.

        Values that `fit` keeps as knots come back as they were, others to about twelve digits.  A
        coordinate beyond those of all numbers becomes infinite, and in a column of one value every
        coordinate is a value.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Coordinates.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Values.
        """
        check_is_fitted(self)
        rows = self._validated(X, reset=False)
        out = np.empty_like(rows)
        for k, column in enumerate(rows.T):
            out[:, k] = self._unscaled(column, k)
        return out

    def _unscaled(self, column: FloatArray, k: int) -> FloatArray:
        """Return the values of column k at these coordinates, by halving the gap between knots."""
        knots = self.knots_[k]
        at_knots = self._scaled(knots, k)
        right = np.searchsorted(at_knots, column)
        low, high = knots[np.maximum(right - 1, 0)], knots[np.minimum(right, len(knots) - 1)]
        for _ in range(_HALVINGS):
            middle = low / 2 + high / 2
            above = self._scaled(middle, k) > column
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        values = low / 2 + high / 2
        for place in (np.maximum(right - 1, 0), np.minimum(right, len(knots) - 1)):
            values = np.where(np.abs(at_knots[place] - column) < _SAME, knots[place], values)
        # Beyond the knots ranks stand still, and the bent half has an inverse in closed form.
        for end, is_beyond in (
            (0, column < at_knots[0] - _SAME),
            (-1, column > at_knots[-1] + _SAME),
        ):
            bent = 2 * (column - np.sqrt(3.0) * (self.ranks_[k][end] - 0.5)) / _BEND
            with np.errstate(divide="ignore", over="ignore"):
                z = bent * _BEND / np.sqrt(np.maximum((1 - bent) * (1 + bent), 0.0))
                far = self.center_[k] + self.scale_[k] * z
            values = np.where(is_beyond, far, values)
        return np.where(np.isnan(column), np.nan, values)


def _center_scale_and_ranks(
    values: FloatArray,
) -> tuple[float, float, FloatArray, FloatArray]:
    """Return median and spread of values that are not missing, some of them, and their ranks."""
    knots, counts = np.unique(values, return_counts=True)
    if len(knots) < 2:
        return knots[0] if len(knots) else 0.0, 1.0, np.zeros(1), np.full(1, 0.5)
    ranks = (np.cumsum(counts) - counts / 2) / len(values)  # the middle of equal values
    low, center, high = np.quantile(values, [0.25, 0.5, 0.75])
    largest = np.abs(knots[[0, -1]]).max()
    spread = 2 * (high / 2 - low / 2) / _IQR
    if not 0 < spread < np.inf:
        spread = largest * (values / largest).std()
    if len(knots) > _MOST_KNOTS:
        kept = np.unique(np.searchsorted(ranks, np.linspace(ranks[0], ranks[-1], _MOST_KNOTS)))
        knots, ranks = knots[kept], ranks[kept]
    return float(center), max(float(spread), np.finfo(float).tiny), knots, ranks


class DateFeatures(_NumberTransformer):
    """Turn dates into numbers: days since 1970, year, month, day of the week, hour.

    The number of days places rows in time; the other parts let a model see what recurs.
    Nothing is learnt from the data.

    Parameters
    ----------
    parts : tuple of str, default=("days", "year", "month", "weekday")
        What to compute, among ``"days"`` (from 1970-01-01, with a fraction), ``"year"``,
        ``"month"`` (1 to 12), ``"weekday"`` (Monday is 0) and ``"hour"`` (with a fraction).

    Attributes
    ----------
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    CategoryDummies : What becomes of columns of text.

    Notes
    -----
    Takes a frame of dates, or numbers that count days from 1970-01-01.  A missing date gives
    missing values.  What lies more than 2 900 000 days from 1970 counts as that day.  Time and
    memory: some passes over the rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.tables import DateFeatures
    >>> dates = pd.DataFrame({"born": pd.to_datetime(["1970-01-02", "2024-02-29"])})
    >>> DateFeatures().set_output(transform="pandas").fit_transform(dates)
       born_days  born_year  born_month  born_weekday
    0        1.0     1970.0         1.0           4.0
    1    19782.0     2024.0         2.0           3.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"parts": [tuple, list]}

    def __init__(self, *, parts: Sequence[str] = ("days", "year", "month", "weekday")) -> None:
        self.parts = parts

    def _validated(self, X: Any, *, reset: bool) -> FloatArray:
        for part in self.parts:
            if part not in _PARTS:
                raise ValueError(f"parts must be among {', '.join(_PARTS)}; got {part!r}.")
        return super()._validated(_as_days(X), reset=reset)

    def transform(self, X: Any) -> FloatArray:
        """Compute the numbers.

        Parameters
        ----------
        X : DataFrame of dates or array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features * n_parts)
            All parts of the first column, then those of the second, and so on.
        """
        check_is_fitted(self)
        return self._numbers_of(self._validated(X, reset=False))

    def _numbers_of(self, days: FloatArray) -> FloatArray:
        """Return the numbers of days since 1970 that were checked."""
        found = [_PARTS[part](column) for column in days.T for part in self.parts]
        return np.column_stack(found) if found else np.empty((len(days), 0))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the numbers after their column.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns; those seen in `fit` by default.

        Returns
        -------
        ndarray of str
            A name for each column.
        """
        names = super().get_feature_names_out(input_features)
        return np.array([f"{name}_{part}" for name in names for part in self.parts], dtype=object)


def _as_days(X: Any) -> Any:
    """Return dates as days from 1970; anything else as it is."""
    if isinstance(X, pd.DataFrame):
        return X.apply(lambda c: days_since_1970(c.to_numpy()) if c.dtype.kind == "M" else c)
    if isinstance(X, np.ndarray) and X.dtype.kind == "M":
        return days_since_1970(X)
    return X


def days_since_1970(dates: NDArray[np.datetime64]) -> FloatArray:
    """Return dates as days from 1970, with a fraction; NaN where there is none."""
    days: FloatArray = (dates - np.datetime64(0, "D")) / np.timedelta64(1, "D")
    return days


def _days(days: FloatArray) -> FloatArray:
    return np.clip(days, -_MOST_DAYS, _MOST_DAYS)


def _year(days: FloatArray) -> FloatArray:
    return _with_gaps(days, _dates(days).astype("datetime64[Y]").astype(np.int64) + 1970)


def _month(days: FloatArray) -> FloatArray:
    return _with_gaps(days, _dates(days).astype("datetime64[M]").astype(np.int64) % 12 + 1)


def _weekday(days: FloatArray) -> FloatArray:
    return (np.floor(_days(days)) + 3) % 7  # 1970-01-01 was a Thursday


def _hour(days: FloatArray) -> FloatArray:
    return 24 * (_days(days) % 1)


def _dates(days: FloatArray) -> NDArray[np.datetime64]:
    return np.floor(np.nan_to_num(_days(days))).astype(np.int64).astype("datetime64[D]")


def _with_gaps(days: FloatArray, part: NDArray[np.int64]) -> FloatArray:
    return np.where(np.isnan(days), np.nan, part)


_PARTS = {"days": _days, "year": _year, "month": _month, "weekday": _weekday, "hour": _hour}
