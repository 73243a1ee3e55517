"""The paper's equations, literally: eqs (5)–(12), the recursion (13)–(20), and (21)–(22)."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from oracles.fisher import (
    criterion,
    nearer_mean,
    select_nodes,
    select_until,
    total_variance,
    trace_criterion,
    two_class_alpha,
    within_matrix,
)

MU, GAMMA = 1e-3, 0.2
SCATTERS = ["class", "total", "sum"]


@pytest.mark.parametrize("scatter", SCATTERS)
def test_two_classes_give_the_papers_alpha(blobs, scatter):
    X, y = blobs(0, n_rows=45)
    y[:7] = 0  # classes of different size
    K = rbf_kernel(X, gamma=GAMMA)
    alpha = two_class_alpha(K, y, MU, scatter)  # eq. (10)
    model = KernelFisherDiscriminant(penalty="coef", scatter=scatter, alpha=MU, gamma=GAMMA)
    model.fit(X, y)
    np.testing.assert_allclose(model.dual_coef_[:, 0], alpha, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.eigenvalues_, [criterion(K, y, alpha, MU, scatter)])  # (11)
    output = model.transform(X)[:, 0]  # eq. (21)
    gap = output[y == 1].mean() - output[y == 0].mean()
    assert gap == pytest.approx(model.eigenvalues_[0], rel=1e-8)  # eq. (12): f₁ − f₂ = J
    assert model.alpha_ == pytest.approx(MU)


@pytest.mark.parametrize("scatter", SCATTERS)
def test_the_rkhs_penalty_replaces_the_identity_by_the_kernel(blobs, scatter):
    X, y = blobs(1)
    K = rbf_kernel(X, gamma=GAMMA)
    N = within_matrix(K, y, scatter) + MU * K
    d = K[:, y == 1].mean(axis=1) - K[:, y == 0].mean(axis=1)
    model = KernelFisherDiscriminant(scatter=scatter, alpha=MU, gamma=GAMMA).fit(X, y)
    expected = np.linalg.solve(N, d)
    np.testing.assert_allclose(K @ model.dual_coef_[:, 0], K @ expected, rtol=1e-5)
    assert model.eigenvalues_[0] == pytest.approx(d @ expected, rel=1e-6)


@pytest.mark.parametrize("scatter", ["total", "class"])
def test_the_discriminant_is_a_regularised_regression(blobs, scatter):
    # Least squares on the classes, weighted as the scatter is, has Fisher's direction.
    X, y = blobs(2, n_rows=50)
    y[:11] = 1
    K = rbf_kernel(X, gamma=GAMMA)
    sizes = np.bincount(y)
    p = np.full(len(y), 1 / len(y)) if scatter == "total" else 0.5 / sizes[y]
    C = K - p @ K
    alpha = MU / (1 if scatter == "total" else 2)
    t = y - p @ y
    a = np.linalg.solve((C.T * p) @ C + alpha * np.eye(len(y)), (C.T * p) @ t)
    model = KernelFisherDiscriminant(penalty="coef", scatter=scatter, alpha=MU, gamma=GAMMA)
    found = model.fit(X, y).dual_coef_[:, 0]
    assert a @ found / np.linalg.norm(a) / np.linalg.norm(found) == pytest.approx(1, abs=1e-9)


def test_several_classes_solve_the_eigenproblem(blobs):
    X, y = blobs(3, n_rows=60, n_classes=4)
    K = rbf_kernel(X, gamma=GAMMA)
    model = KernelFisherDiscriminant(scatter="total", alpha=1e-2, gamma=GAMMA).fit(X, y)
    N = within_matrix(K, y, "total") + 1e-2 * K
    means = np.stack([K[:, y == c].mean(axis=1) for c in range(4)]) - K.mean(axis=1)
    M = (means.T * np.bincount(y) / len(y)) @ means
    W, values = model.dual_coef_, model.eigenvalues_
    assert W.shape == (60, 3)
    assert (np.diff(values) <= 0).all()
    np.testing.assert_allclose(M @ W, (N @ W) * values, atol=1e-9)
    np.testing.assert_allclose(W.T @ N @ W, np.diag(values), atol=1e-8)


@pytest.mark.parametrize("seed", range(24))
def test_nodes_are_those_of_the_literal_recursion(blobs, seed):
    scatter = SCATTERS[seed % 3]
    X, y = blobs(seed, n_rows=30 + seed, n_features=2 + seed % 3)
    y[: seed % 9] = seed % 2
    nodes, path = select_nodes(rbf_kernel(X, gamma=GAMMA), y, MU, 8, scatter)
    model = SparseKernelFisherDiscriminant(
        penalty="coef", criterion="within", scatter=scatter, alpha=MU, gamma=GAMMA,
        max_nodes=8, n_candidates=None, tol=0.0,
    ).fit(X, y)  # fmt: skip
    np.testing.assert_array_equal(model.support_, nodes)
    np.testing.assert_allclose(model.criterion_path_, path, rtol=1e-9)
    np.testing.assert_array_equal(model.X_fit_, X[nodes])
    # The last α of the recursion, and eq. (12) for it.
    K = rbf_kernel(X[nodes], X, gamma=GAMMA)
    alpha = two_class_alpha(K, y, MU, scatter)
    np.testing.assert_allclose(model.dual_coef_[:, 0], alpha, rtol=1e-6)
    assert model.eigenvalues_[0] == pytest.approx(path[-1], rel=1e-8)
    output = model.transform(X)[:, 0]
    gap = output[y == 1].mean() - output[y == 0].mean()
    assert gap == pytest.approx(path[-1], rel=1e-6)


@pytest.mark.parametrize("scatter", ["within", "total"])
@pytest.mark.parametrize("penalty", ["rkhs", "coef"])
def test_several_classes_take_the_best_trace(blobs, scatter, penalty):
    X, y = blobs(5, n_rows=36, n_classes=3)
    K = rbf_kernel(X, gamma=GAMMA)
    model = SparseKernelFisherDiscriminant(
        penalty=penalty, criterion=scatter, alpha=1e-2, gamma=GAMMA, max_nodes=4,
        n_candidates=None, tol=0.0,
    ).fit(X, y)  # fmt: skip
    taken = []
    for index, value in zip(model.support_, model.criterion_path_, strict=True):
        values = {}
        for j in set(range(36)) - set(taken):
            at = [*taken, j]
            ridge = 1e-2 * (K[np.ix_(at, at)] if penalty == "rkhs" else np.eye(len(at)))
            values[j] = trace_criterion(K, y, at, ridge, scatter)
        assert value == pytest.approx(max(values.values()), rel=1e-8)
        assert values[index] == pytest.approx(value, rel=1e-8)
        taken.append(int(index))


@pytest.mark.parametrize("seed", range(8))
def test_the_printed_stop_rule_keeps_the_node_that_gains_too_little(blobs, seed):
    X, y = blobs(seed, n_rows=30, n_features=2)
    scatter, K = SCATTERS[seed % 3], rbf_kernel(X, gamma=GAMMA)
    epsilon = np.quantile(np.diff(select_nodes(K, y, MU, 12, scatter)[1]), 0.3 + 0.08 * seed)
    model = SparseKernelFisherDiscriminant(
        penalty="coef", criterion="within", scatter=scatter, alpha=MU, gamma=GAMMA,
        n_candidates=None, tol=epsilon, stop_rule="printed",
    ).fit(X, y)  # fmt: skip
    np.testing.assert_array_equal(model.support_, select_until(K, y, MU, epsilon, scatter))
    gains = np.diff(model.criterion_path_)
    assert gains[-1] < epsilon
    assert (gains[:-1] >= epsilon).all()


@pytest.mark.parametrize("scatter", SCATTERS)
@pytest.mark.parametrize("penalty", ["rkhs", "coef"])
def test_the_nearest_mean_of_two_classes_is_the_papers_classifier(blobs, scatter, penalty):
    X, y = blobs(4, n_rows=60)
    X, new = X[:40], X[40:] + 0.5
    y = y[:40]
    y[:9] = 0  # classes of different size, so that priors would count
    options = {"penalty": penalty, "scatter": scatter, "alpha": MU, "gamma": GAMMA}
    exact = KernelFisherDiscriminant(rule="nearest_mean", **options).fit(X, y)
    sparse = SparseKernelFisherDiscriminant(
        rule="nearest_mean", criterion="within", max_nodes=7, n_candidates=None, tol=0.0, **options
    ).fit(X, y)
    rows = np.vstack([new, np.linspace(new.min(axis=0), new.max(axis=0), 200)])
    for model in (exact, sparse):
        K, K_new = (rbf_kernel(model.X_fit_, A, gamma=GAMMA) for A in (X, rows))
        expected = nearer_mean(K, y, model.dual_coef_[:, 0], K_new)
        np.testing.assert_array_equal(model.predict(rows), expected)
        assert (model.predict(rows) != type(model)(**{
            **model.get_params(), "rule": "gaussian"
        }).fit(X, y).predict(rows)).any()  # fmt: skip
    np.testing.assert_array_equal(list(sparse.staged_predict(rows))[-1], sparse.predict(rows))


@pytest.mark.parametrize("name", ["exact", "sparse"])
def test_the_nearest_mean_of_several_classes_is_in_units_of_the_deviation(blobs, name):
    X, y = blobs(6, n_rows=60, n_classes=3)
    y[:10] = 2
    options = {"rule": "nearest_mean", "scatter": "total", "alpha": 0.1, "gamma": GAMMA}
    model = (
        KernelFisherDiscriminant(**options)
        if name == "exact"
        else SparseKernelFisherDiscriminant(max_nodes=9, **options)
    ).fit(X, y)
    Z = model.transform(X)
    means = np.stack([Z[y == c].mean(axis=0) for c in range(3)])
    deviation = np.sqrt(((Z - means[y]) ** 2).mean(axis=0))
    distances = (((Z[:, None] - means) / deviation) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.predict(X), distances.argmin(axis=1))
    np.testing.assert_allclose(model.priors_, 1 / 3)


def test_priors_have_no_place_beside_the_nearest_mean(blobs):
    X, y = blobs(0)
    for cls in (KernelFisherDiscriminant, SparseKernelFisherDiscriminant):
        with pytest.raises(ValueError, match=r"^rule='nearest_mean' has no priors: .*\.$"):
            cls(rule="nearest_mean", priors=[0.2, 0.8]).fit(X, y)
        cls(rule="nearest_mean", priors="uniform", gamma=1.0, alpha=1.0).fit(X, y)


def test_the_width_from_the_variance_counts_copies(blobs):
    X, y = blobs(7, n_rows=30)
    X = np.vstack([X * [1, 2, 3][: X.shape[1]] + 5, np.repeat(X[:1] + 9, 8, axis=0)])
    y = np.append(y, np.repeat(y[:1], 8))
    for cls in (KernelFisherDiscriminant, SparseKernelFisherDiscriminant):
        model = cls(gamma="variance", kernel="rbf", alpha=0.1).fit(X, y)
        assert model.gamma_ == pytest.approx(1 / (2 * total_variance(X)), rel=1e-12)
        scale = cls(gamma="scale", kernel="rbf", alpha=0.1).fit(X, y).gamma_
        assert scale == pytest.approx(1 / (X.shape[1] * X.var()), rel=1e-12)
