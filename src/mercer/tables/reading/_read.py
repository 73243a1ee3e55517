"""A file of any of the usual formats → a table, by what is in it rather than by its name."""

import os
import re

import pandas as pd

from mercer._system.formulas import restored
from mercer.tables._table import Table
from mercer.tables.reading._binary import read_npz, read_parquet
from mercer.tables.reading._delimited import read_delimited
from mercer.tables.reading._excel import read_excel
from mercer.tables.reading._json_lines import read_json_lines
from mercer.tables.reading._source import Limits, archive_members, read_source, source_name

# An apostrophe before a sign that formulas begin with, some of them of full width, in UTF-8.
_ESCAPED = re.compile(rb"'(?:[=+\-@\t\r\n]|\xef\xbc[\x9d\x8b\x8d\xa0])")


def read_table(
    path: str | os.PathLike[str],
    *,
    sheet: str | None = None,
    delimiter: str | None = None,
    max_bytes: int = 1 << 30,
    max_line: int = 1 << 24,
    max_columns: int = 10_000,
) -> Table:
    r"""Read a table from a file, or from standard input.

    The format is seen from the contents: text with cells divided by comma, semicolon, tab or |
    (the first line names the columns; lines before it that begin with # are passed over), JSON
    lines (an object in each line), parquet, Excel (.xlsx) or NumPy (.npz with X, y and
    perhaps feature_names); as it is, or compressed by gzip, bzip2, xz, zstd, or as the only file
    of a zip archive.  Nothing is guessed in silence: what was not certain is a note, what is
    broken is refused in one sentence that names the line.

    Parameters
    ----------
    path : str or path
        The file; ``"-"`` is standard input.
    sheet : str, optional
        Name of the sheet of an Excel file; the first by default.
    delimiter : str, optional
        The one character that divides the cells of a text file; it is found by default.
    max_bytes : int, default=2**30
        The most that is read, after decompression; reading stops there.  Eight bytes for every
        cell may not be more either.
    max_line : int, default=2**24
        The longest line of a text file, in bytes.
    max_columns : int, default=10_000
        The most columns; scikit-learn finds columns by name in a time that grows as their square.

    Returns
    -------
    Table
        The values as they are in the file: numbers as numbers, all else as text; see
        :func:`describe_columns` for what they are taken for.

    Raises
    ------
    OSError
        Where the file cannot be opened: missing, a folder, not permitted.
    ValueError
        Where it holds no table, or one beyond the limits.
    MissingPackageError
        Where pyarrow (parquet), openpyxl (Excel) or zstandard is needed and not installed.

    Notes
    -----
    Memory: the decompressed file and the frame together; at worst some four times `max_bytes`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mercer.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "people.csv")
    ...     _ = path.write_text("age;job\n31;baker\n?;clerk\n")
    ...     table = read_table(path)
    >>> table.frame["age"].tolist(), table.frame["job"].tolist()
    ([31.0, nan], ['baker', 'clerk'])
    """
    name = source_name(path)
    content = read_source(path, max_bytes=max_bytes)
    return table_of(content, name, sheet, delimiter, Limits(max_bytes, max_line, max_columns))


def table_of(
    content: bytes, name: str, sheet: str | None, delimiter: str | None, limits: Limits
) -> Table:
    """Return the table in the bytes of a file, which are not compressed."""
    members = archive_members(content) or []
    is_excel = "xl/workbook.xml" in members
    if sheet is not None and not is_excel:
        raise ValueError(f"{name} is not an Excel file (.xlsx): leave out the sheet.")
    is_binary = bool(members) or content.startswith(b"PAR1")
    if delimiter is not None:
        check_delimiter(delimiter, name, is_text=not is_binary)
    other_sheets: tuple[str, ...] = ()
    if is_excel:
        frame, notes, other_sheets = read_excel(content, name, sheet, limits)
    elif members:
        frame, notes = read_npz(content, name, limits)
    elif content.startswith(b"PAR1"):
        frame, notes = read_parquet(content, name, limits)
    elif delimiter is None and is_json(content):
        frame, notes = read_json_lines(content, name, limits)
    else:
        frame, notes = read_delimited(content, name, limits, delimiter)
        if has_escaped(content):
            frame = without_apostrophes(frame, name)
    return Table(_plain_names(frame), name, tuple(notes), other_sheets)


def has_escaped(content: bytes) -> bool:
    """Tell whether a text may hold cells that were made harmless to spreadsheets."""
    return b"'" in content and _ESCAPED.search(content) is not None


def without_apostrophes(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return cells and names as they were before they were made harmless."""
    try:
        return restored(frame)
    except ValueError as error:
        raise ValueError(f"In {name} {error}: give each its own name.") from error


def check_delimiter(delimiter: str, name: str, *, is_text: bool) -> None:
    """Raise if cells cannot be divided so."""
    if not is_text:
        raise ValueError(f"{name} is not a text file: leave out the delimiter.")
    if len(delimiter) != 1 or delimiter.isalnum() or delimiter in "\"'\r\n.+-":
        raise ValueError(
            f"The delimiter {delimiter!r} cannot divide cells: give one sign, such as ';' or a tab."
        )


def is_json(content: bytes) -> bool:
    """Tell whether text begins as JSON lines do, or as a list of objects."""
    start = content[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    return start.startswith(b'{"') or (start[:1] == b"[" and start[1:].lstrip().startswith(b"{"))


def _plain_names(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_axis(pd.Index([str(one) for one in frame.columns], dtype=object), axis=1)
