"""The bytes of a text of any length, in parts that end with a line and with a record."""

import codecs
import csv
import io
from collections.abc import Iterator
from typing import IO

from mercer._system.words import limit_of_bytes
from mercer.tables.reading._encoding import breaks_off


def lines_in_parts(
    stream: IO[bytes], encoding: str, name: str, *, n_bytes: int, max_line: int
) -> Iterator[bytes]:
    """Yield UTF-8 without a byte order mark, some whole lines at a time.

    ``encoding`` is utf-8, whose bytes are handed on as they are, or one to decode.
    """
    decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)()

    def utf8(block: bytes, *, final: bool = False) -> bytes:
        try:
            return block if decoder is None else decoder.decode(block, final).encode("utf-8")
        except UnicodeError as error:
            raise breaks_off(name) from error

    rest = b""
    is_first = True
    while block := stream.read(n_bytes):
        block = utf8(block)
        if is_first:
            block, is_first = block.removeprefix(codecs.BOM_UTF8), False
        end = _last_break(block)
        if end is None:
            rest += block
            if len(rest) > max_line:
                raise ValueError(
                    f"{name} has a line of more than {limit_of_bytes(max_line)}: is it a table "
                    "with one row per line?"
                )
            continue
        yield rest + block[:end]
        rest = block[end:]
    rest += utf8(b"", final=True)
    if rest:
        yield rest


def _last_break(block: bytes) -> int | None:
    """Return where the last line ends; a carriage return at the very end may go on with a feed."""
    if end := block.rfind(b"\n") + 1:
        return end
    return block.rfind(b"\r", 0, len(block) - 1) + 1 or None


def records_in_parts(
    parts: Iterator[bytes], delimiter: str, name: str, *, max_line: int
) -> Iterator[bytes]:
    """Join parts of whole lines to parts of whole records, as a quoted cell may have many lines."""
    rest = b""
    for part in parts:
        part = rest + part
        end = _end_of_records(part, delimiter, max_line) if b'"' in part else len(part)
        if end:
            yield part[:end]
        rest = part[end:]
        if len(rest) > max_line:
            raise ValueError(
                f"{name} has a cell of more than {limit_of_bytes(max_line)}, or a quotation mark "
                "that is never closed: repair it."
            )
    if rest:
        yield rest


def _end_of_records(part: bytes, delimiter: str, max_line: int) -> int:
    """Return where the last record that is complete ends.

    After the text comes a line that no table has: where it is a record of its own, all before it
    are complete, else the last of them goes on behind the text.
    """
    mark = "\0"
    text = io.TextIOWrapper(io.BytesIO(part), encoding="utf-8", errors="replace", newline="")
    n_lines = 0
    before = 0

    def lines() -> Iterator[str]:
        nonlocal n_lines
        for line in text:
            n_lines += 1
            yield line
        yield mark

    bound = csv.field_size_limit(max(max_line, len(part)) + 1)
    try:
        reader = csv.reader(lines(), delimiter=delimiter, skipinitialspace=True)
        for cells in reader:
            if cells == [mark]:
                return len(part)
            if reader.line_num <= n_lines and not (cells and cells[-1].endswith(mark)):
                before = reader.line_num
    except csv.Error:
        return len(part)  # The check of ragged lines says what is wrong with it.
    finally:
        csv.field_size_limit(bound)
    return sum(len(line) for line in part.splitlines(keepends=True)[:before])
