"""A zip archive from anywhere → its members, checked; and members → a file, written in one step."""

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

from mercer._system.files import read_at_most, shown_path, sweep, written_whole
from mercer._system.words import limit_of_bytes

CARD, SCHEMA = "mercer.json", "schema.json"
_MOST_MEMBERS = 100_000
_MAX_JSON = 1 << 27  # Parsed, JSON takes some ten times as many bytes.
# What zipfile and its decompressors raise.  A file that says that it is encrypted raises
# RuntimeError; of a later version, NotImplementedError; of a compression that it does not have,
# OSError or LZMAError.
_BROKEN = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError,
    NotImplementedError, ValueError,
)  # fmt: skip


def digest(content: bytes) -> str:
    """Return the SHA-256 digest in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def read_members(path: str | os.PathLike[str], max_bytes: int) -> dict[str, bytes]:
    """Return the members of a model file by name, never more than a bound together."""
    file = f"File {shown_path(path)}"
    content = _read_file(path, max_bytes)
    if content.startswith(b"\x80"):
        raise ValueError(
            f"{file} is a pickle, which could run anything and is never opened: fit the model "
            "again by mercer fit."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = archive.infolist()
            is_small = _is_within(infos, max_bytes)
            members = {info.filename: archive.read(info) for info in infos if is_small}
    except _BROKEN as error:
        is_zip = content.startswith(b"PK")
        what = "is damaged" if is_zip else "is not a model file"
        remedy = "copy it again, or fit the model again" if is_zip else "mercer fit writes them"
        why = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ValueError(f"{file} {what} ({why}): {remedy}.") from error
    if not is_small:
        raise ValueError(
            f"{file} unpacks to more than {limit_of_bytes(max_bytes)}, the most that is read: "
            "it is refused."
        )
    if len(members) < len(infos):
        raise ValueError(
            f"{file} has two members of one name, which no model file has: it is refused."
        )
    for name, what in (
        (SCHEMA, "is not a model file"),
        (CARD, "was saved by skops, but not by Mercer"),
    ):
        if name not in members:
            raise ValueError(f"{file} {what} (no {name}): mercer fit writes them.")
    return members


def _is_within(infos: list[zipfile.ZipInfo], max_bytes: int) -> bool:
    """Tell whether an archive is small enough to be unpacked."""
    jsons = [info.file_size for info in infos if info.filename.endswith(".json")]
    return (
        max(jsons, default=0) <= _MAX_JSON
        and sum(info.file_size for info in infos) <= max_bytes
        and len(infos) <= _MOST_MEMBERS
    )


def _read_file(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    place = Path(os.path.expanduser(path))
    name = shown_path(path)
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
            f"File {name} is larger than {limit_of_bytes(max_bytes)}, the most that is read: "
            "it is refused."
        )
    if not content:
        raise ValueError(f"File {name} is empty: fit the model again by mercer fit.")
    return content


def write_whole(path: str | os.PathLike[str], members: Mapping[str, bytes]) -> None:
    """Write an archive beside its place and move it there when it is complete."""
    place = Path(os.path.realpath(os.path.expanduser(path)))
    if place.exists() and not place.is_file():
        raise IsADirectoryError(f"{shown_path(path)} is not a plain file: choose another name.")
    sweep(place.parent, place.name)
    with (
        written_whole(place, f"File {shown_path(path)}") as beside,
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
