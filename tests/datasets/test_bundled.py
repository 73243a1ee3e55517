from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets

from mercer.datasets import load_dataset
from mercer.datasets._registry import registry


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("iris", sklearn.datasets.load_iris),
        ("wine", sklearn.datasets.load_wine),
        ("wdbc", sklearn.datasets.load_breast_cancer),
        ("digits8x8", sklearn.datasets.load_digits),
    ],
)
def test_bundled_set_equals_scikit_learns(name: str, function: object) -> None:
    bunch, dataset = function(), load_dataset(name)
    assert dataset.name == name
    np.testing.assert_array_equal(dataset.X, bunch.data)
    np.testing.assert_array_equal(dataset.y, bunch.target)
    assert list(dataset.target_names) == [str(label) for label in bunch.target_names]
    assert list(dataset.feature_names) == list(bunch.feature_names)
    assert dataset.train_idx is dataset.test_idx is dataset.is_original is None


def test_arrays_alone_are_those_of_the_dataset() -> None:
    X, y = load_dataset("iris", return_X_y=True)
    iris = load_dataset("iris")
    np.testing.assert_array_equal(X, iris.X)
    np.testing.assert_array_equal(y, iris.y)


def test_two_loads_share_no_memory() -> None:
    load_dataset("iris").X[:] = np.nan
    assert np.isfinite(load_dataset("iris").X).all()


def test_bundled_set_does_not_need_a_sound_mercer_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MERCER_DATA", str(tmp_path / "gone"))
    assert load_dataset("iris").X.shape == (150, 4)


def test_bundled_set_of_other_contents_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bunch = sklearn.datasets.load_iris()
    bunch.data[34, 3] = 0.1  # a known misprint of other copies
    monkeypatch.setattr(sklearn.datasets, "load_iris", lambda: bunch)
    with pytest.raises(ValueError, match=r"^sklearn\.datasets\.load_iris\(\) does not hold"):
        load_dataset("iris")


def test_every_bundled_function_is_covered_here() -> None:
    assert {info.name for info in registry().values() if info.bundled} == {
        "iris",
        "wine",
        "wdbc",
        "digits8x8",
    }
