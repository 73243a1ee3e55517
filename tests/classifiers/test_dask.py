"""Classifiers fitted on Dask arrays: the options that change what is computed."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone

from lazy import cut, cut_elsewhere, labelled
from mercer import (
    ISEClassifier,
    LaplacianClassifier,
    NearestAngleClassifier,
    ParzenClassifier,
)

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

MODELS = [
    NearestAngleClassifier(),
    ParzenClassifier(bandwidth="silverman", per_class=True, priors="uniform"),
    ParzenClassifier(bandwidth=[0.4, 0.5, 0.6]),
    ParzenClassifier(scoring="balanced_accuracy"),
    ParzenClassifier(kernel="exponential"),
    ISEClassifier(bandwidth="scott"),
    ISEClassifier(),
    LaplacianClassifier(bandwidth=0.5, density="mercer", priors="uniform"),
    LaplacianClassifier(bandwidth=0.5, density=None, rule="append"),
    LaplacianClassifier(bandwidth="scott", rule="auto"),
    LaplacianClassifier(),
    LaplacianClassifier(loo="exact"),
    LaplacianClassifier(rule="append", density_subset=0.5, random_state=0),
    LaplacianClassifier(bandwidth=0.5, n_nodes=20, node_selection="largest"),
    LaplacianClassifier(bandwidth=0.5, n_nodes=20, node_selection="random", random_state=3,
                        rule="append"),
    ISEClassifier(rule="append"),
    ISEClassifier(bandwidth=0.5, rule="auto", kernel="laplacian"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def _check(model, X, y, weights=None, tol=1e-9):
    new, _ = labelled(30, seed=1, dtype=X.dtype)
    new[0] += 300  # far from everything
    options = {} if weights is None else {"sample_weight": weights}
    expected = clone(model).fit(X, y, **options)
    lazily = {} if weights is None else {"sample_weight": cut_elsewhere(weights)}
    fitted = clone(model).fit(cut(X), cut_elsewhere(y), **lazily)
    if hasattr(expected, "bandwidth_"):
        np.testing.assert_allclose(fitted.bandwidth_, expected.bandwidth_, rtol=1e-9)
    for column, values in getattr(expected, "loo_results_", {}).items():
        found = fitted.loo_results_[column]
        if values.dtype.kind == "f":
            np.testing.assert_allclose(found, values, rtol=100 * tol, atol=tol, err_msg=column)
    on_blocks = (fitted, cut(new))
    # All methods answer by the scores: who answers whom is asked of one of them.
    pairs = {"decision_function": (on_blocks, (fitted, new), (expected, cut(new)))}
    for method in ("decision_function", "predict_proba", "predict_log_proba"):
        if hasattr(expected, method):
            answer = getattr(expected, method)(new)
            for one, rows in pairs.get(method, (on_blocks,)):
                found = getattr(one, method)(rows)
                assert isinstance(found, da.Array if isinstance(rows, da.Array) else np.ndarray)
                assert found.dtype == answer.dtype
                np.testing.assert_allclose(found, answer, rtol=tol, atol=tol, err_msg=method)
    predicted = fitted.predict(cut(new))
    assert predicted.dtype == y.dtype
    assert predicted.chunks == ((10, 1, 19),)
    np.testing.assert_array_equal(predicted.compute(), expected.predict(new))
    np.testing.assert_array_equal(fitted.predict(new), expected.predict(new))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_as_in_memory_with_weights(model):
    X, y = labelled(90)
    _check(model, X, y, np.random.default_rng(0).choice([0, 0.5, 1, 2.0], 90))


@pytest.mark.parametrize("model", [MODELS[3], MODELS[8], MODELS[10], MODELS[5]], ids=str)
def test_two_classes_in_single_precision(model):
    X, y = labelled(90, n_classes=2, dtype=np.float32)
    _check(model, X, y, tol=2e-3)


def test_many_small_classes_are_summed_together():
    X, y = labelled(120, n_classes=12)
    _check(LaplacianClassifier(), X, y)


def test_wild_rows_move_the_ladder_as_in_memory():
    X, y = labelled(90)
    X[7] = 1e6
    _check(ParzenClassifier(), X, y)


def test_rows_stay_in_blocks():
    X, y = labelled(60)
    model = LaplacianClassifier(bandwidth=0.5).fit(cut(X), y)
    for name in ("X_fit_", "weights_", "node_weights_", "node_classes_", "support_"):
        value = getattr(model, name)
        assert isinstance(value, da.Array), name
        assert value.chunks[0] == (20, 1, 39)
    assert isinstance(model.norms_, np.ndarray)


@pytest.mark.parametrize("model", [MODELS[k] for k in (0, 1, 5, 7, 9, 12, 13, 15)], ids=str)
def test_fitted_models_can_be_pickled(model):
    X, y = labelled(60)
    if getattr(model, "bandwidth", 1.0) == "loo":
        model = clone(model).set_params(bandwidth=0.5)
    fitted = clone(model).fit(cut(X), y)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


def test_a_fit_in_memory_forgets_the_blocks():
    X, y = labelled(60)
    model = LaplacianClassifier(bandwidth=0.5, rule="append").fit(cut(X), y)
    model.fit(X, y)
    assert not any(isinstance(value, da.Array) for value in vars(model).values())


def test_sums_of_large_ladders_are_cut_into_pieces(monkeypatch):
    from mercer.sums.dask import _left_out as _dask_left_out

    monkeypatch.setattr(_dask_left_out, "_PIECE_BYTES", 16 * 3 * 17 * 7)  # seven rows
    X, y = labelled(60)
    _check(ISEClassifier(), X, y)
    _check(LaplacianClassifier(), X, y)


@pytest.mark.parametrize("loo_rows", [None, 60])
@pytest.mark.parametrize(
    "model",
    [
        ParzenClassifier(),
        ParzenClassifier(kernel="exponential"),
        ISEClassifier(),
        ISEClassifier(rule="auto"),
        LaplacianClassifier(rule="auto"),
        LaplacianClassifier(density_subset=0.5, random_state=0),
    ],
    ids=str,
)
def test_rows_are_judged_in_the_stages_of_rows_in_memory(model, loo_rows, monkeypatch):
    from mercer.classifiers import _race

    monkeypatch.setattr(_race, "_ALL_UP_TO", 20)
    monkeypatch.setattr(_race, "_FIRST", 20)
    monkeypatch.setattr(_race, "_ERRORS", 1.0)  # small samples drop out soon
    monkeypatch.setattr(_race, "_UNSEEN", 0)
    X, y = labelled(150)
    weights = np.random.default_rng(0).choice([0, 0.5, 1, 2.0], 150)
    model = clone(model).set_params(loo_rows=loo_rows)
    expected = clone(model).fit(X, y, weights)
    fitted = clone(model).fit(cut(X), y, sample_weight=cut_elsewhere(weights))
    assert fitted.bandwidth_ == pytest.approx(expected.bandwidth_, rel=1e-9)
    judged = expected.loo_results_["rows"]
    assert judged.min() < np.count_nonzero(weights)
    np.testing.assert_array_equal(fitted.loo_results_["rows"], judged)
    for column, values in expected.loo_results_.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(
                fitted.loo_results_[column], values, rtol=1e-7, atol=1e-9, err_msg=column
            )


@pytest.mark.parametrize(
    "model", [ParzenClassifier(), ISEClassifier(), LaplacianClassifier(rule="append")], ids=str
)
def test_a_tolerance_is_kept(model):
    X, y = labelled(90)
    model = clone(model).set_params(bandwidth=0.5)
    expected = clone(model).fit(X, y).predict_proba(X)
    found = clone(model).set_params(tol=1e-6).fit(cut(X), y).predict_proba(cut(X))
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_no_task_returns_more_than_a_few_blocks():
    from dask.callbacks import Callback

    X, y = labelled(4000)
    sizes = []

    def record(key, value, graph, state, worker):
        parts = value if isinstance(value, tuple | list) else [value]
        sizes.append(sum(getattr(part, "nbytes", 0) for part in parts))

    with Callback(posttask=record):
        # Calibration brings the sums of up to 2048 rows together, however many there are.
        model = LaplacianClassifier(bandwidth=0.5, calibration=None).fit(cut(X, (400,) * 10), y)
        model.predict_proba(cut(X, (400,) * 10)).compute()
    # the answer itself is brought together, by a task of Dask's
    assert max(sizes[:-1]) <= 4 * X[:400].nbytes


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (ISEClassifier(weighting="margin"), "takes no Dask array"),
        (LaplacianClassifier(bandwidth=1.0, n_nodes=9), "node_selection='herding'"),
        (LaplacianClassifier(bandwidth=1.0, n_nodes=2), "n_nodes=2 is less than the number"),
        (ParzenClassifier(bandwidth=-1.0), "bandwidth"),
    ],
    ids=str,
)
def test_one_sentence_for_what_is_not_there(model, sentence):
    X, y = labelled(60)
    with pytest.raises(ValueError, match=sentence):
        model.fit(cut(X), y)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[1], MODELS[6], MODELS[10]], ids=str)
@pytest.mark.parametrize("n_columns", [1, 2])
def test_columns_of_weights_get_the_sentence_of_rows_in_memory(model, n_columns):
    X, y = labelled(60)
    weights = np.ones((60, n_columns))
    with pytest.raises(ValueError, match=r"one entry for each of the 60 rows, got") as in_memory:
        model.fit(X, y, sample_weight=weights)
    for given in (weights, cut(weights), cut_elsewhere(weights)):
        with pytest.raises(ValueError, match=f"^{re.escape(str(in_memory.value))}$"):
            model.fit(cut(X), cut(y), sample_weight=given)


def test_a_number_is_the_weight_of_every_row():
    X, y = labelled(60)
    model = ParzenClassifier(bandwidth=0.5)
    expected = clone(model).fit(X, y, sample_weight=2.0).predict_proba(X)
    found = model.fit(cut(X), y, sample_weight=2.0).predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    with pytest.raises(ValueError, match=r"got shape \(\)"):
        model.fit(cut(X), y, sample_weight=da.asarray(2.0))


@pytest.mark.parametrize("model", [MODELS[0], MODELS[1], MODELS[6], MODELS[10]], ids=str)
def test_labels_and_weights_in_tensors_count_by_their_values(torch, model):
    X, _ = labelled(60)
    y, weights = np.arange(60) % 3, np.linspace(1, 2, 60)
    expected = clone(model).fit(X, y, sample_weight=weights).decision_function(X)
    labels, history = torch.tensor(y), torch.tensor(weights, requires_grad=True)
    for given in ((cut(X), labels, history), (X, cut(y), cut(weights)), (X, labels, history)):
        found = clone(model).fit(*given).decision_function(X)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("model", [MODELS[0], MODELS[1], MODELS[6], MODELS[10]], ids=str)
def test_blocks_and_tensors_do_not_answer_each_other(torch, model):
    X, _ = labelled(60)
    y = np.arange(60) % 3
    rows, labels = torch.tensor(X), torch.tensor(y)
    on_blocks = clone(model).fit(cut(X), labels)
    assert isinstance(on_blocks.classes_, np.ndarray)
    on_tensors = clone(model).fit(rows, cut(y), sample_weight=cut(np.ones(60)))
    in_memory = clone(model).fit(X, labels)
    assert isinstance(in_memory.predict(X), np.ndarray)
    for method in ("predict", "decision_function"):
        with pytest.raises(ValueError, match=r"X is a tensor on cpu and what was fitted is a"):
            getattr(on_blocks, method)(rows)
        with pytest.raises(ValueError, match=r"X is a Dask array and what was fitted is a tensor"):
            getattr(on_tensors, method)(cut(X))


def test_one_sentence_for_bad_rows_and_labels():
    X, y = labelled(60)
    model = ParzenClassifier(bandwidth=0.5)
    with pytest.raises(ValueError, match="needs at least two classes"):
        model.fit(cut(X), np.zeros(60))
    with pytest.raises(ValueError, match="one class for each of the 60 rows"):
        model.fit(cut(X), y[:50])
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(cut(X), cut(X[:, 0]))
    with pytest.raises(ValueError, match="zero everywhere"):
        model.fit(cut(X), y, sample_weight=np.zeros(60))
    with pytest.raises(ValueError, match="expecting 2 features"):
        model.fit(cut(X), y).predict(cut(np.ones((9, 3))))
    X[41, 0] = np.nan
    with pytest.raises(ValueError, match="X contains NaN in row 41, column 0"):
        LaplacianClassifier(bandwidth=0.5).fit(cut(X), y)
