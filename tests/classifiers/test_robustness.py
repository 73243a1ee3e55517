"""Input as it comes: extreme, degenerate, wrong.  A right answer or one clear sentence."""

import time

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits

from classifiers.samples import SAMPLES, assert_close, gaussians, table, three_gaussians, wine
from mercer import (
    ISEClassifier,
    LaplacianClassifier,
    NearestAngleClassifier,
    ParzenClassifier,
)
from oracles import classifiers as oracle

MODELS = {
    "parzen": ParzenClassifier(),
    "parzen, per class": ParzenClassifier(bandwidth="silverman", per_class=True),
    "cosine": LaplacianClassifier(),
    "cosine, no density": LaplacianClassifier(density=None),
    "append": LaplacianClassifier(rule="append"),
    "auto, exact": LaplacianClassifier(rule="auto", loo="exact", density="mercer"),
    "nodes": LaplacianClassifier(n_nodes=6),
    "cosine, per class": LaplacianClassifier(bandwidth="silverman", per_class=True),
    "cosine, laplacian": LaplacianClassifier(kernel="laplacian"),
    "plane": ISEClassifier(),
    "plane, per class": ISEClassifier(bandwidth="silverman", per_class=True),
    "plane, cauchy": ISEClassifier(kernel="cauchy"),
    "ise append": ISEClassifier(rule="append"),
    "margin": ISEClassifier(weighting="margin"),
    "cauchy_schwarz": ISEClassifier(weighting="cauchy_schwarz"),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def fit_and_check(model, X, y, new=None):
    """Everything that is returned is finite; the fitted model."""
    model = clone(model).fit(X, y)
    new = X if new is None else new
    proba, scores = model.predict_proba(new), model.decision_function(new)
    assert np.isfinite(scores).all()
    assert np.isfinite(proba).all()
    assert np.isfinite(model.predict_log_proba(new)).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-5)
    assert (proba > 0).all()
    return model


# Degenerate tables ----------------------------------------------------------------------------


@every_model
def test_two_rows(model):
    model = fit_and_check(model, [[0.0], [1.0]], ["a", "b"])
    assert model.predict([[0.1], [0.9]]).tolist() == ["a", "b"]


@every_model
def test_one_row_in_each_class(model):
    model = fit_and_check(model, np.eye(5), np.arange(5))
    assert model.predict(np.eye(5)).tolist() == [0, 1, 2, 3, 4]


@every_model
def test_one_class_of_one_row(model):
    X, y = gaussians()
    model = fit_and_check(model, np.r_[X, X.max(axis=0)[None] + 3], np.r_[y, 2])
    assert model.predict(X.max(axis=0)[None] + 3)[0] == 2 or "margin" in str(model)


@every_model
def test_duplicate_rows(model):
    X, y = three_gaussians(24)
    model = clone(model)
    if model.get_params().get("weighting") == "margin":
        model.set_params(C=1e4)  # Silverman's rule sees 240 rows
    fit_and_check(model, np.repeat(X, 10, axis=0), np.repeat(y, 10))


@every_model
def test_constant_columns_change_nothing(model):
    X, y = three_gaussians(30)
    wide = np.c_[X, np.full((len(X), 2), 7.0)]
    plain = clone(model).set_params(bandwidth=0.8).fit(X, y)
    padded = clone(model).set_params(bandwidth=0.8).fit(wide, y)
    assert_close(padded.decision_function(wide), plain.decision_function(X), 1e-6)


@every_model
def test_identical_rows(model):
    model = fit_and_check(model, np.ones((12, 2)), [0, 1, 2] * 4)
    np.testing.assert_allclose(model.predict_proba(np.ones((1, 2))), np.full((1, 3), 1 / 3))


@every_model
def test_one_class_is_refused(model):
    message = "needs at least two classes in y with a positive weight, got one class: 'only one'"
    with pytest.raises(ValueError, match=message):
        clone(model).fit([[0.0], [1.0]], np.array(["only one"] * 2, object))
    with pytest.raises(ValueError, match=r"with a positive weight, got one class: 1\."):
        clone(model).fit([[0.0], [1.0], [2.0]], [0, 1, 1], sample_weight=[0, 1, 1])
    with pytest.raises(ValueError, match=r"(?i)sample.weight.* zero|non-zero"):
        clone(model).fit([[0.0], [1.0], [2.0]], [0, 1, 1], sample_weight=[0, 0, 0])


