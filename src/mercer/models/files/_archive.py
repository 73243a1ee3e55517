"""A zip archive from anywhere → its members, checked; and members → a file, whole or not at all."""

import hashlib
import io
import json
import lzma
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mercer._system.files import read_at_most, sweep, written_whole

__all__ = [
    "CARD",
    "SCHEMA",
    "digest",
    "parse",
    "read_members",
    "shown",
    "write_whole",
]

CARD, SCHEMA = "mercer.json", "schema.json"
_MOST_MEMBERS = 100_000
_MAX_JSON = 1 << 27  # parsed, JSON takes some ten times its length
# What zipfile and its decompressors raise: RuntimeError of what says that it is encrypted,
# NotImplementedError of a later version, OSError and LZMAError of what says bzip2 or xz and is not.
_BROKEN = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError,
    NotImplementedError, ValueError,
)  # fmt: skip


def shown(path: str | os.PathLike[str]) -> str:
    """Return a path as sentences show it."""
    text = os.fspath(path)
    return text if text.isprintable() and text.strip() else repr(text)


def digest(content: bytes) -> str:
    """Return the SHA-256 digest in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def read_members(path: str | os.PathLike[str], max_bytes: int) -> dict[str, bytes]:
    """Return the members of a model file by name, never more than a bound together."""
    content = _read_file(path, max_bytes)
    if content.startswith(b"\x80"):
        raise ValueError(
            f"File {shown(path)} is a pickle, which could run anything and is never opened: fit "
            "the model again by mercer fit."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = archive.infolist()
            _check_size(path, infos, max_bytes)
            members = {info.filename: archive.read(info) for info in infos}
    except _BROKEN as error:
        if isinstance(error, _TooLargeError):
            raise
        is_zip = content.startswith(b"PK")
        what = "is damaged" if is_zip else "is no model file"
        remedy = "copy it again, or fit the model again" if is_zip else "mercer fit writes them"
        raise ValueError(f"File {shown(path)} {what} ({_first_line(error)}): {remedy}.") from error
    if len(members) < len(infos):
        raise ValueError(
            f"File {shown(path)} has two members of one name, which no model file has: it is "
            "refused."
        )
    for name in (SCHEMA, CARD):
        if name not in members:
            what = "was saved by skops, but not by Mercer" if name == CARD else "is no model file"
            raise ValueError(f"File {shown(path)} {what} (no {name}): mercer fit writes them.")
    return members


class _TooLargeError(ValueError):
    """More bytes than the bound."""


def _check_size(path: str | os.PathLike[str], infos: list[zipfile.ZipInfo], max_bytes: int) -> None:
    is_long = any(info.file_size > _MAX_JSON for info in infos if info.filename.endswith(".json"))
    if is_long or sum(info.file_size for info in infos) > max_bytes or len(infos) > _MOST_MEMBERS:
        raise _TooLargeError(
            f"File {shown(path)} unpacks to more than {max_bytes >> 20} MiB, the most that is "
            "read: it is refused."
        )


def _read_file(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    place = Path(os.path.expanduser(path))
    name = shown(path)
    try:
        if place.is_dir():
            raise IsADirectoryError(f"{name} is a folder: name the model file in it.")
        with place.open("rb") as stream:
            content = read_at_most(stream, max_bytes)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"There is no file {name}: mercer fit writes models.") from error
    except IsADirectoryError:
        raise
    except OSError as error:
        why = error.strerror or str(error)
        raise type(error)(f"File {name} cannot be read ({why}): check it.") from error
    if len(content) > max_bytes:
        raise ValueError(
            f"File {name} is larger than {max_bytes >> 20} MiB, the most that is read: it is "
            "refused."
        )
    if not content:
        raise ValueError(f"File {name} is empty: fit the model again by mercer fit.")
    return content


def write_whole(path: str | os.PathLike[str], members: Mapping[str, bytes]) -> None:
    """Write an archive beside its place and move it there when it is complete."""
    place = Path(os.path.realpath(os.path.expanduser(path)))
    if place.exists() and not place.is_file():
        raise IsADirectoryError(f"{shown(path)} is not a plain file: choose another name.")
    sweep(place.parent, place.name)
    with (
        written_whole(place, f"File {shown(path)}") as beside,
        zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as archive,
    ):
        for name, content in members.items():
            archive.writestr(name, content)


def parse(content: bytes) -> Any:
    """Read JSON; whatever is wrong with it is a ValueError."""
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("its JSON is nested too deeply") from error


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
