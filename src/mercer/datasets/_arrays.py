"""What every way of loading hands over, and the checksum it must meet."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.datasets._info import DatasetInfo

__all__ = ["Arrays", "check_content", "content_sha256", "encode_labels"]

_BLOCK = 4096  # rows hashed at a time, so that images are not widened to float64 all at once


@dataclass(frozen=True, eq=False)
class Arrays:
    """Data as they were read: any numeric type, images not yet flattened."""

    X: NDArray[Any]
    y: NDArray[np.integer[Any]]
    train_idx: NDArray[np.integer[Any]] | None = None
    test_idx: NDArray[np.integer[Any]] | None = None
    is_original: NDArray[np.bool_] | None = None
    feature_names: tuple[str, ...] | None = None


def content_sha256(X: NDArray[Any], y: NDArray[Any]) -> str:
    """Return the checksum of the values themselves, in row order.

    It does not depend on the numeric type, the memory order, the sign of a zero or
    the shape of an image: X is hashed as n rows of little-endian float64, y as int64.
    """
    rows = X.reshape(len(X), -1)
    digest = hashlib.sha256(f"{rows.shape} {y.shape}".encode())
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK].astype("<f8") + 0.0  # -0.0 becomes 0.0
        digest.update(block.tobytes())
    digest.update(y.astype("<i8").tobytes())
    return digest.hexdigest()


def check_content(info: DatasetInfo, arrays: Arrays, origin: str) -> None:
    """Refuse arrays that are not the registered ones; ``origin`` says where they came from."""
    found = content_sha256(arrays.X, arrays.y)
    if found != info.content_sha256:
        raise ValueError(
            f"{origin} does not hold the registered data set {info.name!r}: values, labels or "
            f"the order of the rows differ (content sha256 {found}, not {info.content_sha256})."
        )


def encode_labels(found: Iterable[str], labels: tuple[str, ...], origin: str) -> NDArray[np.int64]:
    """Return the position of every label found among the registered ``labels``."""
    positions = {label: position for position, label in enumerate(labels)}
    try:
        return np.array([positions[label] for label in found], dtype=np.int64)
    except KeyError as error:
        raise ValueError(
            f"{origin} has a class {error}, where {', '.join(map(repr, labels))} are registered."
        ) from error
