"""DecisionRegionDisplay: what is drawn is what the classifier answers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from mercer import ParzenClassifier
from mercer.plots import DecisionRegionDisplay


@pytest.fixture
def fitted():
    X, y = make_moons(80, noise=0.3, random_state=0)
    y = np.array(["yes", "no"])[y]
    return ParzenClassifier(bandwidth=0.3).fit(X, y), X, y


def test_regions_are_the_predictions_on_the_grid(fitted, plt):
    model, X, y = fitted
    display = DecisionRegionDisplay.from_estimator(model, X, y, grid_resolution=np.int64(30))
    grid = np.c_[display.xx0.ravel(), display.xx1.ravel()]
    drawn = np.asarray(display.regions_.get_array()).ravel().astype(int)
    np.testing.assert_array_equal(model.classes_[drawn], model.predict(grid))


def test_the_misclassified_are_marked(fitted, plt):
    model, X, y = fitted
    display = DecisionRegionDisplay.from_estimator(model, X, y)
    wrong = model.predict(X) != y
    assert wrong.any()
    np.testing.assert_array_equal(np.asarray(display.errors_.get_offsets()), X[wrong])
    names = [text.get_text() for text in display.legend_.get_texts()]
    assert names == ["no", "yes", "misclassified"]
    np.testing.assert_array_equal(np.asarray(display.points_[0].get_offsets()), X[y == "no"])


def test_features_of_any_scale_fill_the_picture(plt):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 2)) * [1e-3, 1e6]
    model = KNeighborsClassifier(1).fit(X, np.arange(40) % 2)
    display = DecisionRegionDisplay.from_estimator(model, X, np.arange(40) % 2, margin=0.1)
    for limits, column in zip((display.ax_.get_xlim(), display.ax_.get_ylim()), X.T, strict=True):
        extent = np.ptp(column)
        np.testing.assert_allclose(limits, [column.min() - extent / 10, column.max() + extent / 10])


def test_no_strip_of_a_class_that_is_not_there(plt):
    X = np.array([[-0.1, 0], [0.1, 1], [0.9, 0], [1.1, 1], [0.4, 9], [0.6, 8]])
    y = np.array([0, 0, 2, 2, 1, 1])
    display = DecisionRegionDisplay.from_estimator(NearestCentroid().fit(X, y), X[:4], y[:4])
    low = display.xx1[:, 0] < 0.5
    assert set(np.unique(display.response[low])) == {0, 2}
    for contour in display.boundaries_:
        corners = np.concatenate([path.vertices for path in contour.get_paths()])
        step = display.xx0[0, 1] - display.xx0[0, 0]
        assert np.abs(corners[corners[:, 1] < 0.5][:, 0] - 0.5).max() <= step


def test_every_boundary_is_drawn(plt):
    xx0, xx1 = np.meshgrid(np.arange(6), np.arange(6))
    display = DecisionRegionDisplay(
        xx0=xx0, xx1=xx1, response=xx0 // 2, class_names=["a", "b", "c"]
    ).plot()
    places = [path.vertices[:, 0] for line in display.boundaries_ for path in line.get_paths()]
    assert set(np.concatenate(places)) == {1.5, 3.5}


def test_data_frames_keep_their_names(plt):
    iris = load_iris(as_frame=True)
    X = iris.data.iloc[:, :2].rename(columns={"sepal length (cm)": "length $cm$_"})
    model = ParzenClassifier(bandwidth=0.3).fit(X, iris.target)  # warns where names are lost
    display = DecisionRegionDisplay.from_estimator(model, X, iris.target, grid_resolution=20)
    assert display.ax_.get_xlabel() == "length $cm$_"
    assert not display.ax_.xaxis.label.get_parse_math()


def test_constant_column_and_one_point(plt):
    X = pd.DataFrame({"a": [3.0, 3.0], "b": [0.0, 1.0]})
    model = KNeighborsClassifier(1).fit(X, [0, 1])
    assert DecisionRegionDisplay.from_estimator(model, X, [0, 1]).errors_ is not None
    one = DecisionRegionDisplay.from_estimator(model, X[:1], [1], margin=0)
    assert np.ptp(one.ax_.get_xlim()) > 0
    assert one.errors_.get_offsets().shape == (1, 2)


def test_regions_without_points(plt):
    xx0, xx1 = np.meshgrid(np.arange(4), np.arange(4))
    display = DecisionRegionDisplay(
        xx0=xx0, xx1=xx1, response=xx0 > 1, class_names=["left", "right"]
    ).plot()
    assert display.points_ == []
    assert [text.get_text() for text in display.legend_.get_texts()] == ["left", "right"]


def test_bad_input_gets_a_sentence(fitted):
    model, X, y = fitted
    with pytest.raises(ValueError, match="classifiers of two features, got X of 3 columns"):
        DecisionRegionDisplay.from_estimator(model, np.c_[X, X[:, :1]], y)
    with pytest.raises(ValueError, match="labels that the classifier does not know: perhaps"):
        DecisionRegionDisplay.from_estimator(model, X[:2], ["yes", "perhaps"])
    with pytest.raises(ValueError, match="one label for each of the 80 rows"):
        DecisionRegionDisplay.from_estimator(model, X, y[:3])
    with pytest.raises(ValueError, match="LinearRegression is not a classifier"):
        DecisionRegionDisplay.from_estimator(LinearRegression().fit(X, X[:, 0]), X, y)
    with pytest.raises(ValueError, match="NaN or infinity"):
        DecisionRegionDisplay.from_estimator(model, np.full((1, 2), np.nan), y[:1])
    with pytest.raises(ValueError, match="grid_resolution"):
        DecisionRegionDisplay.from_estimator(model, X, y, grid_resolution=1)
    with pytest.raises(ValueError, match="margin"):
        DecisionRegionDisplay.from_estimator(model, X, y, margin=-1)
    with pytest.raises(ValueError, match="no rows"):
        DecisionRegionDisplay.from_estimator(model, X[:0], y[:0])
