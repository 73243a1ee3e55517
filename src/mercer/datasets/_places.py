"""The places that may hold a data set: scikit-learn, a folder, an installed package, OpenML."""

import hashlib
import io
import os
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np

from mercer._system.files import make_folder, sweep, written_whole
from mercer._system.npy import read_arrays
from mercer.datasets._dataset import Arrays, check_content, encode_labels
from mercer.datasets._registry import DatasetInfo, OpenMLTable, PackageFiles


@dataclass(frozen=True, kw_only=True)
class Location:
    """One reachable copy of a data set; nothing has been read before `read` is called."""

    where: str  # the kind of place, as list_datasets shows it
    origin: str  # the place itself, as the subject of an error message
    read: Callable[[], Arrays]
    needs_network: bool = False


def locate(info: DatasetInfo, folder: Path | None) -> Location | None:
    """Return the first place that has the data set; the network comes last."""
    return (
        locate_bundled(info)
        or locate_in_folder(info, folder)
        or locate_in_package(info)
        or locate_on_openml(info)
    )


def locate_bundled(info: DatasetInfo) -> Location | None:
    """Find the scikit-learn function that returns the data."""
    if (function := info.bundled) is None:
        return None
    return Location(
        where="scikit-learn",
        origin=f"sklearn.datasets.{function}()",
        read=lambda: _read_bundled(function),
    )


def _read_bundled(function: str) -> Arrays:
    bunch = getattr(import_module("sklearn.datasets"), function)()
    return Arrays(X=bunch.data, y=bunch.target, feature_names=tuple(map(str, bunch.feature_names)))


_MEMBERS = ("X", "y", "train_idx", "test_idx", "is_original")


def data_folder(folder: str | os.PathLike[str] | None) -> Path | None:
    """Return ``folder``, or the one that MERCER_DATA names, or None; it must be a folder."""
    given = os.environ.get("MERCER_DATA") if folder is None else folder
    if not given:
        return None
    setting = "MERCER_DATA" if folder is None else "folder"
    path = Path(os.path.expanduser(given))
    if path.is_dir():
        return path
    if path.exists():
        raise NotADirectoryError(
            f"{setting} is {path}, a file: it must name the folder that holds the .npz files."
        )
    raise FileNotFoundError(f"{setting} is {path}, and there is no such folder.")


def locate_in_folder(info: DatasetInfo, folder: Path | None) -> Location | None:
    """Find ``name.npz`` in the folder."""
    if folder is None or not (path := folder / f"{info.name}.npz").exists():
        return None
    return Location(
        where="folder",
        origin=f"File {path}",
        read=lambda: read_npz(path, sha256=info.sha256),
    )


def read_npz(path: Path, *, sha256: str | None) -> Arrays:
    """Read one file; its checksum, where there is one, is compared before it is opened."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise type(error)(f"File {path} cannot be read: {error.strerror}.") from error
    if sha256 is not None and (found := hashlib.sha256(content).hexdigest()) != sha256:
        raise ValueError(
            f"File {path} is damaged, incomplete or another version: its sha256 is {found}, "
            f"and {sha256} is registered."
        )
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise ValueError(f"File {path} is not an .npz archive, or only a part of one.")
    try:
        members: dict[str, Any] = read_arrays(content, _MEMBERS)
    except ValueError as error:
        raise ValueError(f"File {path} cannot be read as plain arrays: {error}.") from error
    if "X" not in members or "y" not in members:
        raise ValueError(f"File {path} has no arrays X and y.")
    return Arrays(**members)


def locate_in_package(info: DatasetInfo) -> Location | None:
    """Find the files of the data set in its package, if that is installed."""
    if (package := info.package) is None:
        return None
    try:
        installed = metadata.distribution(package.distribution)
    except metadata.PackageNotFoundError:
        return None
    paths = [Path(str(installed.locate_file(file))) for file in package.files]
    if not all(path.is_file() for path in paths):
        return None
    origin = f"Package {package.distribution} {installed.version}"
    return Location(
        where=f"package {package.distribution}",
        origin=origin,
        read=lambda: _read_text_files(package, paths, origin),
    )


def _read_text_files(package: PackageFiles, paths: list[Path], origin: str) -> Arrays:
    """Read comma- or space-separated rows; lines that begin with @ describe the columns."""
    lines = (line for path in paths for line in path.read_text(encoding="utf-8").splitlines())
    rows = [line.replace(",", " ").split() for line in lines if not line.startswith("@")]
    rows = [row for row in rows if row]
    try:
        X = np.array([row[package.skip : -1] for row in rows], dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"{origin} has a table that is not numeric: {error}.") from error
    return Arrays(X=X, y=encode_labels((row[-1] for row in rows), package.labels, origin))


def locate_on_openml(info: DatasetInfo) -> Location | None:
    """Find the copy kept by an earlier call, or the table to fetch."""
    if (table := info.openml) is None:
        return None
    kept = _cache_file(info.name)
    if kept is not None and kept.exists():
        return Location(
            where="OpenML (cached)",
            origin=f"File {kept} (kept from OpenML; delete it to fetch it again)",
            read=lambda: read_npz(kept, sha256=None),
        )
    origin = f"OpenML's table {table.data_id}"

    def fetch_and_keep() -> Arrays:
        arrays = _fetch(table, origin)
        check_content(info, arrays, origin)  # Only verified data are kept.
        if kept is not None:
            _write_to_cache(kept, arrays)
        return arrays

    return Location(
        where="OpenML (needs network)", origin=origin, read=fetch_and_keep, needs_network=True
    )


def _cache_file(name: str) -> Path | None:
    """Return where a table is kept: the place of get_data_home(), without creating it.

    None for a user without a home.
    """
    home = os.path.expanduser(os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data"))
    return None if home.startswith("~") else Path(home) / "mercer" / f"{name}.npz"


def _fetch(table: OpenMLTable, origin: str) -> Arrays:
    from sklearn.datasets import fetch_openml

    try:
        # liac-arff reads decimals exactly; pandas' fast parser may miss the last bit.
        fetched = fetch_openml(
            data_id=table.data_id, as_frame=True, parser="liac-arff", cache=False
        )
    except (OSError, HTTPException, ValueError) as error:
        raise ConnectionError(f"{origin} could not be fetched ({error})") from error
    try:
        X = fetched.data.astype(np.float64).to_numpy()
    except ValueError as error:
        raise ValueError(f"{origin} is not numeric: {error}.") from error
    complete = ~np.isnan(X).any(axis=1)
    labels = fetched.target[complete].astype(str)
    return Arrays(X=X[complete], y=encode_labels(labels, table.labels, origin))


def _write_to_cache(path: Path, arrays: Arrays) -> None:
    """Write the file in one step, so that no reader meets half of it; warn if that fails."""
    try:
        make_folder(path.parent)
        sweep(path.parent, path.name)
        with written_whole(path) as beside, beside.open("wb") as stream:
            np.savez_compressed(stream, X=arrays.X, y=arrays.y)
    except OSError as error:
        warnings.warn(f"Fetched, but not kept for the next time: {error}", stacklevel=2)
