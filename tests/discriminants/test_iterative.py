"""All rows by conjugate gradients: the exact answers, in any memory, and what is said of them."""

import tracemalloc
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lazy import cut
from mercer.discriminants import (
    KernelFisherDiscriminant,
    _choice,
    _exact,
    _expansion,
    _iterative,
)
from mercer.kernels import KernelFunction
from mercer.spectral import _nystrom, _panels, factor_kernel

N_ROWS = 240


def mixture(A, B):
    """A kernel of the user's own."""
    return np.exp(-0.2 * ((A[:, None] - B[None]) ** 2).sum(axis=2)) + 0.1 * A @ B.T


KERNELS = [
    {"kernel": "rbf", "gamma": 0.2},
    {"kernel": "exponential", "gamma": 0.3},
    {"kernel": "laplacian", "gamma": 0.2},
    {"kernel": "poly", "gamma": 0.2, "degree": 2},
    {"kernel": "linear"},
    {"kernel": mixture},
]
OPTIONS = [
    {},
    {"class_weight": "balanced"},
    {"class_weight": {0: 3.0}, "priors": "uniform"},
    {"scatter": "total", "scoring": "balanced_accuracy"},
    {"scatter": "sum", "alpha": 1.0},
    {"column_scales": [0.5, 2.0, 1.0]},
    {"calibration": None},
]


@pytest.fixture(autouse=True)
def _several_panels(monkeypatch):
    monkeypatch.setattr(_panels, "WIDTH", 64)


@pytest.fixture
def approximate(monkeypatch):
    """Half of the matrix never fits: columns and blocks of neighbours, few and small ones."""
    monkeypatch.setattr(_iterative, "most_panel_rows", lambda n_bytes, itemsize=4: 0)
    monkeypatch.setattr(_iterative, "_BLOCK_ROWS", 20)
    monkeypatch.setattr(_iterative, "_MOST_COLUMNS", 40)


@pytest.fixture(params=["factored", "approximate"])
def regime(request):
    """Half of the matrix fits, or does not."""
    if request.param == "approximate":
        request.getfixturevalue("approximate")
    return request.param


