"""EmbeddingDisplay: the right rows at the right places."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mercer.plots import EmbeddingDisplay
from mercer.projections import (
    LaplacianSupportVectorAnalysis,
    LocalityPreservingProjection,
    roweis_saul_classifier,
)


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


def _xy(artist):
    return np.asarray(artist.get_offsets())


def test_classes_at_their_coordinates(iris, plt):
    X, y = iris
    lpp = LocalityPreservingProjection(n_components=3).fit(X)
    display = EmbeddingDisplay.from_estimator(lpp, X, y, components=(2, 0), class_names=list("abc"))
    Z = lpp.transform(X)
    for c, artist in enumerate(display.points_):
        np.testing.assert_allclose(_xy(artist), Z[y == c][:, [2, 0]])
    assert display.ax_.get_xlabel() == "coordinate 3"
    assert [t.get_text() for t in display.legend_.get_texts()] == ["a", "b", "c"]


def test_rows_without_a_label(iris, ax):
    X, y = iris
    some = np.array(["x", "y", "z"], dtype=object)[y]
    some[::2] = -1
    lsva = LaplacianSupportVectorAnalysis(n_components=2).fit(X, some)
    display = EmbeddingDisplay.from_estimator(lsva, X, some, ax=ax)
    np.testing.assert_allclose(_xy(display.unlabelled_), lsva.transform(X[::2]))
    names = [t.get_text() for t in display.legend_.get_texts()]
    assert names == ["x", "y", "z", "no label"]


def test_one_coordinate_is_drawn_by_class(iris, ax):
    X, y = iris
    Z = X[:, :1]
    display = EmbeddingDisplay(embedding=Z, y=y).plot(ax=ax, legend=False)
    np.testing.assert_allclose(_xy(display.points_[1]), np.c_[Z[y == 1], np.ones(50)])
    assert display.legend_ is None


def test_a_pipeline_that_ends_in_a_classifier(iris, ax):
    X, y = iris
    model = roweis_saul_classifier(n_components=2).fit(X, y)
    display = EmbeddingDisplay.from_estimator(model, X, y, ax=ax)
    np.testing.assert_allclose(_xy(display.points_[0]), model[:-1].transform(X[y == 0]))


def test_bad_input_has_a_sentence(iris):
    X, y = iris
    with pytest.raises(ValueError, match="row for each"):
        EmbeddingDisplay(embedding=X[:10], y=y)
    with pytest.raises(ValueError, match="below 4"):
        EmbeddingDisplay(embedding=X, y=y, components=(0, 4))
