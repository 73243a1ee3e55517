from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from mercer.datasets import DatasetInfo, load_dataset
from mercer.datasets._dataset import check_content
from mercer.datasets._places import locate_in_package
from mercer.datasets._registry import PackageFiles, registry

PACKAGED = [info for info in registry().values() if info.package is not None]
COMMAS = """@relation made
@attribute first real [0, 7]
@data
0.5, -1.0, one
1.25, 2, two

0, 3, three
7, 7.75, three
0.125, 1, two
2.0, 2, one
"""
SPACES = [
    "p1  0.50 -1 one\np2 1.25 2 two\np3 0 3 three\n",
    "q1 7 7.75 three\r\nq2 .125 1 two\r\nq3 2 2 one",
]


@pytest.fixture
def install(
    info: DatasetInfo,
    register: Callable[[DatasetInfo], DatasetInfo],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Callable[..., DatasetInfo]:
    """Install a package with these texts; importing it would fail the test."""

    def write(*texts: str, skip: int = 0) -> DatasetInfo:
        files = tuple(f"made_data/tables/{number}.dat" for number in range(len(texts)))
        site = tmp_path / "site"
        (site / "made_data" / "tables").mkdir(parents=True)
        (site / "made_data" / "__init__.py").write_text("raise AssertionError('imported')")
        (site / "made_data-2.5.dist-info").mkdir()
        (site / "made_data-2.5.dist-info" / "METADATA").write_text("Name: made-data\nVersion: 2.5")
        for file, text in zip(files, texts, strict=True):
            (site / file).write_text(text, newline="")
        monkeypatch.syspath_prepend(site)
        package = PackageFiles(
            distribution="made-data",
            version="2.5",
            files=files,
            skip=skip,
            labels=("one", "two", "three"),
        )
        return register(replace(info, package=package))

    return write


def test_table_with_commas_and_a_header_is_read(
    install: Callable[..., DatasetInfo], arrays: dict[str, np.ndarray]
) -> None:
    install(COMMAS)
    dataset = load_dataset("made")
    np.testing.assert_array_equal(dataset.X, arrays["X"])
    np.testing.assert_array_equal(dataset.y, arrays["y"])
    assert dataset.target_names == ("a", "b", "c")


def test_tables_with_spaces_and_row_names_are_joined(
    install: Callable[..., DatasetInfo], arrays: dict[str, np.ndarray]
) -> None:
    install(*SPACES, skip=1)
    np.testing.assert_array_equal(load_dataset("made").X, arrays["X"])


def test_other_row_order_is_refused_and_the_package_named(
    install: Callable[..., DatasetInfo],
) -> None:
    install(*SPACES[::-1], skip=1)
    with pytest.raises(ValueError, match=r"^Package made-data 2\.5 does not hold .* the order of"):
        load_dataset("made")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (COMMAS.replace("7.75", "much"), "has a table that is not numeric: .*'much'"),
        (COMMAS.replace("7.75,", ""), "has a table that is not numeric: .*inhomogeneous"),
        (COMMAS.replace("three", "four"), "has a class 'four', where 'one', 'two', 'three' are"),
    ],
)
def test_unreadable_table_is_named(
    text: str, message: str, install: Callable[..., DatasetInfo]
) -> None:
    install(text)
    with pytest.raises(ValueError, match=rf"^Package made-data 2\.5 {message}"):
        load_dataset("made")


def test_package_without_the_file_does_not_count(
    install: Callable[..., DatasetInfo], tmp_path: Path
) -> None:
    info = install(COMMAS)
    assert locate_in_package(info) is not None
    (tmp_path / "site" / info.package.files[0]).unlink()
    assert locate_in_package(info) is None


@pytest.mark.parametrize("info", PACKAGED, ids=[info.name for info in PACKAGED])
def test_real_package_holds_the_registered_contents(info: DatasetInfo) -> None:
    try:
        metadata.distribution(info.package.distribution)
    except metadata.PackageNotFoundError:
        pytest.skip(f"the package {info.package.distribution} is not installed")
    place = locate_in_package(info)
    assert place is not None
    check_content(info, place.read(), place.origin)