# Scale -----------------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_any_scale(model, scale):
    """The classifier of s·X is that of X, when the bandwidth follows."""
    X, y = three_gaussians(30)
    plain = clone(model).fit(X, y)
    scaled = clone(model).fit(X * scale, y)
    np.testing.assert_allclose(scaled.bandwidth_, plain.bandwidth_ * scale)
    scores = table(scaled.decision_function(X * scale))
    assert_close(scores, table(plain.decision_function(X)), 1e-6)


@every_model
def test_a_large_offset(model):
    X, y = three_gaussians(30)
    X = np.round(X * 2**20) / 2**20
    plain = clone(model).set_params(bandwidth=0.7).fit(X, y)
    moved = clone(model).set_params(bandwidth=0.7).fit(X + 1e8, y)
    assert np.array_equal(X + 1e8 - 1e8, X)
    assert_close(moved.decision_function(X + 1e8), plain.decision_function(X), 1e-6)
    assert_close(clone(model).fit(X + 1e8, y).bandwidth_, clone(model).fit(X, y).bandwidth_, 1e-6)


@every_model
@pytest.mark.parametrize("d", [1, 10_000])
def test_few_and_many_columns(model, d):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 15)
    X = rng.normal(size=(30, d)) + 3 * y[:, None] / np.sqrt(d)
    fit_and_check(model, X, y)


@pytest.mark.parametrize("density", ["parzen", "mercer", None])
def test_points_a_million_bandwidths_away(density):
    """Right by formulas in logs: every window underflows."""
    X, y = wine(2)
    rng = np.random.default_rng(0)
    new = rng.normal(size=(40, X.shape[1]))
    new *= 10.0 ** rng.uniform(2, 7, (40, 1))
    h = 1.0
    d2 = oracle.squared_distances(new, X)
    sample = oracle.Sample.in_logs(X, y, h, density)
    scores = {
        ParzenClassifier(bandwidth=h): oracle.log_densities(-d2 / (2 * h**2), y),
        LaplacianClassifier(bandwidth=h, density=density): oracle.log_gamma(
            sample, -d2 / (4 * h**2)
        ),
    }
    for model, expected in scores.items():
        fit_and_check(model, X, y, new)
        decided = model.fit(X, y).decision_function(new)
        # The scores themselves are up to 1e14, so that 1e-12 of them is what can be asked.
        largest = np.abs(expected).max(axis=1, keepdims=True).astype(float)
        assert (np.abs(table(decided) - table(expected)) <= 1e-12 * largest + 1e-9).all()
        margin = np.sort(expected, axis=1)
        sure = (margin[:, -1] - margin[:, -2]) > 1e-11 * largest[:, 0]
        assert sure.mean() > 0.5
        chosen = model.classes_[expected.argmax(axis=1)]
        assert np.array_equal(model.predict(new)[sure], chosen[sure])
    P = np.exp(-d2 / (2 * h**2)) * sample.P[0, 0]
    K = np.exp(-d2 / (4 * h**2)) * sample.K[0, 0]
    append = LaplacianClassifier(bandwidth=h, density=density, rule="append").fit(X, y)
    cuts = sample.appended_cuts(P, K)
    expected = -len(y) * (np.log(cuts) - np.log(sample.information_cut()))
    assert_close(append.decision_function(new), expected)
    flat = oracle.Sample.in_logs(X, y, h, None)
    appended, before = flat.appended_ise(K)
    ise = ISEClassifier(bandwidth=h, rule="append").fit(X, y)
    assert_close(ise.decision_function(new), len(y) * (np.log(appended) - np.log(before)))
    plane = ISEClassifier(bandwidth=h).fit(X, y)
    assert_close(plane.decision_function(new), flat.plane_scores(K))
    # No window reaches these points: b alone decides, for the class of the smallest potential.
    assert set(plane.predict(new[np.linalg.norm(new, axis=1) > 200])) == {
        np.argmin(plane.squared_norms_)
    }


