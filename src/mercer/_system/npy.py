"""NumPy arrays from anywhere: what a header promises is checked before anything is allocated."""

import io
import zipfile
from collections.abc import Collection
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray


def read_arrays(content: bytes, names: Collection[str]) -> dict[str, NDArray[Any]]:
    """Return those of the named arrays that an ``.npz`` archive has; nothing is unpickled.

    The words of the ValueError, if it is damaged or an array is not plain, go into brackets.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.infolist():
                if member.filename.removesuffix(".npy") in names:
                    with archive.open(member) as stream:
                        _check_stream(stream, member.file_size)
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in names if name in arrays}
    except MemoryError:
        raise
    except Exception as error:  # Every kind of damage has an error of its own.
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(why.rstrip(".")) from error


def check_array(content: bytes) -> None:
    """Raise ValueError if bytes are not a plain array, or hold less than their header promises."""
    _check_stream(io.BytesIO(content), len(content))


def _check_stream(stream: IO[bytes], n_bytes: int) -> None:
    """Do the same for a stream of ``n_bytes``, of which only the header is read."""
    try:
        version = np.lib.format.read_magic(stream)
        read: Any = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, _, dtype = read(stream)
        size = dtype.itemsize
        for length in shape:
            size *= int(length)
    except Exception as error:  # a header may be wrong in more ways than NumPy has names for
        raise ValueError("the header of an array cannot be read") from error
    if dtype.hasobject:
        raise ValueError("an array holds objects, which could run anything")
    if not 0 <= size <= n_bytes or (not dtype.itemsize and max(shape, default=0) > n_bytes):
        raise ValueError("the header of an array promises more than there is")
