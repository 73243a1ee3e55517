"""The ORL faces: 400 rows of 4096 columns."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedShuffleSplit

from mercer.datasets import load_dataset
from mercer.projections import fisherfaces, laplacianfaces, roweis_saul_classifier

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def splits():
    """Four training images of everybody, drawn thirty times: ten would be a matter of luck."""
    faces = load_dataset("orl")
    X, y = faces.X.astype(np.float64), faces.y
    draws = StratifiedShuffleSplit(30, train_size=160, random_state=0)
    return [(X[a], y[a], X[b], y[b]) for a, b in draws.split(X, y)]


def rate(make, splits):
    return np.mean([make().fit(X, y).score(X_new, y_new) for X, y, X_new, y_new in splits])


def test_roweis_saul_with_the_graph_of_classes_reaches_the_paper(splits):
    assert rate(lambda: roweis_saul_classifier(neighborhood="class"), splits) >= 0.94


def test_the_printed_perturbation_destroys_it(splits):
    def printed():
        return roweis_saul_classifier(
            neighborhood="class", label_weight=0.9, perturbation="printed"
        )

    assert rate(printed, splits[:2]) < 0.5
    edges = rate(lambda: roweis_saul_classifier(label_weight=0.9), splits[:2])
    assert edges > 0.9


def test_relatives(splits):
    assert rate(fisherfaces, splits[:3]) > 0.88
    assert rate(lambda: laplacianfaces(neighborhood="class"), splits[:3]) > 0.88
