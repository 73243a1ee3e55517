"""Tables that are not text: parquet, Excel and NumPy archives."""

import importlib
import io
import zipfile
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from mercer.tables._delimited import check_width, name_unnamed
from mercer.tables._source import check_size
from mercer.tables._table import check_names
from mercer.tables._values import MISSING
from mercer.tables._words import (
    MissingPackageError,
    did_you_mean,
    listed,
    quoted,
)

__all__ = ["load_package", "read_excel", "read_npz", "read_parquet"]

_BYTES_PER_CELL = 8
_ARRAYS = ("X", "y", "feature_names")


def load_package(module: str, what: str) -> ModuleType:
    """Import a package of the extra ``tables``, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise MissingPackageError(
            f'{what} needs {package}: pip install "mercer[tables]", or use CSV.'
        ) from error


def read_parquet(
    content: bytes, name: str, *, max_bytes: int, max_columns: int
) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of a parquet file."""
    parquet = load_package("pyarrow.parquet", f"{name} is parquet and")
    pyarrow = importlib.import_module("pyarrow")
    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        meta = file.metadata
        names = [str(field) for field in file.schema_arrow.names]
        sizes = [meta.row_group(i).total_byte_size for i in range(meta.num_row_groups)]
        n_bytes = max(sum(sizes), meta.num_rows * len(names) * _BYTES_PER_CELL)
        check_width(len(names), name, max_columns)
        check_size(n_bytes, f"{name}, once decompressed,", max_bytes)
        check_names(names, name)
        frame = file.read().to_pandas(ignore_metadata=True)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(
            f"{name} is a damaged or incomplete parquet file: write it again."
        ) from error
    return _with_rows(frame, name), []


def read_excel(
    content: bytes, name: str, sheet: str | None, *, max_bytes: int, max_columns: int
) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of one sheet, the first where none is named."""
    load_package("openpyxl", f"{name} is an Excel file and")
    _check_archive(content, name, max_bytes)
    notes = []
    with _excel(lambda: pd.ExcelFile(io.BytesIO(content), engine="openpyxl"), name) as book:
        sheets = [str(one) for one in book.sheet_names]
        if sheet is not None and sheet not in sheets:
            hint = did_you_mean(sheet, sheets, f"its sheets are {listed(sheets, most=8)}.")
            raise LookupError(f"There is no sheet {quoted(sheet)} in {name}: {hint}")
        if sheet is None and len(sheets) > 1:
            first = quoted(sheets[0])
            notes.append(f"The first of {len(sheets)} sheets of {name}, {first}, is read.")
        options: Any = {"header": None, "dtype": object, "keep_default_na": False}
        cells = _excel(
            lambda: pd.read_excel(book, sheet or sheets[0], na_values=list(MISSING), **options),
            name,
        )
    cells = cells.dropna(how="all").dropna(how="all", axis=1)
    if not len(cells):
        raise ValueError(f"{name} is empty: it needs a line of column names and rows.")
    check_width(cells.shape[1], name, max_columns)
    header = ["" if pd.isna(cell) else str(cell) for cell in cells.iloc[0]]
    names, more = name_unnamed(header)
    check_names(names, name)
    frame = cells.iloc[1:].set_axis(names, axis=1).infer_objects().reset_index(drop=True)
    return _with_rows(frame, name), notes + more


def _excel(action: Callable[[], Any], name: str) -> Any:
    try:
        return action()
    except Exception as error:  # openpyxl lets through whatever its XML made it stumble over
        raise ValueError(
            f"{name} cannot be read as an Excel file: save it again as .xlsx or CSV."
        ) from error


def read_npz(
    content: bytes, name: str, *, max_bytes: int, max_columns: int
) -> tuple[pd.DataFrame, list[str]]:
    """Return X and y of a NumPy archive as columns; nothing is unpickled."""
    _check_archive(content, name, max_bytes)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            found = list(archive)
            arrays = {key: archive[key] for key in _ARRAYS if key in found}
    except Exception as error:  # a header may be wrong in more ways than NumPy has names for
        raise ValueError(
            f"{name} cannot be read as plain arrays: save X and y by numpy.savez, and no objects."
        ) from error
    if "X" not in arrays:
        raise ValueError(f"{name} has no array X (it has {listed(found)}): save X and y.")
    X: Any = np.atleast_1d(arrays["X"])
    X = X.reshape(len(X), -1) if X.size else X.reshape(len(X), 0)
    check_width(X.shape[1], name, max_columns)
    names = [str(one) for one in arrays.get("feature_names", range(1, X.shape[1] + 1))]
    if "feature_names" not in arrays:
        names = [f"x{one}" for one in names]
    if len(names) != X.shape[1]:
        raise ValueError(
            f"{name} has {len(names)} feature_names for the {X.shape[1]} columns of X: "
            "give one for each."
        )
    frame = pd.DataFrame(X, columns=names)
    if "y" in arrays:
        y = arrays["y"]
        if y.shape not in ((len(X),), (len(X), 1)):
            raise ValueError(
                f"{name} has {len(X)} rows in X, and y of shape {y.shape}: give y one value "
                "for each row."
            )
        check_names([*names, "y"], name)
        frame["y"] = y.ravel()
    check_names(names, name)
    ignored = [key for key in found if key not in _ARRAYS]
    notes = [f"Arrays {listed(ignored)} of {name} are not used."] if ignored else []
    return _with_rows(frame, name), notes


def _check_archive(content: bytes, name: str, max_bytes: int) -> None:
    """Refuse an archive whose files are too large; zipfile reads no more than is declared."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        n_bytes = sum(member.file_size for member in archive.infolist())
        check_size(n_bytes, f"{name}, once decompressed,", max_bytes)
        for member in archive.infolist():
            if member.filename.endswith(".npy"):
                with archive.open(member) as stream:
                    _check_header(stream, member.file_size, name)


def _check_header(stream: Any, n_bytes: int, name: str) -> None:
    """Refuse an array whose header promises more than the file holds, before it is allocated."""
    try:
        version = np.lib.format.read_magic(stream)
        read = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(stream)
    except Exception as error:  # a header may be wrong in more ways than NumPy has names for
        raise ValueError(f"{name} is a damaged .npz archive: save it again.") from error
    size = dtype.itemsize
    for length in shape:
        size *= int(length)
    if not dtype.hasobject and size > n_bytes:
        raise ValueError(f"{name} is a damaged .npz archive: save it again.")


def _with_rows(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    if not len(frame) or not frame.shape[1]:
        raise ValueError(f"{name} has columns but no rows: it needs rows.")
    return frame
