"""Ways to look at a table before any model is chosen: a map, its columns, and another table.

::

    LabelledTable ── project_table ──▶ two coordinates for each row           _table_map
        └─ last_parts_within ──▶ those of some rows, and the columns that     _last_parts
           count for models on rows held out, if there is time                _held_out_importances
    Table ── table_density ──▶ the density of one or two columns              _table_density
    Table ── measure_pairs ──▶ which columns depend on each other?            _column_pairs
    Table, Table ── measure_tables ──▶ do they differ, and in which columns?  _difference
        └─ how far, and by which rows, as a discriminant tells them apart     _effect

None is a model: nothing is predicted, and nothing is kept for rows to come.  All need the
types of :mod:`mercer.tables`; the map needs projections besides, the difference a two-sample test,
the density windows, pairs of columns a test of independence.

>>> import numpy as np, pandas as pd
>>> from mercer.tables import Table
>>> from mercer.views import measure_tables
>>> ages = np.arange(40.0)
>>> old, new = (pd.DataFrame({"age": shift + ages}) for shift in (0, 30))
>>> measure_tables(Table(old, "old.csv"), Table(new, "new.csv")).differs
True
"""

from mercer.views._column_difference import ColumnDifference
from mercer.views._column_pairs import ColumnPair, ColumnPairs, measure_pairs
from mercer.views._difference import measure_tables
from mercer.views._effect import TableEffect
from mercer.views._held_out_importances import Leaders as Leaders
from mercer.views._held_out_importances import find_importances as find_importances
from mercer.views._last_parts import last_parts_within as last_parts_within
from mercer.views._last_parts import without_last_parts as without_last_parts
from mercer.views._table_density import SHARES, SomeRows, TableDensity, table_density
from mercer.views._table_difference import TableDifference, TypicalRow
from mercer.views._table_difference import check_bound as check_bound
from mercer.views._table_map import PROJECTIONS, project_table
from mercer.views._table_map import draw_map as draw_map
from mercer.views._table_map import shares_by_column as shares_by_column

__all__ = [
    "PROJECTIONS",
    "SHARES",
    "ColumnDifference",
    "ColumnPair",
    "ColumnPairs",
    "SomeRows",
    "TableDensity",
    "TableDifference",
    "TableEffect",
    "TypicalRow",
    "measure_pairs",
    "measure_tables",
    "project_table",
    "table_density",
]

# What `mercer compare` ends with, what `mercer fit` says of columns, and `mercer measure` checks.
_FOR_MERCER = (
    "Leaders",
    "check_bound",
    "draw_map",
    "find_importances",
    "last_parts_within",
    "shares_by_column",
    "without_last_parts",
)