def table(n_rows=N_ROWS, n_classes=3, seed=0):
    """Overlapping classes, weights, and rows to answer for."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    centres = 1.5 * rng.normal(size=(n_classes, 3))
    X = rng.normal(size=(n_rows, 3)) + centres[y]
    new = rng.normal(size=(150, 3)) + centres[np.arange(150) % n_classes]
    return X, y, rng.integers(0, 4, n_rows).astype(float), new


def model(**options):
    options = {"kernel": "rbf", "gamma": 0.2, "alpha": 1e-3, "tol": 1e-9, **options}
    if options["kernel"] in ("linear", mixture):
        del options["gamma"]
    return KernelFisherDiscriminant(solver="iterative", **options)


def exact(like):
    return clone(like).set_params(solver="exact")


def weights(X, rng):
    """Weights of rows that add up to one."""
    p = rng.uniform(0.5, 2, len(X))
    return p / p.sum()


def is_factored(X):
    """Tell whether half of the kernel matrix is factored."""
    return _iterative._Rows.of(KernelFunction("rbf"), X, np.ones(len(X)), None).is_factored


def assert_near(found, expected, share):
    """Compare columns, relative to how far each is spread."""
    found, expected = np.asarray(found), np.asarray(expected)
    room = share * np.ptp(expected, axis=0).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=room)


def assert_same_model(found, expected, new, scores=1e-4):
    assert_near(found.transform(new), expected.transform(new), 1e-6)
    assert_near(found.decision_function(new), expected.decision_function(new), scores)
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-5)
    assert found.alpha_ == pytest.approx(expected.alpha_)


@pytest.mark.parametrize("options", KERNELS, ids=lambda options: str(options["kernel"])[:12])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_steps_on_a_factor_lead_to_the_exact_answers(options, n_classes):
    X, y, _, new = table(n_classes=n_classes)
    found = model(**options).fit(X, y)
    expected = exact(found).fit(X, y)
    assert (found.solver_, expected.solver_) == ("iterative", "exact")
    assert expected.n_iter_ == 1 <= found.n_iter_ <= 5
    assert_same_model(found, expected, new)
    np.testing.assert_array_equal(found.predict(new), expected.predict(new))
    for name in ("score", "squared_error"):
        one, other = (
            fitted.loo_results_[name][fitted.loo_results_["best_index"]]
            for fitted in (found, expected)
        )
        assert one == pytest.approx(other, rel=1e-4)


@pytest.mark.parametrize("options", KERNELS, ids=lambda options: str(options["kernel"])[:12])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_steps_on_an_approximation_lead_to_the_exact_discriminants(approximate, options, n_classes):
    X, y, _, new = table(n_classes=n_classes)
    found = model(**options, max_iter=1000).fit(X, y)
    expected = exact(found).fit(X, y)
    assert_near(found.transform(new), expected.transform(new), 1e-6)
    assert (found.predict(new) != expected.predict(new)).mean() < 0.02


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_priors_and_scales_are_those_of_the_exact_fit(regime, options, weighted):
    X, y, times, new = table()
    times = times if weighted else None
    found = model(**options).fit(X, y, sample_weight=times)
    expected = exact(found).fit(X, y, sample_weight=times)
    np.testing.assert_allclose(found.priors_, expected.priors_)
    assert_same_model(found, expected, new, 1e-4 if regime == "factored" else 0.05)


@pytest.mark.parametrize("options", [{"kernel": "rbf"}, {"kernel": "laplacian"}, {}], ids=str)
def test_what_is_chosen_is_what_the_exact_fit_chooses(options):
    X, y, _, new = table()
    found = KernelFisherDiscriminant(solver="iterative", tol=1e-9, **options).fit(X, y)
    expected = exact(found).fit(X, y)
    assert (found.kernel_, found.gamma_) == (expected.kernel_, pytest.approx(expected.gamma_))
    # Of two ridges that are ties, the one is compared with its neighbour and not with all.
    assert round(2 * np.log10(expected.alpha_ / found.alpha_)) in (0, 1)
    same = {"kernel": found.kernel_, "gamma": found.gamma_, "alpha": found.alpha_}
    expected.set_params(**same, column_scales=found.column_scales_).fit(X, y)
    assert_same_model(found, expected, new)


def test_two_ridges_are_judged_on_all_rows_and_the_better_is_taken(monkeypatch):
    """Above the sample's rows the ridge falls; the path has no more than two judged entries."""
    monkeypatch.setattr(_expansion, "BASIS_ROWS", 0)
    X, y, _, _ = table(700)
    found = KernelFisherDiscriminant(kernel="rbf", gamma=0.2, solver="iterative").fit(X, y)
    results = found.loo_results_
    row, column = results["best_index"]
    judged = np.flatnonzero(~np.isnan(results["score"][row]))
    assert 1 <= len(judged) <= 2
    assert column in judged
    assert results["rows"][row] == 700


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("options", KERNELS[:5], ids=lambda options: options["kernel"])
def test_tensors_get_the_answers_of_arrays(torch, regime, options):
    X, y, times, new = table()
    here = model(**options).fit(X, y, sample_weight=times)
    there = clone(here).fit(*map(torch.as_tensor, (X, y)), sample_weight=torch.as_tensor(times))
    for name in ("dual_coef_", "eigenvalues_", "X_fit_", "support_"):
        assert torch.is_tensor(getattr(there, name)), name
    assert there.dual_coef_.dtype == torch.float64
    new = torch.as_tensor(new)
    assert_near(there.transform(new).numpy(), here.transform(new.numpy()), 1e-6)
    room = 1e-4 if regime == "factored" else 0.05
    assert_near(there.decision_function(new), here.decision_function(new.numpy()), room)


