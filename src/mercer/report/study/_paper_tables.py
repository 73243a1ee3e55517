"""A published table as the page shows it: each row with lines of published and measured numbers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from mercer._system.vocabulary import Mark, mark_named
from mercer._system.words import count_of, duration, fixed, is_known, signed
from mercer.report.study._results import records_of
from mercer.report.study._summary import EXPLAINED, Reason, group_reasons

_Record = Mapping[str, Any]

_MOST_LINES = 15  # of a table that is shown whole

# A column of the page: a column of the paper under one reading of it.
_Slot = tuple[str, str]


@dataclass(frozen=True)
class Cell:
    """One number of a line, written; or, without a value, the mark alone.

    `counts` tells the number that stands for a published one from other readings of it;
    `span` is how many columns of the page it covers; `widths` are the greatest lengths of spreads
    and dimensions in the column.
    """

    value: str = ""
    spread: str = ""
    dimension: str = ""
    mark: Mark | None = None
    protocol: str = ""
    counts: bool = False
    hint: str = ""
    span: int = 1
    widths: tuple[int, int] = (0, 0)

    @property
    def shows_icon(self) -> bool:
        """Whether the mark says something that the kind of its line does not say already."""
        return self.mark is not None and self.mark.name not in ("ours", "honest")


@dataclass(frozen=True)
class Line:
    """A line of a row: published, measured or honest numbers, one for every column."""

    kind: str
    cells: tuple[Cell, ...]

    @property
    def paper_only(self) -> bool:
        """Whether every number of the line is one of the paper's protocol."""
        return self.kind == "measured" and {cell.protocol for cell in self.cells} <= {"paper", ""}


@dataclass(frozen=True)
class Row:
    """A row of a table and its lines; `message` says why there is nothing to measure."""

    label: str
    dataset: str
    lines: tuple[Line, ...]
    message: str
    message_mark: Mark | None
    sort: tuple[float | None, ...]

    @property
    def marks(self) -> list[str]:
        """The icons of all marks in the row."""
        found = [cell.mark for line in self.lines for cell in line.cells]
        return sorted({mark.icon for mark in [*found, self.message_mark] if mark})


@dataclass(frozen=True)
class Column:
    """A column of the paper, or one of ours, and the readings that fill it."""

    name: str
    ours: bool
    readings: tuple[str, ...]
    first: int

    @property
    def heads(self) -> list[str]:
        """What the readings are called."""
        return [reading_name(reading) for reading in self.readings]


@dataclass(frozen=True)
class TableView:
    """A table as the page shows it."""

    name: str
    title: str
    unit: str
    better: str
    note: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    reasons: tuple[Reason, ...]

    @property
    def width(self) -> int:
        """How many columns the page needs."""
        return sum(len(column.readings) for column in self.columns)

    @property
    def is_high(self) -> bool:
        """Whether it scrolls by itself, below heads that stay in view."""
        return sum(len(row.lines) + bool(row.message) for row in self.rows) > _MOST_LINES

    @property
    def two_heads(self) -> bool:
        """Whether some column has several readings."""
        return any(len(column.readings) > 1 for column in self.columns)


def reading_name(reading: str) -> str:
    """Return what a reading is called beside others of its column."""
    return reading or "as printed"


def decimals(values: Iterable[float]) -> int:
    """Return how many decimals printed numbers have, six at most."""
    found = 0
    for value in values:
        if is_known(value):
            _, _, after = f"{value:.6f}".rstrip("0").partition(".")
            found = max(found, len(after))
    return found


def with_spread(value: float, spread: float, places: int) -> str:
    """Write a number and its spread, if it has one; nothing where there is no number."""
    if not is_known(value):
        return ""
    return fixed(value, places) + (f" ± {fixed(spread, places)}" if is_known(spread) else "")


def printed_places(record: _Record, otherwise: int) -> int:
    """Return how many decimals the paper prints, where that is known."""
    known = record["published_decimals"]
    return int(known) if is_known(known) else otherwise


def table_name(key: str) -> str:
    """Return what a table is called: its number with "Table", or its own word."""
    numbered = re.fullmatch(r"[IVXLC\d]+[a-z]?([\s,–-]+[IVXLC\d]+[a-z]?)*( \(.*\))?", key)
    if not numbered:
        return key[:1].upper() + key[1:]
    return f"Tables {key}" if numbered[1] else f"Table {key}"


