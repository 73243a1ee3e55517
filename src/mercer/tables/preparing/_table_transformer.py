"""The transformer of a table: scikit-learn's for the fit, its sums at once for the answers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from mercer._arrays import FloatArray
from mercer._sklearn import returns_arrays
from mercer.tables.preparing._class_shares import ClassShares
from mercer.tables.preparing._dummies import CategoryDummies
from mercer.tables.preparing._transformers import days_since_1970
from mercer.tables.typing._cells import as_text

_KINDS = {"number": "f", "missing": "f", "date": "M", "time": "M", "undated": "M"}


class TableTransformer(ColumnTransformer):
    """A ColumnTransformer that looks at the rows once, where their columns are those of `fit`.

    scikit-learn checks rows before each step of each part.  Of a few rows, which a service is asked
    about, that takes ten times as long as the sums themselves; the numbers are the same.
    """

    def transform(self, X: Any, **params: Any) -> Any:
        """Return the numbers of rows, as ColumnTransformer does."""
        if not params and returns_arrays(self) and self._has_columns_of_fit(X):
            parts = [part for part in self.transformers_ if part[0] != "remainder"]
            values = {name: _values(X[name]) for _, _, names in parts for name in names}
            # scikit-learn says more of infinite numbers.
            if not any(one.dtype.kind == "f" and np.isinf(one).any() for one in values.values()):
                blocks = [_numbers_of(part, [values[name] for name in names])
                          for _, part, names in parts]  # fmt: skip
                return np.hstack(blocks)
        return super().transform(X, **params)

    def _has_columns_of_fit(self, X: Any) -> bool:
        """Tell whether X is a typed table whose columns are those of `fit`, and nothing else."""
        known = getattr(self, "feature_names_in_", None)
        if known is None or not isinstance(X, pd.DataFrame) or not len(X):
            return False
        if X.shape[1] != len(known) or X.columns.tolist() != known.tolist():
            return False
        kinds = {name: _kind(dtype) for name, dtype in zip(X.columns, X.dtypes, strict=True)}
        return all(
            all(kinds[column] == _KINDS.get(name, "O") for column in columns)
            for name, _, columns in self.transformers_
            if name != "remainder"
        )


def _kind(dtype: Any) -> str:
    """Return f for plain numbers of 64 bits, M for dates without a time zone, O for texts."""
    is_plain = isinstance(dtype, np.dtype) and (dtype == np.float64 or dtype.kind == "M")
    return str(dtype.kind) if is_plain or dtype.kind == "O" else ""


def _values(column: pd.Series) -> Any:
    """Return what steps are given of a column: numbers, days since 1970, or texts."""
    match column.dtype.kind:
        case "f":
            return column.to_numpy()
        case "M":
            return days_since_1970(column.to_numpy())
    return as_text(column)


def _numbers_of(part: Any, columns: Sequence[Any]) -> FloatArray:
    """Return what a fitted part makes of its columns, as its `transform` does."""
    if isinstance(part, CategoryDummies):
        return part._dummies_of(columns)
    if isinstance(part, ClassShares):
        return part._shares_of(columns)
    block = np.column_stack(columns)
    for step in part.named_steps.values() if isinstance(part, Pipeline) else [part]:
        block = _after(step, block)
    return block


def _after(step: Any, block: FloatArray) -> FloatArray:
    """Return numbers after one fitted step, as its `transform` returns them."""
    found: FloatArray
    match step:
        case SimpleImputer():
            found = np.where(np.isnan(block), step.statistics_, block)
        case MissingIndicator():
            found = np.isnan(block)[:, step.features_].astype(np.float64)
        case StandardScaler():
            found = (block - step.mean_) / step.scale_
        case _:  # DateFeatures, FeatureClipper or SoftRankScaler
            found = step._numbers_of(block)
    return found
