"""Leave-one-out against refitting without the row, row by row."""

import numpy as np
import pytest
from sklearn.base import clone

from classifiers.samples import assert_close, gaussians, table, three_gaussians, wine
from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.bandwidth import bandwidth_ladder, silverman_bandwidth
from mercer.classifiers._class_vectors import append_scores, cosine_scores, ise_scores
from mercer.classifiers._leave_one_out import LeftOutVectors, LeftOutWindows
from mercer.classifiers._leave_one_out_exact import MOST_ROWS, ExactlyLeftOut
from mercer.classifiers._race import choose
from mercer.classifiers._selection import search
from mercer.classifiers._significance import Density
from mercer.kernels import get_kernel
from mercer.samples import SortedSample
from mercer.samples._weights import as_counts
from oracles import classifiers as oracle

DENSITIES = ["parzen", "mercer", None]
RULES = ["cosine", "append"]
GAUSSIAN = get_kernel("gaussian")


def ladder(X):
    """Widest first."""
    return tuple(bandwidth_ladder(silverman_bandwidth(X))[::-1].tolist())


def laplacian_parts(X, y, weights, bandwidths, kind, exact):
    density, sample = Density(kind, GAUSSIAN), SortedSample.of(X, y, weights)
    F = density.at_rows(sample.X, sample.weights, bandwidths)
    options = {"squared": density.squared, "links": "norms"}
    ladder = LeftOutVectors.of(sample, bandwidths, F, GAUSSIAN, **options)
    if exact and F is not None:
        ladder = ExactlyLeftOut(ladder)
    return sample, ladder.parts()


def laplacian_scores(X, y, weights, bandwidths, kind, exact):
    """Scores of both rules and log V_c, (b, n, C) each, in the rows' order."""
    sample, parts = laplacian_parts(X, y, weights, bandwidths, kind, exact)
    order = np.argsort(y, kind="stable")
    shape = (len(bandwidths), len(y), sample.n_classes)
    out = {name: np.full(shape, np.nan) for name in (*RULES, "log_norms")}
    for part in parts:
        rows = order[part.rows]
        total = part.counts.sum(axis=1, keepdims=True)
        out["cosine"][part.rung, rows] = cosine_scores(part.log_sums, part.log_norms)
        out["append"][part.rung, rows] = append_scores(
            part.log_sums, part.log_norms, part.log_links, part.log_weight, total
        )
        out["log_norms"][part.rung, rows] = part.log_norms
    assert not any(np.isnan(scores).any() for scores in out.values())
    return out


def brute_force(X, y, h, kind, times=None):
    """Scores of row i by the formulas over all rows but one copy of it: {rule: (n, C)}."""
    times = np.ones(len(y), int) if times is None else times
    rows, labels = np.repeat(X, times, axis=0), np.repeat(y, times)
    P, K = oracle.windows(rows, rows, h), oracle.windows(rows, rows, np.sqrt(oracle.LONG(2)) * h)
    whole = oracle.Sample(P, K, labels, kind)
    out = {rule: np.empty((len(y), len(whole.classes))) for rule in RULES}
    for i, copy in enumerate(np.cumsum(times) - 1):
        sample, kept = whole.without(copy), np.delete(np.arange(len(rows)), copy)
        p, k = P[copy : copy + 1, kept], K[copy : copy + 1, kept]
        out["cosine"][i] = oracle.log(sample.gamma(k))[0]
        change = np.log(sample.appended_cuts(p, k)[0]) - np.log(sample.information_cut())
        out["append"][i] = -len(kept) * change
    return out


@pytest.fixture(scope="module")
def wine_bandwidths():
    return ladder(wine()[0])


@pytest.mark.parametrize("kind", DENSITIES)
def test_exact_mode_is_refitting_on_every_point_of_wine(kind, wine_bandwidths):
    X, y = wine()
    bandwidths = tuple(wine_bandwidths[i] for i in (0, 8, 16))
    scores = laplacian_scores(X, y, np.ones(len(y)), bandwidths, kind, exact=True)
    for rung, h in enumerate(bandwidths):
        expected = brute_force(X, y, h, kind)
        assert_close(table(scores["cosine"][rung]), table(expected["cosine"]))
        assert_close(scores["append"][rung], expected["append"])


