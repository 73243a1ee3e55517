"""What the papers say of the classifiers, and what must not change them."""

import numpy as np
import pytest
from scipy.stats import ortho_group
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import NearestCentroid
from sklearn.svm import SVC

from classifiers.samples import SAMPLES, assert_close, gaussians, moons, ring, table, wine
from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.information import (
    integrated_squared_error,
    laplacian_information_cut,
)
from oracles import classifiers as oracle

MODELS = {
    "parzen": ParzenClassifier(),
    "cosine": LaplacianClassifier(),
    "auto": LaplacianClassifier(rule="auto", priors="uniform"),
    "append, mercer": LaplacianClassifier(rule="append", density="mercer"),
    "nodes": LaplacianClassifier(n_nodes=15),
    "ise": ISEClassifier(),
    "margin": ISEClassifier(weighting="margin"),
    "cauchy_schwarz": ISEClassifier(weighting="cauchy_schwarz"),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


# The Laplacian classifier ------------------------------------------------------------------------


@pytest.mark.parametrize("h", [0.2, 1.0, 4.0])
def test_without_density_and_with_equal_norms_it_is_parzens_rule(h):
    """LC III-A: mirrored classes have V₁ = V₂; windows of width √2·h."""
    X = np.random.default_rng(0).normal(size=(25, 3)) + 0.5
    X, y = np.r_[X, -X], np.repeat([0, 1], 25)
    new = np.random.default_rng(1).normal(size=(40, 3))
    laplacian = LaplacianClassifier(bandwidth=h, density=None).fit(X, y)
    assert_close(laplacian.norms_[0], laplacian.norms_[1], 1e-13)
    parzen = ParzenClassifier(bandwidth=np.sqrt(2) * h).fit(X, y)
    assert_close(laplacian.decision_function(new), parzen.decision_function(new))


@pytest.mark.parametrize("density", ["parzen", "mercer"])
@pytest.mark.parametrize("distance", [30.0, 1e3, 1e8])
@pytest.mark.parametrize("side", ["ring", "disc"])
def test_an_outlier_moves_nothing_at_any_distance(side, distance, density):
    """LC V-C, with the point's own window in f̂: weights are at most √N."""
    X, y = ring(90)
    new = ring(60, seed=1)[0]
    options = {"bandwidth": 0.5, "density": density}
    plain = LaplacianClassifier(**options).fit(X, y)
    far = np.r_[X, [[distance, -distance]]]
    model = LaplacianClassifier(**options).fit(far, np.append(y, side))
    n = len(far)
    assert (model.weights_ >= 1 - 1e-12).all()
    assert (model.weights_ <= np.sqrt(n) * (1 + 1e-12)).all()
    assert_close(model.weights_[-1], np.sqrt(n), 1e-6)
    # f̂ of all rows shrinks by N/(N+1), which is common; V_c² grows by one window.
    c = list(plain.classes_).index(side)
    norms = plain.norms_.copy()
    norms[c] = np.sqrt(norms[c] ** 2 + 1)
    assert_close(model.norms_, norms, 1e-6)
    shift = np.log(norms) - np.log(plain.norms_)
    moved = plain.decision_function(new) - (shift[1] - shift[0])
    assert_close(model.decision_function(new), moved, 1e-6)
    assert np.abs(shift).max() < 0.03
    assert (model.predict(new) != plain.predict(new)).sum() <= 1
    assert model.predict(far[-1:])[0] == side


def test_norms_and_products_are_those_of_the_laplacian_information_cut():
    """LC eqs. (13) and (15): the measure and the classifier have the same class vectors."""
    for name in ("gaussians", "wine", "iris"):
        X, y = SAMPLES[name]
        for density in ("parzen", None):
            sample = oracle.Sample.of(X, y, 0.9, density)
            C = len(sample.classes)
            measure = laplacian_information_cut(X, y, bandwidth=0.9, density=density)
            assert_close(measure * C * (C - 1) / 2, float(sample.information_cut()))


def test_the_rare_class_is_found_more_often_than_by_parzen():
    """LC V-D, Tables I and III, over 30 draws: the paper shows one."""
    found = {"laplacian": 0, "parzen": 0}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = np.r_[rng.normal(2, 1, (100, 2)), rng.normal(0.6, 1, (5, 2))]
        y = np.repeat([0, 1], [100, 5])
        rare = rng.normal(0.6, 1, (10, 2))
        for name, model in (("laplacian", LaplacianClassifier()), ("parzen", ParzenClassifier())):
            model.set_params(bandwidth="silverman").fit(X, y)
            found[name] += (model.predict(rare) == 1).sum()
    assert found["laplacian"] > 2 * found["parzen"]  # 193 and 62 of 300


# Invariances -------------------------------------------------------------------------------------


def _fit(model, X, y):
    return clone(model).set_params(bandwidth=0.9).fit(X, y)


@every_model
def test_order_of_rows(model):
    X, y = SAMPLES["wine"]
    order = np.random.default_rng(0).permutation(len(y))
    a, b = clone(model).fit(X, y), clone(model).fit(X[order], y[order])
    assert a.bandwidth_ == pytest.approx(b.bandwidth_, rel=1e-12)
    assert_close(a.decision_function(X), b.decision_function(X), 1e-6)


@every_model
def test_names_of_classes(model):
    X, y = SAMPLES["wine"]
    renamed = np.array(["c", "a", "b"])[y]
    a, b = _fit(model, X, y), _fit(model, X, renamed)
    assert_close(table(a.decision_function(X)[:, [1, 2, 0]]), table(b.decision_function(X)), 1e-6)


@every_model
def test_translation_rotation_and_scale(model):
    X, y = SAMPLES["iris"]
    Q = ortho_group.rvs(X.shape[1], random_state=0)
    plain = clone(model).fit(X, y)
    moved = clone(model).fit(3 * X @ Q + 5, y)
    np.testing.assert_allclose(moved.bandwidth_, 3 * plain.bandwidth_, rtol=1e-10)
    scores = moved.decision_function(3 * X @ Q + 5)
    assert_close(table(scores), table(plain.decision_function(X)), 1e-5)


@pytest.mark.parametrize("model", [ParzenClassifier(), LaplacianClassifier()])
def test_a_class_far_away_leaves_the_order_of_the_others(model):
    """Its kernel values with them are 0: all that it may change is common to them."""
    X, y = gaussians()
    far = np.r_[X, np.full((4, 3), 1e5) + np.eye(4, 3)]
    a, b = _fit(model, X, y), _fit(model, far, np.r_[y, [2] * 4])
    assert_close(a.decision_function(X), table(b.decision_function(X))[:, 1])


# The nearest class mean ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gaussians", "three gaussians"])
def test_where_no_window_reaches_b_alone_decides(name):
    """Narrow windows: the class with the most rows.  Far points: the smallest potential."""
    X, y = SAMPLES[name]
    narrow = ISEClassifier(bandwidth=1e-3).fit(X, y)
    assert_close(narrow.squared_norms_, 1 / np.bincount(y))
    assert set(narrow.predict(X + 0.05)) == {np.bincount(y).argmax()}
    wide = ISEClassifier(bandwidth=0.8).fit(X, y)
    assert set(wide.predict(X + 100)) == {wide.squared_norms_.argmin()}


def test_wide_windows_are_the_nearest_mean_of_the_columns():
    X, y = SAMPLES["wine"]
    model = ISEClassifier(bandwidth=1e3).fit(X[::2], y[::2])
    nearest = NearestCentroid().fit(X[::2], y[::2])
    assert np.array_equal(model.predict(X), nearest.predict(X))


# The ISE classifier is the SVM -------------------------------------------------------------------


def hard_margin():
    X, y = moons(80)
    keep = SVC(C=10, gamma=2).fit(X, y).predict(X) == y  # what a hard margin can separate
    return X[keep], y[keep]


def test_hard_margin_equivalence():
    """EQ eqs. (9)–(16), (49)–(58): w* = Ω(m₁ − m₂), b* by (16), ISE = 2/Ω."""
    X, y = hard_margin()
    h = 0.4
    model = ISEClassifier(bandwidth=h, weighting="margin", C=1e8).fit(X, y)
    signed, omega = model.dual_coef_[0], model.omega_[0]
    assert (np.abs(signed) < 1e8 / 2).all()  # hard
    assert_close(signed.sum(), 0, 1e-7 * omega)  # (9)
    assert_close(omega, signed[signed > 0].sum())
    K = (
        oracle.windows(model.X_fit_, model.X_fit_, np.sqrt(2) * h)
        / oracle.windows(X[:1], X[:1], np.sqrt(2) * h)
    ).astype(float)
    p, q = np.maximum(signed, 0) / omega, np.maximum(-signed, 0) / omega
    b = omega * (q @ K @ q - p @ K @ p) / 2  # (16)
    np.testing.assert_allclose(model.intercept_[0], b, atol=1e-7)
    ise = p @ K @ p - 2 * p @ K @ q + q @ K @ q
    np.testing.assert_allclose(ise, 2 / omega, atol=1e-7)  # libsvm's kernel is float32
    # The same by the measure: densities of the weighted samples, in units of the kernel's peak.
    measure = integrated_squared_error(
        model.X_fit_[signed > 0], model.X_fit_[signed < 0], bandwidth=h,
        sample_weight=signed[signed > 0], sample_weight_y=-signed[signed < 0],
    )  # fmt: skip
    np.testing.assert_allclose(measure * (4 * np.pi * h**2), 2 / omega, atol=1e-7)
    # (58): support vectors at ±1, all others beyond
    margins = model.decision_function(X) * np.where(y == 1, 1, -1)
    assert margins.min() > 1 - 1e-6
    support = model.decision_function(model.X_fit_) * np.sign(signed)
    np.testing.assert_allclose(support, 1, atol=1e-6)
    # w* = Ω(m₁ − m₂): the decision by means, (55)
    to_nodes = oracle.windows(X, model.X_fit_, np.sqrt(2) * h)
    to_nodes = (to_nodes / oracle.windows(X[:1], X[:1], np.sqrt(2) * h)).astype(float)
    by_means = omega * (to_nodes @ p - to_nodes @ q) + b
    np.testing.assert_allclose(model.decision_function(X), by_means, atol=1e-6)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("name", ["gaussians", "moons", "breast cancer"])
def test_margin_is_svc(name, C):
    X, y = SAMPLES[name]
    h = 0.8
    model = ISEClassifier(bandwidth=h, weighting="margin", C=C).fit(X, y)
    svc = SVC(C=C, gamma=1 / (4 * h**2), tol=1e-8).fit(X, y)
    assert_close(model.decision_function(X), svc.decision_function(X), 1e-6)
    assert np.array_equal(model.predict(X), svc.predict(X))
    assert len(model.X_fit_) == len(svc.support_)
    assert_close(model.intercept_, svc.intercept_, 1e-6)


def test_margin_is_one_svc_against_the_rest():
    X, y = wine()
    model = ISEClassifier(bandwidth=1.5, weighting="margin").fit(X, y)
    peer = OneVsRestClassifier(SVC(gamma=1 / (4 * 1.5**2), tol=1e-8)).fit(X, y)
    assert_close(model.decision_function(X), peer.decision_function(X), 1e-6)
    assert np.array_equal(model.predict(X), peer.predict(X))
    assert model.dual_coef_.shape == (3, len(model.X_fit_))
