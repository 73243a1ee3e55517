"""The Laplacian support vector classifier."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mercer.projections import LaplacianSupportVectorAnalysis, LaplacianSVC
from oracles import projections as oracle


@pytest.fixture
def data():
    X, y = make_blobs(80, 4, centers=3, cluster_std=4.0, random_state=0)
    X /= X.std()
    y[::3] = -1
    return X, y


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_its_direction_is_the_first_one_of_the_analysis(data, loss):
    X, y = data
    for kernel in ("linear", "rbf"):
        same = {"kernel": kernel, "C": 2.0, "loss": loss}
        direction = LaplacianSupportVectorAnalysis(n_components=1, **same).fit(X, y)
        machine = LaplacianSVC(**same).fit(X, y)
        f, z = machine.decision_function(X)[:, 0], direction.transform(X)[:, 0]
        np.testing.assert_allclose(np.polyfit(z, f, 1, full=True)[1], 0, atol=1e-12)


@pytest.mark.parametrize("weight", [0.0, 3.0])
def test_outputs_minimise_the_objective(data, weight):
    X, y = data
    C, gamma, k, width = 2.0, 0.5, 6, 1.0
    machine = LaplacianSVC(
        gamma=gamma, C=C, laplacian_weight=weight, n_neighbors=k, affinity_width=width
    ).fit(X, y)
    K, L = rbf_kernel(X, gamma=gamma), oracle.laplacian(oracle.heat_or_graph(X, k, width))
    labelled = y >= 0

    def objective(coefficients, b, signs):
        f = K @ coefficients
        error = np.maximum(0, 1 - signs[labelled] * (f[labelled] + b))
        return 0.5 * coefficients @ f + 0.5 * weight * f @ L @ f + C * error.sum()

    rng = np.random.default_rng(0)
    for c in range(3):
        signs = np.where(y == c, 1.0, -1.0)
        least = objective(machine.dual_coef_[:, c], machine.intercept_[c], signs)
        for size in (1e-3, 1e-1):
            for _ in range(20):
                near = machine.dual_coef_[:, c] + size * rng.normal(size=len(X))
                assert objective(near, machine.intercept_[c] + size * rng.normal(), signs) > least


def test_without_the_penalty_it_is_svc():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    for kernel in ("linear", "rbf"):
        theirs = SVC(C=1.0, kernel=kernel, tol=1e-8).fit(X, y)
        ours = LaplacianSVC(C=1.0, kernel=kernel, laplacian_weight=0.0).fit(X, y)
        np.testing.assert_allclose(
            ours.decision_function(X), theirs.decision_function(X), atol=1e-3
        )  # libsvm keeps kernels in single precision
        assert (ours.predict(X) == theirs.predict(X)).all()
    linear = LaplacianSVC(C=1.0, kernel="linear", laplacian_weight=0.0).fit(X, y)
    np.testing.assert_allclose(
        X @ linear.coef_[0] + linear.intercept_[0], linear.decision_function(X), atol=1e-10
    )


def test_landmarks_are_near(data):
    X, y = data
    exact = LaplacianSVC(gamma=0.1).fit(X, y).decision_function(X)
    near = LaplacianSVC(gamma=0.1, landmarks=60, random_state=0).fit(X, y)
    assert near.X_fit_.shape == (60, 4)
    np.testing.assert_allclose(near.decision_function(X), exact, atol=0.05 * np.abs(exact).max())


def test_a_heavier_penalty_gives_smoother_outputs(data):
    X, y = data
    L = oracle.laplacian(oracle.heat_or_graph(X, 10, 1.0))
    rough = [
        np.trace(f.T @ L @ f) / np.trace(f.T @ f)
        for weight in (0.0, 1.0, 100.0)
        for f in [LaplacianSVC(laplacian_weight=weight).fit(X, y).decision_function(X)]
    ]
    assert rough[0] > rough[1] > rough[2]
