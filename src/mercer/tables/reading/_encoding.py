"""Bytes of a text file → UTF-8 that is safe to parse, or one sentence why not."""

import codecs

from mercer._system.words import limit_of_bytes

_BLOCK = 1 << 20  # This many bytes are decoded at a time.
# The first bytes of files that people give by mistake, what these are, and what to do.
_NOT_TABLES = (
    (b"\xd0\xcf\x11\xe0", "an old (.xls) or locked Excel file", "save it as .xlsx or CSV"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"%PDF", "a PDF document", "export the table as CSV"),
    (b"\x89HDF", "an HDF5 file", "export the table as CSV or parquet"),
    (b"ARROW1", "an Arrow (feather) file", "save it as parquet or CSV"),
    (b"\x80\x04\x95", "a pickle, which could run any code", "save it as parquet or CSV"),
    (b"\x80\x05\x95", "a pickle, which could run any code", "save it as parquet or CSV"),
)


def as_utf8(content: bytes, name: str, *, max_line: int) -> tuple[bytes, list[str]]:
    """Return the text as UTF-8 without a byte order mark, and a note if it was something else.

    UTF-8 and UTF-16 with a mark are certain.  Anything that is not UTF-8 is taken for
    Windows-1252, the most frequent encoding of Western files, unless it has a byte that this
    encoding lacks.
    """
    refuse_others(content, name)
    notes: list[str] = []
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            content = content.decode("utf-16").encode("utf-8")
        except UnicodeError as error:
            raise breaks_off(name) from error
    content = content.removeprefix(codecs.BOM_UTF8)
    check_signs(content, name, max_line=max_line)
    if (place := first_not_utf8(content)) is not None:
        line = _line(content, place)
        content = from_cp1252(content, name, not_utf8=line)
        notes.append(note_on_cp1252(name, line))
    return content, notes


def refuse_others(content: bytes, name: str) -> None:
    """Raise for files that people give by mistake, and say what to do with them."""
    for magic, what, remedy in _NOT_TABLES:
        if content.startswith(magic):
            raise ValueError(f"{name} is {what}: {remedy}.")


def breaks_off(name: str) -> ValueError:
    """Return the error of a text in UTF-16 that is not complete."""
    return ValueError(f"{name} begins as UTF-16 does but breaks off: save it again as UTF-8.")


def check_signs(content: bytes, name: str, *, max_line: int, first_line: int = 1) -> None:
    """Raise if a text, or a part of one that begins with a line, is binary or has no lines."""
    if (zero := content.find(b"\0")) >= 0:
        raise ValueError(
            f"{name} is binary, not text (a NUL byte in line {_line(content, zero, first_line)}): "
            "give a CSV, TSV, parquet, Excel or .npz file."
        )
    _check_lines(content, name, max_line, first_line)


def from_cp1252(content: bytes, name: str, *, not_utf8: int, first_line: int = 1) -> bytes:
    """Return a text in Windows-1252 as UTF-8; a line has shown that it is not UTF-8."""
    try:
        return content.decode("cp1252").encode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name} is neither UTF-8 (line {not_utf8}) nor Windows-1252 (line "
            f"{_line(content, error.start, first_line)}): save it again as UTF-8."
        ) from error


def note_on_cp1252(name: str, line: int) -> str:
    """Say that a text is taken for Windows-1252."""
    return (
        f"{name} is not UTF-8 (line {line}); it was read as Windows-1252, so check names with "
        "accents."
    )


def _line(content: bytes, place: int, first_line: int = 1) -> int:
    return content.count(b"\n", 0, place) + first_line


def _check_lines(content: bytes, name: str, max_line: int, first_line: int) -> None:
    """Raise if a line is longer than the bound."""
    start = 0
    while len(content) - start > max_line:
        # Go on after the last line break within reach; only a line that is too long has none.
        end = max(
            content.rfind(b"\n", start, start + max_line + 1),
            content.rfind(b"\r", start, start + max_line + 1),
        )
        if end < 0:
            raise ValueError(
                f"{name} has a line of more than {limit_of_bytes(max_line)} (line "
                f"{_line(content, start, first_line)}): is it a table with one row per line?"
            )
        start = end + 1


def first_not_utf8(content: bytes) -> int | None:
    """Return the place of the first byte that is not UTF-8, without decoding all at once."""
    if content.isascii():
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(content), _BLOCK):
        n_pending = len(decoder.getstate()[0])  # The last character of a block may be cut.
        end = start + _BLOCK
        try:
            decoder.decode(content[start:end], final=end >= len(content))
        except UnicodeDecodeError as error:
            return start - n_pending + error.start
    return None
