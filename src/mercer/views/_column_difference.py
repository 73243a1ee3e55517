"""How one column differs between two tables, by a classical test of its kind."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, fisher_exact, ks_2samp

from mercer._arrays import FloatArray
from mercer.tables import Column

# Categories of which fewer rows are expected in the smaller table are counted together.
_FEWEST_EXPECTED = 5


@dataclass(frozen=True)
class ColumnDifference:
    """How much a column differs between two tables.

    Parameters
    ----------
    name : str
    kind : {"number", "category", "date"}
    difference : float
        Between 0 and 1: the largest gap of the two cumulative distributions (numbers, dates), the
        share of rows that would have to change category, or the gap in missing values if
        that is larger.
    pvalue : float
        Kolmogorov–Smirnov for numbers and dates, chi² for categories; where values are missing,
        twice the lesser of this and the p-value of their counts.
    corrected : float
        After Holm's correction for all columns.
    first, second : str
        What it is like in either table.
    share : float or None, default=None
        Of what tells the tables apart, all columns together: the AUC that is lost where the
        column's cells are dealt to other rows, as a share of what all columns lose.  None where
        the tables cannot be told apart.
    """

    name: str
    kind: str
    difference: float
    pvalue: float
    corrected: float
    first: str
    second: str
    share: float | None = None


def column_difference(
    values: pd.Series, column: Column, is_second: NDArray[np.bool_]
) -> ColumnDifference:
    """Return how a column differs between two tables; its p-value is not corrected yet."""
    if column.kind == "category":
        return _category_difference(values, column, is_second)
    numbers = _as_floats(values)
    is_missing = np.isnan(numbers)
    a, b = numbers[~is_second & ~is_missing], numbers[is_second & ~is_missing]
    gap, p = 0.0, 1.0
    if len(a) and len(b):
        with warnings.catch_warnings():
            # SciPy warns where it approximates the p-value.
            warnings.simplefilter("ignore", RuntimeWarning)
            found = ks_2samp(a, b)
        gap, p = float(found.statistic), float(found.pvalue)
    texts = [_median(part, column) for part in (a, b)]
    if is_missing.any():
        counts = _counts(is_missing.astype(np.intp), is_second, 2)
        missing = counts[:, 1] / counts.sum(axis=1)
        p = float(np.minimum(1.0, 2 * np.minimum(p, _contingency(counts))))
        if abs(missing[1] - missing[0]) > gap:
            gap = float(abs(missing[1] - missing[0]))
            texts = [f"{share:.0%} missing".replace("%", " %") for share in missing]
    return ColumnDifference(column.name, column.kind, gap, p, p, texts[0], texts[1])


def _category_difference(
    values: pd.Series, column: Column, is_second: NDArray[np.bool_]
) -> ColumnDifference:
    codes = values.cat.codes.to_numpy() + 1  # A missing value is 0.
    names = ["(missing)", *map(str, values.cat.categories)]
    counts = _counts(codes, is_second, len(names))
    shares = counts / counts.sum(axis=1, keepdims=True)
    change = np.abs(shares[1] - shares[0])
    most = int(np.argmax(change if change.any() else shares[0]))
    texts = [f"{part[most]:.0%} {names[most]}".replace("%", " %", 1) for part in shares]
    p = _contingency(counts)
    moved = float(change.sum() / 2)
    return ColumnDifference(column.name, column.kind, moved, p, p, texts[0], texts[1])


def _counts(codes: NDArray[Any], is_second: NDArray[np.bool_], n_codes: int) -> NDArray[np.intp]:
    return np.stack(
        [np.bincount(codes[mask], minlength=n_codes) for mask in (~is_second, is_second)]
    )


def _contingency(counts: NDArray[np.intp]) -> float:
    """Return the p-value that two rows of counts are of one distribution."""
    counts = counts[:, counts.sum(axis=0) > 0]
    expected = counts.sum(axis=0) * counts.sum(axis=1).min() / counts.sum()
    is_rare = expected < _FEWEST_EXPECTED
    if counts.shape[1] > 2 and is_rare.any():
        rest = counts[:, is_rare].sum(axis=1, keepdims=True)
        counts = np.concatenate([counts[:, ~is_rare], rest], axis=1)
    if counts.shape[1] < 2:
        return 1.0
    if counts.shape == (2, 2) and is_rare.any():
        return float(fisher_exact(counts).pvalue)
    return float(chi2_contingency(counts, correction=False).pvalue)


def _as_floats(values: pd.Series) -> FloatArray:
    """Return numbers as they are and dates as days from 1970."""
    if pd.api.types.is_datetime64_any_dtype(values):
        days = (values - pd.Timestamp(0)) / pd.Timedelta(days=1)
        return np.asarray(days, dtype=np.float64)
    return np.asarray(values, dtype=np.float64)


def _median(part: FloatArray, column: Column) -> str:
    if not len(part):
        return "no values"
    middle = float(np.median(part))
    if column.kind == "date":
        return "median " + str((pd.Timestamp(0) + pd.Timedelta(days=middle)).date())
    return f"median {middle:.6g}"