def make_table(table: Mapping[str, Any], cells: pd.DataFrame) -> TableView:
    """Arrange the cells of a table as its paper does."""
    columns = _columns(table, cells)
    described = {row["label"]: row for row in table["rows"]}
    by_row: dict[str, list[_Record]] = {label: [] for label in described}
    for record in records_of(cells):
        by_row.setdefault(record["row"], []).append(record)
    digits = {column.name: _digits(cells[cells["column"] == column.name]) for column in columns}
    rows = [
        _row(described.get(label, {"label": label}), records, columns, digits)
        for label, records in by_row.items()
    ]
    ways = {"higher": "higher is better", "lower": "lower is better"}
    return TableView(
        name=table_name(table["key"]),
        title=table["title"],
        unit=table["unit"],
        better=ways.get(table["better"] or "", ""),
        note=table["note"],
        columns=columns,
        rows=tuple(_align(rows)),
        reasons=group_reasons(cells[cells["counts"]], EXPLAINED),
    )


def _columns(table: Mapping[str, Any], cells: pd.DataFrame) -> tuple[Column, ...]:
    """Return the listed columns, then those that only the cells have."""
    published = set(cells.loc[cells["published"].notna(), "column"])
    columns: list[Column] = []
    first = 0
    for name in dict.fromkeys([*table["columns"], *cells["column"]]):
        own = cells[(cells["column"] == name) & cells["measured"].notna()]
        readings = tuple(dict.fromkeys(own["reading"])) or ("",)
        columns.append(Column(name, bool(published) and name not in published, readings, first))
        first += len(readings)
    return tuple(columns)


def _digits(cells: pd.DataFrame) -> tuple[int, int]:
    """Return decimals of published and of measured numbers.

    Measured numbers have as many as the paper's, three at most, and at least one unless all are
    whole.
    """
    printed = max([decimals(cells["published"]), *cells["published_decimals"].dropna().astype(int)])
    values = cells["measured"].dropna()
    if (values == values.round()).all():
        return printed, min(printed, 3)
    least = 1 if printed or values.abs().max() >= 2 else 2
    return printed, max(least, min(printed, 3))


def _row(
    described: Mapping[str, Any],
    records: Sequence[_Record],
    columns: Sequence[Column],
    digits: Mapping[str, tuple[int, int]],
) -> Row:
    published: dict[str, Cell] = {}
    lines: dict[str, list[dict[_Slot, Cell]]] = {"measured": [], "honest": []}
    values: dict[_Slot, float] = {}
    waiting = []
    for record in records:
        name, slot = record["column"], (record["column"], record["reading"])
        printed, measured = digits[name]
        if is_known(record["published"]):
            published.setdefault(name, _published_cell(record, printed))
        if is_known(record["measured"]):
            _put_cell(lines, slot, _measured_cell(record, measured))
            values.setdefault(slot, float(record["measured"]))
        else:
            waiting.append(record)
    message, mark = "", None
    if len(waiting) == len(records):
        message, mark = _shared_message(described, waiting)
    first_reading = {column.name: column.readings[0] for column in columns}
    for record in waiting:
        slot = (record["column"], first_reading[record["column"]])
        if is_known(record["published"]):
            values.setdefault(slot, float(record["published"]))
        if not message or record["mark"] == "misprint":
            alone = mark_named(record["mark"])
            cell = Cell(mark=alone, protocol=record["protocol"], hint=record["reason"])
            _put_cell(lines, slot, cell)
    slots = [(column.name, reading) for column in columns for reading in column.readings]
    made = [
        Line(kind, tuple(line.get(slot, Cell()) for slot in slots))
        for kind in lines
        for line in lines[kind]
    ]
    if published:
        spanned = (
            replace(published.get(column.name, Cell()), span=len(column.readings))
            for column in columns
        )
        made.insert(0, Line("published", tuple(spanned)))
    return Row(
        label=described["label"],
        dataset=_dataset_to_show(described.get("dataset") or "", described["label"]),
        lines=tuple(made),
        message=message,
        message_mark=mark,
        sort=tuple(map(values.get, slots)),
    )


