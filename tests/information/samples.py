"""Samples of two classes: Gaussian, ring, moons and bundled real data."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_moons
from sklearn.preprocessing import StandardScaler


def _gaussian():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 3)), rng.normal(size=(45, 3)) * 1.5 + 1])
    return X, np.repeat([0, 1], [30, 45])


def _ring():
    """The Laplacian classifier's Fig. 1: a Gaussian inside a ring."""
    rng = np.random.default_rng(1)
    angle = rng.uniform(0, 2 * np.pi, 40)
    ring = 4 * np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.2 * rng.normal(size=(40, 2))
    return np.concatenate([ring, 0.7 * rng.normal(size=(60, 2))]), np.repeat([0, 1], [40, 60])


def _moons():
    return make_moons(80, noise=0.15, random_state=0)


def _standardised(load, step=1):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X)[::step], y[::step]


SAMPLES = {
    "gaussian": _gaussian(),
    "ring": _ring(),
    "moons": _moons(),
    "iris": _standardised(load_iris, 2),
    "wine": _standardised(load_wine, 2),
    "breast cancer": _standardised(load_breast_cancer, 8),
}


def two_classes(name):
    """Rows of the first and of the second class."""
    X, y = SAMPLES[name]
    return X[y == 0], X[y == 1]
