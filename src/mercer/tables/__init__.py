"""Your own table: from a file to X and y, with nothing lost in silence.

::

    people.csv ── read_table ──▶ Table: frame, notes        _read, _source, _encoding,
        │                                                   _delimited, _formats
        │  what is each column?                             _infer, _values, _numbers, _dates
        ▼
    split_target ──▶ LabelledTable: X, y, columns, notes    _target, _typed
        │
        │  make_preprocessor(columns)                       _preprocessor, _dummies, _transformers
        ▼
    a scikit-learn pipeline, fitted, saved
        │
    new.csv ── read_table ── match_columns ──▶ Table        _match
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

from mercer.tables._column import Column
from mercer.tables._dummies import CategoryDummies
from mercer.tables._infer import describe_columns
from mercer.tables._match import match_columns
from mercer.tables._preprocessor import make_preprocessor
from mercer.tables._read import read_table
from mercer.tables._table import LabelledTable, Table
from mercer.tables._target import split_target
from mercer.tables._transformers import DateFeatures, FeatureClipper
from mercer.tables._typed import typed_frame as typed_frame
from mercer.tables._words import ColumnNotFoundError, MissingPackageError
from mercer.tables._write import write_delimited as write_delimited
from mercer.tables._write import write_table

__all__ = [
    "CategoryDummies",
    "Column",
    "ColumnNotFoundError",
    "DateFeatures",
    "FeatureClipper",
    "LabelledTable",
    "MissingPackageError",
    "Table",
    "describe_columns",
    "make_preprocessor",
    "match_columns",
    "read_table",
    "split_target",
    "write_table",
]
# What Mercer's own packages take beside these; it may change without a word.
_FOR_MERCER = ("typed_frame", "write_delimited")
