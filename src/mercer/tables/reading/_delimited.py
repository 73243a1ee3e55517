"""Delimited text: which character divides cells, which line is ragged, and the frame.

pandas makes the frame, but fills up rows that are too short and does not say in which line a row is
too long.  So the lines are checked here first, for an error that names the line.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mercer._system.words import count_of, limit_of_bytes, quoted
from mercer.tables._table import check_names
from mercer.tables.reading._encoding import as_utf8
from mercer.tables.reading._source import Limits, check_size, check_width
from mercer.tables.typing._cells import MISSING
from mercer.tables.typing._numbers import are_codes

# Every digit of a number is read; newer versions of pandas do so without being asked.
_EXACT = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}
_DELIMITERS = (",", ";", "\t", "|")
_BYTES_PER_CELL = 8  # A cell of the frame takes at least as many; in the file, one may do.
_SAMPLE = 1 << 16  # The delimiter is judged from this many bytes.


def read_delimited(
    content: bytes, name: str, limits: Limits, delimiter: str | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of CSV, TSV and the like, and notes."""
    content, notes = as_utf8(content, name, max_line=limits.max_line)
    content, begun = begin_delimited(content, name, limits, delimiter)
    n_cells = sum(content.count(sign) for sign in (begun.delimiter.encode(), b"\n", b"\r"))
    check_size(n_cells * _BYTES_PER_CELL, f"{name}, as a table,", limits.max_bytes)
    check_ragged(content, begun, name, limits.max_line)
    frame = parse_delimited(content, begun, name)
    if not len(frame):
        raise no_rows(begun, name)
    if numbers := columns_with_zeros(frame, content, begun.delimiter):
        texts = parse_delimited(content, begun, name, usecols=numbers, dtype=str)
        for column in numbers:
            if are_codes(texts[column].dropna().unique()):
                frame[column] = texts[column]
    return frame, notes + begun.notes


@dataclass(frozen=True)
class Begun:
    """What the beginning of a delimited text says of all of it."""

    delimiter: str
    names: list[str]
    notes: list[str]


def begin_delimited(
    content: bytes, name: str, limits: Limits, delimiter: str | None = None
) -> tuple[bytes, Begun]:
    """Return the text with blank lines for comments at its beginning, and what it begins with."""
    if not content or content.isspace():
        raise ValueError(f"{name} is empty: it needs a line of column names and rows.")
    content, notes = _without_comments(content)
    delimiter = delimiter or _best_delimiter(content)
    header = next(_records(content, delimiter, name, limits.max_line), (1, [""]))[1]
    check_width(len(header), name, limits)
    names, more = name_unnamed(header)
    notes += more
    _check_header(names, name)
    if len(names) == 1:
        notes.append(
            f"{name} has one column only; cells are divided by comma, semicolon, tab or |, or by "
            "the delimiter that you name."
        )
    if any(_is_number(cell) for cell in names):
        notes.append(
            f"The first line of {name} holds numbers ({quoted(next(filter(_is_number, names)))}): "
            "if it is a row, add a line of column names above it."
        )
    return content, Begun(delimiter, names, notes)


def no_rows(begun: Begun, name: str) -> ValueError:
    """Return the error of a file that has a header only."""
    return ValueError(
        f"{name} has only its header line (columns {quoted(begun.names[0])}, …): it needs rows."
    )


def name_unnamed(header: list[str]) -> tuple[list[str], list[str]]:
    """Trim the names, and give columns without one the name of their place."""
    names = [cell.strip() for cell in header]
    bare = [i for i, cell in enumerate(names) if not cell]
    for i in bare:
        names[i] = f"column {i + 1}"
    if not bare:
        return names, []
    is_one = len(bare) == 1
    first = quoted(names[bare[0]])
    return names, [
        f"A column without a name is called {first}."
        if is_one
        else f"{count_of(len(bare), 'column')} without a name are called {first} and so on."
    ]


def _without_comments(content: bytes) -> tuple[bytes, list[str]]:
    """Leave out lines at the beginning that begin with #, but for one that names the columns.

    Blank lines take their place, so that the number of a line remains what it is in the file.
    """
    found = re.match(rb"(#[^\n]*\n)+", content)
    if found is None:
        return content, []
    lines, rest = found[0].splitlines(keepends=True), content[found.end() :]
    last, first = lines[-1], rest.partition(b"\n")[0]
    is_even = any(
        last.count(sign) == first.count(sign) > 0 for sign in map(str.encode, _DELIMITERS)
    )
    has_numbers = re.search(rb"(^|[,;\t|])[ \"]*[+-]?\d", first) is not None
    if is_even and (has_numbers or not last[1:2].isspace()):
        rest = lines.pop()[1:] + rest  # It names the columns: #id,size.
    if not lines or not rest.strip():
        return rest or content, []
    said = (
        "1 line that begins with # is"
        if len(lines) == 1
        else (f"{count_of(len(lines), 'line')} that begin with # are")
    )
    return b"\n" * len(lines) + rest, [f"{said} passed over."]


