"""A folder of ``.npz`` files: each is verified before it is opened, and nothing is unpickled."""

import hashlib
import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from mercer._system.npy import check_stream
from mercer.datasets._arrays import Arrays
from mercer.datasets._info import DatasetInfo
from mercer.datasets._location import Location

__all__ = ["data_folder", "locate_in_folder", "read_npz"]

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
    members = _members(content, path)
    if "X" not in members or "y" not in members:
        raise ValueError(f"File {path} has no arrays X and y.")
    return Arrays(**members)


def _members(content: bytes, path: Path) -> dict[str, Any]:
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise ValueError(f"File {path} is not an .npz archive, or only a part of one.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            for info in packed.infolist():
                if info.filename.removesuffix(".npy") in _MEMBERS:
                    with packed.open(info) as stream:
                        check_stream(stream, info.file_size)
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {name: archive[name] for name in _MEMBERS if name in archive}
    except MemoryError:
        raise
    except Exception as error:  # every way of damage has an error of its own
        raise ValueError(f"File {path} cannot be read as plain arrays: {error}") from error
