"""Tables of OpenML: fetched once, verified, and kept under scikit-learn's data folder."""

import os
import warnings
from http.client import HTTPException
from pathlib import Path

import numpy as np

from mercer._system.files import make_folder, sweep, written_whole
from mercer.datasets._arrays import Arrays, check_content, encode_labels
from mercer.datasets._folder import read_npz
from mercer.datasets._info import DatasetInfo, OpenMLTable
from mercer.datasets._location import Location

__all__ = ["locate_on_openml"]


def locate_on_openml(info: DatasetInfo) -> Location | None:
    """Find the copy kept by an earlier call, or the table to fetch."""
    if (table := info.openml) is None:
        return None
    kept = _cache_file(info.name)
    if kept is not None and kept.exists():
        return Location(
            where="OpenML (cached)",
            origin=f"File {kept} (kept from OpenML; delete it to fetch it again)",
            read=lambda: read_npz(kept, sha256=None),
        )
    origin = f"OpenML's table {table.data_id}"

    def fetch_and_keep() -> Arrays:
        arrays = _fetch(table, origin)
        check_content(info, arrays, origin)  # only verified data are kept
        if kept is not None:
            _keep(kept, arrays)
        return arrays

    return Location(
        where="OpenML (needs network)", origin=origin, read=fetch_and_keep, needs_network=True
    )


def _cache_file(name: str) -> Path | None:
    """Return where a table is kept: the place of get_data_home(), without creating it.

    None for a user without a home.
    """
    home = os.path.expanduser(os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data"))
    return None if home.startswith("~") else Path(home) / "mercer" / f"{name}.npz"


def _fetch(table: OpenMLTable, origin: str) -> Arrays:
    from sklearn.datasets import fetch_openml

    try:
        # liac-arff reads decimals exactly; pandas' fast parser may miss the last bit.
        fetched = fetch_openml(
            data_id=table.data_id, as_frame=True, parser="liac-arff", cache=False
        )
    except (OSError, HTTPException, ValueError) as error:
        raise ConnectionError(f"{origin} could not be fetched ({error})") from error
    try:
        X = fetched.data.astype(np.float64).to_numpy()
    except ValueError as error:
        raise ValueError(f"{origin} is not numeric: {error}.") from error
    complete = ~np.isnan(X).any(axis=1)
    labels = fetched.target[complete].astype(str)
    return Arrays(X=X[complete], y=encode_labels(labels, table.labels, origin))


def _keep(path: Path, arrays: Arrays) -> None:
    """Write the file in one step, so that no reader meets half of it; if not, warn."""
    try:
        make_folder(path.parent)
        sweep(path.parent, path.name)
        with written_whole(path) as beside, beside.open("wb") as stream:
            np.savez_compressed(stream, X=arrays.X, y=arrays.y)
    except OSError as error:
        warnings.warn(f"Fetched, but not kept for the next time: {error}", stacklevel=2)
