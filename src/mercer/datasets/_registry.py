"""What is registered of every data set: ``registry.toml``, read once, and the way from a name."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from mercer._system.words import did_you_mean


@dataclass(frozen=True, kw_only=True)
class PackageFiles:
    """Text files inside an installed package: rows of numbers that end in a class label."""

    distribution: str  # the package as pip names it
    version: str  # whose files were compared
    files: tuple[str, ...]  # paths inside the installation, read one after the other
    skip: int  # leading columns that are not features (row names, speakers)
    labels: tuple[str, ...]  # in the files, in the order of the classes


@dataclass(frozen=True, kw_only=True)
class OpenMLTable:
    """A table on OpenML; rows with missing values are dropped."""

    data_id: int
    labels: tuple[str, ...]  # in the table, in the order of the classes


@dataclass(frozen=True, kw_only=True)
class DatasetInfo:
    """What is registered of one data set.

    Parameters
    ----------
    name, description : str
        The name that :func:`load_dataset` takes, and one line on what the rows are.
    rows, columns : int
        The shape of ``X``; the pixels of an image count as columns.
    target_names : tuple of str
        The names of the classes 0, 1, ….
    licence, source : str
        The terms under which the data may be used, and where this copy comes from.
    sha256 : str
        Checksum of the file ``name.npz``.
    content_sha256 : str
        Checksum of ``X`` and ``y`` themselves, which every way of loading must meet.
    aliases : tuple of str
        Other names for the same data.
    feature_names : tuple of str or None
        The names of the columns, where they are known.
    image_shape : tuple of int or None
        ``X.reshape(-1, *image_shape)`` gives the images back.
    n_train : int or None
        The data come with one split, and its training part is the first ``n_train`` rows.
    bundled : str or None
        The function of :mod:`sklearn.datasets` that returns the data.
    package : PackageFiles or None
        Where an installable package holds the data.
    openml : OpenMLTable or None
        Where OpenML holds the data.
    """

    name: str
    description: str
    rows: int
    columns: int
    target_names: tuple[str, ...]
    licence: str
    source: str
    sha256: str
    content_sha256: str
    aliases: tuple[str, ...] = ()
    feature_names: tuple[str, ...] | None = None
    image_shape: tuple[int, ...] | None = None
    n_train: int | None = None
    bundled: str | None = None
    package: PackageFiles | None = None
    openml: OpenMLTable | None = None

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.target_names)


class DatasetNotFoundError(LookupError):
    """The data set is not registered, or no copy of it can be reached from here."""


@cache
def registry() -> Mapping[str, DatasetInfo]:
    """Return every registered data set, by name in alphabetical order."""
    document = tomllib.loads(
        resources.files("mercer.datasets").joinpath("registry.toml").read_text(encoding="utf-8")
    )
    tables: dict[str, dict[str, Any]] = document["datasets"]
    return MappingProxyType({name: _entry(name, tables[name], document) for name in sorted(tables)})


def find_info(name: str) -> DatasetInfo:
    """Return the entry of ``name`` or of the data set that has it as an alias.

    Capitals do not matter, and a hyphen stands for an underscore.
    """
    asked = name.lower().replace("-", "_")
    names = {key: info for info in registry().values() for key in (info.name, *info.aliases)}
    if asked in names:
        return names[asked]
    hint = did_you_mean(asked, names, "see list_datasets().")
    raise DatasetNotFoundError(f"There is no data set named {name!r}: {hint}")


def _entry(name: str, table: dict[str, Any], document: dict[str, Any]) -> DatasetInfo:
    fields: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in table.items()
    }
    fields["licence"] = document["licences"][fields["licence"]]
    fields["rows"], fields["columns"] = fields.pop("shape")

    # A number of classes stands for the names "0", "1", ….
    classes = fields.pop("classes")
    names = tuple(map(str, range(classes))) if isinstance(classes, int) else classes
    fields["target_names"] = names

    if (package := fields.get("package")) is not None:
        shared = document["packages"][package["distribution"]]
        fields["package"] = PackageFiles(
            distribution=package["distribution"],
            version=shared["version"],
            files=tuple(f"{shared['folder']}/{file}" for file in package["files"]),
            skip=package.get("skip", 0),
            labels=tuple(package.get("labels", names)),
        )
    if (openml := fields.get("openml")) is not None:
        fields["openml"] = OpenMLTable(
            data_id=openml["id"], labels=tuple(openml.get("labels", names))
        )
    return DatasetInfo(name=name, **fields)
