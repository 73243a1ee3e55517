"""SignificanceDisplay: the right weights at the right rows, the largest marked."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import LaplacianClassifier, ParzenClassifier
from mercer.plots import SignificanceDisplay


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    X[7] = [30, 0]  # alone in its window: the largest weight, √50
    return X, np.repeat(["b", "a"], 25)


def _xy(artist):
    return np.asarray(artist.get_offsets())


def test_weights_by_row_in_the_colours_of_their_classes(data, plt):
    X, y = data
    model = LaplacianClassifier(bandwidth=0.5).fit(X, y)
    display = SignificanceDisplay.from_estimator(model, kind="rows")
    first, second = display.points_
    np.testing.assert_array_equal(_xy(first), np.c_[np.arange(25, 50), model.weights_[25:]])
    np.testing.assert_array_equal(_xy(second), np.c_[np.arange(25), model.weights_[:25]])
    assert not np.array_equal(first.get_facecolor(), second.get_facecolor())
    assert [text.get_text() for text in display.legend_.get_texts()] == [
        "a",
        "b",
        "1 largest weight",
    ]


def test_the_outlier_is_marked(data, plt):
    X, y = data
    model = LaplacianClassifier(bandwidth=0.5).fit(X, y)
    display = SignificanceDisplay.from_estimator(model)
    assert display.weights[7] == pytest.approx(np.sqrt(50))
    np.testing.assert_array_equal(_xy(display.marks_), X[[7]])
    np.testing.assert_array_equal(_xy(display.points_[1]), X[:25])
    display.plot(kind="rows")
    assert display.threshold_.get_ydata()[0] == pytest.approx(np.sqrt(50))


def test_share_is_rounded_up_and_orders_by_weight(data, plt):
    X, y = data
    display = SignificanceDisplay.from_estimator(
        LaplacianClassifier(bandwidth=0.5).fit(X, y), share=0.05
    )
    assert display.significant_.size == 3  # of 2.5
    assert display.significant_[0] == 7
    smallest = display.weights[display.significant_].min()
    rest = np.setdiff1d(np.arange(50), display.significant_)
    assert display.weights[rest].max() <= smallest


def test_pruned_and_weighted_rows_keep_their_numbers(data, plt):
    X, y = data
    model = LaplacianClassifier(bandwidth=0.5, n_nodes=20).fit(X, y)
    display = SignificanceDisplay.from_estimator(model, kind="rows")
    rows = np.concatenate([_xy(points)[:, 0] for points in display.points_])
    assert sorted(rows) == sorted(model.support_)
    np.testing.assert_allclose(display.weights, model.weights_[model.support_])


def test_a_pipeline_shows_its_last_step(data, plt):
    X, y = data
    model = make_pipeline(StandardScaler(), LaplacianClassifier(bandwidth=0.5)).fit(X, y)
    display = SignificanceDisplay.from_estimator(model)
    np.testing.assert_allclose(_xy(display.points_[1]), model[0].transform(X)[:25])


def test_more_than_two_features_are_drawn_by_row(plt):
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = LaplacianClassifier(bandwidth=1.0).fit(X, np.arange(20) % 2)
    display = SignificanceDisplay.from_estimator(model)
    assert display.ax_.get_xlabel() == "training row"
    with pytest.raises(ValueError, match="kind='scatter' needs rows of two features, got 3"):
        display.plot(kind="scatter")


def test_bad_input_gets_a_sentence(data):
    X, y = data
    with pytest.raises(ValueError, match="ParzenClassifier has no weights of its rows"):
        SignificanceDisplay.from_estimator(ParzenClassifier(bandwidth=1.0).fit(X, y))
    model = LaplacianClassifier(bandwidth=0.5).fit(X, y)
    with pytest.raises(ValueError, match="share must be above 0 and at most 1"):
        SignificanceDisplay.from_estimator(model, share=0)
    with pytest.raises(ValueError, match="kind must be"):
        SignificanceDisplay.from_estimator(model, kind="bars")
    with pytest.raises(ValueError, match="codes has 2 rows, but there are 3 weights"):
        SignificanceDisplay(weights=[1, 2, 3], codes=[0, 1], class_names=["a", "b"])


def test_tensors(torch, plt):
    display = SignificanceDisplay(
        weights=torch.tensor([1.0, 2.0, 1.5]),
        codes=torch.tensor([0, 1, 1]),
        class_names=torch.tensor([3, 4]),
        X=torch.tensor([[0.0, 0], [1, 0], [0, 1]], requires_grad=True),
    ).plot()
    np.testing.assert_array_equal(_xy(display.marks_), [[1, 0]])
    assert [text.get_text() for text in display.legend_.get_texts()][:2] == ["3", "4"]
