"""Rows that every model gets wrong: which of their cells the page shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from mercer._system.words import count_of
from mercer.comparison import ComparisonRecord

_MOST_COLUMNS = 5  # beside row, truth, answer and rounds


@dataclass(frozen=True)
class HardCells:
    """Columns, their cells for each row that is listed, and which columns they are."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    said: str


def view_hard_cells(record: ComparisonRecord) -> HardCells:
    """Choose columns: those that count most for the best model, or the first where nobody knows."""
    hard, models = record.hard_rows, record.importances.models
    ranked = [column.name for column in models[0].columns] if models else []
    known = [name for name in ranked if name in hard.columns]
    shown = (known or list(hard.columns))[:_MOST_COLUMNS]
    places = [hard.columns.index(name) for name in shown]
    said = ""
    if len(shown) < len(hard.columns):
        which = "that count most" if known else "that come first"
        said = f"Of {count_of(len(hard.columns), 'column')} the {len(shown)} {which} are shown."
    cells = [[row.cells[k] for k in places if k < len(row.cells)] for row in hard.rows]
    return HardCells(shown, cells, said)
