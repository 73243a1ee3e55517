"""Maps: every method places every row, and rows left out show what a map is worth."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier

from mercer.models import PROJECTIONS, project_table
from mercer.tables import split_target

SEES_CLASSES = {"fisher", "lsva", "roweis-saul", "lda"}


@pytest.mark.parametrize("method", PROJECTIONS)
def test_every_method_places_every_row(data, method):
    frame = project_table(data, method).frame
    assert list(frame.columns) == ["row", "x", "y", "class", "held_out"]
    assert frame["row"].tolist() == list(range(1, len(data.y) + 1))
    assert frame["class"].tolist() == data.y.tolist()
    assert np.isfinite(frame[["x", "y"]]).all().all()
    assert frame["x"].std() > 0
    assert frame["y"].std() > 0
    share = frame["held_out"].mean()
    assert share == pytest.approx(0.25, abs=0.02) if method in SEES_CLASSES else share == 0


@pytest.mark.parametrize("method", sorted(SEES_CLASSES))
def test_rows_left_out_lie_with_their_class(method):
    frame = project_table(split_target(load_wine(as_frame=True).frame, "target"), method).frame
    fitted, left_out = frame[~frame["held_out"]], frame[frame["held_out"]]
    near = KNeighborsClassifier(5).fit(fitted[["x", "y"]], fitted["class"])
    assert near.score(left_out[["x", "y"]], left_out["class"]) > 0.85


@pytest.mark.parametrize("method", PROJECTIONS)
def test_one_column_is_enough(method):
    frame = pd.DataFrame({"a": np.arange(60.0) % 11, "b": ["u", "v", "v"] * 20})
    found = project_table(split_target(frame, "b"), method).frame
    assert np.isfinite(found[["x", "y"]]).all().all()


def test_two_classes_get_a_second_axis_that_is_not_the_first():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    frame["class of"] = np.where(frame["a"] > 0, "right", "left")
    found = project_table(split_target(frame, "class of"), "lda")
    assert any("one direction only" in note for note in found.notes)
    fitted = found.frame[~found.frame["held_out"]]
    assert abs(np.corrcoef(fitted["x"], fitted["y"])[0, 1]) < 1e-9


def test_row_numbers_are_those_of_the_table():
    frame = pd.DataFrame({"a": np.arange(40.0) % 7, "b": ["u", None, "v", "v"] * 10})
    found = project_table(split_target(frame, "b"), "pca").frame
    assert 2 not in set(found["row"])
    assert found["row"].iloc[:3].tolist() == [1, 3, 4]


def test_unknown_method_is_one_sentence(data):
    with pytest.raises(ValueError, match=r"^There is no method 'umap': choose fisher, .*\.$"):
        project_table(data, "umap")