@pytest.mark.parametrize("distance", [1e3, 1e5, 1e7])
def test_far_points_get_their_class_in_single_precision(distance):
    X, y = wine(2)
    new = np.random.default_rng(0).normal(size=(100, X.shape[1]))
    new[::3] *= distance / np.linalg.norm(new[::3], axis=1, keepdims=True)  # among near ones
    X, new = X.astype(np.float32), new.astype(np.float32)
    d2 = oracle.squared_distances(new, X)
    cosine = oracle.log_gamma(oracle.Sample.in_logs(X, y, 1.0), -d2 / 4)
    parzen = oracle.log_densities(-d2 / 2, y)
    for model, expected in ((LaplacianClassifier(), cosine), (ParzenClassifier(), parzen)):
        model.set_params(bandwidth=1.0).fit(X, y)
        assert np.array_equal(model.predict(new), expected.argmax(axis=1))


@every_model
def test_far_points_are_finite_in_single_precision(model):
    X, y = three_gaussians(30)
    new = (X * np.logspace(0, 12, 30)[:, None]).astype(np.float32)
    fit_and_check(model, X.astype(np.float32), y, new)


def test_digits_at_default_settings():
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500]
    for model, least in (
        (ParzenClassifier(), 0.9),
        (LaplacianClassifier(), 0.9),
        (ISEClassifier(), 0.75),
    ):
        model = fit_and_check(model, X[::2], y[::2])
        assert model.score(X[1::2], y[1::2]) > least


# Labels ----------------------------------------------------------------------------------------

LABELS = {
    "spaces": ["with space", "", "a\tb "],
    "unicode": ["naïve", "クラス", "🙂"],
    "bool": [True, False],
    "object": np.array(["b", "a", "c"], object),
    "numbers as text": ["10", "9", "1"],
    "floats": [1.0, 2.0, -3.0],
    "large": [2**40, -(2**40), 0],
}


@every_model
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_type(model, kind):
    X, y = three_gaussians(30)
    names = np.asarray(LABELS[kind])
    y = y % len(names)
    plain = clone(model).fit(X, y)
    named = clone(model).fit(X, names[y])
    assert np.array_equal(named.classes_, np.unique(names))
    assert set(named.predict(X)) <= set(names.tolist())
    order = np.argsort(names)  # classes are sorted by their names
    difference = table(named.decision_function(X)) - _reordered(plain, X, order)
    assert np.abs(difference).max() < 1e-5


def _reordered(model, X, order):
    scores = table(model.decision_function(X))[:, order]
    return scores - scores[:, :1]


def test_mixed_types_are_refused_as_scikit_learn_does():
    with pytest.raises(ValueError, match="Unknown label type"):
        LaplacianClassifier().fit(np.eye(4), np.array([1, "one", 2, "two"], object))
    with pytest.raises(ValueError, match="continuous"):
        LaplacianClassifier().fit(np.eye(4), [0.5, 0.7, 0.1, 0.2])


def test_ten_thousand_classes():
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.random((10_000, 2)), 2, axis=0), np.repeat(np.arange(10_000), 2)
    start = time.perf_counter()
    for model in (
        ParzenClassifier(bandwidth=1e-3),
        LaplacianClassifier(bandwidth=1e-3),
        ISEClassifier(bandwidth=1e-3),
    ):
        assert np.array_equal(model.fit(X, y).predict(X[:60]), y[:60])
        assert model.predict_proba(X[:3]).shape == (3, 10_000)
    assert time.perf_counter() - start < 60  # about 4 s
    message = "products of all 10000 classes with each other, 38910 MiB and more than working_mem"
    with pytest.raises(ValueError, match=message):
        ISEClassifier(rule="append").fit(X, y)


# Arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf])
@every_model
def test_missing_values_are_refused(model, value):
    X, y = three_gaussians(20)
    bad = X.copy()
    bad[3, 1] = value
    with pytest.raises(ValueError, match="Input X contains"):
        clone(model).fit(bad, y)
    with pytest.raises(ValueError, match="Input X contains"):
        clone(model).fit(X, y).predict(bad)


@every_model
def test_no_rows_to_predict(model):
    X, y = three_gaussians(20)
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        clone(model).fit(X, y).predict(X[:0])


