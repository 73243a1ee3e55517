"""The Laplacian support vector classifier."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mercer.projections import LaplacianSupportVectorAnalysis, LaplacianSVC
from oracles import projections as oracle

LOSSES = ["hinge", "squared_hinge", "squared_error"]
both_forms = pytest.mark.parametrize("normalized", [False, True], ids=["plain", "normalized"])


def penalty(W, normalized, weights=None):
    return oracle.normalized_laplacian(W, weights) if normalized else oracle.laplacian(W)


@pytest.fixture
def data():
    X, y = make_blobs(80, 4, centers=3, cluster_std=4.0, random_state=0)
    X /= X.std()
    y[::3] = -1
    return X, y


@both_forms
@pytest.mark.parametrize("loss", LOSSES)
def test_its_direction_is_the_first_one_of_the_analysis(data, loss, normalized):
    X, y = data
    for kernel in ("linear", "rbf"):
        same = {
            "kernel": kernel, "C": 2.0, "loss": loss, "normalized": normalized,
            "laplacian_weight": 3.0,
        }  # fmt: skip
        direction = LaplacianSupportVectorAnalysis(n_components=1, **same).fit(X, y)
        machine = LaplacianSVC(**same).fit(X, y)
        f, z = machine.decision_function(X)[:, 0], direction.transform(X)[:, 0]
        np.testing.assert_allclose(np.polyfit(z, f, 1, full=True)[1], 0, atol=1e-12)


@both_forms
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weight", [0.0, 3.0])
def test_outputs_minimise_the_objective(data, weight, loss, normalized):
    X, y = data
    C, gamma, k, width = 2.0, 0.5, 6, 1.0
    machine = LaplacianSVC(
        gamma=gamma, C=C, laplacian_weight=weight, n_neighbors=k, affinity_width=width, loss=loss,
        normalized=normalized,
    ).fit(X, y)  # fmt: skip
    K, L = rbf_kernel(X, gamma=gamma), penalty(oracle.heat_or_graph(X, k, width), normalized)
    labelled = y >= 0
    cost = {
        "hinge": lambda error: np.maximum(0, error),
        "squared_hinge": lambda error: np.maximum(0, error) ** 2,
        "squared_error": np.square,
    }[loss]

    def objective(coefficients, b, signs):
        f = K @ coefficients
        error = 1 - signs[labelled] * (f[labelled] + b)
        return 0.5 * coefficients @ f + 0.5 * weight * f @ L @ f + C * cost(error).sum()

    rng = np.random.default_rng(0)
    for c in range(3):
        signs = np.where(y == c, 1.0, -1.0)
        least = objective(machine.dual_coef_[:, c], machine.intercept_[c], signs)
        for size in (1e-3, 1e-1):
            for _ in range(20):
                near = machine.dual_coef_[:, c] + size * rng.normal(size=len(X))
                assert objective(near, machine.intercept_[c] + size * rng.normal(), signs) > least


@both_forms
def test_squared_errors_are_laplacian_regularised_least_squares(normalized):
    """Belkin et al. have no intercept; on rows with mirror images of the other class it is 0."""
    rng = np.random.default_rng(0)
    half = rng.normal(size=(30, 3)) + np.array([1.0, 0, 0])
    X, y = np.vstack([half, -half]), np.repeat([1, 0], 30)
    y[[*range(4, 30), *range(34, 60)]] = -1
    gamma_A, gamma_I = 0.02, 50.0
    n, labelled = 60, 8
    machine = LaplacianSVC(
        gamma=0.3, C=1 / (2 * labelled * gamma_A), laplacian_weight=gamma_I / (gamma_A * n**2),
        n_neighbors=5, affinity_width=1.0, normalized=normalized, loss="squared_error",
    ).fit(X, y)  # fmt: skip
    K, L = rbf_kernel(X, gamma=0.3), penalty(oracle.heat_or_graph(X, 5, 1.0), normalized)
    (signs,) = oracle.one_versus_all(y, [1])
    expected = oracle.laplacian_rls(K, signs, L, gamma_A, gamma_I)
    np.testing.assert_allclose(machine.dual_coef_[:, 0], expected, atol=1e-10)
    np.testing.assert_allclose(machine.intercept_, 0, atol=1e-12)


def test_least_squares_outputs_of_all_classes_add_up(data):
    """They are linear in the signs, which add up to 2 − C in every row: so do the outputs."""
    X, y = data
    new = np.random.default_rng(1).normal(size=(20, 4))
    for kernel in ("linear", "rbf"):
        machine = LaplacianSVC(kernel=kernel, loss="squared_error").fit(X, y)
        np.testing.assert_allclose(machine.decision_function(new).sum(axis=1), -1, atol=1e-9)


def test_the_normalised_form_does_not_mind_the_scale_of_the_affinities(data):
    """All heat weights multiplied by a factor, as by another unit of time, change nothing."""
    X, y = data
    X = np.vstack([X, X + 50.0])  # a copy of the graph, with the same weights
    y = np.concatenate([y, y])
    one = LaplacianSVC(
        gamma=0.5, n_neighbors=79, affinity_width=1e4, laplacian_weight=10.0, normalized=True
    ).fit(X, y)
    # A graph of 79 others with equal weights: L = I − (1 1ᵀ − I)/79 on either half.
    block = np.eye(80) - (np.ones((80, 80)) - np.eye(80)) / 79
    L, K = np.kron(np.eye(2), block), rbf_kernel(X, gamma=0.5)
    for k, signs in enumerate(oracle.one_versus_all(y, range(3))):
        expected = oracle.laplacian_svm(K, signs, L, 10.0, np.full(160, 100.0), "hinge", K)
        found = one.decision_function(X)[:, k] - one.intercept_[k]
        np.testing.assert_allclose(found, expected, atol=1e-5)


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


@both_forms
def test_a_heavier_penalty_gives_smoother_outputs(data, normalized):
    X, y = data
    L = penalty(oracle.heat_or_graph(X, 10, 1.0), normalized)
    rough = []
    for weight in (0.0, 1.0, 30.0):
        machine = LaplacianSVC(laplacian_weight=weight, affinity_width=1.0, normalized=normalized)
        f = machine.fit(X, y).decision_function(X) - machine.intercept_
        rough.append(np.trace(f.T @ L @ f) / np.trace(f.T @ f))
    assert rough[0] > rough[1] > rough[2]


# Weights --------------------------------------------------------------------------------------


@both_forms
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weight", [0.0, 3.0])
def test_weights_are_those_of_the_literal_objective(data, loss, weight, normalized):
    X, y = data
    weights = np.random.default_rng(0).uniform(0.2, 3, len(X))
    machine = LaplacianSVC(
        gamma=0.5, C=2.0, laplacian_weight=weight, n_neighbors=6, affinity_width=1.0, loss=loss,
        normalized=normalized,
    ).fit(X, y, sample_weight=7 * weights)  # fmt: skip
    shares = weights / weights.mean()
    L = penalty(oracle.heat_or_graph(X, 6, 1.0, shares), normalized, shares)
    K, new = rbf_kernel(X, gamma=0.5), np.random.default_rng(1).normal(size=(20, 4))
    for k, signs in enumerate(oracle.one_versus_all(y, range(3))):
        expected = oracle.laplacian_svm(
            K, signs, L, weight, 2.0 * shares, loss, rbf_kernel(new, X, gamma=0.5)
        )
        found = machine.decision_function(new)[:, k] - machine.intercept_[k]
        np.testing.assert_allclose(found, expected, atol=1e-7)


def test_the_linear_penalty_is_about_the_weighted_mean(data):
    X, y = data
    weights = np.random.default_rng(0).uniform(0.2, 3, len(X))
    machine = LaplacianSVC(
        kernel="linear", C=2.0, n_neighbors=6, affinity_width=1.0, laplacian_weight=10.0,
        normalized=True,
    )  # fmt: skip
    machine.fit(X + 5.0, y, sample_weight=weights)
    shares = weights / weights.mean()
    L = oracle.normalized_laplacian(oracle.heat_or_graph(X, 6, 1.0, shares), shares)
    centred = X - np.average(X, axis=0, weights=weights)
    for k, signs in enumerate(oracle.one_versus_all(y, range(3))):
        (w,) = oracle.laplacian_svm(
            centred @ centred.T, signs, L, 10.0, 2.0 * shares, "hinge", centred[:1] @ centred.T
        )
        found = machine.coef_[k] @ centred[0]
        np.testing.assert_allclose(found, w, atol=1e-7)


@pytest.mark.parametrize("weight", [0.0, 1.0])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"normalized": False},
        {"kernel": "linear"},
        {"kernel": "linear", "normalized": False},
        {"loss": "squared_error"},
        {"kernel": "poly", "loss": "squared_hinge", "gamma": "auto"},
        {"landmarks": 20, "random_state": 0},
        {"kernel": lambda a, b: float(a @ b + 1) ** 2},
    ],
    ids=[
        "rbf",
        "plain",
        "linear",
        "linear plain",
        "least squares",
        "squared",
        "landmarks",
        "callable",
    ],
)
def test_whole_weights_are_copies_exactly(data, options, weight):
    X, y = data
    X = np.vstack([X, X[:6]])  # the same places with another class, or with a label after all
    y = np.concatenate([y, (y[:6] + 1) % 3])
    times = np.random.default_rng(0).integers(0, 4, len(X))
    copies = np.random.default_rng(1).permutation(np.repeat(np.arange(len(X)), times))
    if "landmarks" in options:
        copies.sort()  # landmarks are drawn by the order of the rows
    model = LaplacianSVC(C=2.0, laplacian_weight=weight, **options)
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(X[copies], y[copies])
    expected = repeated.decision_function(X)
    room = 1e-7 * np.abs(expected).max()
    np.testing.assert_allclose(weighted.decision_function(X), expected, atol=room)
    assert weighted.gamma_ == pytest.approx(repeated.gamma_)
    assert weighted.affinity_width_ == pytest.approx(repeated.affinity_width_)
    if not options:
        assert len(weighted.X_fit_) == len(np.unique(X[times > 0], axis=0))


@both_forms
def test_rows_of_all_weights_keep_the_balance_of_errors_and_edges(data, normalized):
    """m copies of all rows are m times the price and m times the penalty."""
    X, y = data
    model = LaplacianSVC(gamma=0.5, C=2.0, laplacian_weight=1.0, normalized=normalized)
    copies = clone(model).fit(X, y, sample_weight=np.full(len(X), 5))
    once = clone(model).set_params(C=10.0, laplacian_weight=5.0).fit(X, y)
    np.testing.assert_allclose(
        copies.decision_function(X), once.decision_function(X), rtol=1e-9, atol=1e-9
    )


def test_with_weights_and_without_the_penalty_it_is_svc():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    weights = np.random.default_rng(0).uniform(0.2, 3, len(y))
    for kernel in ("linear", "rbf"):
        theirs = SVC(C=1.0, kernel=kernel, gamma=0.3, tol=1e-8)
        theirs.fit(X, y, sample_weight=weights / weights.mean())
        ours = LaplacianSVC(C=1.0, kernel=kernel, gamma=0.3, laplacian_weight=0.0)
        np.testing.assert_allclose(
            ours.fit(X, y, sample_weight=weights).decision_function(X),
            theirs.decision_function(X),
            atol=1e-3,
        )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_one_place_is_of_the_class_that_weighs_more(kernel):
    X, y = np.ones((3, 2)), [0, 1, 1]
    assert LaplacianSVC(kernel=kernel).fit(X, y).predict(X[:1]) == [1]
    assert LaplacianSVC(kernel=kernel).fit(X, y, sample_weight=[3, 1, 1]).predict(X[:1]) == [0]


def test_weights_that_leave_too_few_rows_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="sample_weight is zero everywhere"):
        LaplacianSVC().fit(X, y, sample_weight=np.zeros(len(X)))
    with pytest.raises(ValueError, match=r"with a positive weight, got one class: .* Note that −1"):
        LaplacianSVC().fit(X, y, sample_weight=(y == 2) | (y == -1))
