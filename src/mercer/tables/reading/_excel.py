"""Excel files, whose XML is looked through before openpyxl reads it.

A few kilobytes can declare entities that multiply, or put a cell so far down or right that the
empty ones before it fill the memory.  One pass by expat finds both, and builds nothing.
"""

import io
import zipfile
from collections.abc import Callable
from typing import Any
from xml.parsers import expat

import pandas as pd

from mercer._system.words import did_you_mean, quoted
from mercer.tables._sentences import listed
from mercer.tables._table import check_names
from mercer.tables.reading._binary import load_package, with_rows
from mercer.tables.reading._delimited import name_unnamed
from mercer.tables.reading._source import Limits, check_size, check_unpacked, check_width
from mercer.tables.typing._cells import MISSING

_MOST_ROWS = 1 << 20  # The format itself has no more.
_DEEPEST = 100  # In files of Excel, no more than ten elements are inside each other.
_BYTES_PER_CELL = 8
_BLOCK = 1 << 20  # The XML is parsed by this many bytes at a time.


def read_excel(
    content: bytes, name: str, sheet: str | None, limits: Limits
) -> tuple[pd.DataFrame, list[str], tuple[str, ...]]:
    """Return the rows of one sheet, the first where none is named; notes; the other sheets."""
    load_package("openpyxl", f"{name} is an Excel file and")
    check_unpacked(content, name, limits.max_bytes)
    _check_workbook(content, name, limits)
    notes = []
    with _opened(lambda: pd.ExcelFile(io.BytesIO(content), engine="openpyxl"), name) as book:
        sheets = [str(one) for one in book.sheet_names]
        if sheet is not None and sheet not in sheets:
            hint = did_you_mean(sheet, sheets, f"its sheets are {listed(sheets, most=8)}.")
            raise LookupError(f"There is no sheet {quoted(sheet)} in {name}: {hint}")
        if sheet is None and len(sheets) > 1:
            first = quoted(sheets[0])
            rest = f"the {'other is' if len(sheets) == 2 else 'others are'} {listed(sheets[1:])}"
            notes.append(f"The first of {len(sheets)} sheets of {name}, {first}, is read; {rest}.")
        options: Any = {"header": None, "dtype": object, "keep_default_na": False}
        cells = _opened(
            lambda: pd.read_excel(book, sheet or sheets[0], na_values=list(MISSING), **options),
            name,
        )
    cells = cells.dropna(how="all").dropna(how="all", axis=1)
    others = tuple(one for one in sheets if one != (sheet or sheets[0]))
    if not len(cells):
        which = f"Sheet {quoted(sheet or sheets[0])} of {name}" if others else name
        rest = f", or choose another sheet: {listed(others, most=8)}" if others else ""
        raise ValueError(f"{which} is empty: it needs a line of column names and rows{rest}.")
    check_width(cells.shape[1], name, limits)
    header = ["" if pd.isna(cell) else str(cell) for cell in cells.iloc[0]]
    names, more = name_unnamed(header)
    check_names(names, name)
    frame = cells.iloc[1:].set_axis(names, axis=1).infer_objects().reset_index(drop=True)
    return with_rows(frame, name), notes + more, others


def _opened(action: Callable[[], Any], name: str) -> Any:
    try:
        return action()
    except Exception as error:  # openpyxl raises whatever its XML makes it stumble over.
        raise ValueError(
            f"{name} cannot be read as an Excel file: save it again as .xlsx or CSV."
        ) from error


class _OddError(Exception):
    """Says what a part of the file has that files of Excel never have."""


def _check_workbook(content: bytes, name: str, limits: Limits) -> None:
    """Raise if there are declared entities, deep nesting, or cells beyond the limits."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            extent = _Extent()
            try:
                with archive.open(member) as stream:
                    extent.scan(stream)
            except _OddError as error:
                raise ValueError(
                    f"{name} has {error}, as no Excel file does: save it again as .xlsx or CSV."
                ) from error
            except (expat.ExpatError, UnicodeError, ValueError, LookupError):
                pass  # This is an image, or damaged, which openpyxl will say.
            except Exception as error:  # Every kind of damage has an error of its own.
                raise ValueError(
                    f"{name} is a damaged or incomplete archive: fetch or save it again."
                ) from error
            check_width(extent.n_columns, name, limits)
            n_bytes = extent.n_rows * extent.n_columns * _BYTES_PER_CELL
            check_size(n_bytes, f"{name}, once decompressed,", limits.max_bytes)


class _Extent:
    """How far the cells of a part reach."""

    def __init__(self) -> None:
        self.n_rows = self.n_columns = 0
        self._row = self._column = self._depth = 0
        self._places: dict[str, int] = {}

    def scan(self, stream: Any) -> None:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartDoctypeDeclHandler = self._refuse_document_type
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        while block := stream.read(_BLOCK):
            parser.Parse(block, False)
        parser.Parse(b"", True)

    def _refuse_document_type(self, *_: object) -> None:
        raise _OddError("a document type with entities")

    def _end(self, _: str) -> None:
        self._depth -= 1

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _OddError("elements inside each other without end")
        kind = tag.rpartition(" ")[2]
        if kind == "row":
            self._row = _number(attributes["r"]) if "r" in attributes else self._row + 1
            self._column = 0
            self.n_rows = max(self.n_rows, self._row)
            if self._row > _MOST_ROWS:
                raise _OddError(f"a row beyond {_MOST_ROWS}")
        elif kind == "c":
            place = attributes.get("r", "").rstrip("0123456789")
            self._column = self._place(place) if place else self._column + 1
            self.n_columns = max(self.n_columns, self._column)

    def _place(self, letters: str) -> int:
        """Return the number of a column: A is 1, AA is 27."""
        if letters not in self._places:
            if len(letters) > 3 or not (letters.isascii() and letters.isalpha()):
                raise _OddError("a cell without a place")
            number = 0
            for letter in letters.upper():
                number = 26 * number + ord(letter) - ord("A") + 1
            self._places[letters] = number
        return self._places[letters]


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise _OddError("a row without a number")
    return int(text)
