"""The registry: ``registry.toml`` read once, and the way from a name to its entry."""

import difflib
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from mercer.datasets._info import DatasetInfo, OpenMLTable, PackageFiles

__all__ = ["DatasetNotFoundError", "find_info", "registry"]


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
    like = [key for key in names if asked and asked in key]
    like += [key for key in difflib.get_close_matches(asked, names, cutoff=0.7) if key not in like]
    hint = f"did you mean {' or '.join(map(repr, like))}?" if like else "see list_datasets()."
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
