"""A data set in memory: the arrays that were read, their checksum, and the form users get."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.datasets._registry import DatasetInfo

_BLOCK = 4096  # Rows are hashed by as many, so that images do not all become float64 at once.


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
    """Raise if arrays are not the registered ones; ``origin`` says where they came from."""
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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Dataset:
    """A data set in memory.

    Attributes
    ----------
    name : str
        The registered name.
    X : ndarray of shape (rows, columns)
        The features: float64, or float32 where the data are stored so.  An image is one
        row; ``X.reshape(-1, *image_shape)`` gives the images back.
    y : ndarray of shape (rows,)
        The classes, integers from 0.
    target_names : tuple of str
        The name of every class.
    feature_names : tuple of str or None
        The name of every column, where they are known.
    image_shape : tuple of int or None
        Height and width, if the rows are images.
    train_idx, test_idx : ndarray of shape (partitions, n) or None
        Row numbers of the training and test parts of the partitions that belong to the
        data; ``zip(train_idx, test_idx)`` is what scikit-learn takes as ``cv``.
    is_original : ndarray of shape (partitions,) or None
        Whether each partition is as its authors published it, or was drawn later with
        the same sizes because the published one is not in the folder of data sets.
    info : DatasetInfo
        The registry entry: description, licence, source, checksums.
    """

    name: str
    X: NDArray[np.floating[Any]]
    y: NDArray[np.int64]
    target_names: tuple[str, ...]
    feature_names: tuple[str, ...] | None
    image_shape: tuple[int, ...] | None
    train_idx: NDArray[np.intp] | None
    test_idx: NDArray[np.intp] | None
    is_original: NDArray[np.bool_] | None
    info: DatasetInfo

    def __repr__(self) -> str:
        rows, columns = self.X.shape
        text = f"{self.name}: {rows}×{columns}, {len(self.target_names)} classes"
        if self.train_idx is not None:
            count = len(self.train_idx)
            text += f", {count} partition{'s' if count > 1 else ''}"
        return f"<Dataset {text}>"


def build_dataset(info: DatasetInfo, arrays: Arrays) -> Dataset:
    """Bring verified arrays into the form that does not depend on where they came from."""
    X = arrays.X.reshape(len(arrays.X), -1)
    train_idx, test_idx, is_original = arrays.train_idx, arrays.test_idx, arrays.is_original
    if info.n_train is not None:
        order = np.arange(info.rows)[np.newaxis]
        train_idx, test_idx = order[:, : info.n_train], order[:, info.n_train :]
        is_original = np.array([True])
    return Dataset(
        name=info.name,
        X=np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64),
        y=arrays.y.astype(np.int64),
        target_names=info.target_names,
        feature_names=info.feature_names or arrays.feature_names,
        image_shape=info.image_shape,
        train_idx=None if train_idx is None else train_idx.astype(np.intp),
        test_idx=None if test_idx is None else test_idx.astype(np.intp),
        is_original=is_original,
        info=info,
    )
