"""The transformer of a table: scikit-learn's for the fit, its sums at once for the answers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
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
            blocks = [
                _numbers_of(name, part, [X[column] for column in columns])
                for name, part, columns in self.transformers_
                if name != "remainder"
            ]
            known = [block for block in blocks if block is not None]
            if len(known) == len(blocks):
                return np.hstack(known)
        return super().transform(X, **params)

    def _has_columns_of_fit(self, X: Any) -> bool:
        """Tell whether X is a typed table whose columns are those of `fit`, and nothing else."""
        known = getattr(self, "feature_names_in_", None)
        if known is None or not isinstance(X, pd.DataFrame) or not len(X):
            return False
        if X.shape[1] != len(known) or X.columns.tolist() != known.tolist():
            return False
        dtypes = dict(zip(X.columns, X.dtypes, strict=True))
        return all(
            all(dtypes[column].kind == _KINDS.get(name, "O") for column in columns)
            for name, _, columns in self.transformers_
            if name != "remainder"
        )


def _numbers_of(name: str, part: Any, columns: Sequence[pd.Series]) -> FloatArray | None:
    """Return what a fitted part makes of its columns, as its `transform` does.

    None where numbers are infinite, of which scikit-learn says more.
    """
    if isinstance(part, CategoryDummies):
        return part._dummies_of([as_text(column) for column in columns])
    if isinstance(part, ClassShares):
        return part._shares_of([as_text(column) for column in columns])
    if _KINDS[name] == "f":
        block = np.column_stack([column.to_numpy(dtype=np.float64) for column in columns])
        if np.isinf(block).any():
            return None
    else:
        block = np.column_stack([days_since_1970(column.to_numpy()) for column in columns])
    for _, step in getattr(part, "steps", [(name, part)]):
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
