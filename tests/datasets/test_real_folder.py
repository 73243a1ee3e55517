"""Every registered data set, read from the folder that MERCER_DATA names."""

import os
from pathlib import Path

import numpy as np
import pytest

from mercer.datasets import DatasetInfo, list_datasets, load_dataset
from mercer.datasets._dataset import build_dataset, check_content
from mercer.datasets._places import read_npz
from mercer.datasets._registry import registry

pytestmark = pytest.mark.data


@pytest.mark.parametrize("info", registry().values(), ids=list(registry()))
def test_file_is_the_registered_one(info: DatasetInfo) -> None:
    path = Path(os.environ["MERCER_DATA"]) / f"{info.name}.npz"
    arrays = read_npz(path, sha256=info.sha256)
    check_content(info, arrays, str(path))
    dataset = build_dataset(info, arrays)

    assert dataset.X.shape == (info.rows, info.columns)
    assert np.isfinite(dataset.X).all()
    assert np.unique(dataset.y).tolist() == list(range(info.n_classes))
    if info.n_train is not None:
        np.testing.assert_array_equal(dataset.train_idx, arrays.train_idx)
        np.testing.assert_array_equal(dataset.test_idx, arrays.test_idx)
    if dataset.train_idx is not None:
        both = np.hstack([dataset.train_idx, dataset.test_idx])
        assert (np.sort(both, axis=1) == np.arange(info.rows)).all()
        assert dataset.is_original.shape == (len(both),)


def test_load_dataset_finds_them_all() -> None:
    table = list_datasets()
    assert set(table["where"]) == {"folder", "scikit-learn"}
    for name, rows, columns, classes in table.iloc[:, :4].itertuples(index=False):
        dataset = load_dataset(name)
        assert (dataset.name, *dataset.X.shape) == (name, rows, columns)
        assert len(dataset.target_names) == classes


def test_no_file_is_left_unregistered() -> None:
    files = {path.stem for path in Path(os.environ["MERCER_DATA"]).glob("*.npz")}
    assert files <= set(registry())