@pytest.mark.parametrize("budget", [0.01, 0.05, 0.12, 1024])
@pytest.mark.parametrize("options", KERNELS[:5], ids=lambda options: options["kernel"])
@pytest.mark.parametrize("home", ["memory", "blocks"])
def test_any_memory_leads_to_the_same_discriminants(options, budget, home):
    """Half of a matrix of 240 rows in float32 takes 0.11 MiB."""
    X, y, times, new = table()
    found = model(**options, max_iter=1000)
    expected = exact(found).fit(X, y, sample_weight=times)
    arrays, here = (X, y, times), nullcontext()
    if home == "blocks":
        here = pytest.importorskip("dask").config.set(scheduler="synchronous")
        arrays = tuple(map(cut, arrays))
    with config_context(working_memory=budget), here:
        assert is_factored(X) == (budget > 0.11)
        found.fit(*arrays[:2], sample_weight=arrays[2])
    assert found.solver_ == "iterative"
    assert isinstance(found.dual_coef_, np.ndarray)
    assert_near(found.transform(new), expected.transform(new), 1e-6)


def test_the_workers_share_the_pairs_of_a_dask_array(monkeypatch):
    """Products over all rows are asked of blocks, and nothing else is."""
    dask = pytest.importorskip("dask")
    shared, products = [], _iterative.kernel_products

    def seen(function, X, coef):
        shared.append(X)
        return products(function, X, coef)

    monkeypatch.setattr(_iterative, "kernel_products", seen)
    X, y, _, _ = table()
    with dask.config.set(scheduler="synchronous"):
        model().fit(cut(X), cut(y))
    assert len(shared) >= 2
    assert all(dask.is_dask_collection(rows) for rows in shared)


