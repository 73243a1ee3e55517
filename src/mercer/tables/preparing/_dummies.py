"""Categories → 0/1 columns, by counting codes rather than cells."""

from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._arrays import FloatArray, detached, refuse_tensor
from mercer._sklearn import Interval, fit_context
from mercer.tables.typing._cells import as_text

_INFREQUENT, _MISSING = "(infrequent)", "(missing)"


class CategoryDummies(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Give each category a column that is 1 where it holds and 0 elsewhere.

    No category is dropped, so that any two are equally far apart.  Rare categories share a
    column, missing values have one, and a category that was not seen in `fit` is 0 in all.

    Parameters
    ----------
    min_frequency : int, default=5
        Categories with fewer rows are infrequent.
    max_categories : int, default=100
        The most categories of a column that are told apart; of more, the less frequent are
        infrequent, and of equals the later in the alphabet.
    height : float, default=1.0
        What stands in the column of the category that holds.  With 0.5, two categories differ by 1
        in a sum of absolute differences.

    Attributes
    ----------
    categories_ : list of ndarray of str
        For each column the categories that have a column of their own, in alphabetical order.
    infrequent_categories_ : list of ndarray of str
        Those that share one.
    has_missing_ : ndarray of bool of shape (n_features_in_,)
        Whether missing values have a column.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    sklearn.preprocessing.OneHotEncoder : Has more options.  It counts cells one by one, which
        takes several times as long, and puts a few missing values to the infrequent categories.

    Notes
    -----
    Numbers and booleans count as text: 1, 1.0 and "1" are one category.  Columns of pandas'
    category type are fastest: time is then that of writing the result, memory the result.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.tables import CategoryDummies
    >>> pets = pd.DataFrame({"pet": ["cat", "dog", "cat", None, "dog", "emu"]})
    >>> encoder = CategoryDummies(min_frequency=2).fit(pets)
    >>> encoder.get_feature_names_out().tolist()
    ['pet=cat', 'pet=dog', 'pet=(infrequent)', 'pet=(missing)']
    >>> encoder.transform(pd.DataFrame({"pet": ["dog", "emu", "yak"]}))
    array([[0., 1., 0., 0.],
           [0., 0., 1., 0.],
           [0., 0., 0., 0.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_frequency": [Interval(Integral, 1, None, closed="left")],
        "max_categories": [Interval(Integral, 1, None, closed="left")],
        "height": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self, *, min_frequency: int = 5, max_categories: int = 100, height: float = 1.0
    ) -> None:
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.height = height

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> "CategoryDummies":
        """Count the categories.

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
        self.categories_: list[NDArray[np.str_]] = []
        self.infrequent_categories_: list[NDArray[np.str_]] = []
        has_missing = []
        for column in columns_of(self, X, reset=True):
            counts = np.bincount(column.codes + 1, minlength=len(column.categories) + 1)
            n_missing, counts = counts[0], counts[1:]
            names = names_of(column)
            is_frequent = counts >= self.min_frequency
            is_frequent[np.argsort(-counts, kind="stable")[self.max_categories :]] = False
            self.categories_.append(names[is_frequent])
            self.infrequent_categories_.append(names[~is_frequent])
            has_missing.append(n_missing > 0)
        self.has_missing_ = np.array(has_missing, dtype=bool)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Encode.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_dummies)
            All columns of the first feature, then those of the second, and so on.
        """
        check_is_fitted(self)
        return self._dummies_of(list(columns_of(self, X, reset=False)))

    def _dummies_of(self, columns: Sequence[pd.Categorical]) -> FloatArray:
        widths = [self._n_dummies(feature) for feature in range(len(columns))]
        dummies = np.zeros((len(columns[0]), sum(widths)))
        rows = np.arange(len(dummies))
        for feature, column in enumerate(columns):
            place = self._places(feature, names_of(column))[column.codes]
            is_known = place >= 0
            dummies[rows[is_known], sum(widths[:feature]) + place[is_known]] = self.height
        return dummies

    def _n_dummies(self, feature: int) -> int:
        n_frequent, n_infrequent = map(
            len, (self.categories_[feature], self.infrequent_categories_[feature])
        )
        return n_frequent + (n_infrequent > 0) + int(self.has_missing_[feature])

    def _places(self, feature: int, names: NDArray[np.str_]) -> NDArray[np.intp]:
        """Return which dummy each category, and last a missing value, sets; −1 is none."""
        frequent, infrequent = self.categories_[feature], self.infrequent_categories_[feature]
        places = np.full(len(names) + 1, -1, dtype=np.intp)
        is_frequent, found = found_among(frequent, names)
        places[:-1][is_frequent] = found[is_frequent]
        places[:-1][found_among(infrequent, names)[0]] = len(frequent)
        if self.has_missing_[feature]:
            places[-1] = self._n_dummies(feature) - 1
        return places

    def names_of(self, feature: int) -> list[str]:
        """Return the names of a feature's columns, without the feature's own.

        Parameters
        ----------
        feature : int
            Position of the feature.

        Returns
        -------
        list of str
            The categories that have a column, then those that share one, then missing values.
        """
        names = [str(name) for name in self.categories_[feature]]
        names += [_INFREQUENT] * bool(len(self.infrequent_categories_[feature]))
        return names + [_MISSING] * bool(self.has_missing_[feature])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the columns ``feature=category``.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns; those seen in `fit` by default.

        Returns
        -------
        ndarray of str
            A name for each column.
        """
        check_is_fitted(self)
        features = super().get_feature_names_out(input_features)
        names = [f"{one}={name}" for i, one in enumerate(features) for name in self.names_of(i)]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def names_of(column: pd.Categorical) -> NDArray[np.str_]:
    """Return the categories of a column, in alphabetical order."""
    return np.array([str(name) for name in column.categories], dtype=str)


def found_among(
    known: NDArray[np.str_], names: NDArray[np.str_]
) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Return which names are known, and the place of each in the alphabet of the known ones."""
    if not len(known):
        return np.zeros(len(names), dtype=bool), np.zeros(len(names), dtype=np.intp)
    places = np.minimum(np.searchsorted(known, names), len(known) - 1)
    return known[places] == names, places


def columns_of(estimator: Any, X: Any, *, reset: bool) -> Iterator[pd.Categorical]:
    """Check X and yield its columns as text, the codes of missing values −1."""
    if isinstance(X, pd.DataFrame) and len(X) and X.shape[1]:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        yield from (as_text(X.iloc[:, i]) for i in range(X.shape[1]))
    else:
        refuse_tensor(X, estimator)
        checked = validate_data(
            estimator, detached(X), reset=reset, dtype=None, ensure_all_finite="allow-nan"
        )
        if not checked.dtype.isnative:  # pandas takes only the byte order of the machine.
            checked = checked.astype(checked.dtype.newbyteorder("="))
        yield from (as_text(pd.Series(column)) for column in checked.T)
