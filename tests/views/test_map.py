"""Maps: every method places every row, and rows left out show what a map is worth."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.neighbors import KNeighborsClassifier

from mercer.tables import split_target
from mercer.views import PROJECTIONS, project_table

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


@pytest.mark.parametrize("method", ["fisher", "lda", "pca"])
def test_one_far_row_leaves_the_others_where_they_were(method):
    """A number a million times too large in every column of a row, fitted on or held out."""
    frame = load_breast_cancer(as_frame=True).frame
    plain = project_table(split_target(frame, "target"), method).frame
    for row in (3, 60):
        far = frame.astype(float)
        far.iloc[row, :-1] = 1e6
        found = project_table(split_target(far, "target"), method).frame
        others = found.drop(index=row)
        for axis in ("x", "y"):
            low, high = np.quantile(others[axis], [0.02, 0.98])
            assert found[axis].max() - found[axis].min() < 8 * (high - low)
        for axis in ("x", "y"):
            assert abs(np.corrcoef(plain[axis].drop(index=row), others[axis])[0, 1]) > 0.8


def test_a_column_that_is_nearly_always_the_same_keeps_the_rest():
    frame = load_wine(as_frame=True).frame.assign(rare=0.0)
    frame.loc[3, "rare"] = 1.0
    with_rare = project_table(split_target(frame, "target"), "pca").frame
    without = project_table(split_target(frame.drop(columns="rare"), "target"), "pca").frame
    assert abs(with_rare.loc[3, "x"] - without.loc[3, "x"]) > 1e-6


def test_row_numbers_are_those_of_the_table():
    frame = pd.DataFrame({"a": np.arange(40.0) % 7, "b": ["u", None, "v", "v"] * 10})
    found = project_table(split_target(frame, "b"), "pca").frame
    assert 2 not in set(found["row"])
    assert found["row"].iloc[:3].tolist() == [1, 3, 4]


def test_unknown_method_is_one_sentence(data):
    with pytest.raises(ValueError, match=r"^There is no method 'umap': choose fisher, .*\.$"):
        project_table(data, "umap")
