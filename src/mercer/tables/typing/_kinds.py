"""Which kind of values a column holds, by looking at all of them and at no other column."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._arrays import FloatArray
from mercer._system.words import count_of, did_you_mean, quoted
from mercer.tables._sentences import ColumnNotFoundError, listed
from mercer.tables._table import USABLE, Column, Table, as_table
from mercer.tables.typing._cells import (
    ABSENT,
    Unread,
    as_dates,
    as_numbers,
    as_text,
    is_date,
    is_number,
)
from mercer.tables.typing._dates import has_time, infer_date_style, read_dates
from mercer.tables.typing._numbers import (
    LARGEST,
    count_without_sign,
    in_hundredths,
    infer_number_style,
    read_numbers,
    units_of,
    what_was_taken_off,
)

_MOST_MISSING = 0.95  # A column is not used if a larger share of its rows have no value.
_FEW_CATEGORIES = 10  # Up to this many texts are categories, however small the table is.
_ROWS_PER_CATEGORY = 2  # More texts are categories if they have as many rows on average.
_WORDS_OF_TEXT = 3  # Other values are text if they have as many words on average.
_ROWS_OF_IDENTIFIER = 20  # In fewer rows, numbers may be all different by chance.
_NAME_OF_IDENTIFIER = re.compile(
    r"(?i:(^|.*[^a-z])(id|uuid|guid|index|key))|.*[a-z]I[dD]|.*[a-z]Key"
)


def describe_columns(
    table: Any, target: str | None = None, *, kinds: Mapping[str, str] | None = None
) -> list[Column]:
    """Say of every column what it holds, whether it is used, and why not.

    A column is judged by its own values and name, never by the target, the order of rows or
    other columns.

    Parameters
    ----------
    table : Table or DataFrame
        Rows.
    target : str, optional
        The column to predict, which is left out.
    kinds : dict of name to kind, optional
        Columns whose kind you know better. ``"number"``, ``"category"`` or ``"date"`` use the
        column; ``"text"``, ``"identifier"`` or ``"excluded"`` leave it out.

    Returns
    -------
    list of Column
        In the order of the table.

    Raises
    ------
    ColumnNotFoundError
        Where there is no column of the name of ``target`` or of one of ``kinds``.
    ValueError
        Where the values of a column cannot be of the kind that was asked for.

    Notes
    -----
    Cost: some passes over each column, and one over the different texts of it.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.tables import describe_columns
    >>> frame = pd.DataFrame({"age": ["31", "?", "1,250"], "sex": ["m", "f", "m"], "of": "earth"})
    >>> [(column.name, column.kind, column.used) for column in describe_columns(frame)]
    [('age', 'number', True), ('sex', 'category', True), ('of', 'constant', False)]
    """
    table = as_table(table)
    frame = table.frame
    kinds = kinds or {}
    for name in [*kinds] if target is None else [target, *kinds]:
        check_column(name, table)
    for name, kind in kinds.items():
        if kind not in (*USABLE, "text", "identifier", "excluded"):
            raise ValueError(
                f"The kind of column {quoted(name)} must be number, category, date, text, "
                f"identifier or excluded; got {kind!r}."
            )
    return [
        _describe(str(name), frame[name], kinds.get(str(name)))
        for name in frame.columns
        if name != target
    ]


def check_column(name: str, table: Table) -> None:
    """Raise if no column has this name, and suggest similar ones."""
    names = list(table.frame.columns)
    if name in names:
        return
    hint = did_you_mean(str(name), names, f"its columns are {listed(names, most=8)}.")
    if table.other_sheets:
        others = listed(table.other_sheets, most=8)
        hint = f"{hint.rstrip('.')}{', ' if hint.endswith('.') else ' '}(other sheets: {others})."
    raise ColumnNotFoundError(f"There is no column {quoted(name)} in {table.name}: {hint}")


def _describe(name: str, values: pd.Series, asked: str | None) -> Column:
    if asked == "category" or (asked is None and isinstance(values.dtype, pd.CategoricalDtype)):
        return _describe_text(name, as_text(values), "category")
    if is_number(values) and asked in (None, "number"):
        return _describe_numbers(name, as_numbers(values), "", asked)
    if is_date(values) and asked in (None, "date"):
        return _describe_dates(name, as_dates(values), "", asked)
    texts = as_text(values)
    if pd.api.types.is_complex_dtype(values.dtype):
        return _describe_text(name, texts, asked)
    is_known = ~texts.categories.isin(ABSENT)
    known = list(texts.categories[is_known])
    n_rows = np.bincount(texts.codes[texts.codes >= 0], minlength=len(is_known))[is_known]
    if asked in (None, "number"):
        style = infer_number_style(known, n_rows)
        if style is not None or asked:
            numbers, unread = read_numbers(texts, style or "plain", values.index)
            _check_style(name, style, unread, "number")
            n_without = count_without_sign(texts, style or "plain")
            return _describe_numbers(name, numbers, style or "plain", asked, unread, n_without)
    if asked in (None, "date"):
        style, is_doubtful = infer_date_style(known, n_rows)
        if style is not None or asked:
            dates, unread = read_dates(texts, style or "ISO8601", values.index)
            _check_style(name, style, unread, "date")
            described = pd.Series(dates), style or "ISO8601", asked, unread, is_doubtful
            return _describe_dates(name, *described)
    return _describe_text(name, texts, asked)


def _check_style(name: str, style: str | None, unread: Unread | None, kind: str) -> None:
    """Raise if too many values of a column are not of the kind that was asked for."""
    if style is None and unread:
        raise ValueError(
            f"Column {quoted(name)} cannot be read as {kind}s: row {unread.row} holds "
            f"{quoted(unread.text)}."
        )


def _column(
    name: str, kind: str, asked: str | None, n: int, n_missing: int, reason: str = "", **rest: Any
) -> Column:
    """Decide whether the column is used, and finish its description."""
    used = kind in USABLE
    if used and asked is None and n_missing > _MOST_MISSING * n:
        used, reason = False, f"{n_missing / n:.0%} of its values are missing".replace("%", " %")
    return Column(name, kind, used, reason, n_missing, **rest)


def _without_variety(
    name: str, asked: str | None, n: int, n_missing: int, examples: tuple[str, ...]
) -> Column | None:
    """Describe a column that has no value or one only; None for other columns."""
    if n_missing == n:
        return _column(name, "empty", asked, n, n, "it has no values", n_unique=0)
    if len(examples) != 1:
        return None
    where = "in every row" if not n_missing else "wherever there is a value"
    reason = f"it is {quoted(examples[0])} {where}"
    return _column(name, "constant", asked, n, n_missing, reason, n_unique=1, examples=examples)


def _describe_numbers(
    name: str,
    numbers: FloatArray,
    style: str,
    asked: str | None,
    unread: Unread | None = None,
    n_without_sign: int = 0,
) -> Column:
    n_infinite = int((np.abs(numbers) > LARGEST).sum())
    finite = numbers[np.abs(numbers) <= LARGEST]  # This leaves out NaN too.
    n_unique = len(pd.unique(finite))
    n, n_missing = len(numbers), len(numbers) - len(finite)
    middle = len(finite) // 2
    three = np.partition(finite, [0, middle, -1])[[0, middle, -1]] if n_unique else finite
    # Adding 0.0 turns −0 into 0, so that the examples do not depend on which of them comes first.
    examples = tuple(f"{value:.6g}" for value in dict.fromkeys(three + 0.0))
    if (column := _without_variety(name, asked, n, n_missing, examples)) is not None:
        is_all = n_infinite == n
        return replace(column, reason="all its values are infinite") if is_all else column
    facts: Any = {"n_unique": n_unique, "examples": examples}
    n_read = n - (unread.count if unread else 0)
    if asked is None and n_unique == n_read and _numbers_rows(name, finite, n):
        return _column(name, "identifier", asked, n, n_missing, "it numbers the rows", **facts)
    reasons = [unread.sentence("number")] if unread else []
    if n_infinite:
        reasons.append(f"{count_of(n_infinite, 'infinite value')} taken as missing")
    if taken_off := what_was_taken_off(style):
        reasons.append(taken_off)
    if n_without_sign:
        numbers_without = count_of(n_without_sign, "number")
        reasons.append(f"{numbers_without} without {in_hundredths(style)} taken as if with it")
    return _column(name, "number", asked, n, n_missing, "; ".join(reasons), style=style, **facts)


def _three(unique: NDArray[Any]) -> NDArray[Any]:
    """Return the least, the middle and the largest; all, where there are fewer."""
    return unique if len(unique) < 3 else unique[[0, len(unique) // 2, -1]]


def _numbers_rows(name: str, different: FloatArray, n: int) -> bool:
    """Tell whether n different numbers only name the rows.

    They do if they are whole and consecutive, or if the column has the name of an identifier.
    """
    if n < _ROWS_OF_IDENTIFIER or np.any(different != np.floor(different)):
        return False
    is_run = different.max() - different.min() <= n - 1
    return bool(is_run or _NAME_OF_IDENTIFIER.fullmatch(name))


def _describe_dates(
    name: str,
    dates: pd.Series,
    style: str,
    asked: str | None,
    unread: Unread | None = None,
    is_doubtful: bool = False,
) -> Column:
    unique = np.sort(dates.dropna().unique())
    n, n_missing = len(dates), int(dates.isna().sum())
    with_time = has_time(style) or bool((dates.dropna() != dates.dropna().dt.normalize()).any())
    unit = "s" if with_time else "D"
    examples = tuple(map(str, _three(unique).astype(f"datetime64[{unit}]")))
    if (column := _without_variety(name, asked, n, n_missing, examples)) is not None:
        return column
    reasons = [unread.sentence("date")] if unread else []
    if "%y" in style:
        reasons.append("years of two digits are from 1969 to 2068")
    if is_doubtful:
        reasons.append("day/month or month/day is in doubt; the day is taken first")
    facts: Any = {"n_unique": len(unique), "examples": examples}
    style = style or ("ISO8601" if with_time else "%Y-%m-%d")
    return _column(name, "date", asked, n, n_missing, "; ".join(reasons), style=style, **facts)


def _describe_text(name: str, texts: pd.Categorical, asked: str | None) -> Column:
    n, n_missing = len(texts), int((texts.codes < 0).sum())
    counts = np.bincount(texts.codes[texts.codes >= 0], minlength=len(texts.categories))
    order = np.argsort(-counts, kind="stable")[:3]  # Ties are in alphabetical order.
    examples = tuple(str(text) for text in texts.categories[order])
    column = _without_variety(name, asked, n, n_missing, examples)
    if column is not None and asked != "excluded":
        return column
    n_unique = len(counts)
    facts: Any = {"n_unique": n_unique, "examples": examples}
    kind = asked or _kind_of_text(texts.categories, n_unique, n - n_missing)
    if kind == "category":
        categories = tuple(map(str, texts.categories))
        return _column(name, kind, asked, n, n_missing, categories=categories, **facts)
    if kind == "excluded":
        reason = "you leave it out"
    elif asked is not None:
        reason = f"it is {kind}, as you say" if kind == "text" else f"it is an {kind}, as you say"
    elif kind == "text":
        reason = f"free text ({count_of(n_unique, 'different value')})"
    else:
        reason = f"{count_of(n_unique, 'different value')} in {count_of(n - n_missing, 'row')}"
        if units := units_of(texts.categories):
            reason += f", numbers in several units: {listed(units)}"
    return _column(name, kind, asked, n, n_missing, reason, **facts)


def _kind_of_text(categories: pd.Index, n_unique: int, n_present: int) -> str:
    is_repeated = n_unique * _ROWS_PER_CATEGORY <= n_present
    is_few = n_unique <= _FEW_CATEGORIES and n_unique < n_present
    if is_few or is_repeated:
        return "category"
    words = np.mean([len(text.split()) for text in categories])
    return "text" if words >= _WORDS_OF_TEXT else "identifier"