@pytest.mark.parametrize("kind", ["parzen", "mercer"])
def test_fast_mode_on_wine(kind, wine_bandwidths):
    """What the first order of V_c and fixed weights in the links leave out, measured."""
    X, y = wine()
    fast, exact = (
        laplacian_scores(X, y, np.ones(len(y)), wine_bandwidths, kind, exact=mode)
        for mode in (False, True)
    )
    assert np.abs(fast["log_norms"] - exact["log_norms"]).max() <= 3e-4
    changed = {rule: _changed(fast[rule], exact[rule]) for rule in RULES}
    assert changed["cosine"].max() == 0
    assert changed["append"].max() <= 2  # of 178 rows, on any rung
    error = np.abs(fast["append"] - exact["append"])
    assert (error <= 0.05 * (1 + np.abs(exact["append"]))).all()


@pytest.mark.parametrize("kind", ["parzen", "mercer"])
def test_fast_mode_on_classes_that_overlap(kind):
    X, y = gaussians(n=200, d=5)
    weights = np.ones(len(y))
    bandwidths = ladder(X)
    fast, exact = (laplacian_scores(X, y, weights, bandwidths, kind, exact=e) for e in (0, 1))
    assert np.abs(fast["log_norms"] - exact["log_norms"]).max() <= 5e-4
    assert _changed(fast["cosine"], exact["cosine"]).max() <= 1  # of 200
    assert _changed(fast["append"], exact["append"]).max() <= 4


def _changed(a, b):
    """How many rows get another class, on each rung."""
    return (a.argmax(axis=2) != b.argmax(axis=2)).sum(axis=1)


@pytest.mark.parametrize("kind", DENSITIES)
def test_weights_remove_one_repetition(kind):
    X, y = three_gaussians(40)
    times = np.random.default_rng(0).integers(1, 4, len(y))
    for h in (0.05, 0.5, 3.0):
        scores = laplacian_scores(X, y, times.astype(float), (h,), kind, exact=True)
        expected = brute_force(X, y, h, kind, times)
        assert_close(table(scores["cosine"][0]), table(expected["cosine"]))
        assert_close(scores["append"][0], expected["append"])


def test_a_row_that_was_all_that_linked_two_classes():
    """Without it the classes are so far apart that their products underflow."""
    X = np.array([[0.0], [100.0], [101.0], [1.0], [200.0], [201.0], [500.0], [501.0]])
    y = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    for kind in DENSITIES:
        expected = brute_force(X, y, 1.0, kind)
        for exact in (False, True):
            scores = laplacian_scores(X, y, np.ones(8), (1.0,), kind, exact)
            tol = 1e-9 if exact or kind is None else 0.3  # fixed weights in the links
            assert_close(scores["append"][0], expected["append"], tol)


def test_links_of_a_third_class_beside_one_that_left():
    """Without row 0, classes 1 and 2 are the nearest, where row 0 made everything underflow."""
    X = np.array([[0.0], [-300.0], [1.0], [200.0], [300.0], [301.0]])
    y = np.array([0, 0, 1, 1, 2, 2])
    for kind in DENSITIES:
        expected = brute_force(X, y, 1.0, kind)
        for exact in (False, True):
            scores = laplacian_scores(X, y, np.ones(6), (1.0,), kind, exact)
            assert np.isfinite(scores["append"]).all()
            tol = 1e-9 if exact or kind is None else 0.3
            assert_close(scores["append"][0], expected["append"], tol)