@pytest.mark.parametrize("estimator", [ParzenClassifier, LaplacianClassifier])
@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([0.5, 0.5], "priors must have one entry for each of the 3 classes, got shape \\(2,\\)"),
        ([0.5, 0.5, 0.5], "priors must add up to 1, got 1.5"),
        ([0.5, 0.6, -0.1], "priors must be finite and not negative"),
        ([0.5, 0.5, np.nan], "priors must be finite and not negative"),
        ([[0.2, 0.3, 0.5]], "priors must have one entry"),
        ("balanced", "The 'priors' parameter"),
    ],
)
def test_wrong_priors(estimator, priors, message):
    X, y = three_gaussians(20)
    with pytest.raises(ValueError, match=message):
        estimator(bandwidth=1.0, priors=priors).fit(X, y)


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        (ParzenClassifier, {"bandwidth": "silver"}, "a str among {.*'loo'"),
        (LaplacianClassifier, {"bandwidth": "silver"}, "a str among {.*'loo'"),
        (ISEClassifier, {"bandwidth": "silver"}, "a str among {.*'loo'"),
        (LaplacianClassifier, {"bandwidth": 0}, "The 'bandwidth' parameter"),
        (LaplacianClassifier, {"bandwidth": -1.0}, "The 'bandwidth' parameter"),
        (LaplacianClassifier, {"bandwidth": np.inf}, "bandwidth"),
        (ParzenClassifier, {"bandwidth": np.inf}, "The 'bandwidth' parameter"),
        (ParzenClassifier, {"bandwidth": np.nan}, "bandwidth"),
        (ParzenClassifier, {"bandwidth": [1.0, 2.0]}, "one for each of the 3 classes, got shape"),
        (ParzenClassifier, {"bandwidth": [1.0, 2.0, 0.0]}, "bandwidth must be positive and finite"),
        (ParzenClassifier, {"per_class": True}, "bandwidth='loo' chooses one width for all class"),
        (ParzenClassifier, {"kernel": "box"}, "The 'kernel' parameter"),
        (LaplacianClassifier, {"n_nodes": 2}, "n_nodes=2 is less than the number of classes, 3"),
        (LaplacianClassifier, {"n_nodes": 0}, "The 'n_nodes' parameter"),
        (
            LaplacianClassifier,
            {"density_subset": 21},
            "density_subset=21 asks for more rows than the 20",
        ),
        (LaplacianClassifier, {"density_subset": 1.5}, "The 'density_subset' parameter"),
        (LaplacianClassifier, {"density_subset": 0}, "The 'density_subset' parameter"),
        (LaplacianClassifier, {"rule": "angle"}, "The 'rule' parameter"),
        (LaplacianClassifier, {"density": "knn"}, "The 'density' parameter"),
        (ISEClassifier, {"weighting": "margins"}, "The 'weighting' parameter"),
        (ISEClassifier, {"rule": "nearest"}, "The 'rule' parameter"),
        (
            ISEClassifier,
            {"rule": "auto", "weighting": "margin"},
            "rule='auto' goes with weighting='uniform': weighting='margin' learns a plane",
        ),
        (ISEClassifier, {"kernel": "epanechnikov"}, "ISEClassifier needs a Mercer"),
        (LaplacianClassifier, {"kernel": "epanechnikov"}, "LaplacianClassifier needs a Mercer"),
        (ISEClassifier, {"per_class": True}, "bandwidth='loo' chooses one width for all class"),
        (LaplacianClassifier, {"per_class": True}, "bandwidth='loo' chooses one width for all"),
        (LaplacianClassifier, {"bandwidth": [1.0, 2.0]}, "one for each of the 3 classes, got"),
        (
            LaplacianClassifier,
            {"bandwidth": [1.0, 2.0, 3.0], "rule": "auto"},
            "rule='auto' puts a point into every class in turn and takes one width for all",
        ),
        (
            ISEClassifier,
            {"bandwidth": "scott", "per_class": True, "rule": "append"},
            "rule='append' puts a point into every class in turn and takes one width for all",
        ),
        (
            LaplacianClassifier,
            {"bandwidth": [1.0, 2.0, 3.0], "density_subset": 5},
            "density_subset takes one width for all classes",
        ),
        (
            ISEClassifier,
            {"bandwidth": [1.0, 2.0, 3.0], "weighting": "margin"},
            "weighting='margin' takes one width for all classes; give one bandwidth",
        ),
        (
            ISEClassifier,
            {"bandwidth": [1.0, 2.0, 3.0], "kernel": "laplacian"},
            "need kernel='gaussian', got 'laplacian'; pass one bandwidth",
        ),
        (
            LaplacianClassifier,
            {"bandwidth": [1.0, 2.0, 3.0], "kernel": "cauchy"},
            "kernel 'cauchy' is not a density in two or more dimensions",
        ),
        (ISEClassifier, {"C": 0}, "The 'C' parameter"),
    ],
)
def test_wrong_arguments(estimator, options, message):
    X, y = three_gaussians(20)
    with pytest.raises(ValueError, match=message):
        estimator(**options).fit(X, y)


