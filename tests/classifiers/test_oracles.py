"""Scores and attributes against the formulas of the papers, to 1e-9."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from classifiers.samples import SAMPLES, assert_close, table
from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.bandwidth import silverman_bandwidth
from mercer.information import integrated_squared_error, log_laplacian_information_cut
from oracles import classifiers as oracle

DENSITIES = ["parzen", "mercer", None]
WIDTHS = [(0.3, True), (1.0, False), (1.0, True), (3.0, False)]  # times Silverman's


class Case:
    """Half of a sample to learn from, half to ask about, with the oracle of the first."""

    def __init__(self, name, width, density=None, weighted=False):
        X, y = SAMPLES[name]
        self.X, self.y, self.new = X[::2], y[::2], X[1::2]
        for c in np.unique(y):
            assert np.count_nonzero(self.y == c) > 1
        self.h = width * silverman_bandwidth(self.X)
        times = np.ones(len(self.y), int)
        if weighted:
            times = np.random.default_rng(0).integers(1, 4, len(self.y))
        self.fit = {"X": self.X, "y": self.y, "sample_weight": times if weighted else None}
        self.rows, labels = np.repeat(self.X, times, axis=0), np.repeat(self.y, times)
        self.oracle = oracle.Sample.of(self.rows, labels, self.h, density)
        self.P = oracle.windows(self.new, self.rows, self.h)
        self.K = oracle.windows(self.new, self.rows, np.sqrt(oracle.LONG(2)) * self.h)


@pytest.mark.parametrize(("width", "weighted"), WIDTHS)
@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("name", SAMPLES)
def test_cosine_rule(name, density, width, weighted):
    case = Case(name, width, density, weighted)
    model = LaplacianClassifier(bandwidth=case.h, density=density, calibration=None)
    model.fit(**case.fit)
    cosines = case.oracle.cosines(case.P, case.K)  # (17)
    assert (cosines <= 1 + 1e-12).all()
    assert_close(table(model.decision_function(case.new)), table(oracle.log(cosines)))
    gamma = case.oracle.gamma(case.K)  # (18)
    assert_close(table(oracle.log(gamma)), table(oracle.log(cosines)))
    assert_close(model.predict_proba(case.new), gamma / gamma.sum(axis=1, keepdims=True))
    assert np.array_equal(model.predict(case.new), model.classes_[gamma.argmax(axis=1)])


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("name", ["gaussians", "wine"])
def test_norms_and_weights(name, density):
    case = Case(name, 1.0, density)
    model = LaplacianClassifier(bandwidth=case.h, density=density).fit(**case.fit)
    n, d = case.X.shape
    peak = (2 * np.pi * case.h**2) ** (-d / 2)  # of a Parzen window
    unit = {"parzen": peak / n, "mercer": peak * 2 ** (-d / 2) / n, None: 1}[density]
    assert_close(model.weights_, (unit / case.oracle.f) ** 0.5 * (n**0.5 if density else 1))
    sizes = np.bincount(np.unique(case.y, return_inverse=True)[1])
    # V_c² = N_c² ‖m_c‖², in units of the Mercer kernel's peak and of f̂'s unit
    V2 = np.diag(case.oracle.inner) * sizes**2 / (peak * 2 ** (-d / 2)) * unit
    assert_close(model.norms_, V2**0.5)
    assert_close(model.class_prior_, sizes / n)
    assert_close(model.node_weights_, (unit / case.oracle.f) ** 0.5)


@pytest.mark.parametrize(("width", "weighted"), WIDTHS)
@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("name", ["gaussians", "three gaussians", "ring", "wine", "iris"])
def test_append_rule(name, density, width, weighted):
    case = Case(name, width, density, weighted)
    model = LaplacianClassifier(rule="append", bandwidth=case.h, density=density).fit(**case.fit)
    cuts = case.oracle.appended_cuts(case.P, case.K)
    expected = -len(case.rows) * (np.log(cuts) - np.log(case.oracle.information_cut()))
    assert_close(table(model.decision_function(case.new)), table(expected), 2e-9)
    if len(model.classes_) > 2:  # absolute, not only relative to the first class
        assert_close(model.decision_function(case.new), expected, 2e-9)
    assert np.array_equal(model.predict(case.new), model.classes_[cuts.argmin(axis=1)])


def test_the_appended_cut_is_the_cut_of_the_appended_sample():
    """Without densities nothing is held fixed: the rule is the measure itself, point by point."""
    case = Case("three gaussians", 1.0)
    cuts = np.log(case.oracle.appended_cuts(case.P, case.K)).astype(float)
    log_kappa = np.log(3)
    for t, x in enumerate(case.new[:5]):
        for c in range(3):
            X, y = np.r_[case.X, x[None]], np.r_[case.y, c]
            log_cut = log_laplacian_information_cut(X, y, bandwidth=case.h, density=None)
            assert_close(log_cut + log_kappa, cuts[t, c])


@pytest.mark.parametrize("rule", ["cosine", "append"])
@pytest.mark.parametrize("priors", ["uniform", [0.7, 0.2, 0.1]])
def test_priors(rule, priors):
    case = Case("wine", 1.0, "parzen")
    options = {"rule": rule, "bandwidth": case.h}
    plain = LaplacianClassifier(**options).fit(**case.fit).decision_function(case.new)
    model = LaplacianClassifier(**options, priors=priors).fit(**case.fit)
    wanted = np.full(3, 1 / 3) if priors == "uniform" else np.array(priors)
    shares = np.bincount(case.y) / len(case.y)
    assert_close(model.decision_function(case.new), plain + np.log(wanted) - np.log(shares))
    assert_close(model.priors_, wanted)


@pytest.mark.parametrize("priors", [None, "uniform", "given"])
@pytest.mark.parametrize(("width", "weighted"), WIDTHS)
@pytest.mark.parametrize("name", SAMPLES)
def test_parzen(name, width, weighted, priors):
    case = Case(name, width, None, weighted)
    n_classes = len(case.oracle.classes)
    given = np.arange(1, n_classes + 1) / sum(range(1, n_classes + 1))
    wanted = {"uniform": np.full(n_classes, 1 / n_classes), "given": given, None: None}[priors]
    argument = given if priors == "given" else priors
    model = ParzenClassifier(bandwidth=case.h, priors=argument, calibration=None)
    model.fit(**case.fit)
    densities = case.oracle.densities(case.P, wanted)
    assert_close(table(model.decision_function(case.new)), table(oracle.log(densities)))
    assert_close(model.predict_proba(case.new), densities / densities.sum(axis=1, keepdims=True))
    assert np.array_equal(model.predict(case.new), model.classes_[densities.argmax(axis=1)])


def test_parzen_with_a_width_for_each_class():
    case = Case("wine", 1.0)
    widths = [0.5, 1.0, 2.0]
    model = ParzenClassifier(bandwidth=widths, priors=[0.5, 0.3, 0.2]).fit(**case.fit)
    densities = [
        prior * oracle.windows(case.new, case.X[case.y == c], h).mean(axis=1)
        for c, (h, prior) in enumerate(zip(widths, [0.5, 0.3, 0.2], strict=True))
    ]
    expected = table(oracle.log(np.stack(densities, axis=1)))
    assert_close(table(model.decision_function(case.new)), expected)


def test_parzen_per_class_rules():
    case = Case("wine", 1.0)
    model = ParzenClassifier(bandwidth="silverman", per_class=True).fit(**case.fit)
    expected = [silverman_bandwidth(case.X[case.y == c]) for c in range(3)]
    assert_close(model.bandwidth_, expected)
    # A class of one row, once or twice, has no spread of its own.
    X, y = np.array([[0.0], [1.0], [5.0]]), [0, 0, 1]
    pooled = silverman_bandwidth(X, sample_weight=[1, 1, 2])
    for rows, labels, times in ((X, y, [1, 1, 2]), (np.r_[X, X[2:]], [*y, 1], None)):
        model = ParzenClassifier(bandwidth="silverman", per_class=True)
        assert_close(model.fit(rows, labels, times).bandwidth_[1], pooled)


@pytest.mark.parametrize(("width", "weighted"), WIDTHS)
@pytest.mark.parametrize("name", SAMPLES)
def test_plane_rule(name, width, weighted):
    """EQ Fig. 2: the nearest class mean, for any sizes and any number of classes."""
    case = Case(name, width, None, weighted)
    model = ISEClassifier(bandwidth=case.h).fit(**case.fit)
    distances = case.oracle.distances(case.K)
    assert np.array_equal(model.predict(case.new), model.classes_[distances.argmin(axis=1)])
    expected = case.oracle.plane_scores(case.K)
    assert_close(table(model.decision_function(case.new)), table(expected))
    if len(model.classes_) > 2:
        assert_close(model.decision_function(case.new), expected)
    peak = case.oracle.K[0, 0]
    assert_close(model.squared_norms_, np.diag(case.oracle.inner) / peak)


def test_the_plane_of_two_classes_is_as_printed():
    """EQ eq. (42): the score is p̂ − q̂ + b, whatever the sizes, times a positive number."""
    X, y = SAMPLES["gaussians"]
    assert np.bincount(y)[0] > 1.5 * np.bincount(y)[1]
    new, h = X + 0.3, 0.7
    K = oracle.windows(new, X, np.sqrt(2) * h)
    sample = oracle.Sample.of(X, y, h, None)
    b = (sample.inner[0, 0] - sample.inner[1, 1]) / 2  # class 1 is the first of the paper
    margin = (K[:, y == 1].mean(axis=1) - K[:, y == 0].mean(axis=1) + b).astype(float)
    decision = ISEClassifier(bandwidth=h).fit(X, y).decision_function(new)
    ratio = decision / margin
    assert ratio.min() > 0
    assert_close(ratio, np.full(len(new), ratio[0]), 1e-8)


@pytest.mark.parametrize(("width", "weighted"), WIDTHS)
@pytest.mark.parametrize("name", SAMPLES)
def test_ise_append_rule(name, width, weighted):
    case = Case(name, width, None, weighted)
    model = ISEClassifier(bandwidth=case.h, rule="append").fit(**case.fit)
    appended, before = case.oracle.appended_ise(case.K)
    expected = len(case.rows) * (np.log(appended) - np.log(before))
    assert_close(table(model.decision_function(case.new)), table(expected))
    if len(model.classes_) > 2:
        assert_close(model.decision_function(case.new), expected)
    assert np.array_equal(model.predict(case.new), model.classes_[appended.argmax(axis=1)])
    peak = case.oracle.K[0, 0]
    assert_close(model.squared_norms_, np.diag(case.oracle.inner) / peak)
    assert_close(model.class_count_, [len(rows) for rows in case.oracle.members])


@pytest.mark.parametrize("name", ["gaussians", "three gaussians", "iris"])
def test_the_append_rule_is_the_ise_of_samples_with_the_point_in_them(name):
    """EQ eq. (34), literally: x is put into each class and all pairs of classes are measured."""
    X, y = SAMPLES[name]
    rows, labels, new, h = X[::2], y[::2], X[1:13:2], 0.6
    model = ISEClassifier(bandwidth=h, rule="append").fit(rows, labels)
    decided, totals = [], []
    for x in new:
        row = []
        for c in model.classes_:
            A, b = np.r_[rows, x[None]], np.r_[labels, c]
            pairs = combinations(model.classes_, 2)
            row.append(
                sum(integrated_squared_error(A[b == i], A[b == j], bandwidth=h) for i, j in pairs)
            )
        totals.append(row)
        decided.append(model.classes_[np.argmax(row)])
    assert np.array_equal(model.predict(new), decided)
    expected = len(rows) * np.log(totals)
    assert_close(table(model.decision_function(new)), table(expected), 1e-7)


@pytest.mark.parametrize("name", ["gaussians", "three gaussians"])
def test_only_the_plane_rule_is_the_nearest_class_mean(name):
    """Sizes of two classes, and a third class, move the append rule away from it."""
    X, y = SAMPLES[name]
    plane, append = (
        ISEClassifier(bandwidth=2.0, rule=rule).fit(X, y).predict(X + 0.2)
        for rule in ("plane", "append")
    )
    assert (plane != append).any()


@pytest.mark.parametrize("rule", ["plane", "append"])
def test_equal_classes_make_both_ise_rules_a_hyperplane(rule):
    """EQ eqs. (38)–(42): with N₁ = N₂, p̂(x) − q̂(x) + b decides."""
    X, y = SAMPLES["moons"]
    rows = np.sort(np.r_[np.flatnonzero(y == 0)[:20], np.flatnonzero(y == 1)[:20]])
    rest = np.setdiff1d(np.arange(len(y)), rows)
    model = ISEClassifier(bandwidth=0.4, rule=rule).fit(X[rows], y[rows])
    K = oracle.windows(X[rest], X[rows], np.sqrt(2) * 0.4)
    inner = oracle.Sample.of(X[rows], y[rows], 0.4, None).inner
    b = (inner[0, 0] - inner[1, 1]) / 2  # for class 1 against class 0
    margin = K[:, y[rows] == 1].mean(axis=1) - K[:, y[rows] == 0].mean(axis=1) + b
    assert np.array_equal(model.predict(X[rest]), (margin > 0).astype(int))
    scores = model.decision_function(X[rest])
    assert np.corrcoef(scores, margin.astype(float))[0, 1] > 0.999


def test_a_subset_for_the_density_keeps_each_rows_own_term():
    X, y = SAMPLES["gaussians"]
    n, h = len(y), 0.8
    model = LaplacianClassifier(bandwidth=h, density_subset=20, random_state=0).fit(X, y)
    subset = np.sort(np.random.RandomState(0).permutation(n)[:20])
    P = (oracle.windows(X, X, h) / oracle.windows(X[:1], X[:1], h)).astype(float)
    F = np.empty(n)
    for i in range(n):
        others = [j for j in subset if j != i]
        F[i] = 1 + P[i, others].sum() * (n - 1) / len(others)
    assert_close(model.weights_, (n / F) ** 0.5)
    assert (model.weights_ <= n**0.5).all()
    whole = LaplacianClassifier(bandwidth=h, density_subset=1.0, random_state=0).fit(X, y)
    full = LaplacianClassifier(bandwidth=h).fit(X, y)
    assert_close(whole.weights_, full.weights_)


@pytest.mark.parametrize(
    ("rule", "weighting"),
    [("append", "uniform"), *(("plane", w) for w in ("uniform", "margin", "cauchy_schwarz"))],
)
def test_weights_are_repetitions_for_every_ise(rule, weighting):
    X, y = SAMPLES["three gaussians"]
    times = np.random.default_rng(1).integers(0, 4, len(y))
    model = ISEClassifier(bandwidth=0.7, rule=rule, weighting=weighting)
    weighted = model.fit(X, y, sample_weight=times).decision_function(X)
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).decision_function(X)
    assert_close(weighted, repeated, 1e-6 if weighting == "margin" else 1e-7)


@pytest.mark.parametrize("factor", [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3])
@pytest.mark.parametrize("name", ["wine", "digits"])
def test_every_bandwidth_gives_finite_and_right_probabilities(name, factor):
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        X, y, new = X[:150], y[:150], X[150:210]
    else:
        X, y = SAMPLES[name]
        X, y, new = X[::2], y[::2], X[1::2]
    h = factor * silverman_bandwidth(X)
    d2 = oracle.squared_distances(new, X)
    log_P, log_K = -d2 / (2 * h**2), -d2 / (4 * h**2)
    sample = oracle.Sample.in_logs(X, y, h)
    expected = {
        ParzenClassifier(bandwidth=h, calibration=None): oracle.log_densities(log_P, y),
        LaplacianClassifier(bandwidth=h, calibration=None): oracle.log_gamma(sample, log_K),
    }
    for model, scores in expected.items():
        model.fit(X, y)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares = (shares / shares.sum(axis=1, keepdims=True)).astype(float)
        proba = model.predict_proba(new)
        assert np.isfinite(proba).all()
        assert_close(proba, shares)
        assert_close(table(model.decision_function(new)), table(scores), 1e-8)
        assert np.array_equal(model.predict(new), model.classes_[scores.argmax(axis=1)])
    K = np.exp(log_K)
    flat = oracle.Sample.in_logs(X, y, h, None)
    ise = ISEClassifier(bandwidth=h, rule="append").fit(X, y)
    appended, before = flat.appended_ise(K)
    assert_close(ise.decision_function(new), len(y) * (np.log(appended) - np.log(before)), 2e-9)
    plane = ISEClassifier(bandwidth=h).fit(X, y)
    assert_close(table(plane.decision_function(new)), table(flat.plane_scores(K)), 1e-6)
    append = LaplacianClassifier(bandwidth=h, rule="append").fit(X, y)
    if factor >= 1:  # below, cuts leave the range of extended precision
        cuts = sample.appended_cuts(np.exp(log_P), K)
        expected = -len(y) * (np.log(cuts) - np.log(sample.information_cut()))
        assert_close(append.decision_function(new), expected)
        assert np.array_equal(append.predict(new), cuts.argmin(axis=1))
    for model in (
        append,
        ise,
        plane,
        ISEClassifier(bandwidth=h, weighting="margin").fit(X, y),
        ISEClassifier(bandwidth=h, weighting="cauchy_schwarz").fit(X, y),
    ):
        proba = model.predict_proba(new)
        assert np.isfinite(proba).all()
        assert_close(proba.sum(axis=1), 1)
        assert np.isfinite(model.decision_function(new)).all()