def test_tight_classes_far_apart():
    """Densities change within a class while products between classes underflow."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.repeat([0, 1, 2], 10)
    X[:, 0] += 100 * y
    for kind in DENSITIES:
        expected = brute_force(X, y, 1.0, kind)
        scores = laplacian_scores(X, y, np.ones(30), (1.0,), kind, exact=True)
        assert_close(scores["append"][0], expected["append"])
        assert_close(table(scores["cosine"][0]), table(expected["cosine"]))


# Through the estimators -----------------------------------------------------------------------

EXACT = {
    "parzen": ParzenClassifier(),
    "parzen, priors": ParzenClassifier(priors=[0.2, 0.3, 0.5]),
    "parzen, exponential": ParzenClassifier(kernel="exponential"),
    "parzen, laplacian": ParzenClassifier(kernel="laplacian"),
    "parzen, epanechnikov": ParzenClassifier(kernel="epanechnikov"),
    "parzen, cauchy": ParzenClassifier(kernel="cauchy"),
    "plane": ISEClassifier(),
    "plane, cauchy": ISEClassifier(kernel="cauchy"),
    "ise append": ISEClassifier(rule="append"),
    "ise append, laplacian": ISEClassifier(rule="append", kernel="laplacian"),
    "ise auto": ISEClassifier(rule="auto"),
    "cosine": LaplacianClassifier(loo="exact"),
    "cosine, priors": LaplacianClassifier(loo="exact", priors="uniform"),
    "cosine, mercer": LaplacianClassifier(loo="exact", density="mercer"),
    "cosine, none": LaplacianClassifier(density=None),
    "append": LaplacianClassifier(loo="exact", rule="append"),
    "append, priors": LaplacianClassifier(loo="exact", rule="append", priors=[0.2, 0.3, 0.5]),
    "append, none": LaplacianClassifier(rule="append", density=None, priors="uniform"),
    "auto": LaplacianClassifier(loo="exact", rule="auto"),
    "cosine, exponential": LaplacianClassifier(loo="exact", kernel="exponential"),
    "append, cauchy": LaplacianClassifier(loo="exact", kernel="cauchy", rule="append"),
}
WEIGHTS = {
    "integers": lambda n: np.random.default_rng(0).integers(1, 4, n).astype(float),
    "fractions": lambda n: np.random.default_rng(1).uniform(0.2, 2.5, n),
}


def by_whole_classes(whole, without, x):
    """Scores of a row's sums without it, by sizes, norms and links of the classes with it."""
    if isinstance(whole, ISEClassifier):
        sums = without._class_means(x) * without.class_count_ / whole.class_count_
        return ise_scores(sums, whole.squared_norms_, whole._cross, whole.class_count_)
    mixed = clone(without).set_params(priors=None)
    vars(mixed).update({k: v for k, v in vars(without).items() if k != "priors"})
    mixed.norms_, mixed._log_links = whole.norms_, whole._log_links
    n, n_left = whole._density_weights.sum(), without._density_weights.sum()
    scores = mixed._scores(x) * n / n_left
    if whole.priors is not None:
        scores = scores + np.log(whole.priors_) - np.log(whole.class_prior_)
    return scores


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("name", EXACT)
def test_results_are_those_of_refitting(name, kind, monkeypatch):
    """A rule that sees the size of a class must be right with it and without it."""
    X, y = three_gaussians(15)
    model, omega = EXACT[name], as_counts(WEIGHTS[kind](len(y)))
    # The weights of the rows that are left must not be scaled anew.
    monkeypatch.setattr("mercer.samples._weights.as_counts", lambda weights: weights)
    fitted = clone(model).fit(X, y, sample_weight=omega)
    results = fitted.loo_results_
    rungs = len(results["bandwidth"])
    assert rungs >= (34 if "auto" in name else 17)
    for at in range(3, rungs, 9):
        options = {"bandwidth": results["bandwidth"][at]}
        if "rule" in results:
            options["rule"] = str(results["rule"][at])
        whole = clone(model).set_params(**options).fit(X, y, sample_weight=omega)
        again = clone(whole)
        looks_at_size = "append" in options.values()
        found, loss = np.zeros(3), np.zeros(3)
        for i in range(len(y)):
            left, row = omega.copy(), X[i : i + 1]
            left[i] = 0  # the row left out
            again.fit(X, y, sample_weight=left)
            ways = [again._scores(row)[0]]
            if looks_at_size:
                ways.append(by_whole_classes(whole, again, row)[0])
            found[y[i]] += omega[i] * all(scores.argmax() == y[i] for scores in ways)
            losses = [np.logaddexp.reduce(scores) - scores[y[i]] for scores in ways]
            loss[y[i]] += omega[i] * min(max(losses), 745.0)
        counts = np.bincount(y, omega)
        assert_close(results["accuracy"][at], found.sum() / counts.sum())
        assert_close(results["balanced_accuracy"][at], (found / counts).mean())
        assert_close(results["log_loss"][at], loss.sum() / counts.sum())
        assert_close(results["balanced_log_loss"][at], (loss / counts).mean())


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
@pytest.mark.parametrize(
    "model",
    [
        ParzenClassifier(),
        ParzenClassifier(kernel="exponential"),
        ISEClassifier(),
        LaplacianClassifier(rule="auto"),
        LaplacianClassifier(rule="auto", density="mercer", priors="uniform"),
        LaplacianClassifier(rule="auto", loo="exact"),
    ],
)
def test_weights_are_repetitions(model, scoring):
    X, y = three_gaussians(60, seed=3)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    model = clone(model).set_params(scoring=scoring)
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_close(weighted.bandwidth_, repeated.bandwidth_)
    assert weighted.loo_results_.keys() == repeated.loo_results_.keys()
    assert (weighted.loo_results_["rows"] == np.count_nonzero(times)).all()
    for column, values in weighted.loo_results_.items():
        if column == "rule":
            assert np.array_equal(values, repeated.loo_results_[column])
        else:
            assert_close(values, repeated.loo_results_[column])
    assert_close(weighted.decision_function(X), repeated.decision_function(X))


