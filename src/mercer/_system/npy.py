"""What the header of a NumPy array promises, looked at before anything is allocated for it."""

import io
from typing import IO, Any

import numpy as np

__all__ = ["check_array", "check_stream"]


def check_array(content: bytes) -> None:
    """Refuse bytes that are no plain array, or hold less than their header promises.

    Raises
    ------
    ValueError
    """
    check_stream(io.BytesIO(content), len(content))


def check_stream(stream: IO[bytes], n_bytes: int) -> None:
    """Do the same for a stream of so many bytes, of which only the header is read."""
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
