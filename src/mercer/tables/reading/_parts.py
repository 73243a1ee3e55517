"""A table of any length, some rows at a time, each as if the whole had been read at once.

A file is read twice: what a column holds is settled by all of its cells, so that a part with
nothing but numbers is read as text where another part has text.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Any

import pandas as pd

from mercer._system.files import read_at_most
from mercer.tables._table import Table
from mercer.tables.reading._part_sources import (
    DelimitedSource,
    JsonSource,
    ParquetSource,
    Source,
)
from mercer.tables.reading._read import check_delimiter, is_json, table_of
from mercer.tables.reading._settled import regrouped
from mercer.tables.reading._source import (
    Limits,
    check_once,
    check_size,
    decompressing,
    errors_of_archives,
    opened_file,
    source_name,
)

_LIMITS = Limits(max_bytes=1 << 30, max_line=1 << 24, max_columns=10_000)
_CELLS_AT_ONCE = 1_000_000
_ROWS_AT_ONCE = (1_000, 100_000)  # the fewest and the most
_WHOLE_BYTES = 1 << 26  # A file of no more is read at once.
_COPIED_BYTES = 1 << 20


@dataclass(frozen=True)
class TableInParts:
    """A table whose rows are handed out some at a time.

    Attributes
    ----------
    name : str
        What sentences call it.
    notes : tuple of str
        What was noticed in reading.
    names : tuple of str
        Of the columns.
    is_whole : bool
        Whether it comes in one piece.
    """

    name: str
    notes: tuple[str, ...]
    names: tuple[str, ...]
    is_whole: bool
    _frames: Callable[[], Iterator[pd.DataFrame]]

    def __iter__(self) -> Iterator[Table]:
        """Yield tables of some rows, whose index goes on from one to the next."""
        for frame in self._frames():
            yield Table(frame, self.name)


@contextmanager
def table_in_parts(
    path: str | os.PathLike[str],
    *,
    sheet: str | None = None,
    delimiter: str | None = None,
    on_progress: Callable[[str, float], None] = lambda what, share: None,
) -> Iterator[TableInParts]:
    """Open a table of any length: delimited text, JSON lines and parquet, compressed or not.

    What is small, and what is of another format, comes in one piece.  ``on_progress`` is told what
    is being done and which share of it is done.
    """
    name = source_name(path)
    with ExitStack() as stack:
        file = _seekable(path, name, stack)
        size = max(1, file.seek(0, os.SEEK_END))

        def reopened() -> Any:
            file.seek(0)
            with errors_of_archives(name):
                packed = decompressing(file, name, stack)
            return _Watched(packed or file, name, packed is not None, tell)

        def tell() -> None:
            on_progress(phase, file.tell() / size)

        phase = "reading"
        start = reopened()
        head = read_at_most(start, _WHOLE_BYTES)
        if start.is_packed:
            check_once(head, name)
        source = None
        if len(head) > _WHOLE_BYTES:
            source = _source_of(
                head,
                start,
                reopened,
                name,
                sheet,
                delimiter,
                stack,
                lambda share: on_progress(phase, share),
            )
        if source is None:
            rest = _LIMITS.max_bytes - len(head)
            head += read_at_most(start, rest) if len(head) > _WHOLE_BYTES else b""
            check_size(len(head), name, _LIMITS.max_bytes)
            table = table_of(head, name, sheet, delimiter, _LIMITS)
            names, notes = tuple(table.frame), table.notes
            yield TableInParts(name, notes, names, True, lambda: iter([table.frame]))
            return
        del head
        source.survey()
        phase = "predicting"
        names = tuple(source.names)
        n_rows = _CELLS_AT_ONCE // max(1, len(names)) // 100 * 100
        n_rows = min(max(n_rows, _ROWS_AT_ONCE[0]), _ROWS_AT_ONCE[1])
        notes = tuple(source.notes)
        yield TableInParts(name, notes, names, False, lambda: regrouped(source.frames(), n_rows))


class _Watched:
    """A stream that tells how far it is, and says what is wrong with an archive."""

    def __init__(
        self, stream: IO[bytes], name: str, is_packed: bool, tell: Callable[[], None]
    ) -> None:
        self.is_packed = is_packed
        self.stream = stream
        self._name = name
        self._tell = tell

    def read(self, n_bytes: int) -> bytes:
        if not self.is_packed:
            block = self.stream.read(n_bytes)
        else:
            with errors_of_archives(self._name):
                block = self.stream.read(n_bytes)
        self._tell()
        return block


def _seekable(path: str | os.PathLike[str], name: str, stack: ExitStack) -> IO[bytes]:
    """Open a file; what can be read only once, such as standard input, is copied to one."""
    if os.fspath(path) != "-":
        file = stack.enter_context(opened_file(path, name))
        if file.seekable():
            return file
    else:
        file = sys.stdin.buffer
    return _copied(file, stack)


def _copied(stream: Any, stack: ExitStack) -> IO[bytes]:
    """Return a file without a name that holds what a stream gives."""
    copy: Any = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
    while block := stream.read(_COPIED_BYTES):
        copy.write(block)
    copy.seek(0)
    file: IO[bytes] = copy
    return file


def _source_of(
    head: bytes,
    start: _Watched,
    reopened: Callable[[], _Watched],
    name: str,
    sheet: str | None,
    delimiter: str | None,
    stack: ExitStack,
    on_progress: Callable[[float], None],
) -> Source | None:
    """Return what reads a large file in parts; None for a format that is read at once."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return None  # an archive that is a format of its own, as Excel and NumPy have
    if sheet is not None:
        raise ValueError(f"{name} is not an Excel file (.xlsx): leave out the sheet.")
    is_parquet = head.startswith(b"PAR1")
    if delimiter is not None:
        check_delimiter(delimiter, name, is_text=not is_parquet)
    if is_parquet:
        file = _copied(reopened(), stack) if start.is_packed else start.stream
        return ParquetSource(file, name, _LIMITS, on_progress)
    if delimiter is None and is_json(head):
        return JsonSource(reopened, head, name, _LIMITS)
    return DelimitedSource(reopened, head, name, _LIMITS, delimiter)
