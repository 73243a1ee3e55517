"""The ideal case: clusters infinitely far apart, whose kernel matrix has a block for each.

[LC] Jenssen et al., "The Laplacian classifier", below eq. (22): the map then "results in C
point-clusters, mutually orthogonal to each other, situated on the C first principal axes", with
the Laplacian matrix K_f and with the plain K.
"""

import numpy as np
import pytest

from mercer import LaplacianClassifier, LaplacianFeatureMap, LaplacianSVC
from mercer.information import cauchy_schwarz_divergence, laplacian_information_cut

DENSITIES = ["parzen", "mercer", None]
H, SIDE, FAR = 1.0, 1.5, 1e4
SIZES = (3, 5, 8)


def simplices(sizes=SIZES):
    """Clusters whose rows are all as far from each other: density is constant within each."""
    d = max(sizes)
    corners = [SIDE / np.sqrt(2) * np.eye(d)[:m] + FAR * i for i, m in enumerate(sizes)]
    return np.vstack(corners), np.repeat(np.arange(len(sizes)), sizes)


def bumps(sizes=SIZES, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    return 0.3 * rng.normal(size=(len(y), 2)) + FAR * y[:, np.newaxis], y


def angles(Z):
    """Cosines between all rows."""
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    return unit @ unit.T


@pytest.mark.parametrize("density", DENSITIES)
def test_clusters_of_equal_density_are_points_on_orthogonal_axes(density):
    """Closed forms: K has 1 on its diagonal and κ elsewhere in a block, the windows of f̂ have ω."""
    X, y = simplices()
    model = LaplacianFeatureMap(3, bandwidth=H, density=density)
    Z = model.fit_transform(X)
    sizes, n = np.array(SIZES), len(X)
    kappa = np.exp(-(SIDE**2) / (4 * H**2))  # the kernel of width √2·h
    omega = {"parzen": kappa**2, "mercer": kappa, None: None}[density]
    values = 1 + (sizes - 1) * kappa
    if omega is not None:
        values = n * values / (1 + (sizes - 1) * omega)
    np.testing.assert_allclose(np.sort(model.eigenvalues_), np.sort(values), rtol=1e-9)
    for c in range(3):
        points = Z[y == c]
        np.testing.assert_allclose(points, np.tile(points[0], (sizes[c], 1)), atol=1e-7)
        length = np.linalg.norm(points[0])
        np.testing.assert_allclose(length, np.sqrt(values[c] / sizes[c]), rtol=1e-9)
        if density != "mercer":  # There all eigenvalues are N, and the axes may be turned.
            assert np.count_nonzero(np.abs(points[0]) > 1e-9 * length) == 1
    np.testing.assert_allclose(angles(Z), y[:, np.newaxis] == y, atol=1e-7)


@pytest.mark.parametrize("density", DENSITIES)
def test_clusters_of_any_density_are_orthogonal_rays(density):
    """Rows of a cluster are one point up to their length: the angle is exact, "point" is not."""
    X, y = bumps()
    Z = LaplacianFeatureMap(3, bandwidth=H, density=density).fit_transform(X)
    np.testing.assert_allclose(angles(Z), y[:, np.newaxis] == y, atol=1e-7)
    lengths = np.linalg.norm(Z[y == 2], axis=1)
    assert np.ptp(lengths) > 1e-3 * lengths.mean()


def test_the_first_axes_may_miss_a_small_cluster_without_the_weights():
    """A wide cluster of many rows has a second axis before a small one has its first.

    So the claim does not hold for every K; with degrees for densities every cluster has eigenvalue
    N, whatever its size, and nothing comes before it.
    """
    wide = np.linspace(0, 12, 60)[:, np.newaxis]
    X, y = np.vstack([wide, FAR + np.zeros((2, 1))]), np.repeat([0, 1], [60, 2])
    plain = LaplacianFeatureMap(2, bandwidth=H, density=None).fit_transform(X)
    np.testing.assert_allclose(plain[y == 1], 0, atol=1e-9)
    model = LaplacianFeatureMap(3, bandwidth=H, density="mercer")
    weighted = model.fit_transform(X)[:, :2]
    np.testing.assert_allclose(model.eigenvalues_[:2], len(X), rtol=1e-9)
    assert model.eigenvalues_[2] < 0.99 * len(X)
    np.testing.assert_allclose(angles(weighted), y[:, np.newaxis] == y, atol=1e-6)


@pytest.mark.parametrize("rule", ["cosine", "append"])
def test_the_cosine_rule_is_exact(rule):
    """Class means are orthogonal: their cosine is 0, and any row goes to its own cluster."""
    X, y = bumps((20, 30, 40))
    model = LaplacianClassifier(bandwidth=H, rule=rule).fit(X, y)
    new, truth = bumps((50, 50, 50), seed=1)
    assert model.score(new, truth) == 1.0
    assert laplacian_information_cut(X, y, bandwidth=H) == 0.0
    # In logarithms the divergence does not overflow: it grows with the square of the distance.
    divergence = cauchy_schwarz_divergence(X[y == 0], X[y == 1], bandwidth=H)
    assert divergence == pytest.approx(2 * FAR**2 / (4 * H**2), rel=1e-3)


def chains():
    """Three long chains of rows, far from each other, each with one label at its end."""
    chain = np.column_stack([np.arange(25.0), np.zeros(25)])
    X = np.vstack([chain + np.array([0, 100.0 * c]) for c in range(3)])
    truth = np.repeat([0, 1, 2], 25)
    y = np.full(75, -1)
    y[[0, 25, 50]] = [0, 1, 2]
    return X, y, truth


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "squared_error"])
def test_one_label_is_enough_for_a_cluster_of_the_graph(loss, normalized):
    """D − W lets outputs be constant on a component; the normalised form, multiples of √degree."""
    X, y, truth = chains()
    options = {"gamma": 0.5, "C": 1e6, "n_neighbors": 2, "loss": loss, "normalized": normalized}
    alone = LaplacianSVC(laplacian_weight=0.0, **options).fit(X, y)
    assert alone.score(X, truth) < 0.6
    machine = LaplacianSVC(laplacian_weight=1e4, **options).fit(X, y)
    assert machine.score(X, truth) == 1.0
    f = machine.decision_function(X) - machine.intercept_
    for c in range(3):
        inner = f[truth == c, c][3:-3]  # Away from the ends all degrees are the same.
        assert np.ptp(inner) < 0.05 * np.abs(inner).mean()
