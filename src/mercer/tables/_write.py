"""A frame → a file that is there whole or not at all."""

import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pandas as pd

from mercer._system.files import sweep, written_whole
from mercer._system.formulas import write_delimited
from mercer.tables._table import as_table
from mercer.tables.reading._binary import load_package
from mercer.tables.reading._source import source_name

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def write_table(table: Any, path: str | os.PathLike[str]) -> None:
    """Write a table as CSV, TSV or parquet, by the name's ending.

    The file is written beside its place and moved there when it is complete, so that a full disk
    leaves what was there before.  In CSV and TSV, text that a spreadsheet would run as a formula
    (it begins with ``=``, ``+``, ``-`` or ``@``, also of full width, with a tab or a line break,
    and is not a number) gets an apostrophe in front; :func:`read_table` takes it away again.
    Numbers keep all their digits.

    Parameters
    ----------
    table : Table or DataFrame
        What to write; the index is not written.
    path : str or path
        A name that ends with ``.csv``, ``.tsv`` or ``.parquet``.

    Raises
    ------
    ValueError
        Where the name ends otherwise.
    OSError
        Where the file cannot be written; nothing is left behind.

    Examples
    --------
    >>> import pandas as pd, pathlib, tempfile
    >>> from mercer.tables import write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "predictions.csv")
    ...     write_table(pd.DataFrame({"class": ["=cmd()", "-1"], "p": [0.5, -1.0]}), path)
    ...     print(path.read_text(), end="")
    "class","p"
    "'=cmd()",0.5
    "-1",-1.0
    """
    frame = as_table(table).frame
    with table_writer(path) as write:
        write(frame)


@contextmanager
def table_writer(path: str | os.PathLike[str]) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Give a function that writes rows to a file, some after the others; as :func:`write_table`.

    The file takes its place when all have been written.  Columns are of the types that they have
    in the first rows.
    """
    name = source_name(path)
    place = Path(os.path.realpath(os.path.expanduser(path)))
    ending = place.suffix.lower()
    if ending == ".parquet":
        load_package("pyarrow", "Writing parquet")
    elif ending not in _SEPARATORS:
        raise ValueError(f"{name} must end with .csv, .tsv or .parquet: rename it.")
    if place.exists() and not place.is_file():
        raise IsADirectoryError(f"{name} is not a plain file: choose another name.")
    sweep(place.parent, place.name)
    with written_whole(place, name) as beside, beside.open("wb") as stream:
        if ending == ".parquet":
            with _parquet_writer(stream, name) as write:
                yield write
        else:
            yield delimited_writer(stream, _SEPARATORS[ending])


def delimited_writer(stream: IO[bytes], separator: str = ",") -> Callable[[pd.DataFrame], None]:
    """Return a function that writes rows, the names of the columns before the first."""
    header = True

    def write(frame: pd.DataFrame) -> None:
        nonlocal header
        write_delimited(frame, stream, separator, header=header)
        header = False

    return write


@contextmanager
def _parquet_writer(stream: IO[bytes], name: str) -> Iterator[Callable[[pd.DataFrame], None]]:
    arrow: Any = importlib.import_module("pyarrow")
    parquet: Any = importlib.import_module("pyarrow.parquet")
    writer: Any = None

    def write(frame: pd.DataFrame) -> None:
        nonlocal writer
        try:
            if writer is None:
                table = arrow.Table.from_pandas(frame, preserve_index=False)
                texts = [  # What has no value in the first rows may have one later.
                    field.with_type(arrow.string()) if arrow.types.is_null(field.type) else field
                    for field in table.schema
                ]
                schema = arrow.schema(texts, metadata=table.schema.metadata)
                writer = parquet.ParquetWriter(stream, schema)
            writer.write_table(
                arrow.Table.from_pandas(frame, schema=writer.schema, preserve_index=False)
            )
        except arrow.ArrowException as error:
            why = (str(error).splitlines() or [""])[0]
            raise ValueError(f"{name} cannot be written as parquet ({why}): write CSV.") from error

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()
