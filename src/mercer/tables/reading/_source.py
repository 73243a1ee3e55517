"""The bytes of a file or of standard input, decompressed, and never more than a bound."""

import bz2
import gzip
import importlib
import io
import lzma
import os
import stat
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from mercer._system.files import read_at_most, shown_path
from mercer._system.words import count_of, did_you_mean, limit_of_bytes
from mercer.tables._sentences import MissingPackageError, listed


@dataclass(frozen=True)
class Limits:
    """The most that is read: bytes after decompression, bytes of a line, and columns."""

    max_bytes: int
    max_line: int
    max_columns: int


def source_name(path: str | os.PathLike[str]) -> str:
    """Return what sentences call a source."""
    return "standard input" if os.fspath(path) == "-" else shown_path(path)


def read_source(path: str | os.PathLike[str], *, max_bytes: int) -> bytes:
    """Return what a file or standard input ("-") holds, decompressed if it is compressed."""
    name = source_name(path)
    raw = _read_raw(path, name, max_bytes)
    content = _decompressed(raw, name, max_bytes)
    if content is None:
        return raw
    if _opener(content) is not None:
        raise ValueError(f"{name} is compressed twice: decompress it once and try again.")
    return content


def _read_raw(path: str | os.PathLike[str], name: str, max_bytes: int) -> bytes:
    if os.fspath(path) == "-":
        return _read_bounded(sys.stdin.buffer, "standard input", max_bytes)
    place = Path(os.path.expanduser(path))
    try:
        state = place.stat()
        if stat.S_ISDIR(state.st_mode):
            raise IsADirectoryError(f"{name} is a folder: name the file in it that is meant.")
        check_size(state.st_size, name, max_bytes)
        with place.open("rb") as stream:
            return _read_bounded(stream, name, max_bytes)
    except FileNotFoundError as error:
        hint = did_you_mean(place.name, _neighbours(place), "check the path.")
        raise FileNotFoundError(f"There is no file {name}: {hint}") from error
    except IsADirectoryError:
        raise
    except PermissionError as error:
        raise PermissionError(
            f"{name} may not be read by this user: change its permissions or copy it."
        ) from error
    except OSError as error:
        why = error.strerror or str(error)
        raise type(error)(f"{name} cannot be read ({why}): check the path.") from error


def _neighbours(place: Path) -> list[str]:
    try:
        return [entry.name for entry in place.parent.iterdir()]
    except OSError:
        return []


def _read_bounded(stream: IO[bytes], what: str, max_bytes: int) -> bytes:
    """Read to the end, and stop as soon as the bound is passed."""
    content = read_at_most(stream, max_bytes)
    check_size(len(content), what, max_bytes)
    return content


def check_size(n_bytes: int, what: str, max_bytes: int) -> None:
    """Raise if there are more bytes than the bound."""
    if n_bytes > max_bytes:
        raise ValueError(
            f"{what} is larger than {limit_of_bytes(max_bytes)}, the most that is read: "
            "take a part of the rows, or in Python raise max_bytes."
        )


def check_width(n_columns: int, name: str, limits: Limits) -> None:
    """Raise if there are more columns than the bound."""
    if n_columns > limits.max_columns:
        raise ValueError(
            f"{name} has {count_of(n_columns, 'column')}, more than {limits.max_columns}, the most "
            "that are read: keep those that matter, or in Python raise max_columns."
        )


def _opener(content: bytes) -> Callable[[IO[bytes]], Any] | None:
    """Return what decompresses a file, by its first bytes; None where it is not compressed.

    A zip archive is not among them: it may be a format of its own, as Excel and NumPy have.
    """
    openers: tuple[tuple[bytes, Callable[[IO[bytes]], Any]], ...] = (
        (b"\x1f\x8b", gzip.open),
        (b"BZh", bz2.open),
        (b"\xfd7zXZ\x00", lzma.open),
        (b"\x28\xb5\x2f\xfd", _open_zstd),
    )
    return next((opener for magic, opener in openers if content.startswith(magic)), None)


def _open_zstd(raw: IO[bytes]) -> Any:
    zstandard = importlib.import_module("zstandard")
    decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    return decompressor.stream_reader(raw, read_across_frames=True)


def _decompressed(raw: bytes, name: str, max_bytes: int) -> bytes | None:
    """Return the content of a compressed file; None where the file is not compressed."""
    opener = _opener(raw)
    what = f"{name}, once decompressed,"
    try:
        if opener is not None:
            with opener(io.BytesIO(raw)) as stream:
                return _read_bounded(stream, what, max_bytes)
        members = archive_members(raw)
        if members is None or _is_format(members):
            return None
        if "mercer.json" in members:
            raise ValueError(f"{name} is a model, not a table: name the file that has the rows.")
        if len(members) != 1:
            raise ValueError(
                f"{name} is an archive of {count_of(len(members), 'file')}"
                f"{' (' + listed(members) + ')' if members else ''}: it must hold exactly one."
            )
        with zipfile.ZipFile(io.BytesIO(raw)) as archive, archive.open(members[0]) as stream:
            return _read_bounded(stream, what, max_bytes)
    except (ValueError, MemoryError):
        raise
    except ImportError as error:
        raise MissingPackageError(
            f"{name} is compressed by zstd, which needs zstandard: "
            "pip install zstandard, or decompress the file."
        ) from error
    except Exception as error:  # Every library has its own errors for a damaged archive.
        if "encrypted" in str(error) or "password" in str(error):
            raise ValueError(f"{name} is locked by a password: unpack it and try again.") from error
        raise ValueError(
            f"{name} is a damaged or incomplete archive: fetch or compress it again."
        ) from error


def archive_members(content: bytes) -> list[str] | None:
    """Return the names of the files in a zip archive; None for anything else."""
    if not content.startswith(b"PK"):
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            raise
        return None  # This is text that happens to begin with PK.
    return [
        name
        for name in names
        if not name.endswith(("/", ".DS_Store")) and not name.startswith("__MACOSX/")
    ]


def check_unpacked(content: bytes, name: str, max_bytes: int) -> None:
    """Raise if the files of an archive are too large; zipfile reads no more than is declared."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        n_bytes = sum(member.file_size for member in archive.infolist())
        check_size(n_bytes, f"{name}, once decompressed,", max_bytes)


def _is_format(members: list[str]) -> bool:
    """Tell whether an archive is a table as it is: an Excel file or NumPy's .npz."""
    is_numpy = bool(members) and all(name.endswith(".npy") for name in members)
    return is_numpy or "xl/workbook.xml" in members
