"""Small labelled samples: made ones and bundled real ones, standardised."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_moons
from sklearn.preprocessing import StandardScaler


def gaussians(n=60, d=3, seed=0):
    """Two unequal classes that overlap."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    y[:2] = 0, 1
    return rng.normal(size=(n, d)) + 1.2 * y[:, None], y


def three_gaussians(n=50, d=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    y[:6] = 0, 0, 1, 1, 2, 2
    return rng.normal(size=(n, d)) + 1.5 * np.c_[y, y == 1], y


def ring(n=70, seed=0):
    """LC Fig. 1: a ring around a Gaussian."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    angle = rng.uniform(0, 2 * np.pi, n)
    outer = 3 * np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, 0.2, (n, 2))
    return np.where(y[:, None], outer, rng.normal(0, 0.8, (n, 2))), np.where(y, "ring", "disc")


def moons(n=60, seed=0):
    return make_moons(n, noise=0.25, random_state=seed)


def _bundled(load, step):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X[::step]), y[::step]


def wine(step=1):
    return _bundled(load_wine, step)


SAMPLES = {
    "gaussians": gaussians(),
    "three gaussians": three_gaussians(),
    "ring": ring(),
    "moons": moons(),
    "wine": wine(2),
    "iris": _bundled(load_iris, 2),
    "breast cancer": _bundled(load_breast_cancer, 6),
}


def table(scores):
    """Scores of all classes relative to the first one's, from what `decision_function` returns."""
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim == 1:
        scores = np.c_[np.zeros(len(scores)), scores]
    return scores - scores[:, :1]


def assert_close(actual, expected, tol=1e-9):
    """Relative above 1, absolute below; equal infinities are equal."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    np.testing.assert_allclose(actual, expected, rtol=tol, atol=tol)
