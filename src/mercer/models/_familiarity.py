"""How familiar rows are: the rank of their density among those of training rows left out."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mercer._arrays import FloatArray
from mercer._memory import by_slabs
from mercer._sklearn import take_rows_of_any
from mercer.models._training_sample import MOST_ROWS
from mercer.samples import logsumexp

_IQR = 1.3489795003921634  # the distance of the quartiles of a normal distribution
_LARGEST = 1e300  # A number may be so many spreads away from the middle of its column.
_TABLES = 4  # Ranking holds so many arrays of (rows, training rows) at once.


class Familiarity:
    r"""Rank rows by their density among training rows, each of these left out.

    The familiarity of a row is the share of training rows that lie farther out than it does:
    whose log density by all other training rows is below that of the row by all of them.  It is 0
    where the row lies farther out than every training row.  Rows of the distribution of the
    training rows have familiarities that are uniform on [0, 1], whatever that distribution is:
    one in a hundred has a familiarity below 0.01.

    .. math::

        \varphi(x) = \frac1n \#\{i : \hat f_{-i}(x_i) < \hat f(x)\}

    Parameters
    ----------
    X : pandas.DataFrame of shape (n_rows, n_columns)
        Typed training rows, two or more: columns of numbers, dates or categories, as in
        :class:`mercer.tables.LabelledTable`.

    Attributes
    ----------
    bandwidth_ : float
        The width h of the Gaussian windows.
    training_scores_ : ndarray of shape (n_rows,)
        Log densities of the training rows, each left out, in increasing order; up to a constant.

    See Also
    --------
    mercer.DensityOutlierDetector : Calls rows outliers, of a table of numbers.

    Notes
    -----
    A number becomes asinh((x − median)/spread), the spread being that of the quartiles: straight in
    the middle, and a logarithm far out, where ten times as far is one step more.  A missing
    number is in the middle of its column, and differs by 1 from all that are not missing.  Two
    categories differ by √2, as two ordinary numbers do on average, and a category that no training
    row has, or only one, differs so from every row.  The windows are round, of the width
    h = σ·[4/((p+2)·n)]^(1/(p+4)) for p columns, where σ² is half of the mean squared distance of
    two rows over p.

    A density of many columns knows little of how they go together: a row that is odd by a
    combination of two usual values, among fifty columns, keeps a usual familiarity.  And a row
    is not known because it is familiar: classes may overlap there.

    Time: rows·training rows·coordinates, by matrix products.

    References
    ----------
    .. [1] V. Vovk, A. Gammerman, G. Shafer (2005). Algorithmic Learning in a Random World.
       Springer. :doi:`10.1007/b106715`

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from mercer.models import Familiarity
    >>> rng = np.random.default_rng(0)
    >>> known = pd.DataFrame({"age": rng.normal(50, 10, 200), "height": rng.normal(170, 9, 200)})
    >>> found = Familiarity(known)
    >>> found.rank(pd.DataFrame({"age": [50.0, 190.0], "height": [170.0, 172.0]})).tolist()
    [0.695, 0.0]
    """

    def __init__(self, X: pd.DataFrame) -> None:
        if len(X) < 2:
            raise ValueError(f"Familiarity needs two training rows or more; got {len(X)}.")
        self._coordinates = _Coordinates.of(X)
        self._rows = self._coordinates.encode(X)
        n, p = len(X), X.shape[1]
        distances = self._squared_distances(self._rows)
        np.fill_diagonal(distances, 0.0)
        # Half of the mean squared distance of two rows is a variance.
        spread = np.sqrt(distances.sum() / (n * (n - 1)) / 2 / p)
        factor = (4 / ((p + 2) * n)) ** (1 / (p + 4))
        self.bandwidth_ = float(spread * factor) or 1.0  # any width, where all rows are the same
        exponents = -distances / (2 * self.bandwidth_**2)
        np.fill_diagonal(exponents, -np.inf)
        self._left_out = logsumexp(exponents, axis=1) - np.log(n - 1)
        self.training_scores_: FloatArray = np.sort(self._left_out)

    def rank(self, X: pd.DataFrame) -> FloatArray:
        """Return the familiarity of rows.

        Parameters
        ----------
        X : pandas.DataFrame of shape (n_samples, n_columns)
            Typed rows with the columns of the training rows, as
            :func:`mercer.tables.match_columns` returns them.

        Returns
        -------
        ndarray of shape (n_samples,)
            The share of training rows that lie farther out than each row: from 0 to 1.
        """
        scores = self._by_slabs(
            lambda rows: logsumexp(self._exponents(rows), axis=1) - np.log(len(self._rows)), X
        )
        below = np.searchsorted(self.training_scores_, scores, side="left")
        return np.asarray(below / len(self._rows))

    def rank_left_out(self) -> FloatArray:
        """Return the familiarity of each training row among all others.

        Returns
        -------
        ndarray of shape (n_rows,)
            The share of the other training rows that lie farther out.
        """
        below = np.searchsorted(self.training_scores_, self._left_out, side="left")
        return np.asarray(below / (len(self._rows) - 1))

    def farthest_column(self, X: pd.DataFrame) -> list[str]:
        """Return for each row the column in which it is farthest from the rows like it.

        Training rows count by their windows at the row, so that those which are like it in all
        other columns count most.

        Parameters
        ----------
        X : pandas.DataFrame of shape (n_samples, n_columns)
            Typed rows, as for `rank`.

        Returns
        -------
        list of str
            A name for each row.
        """
        names = np.array(list(self._coordinates.columns), dtype=object)
        return [str(name) for name in names[self._by_slabs(self._farthest, X)]]

    def _by_slabs(self, answer: Any, X: pd.DataFrame) -> Any:
        each = 8 * (_TABLES * len(self._rows) + 3 * self._rows.shape[1])
        return by_slabs(answer, X, each, take=take_rows_of_any)

    def _exponents(self, X: pd.DataFrame) -> FloatArray:
        distances = self._squared_distances(self._coordinates.encode(X))
        return -distances / (2 * self.bandwidth_**2)

    def _squared_distances(self, rows: FloatArray) -> FloatArray:
        """Return squared distances to the training rows.

        Categories that are the same take 2 from the most that categories can differ by, so that
        one product of matrices sees numbers and categories.
        """
        d = self._coordinates.n_measured
        lengths = [np.square(Z[:, :d]).sum(axis=1) for Z in (rows, self._rows)]
        most = 2.0 * self._coordinates.n_categories
        found = lengths[0][:, None] + lengths[1] + most - 2.0 * rows @ self._rows.T
        return np.asarray(np.maximum(found, 0.0))

    def _farthest(self, X: pd.DataFrame) -> Any:
        """Return the number of the column with the largest mean squared difference."""
        Z, d = self._coordinates.encode(X), self._coordinates.n_measured
        exponents = -self._squared_distances(Z) / (2 * self.bandwidth_**2)
        shares = np.exp(exponents - logsumexp(exponents, axis=1)[:, None])
        means = shares @ self._rows
        squares = shares @ np.square(self._rows[:, :d])
        measured = np.square(Z[:, :d]) - 2 * Z[:, :d] * means[:, :d] + squares
        apart = np.zeros((len(Z), len(self._coordinates.columns)))
        for k, places in enumerate(self._coordinates.columns.values()):
            if places.start < d:
                apart[:, k] = measured[:, places].sum(axis=1)
            else:
                apart[:, k] = 2.0 - 2.0 * (Z[:, places] * means[:, places]).sum(axis=1)
        return apart.argmax(axis=1)


def familiarity_of_rows(X: pd.DataFrame, random_state: int = 0) -> FloatArray:
    """Return how familiar each row of a table is among others: at most 1 000, drawn at random."""
    places = np.arange(len(X))
    if len(X) > MOST_ROWS:
        rng = np.random.default_rng(random_state)
        places = rng.choice(len(X), MOST_ROWS, replace=False)
    known = Familiarity(X.iloc[places])
    ranks = known.rank(X)
    ranks[places] = known.rank_left_out()
    return ranks


@dataclass(frozen=True, eq=False)
class _Coordinates:
    """What typed rows become: two coordinates for each number, one for each known category.

    Parameters
    ----------
    middles, spreads : dict of str to float
        Of each column of numbers or dates.
    categories : dict of str to dict of str to int
        The categories of each other column that two training rows have, and their places.
    columns : dict of str to slice
        The coordinates of each column: those that are measured first.
    """

    middles: dict[str, float]
    spreads: dict[str, float]
    categories: dict[str, dict[str, int]]
    columns: dict[str, slice]

    @classmethod
    def of(cls, X: pd.DataFrame) -> "_Coordinates":
        """Learn middles, spreads and categories."""
        middles, spreads = {}, {}
        categories: dict[str, dict[str, int]] = {}
        for name in X:
            if isinstance(X[name].dtype, pd.CategoricalDtype):
                counts = X[name].value_counts()
                known = sorted(str(one) for one in counts.index[counts > 1])
                categories[name] = {category: place for place, category in enumerate(known)}
                # A missing value is a category like any other.
                categories[name][_MISSING] = len(known)
            else:
                middles[name], spreads[name] = _middle_and_spread(_as_numbers(X[name]))
        widths = {**dict.fromkeys(middles, 2), **{k: len(v) for k, v in categories.items()}}
        ends = np.cumsum(list(widths.values()))
        columns = {
            name: slice(int(end) - width, int(end))
            for (name, width), end in zip(widths.items(), ends, strict=True)
        }
        return cls(middles, spreads, categories, columns)

    @property
    def n_measured(self) -> int:
        """How many coordinates are compared by their difference."""
        return 2 * len(self.middles)

    @property
    def n_categories(self) -> int:
        """How many columns hold categories."""
        return len(self.categories)

    def encode(self, X: pd.DataFrame) -> FloatArray:
        """Return the coordinates of typed rows."""
        Z = np.zeros((len(X), max((place.stop for place in self.columns.values()), default=0)))
        for name, middle in self.middles.items():
            values = _as_numbers(X[name])
            is_missing = np.isnan(values)
            with np.errstate(over="ignore"):  # Halves, as a difference of large numbers may be inf.
                far = (values / 2 - middle / 2) / (self.spreads[name] / 2)
            start = self.columns[name].start
            far = np.arcsinh(np.clip(far, -_LARGEST, _LARGEST))
            Z[:, start] = np.where(is_missing, 0.0, far)
            Z[:, start + 1] = is_missing
        for name, places in self.categories.items():
            column = X[name].array
            of_codes = [places.get(str(one), -1) for one in column.categories]
            found = np.array([*of_codes, places[_MISSING]])[column.codes]
            rows = np.flatnonzero(found >= 0)
            Z[rows, self.columns[name].start + found[rows]] = 1.0
        return Z


_MISSING = "\0"  # the name of a missing category: no cell of a table is this


def _as_numbers(values: pd.Series) -> FloatArray:
    """Return numbers as they are, and dates in days; missing values as NaN."""
    if values.dtype.kind == "M":
        days = values.to_numpy(dtype="datetime64[us]") - np.datetime64(0, "us")
        return np.asarray(days / np.timedelta64(1, "D"), dtype=np.float64)
    return np.asarray(values.to_numpy(dtype=np.float64))


def _middle_and_spread(values: FloatArray) -> tuple[float, float]:
    """Return the median and a spread: of the quartiles, or else the standard deviation.

    Where all numbers are the same, their size is what others are measured by.
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return 0.0, 1.0
    low, middle, high = np.quantile(known, [0.25, 0.5, 0.75])
    spread = 2 * (high / 2 - low / 2) / _IQR
    if not 0 < spread < np.inf:
        largest = np.abs(known).max() or 1.0
        spread = largest * (known / largest).std() or largest
    return float(middle), max(float(spread), float(np.finfo(float).tiny))
