"""Numbers that a classifier sees → the values of a user's columns: the preprocessing, backwards."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import StandardScaler

from mercer._arrays import FloatArray
from mercer.tables.preparing._dummies import CategoryDummies
from mercer.tables.preparing._transformers import DateFeatures, FeatureClipper, SoftRankScaler


def decode_rows(preprocessor: ColumnTransformer, Z: FloatArray) -> pd.DataFrame:
    """Return the values that a fitted preprocessor made these numbers of, column by column.

    A number comes back to about twelve digits, and as it was if it is among the values that a
    soft-rank scaler keeps; one that was clipped is the limit.  A category that was rare in training
    is "(infrequent)", one that was not seen is missing, as what is missing in the table.  A
    missing number of a column without any in training is the median, which stood for it.

    Parameters
    ----------
    preprocessor : ColumnTransformer
        Fitted, of :func:`mercer.tables.make_preprocessor`.
    Z : ndarray of shape (n_rows, n_numbers)
        What it returned, or rows of a classifier that was fitted on that.

    Returns
    -------
    pandas.DataFrame
        Float, datetime and object columns, in the order of the table.
    """
    found: dict[str, Any] = {}
    missing: dict[str, NDArray[np.bool_]] = {}
    for name, part, columns in preprocessor.transformers_:
        if name not in preprocessor.output_indices_ or name in ("remainder", "share"):
            continue  # What shares say, the dummies of the same column say better.
        block = np.asarray(Z, dtype=np.float64)[:, preprocessor.output_indices_[name]]
        if name in ("missing", "undated"):
            seen = part if name == "missing" else part.named_steps["missing"]
            for k, feature in enumerate(seen.features_):
                missing[columns[feature]] = block[:, k] > 0
        elif name == "category":
            found |= zip(columns, _categories(part, block), strict=True)
        elif name == "number":
            found |= zip(columns, _numbers(part, block).T, strict=True)
        else:  # the days since 1970 are the first part of a date
            dates: DateFeatures = part.named_steps["parts"]
            days = _numbers(part, block)[:, list(dates.parts).index("days") :: len(dates.parts)]
            found |= zip(columns, map(_dates, days.T, [name] * len(columns)), strict=True)
    for column, is_missing in missing.items():
        found[column] = pd.Series(found[column]).mask(is_missing).to_numpy()
    names = getattr(preprocessor, "feature_names_in_", list(found))
    return pd.DataFrame({name: found[name] for name in names if name in found})


def _numbers(part: Any, block: FloatArray) -> FloatArray:
    """Return numbers as they were before the steps of a pipeline that scale them."""
    for _, step in reversed(part.steps):
        if isinstance(step, SoftRankScaler):
            block = step.inverse_transform(block)
        elif isinstance(step, StandardScaler):
            block = _rounded(np.asarray(step.inverse_transform(block)))
        elif isinstance(step, FeatureClipper):
            pass  # What lies at the limit may have lain beyond.
    return block


def _rounded(values: FloatArray) -> FloatArray:
    """Return values to twelve digits of the largest of their column: the rest is rounding."""
    largest = np.abs(values).max(axis=0, initial=0.0)
    digits = 11 - np.floor(np.log10(np.where(largest > 0, largest, 1.0))).astype(int)
    columns = [np.round(v, int(k)) for v, k in zip(values.T, digits, strict=True)]
    return np.column_stack(columns) if columns else values


def _dates(days: FloatArray, name: str) -> NDArray[np.datetime64]:
    """Return dates of so many days since 1970, without a time unless they had one."""
    if name == "date":
        days = np.round(days)
    seconds = np.round(days * 86_400)
    return (np.datetime64(0, "s") + seconds.astype("timedelta64[s]")).astype("datetime64[s]")


def _categories(part: CategoryDummies, block: FloatArray) -> list[NDArray[Any]]:
    """Return the category of each row, for each column; None where none or a missing one holds."""
    found, start = [], 0
    for feature in range(len(part.categories_)):
        names = part.names_of(feature)
        dummies = block[:, start : start + len(names)]
        start += len(names)
        if part.has_missing_[feature]:
            names = [*names[:-1], None]  # type: ignore[list-item]
        texts = np.array([*names, None], dtype=object)
        which = np.argmax(dummies, axis=1) if len(texts) > 1 else np.zeros(len(block), dtype=int)
        none = ~(dummies > 0).any(axis=1)
        found.append(texts[np.where(none, len(texts) - 1, which)])
    return found
