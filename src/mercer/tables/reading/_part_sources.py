"""Files that are read in parts: delimited text, JSON lines and parquet."""

import codecs
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, Protocol

import pandas as pd

from mercer.tables._table import check_names
from mercer.tables.reading._binary import as_shared_objects, load_package
from mercer.tables.reading._delimited import (
    begin_delimited,
    check_ragged,
    has_leading_zeros,
    may_be_codes,
    name_unnamed,
    no_rows,
    parse_delimited,
)
from mercer.tables.reading._encoding import (
    check_signs,
    first_not_utf8,
    from_cp1252,
    note_on_cp1252,
    refuse_others,
)
from mercer.tables.reading._json_lines import names_of_keys, note_on_nested, parse_lines
from mercer.tables.reading._read import has_escaped, without_apostrophes
from mercer.tables.reading._records import lines_in_parts, records_in_parts
from mercer.tables.reading._settled import SettledKinds
from mercer.tables.reading._source import Limits, check_width
from mercer.tables.typing._numbers import are_codes

PART_BYTES = 1 << 23  # so much of a text is parsed at a time
_BATCH_ROWS = 50_000


class Source(Protocol):
    """A file of some format, which can be read again and again."""

    notes: list[str]
    names: list[str]

    def survey(self) -> None:
        """Read all of it, and settle what its columns hold."""

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield some rows at a time; columns are of the kinds that were settled."""


class _NotUtf8Error(Exception):
    """A line is not UTF-8."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class TextSource(ABC):
    """What delimited text and JSON lines share: whole records in UTF-8, and their lines."""

    def __init__(self, reopened: Callable[[], Any], head: bytes, name: str, limits: Limits) -> None:
        refuse_others(head, name)
        is_utf16 = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        self._encoding = "utf-16" if is_utf16 else "utf-8"
        self._not_utf8: int | None = None  # the line that shows that it is Windows-1252
        self._reopened = reopened
        self._name = name
        self._limits = limits
        self.notes: list[str] = []
        self.names: list[str] = []

    def survey(self) -> None:
        """Read all of it; a second time where a line shows another encoding."""
        try:
            self._look()
        except _NotUtf8Error as found:
            self._not_utf8 = found.line
            self._look()
            self.notes.insert(0, note_on_cp1252(self._name, found.line))

    @abstractmethod
    def _look(self) -> None:
        """Settle what the columns hold, and what is to be said of it."""

    @abstractmethod
    def _records(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """Join parts of whole lines to parts of whole records."""

    def _parts(self) -> Iterator[tuple[int, bytes]]:
        """Yield parts of whole records, each after the number of its first line."""
        name, max_line = self._name, self._limits.max_line
        first = 1
        lines = lines_in_parts(
            self._reopened(), self._encoding, name, n_bytes=PART_BYTES, max_line=max_line
        )
        for part in self._records(lines):
            n_lines = part.count(b"\n")
            check_signs(part, name, max_line=max_line, first_line=first)
            if self._not_utf8 is not None:
                part = from_cp1252(part, name, not_utf8=self._not_utf8, first_line=first)
            elif (place := first_not_utf8(part)) is not None:
                raise _NotUtf8Error(first + part.count(b"\n", 0, place))
            yield first, part
            first += n_lines


class DelimitedSource(TextSource):
    """CSV, TSV and the like."""

    def __init__(
        self,
        reopened: Callable[[], Any],
        head: bytes,
        name: str,
        limits: Limits,
        delimiter: str | None,
    ) -> None:
        super().__init__(reopened, head, name, limits)
        self._asked = delimiter
        start = next(
            lines_in_parts(
                reopened(), self._encoding, name, n_bytes=PART_BYTES, max_line=limits.max_line
            ),
            b"",
        )
        if first_not_utf8(start) is not None:
            start = from_cp1252(start, name, not_utf8=1)
        self._begun = begin_delimited(start, name, limits, delimiter)[1]

    def _records(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        return records_in_parts(
            lines, self._begun.delimiter, self._name, max_line=self._limits.max_line
        )

    def _rows(self, **options: object) -> Iterator[tuple[bytes, pd.DataFrame]]:
        """Yield parts and their rows; evenness is checked where types are not yet settled."""
        header: int | None = 0
        for first, part in self._parts():
            if header == 0:
                part, self._begun = begin_delimited(part, self._name, self._limits, self._asked)
            if not part.isspace():
                if not options:
                    check_ragged(part, self._begun, self._name, self._limits.max_line, first)
                yield part, parse_delimited(part, self._begun, self._name, header, **options)
            header = None

    def _look(self) -> None:
        kinds = SettledKinds()
        others: set[str] = set()  # columns that are not codes such as 007
        has_zeros = self._has_escaped = False
        n_rows = 0
        for part, frame in self._rows():
            kinds.add(frame)
            n_rows += len(frame)
            others |= (
                {name for name in frame if not may_be_codes(frame[name])} if len(frame) else set()
            )
            has_zeros |= has_leading_zeros(b"\n" + part, self._begun.delimiter)
            self._has_escaped |= has_escaped(part)
        if not n_rows:
            raise no_rows(self._begun, self._name)
        texts = {name for name, dtype in kinds.dtypes().items() if dtype == "object"}
        candidates = [name for name in kinds.numbers() if name not in others]
        if has_zeros and candidates:
            texts |= self._codes_among(candidates)
        self._dtypes = {
            name: str if name in texts else dtype for name, dtype in kinds.dtypes().items()
        }
        self.names = self._begun.names
        if self._has_escaped:
            empty = pd.DataFrame(columns=self.names, dtype=object)
            self.names = list(without_apostrophes(empty, self._name))
        self.notes = list(self._begun.notes)

    def _codes_among(self, candidates: list[str]) -> set[str]:
        """Return the columns in which all texts are digits of one length, some after a zero.

        Of each part two texts say all of that: they have its length, and one has a zero if any has.
        """
        shown: dict[str, set[str]] = {name: set() for name in candidates}
        for _, frame in self._rows(usecols=candidates, dtype=str):
            for name in list(shown):
                texts = sorted(frame[name].dropna().unique())
                if not texts:
                    continue
                zeros = [text for text in texts if text.strip()[:1] == "0"][:1]
                # A zero is put before the others, so that the part is judged by its digits alone.
                if are_codes([*texts, "0" * len(texts[0].strip())]) or len(texts[0].strip()) == 1:
                    shown[name] |= {texts[0], *zeros}
                else:
                    del shown[name]
        return {name for name, texts in shown.items() if texts and are_codes(texts)}

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the rows of each part."""
        for _, frame in self._rows(dtype=self._dtypes):
            yield without_apostrophes(frame, self._name) if self._has_escaped else frame


class JsonSource(TextSource):
    """An object in each line."""

    def _records(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        return lines

    def _look(self) -> None:
        kinds = SettledKinds()
        n_nested = 0
        for first, part in self._parts():
            columns, n = parse_lines(part, self._name, self._limits, first)
            n_nested += n
            kinds.add(pd.DataFrame(columns, range(_n_lines(part))).infer_objects())
            check_width(len(kinds.names), self._name, self._limits)
        self._keys, self._dtypes = kinds.names, kinds.dtypes()
        self.names, notes = names_of_keys(self._keys, self._name)
        self.notes = [*note_on_nested(n_nested, self._name), *notes]

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the rows of each part; what none of its lines has is missing there."""
        for first, part in self._parts():
            columns, _ = parse_lines(part, self._name, self._limits, first)
            none = [None] * _n_lines(part)
            cells = {
                name: pd.Series(columns.get(key, none), dtype=object).astype(self._dtypes[key])
                for key, name in zip(self._keys, self.names, strict=True)
            }
            yield pd.DataFrame(cells)


def _n_lines(part: bytes) -> int:
    return sum(1 for line in part.splitlines() if line.strip())


class ParquetSource:
    """Rows of a parquet file, batch after batch."""

    def __init__(
        self, file: IO[bytes], name: str, limits: Limits, on_progress: Callable[[float], None]
    ) -> None:
        parquet = load_package("pyarrow.parquet", f"{name} is parquet and")
        self._arrow = importlib.import_module("pyarrow")
        self._name = name
        self._on_progress = on_progress
        types = self._arrow.types
        with self._errors_named():
            schema = parquet.ParquetFile(file).schema_arrow
            # A text that is repeated is kept once, as it is in the file.
            self._texts = [
                field.name
                for field in schema
                if types.is_string(field.type) or types.is_large_string(field.type)
            ]
            self._file = parquet.ParquetFile(
                file, read_dictionary=self._texts, buffer_size=1 << 20, pre_buffer=False
            )
        self.names, self.notes = name_unnamed([str(one) for one in schema.names])
        check_width(len(self.names), name, limits)
        check_names(self.names, name)

    def survey(self) -> None:
        """Read all of it: whole numbers are fractions where a number is missing."""
        kinds = SettledKinds()
        for frame in self._batches():
            kinds.add(frame)
        self._dtypes = kinds.dtypes()

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the rows of each batch."""
        for frame in self._batches():
            yield frame.astype(
                {name: dtype for name, dtype in self._dtypes.items() if frame[name].dtype != dtype}
            )

    def _batches(self) -> Iterator[pd.DataFrame]:
        n_rows = max(1, self._file.metadata.num_rows)
        n_read = 0
        batches = self._file.iter_batches(batch_size=_BATCH_ROWS)
        while True:
            with self._errors_named():
                batch = next(batches, None)
                if batch is None:
                    return
                frame = self._arrow.Table.from_batches([batch]).to_pandas(ignore_metadata=True)
            for text in self._texts:
                frame[text] = as_shared_objects(frame[text])
            n_read += len(frame)
            self._on_progress(n_read / n_rows)
            yield frame.set_axis(self.names, axis=1)

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            yield
        except (self._arrow.ArrowException, OSError, UnicodeError) as error:
            raise ValueError(
                f"{self._name} is a damaged or incomplete parquet file: write it again."
            ) from error