@every_model
def test_unseen_feature_names(model):
    X, y = three_gaussians(20)
    table_ = pd.DataFrame(X, columns=["first", "second"])
    fitted = clone(model).fit(table_, y)
    assert fitted.feature_names_in_.tolist() == ["first", "second"]
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(table_.rename(columns={"second": "other"}))


@pytest.mark.parametrize("size", [1, 5, 0.2, 1.0])
def test_sizes_of_density_subsets(size):
    X, y = three_gaussians(40)
    given = {"bandwidth": 0.5}
    for options in ({}, {"rule": "auto"}, given, {"rule": "append", **given}):
        model = LaplacianClassifier(density_subset=size, random_state=0, **options)
        fit_and_check(model, X, y)


# Memory ----------------------------------------------------------------------------------------


@every_model
def test_sparse_input_within_the_budget_and_beyond(model):
    X, y = three_gaussians(40)
    X = np.where(np.abs(X) > 0.5, X, 0)
    dense = clone(model).fit(X, y)
    for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        fitted = clone(model).fit(form(X), y)
        assert_close(fitted.decision_function(form(X)), dense.decision_function(X), 1e-12)
    wide = sparse.random_array((40, 10_000), density=0.001, format="csr", rng=0)
    with sklearn.config_context(working_memory=1):
        with pytest.raises(ValueError, match="X is sparse and would take 3 MiB as a dense array"):
            clone(model).fit(wide, y)
        if "cauchy_schwarz" not in str(model):
            clone(model).fit(wide[:, :100], y)


@every_model
def test_a_tiny_budget_gives_the_same_result(model):
    if "cauchy_schwarz" in str(model):
        pytest.skip("needs the kernel matrix, as its sentence says")
    X, y = SAMPLES["wine"]
    plain = clone(model).fit(X, y)
    with sklearn.config_context(working_memory=0.02):
        small = clone(model).fit(X, y)
        scores, proba = small.decision_function(X), small.predict_proba(X)
        assert np.array_equal(small.predict(X), plain.predict(X))
    assert_close(scores, plain.decision_function(X), 1e-7)
    assert_close(proba, plain.predict_proba(X), 1e-7)
    if hasattr(plain, "loo_results_"):
        assert_close(small.loo_results_["log_loss"], plain.loo_results_["log_loss"])


def test_the_kernel_matrix_of_cauchy_schwarz_must_fit_the_budget():
    X, y = three_gaussians(200)
    with (
        sklearn.config_context(working_memory=1),
        pytest.raises(ValueError, match="needs the kernel matrix of all 200 rows, 1 MiB with its"),
    ):
        ISEClassifier(bandwidth=1.0, weighting="cauchy_schwarz").fit(X, y)


def test_single_precision_is_near_double():
    X, y = wine()
    for model in MODELS.values():
        if "cauchy_schwarz" in str(model) or "n_nodes" in str(model):
            continue
        model = clone(model).set_params(bandwidth=1.0)
        double = clone(model).fit(X, y).decision_function(X)
        single = clone(model).fit(X.astype(np.float32), y).decision_function(X.astype(np.float32))
        assert single.dtype == np.float64  # scores are logarithms, of any size
        np.testing.assert_allclose(single, double, rtol=1e-4, atol=2e-3, err_msg=str(model))


def test_nearest_angle_on_degenerate_input():
    model = NearestAngleClassifier().fit([[0.0, 0.0], [1.0, 0.0]], [0, 1])
    assert np.isfinite(model.decision_function([[0.0, 0.0], [1e300, 1.0], [1e-300, 0.0]])).all()
    with pytest.raises(ValueError, match="needs at least two classes in y"):
        NearestAngleClassifier().fit([[0.0], [1.0]], [1, 1])