def _dataset_to_show(dataset: str, label: str) -> str:
    """Return the name of a data set, or nothing where the label of the row says it already."""
    plain = (re.sub(r"[^a-z0-9]", "", text.lower()) for text in (dataset, label))
    return "" if next(plain) in next(plain) else dataset


def _put_cell(lines: Mapping[str, list[dict[_Slot, Cell]]], slot: _Slot, cell: Cell) -> None:
    """Put a number in the first line of its kind that has room for it."""
    own = lines["honest" if cell.protocol == "honest" else "measured"]
    free = next((line for line in own if slot not in line), None)
    if free is None:
        own.append({slot: cell})
    else:
        free[slot] = cell


def _shared_message(
    described: Mapping[str, Any], waiting: Sequence[_Record]
) -> tuple[str, Mark | None]:
    """Return the reason that all unmeasured numbers of a row share, or nothing if they differ.

    Misprints have reasons of their own, which are shown beside it.
    """
    waiting = [record for record in waiting if record["mark"] != "misprint"]
    own = described.get("missing") or described.get("skipped") or ""
    if not waiting:
        return own, None
    marks = {record["mark"] for record in waiting}
    reasons = {record["reason"] for record in waiting}
    if len(marks) != 1 or (len(reasons) != 1 and not own):
        return "", None
    mark = mark_named(marks.pop())
    reason = own or reasons.pop()
    return (f"{mark.name}: {reason}" if reason else mark.name), mark


def _dimension(value: Any) -> str:
    return f"{value:.3g}" if is_known(value) else ""


def _published_cell(record: _Record, places: int) -> Cell:
    spread, places = record["published_spread"], printed_places(record, places)
    return Cell(
        value=fixed(record["published"], places),
        spread=fixed(spread, max(places, decimals([spread]))) if is_known(spread) else "",
        dimension=_dimension(record["published_dimension"]),
    )


def _measured_cell(record: _Record, places: int) -> Cell:
    value, spread, count = record["measured"], record["spread"], record["n"]
    mark = mark_named(record["mark"])
    hints = [mark.meaning]
    if is_known(record["published"]):
        hints.append(f"measured minus published {signed(value - record['published'], places + 1)}")
    if is_known(count) and count:
        hints.append(count_of(count, "replicate"))
    if is_known(record["standard_error"]):
        hints.append(f"standard error of the mean {fixed(record['standard_error'], places + 1)}")
    if mark.name == "one draw" and is_known(record["at_or_below"]):
        hints.append(
            f"{record['at_or_below']:.0f} of {count:.0f} draws lie at or below the paper's"
        )
    if is_known(record["seconds"]) and record["seconds"]:
        hints.append(duration(record["seconds"]))
    return Cell(
        value=fixed(value, places),
        spread=fixed(spread, places) if is_known(spread) else "",
        dimension=_dimension(record["dimension"]),
        mark=mark,
        protocol=record["protocol"],
        counts=record["counts"] or mark.name == "ours",
        hint="; ".join(filter(None, [*hints, record["reason"]])),
    )


def _lengths(cell: Cell) -> tuple[int, int]:
    """Return how many characters the spread and the dimension take, signs and brackets included."""
    return (
        len(cell.spread) + 2 if cell.spread else 0,
        len(cell.dimension) + 2 if cell.dimension else 0,
    )


def _align(rows: Sequence[Row]) -> Iterable[Row]:
    """Give every cell the widest spread and dimension of its column, so that numbers line up.

    A cell that covers several columns is not aligned with any.
    """
    longest: dict[int, tuple[int, int]] = {}
    for row in rows:
        for line in row.lines:
            for place, cell in _with_columns(line):
                if cell.span == 1:
                    before, own = longest.get(place, (0, 0)), _lengths(cell)
                    longest[place] = (max(before[0], own[0]), max(before[1], own[1]))
    for row in rows:
        lines = (
            replace(
                line,
                cells=tuple(
                    replace(cell, widths=longest[place] if cell.span == 1 else _lengths(cell))
                    for place, cell in _with_columns(line)
                ),
            )
            for line in row.lines
        )
        yield replace(row, lines=tuple(lines))


def _with_columns(line: Line) -> Iterable[tuple[int, Cell]]:
    """Return the cells of a line with the columns where they begin."""
    place = 0
    for cell in line.cells:
        yield place, cell
        place += cell.span
