"""A frame → a file that is there whole or not at all."""

import os
from pathlib import Path
from typing import Any

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
            frame.to_parquet(stream, index=False, engine="pyarrow")
        else:
            write_delimited(frame, stream, _SEPARATORS[ending])
