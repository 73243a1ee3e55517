"""Prediction sets: equal to refits without each row, and as often right as they promise."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from mercer import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from mercer.discriminants import _exact, _jackknife, _sparse
from mercer.discriminants._coding import contrasts, encode_rows
from mercer.discriminants._gaussian import fit_rule
from mercer.discriminants._jackknife import FittedRows, Jackknife
from mercer.discriminants._left_out_rule import LeftOutRules
from mercer.kernels import KernelFunction
from oracles.sets import jackknife_sets, outputs_without_each_row, plain_sets

GAMMA, ALPHA = 0.3, 0.02


def problem(seed, n_rows=30, n_classes=3, n_new=9, copies=False):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows + n_new) % n_classes
    centres = 1.2 * rng.normal(size=(n_classes, 2))
    X = rng.normal(size=(len(y), 2)) + centres[y]
    counts = rng.integers(1, 4, n_rows).astype(float) if copies else np.ones(n_rows)
    if copies:  # A place where two classes meet: their copies leave one at a time.
        X[1], counts[:2] = X[0], (3.0, 2.0)
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:], counts


@pytest.mark.parametrize("factored", [False, True])
@pytest.mark.parametrize(("n_classes", "scatter"), [(2, "class"), (3, "class"), (4, "total")])
def test_outputs_without_each_row_equal_refits(monkeypatch, n_classes, scatter, factored):
    X, y, new, _, _ = problem(n_classes, n_classes=n_classes)
    rng = np.random.default_rng(n_classes)
    sizes = rng.uniform(0.5, 2, len(y))
    removed = np.where(rng.random(len(y)) < 0.3, rng.uniform(0.2, 1, len(y)), 1.0)
    ones = np.ones(n_classes)
    coding = encode_rows(y.astype(np.intp), sizes, sizes * removed, ones, scatter)
    if factored:
        monkeypatch.setattr(_jackknife, "BASIS_ROWS", 0)
    rows = FittedRows.of(coding, ALPHA, 1.0, False)
    found = Jackknife.of(KernelFunction("rbf", GAMMA), X, rows, "rkhs", np.log(ones / n_classes))
    K, k_new = rbf_kernel(X, gamma=GAMMA), rbf_kernel(new, X, gamma=GAMMA)
    targets = contrasts(coding.shares)[y]
    parts = (targets, coding.weights)
    whole = outputs_without_each_row(K, k_new, *parts, 0 * removed, ALPHA)
    expected = outputs_without_each_row(K, k_new, *parts, removed, ALPHA)
    np.testing.assert_allclose(found.outputs(new), expected, rtol=0, atol=2e-12)
    assert np.abs(expected - whole).max() > 0.01  # leaving a row out matters


def rules_without_each_row(judged, fitted, axes, coding, log_priors):
    """The rule of `fit_rule`, fitted for each row to what is left without it."""
    found = []
    for row in range(len(judged)):
        weights = coding.rule_weights.copy()
        weights[row] *= 1 - coding.removed[row]
        weights /= weights.sum()
        found.append(fit_rule(judged, fitted, axes, coding.labels, weights, log_priors))
    return found


@pytest.mark.parametrize("priors", [[0.2, 0.5, 0.3], [0.0, 0.5, 0.5]])
@pytest.mark.parametrize("of_fitted", [False, True])
def test_rules_without_each_row_equal_refits(priors, of_fitted):
    _, y, _, _, _ = problem(0)
    y = np.where(np.arange(30) == 7, 2, y % 2)  # One class has one row.
    rng = np.random.default_rng(3)
    judged, fitted = rng.normal(size=(2, 30, 2)) + contrasts(np.ones(3) / 3)[y]
    judged = fitted if of_fitted else judged
    sizes, removed = rng.uniform(0.5, 2, 30), np.where(np.arange(30) % 4, 1.0, 0.4)
    factors = np.array([1.0, 2.0, 0.5])
    coding = encode_rows(y.astype(np.intp), sizes, sizes * removed, factors, "total")
    axes = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    with np.errstate(divide="ignore"):
        log_priors = np.log(priors)
    rules = LeftOutRules.of(judged, fitted, axes, coding, log_priors)
    outputs = rng.normal(size=(5, 30, 2))
    found = rules.scores(outputs)
    expected = rules_without_each_row(judged, fitted, axes, coding, log_priors)
    for row, rule in enumerate(expected):
        wanted = outputs[:, row] @ rule.coef + rule.intercept
        np.testing.assert_allclose(found[:, row], wanted, rtol=1e-10, atol=1e-10)


def literal(model, X, y, new, counts, coverage):
    """Sets by literal refits of a fitted model: plain ones, and those of the jackknife+."""
    ones = np.ones(y.max() + 1)
    coding = encode_rows(y.astype(np.intp), counts, leaving(X, y, counts), ones, "class")
    metric = {"rbf": rbf_kernel, "laplacian": laplacian_kernel}[model.kernel_]
    K, k_new = metric(X, gamma=model.gamma_), metric(new, X, gamma=model.gamma_)
    targets, alpha = contrasts(coding.shares)[y], model.alpha_ / coding.scale
    parts, same = (targets, coding.weights), np.arange(len(y))
    own = outputs_without_each_row(K, K, *parts, coding.removed, alpha)[same, same]
    fitted = outputs_without_each_row(K, K, *parts, 0 * counts, alpha)[:, 0]
    by_row = outputs_without_each_row(K, k_new, *parts, coding.removed, alpha)
    explained = (coding.weights[:, None] * targets).T @ fitted
    axes = np.linalg.eigh((explained + explained.T) / 2)[1]
    rules = rules_without_each_row(own, fitted, axes, coding, np.log(model.priors_))

    def scored(outputs):
        """Scores of the outputs (n_rows, …) of the fits without each row, by their rules."""
        found = [out @ one.coef + one.intercept for out, one in zip(outputs, rules, strict=True)]
        return np.array(found) / model.temperature_

    left_out, by_row = scored(own), np.moveaxis(scored(np.moveaxis(by_row, 1, 0)), 0, 1)
    whole = model.predict_log_proba(new)
    return (
        plain_sets(whole, left_out, y, counts, coverage),
        jackknife_sets(whole, by_row, left_out, y, counts, coverage),
    )


def leaving(X, y, counts):
    """What leaves with each row: all of it, or one copy where another class lies there."""
    mixed = [
        any((X[j] == X[i]).all() and y[j] != y[i] for j in range(len(y))) for i in range(len(y))
    ]
    return np.where(mixed, 1.0, counts)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize(("n_classes", "copies"), [(2, False), (3, False), (2, True), (3, True)])
def test_sets_equal_those_of_literal_refits(kernel, n_classes, copies):
    X, y, new, _, counts = problem(10 + n_classes, 24, n_classes, 30, copies)
    model = KernelFisherDiscriminant(kernel=kernel, gamma=GAMMA, alpha=ALPHA)
    model.fit(X, y, sample_weight=counts)
    sizes = set()
    for coverage in (0.5, 0.7, 0.8, 0.9, 0.97):
        plain, jackknife = literal(model, X, y, new, counts, coverage)
        np.testing.assert_array_equal(model.predict_set(new, coverage, method="left-out"), plain)
        np.testing.assert_array_equal(
            model.predict_set(new, coverage, method="jackknife+"), jackknife
        )
        np.testing.assert_array_equal(model.predict_set(new, coverage), jackknife)
        sizes |= set(jackknife.sum(axis=1))
    assert len(sizes) > 1


def test_the_penalty_of_the_paper_keeps_the_kernel_of_the_row_that_leaves():
    X, y, new, _, _ = problem(3)
    model = KernelFisherDiscriminant(kernel="rbf", gamma=GAMMA, alpha=ALPHA, penalty="coef")
    model.fit(X, y)
    coding = encode_rows(y.astype(np.intp), np.ones(30), np.ones(30), np.ones(3), "class")
    K, k_new = rbf_kernel(X, gamma=GAMMA), rbf_kernel(new, X, gamma=GAMMA)
    targets, alpha = contrasts(coding.shares)[y], ALPHA / coding.scale
    log_priors = np.log(model.priors_)
    found = Jackknife.of(model._kernel, X, model._fitted_rows, "coef", log_priors).outputs(new)
    features = (K @ K.T, k_new @ K.T, targets, coding.weights)
    expected = outputs_without_each_row(*features, np.ones(30), alpha)
    np.testing.assert_allclose(found, expected, atol=1e-9)


MODELS = [
    KernelFisherDiscriminant(kernel="rbf"),
    KernelFisherDiscriminant(kernel="laplacian", n_landmarks=25, random_state=0),
    KernelFisherDiscriminant(kernel="rbf", penalty="coef", scoring="balanced_accuracy"),
    KernelFisherDiscriminant(kernel="linear", class_weight="balanced", calibration=None),
    KernelFisherDiscriminant(kernel="rbf", solver="iterative"),
    SparseKernelFisherDiscriminant(kernel="rbf", max_nodes=12, random_state=0),
    SparseKernelFisherDiscriminant(
        kernel="rbf", max_nodes=12, random_state=0, class_weight="balanced", calibration=None
    ),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_sets_hold_the_prediction_and_grow_with_the_coverage(model, blobs):
    X, y = blobs(0, 150, 3)
    model = clone(model).fit(X[:80], y[:80])
    sets = [model.predict_set(X[80:], coverage) for coverage in (0.3, 0.6, 0.9, 0.95)]
    answers = model.predict(X[80:])[:, None] == model.classes_
    for smaller, larger in zip([answers, *sets], sets, strict=False):
        assert smaller.dtype == larger.dtype == bool
        assert larger.shape == (70, 3)
        assert (smaller <= larger).all()
    np.testing.assert_array_equal(sets[0], answers)  # It is right more often than 30 %.
    assert model.predict_set(X[80:], 0.999).all(), "80 rows cannot tell as much"


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_whole_weights_are_copies(model, blobs):
    X, y = blobs(1, 70, 2)
    new, _ = blobs(2, 60, 2)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    for coverage in (0.6, 0.8, 0.9):
        np.testing.assert_array_equal(
            weighted.predict_set(new, coverage), repeated.predict_set(new, coverage)
        )


def test_a_common_factor_of_relative_weights_changes_nothing(blobs):
    X, y = blobs(1, 70, 2)
    new, _ = blobs(2, 60, 2)
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    model = KernelFisherDiscriminant(kernel="rbf")
    sets = [clone(model).fit(X, y, weights * f).predict_set(new, 0.8) for f in (1.0, 1e-6)]
    np.testing.assert_array_equal(*sets)
    assert len(set(sets[0].sum(axis=1))) == 2


def draws(model, method, coverage, n_draws, n_rows=40, n_new=25, shift=0.8):
    """How often the sets of new rows hold their classes, and how often predictions are right."""
    held = right = 0
    options = {} if method is None else {"method": method}
    for seed in range(n_draws):
        rng = np.random.default_rng((seed, 7))
        y = rng.integers(0, 2, n_rows + n_new)
        y[:2] = 0, 1
        X = rng.normal(size=(len(y), 2)) + shift * y[:, None]
        fitted = clone(model).fit(X[:n_rows], y[:n_rows])
        sets = fitted.predict_set(X[n_rows:], coverage, **options)
        held += sets[np.arange(n_new), y[n_rows:]].mean()
        right += fitted.score(X[n_rows:], y[n_rows:])
    return held / n_draws, right / n_draws


FIXED = {"kernel": "rbf", "gamma": 0.2, "alpha": 0.5, "scatter": "total"}


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (KernelFisherDiscriminant(**FIXED), "jackknife+"),
        (KernelFisherDiscriminant(**FIXED), "left-out"),
        (SparseKernelFisherDiscriminant(**FIXED, max_nodes=5, random_state=0), None),
    ],
    ids=str,
)
def test_exchangeable_rows_are_covered_as_often_as_asked(model, method):
    n_draws, coverage = 80, 0.9
    held, right = draws(model, method, coverage, n_draws)
    assert right < 0.8  # so that sets must be larger than the predictions
    # Rows of one draw share its fit: at worst they are held or missed together.
    low, high = binom.ppf([1e-4, 1 - 1e-4], n_draws, coverage) / n_draws
    assert low < held < high


def test_where_predictions_are_right_often_enough_sets_are_the_predictions():
    held, right = draws(KernelFisherDiscriminant(**FIXED), "left-out", 0.8, 20, shift=3.0)
    assert right > 0.9
    assert held == right


def test_memory_decides_who_judges_new_rows(monkeypatch, blobs):
    X, y = blobs(0, 90, 2, shift=0.5)
    model = KernelFisherDiscriminant(kernel="rbf").fit(X[:50], y[:50])
    plain, jackknife = (model.predict_set(X, 0.8, method=m) for m in ("left-out", "jackknife+"))
    assert (plain != jackknife).any()
    np.testing.assert_array_equal(model.predict_set(X, 0.8), jackknife)
    monkeypatch.setattr(_jackknife, "_FEW_ROWS", 49)
    np.testing.assert_array_equal(model.predict_set(X, 0.8), plain)
    monkeypatch.setattr(_exact, "JACKKNIFE_ROWS", 49)
    many = clone(model).fit(X[:50], y[:50])
    assert many._fitted_rows is None
    with pytest.raises(
        ValueError, match="method='jackknife\\+' needs solver='exact' on at most 49"
    ):
        many.predict_set(X, method="jackknife+")


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 90, np.nan, "0.9", None, True])
def test_a_coverage_is_a_share(coverage, blobs):
    X, y = blobs(0)
    for model in (KernelFisherDiscriminant(kernel="rbf"), SparseKernelFisherDiscriminant()):
        with pytest.raises(ValueError, match="coverage must be a number above 0 and below 1; got"):
            clone(model).fit(X, y).predict_set(X, coverage)


def test_a_method_that_is_not_there_is_refused(blobs):
    X, y = blobs(0)
    with pytest.raises(ValueError, match="method must be one of 'auto', 'jackknife\\+' or 'left"):
        KernelFisherDiscriminant(kernel="rbf").fit(X, y).predict_set(X, method="split")


def test_a_kernel_matrix_has_sets_by_left_out_rows(blobs):
    X, y = blobs(0, 80, 2, shift=0.6)
    K, k_new = rbf_kernel(X[:50], gamma=GAMMA), rbf_kernel(X[50:], X[:50], gamma=GAMMA)
    given = KernelFisherDiscriminant(kernel="precomputed", alpha=ALPHA).fit(K, y[:50])
    same = KernelFisherDiscriminant(kernel="rbf", gamma=GAMMA, alpha=ALPHA).fit(X[:50], y[:50])
    np.testing.assert_array_equal(
        given.predict_set(k_new, 0.8), same.predict_set(X[50:], 0.8, method="left-out")
    )
    with pytest.raises(ValueError, match="not a kernel matrix"):
        given.predict_set(k_new, method="jackknife+")


def test_blocks_of_rows_keep_their_left_out_scores(blobs):
    X, y = blobs(0, 200, 2, shift=0.6)
    model = SparseKernelFisherDiscriminant(kernel="rbf", max_nodes=10, random_state=0)
    for start in (0, 50, 100):
        model.partial_fit(X[start : start + 50], y[start : start + 50], classes=[0, 1])
    held = model.predict_set(X[150:], 0.8)[np.arange(50), y[150:]].mean()
    assert held > 0.6


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_tensors_have_the_sets_of_arrays(torch, model, blobs):
    X, y = blobs(0, 150, 3)
    here = clone(model).fit(X[:80], y[:80])
    there = clone(model).fit(torch.as_tensor(X[:80]), torch.as_tensor(y[:80]))
    for coverage in (0.7, 0.9, 0.95):
        found = there.predict_set(torch.as_tensor(X[80:]), coverage)
        assert found.dtype == torch.bool
        np.testing.assert_array_equal(found.numpy(), here.predict_set(X[80:], coverage))


@pytest.mark.parametrize("model", [MODELS[0], MODELS[5]], ids=str)
def test_blocks_have_the_sets_of_rows_in_memory(model, blobs):
    da = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")
    X, y = blobs(0, 150, 3)
    here = clone(model).fit(X[:80], y[:80])
    with dask.config.set(scheduler="synchronous"):
        there = clone(model).fit(da.from_array(X[:80], (30, -1)), da.from_array(y[:80], 30))
        for coverage in (0.7, 0.9):
            expected = here.predict_set(X[80:], coverage)
            for fitted in (here, there):
                found = fitted.predict_set(da.from_array(X[80:], (40, -1)), coverage)
                assert isinstance(found, da.Array)
                assert found.dtype == bool
                np.testing.assert_array_equal(found.compute(), expected)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[5]], ids=str)
def test_slabs_and_sparse_rows_change_nothing(model, blobs):
    X, y = blobs(0, 300, 3)
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    fitted = clone(model).fit(X[:80], y[:80])
    expected = fitted.predict_set(X[80:], 0.9)
    np.testing.assert_array_equal(fitted.predict_set(sparse.csr_array(X[80:]), 0.9), expected)
    with config_context(working_memory=1):
        np.testing.assert_array_equal(fitted.predict_set(X[80:], 0.9), expected)


@pytest.mark.parametrize("node_choice", ["all", "loo", "validation"])
def test_a_sample_stands_for_the_shares_of_all_rows(monkeypatch, node_choice, blobs):
    # The rare class has more than its share of the sample that is left out.
    monkeypatch.setattr(_sparse, "_SAMPLE_ROWS", 90)
    X, y = blobs(3, 400, 2, shift=0.5)
    rare = (y == 0) | (np.random.default_rng(0).random(400) < 0.15)
    model = SparseKernelFisherDiscriminant(
        kernel="rbf", max_nodes=8, random_state=0, node_choice=node_choice
    ).fit(X[rare], y[rare])
    known = model._left_out
    assert len(known.odds) == 90
    np.testing.assert_allclose(known.weights.sum(), 90)
    assert len(np.unique(known.weights.round(9))) == 2
    light, heavy = np.unique(known.weights)[[0, -1]]
    drawn = [np.isclose(known.weights, w).sum() * w / 90 for w in (light, heavy)]
    np.testing.assert_allclose(drawn, [np.mean(y[rare] == 1), np.mean(y[rare] == 0)], atol=1e-9)