def _check_header(names: list[str], name: str) -> None:
    if len(set(names)) < len(names) and any(map(_is_number, names)):
        raise ValueError(
            f"{name} has no line of column names (its first line holds numbers): add one."
        )
    check_names(names, name)


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.\d*)?", cell) is not None


def _best_delimiter(content: bytes) -> str:
    """Choose the delimiter that divides the first lines into most cells, equally many in each."""
    sample = content[:_SAMPLE]
    is_cut = len(content) > _SAMPLE
    text = sample.decode("utf-8", errors="ignore")

    def score(delimiter: str) -> tuple[bool, int]:
        widths = [len(cells) for _, cells in _split(io.StringIO(text, newline=""), delimiter)]
        if is_cut and len(widths) > 1:
            widths.pop()  # The last record may be cut.
        is_even = len(set(widths)) == 1 and widths[0] > 1
        return is_even, widths[0] if widths else 0

    return max(_DELIMITERS, key=score)  # Of equals, this is the first.


def _split(lines: Iterator[str] | io.TextIOBase, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line at which a record begins, and its cells; blank lines are passed over."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    line = 1
    for cells in reader:
        if len(cells) > 1 or (cells and cells[0].strip()):
            yield line, cells
        line = reader.line_num + 1


def _records(
    content: bytes, delimiter: str, name: str, max_line: int
) -> Iterator[tuple[int, list[str]]]:
    """Split all of the text; the csv module's own bound on cells is lifted meanwhile."""
    bound = csv.field_size_limit(max_line)
    try:
        stream = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
        yield from _split(stream, delimiter)
    except csv.Error as error:
        raise ValueError(
            f"{name} has a cell of more than {limit_of_bytes(max_line)}, or a quotation mark that "
            "is never closed: repair it."
        ) from error
    finally:
        csv.field_size_limit(bound)


def check_ragged(
    content: bytes, begun: Begun, name: str, max_line: int, first_line: int = 1
) -> None:
    """Raise if a row has more or fewer cells than the header, and name its line."""
    delimiter, width = begun.delimiter, len(begun.names)
    if b'"' not in content and not _may_be_ragged(content, delimiter, width):
        return
    for line, cells in _records(content, delimiter, name, max_line):
        if len(cells) == width:
            continue
        line += first_line - 1
        if "\n" in cells[-1]:
            raise ValueError(
                f"{name} opens a quotation mark in line {line} that is not closed there: "
                "close it or remove it."
            )
        raise ValueError(
            f"{name} has {count_of(len(cells), 'cell')} in line {line} where the header has "
            f"{width}: repair that line, or quote cells that hold {quoted(delimiter)}."
        )


def _may_be_ragged(content: bytes, delimiter: str, width: int) -> bool:
    """Tell whether a line of text without quotation marks may be uneven; blank lines may be."""
    others = bytes(set(range(256)) - {ord("\n"), ord(delimiter)})
    signs = content.translate(None, others)
    if not content.endswith(b"\n"):
        signs += b"\n"
    line = delimiter.encode() * (width - 1) + b"\n"
    return signs != line * signs.count(b"\n")


def parse_delimited(
    content: bytes, begun: Begun, name: str, header: int | None = 0, **options: object
) -> pd.DataFrame:
    """Return the rows of a text, or of a part of it that has no header."""
    try:
        return pd.read_csv(
            io.BytesIO(content),
            sep=begun.delimiter,
            header=header,
            names=begun.names,
            index_col=False,
            skipinitialspace=True,
            keep_default_na=False,
            na_values=MISSING,
            low_memory=False,
            encoding="utf-8",
            **_EXACT,
            **options,
        )
    except pd.errors.ParserError as error:
        raise ValueError(
            f"{name} opens a quotation mark that is never closed: close it or remove it."
        ) from error


def columns_with_zeros(frame: pd.DataFrame, content: bytes, delimiter: str) -> list[str]:
    """Return the columns of numbers that may be codes such as 007, whose zeros belong to them."""
    numbers = [name for name in frame if may_be_codes(frame[name])]
    return numbers if numbers and has_leading_zeros(content, delimiter) else []


def has_leading_zeros(content: bytes, delimiter: str) -> bool:
    """Tell whether a cell of the text may begin with 0 and another digit."""
    befores = (b"\n", b" ", b'"', delimiter.encode())
    return any(re.search(re.escape(before) + rb"0[0-9]", content) for before in befores)


def may_be_codes(values: pd.Series) -> bool:
    """Tell whether a column was read as whole numbers, none of them negative."""
    if values.dtype.kind not in "iuf":
        return False
    numbers = values.dropna().to_numpy()
    first = numbers[:1000]
    return bool(np.all(numbers >= 0) and np.all(first == np.floor(first)))
