"""A map of values as a small picture: a PNG with a palette, written by hand into the page."""

import struct
import zlib
from base64 import b64encode

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["picture"]

# Colours that show on white and on black; the page behind shines through.
_SHADE = (42, 111, 176)
_CLASSES = (
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (170, 68, 153),
    (194, 142, 0),
    (63, 160, 216),
    (136, 34, 85),
    (120, 120, 120),
    (106, 61, 154),
    (166, 118, 29),
)
_CLASS_ALPHA = 76
_LEVELS = 255  # of shade; the last entry of the palette is for gaps
_GAP = 255


def picture(z: ArrayLike, scale: str) -> str:
    """Return a data URI of a map, its first row lowest.

    "shade" goes from clear at the least value to full colour at the greatest; "classes" gives
    0, 1, … the colours of classes, paler.  Gaps are clear.
    """
    values = np.asarray(z, dtype=np.float64)[::-1]
    known = np.isfinite(values)
    indices = np.full(values.shape, _GAP, dtype=np.uint8)
    if scale == "classes":
        indices[known] = values[known].astype(np.int64) % len(_CLASSES)
        colours, alphas = np.array(_CLASSES), np.full(len(_CLASSES), _CLASS_ALPHA)
    else:
        low, high = (values[known].min(), values[known].max()) if known.any() else (0.0, 1.0)
        part = (values[known] - low) / (high - low) if high > low else np.zeros(known.sum())
        indices[known] = np.rint(part * (_LEVELS - 1))
        colours = np.tile(_SHADE, (_LEVELS, 1))
        alphas = np.rint(np.linspace(0, 235, _LEVELS))
    palette = np.zeros((256, 3), dtype=np.uint8)
    opacity = np.zeros(256, dtype=np.uint8)
    palette[: len(colours)], opacity[: len(alphas)] = colours, alphas
    return "data:image/png;base64," + b64encode(_png(indices, palette, opacity)).decode("ascii")


def _png(
    indices: NDArray[np.uint8], palette: NDArray[np.uint8], opacity: NDArray[np.uint8]
) -> bytes:
    """Write a picture of palette indices: header, palette, transparency, rows, end."""
    height, width = indices.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    rows = np.hstack([np.zeros((height, 1), dtype=np.uint8), indices])  # each row: filter 0
    chunks = (
        (b"IHDR", header),
        (b"PLTE", palette.tobytes()),
        (b"tRNS", opacity.tobytes()),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