def test_rows_in_single_precision_and_far_from_the_origin():
    X, y, _, new = table()
    far = 1e4
    found = model().fit(X + far, y)
    assert_near(found.transform(new + far), exact(found).fit(X, y).transform(new), 1e-5)
    single = model().fit(X.astype(np.float32), y)
    doubled = exact(single).fit(X.astype(np.float32), y)
    assert_near(single.transform(new), doubled.transform(new), 1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("options", KERNELS[:3], ids=lambda options: options["kernel"])
def test_sums_in_single_precision_as_on_a_gpu(monkeypatch, approximate, options, offset):
    """Rows about their mean, in float32: in the fit, and in the answers."""
    products, types = _iterative.kernel_products, set()

    def seen(kernel, X, coef):
        types.add(X.dtype)
        return products(kernel, X, coef)

    monkeypatch.setattr(_iterative, "is_on_gpu", lambda X: True)
    monkeypatch.setattr(_iterative, "kernel_products", seen)
    X, y, _, new = table()
    scaled = {**options, "column_scales": [0.5, 2.0, 1.0], "alpha": 1e-2}
    found = model(**scaled, max_iter=30).set_params(tol=1e-4).fit(X + offset, y)
    assert types == {np.dtype(np.float32)}
    expected = exact(found).fit(X, y)
    assert found.dual_coef_.dtype == np.float64
    assert_near(found.transform(new + offset), expected.transform(new), 1e-3)
    assert (found.predict(new + offset) != expected.predict(new)).mean() < 0.02


def solved(X, kernel, alpha, tol=1e-9, max_iter=1000, seed=0):
    """Return the solver's answer and the literal one: the solution, and one minus the leverages."""
    rng = np.random.default_rng(seed)
    p = weights(X, rng)
    targets = rng.normal(size=(len(X), 2))
    targets -= p @ targets
    rows = _iterative._Rows.of(kernel, X, p, None)
    unit = float(np.mean(rows.diagonal))
    solver = _iterative._Solver(rows, unit, targets, _iterative.Effort(tol, max_iter, False))
    answer = solver.solve(alpha)
    expected = factor_kernel(kernel.matrix(X, X), p, alpha)
    return answer, expected, targets


@pytest.mark.parametrize("alpha", [1e-5, 1e-3, 1e-1])
@pytest.mark.parametrize("name", ["rbf", "poly"])
def test_leverages_from_a_factor_are_exact_to_single_precision(name, alpha):
    X, kernel = table()[0], KernelFunction(name, gamma=0.2)
    answer, expected, targets = solved(X, kernel, alpha)
    residuals, complements = expected.residuals(targets, np.array([alpha]))
    np.testing.assert_allclose(answer.complements, complements[0], rtol=1e-2)
    assert_near(answer.residuals(targets, np.array([alpha]))[0][0], residuals[0], 1e-6)
    assert_near(answer.coefficients(targets, alpha), expected.coefficients(targets, alpha), 1e-6)


@pytest.mark.parametrize("alpha", [1e-4, 1e-3, 1e-2])
def test_leverages_of_an_approximation_are_estimated(approximate, alpha):
    X = table(600)[0]
    kernel = KernelFunction("rbf", gamma=0.2)
    answer, expected, targets = solved(X, kernel, alpha)
    complements = alpha * expected.diagonal()
    ratio = answer.complements / complements
    assert np.sqrt(np.mean((ratio - 1) ** 2)) < 0.15
    assert np.mean(ratio) == pytest.approx(1, abs=0.02)
    found, residuals = (one.residuals(targets, [alpha])[0][0] for one in (answer, expected))
    assert_near(found, residuals, 1e-5)


def test_the_answers_of_an_approximation_are_nearly_the_exact_ones(approximate):
    """At the tolerance that a user gets."""
    X, y, _, new = table(900)
    found = KernelFisherDiscriminant(kernel="rbf", gamma=0.3, alpha=1e-2, solver="iterative").fit(
        X, y
    )
    expected = exact(found).fit(X, y)
    assert_near(found.decision_function(new), expected.decision_function(new), 0.02)
    assert (found.predict(new) != expected.predict(new)).mean() < 0.02
    error, other = (fitted.loo_results_["squared_error"][0, 0] for fitted in (found, expected))
    assert error == pytest.approx(other, rel=0.02)
    assert found.temperature_ == pytest.approx(expected.temperature_, rel=0.1)


def test_fits_repeat_exactly(regime):
    X, y, times, _ = table()
    one, two = (model(random_state=seed).fit(X, y, sample_weight=times) for seed in (0, 1))
    for name in ("dual_coef_", "eigenvalues_", "temperature_", "n_iter_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_the_order_of_rows_does_not_matter(regime):
    X, y, times, new = table()
    order = np.random.default_rng(1).permutation(len(y))
    one = model(max_iter=1000).fit(X, y, sample_weight=times)
    two = clone(one).fit(X[order], y[order], sample_weight=times[order])
    assert_near(two.transform(new), one.transform(new), 1e-6)
    room = 1e-4 if regime == "factored" else 0.05
    assert_near(two.decision_function(new), one.decision_function(new), room)


def test_whole_weights_equal_repetition(regime):
    X, y, times, new = table()
    one = model(max_iter=1000).fit(X, y, sample_weight=times)
    times = times.astype(int)
    two = clone(one).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_near(two.transform(new), one.transform(new), 1e-6)


@pytest.fixture
def nearly_copies():
    """Rows whose kernel matrix, at a small ridge, is not positive in single precision."""
    X, y, _, new = table()
    return np.concatenate([X, X + 1e-9]), np.concatenate([y, y]), new


@pytest.mark.filterwarnings("error")
def test_where_single_precision_has_no_factor_half_of_the_matrix_is_factored_in_double(
    nearly_copies,
):
    X, y, new = nearly_copies
    found = model(alpha=1e-8).fit(X, y)
    expected = exact(found).fit(X, y)
    assert found.n_iter_ <= 3
    assert_near(found.transform(new), expected.transform(new), 1e-6)
    assert (found.predict(new) == expected.predict(new)).all()


def test_without_room_for_that_the_diagonal_is_raised_and_steps_make_up_for_it(nearly_copies):
    """Half of a matrix of 480 rows takes 0.44 MiB in float32, and twice that in float64."""
    X, y, new = nearly_copies
    found = model(alpha=1e-8, max_iter=1000)
    said = "not positive in single precision: the discriminants are right, but leverages"
    with config_context(working_memory=0.6), pytest.warns(ConvergenceWarning, match=said):
        found.fit(X, y)
    expected = exact(found).fit(X, y)
    assert_near(found.transform(new), expected.transform(new), 1e-4)
    assert (found.predict(new) == expected.predict(new)).mean() > 0.9


@pytest.fixture
def limits(monkeypatch):
    """Exact up to 100 rows, by steps up to 200, and above that on 50 landmarks."""
    monkeypatch.setattr(_exact, "_LANDMARKS", 50)
    monkeypatch.setattr(_exact, "most_exact_rows", lambda X: 100)
    monkeypatch.setattr(_exact, "most_iterative_rows", lambda X: 200)


@pytest.mark.filterwarnings("ignore:X has 201 rows")
@pytest.mark.parametrize(
    ("n_rows", "options", "expected"),
    [
        (100, {}, "exact"),
        (101, {}, "iterative"),
        (200, {}, "iterative"),
        (201, {}, "landmarks"),
        (201, {"solver": "iterative"}, "iterative"),
        (201, {"solver": "exact"}, "exact"),
        (100, {"solver": "landmarks"}, "landmarks"),
        (100, {"n_landmarks": 10}, "landmarks"),
        (100, {"n_landmarks": 100}, "exact"),
        (100, {"n_landmarks": 10, "solver": "exact"}, "exact"),
        (150, {"n_landmarks": 10, "solver": "iterative"}, "iterative"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("limits")
def test_the_solver_is_the_first_that_the_machine_can_do(n_rows, options, expected):
    X, y, _, _ = table(n_rows)
    found = KernelFisherDiscriminant(kernel="rbf", gamma=0.2, alpha=1e-2, **options).fit(X, y)
    assert found.solver_ == expected
    assert found.n_iter_ == 1 or expected == "iterative"
    n_terms = n_rows if expected != "landmarks" else options.get("n_landmarks", 50)
    assert len(found.support_) == n_terms


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("options", [{"penalty": "coef"}, {"kernel": "precomputed"}], ids=str)
def test_without_products_the_step_after_exact_is_landmarks(options):
    X, y, _, _ = table(150)
    X = X @ X.T if "kernel" in options else X
    with pytest.warns(UserWarning, match="X has 150 rows, more than the 100 that solver='auto'"):
        assert KernelFisherDiscriminant(alpha=0.1, **options).fit(X, y).solver_ == "landmarks"


def test_limits_follow_memory_and_pairs():
    X = np.zeros((1, 1))
    assert _iterative.most_iterative_rows(X) == 50_000
    assert _panels.most_panel_rows(2**30) == 23_170
    with config_context(working_memory=1):  # two bytes for each of 724² pairs
        assert is_factored(np.zeros((724, 1)))
        assert not is_factored(np.zeros((725, 1)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"penalty": "coef"}, "needs penalty='rkhs' .*; got penalty='coef' and kernel='rbf'"),
        ({"kernel": "precomputed"}, "other than 'precomputed'; got .* kernel='precomputed'"),
        ({"tol": 0.0}, "'tol' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"solver": "cg"}, "'solver' parameter"),
        ({"n_landmarks": "auto"}, "'n_landmarks' parameter"),
    ],
)
def test_what_cannot_be_solved_is_one_sentence(options, said):
    X, y, _, _ = table(60)
    X = X @ X.T if options.get("kernel") == "precomputed" else X
    with pytest.raises(ValueError, match=said):
        model().set_params(**options).fit(X, y)


def test_an_indefinite_kernel_is_one_sentence(regime):
    X, y, _, _ = table(120)
    indefinite = model(alpha=1e-6).set_params(kernel=lambda A, B: np.tanh(A @ B.T - 1))
    with pytest.raises(ValueError, match=r"kernel matrix .*is not positive"):
        indefinite.fit(X, y)


def test_a_kernel_that_is_indefinite_on_all_rows_only_is_one_sentence(monkeypatch, regime):
    """The sample on which it is chosen shows nothing."""
    X, y, _, _ = table(120)

    def kernel(A, B):
        K = np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))
        far = (A[:, :1] > 50) & (B[:, :1] > 50).T
        return np.where(far, -1.0, K)

    X[-3:] += 100
    monkeypatch.setattr(KernelFunction, "diagonal", lambda kernel, X: np.ones(len(X)))
    monkeypatch.setattr(
        "mercer.discriminants._trial.sample_rows", lambda coding, size: np.arange(60)
    )
    with pytest.raises(ValueError, match=r"kernel matrix .*is not positive"):
        model(alpha=1e-4).set_params(kernel=kernel).fit(X, y)


def test_too_few_steps_are_a_warning_and_an_answer(approximate):
    X, y, _, new = table()
    sentence = r"used up its steps \(max_iter\) at a residual of \S+, for tol=1e-09"
    with pytest.warns(ConvergenceWarning, match=sentence) as said:
        found = model(max_iter=1).fit(X, y)
    assert len(said) == 1
    assert found.n_iter_ == 1
    assert np.isfinite(found.predict_proba(new)).all()
    assert found.score(X, y) > 0.6


@pytest.mark.filterwarnings("error")
def test_steps_end_without_a_warning_where_the_error_of_left_out_rows_stands_still(approximate):
    """Long before the residual of a small tolerance is reached."""
    X, y, _, _ = table()
    few = model(tol=1e-3).fit(X, y)
    many = model(tol=1e-9, max_iter=1000).fit(X, y)
    assert few.n_iter_ < many.n_iter_ / 2
    error, other = (fitted.loo_results_["squared_error"][0, 0] for fitted in (few, many))
    assert error == pytest.approx(other, rel=0.05)


def test_every_step_is_a_line(capsys, regime):
    X, y, _, _ = table()
    found = model(verbose=True).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == found.n_iter_
    for number, line in enumerate(lines, 1):
        assert line.startswith(f"step {number}: residual ")
        assert ("squared error of left-out rows" in line) == (regime == "approximate")
    model().fit(X, y)
    assert capsys.readouterr().out == ""


@pytest.fixture
def ctrl_c(monkeypatch):
    """Return a function: a product from now on is interrupted, the first one or a later one."""
    products = _iterative.kernel_products

    def at(number):
        calls = []

        def interrupted(*arguments):
            calls.append(1)
            if len(calls) == number:
                raise KeyboardInterrupt
            return products(*arguments)

        monkeypatch.setattr(_iterative, "kernel_products", interrupted)
        return calls

    return at


@pytest.mark.parametrize("number", [2, 4])
def test_ctrl_c_leaves_a_fitted_model_and_a_warning(approximate, ctrl_c, number):
    X, y, _, new = table()
    ctrl_c(number)
    with pytest.warns(ConvergenceWarning, match="was interrupted at a residual of .* the answer"):
        found = model().fit(X, y)
    assert found.n_iter_ == number - 1
    assert np.isfinite(found.predict_proba(new)).all()
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        same = model(max_iter=number - 1).fit(X, y)
    np.testing.assert_array_equal(found.dual_coef_, same.dual_coef_)


def test_ctrl_c_before_anything_was_reached_is_ctrl_c(regime, ctrl_c):
    X, y, _, _ = table()
    ctrl_c(1)
    with pytest.raises(KeyboardInterrupt):
        model().fit(X, y)


def test_ctrl_c_ends_the_search_of_a_ridge_too(ctrl_c):
    X, y, _, new = table()
    calls = ctrl_c(2)
    free = KernelFisherDiscriminant(kernel="rbf", gamma=0.2, solver="iterative", tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="was interrupted"):
        found = free.fit(X, y)
    assert len(calls) == 3, "one step, the interrupted one, and the level of the outputs"
    assert np.isfinite(found.predict_proba(new)).all()


def test_the_level_is_what_is_left_free():
    """Solutions of A + α and of the intercept: together those of the complement of √p."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(20, 20)), rng.normal(size=(20, 3))
    A, root = A @ A.T + np.eye(20), rng.uniform(size=20)
    root /= np.linalg.norm(root)
    basis = np.linalg.svd(root[None])[2][1:].T
    expected = basis @ np.linalg.solve(basis.T @ A @ basis, basis.T @ B)
    inverse = np.linalg.inv(A)
    found = _iterative.without_level(inverse @ B, inverse @ root, root)
    np.testing.assert_allclose(found, expected, atol=1e-10)


class TestCorrected:
    """A diagonal from random signs: the mean is unbiased, and chance does not reach single rows."""

    n_rows, n_probes = 300, 6

    def draws(self, seed, n_draws):
        """Return the true ratio of the diagonals, and estimates of it from some probes each."""
        rng = np.random.default_rng(seed)
        near = rng.uniform(1, 3, self.n_rows)
        missing = rng.normal(size=(self.n_rows, self.n_rows)) / 100
        missing = missing + missing.T
        share = rng.normal(0.2, 0.1, self.n_rows)
        missing[np.diag_indices(self.n_rows)] = near * share
        estimates = []
        for _ in range(n_draws):
            signs = rng.choice([-1.0, 1.0], (self.n_rows, self.n_probes))
            differences = signs * (missing @ signs)
            estimates.append(_iterative.corrected(near, differences) / near)
            self.plain = 1 + differences.mean(axis=1) / near
        return 1 + share, np.array(estimates)

    def test_the_mean_is_unbiased(self):
        expected, found = self.draws(0, 300)
        means = found.mean(axis=1)
        error = means.std() / np.sqrt(len(means))
        assert means.mean() == pytest.approx(expected.mean(), abs=4 * error + 1e-4)
        assert error < 2e-3

    def test_rows_are_better_than_by_the_mean_and_by_chance_alone(self):
        expected, found = self.draws(1, 1)
        error = np.mean((found[0] - expected) ** 2)
        assert error < np.mean((self.plain - expected) ** 2)
        assert error < np.var(expected) * 0.99

    def test_what_is_no_chance_is_believed(self):
        rng = np.random.default_rng(0)
        near, missing = rng.uniform(1, 3, 50), rng.uniform(-0.5, 1, 50)
        found = _iterative.corrected(near, np.tile(missing[:, None], 6))
        np.testing.assert_allclose(found, near + missing, rtol=1e-12)

    def test_what_is_all_chance_is_not(self):
        rng = np.random.default_rng(0)
        found = _iterative.corrected(np.ones(4000), 0.3 + rng.normal(size=(4000, 6)))
        np.testing.assert_allclose(found, 1.3, atol=0.15)
        assert np.ptp(found) < 0.5  # means of six differ by three

    def test_a_diagonal_stays_positive(self):
        found = _iterative.corrected(np.full(3, 2.0), np.full((3, 4), -5.0))
        np.testing.assert_allclose(found, 0.2)

    def test_tensors_are_corrected_alike(self, torch):
        rng = np.random.default_rng(0)
        near, differences = rng.uniform(1, 3, 50), rng.normal(size=(50, 6))
        expected = _iterative.corrected(near, differences)
        found = _iterative.corrected(*map(torch.as_tensor, (near, differences)))
        np.testing.assert_allclose(found.numpy(), expected)


def test_no_matrix_of_all_pairs_is_ever_held_in_double_precision(monkeypatch, regime):
    """The search of kernel and width aside, which is on at most 4 000 rows."""
    n_rows = 3000
    monkeypatch.setattr(_expansion, "CLIMB_ROWS", 500)
    monkeypatch.setattr(_choice, "TRIAL_ROWS", 500)
    monkeypatch.setattr(_nystrom, "_NUMBERS_AT_ONCE", 2**17)
    X, y, _, _ = table(n_rows)
    fisher = KernelFisherDiscriminant(kernel="rbf", gamma=0.3, alpha=1e-2, solver="iterative")
    fisher.fit(X[:600], y[:600])  # what is imported and compiled is not the fit's
    tracemalloc.start()
    try:
        fisher.fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * n_rows**2 / 2
    if regime == "approximate":
        assert peak < 8 * n_rows**2 / 4
