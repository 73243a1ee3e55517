"""Your own table: from a file to X and y, with nothing lost in silence.

::

    people.csv ── read_table ──▶ Table: frame, notes        reading/
        │  what is each column?                             typing/
        ▼
    split_target ──▶ LabelledTable: X, y, columns, notes    _target
        │  make_preprocessor(columns)                       preparing/
        ▼
    a scikit-learn pipeline, fitted, saved
        │
    new.csv ── read_table ── match_columns ──▶ Table        typing/_match
        ▼
    predictions.csv ◀── write_table                         _write

Functions that read return a :class:`Table` or a :class:`LabelledTable`: rows, and notes for the
user, each one sentence.  What cannot be read is refused in one sentence, by a ValueError, a
LookupError or an OSError, that names the file, column or line and says what to do.  Nothing is
printed, and nothing is unpickled.

What depends on the data (medians, scales, categories) is learnt inside the pipeline and so inside
each fold of a cross-validation; only the kinds of columns are seen beforehand, from all rows and
without the target.

>>> import pandas as pd
>>> from sklearn.linear_model import LogisticRegression
>>> from sklearn.pipeline import make_pipeline
>>> from mercer.tables import make_preprocessor, match_columns, split_target
>>> people = pd.DataFrame({"age": [20, 30, 60, 70], "sex": list("mfmf"), "retired": list("nnyy")})
>>> data = split_target(people, "retired")
>>> model = make_pipeline(make_preprocessor(data.columns), LogisticRegression())
>>> model = model.fit(data.X, data.y)
>>> new = match_columns(pd.DataFrame({"sex": ["f"], "age": ["81"]}), data.columns)
>>> model.predict(new.frame).tolist()
['y']
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from mercer._system.lazy import names_when_asked as _names_when_asked
from mercer.tables._cost_table import cost_table
from mercer.tables._sentences import ColumnNotFoundError, MissingPackageError
from mercer.tables._table import Column, LabelledTable, Table
from mercer.tables._target import split_target
from mercer.tables._write import delimited_writer as delimited_writer
from mercer.tables._write import table_writer as table_writer
from mercer.tables._write import write_table
from mercer.tables.reading._parts import TableInParts as TableInParts
from mercer.tables.reading._parts import table_in_parts as table_in_parts
from mercer.tables.reading._read import read_table
from mercer.tables.typing._cells import as_text as as_text
from mercer.tables.typing._kinds import describe_columns
from mercer.tables.typing._match import ColumnMatcher as ColumnMatcher
from mercer.tables.typing._match import match_columns
from mercer.tables.typing._match import typed_frame as typed_frame

if _TYPE_CHECKING:
    from mercer.tables.preparing._decode import decode_rows as decode_rows
    from mercer.tables.preparing._dummies import CategoryDummies
    from mercer.tables.preparing._preprocessor import is_preprocessor as is_preprocessor
    from mercer.tables.preparing._preprocessor import make_preprocessor
    from mercer.tables.preparing._preprocessor import source_columns as source_columns
    from mercer.tables.preparing._transformers import DateFeatures, FeatureClipper, SoftRankScaler

__all__ = [
    "CategoryDummies",
    "Column",
    "ColumnNotFoundError",
    "DateFeatures",
    "FeatureClipper",
    "LabelledTable",
    "MissingPackageError",
    "SoftRankScaler",
    "Table",
    "cost_table",
    "describe_columns",
    "make_preprocessor",
    "match_columns",
    "read_table",
    "split_target",
    "write_table",
]
# What Mercer's own packages import besides; it may change without notice.
_FOR_MERCER = ("decode_rows", "is_preprocessor", "source_columns", "typed_frame")

# Rows can be read and typed without scikit-learn.
__getattr__, _names = _names_when_asked(
    __name__,
    {
        "preparing._decode": ("decode_rows",),
        "preparing._dummies": ("CategoryDummies",),
        "preparing._preprocessor": ("is_preprocessor", "make_preprocessor", "source_columns"),
        "preparing._transformers": ("DateFeatures", "FeatureClipper", "SoftRankScaler"),
    },
)


def __dir__() -> list[str]:
    return sorted({*__all__, *_FOR_MERCER, *_names()})
