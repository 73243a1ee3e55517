"""Which columns the leaders go by: a line for each column, a cell for each leader."""

from collections.abc import Sequence
from dataclasses import dataclass

from mercer._system.vocabulary import metric_named
from mercer._system.words import NOTHING, count_of, grouped, interval, score
from mercer.comparison import ColumnImportanceRecord, ImportancesRecord, ModelImportancesRecord


@dataclass(frozen=True)
class ImportanceCell:
    """What shuffling a column costs a leader: text, interval, and the length of its bar."""

    loss: str
    interval: str
    value: float | None
    share: float


@dataclass(frozen=True)
class ImportancesView:
    """The section of the page; without models there are notes alone."""

    said: str
    names: Sequence[str]
    lines: Sequence[tuple[str, Sequence[ImportanceCell]]]
    how: Sequence[str]
    caution: str
    notes: Sequence[str]


def view_importances(record: ImportancesRecord) -> ImportancesView:
    """Arrange what is said of columns: those that count most for the best of the leaders first."""
    metric = metric_named(record.metric or "")
    way = "rises" if metric.lower_is_better else "falls"
    by_model = [{column.name: column for column in one.columns} for one in record.models]
    most = [max((column.loss for column in one.columns), default=0.0) for one in record.models]
    order = [column.name for column in record.models[0].columns] if record.models else []
    return ImportancesView(
        said=f"By how much {metric.words} {way} when the values of a column are dealt out anew "
        "among rows that were held out; in small, the interval.",
        names=[one.model for one in record.models],
        lines=[
            (name, [_cell(own.get(name), top) for own, top in zip(by_model, most, strict=True)])
            for name in order
        ],
        how=[_how(one) for one in record.models],
        caution=record.caution,
        notes=record.notes,
    )


def _cell(column: ColumnImportanceRecord | None, most: float) -> ImportanceCell:
    if column is None:
        return ImportanceCell(NOTHING, "", None, 0.0)
    known = column.low is not None and column.high is not None
    return ImportanceCell(
        loss=score(column.loss),
        interval=interval(column.low, column.high, 3) if known else "",
        value=column.loss,
        share=max(0.0, column.loss / most) if most > 0 else 0.0,
    )


def _how(one: ModelImportancesRecord) -> str:
    """Say what a model was fitted on, and asked about."""
    rows = count_of(one.train_rows, "row")
    if one.fitted_rows < one.train_rows:
        rows = f"{grouped(one.fitted_rows)} of {rows}"
    return (
        f"{one.model} was fitted anew on {rows} of {count_of(one.splits, 'split')}, and "
        f"asked about {count_of(one.tested_rows, 'row')} that were held out"
    )
