"""A data set in memory: arrays ready for an estimator, and what they are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.datasets._arrays import Arrays
from mercer.datasets._info import DatasetInfo

__all__ = ["Dataset", "build_dataset"]


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
        the same sizes because the published one is lost.
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
