"""Nearest neighbours by dimension against scikit-learn's, one dimension at a time."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from mercer.studies.experiments import _nearest_neighbour
from mercer.studies.experiments._holdout import Holdout
from mercer.studies.experiments._nearest_neighbour import (
    error_surface,
    label_surface,
    nearest_neighbour_labels,
    nested_surface,
)


@pytest.fixture
def parts():
    rng = np.random.default_rng(0)
    y = rng.choice([3, 5, 9], 90, p=[0.5, 0.3, 0.2])
    X = rng.normal(size=(90, 4)) + y[:, None] / 3
    return X[:60], y[:60], X[60:], y[60:]


def _holdout(A, ya, B, yb):
    return Holdout(X_train=A, y_train=ya, X_test=B, y_test=yb, rows=np.arange(len(yb)))


@pytest.mark.parametrize("neighbors", [1, 4, 15])
def test_labels_are_those_of_scikit_learn_in_every_dimension(parts, neighbors):
    A, ya, B, _ = parts
    labels = nearest_neighbour_labels(A, ya, B, 4, neighbors=neighbors)
    for k in range(4):
        model = KNeighborsClassifier(neighbors).fit(A[:, : k + 1], ya)
        np.testing.assert_array_equal(labels[k], model.predict(B[:, : k + 1]))


def test_blocks_change_nothing(parts, monkeypatch):
    A, ya, B, _ = parts
    whole = nearest_neighbour_labels(A, ya, B, 4)
    monkeypatch.setattr(_nearest_neighbour, "_BLOCK", 7 * len(A))
    np.testing.assert_array_equal(nearest_neighbour_labels(A, ya, B, 4), whole)


def test_dimensions_that_are_not_there_change_nothing(parts):
    A, ya, B, _ = parts
    labels = nearest_neighbour_labels(A[:, :2], ya, B[:, :2], 5)
    assert labels.shape == (5, len(B))
    assert (labels[0] != labels[1]).any()
    assert (labels[1:] == labels[1]).all()


def test_without_any_dimension_the_most_frequent_class_is_named(parts):
    A, ya, B, _ = parts
    labels = nearest_neighbour_labels(A[:, :0], ya, B[:, :0], 2)
    assert labels.shape == (2, len(B))
    assert (labels == 3).all()


def test_surfaces_have_a_row_for_every_variant(parts):
    A, ya, B, yb = parts

    def fit(X, y):
        return [PCA().fit(X), PCA(whiten=True).fit(X)]

    part = _holdout(*parts)
    labels = label_surface(fit, part, 4)
    errors = error_surface(fit, part, 4)
    assert labels.shape == (2, 4, len(B))
    np.testing.assert_allclose(errors, 100 * (labels != yb).mean(axis=2))
    white = PCA(whiten=True).fit(A)
    for k in range(4):
        model = KNeighborsClassifier(1).fit(white.transform(A)[:, : k + 1], ya)
        right = model.score(white.transform(B)[:, : k + 1], yb)
        assert errors[1, k] == pytest.approx(100 * (1 - right))


def test_nested_surface_is_the_mean_over_folds_of_the_training_part(parts):
    A, ya, _, _ = parts

    def fit(X, y):
        return [PCA().fit(X)]

    options = {"folds": 3, "seed": 7, "neighbors": 5}
    expected = [
        error_surface(fit, _holdout(A[a], ya[a], A[b], ya[b]), 3, neighbors=5)
        for a, b in StratifiedKFold(3, shuffle=True, random_state=7).split(A, ya)
    ]
    for used in (None, 1, 2):
        surface = nested_surface(fit, _holdout(*parts), 3, used=used, **options)
        np.testing.assert_allclose(surface, np.mean(expected[:used], axis=0))
