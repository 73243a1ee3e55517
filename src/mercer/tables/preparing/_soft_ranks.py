"""Numbers of any distribution → coordinates in which differences count alike."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._arrays import FloatArray, detached, refuse_tensor
from mercer._sklearn import fit_context

_BEND = 3.0  # Values more robust standard deviations away than this are brought near to it.
_IQR = 1.3489795  # the interquartile range of a normal distribution, in standard deviations
_MOST_KNOTS = 1000  # Ranks of a column of more different values are interpolated between these.


class SoftRankScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
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
        found = [_Column.of(column[~np.isnan(column)]) for column in rows.T]
        self.center_ = np.array([column.center for column in found])
        self.scale_ = np.array([column.scale for column in found])
        self.knots_ = [column.knots for column in found]
        self.ranks_ = [column.ranks for column in found]
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
        rows = self._validated(X, reset=False)
        out = np.empty_like(rows)
        for k, column in enumerate(rows.T):
            # Halves are taken first, because a difference of large numbers may overflow.
            with np.errstate(over="ignore"):
                z = (column / 2 - self.center_[k] / 2) / (self.scale_[k] / 2)
            z = np.clip(z, -1e300, 1e300)  # NaN stays NaN, and what overflowed is far away.
            rank = np.interp(column, self.knots_[k], self.ranks_[k])
            rank[np.isnan(column)] = np.nan
            out[:, k] = _BEND * z / np.hypot(_BEND, z) / 2 + np.sqrt(3.0) * (rank - 0.5)
        return out

    def _validated(self, X: Any, *, reset: bool) -> FloatArray:
        refuse_tensor(X, self)
        checked: FloatArray = validate_data(
            self, detached(X), reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        return checked

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class _Column:
    """What is known of one column: median, spread, and ranks of some values."""

    def __init__(
        self, center: float, scale: float, knots: NDArray[Any], ranks: NDArray[Any]
    ) -> None:
        self.center, self.scale, self.knots, self.ranks = center, scale, knots, ranks

    @classmethod
    def of(cls, values: FloatArray) -> "_Column":
        """Describe the values of a column that are not missing."""
        knots, counts = np.unique(values, return_counts=True)
        if len(knots) < 2:
            return cls(knots[0] if len(knots) else 0.0, 1.0, np.zeros(1), np.full(1, 0.5))
        ranks = (np.cumsum(counts) - counts / 2) / len(values)  # the middle of equal values
        low, center, high = np.quantile(values, [0.25, 0.5, 0.75])
        largest = np.abs(knots[[0, -1]]).max()
        spread = 2 * (high / 2 - low / 2) / _IQR
        if not 0 < spread < np.inf:
            spread = largest * (values / largest).std()
        if len(knots) > _MOST_KNOTS:
            kept = np.unique(np.searchsorted(ranks, np.linspace(ranks[0], ranks[-1], _MOST_KNOTS)))
            knots, ranks = knots[kept], ranks[kept]
        return cls(float(center), max(float(spread), np.finfo(float).tiny), knots, ranks)
