"""The angle to class means, in the space as it is."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from classifiers.samples import assert_close, ring, wine
from mercer import LaplacianClassifier, LaplacianFeatureMap, NearestAngleClassifier


def cosines(X, y, new):
    means = np.stack([X[y == c].mean(axis=0) for c in np.unique(y)])
    return np.array([[x @ m / np.sqrt((x @ x) * (m @ m)) for m in means] for x in new])


def test_cosines_to_means():
    X, y = wine()
    X = X + 1
    model = NearestAngleClassifier().fit(X[::2], y[::2])
    expected = cosines(X[::2], y[::2], X[1::2])
    assert_close(model.decision_function(X[1::2]), expected, 1e-12)
    assert np.array_equal(model.predict(X[1::2]), expected.argmax(axis=1))


def test_two_classes_and_weights():
    X, y = wine()
    X, y = X[y < 2] + 1, y[y < 2]
    times = np.random.default_rng(0).integers(0, 3, len(y))
    model = NearestAngleClassifier().fit(X, y, sample_weight=times)
    expected = cosines(np.repeat(X, times, axis=0), np.repeat(y, times), X)
    assert_close(model.decision_function(X), expected[:, 1] - expected[:, 0], 1e-12)
    assert np.array_equal(model.predict(X), expected.argmax(axis=1))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_scale_and_length_do_not_matter(scale):
    X, y = wine()
    plain = NearestAngleClassifier().fit(X, y)
    scaled = NearestAngleClassifier().fit(X * scale, y)
    lengths = np.random.default_rng(0).uniform(0.1, 10, (len(y), 1))
    assert_close(scaled.decision_function(X * lengths), plain.decision_function(X), 1e-12)


def test_after_the_whole_map_it_is_the_laplacian_classifier():
    """LC eq. (22) with all components is the feature space itself."""
    X, y = ring(80)
    h = 0.3  # narrow, so that every eigenvalue counts
    chain = make_pipeline(
        LaplacianFeatureMap(len(y), bandwidth=h, density="parzen"), NearestAngleClassifier()
    ).fit(X, y)
    full = LaplacianClassifier(bandwidth=h).fit(X, y)
    mapped = chain[:-1].transform(X)
    inner = np.array([mapped[y == c].mean(axis=0) for c in np.unique(y)])
    norms = np.linalg.norm(inner, axis=1) * np.array([(y == c).sum() for c in np.unique(y)])
    assert_close(norms / norms[0], full.norms_ / full.norms_[0], 1e-6)
    assert np.array_equal(chain.predict(X), full.predict(X))
