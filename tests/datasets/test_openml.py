from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from mercer.datasets import DatasetInfo, DatasetNotFoundError, list_datasets, load_dataset
from mercer.datasets._places import _cache_file
from mercer.datasets._registry import OpenMLTable

Serve = Callable[[pd.DataFrame | Exception], list[dict[str, Any]]]


@pytest.fixture
def frame(arrays: dict[str, np.ndarray]) -> pd.DataFrame:
    """What OpenML would give: a nominal column of numbers, other labels, a missing value."""
    names = np.array(["A", "B", "C"])[arrays["y"]]
    frame = pd.DataFrame({"V1": arrays["X"][:, 0], "V2": arrays["X"][:, 1], "class": names})
    frame.loc[len(frame)] = [np.nan, 1.0, "A"]
    frame["V2"] = frame["V2"].astype(str).astype("category")
    frame["class"] = frame["class"].astype("category")
    return frame


@pytest.fixture
def serve(
    info: DatasetInfo,
    register: Callable[[DatasetInfo], DatasetInfo],
    monkeypatch: pytest.MonkeyPatch,
) -> Serve:
    """A stand-in for OpenML that answers with a table or an error and notes every call."""
    register(replace(info, openml=OpenMLTable(data_id=77, labels=("A", "B", "C"))))

    def answer_with(answer: pd.DataFrame | Exception) -> list[dict[str, Any]]:
        calls = []

        def fetch_openml(**options: Any) -> Bunch:
            calls.append(options)
            if isinstance(answer, Exception):
                raise answer
            return Bunch(data=answer[["V1", "V2"]], target=answer["class"])

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
        return calls

    return answer_with


def where() -> str:
    return list_datasets()["where"].item()


def test_table_is_fetched_once_and_then_kept(
    serve: Serve, frame: pd.DataFrame, arrays: dict[str, np.ndarray]
) -> None:
    calls = serve(frame)
    assert where() == "OpenML (needs network)"
    assert not calls
    for _ in range(2):
        dataset = load_dataset("made")
        np.testing.assert_array_equal(dataset.X, arrays["X"])
        np.testing.assert_array_equal(dataset.y, arrays["y"])
    assert [call["data_id"] for call in calls] == [77]
    assert where() == "OpenML (cached)"
    assert load_dataset("made", download_if_missing=False).X.shape == (6, 2)


def test_kept_file_is_alone_under_scikit_learns_data_home(
    serve: Serve, frame: pd.DataFrame
) -> None:
    serve(frame)
    load_dataset("made")
    home = Path(sklearn.datasets.get_data_home())
    assert [path for path in home.rglob("*") if path.is_file()] == [home / "mercer" / "made.npz"]


@pytest.mark.parametrize("setting", ["~/elsewhere", None])
def test_cache_folder_follows_get_data_home(
    setting: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    if setting is None:
        monkeypatch.delenv("SCIKIT_LEARN_DATA")
    else:
        monkeypatch.setenv("SCIKIT_LEARN_DATA", setting)
    kept = _cache_file("made")
    assert not any(tmp_path.iterdir())  # looking does not create folders
    assert kept.parent == Path(sklearn.datasets.get_data_home()) / "mercer"


def test_other_row_order_is_refused_and_not_kept(serve: Serve, frame: pd.DataFrame) -> None:
    serve(frame[::-1])
    with pytest.raises(ValueError, match=r"^OpenML's table 77 does not hold .* order of the rows"):
        load_dataset("made")
    assert where() == "OpenML (needs network)"


def test_wrong_table_is_named(serve: Serve, frame: pd.DataFrame) -> None:
    serve(frame.assign(V1=["red"] * 7))
    with pytest.raises(ValueError, match=r"^OpenML's table 77 is not numeric: .*'red'"):
        load_dataset("made")
    serve(frame.assign(**{"class": "yes"}))
    with pytest.raises(ValueError, match=r"^OpenML's table 77 has a class 'yes', where"):
        load_dataset("made")


def test_download_happens_only_if_allowed(serve: Serve, frame: pd.DataFrame) -> None:
    calls = serve(frame)
    with pytest.raises(DatasetNotFoundError, match="let download_if_missing=True fetch OpenML's"):
        load_dataset("made", download_if_missing=False)
    assert not calls


def test_failing_network_says_why_and_what_else_to_do(serve: Serve) -> None:
    serve(URLError("no route to host"))
    with pytest.raises(
        DatasetNotFoundError,
        match="^Data set 'made' is not on this machine and OpenML's table 77 could not be fetched "
        r"\(<urlopen error no route to host>\): set MERCER_DATA .* made\.npz\.$",
    ):
        load_dataset("made")


def test_damaged_kept_file_is_named(serve: Serve, frame: pd.DataFrame) -> None:
    serve(frame)
    load_dataset("made")
    kept = _cache_file("made")
    np.savez(kept, X=np.zeros((6, 2)), y=np.zeros(6, dtype=int))
    with pytest.raises(ValueError, match=rf"^File {kept} \(kept from OpenML; delete it to fetch"):
        load_dataset("made")


def test_a_table_that_cannot_be_kept_is_returned(
    serve: Serve,
    frame: pd.DataFrame,
    arrays: dict[str, np.ndarray],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "file"))
    serve(frame)
    with pytest.warns(UserWarning, match="not kept for the next time: Folder .* cannot be written"):
        data = load_dataset("made")
    np.testing.assert_array_equal(data.X, arrays["X"])


def test_a_user_without_a_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCIKIT_LEARN_DATA", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert _cache_file("made") is None