@pytest.mark.parametrize(
    "model", [ParzenClassifier(), ISEClassifier(), LaplacianClassifier(rule="auto")]
)
def test_single_precision_chooses_alike(model):
    X, y = wine()
    single, double = (clone(model).fit(X.astype(t), y) for t in (np.float32, np.float64))
    for column in ("accuracy", "balanced_accuracy"):
        difference = np.abs(single.loo_results_[column] - double.loo_results_[column])
        assert difference.max() <= 1.5 / len(y)
    assert single.X_fit_.dtype == np.float32
    np.testing.assert_allclose(single.bandwidth_, double.bandwidth_, rtol=1e-5)


@pytest.mark.parametrize(
    "model", [ParzenClassifier(), ISEClassifier(), LaplacianClassifier(rule="auto")]
)
def test_the_best_row_of_the_table_is_chosen(model):
    X, y = three_gaussians(80, seed=1)
    fitted = clone(model).fit(X, y)
    results = fitted.loo_results_
    best = results["accuracy"] == results["accuracy"].max()
    assert fitted.bandwidth_ == results["bandwidth"][best].max()
    widths = np.unique(results["bandwidth"])  # √2 apart, around Silverman's
    assert_close(widths[1:] / widths[:-1], np.full(len(widths) - 1, 2**0.5))
    assert np.isclose(widths, silverman_bandwidth(X)).any()


def _search(curve):
    """Run `search` on a made-up score of log₂(bandwidth), with Silverman's at 0."""
    calls = []

    def run(bandwidths):
        calls.append(len(bandwidths))
        assert list(bandwidths) == sorted(bandwidths, reverse=True)
        narrow_first = np.array(bandwidths[::-1])
        score = curve(np.log2(narrow_first / centre))
        return {
            "rule": np.full(len(score), "only"), "bandwidth": narrow_first, "accuracy": score,
            "balanced_log_loss": -score, "rows": np.full(len(score), 20),
            "error": np.zeros(len(score)),
        }  # fmt: skip

    X, y = three_gaussians(20)
    centre = silverman_bandwidth(X)
    results, best = search(run, SortedSample.of(X, y, np.ones(20)), "accuracy")
    assert (np.diff(results["bandwidth"]) > 0).all()
    return np.log2(results["bandwidth"][best] / centre), calls


