"""Data inside installed packages, read as text: the package itself is never imported."""

from importlib import metadata
from pathlib import Path

import numpy as np

from mercer.datasets._arrays import Arrays, encode_labels
from mercer.datasets._info import DatasetInfo, PackageFiles
from mercer.datasets._location import Location

__all__ = ["locate_in_package"]


def locate_in_package(info: DatasetInfo) -> Location | None:
    """Find the files of the data set in its package, if that is installed."""
    if (package := info.package) is None:
        return None
    try:
        installed = metadata.distribution(package.distribution)
    except metadata.PackageNotFoundError:
        return None
    paths = [Path(str(installed.locate_file(file))) for file in package.files]
    if not all(path.is_file() for path in paths):
        return None
    origin = f"Package {package.distribution} {installed.version}"
    return Location(
        where=f"package {package.distribution}",
        origin=origin,
        read=lambda: _read(package, paths, origin),
    )


def _read(package: PackageFiles, paths: list[Path], origin: str) -> Arrays:
    """Read comma- or space-separated rows; lines that begin with @ describe the columns."""
    lines = (line for path in paths for line in path.read_text(encoding="utf-8").splitlines())
    rows = [line.replace(",", " ").split() for line in lines if not line.startswith("@")]
    rows = [row for row in rows if row]
    try:
        X = np.array([row[package.skip : -1] for row in rows], dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"{origin} has a table that is not numeric: {error}.") from error
    return Arrays(X=X, y=encode_labels((row[-1] for row in rows), package.labels, origin))
