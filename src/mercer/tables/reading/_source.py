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
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
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
    check_once(content, name)
    return content


def check_once(content: bytes, name: str) -> None:
    """Raise if what was decompressed is compressed still."""
    if _opener(content) is not None:
        raise ValueError(f"{name} is compressed twice: decompress it once and try again.")


def _read_raw(path: str | os.PathLike[str], name: str, max_bytes: int) -> bytes:
    if os.fspath(path) == "-":
        return _read_bounded(sys.stdin.buffer, "standard input", max_bytes)
    with opened_file(path, name) as stream, _readable(path, name):
        check_size(os.fstat(stream.fileno()).st_size, name, max_bytes)
        return _read_bounded(stream, name, max_bytes)


@contextmanager
def opened_file(path: str | os.PathLike[str], name: str) -> Iterator[IO[bytes]]:
    """Open a file; an error says in one sentence why it cannot be read."""
    place = Path(os.path.expanduser(path))
    with _readable(path, name):
        if stat.S_ISDIR(place.stat().st_mode):
            raise IsADirectoryError(f"{name} is a folder: name the file in it that is meant.")
        stream = place.open("rb")
    with stream:
        yield stream


@contextmanager
def _readable(path: str | os.PathLike[str], name: str) -> Iterator[None]:
    """Say in one sentence why a file cannot be read."""
    place = Path(os.path.expanduser(path))
    try:
        yield
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
    with errors_of_archives(name), ExitStack() as stack:
        stream = decompressing(io.BytesIO(raw), name, stack)
        if stream is None:
            return None
        return _read_bounded(stream, f"{name}, once decompressed,", max_bytes)


def decompressing(raw: IO[bytes], name: str, stack: ExitStack) -> IO[bytes] | None:
    """Return a stream of what is compressed in another; None where nothing is."""
    head = raw.read(8)
    raw.seek(0)
    opener = _opener(head)
    if opener is not None:
        opened: IO[bytes] = stack.enter_context(opener(raw))
        return opened
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
    archive = stack.enter_context(zipfile.ZipFile(raw))
    return stack.enter_context(archive.open(members[0]))


@contextmanager
def errors_of_archives(name: str) -> Iterator[None]:
    """Say in one sentence what is wrong with a compressed file."""
    try:
        yield
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


def archive_members(content: bytes | IO[bytes]) -> list[str] | None:
    """Return the names of the files in a zip archive; None for anything else."""
    stream = io.BytesIO(content) if isinstance(content, bytes) else content
    head = stream.read(4)
    stream.seek(0)
    if not head.startswith(b"PK"):
        return None
    try:
        with zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        if head in (b"PK\x03\x04", b"PK\x05\x06"):
            raise
        stream.seek(0)
        return None  # This is text that happens to begin with PK.
    stream.seek(0)
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
