"""Other kernels than the Gaussian, and a width for each class: what the papers call easy."""

import numpy as np
import pytest
from sklearn.base import clone

from classifiers.samples import SAMPLES, assert_close, table, three_gaussians
from lazy import cut
from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.bandwidth import silverman_bandwidth
from mercer.sums import kernel_sum
from oracles import classifiers as oracle

KERNELS = ["exponential", "laplacian", "cauchy"]


# Kernels: EQ's appendix, the double sum of k itself -----------------------------------------------


@pytest.mark.parametrize("density", ["parzen", "mercer", None])
@pytest.mark.parametrize("rule", ["cosine", "append"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_laplacian_classifier_of_other_windows(kernel, rule, density):
    """f̂ and the kernel have the same width: "parzen" and "mercer" are one."""
    for name in ("gaussians", "wine"):
        X, y = SAMPLES[name]
        rows, labels, new, h = X[::2], y[::2], X[1::2], 1.3
        options = {"bandwidth": h, "kernel": kernel, "rule": rule, "density": density}
        model = LaplacianClassifier(**options).fit(rows, labels)
        sample = oracle.Sample.of(rows, labels, h, density, kernel)
        K = oracle.windows(new, rows, h, kernel)
        if rule == "cosine":
            expected = oracle.log(sample.gamma(K))
        else:
            cuts = sample.appended_cuts(K, K)
            expected = -len(rows) * (np.log(cuts) - np.log(sample.information_cut()))
        assert_close(table(model.decision_function(new)), table(expected))


@pytest.mark.parametrize("kernel", KERNELS)
def test_both_ise_rules_of_other_windows(kernel):
    X, y = SAMPLES["three gaussians"]
    rows, labels, new, h = X[::2], y[::2], X[1::2], 0.9
    sample = oracle.Sample.of(rows, labels, h, None, kernel)
    K = oracle.windows(new, rows, h, kernel)
    options = {"bandwidth": h, "kernel": kernel}
    plane = ISEClassifier(**options).fit(rows, labels)
    assert_close(plane.decision_function(new), sample.plane_scores(K))
    appended, before = sample.appended_ise(K)
    append = ISEClassifier(rule="append", **options).fit(rows, labels)
    assert_close(append.decision_function(new), len(rows) * (np.log(appended) - np.log(before)))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("weighting", ["margin", "cauchy_schwarz"])
def test_learned_weights_of_other_windows(kernel, weighting):
    """The machine is libsvm's on that kernel; angles are those of the weighted means."""
    from sklearn.svm import SVC

    X, y = SAMPLES["gaussians"]
    model = ISEClassifier(bandwidth=1.1, kernel=kernel, weighting=weighting).fit(X, y)
    K = oracle.windows(X, X, 1.1, kernel).astype(float)
    if weighting == "margin":
        machine = SVC(kernel="precomputed", tol=1e-8).fit(K, y)
        assert_close(model.decision_function(X), machine.decision_function(K), 1e-6)
        return
    nodes = oracle.windows(model.X_fit_, model.X_fit_, 1.1, kernel).astype(float)
    at_nodes = oracle.windows(X, model.X_fit_, 1.1, kernel).astype(float)
    p, q = np.maximum(model.dual_coef_[0], 0), np.maximum(-model.dual_coef_[0], 0)
    cosines = [np.log(at_nodes @ side / np.sqrt(side @ nodes @ side)) for side in (p, q)]
    assert_close(model.decision_function(X), cosines[0] - cosines[1], 1e-8)


@pytest.mark.parametrize("way", ["herding", "largest", "random"])
def test_nodes_of_other_windows(way):
    """Norms and sums are those of the nodes; herding solves for their weights in that kernel."""
    X, y = SAMPLES["wine"]
    options = {"bandwidth": 2.0, "kernel": "laplacian", "n_nodes": 30, "random_state": 0}
    model = LaplacianClassifier(node_selection=way, **options).fit(X, y)
    nodes, beta, codes = model.X_fit_, model.node_weights_, model.node_classes_
    among = oracle.windows(nodes, nodes, 2.0, "laplacian").astype(float)
    for c in range(3):
        own = codes == c
        assert_close(model.norms_[c] ** 2, beta[own] @ among[np.ix_(own, own)] @ beta[own])
        if way == "herding":  # what is left of the class vector is orthogonal to its nodes
            rows = y == c
            wanted = oracle.windows(nodes[own], X[rows], 2.0, "laplacian").astype(float)
            full = LaplacianClassifier(bandwidth=2.0, kernel="laplacian").fit(X, y)
            wanted = wanted @ full.node_weights_[rows]
            assert_close(among[np.ix_(own, own)] @ beta[own], wanted, 1e-6)


# A width for each class ---------------------------------------------------------------------------


class Grid:
    """Functions on a line, and their inner products as integrals."""

    step = 2e-3
    u = np.arange(-12, 14, step)

    def window(self, x, h):
        return np.exp(-((self.u - x) ** 2) / (2 * h * h)) / np.sqrt(2 * np.pi * h * h)

    def inner(self, f, g):
        return (f * g).sum() * self.step


LINE = np.random.default_rng(0).normal(size=(30, 1)) + np.repeat([0.0, 1.5, 3.0], 10)[:, None]
CLASSES, WIDTHS = np.repeat([0, 1, 2], [12, 10, 8]), [0.4, 0.7, 1.1]
NEW = np.linspace(-2, 5, 15)[:, None]


@pytest.mark.parametrize("density", ["parzen", "mercer", None])
@pytest.mark.parametrize("times", [None, np.arange(30) % 3 + 1], ids=["plain", "weighted"])
def test_angles_with_a_width_for_each_class_are_integrals(density, times):
    """LC (8)–(9), (16): cos∠(Φ_c(x), m_c), x having the window of class c; f̂ of all windows."""
    grid, omega = Grid(), np.ones(30) if times is None else times
    options = {"bandwidth": WIDTHS, "density": density}
    model = LaplacianClassifier(**options).fit(LINE, CLASSES, sample_weight=times)
    h, wide = np.array(WIDTHS)[CLASSES], 1 if density == "parzen" else 2**0.5
    f = np.array(
        [
            sum(w * np.exp(-((x - z) ** 2) / (2 * (wide * b) ** 2)) / (wide * b)
                for z, b, w in zip(LINE[:, 0], h, omega, strict=True))
            for x in LINE[:, 0]
        ]
    )  # fmt: skip
    beta = omega * (np.ones(30) if density is None else f**-0.5)
    cosines = np.empty((len(NEW), 3))
    for c, b in enumerate(WIDTHS):
        mean = sum(beta[i] * grid.window(LINE[i, 0], b) for i in np.flatnonzero(c == CLASSES))
        norm = np.sqrt(grid.inner(mean, mean))
        for t, x in enumerate(NEW[:, 0]):
            point = grid.window(x, b)
            cosines[t, c] = grid.inner(point, mean) / (norm * np.sqrt(grid.inner(point, point)))
    assert (cosines <= 1).all()
    assert_close(table(model.decision_function(NEW)), table(np.log(cosines)), 1e-7)


@pytest.mark.parametrize("times", [None, np.arange(30) % 3 + 1], ids=["plain", "weighted"])
def test_distances_with_a_width_for_each_class_are_integrals(times):
    """EQ (27), (37)–(38): the nearest mean to the point's windows of all widths, averaged."""
    grid, omega = Grid(), np.ones(30) if times is None else times
    model = ISEClassifier(bandwidth=WIDTHS).fit(LINE, CLASSES, sample_weight=times)
    means = []
    for c, b in enumerate(WIDTHS):
        rows = np.flatnonzero(c == CLASSES)
        parts = (omega[i] * grid.window(LINE[i, 0], b) for i in rows)
        means.append(sum(parts) / omega[rows].sum())
    own = [grid.inner(grid.window(0, b), grid.window(0, b)) for b in WIDTHS]
    peak, v = np.mean(own), np.mean([grid.inner(m, m) for m in means])
    distances = np.empty((len(NEW), 3))
    for t, x in enumerate(NEW[:, 0]):
        point = sum(grid.window(x, b) for b in WIDTHS) / 3
        distances[t] = [grid.inner(point - m, point - m) for m in means]
    assert np.array_equal(model.predict(NEW), distances.argmin(axis=1))
    expected = -2 * distances * peak / (v * (peak - v))
    assert_close(table(model.decision_function(NEW)), table(expected), 1e-7)
    assert_close(model.squared_norms_, [grid.inner(m, m) / max(own) for m in means], 1e-7)


def test_two_classes_of_one_size_and_two_widths_are_as_the_paper_derives_them():
    """EQ (34)–(38) with windows of two widths: to first order in 1/N the two rules agree.

    With x in class 1 or 2 the ISE differs by ⟨Φ₁(x) + Φ₂(x), m₁ − m₂⟩ − ‖m₁‖² + ‖m₂‖², which is
    twice p̂ − q̂ + b with the mean of the point's two windows as Φ(x).
    """
    grid, h = Grid(), (0.4, 0.9)
    rng = np.random.default_rng(1)
    a, b = rng.normal(0, 1, 400), rng.normal(1, 1, 400)
    sums = [sum(grid.window(x, h[0]) for x in a), sum(grid.window(x, h[1]) for x in b)]
    model = ISEClassifier(bandwidth=h).fit(np.r_[a, b][:, None], np.repeat([0, 1], 400))
    for x in np.linspace(-2, 3, 9):
        with_x = []
        for c in (0, 1):
            means = [s / 400 for s in sums]
            means[c] = (sums[c] + grid.window(x, h[c])) / 401
            with_x.append(grid.inner(means[0] - means[1], means[0] - means[1]))
        gap = model.decision_function([[x]])[0]
        if abs(gap) > 0.1:
            assert (with_x[1] > with_x[0]) == (gap > 0)


@pytest.mark.parametrize(
    "model",
    [ParzenClassifier(priors="uniform"), LaplacianClassifier(), ISEClassifier(),
     LaplacianClassifier(density="mercer", n_nodes=12)],
    ids=str,
)  # fmt: skip
def test_equal_widths_are_one_width(model):
    X, y = three_gaussians(60)
    one, three = (clone(model).set_params(bandwidth=b).fit(X, y) for b in (0.8, [0.8] * 3))
    assert_close(table(three.decision_function(X)), table(one.decision_function(X)))
    assert three.bandwidth_.shape == (3,)


@pytest.mark.parametrize("model", [LaplacianClassifier(), ISEClassifier()], ids=str)
def test_rules_look_at_each_class_alone(model):
    X, y = SAMPLES["wine"]
    X, y = X[:, :2], y
    model = clone(model).set_params(bandwidth="silverman", per_class=True).fit(X, y)
    widths = [silverman_bandwidth(X[y == c]) for c in range(3)]
    assert_close(model.bandwidth_, widths)
    given = clone(model).set_params(bandwidth=widths).fit(X, y)
    assert_close(model.decision_function(X), given.decision_function(X))


@pytest.mark.parametrize("model", [LaplacianClassifier(), ISEClassifier()], ids=str)
def test_classes_so_unlike_that_peaks_overflow_beside_each_other(model):
    """In 2000 columns the peaks of windows twice as wide differ by 2^2000."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 2000)) * np.where(y, 2.0, 1.0)[:, None]
    model = clone(model).set_params(bandwidth=[30.0, 60.0]).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_log_proba(X)).all()
    if isinstance(model, LaplacianClassifier):
        assert (model.norms_ > 0).all()
        assert (model.weights_ >= 0).all()


@pytest.mark.parametrize(
    "model",
    [LaplacianClassifier(bandwidth=WIDTHS), ISEClassifier(bandwidth=WIDTHS),
     LaplacianClassifier(kernel="laplacian", rule="auto"), ISEClassifier(kernel="cauchy"),
     ISEClassifier(kernel="exponential", rule="append")],
    ids=str,
)  # fmt: skip
def test_rows_in_blocks(model):
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler="synchronous"):
        expected = clone(model).fit(LINE, CLASSES)
        fitted = clone(model).fit(cut(LINE, (7, 1, 22)), cut(CLASSES, (7, 1, 22)))
        np.testing.assert_allclose(fitted.bandwidth_, expected.bandwidth_, rtol=1e-9)
        found = fitted.decision_function(cut(NEW, (4, 11)))
        assert_close(found, expected.decision_function(NEW), 1e-8)


def test_the_tolerance_is_for_gaussian_sums_alone():
    """Other kernels have no fast transform: they are added up term by term."""
    X, y = three_gaussians(60)
    for model in (LaplacianClassifier(), ISEClassifier(rule="append")):
        model.set_params(bandwidth=0.5, kernel="laplacian")
        exact = model.set_params(tol=None).fit(X, y).decision_function(X)
        assert_close(model.set_params(tol=1e-2).fit(X, y).decision_function(X), exact)
    assert kernel_sum(X, kernel="laplacian", bandwidth=1.0, tol=1e-2).shape == (60,)