def test_the_ladder_goes_on_where_the_score_still_rises():
    for peak in (-11.0, -6.5, 0.0, 3.5, 9.0):
        found, calls = _search(lambda t, peak=peak: -np.abs(t - peak))
        assert_close(found, peak)
        assert calls[0] == 17
        assert (len(calls) == 1) == (abs(peak) < 4)
        assert all(n == 8 for n in calls[1:])
    found, calls = _search(lambda t: -t)  # for ever: four times
    assert_close(found, -4 - 4 * 4)
    assert len(calls) == 5


def test_one_wild_row_does_not_spoil_the_choice():
    """Silverman's rule sees its distance; the ladder reaches back to the other rows."""
    X, y = three_gaussians(60)
    far = np.r_[X, [[1e5, 1e5]]]
    for model in (LaplacianClassifier(), ParzenClassifier()):
        plain = clone(model).fit(X, y)
        wild = clone(model).fit(far, np.append(y, 0))
        assert wild.score(X, y) > plain.score(X, y) - 0.1


def test_ties_go_to_the_wider_bandwidth_and_the_first_rule():
    results = {
        "rule": np.array(["cosine"] * 3 + ["append"] * 3),
        "bandwidth": np.array([1.0, 2.0, 4.0] * 2),
        "accuracy": np.array([0.9, 0.9, 0.8, 0.9, 0.9, 0.7]),
        "balanced_accuracy": np.array([0.5, 0.9, 0.9, 0.9, 0.2, 0.1]),
        "balanced_log_loss": np.array([0.0, 0.3, 0.4, 0.2, 0.0, 0.0]),
        "rows": np.full(6, 10),
        "error": np.zeros(6),
    }
    assert choose(results, "accuracy") == 1
    assert choose(results, "balanced_accuracy") == 3


def test_parzen_and_ise_parts_are_those_of_the_papers():
    X, y = three_gaussians(40)
    sample, order = SortedSample.of(X, y, np.ones(len(y))), np.argsort(y, kind="stable")
    for h in (0.05, 0.4, 5.0):
        (windows,) = LeftOutWindows.of(sample, (h,), GAUSSIAN).parts()
        (vectors,) = LeftOutVectors.of(sample, (h,), None, GAUSSIAN, links="counts").parts()
        fitted = ISEClassifier(bandwidth=h).fit(X, y)
        scores, planes = (fitted._left_out_scores(rule, vectors) for rule in ("append", "plane"))
        P = oracle.windows(X, X, h)
        K = oracle.windows(X, X, np.sqrt(oracle.LONG(2)) * h)
        whole = oracle.Sample(P, K, y, None)
        for at, i in enumerate(order):
            kept = np.delete(np.arange(len(y)), i)
            less = whole.without(i)
            sums = np.array([P[i, kept][y[kept] == c].sum() for c in range(3)])
            assert_close(windows.log_sums[at], oracle.log(sums / P[0, 0]))
            appended, before = less.appended_ise(K[i : i + 1, kept])
            assert_close(scores[at], len(kept) * (np.log(appended[0]) - np.log(before)), 1e-8)
            assert_close(planes[at], less.plane_scores(K[i : i + 1, kept])[0], 1e-8)


def test_exact_mode_refuses_large_samples():
    X = np.random.default_rng(0).normal(size=(MOST_ROWS + 1, 1))
    with pytest.raises(ValueError, match="loo='exact' takes time n³ and is for at most 2000 rows"):
        LaplacianClassifier(loo="exact").fit(X, X[:, 0] > 0)


def test_leave_one_out_with_a_density_from_a_subset_is_near_that_of_all_rows():
    X, y = wine()
    whole = LaplacianClassifier().fit(X, y)
    part = LaplacianClassifier(density_subset=0.3, random_state=0).fit(X, y)
    all_rows = LaplacianClassifier(density_subset=1.0).fit(X, y)
    difference = whole.loo_results_["accuracy"] - part.loo_results_["accuracy"]
    assert np.abs(difference).max() <= 0.05
    for column in ("accuracy", "log_loss"):
        assert_close(all_rows.loo_results_[column], whole.loo_results_[column], 1e-2)
