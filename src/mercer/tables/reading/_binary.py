"""Parquet files and NumPy archives, whose sizes are checked before they are unpacked."""

import importlib
import io
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from mercer._system.extras import how_to_install
from mercer._system.npy import read_arrays
from mercer.tables._sentences import (
    MissingPackageError,
    listed,
)
from mercer.tables._table import check_names
from mercer.tables.reading._delimited import name_unnamed
from mercer.tables.reading._source import (
    Limits,
    archive_members,
    check_size,
    check_unpacked,
    check_width,
)

_BYTES_PER_CELL = 8
_ARRAYS = ("X", "y", "feature_names")


def load_package(module: str, what: str) -> ModuleType:
    """Import a package of the extra ``tables``, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise MissingPackageError(
            f"{what} needs {package}: {how_to_install('tables')}, or use CSV."
        ) from error


def read_parquet(content: bytes, name: str, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of a parquet file."""
    parquet = load_package("pyarrow.parquet", f"{name} is parquet and")
    pyarrow = importlib.import_module("pyarrow")
    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        names, notes = name_unnamed([str(field) for field in file.schema_arrow.names])
        check_width(len(names), name, limits)
        check_size(_promised_bytes(file.metadata), f"{name}, once decompressed,", limits.max_bytes)
        check_names(names, name)
        # A text that is repeated is kept once, as it is in the file.
        types = pyarrow.types
        texts = [
            field.name
            for field in file.schema_arrow
            if types.is_string(field.type) or types.is_large_string(field.type)
        ]
        file = parquet.ParquetFile(io.BytesIO(content), read_dictionary=texts)
        frame = file.read().to_pandas(ignore_metadata=True)
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        raise ValueError(
            f"{name} is a damaged or incomplete parquet file: write it again."
        ) from error
    for text in texts:
        frame[text] = as_shared_objects(frame[text])
    return with_rows(frame.set_axis(names, axis=1), name), notes


def _promised_bytes(meta: Any) -> int:
    """Return how many bytes the columns take once they are read.

    A run of equal values takes next to nothing in the file, and one cell may be a list of a million
    numbers: so values are counted, not rows.
    """
    chunks = (
        meta.row_group(i).column(j)
        for i in range(meta.num_row_groups)
        for j in range(meta.num_columns)
    )
    return sum(max(one.total_uncompressed_size, one.num_values * _BYTES_PER_CELL) for one in chunks)


def as_shared_objects(values: pd.Series) -> pd.Series:
    """Return texts as Python objects; those that are equal are one object."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return values
    texts = np.append(np.asarray(values.cat.categories, dtype=object), np.nan)
    return pd.Series(texts[values.cat.codes.to_numpy()], index=values.index, dtype=object)


def read_npz(content: bytes, name: str, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    """Return X and y of a NumPy archive as columns; nothing is unpickled."""
    check_unpacked(content, name, limits.max_bytes)
    found = [member.removesuffix(".npy") for member in archive_members(content) or []]
    try:
        arrays = read_arrays(content, _ARRAYS)
    except ValueError as error:
        raise ValueError(
            f"{name} is a damaged .npz archive ({error}): save X and y again by numpy.savez, and "
            "no objects."
        ) from error
    if "X" not in arrays:
        raise ValueError(f"{name} has no array X (it has {listed(found)}): save X and y.")
    X: Any = np.atleast_1d(arrays["X"])
    X = X.reshape(len(X), -1) if X.size else X.reshape(len(X), 0)
    check_width(X.shape[1], name, limits)
    names = [str(one).strip() for one in arrays.get("feature_names", range(1, X.shape[1] + 1))]
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
    return with_rows(frame, name), notes


def with_rows(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the frame; raise if it has no rows or no columns."""
    if not len(frame) or not frame.shape[1]:
        raise ValueError(f"{name} has columns but no rows: it needs rows.")
    return frame
