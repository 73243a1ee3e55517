"""``list_datasets``: the registry as a table, with where each entry would come from now."""

import os
from typing import TYPE_CHECKING

from mercer.datasets._folder import data_folder
from mercer.datasets._load import locate
from mercer.datasets._registry import registry

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["list_datasets"]


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
