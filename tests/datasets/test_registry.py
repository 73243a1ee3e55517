import math
import re

import pytest

from mercer.datasets import DatasetInfo, DatasetNotFoundError, load_dataset
from mercer.datasets._registry import find_info, registry

ENTRIES = pytest.mark.parametrize("info", registry().values(), ids=list(registry()))


@ENTRIES
def test_entry_agrees_with_itself(info: DatasetInfo) -> None:
    assert re.fullmatch("[a-z0-9_]+", info.name)
    assert re.fullmatch("[0-9a-f]{64}", info.sha256)
    assert re.fullmatch("[0-9a-f]{64}", info.content_sha256)
    assert info.description.endswith(".")
    assert len(set(info.target_names)) == info.n_classes >= 2
    if info.feature_names is not None:
        assert len(set(info.feature_names)) == info.columns
    if info.image_shape is not None:
        assert math.prod(info.image_shape) == info.columns
    if info.n_train is not None:
        assert 0 < info.n_train < info.rows
    for table in (info.package, info.openml):
        if table is not None:
            assert len(set(table.labels)) == info.n_classes


def test_no_two_entries_share_a_name_or_a_checksum() -> None:
    infos = registry().values()
    names = [name for info in infos for name in (info.name, *info.aliases)]
    assert len(set(names)) == len(names)
    assert len({info.sha256 for info in infos}) == len(infos)
    assert len({info.content_sha256 for info in infos}) == len(infos)


@pytest.mark.parametrize(
    ("asked", "name"),
    [("diabetes", "pima"), ("digits", "digits8x8"), ("Iris", "iris"), ("ida-banana", "ida_banana")],
)
def test_name_is_found_by_alias_capitals_and_hyphens(asked: str, name: str) -> None:
    assert find_info(asked).name == name


@pytest.mark.parametrize(
    ("asked", "suggested"),
    [
        ("mnits", ["mnist"]),
        ("german", ["german_numeric", "ida_german"]),  # two papers, two data sets
        ("thyroid", ["ida_thyroid", "newthyroid"]),
        ("breast_cancer", ["ida_breast_cancer", "breast_cancer_wisconsin_diagnostic"]),
    ],
)
def test_unknown_name_suggests_the_alike(asked: str, suggested: list[str]) -> None:
    with pytest.raises(DatasetNotFoundError, match="did you mean") as caught:
        load_dataset(asked)
    for name in [asked, *suggested]:
        assert repr(name) in str(caught.value)


@pytest.mark.parametrize("asked", ["xyzzy", ""])
def test_unknown_name_unlike_any_points_to_the_list(asked: str) -> None:
    with pytest.raises(DatasetNotFoundError, match=r"see list_datasets\(\)"):
        load_dataset(asked)
