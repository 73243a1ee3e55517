"""Typed columns → numbers of one scale, by a transformer that a pipeline carries."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from mercer.tables._table import Column
from mercer.tables.preparing._class_shares import ClassShares
from mercer.tables.preparing._dummies import CategoryDummies
from mercer.tables.preparing._table_transformer import TableTransformer
from mercer.tables.preparing._transformers import DateFeatures, FeatureClipper, SoftRankScaler
from mercer.tables.typing._dates import has_time

_PARTS_OF_TIME = ("days", "year", "month", "weekday", "hour")
_LIMIT = 4.0  # Numbers are clipped at this many standard deviations.
_MIN_FREQUENCY = 5  # Categories with fewer rows are infrequent.
_MAX_CATEGORIES = 100  # At most this many categories of a column are told apart.


def make_preprocessor(columns: Sequence[Column], *, scale: bool | str = True) -> ColumnTransformer:
    """Return a transformer that turns the used columns into numbers.

    Put it first in a pipeline: whatever it learns (medians, means, categories), it learns from
    the rows that the pipeline is fitted on, so that cross-validation does not leak.

    ==========  =======================================================================
    column      becomes
    ==========  =======================================================================
    number      the number, a missing one the median; standardised; clipped at ±4
    date        days since 1970, year, month, day of the week (hour where there are
                times); each as a number
    category    one 0/1 column for each category; a missing value is a category, those
                with fewer than 5 rows are one, and at most 100 are told apart; of more
                than 100, also how often each class was among the rows of this one,
                as other folds of the training rows have it
    missing     a 0/1 column for each number or date with missing values in training
    ==========  =======================================================================

    A category that was not seen in training is 0 in all columns.

    Parameters
    ----------
    columns : sequence of Column
        What :func:`split_target` or :func:`describe_columns` returned.
    scale : bool or "soft-ranks", default=True
        Whether to standardise and clip; trees do not need it.  With "soft-ranks" numbers become
        the coordinates of :class:`SoftRankScaler` instead, and the 0/1 columns of categories 0/½,
        so that two categories differ by 1 in a sum of absolute differences, about as much as two
        numbers do on average.

    Returns
    -------
    sklearn.compose.ColumnTransformer
        Not fitted. Takes the frame X of :func:`split_target` or :func:`match_columns`, returns
        a dense array, or a frame after ``set_output(transform="pandas")``. Its parts are classes
        of scikit-learn, :class:`CategoryDummies`, :class:`DateFeatures`, :class:`FeatureClipper`,
        :class:`SoftRankScaler`.

    Raises
    ------
    ValueError
        Where no column is used.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.tables import make_preprocessor, split_target
    >>> frame = pd.DataFrame(
    ...     {"age": [20, 30, None, 70], "sex": list("mfmf"), "ill": ["no", "no", "yes", "yes"]}
    ... )
    >>> data = split_target(frame, "ill")
    >>> make_preprocessor(data.columns, scale=False).fit_transform(data.X)[:, :2]
    array([[20.,  0.],
           [30.,  0.],
           [30.,  1.],
           [70.,  0.]])
    """
    used = [column for column in columns if column.used]
    numbers = [column.name for column in used if column.kind == "number"]
    categories = [column.name for column in used if column.kind == "category"]
    many = [
        column.name
        for column in used
        if column.kind == "category" and column.n_unique > _MAX_CATEGORIES
    ]
    dates = [column for column in used if column.kind == "date"]
    days = [column.name for column in dates if not has_time(column.style)]
    times = [column.name for column in dates if has_time(column.style)]
    parts = [
        ("number", Pipeline(_number_steps(scale)), numbers),
        ("missing", _indicator(), numbers),
        ("date", Pipeline([("parts", DateFeatures()), *_number_steps(scale)]), days),
        (
            "time",
            Pipeline([("parts", DateFeatures(parts=_PARTS_OF_TIME)), *_number_steps(scale)]),
            times,
        ),
        (
            "undated",
            Pipeline([("parts", DateFeatures(parts=("days",))), ("missing", _indicator())]),
            [*days, *times],
        ),
        ("category", _dummies(0.5 if scale == "soft-ranks" else 1.0), categories),
        ("share", ClassShares(), many),
    ]
    parts = [part for part in parts if part[2]]
    if not parts:
        raise ValueError("No column is used: there is nothing to make numbers of.")
    return TableTransformer(parts, sparse_threshold=0.0)


def is_preprocessor(transformer: Any) -> bool:
    """Tell whether a transformer is one of `make_preprocessor`, and not one that only looks so."""
    if not isinstance(transformer, ColumnTransformer) or transformer.remainder != "drop":
        return False
    steps = {"parts", "impute", "scale", "clip", "missing"}
    for name, part, _ in transformer.transformers:
        match name:
            case "category":
                is_ours = isinstance(part, CategoryDummies)
            case "share":
                is_ours = isinstance(part, ClassShares)
            case "missing":
                is_ours = isinstance(part, MissingIndicator)
            case "number" | "date" | "time" | "undated":
                is_ours = isinstance(part, Pipeline) and steps.issuperset(part.named_steps)
            case _:
                is_ours = False
        if not is_ours:
            return False
    return True


def source_columns(preprocessor: ColumnTransformer) -> list[str]:
    """Return the column of the table that each column of a fitted preprocessor's result is from."""
    sources: list[str] = []
    times: Sequence[int] | NDArray[Any]  # how many columns of the result each column has
    for name, part, columns in preprocessor.transformers_:
        match name:
            case "category":
                times = [len(part.names_of(k)) for k in range(len(columns))]
            case "share":
                times = [part.n_numbers_] * len(columns)
            case "missing":
                times = np.isin(np.arange(len(columns)), part.features_)
            case "undated":
                times = np.isin(np.arange(len(columns)), part.named_steps["missing"].features_)
            case "date" | "time":
                times = [len(part.named_steps["parts"].parts)] * len(columns)
            case _:
                times = [1] * len(columns)
        sources += np.repeat(np.asarray(columns, dtype=object), times).tolist()
    return sources


def _number_steps(scale: bool | str) -> list[tuple[str, object]]:
    """Return the steps for columns of numbers with gaps; a column without any value becomes 0."""
    impute = ("impute", SimpleImputer(strategy="median", keep_empty_features=True))
    if not scale:
        return [impute]
    if scale == "soft-ranks":
        return [impute, ("scale", SoftRankScaler())]
    return [impute, ("scale", StandardScaler()), ("clip", FeatureClipper(limit=_LIMIT))]


def _indicator() -> MissingIndicator:
    return MissingIndicator(features="missing-only", error_on_new=False)


def _dummies(height: float) -> CategoryDummies:
    return CategoryDummies(
        min_frequency=_MIN_FREQUENCY, max_categories=_MAX_CATEGORIES, height=height
    )
