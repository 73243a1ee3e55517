"""Nobody is asked for anything, unless it is a data set that is not there.

test_terminal.py watches the commands on tables.
"""

import warnings

import pytest

from mercer.cli import main
from mercer.datasets import DatasetNotFoundError, load_dataset
from mercer.datasets._registry import registry


def test_only_a_missing_data_set_is_fetched_and_only_if_allowed(asked, tmp_path, monkeypatch):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.delenv("MERCER_DATA", raising=False)
    info = next(one for one in registry().values() if one.openml and not one.bundled)
    monkeypatch.setattr("mercer.datasets._places.locate_in_package", lambda info: None)
    load_dataset("iris")
    assert main(["datasets"]) == 0
    with pytest.raises(DatasetNotFoundError):
        load_dataset(info.name, download_if_missing=False)
    assert asked == []
    monkeypatch.setattr("sklearn.datasets._openml.time.sleep", lambda seconds: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(DatasetNotFoundError):
            load_dataset(info.name)
    assert any("openml.org" in str(address) for address in asked)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "iris/../../x", "iris\0", ""])
def test_names_of_data_sets_are_no_paths(name, tmp_path):
    with pytest.raises(DatasetNotFoundError, match="There is no data set"):
        load_dataset(name, folder=tmp_path)
