"""The data sets that come with scikit-learn: always there."""

from importlib import import_module

from mercer.datasets._arrays import Arrays
from mercer.datasets._info import DatasetInfo
from mercer.datasets._location import Location

__all__ = ["locate_bundled"]


def locate_bundled(info: DatasetInfo) -> Location | None:
    """Find the scikit-learn function that returns the data."""
    if (function := info.bundled) is None:
        return None
    return Location(
        where="scikit-learn",
        origin=f"sklearn.datasets.{function}()",
        read=lambda: _read(function),
    )


def _read(function: str) -> Arrays:
    bunch = getattr(import_module("sklearn.datasets"), function)()
    return Arrays(X=bunch.data, y=bunch.target, feature_names=tuple(map(str, bunch.feature_names)))
