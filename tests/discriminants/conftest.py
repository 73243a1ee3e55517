"""Small problems that more than one file uses."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

LOADERS = {"iris": load_iris, "wine": load_wine, "wdbc": load_breast_cancer}


@pytest.fixture(params=sorted(LOADERS))
def bundled(request):
    """X, standardised, and y of three data sets; every fourth row of the longest."""
    X, y = LOADERS[request.param](return_X_y=True)
    if len(y) > 500:
        X, y = X[::4], y[::4]
    return StandardScaler().fit_transform(X), y


@pytest.fixture
def blobs():
    """Return a maker of overlapping classes."""

    def make(seed, n_rows=40, n_classes=2, n_features=3, shift=1.5):
        rng = np.random.default_rng(seed)
        y = np.arange(n_rows) % n_classes
        rng.shuffle(y)
        centres = shift * rng.normal(size=(n_classes, n_features))
        return rng.normal(size=(n_rows, n_features)) + centres[y], y

    return make
