"""Which kernel: what is chosen where, what is said of it, and what it does not depend on."""

import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons

from mercer.discriminants import (
    KernelFisherDiscriminant,
    SparseKernelFisherDiscriminant,
    _choice,
    _expansion,
    _scales,
    _trial,
)
from mercer.discriminants._choice import column_shares
from mercer.discriminants._coding import Coding
from mercer.kernels import KernelFunction

KERNELS = ["rbf", "exponential", "laplacian"]
SCALES = np.array([0.5, 2.0, 1e-3, 1.0, 3.0])


def thresholds(n_rows, seed=0, n_noise=8):
    """Three columns of which each says yes or no, the majority of them decides; and noise."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n_rows, 3 + n_noise))
    return X, ((X[:, :3] > 0).sum(axis=1) > 1).astype(int)


def smooth(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 2
    return rng.normal(size=(n_rows, 5)) + y[:, None], y


@pytest.fixture(scope="module")
def chosen():
    return KernelFisherDiscriminant().fit(*thresholds(400))


def test_thresholds_of_few_columns_get_the_city_block_kernel_with_scales(chosen):
    assert chosen.kernel_ == "laplacian"
    assert chosen.column_scales_[:3].min() > chosen.column_scales_[3:].max()
    new, new_y = thresholds(1000, 1)
    plain = KernelFisherDiscriminant(kernel="rbf").fit(*thresholds(400))
    assert chosen.score(new, new_y) > plain.score(new, new_y) + 0.03


def test_round_classes_get_a_smooth_kernel_and_no_scales():
    for X, y in (smooth(300), make_moons(300, noise=0.2, random_state=0)):
        model = KernelFisherDiscriminant().fit(X, y)
        assert model.kernel_ in ("rbf", "exponential")
        assert model.column_scales_ is None


def test_all_candidates_are_listed_and_the_chosen_one_first(chosen):
    first, *others = listed = chosen.loo_results_["kernels"]
    assert first["kernel"] == chosen.kernel_
    assert first["has_scales"]
    assert first["gamma"] == chosen.gamma_
    names = [(one["kernel"], one["has_scales"]) for one in listed]
    assert sorted(names) == sorted([*((name, False) for name in KERNELS), ("laplacian", True)])
    assert max(one["score"] for one in others) <= first["score"]
    assert {one["rows"] for one in listed} == {400}
    each = r"(\w+|laplacian with column scales) \([<>]? ?[\d.]+ %, squared error [\d.]+\)"
    sentence = rf"Leave-one-out on up to 400 rows chose {each}; against {each}(, {each})*\."
    assert re.fullmatch(sentence, chosen.choice_)
    assert chosen.choice_.count("squared error") == len(listed)


def test_a_trial_is_what_the_kernel_by_name_gives():
    X, y = thresholds(200)
    model = KernelFisherDiscriminant().fit(X, y)
    for one in model.loo_results_["kernels"]:
        if not one["has_scales"]:
            alone = KernelFisherDiscriminant(kernel=one["kernel"]).fit(X, y).loo_results_
            assert alone["gamma"][alone["best_index"][0]] == one["gamma"]
            assert alone["score"][alone["best_index"]] == one["score"]
            assert alone["squared_error"][alone["best_index"]] == one["squared_error"]


@pytest.mark.parametrize("model", [KernelFisherDiscriminant, SparseKernelFisherDiscriminant])
def test_without_time_only_the_first_kernel_is_tried(model):
    X, y = thresholds(200)
    hurried = model(search_seconds=0, random_state=0).fit(X, y)
    assert [one["kernel"] for one in hurried.loo_results_["kernels"]] == ["rbf"]
    expected = model(kernel="rbf", random_state=0).fit(X, y)
    np.testing.assert_array_equal(hurried.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize(
    "model",
    [
        SparseKernelFisherDiscriminant(random_state=0),
        KernelFisherDiscriminant(n_landmarks=50, random_state=0),
    ],
    ids=str,
)
def test_on_nodes_a_kernel_that_is_given_is_not_tried(model, monkeypatch):
    monkeypatch.setattr(_choice, "try_on_few", None)
    model.set_params(kernel="laplacian").fit(*thresholds(200))
    assert model.choice_ == "The kernel was given: laplacian."
    assert model.loo_results_["kernels"] == []


@pytest.mark.parametrize("gamma", [0.1, "scale"])
def test_a_width_that_is_given_is_that_of_the_usual_kernel(gamma):
    X, y = thresholds(200)
    found, expected = (
        KernelFisherDiscriminant(kernel=kernel, gamma=gamma).fit(X, y) for kernel in ("auto", "rbf")
    )
    assert found.kernel_ == "rbf"
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize("gamma", ["loo", "scale", 0.2])
@pytest.mark.parametrize("kernel", [*KERNELS, "poly", "auto"])
def test_scales_that_are_given_multiply_the_rows(kernel, gamma):
    X, y = smooth(150)
    new, _ = smooth(60, 1)
    options = {"kernel": kernel, "gamma": gamma, "degree": 2}
    given = KernelFisherDiscriminant(column_scales=SCALES, **options).fit(X, y)
    before = KernelFisherDiscriminant(column_scales=None, **options).fit(X * SCALES, y)
    np.testing.assert_allclose(given.column_scales_, SCALES)
    assert given.kernel_ == before.kernel_
    assert given.gamma_ == before.gamma_
    expected = before.decision_function(new * SCALES)
    # NumPy multiplies an array with itself by another routine, which rounds in another order.
    room = 1e-6 if kernel == "poly" else 0.0
    np.testing.assert_allclose(
        given.decision_function(new), expected, rtol=0, atol=room * np.abs(expected).max()
    )
    single = given.decision_function(new.astype(np.float32))
    np.testing.assert_allclose(single, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("scales", [[1.0, 2], [1.0, 1, 1, 1, -1], [0.0] * 5, [np.inf] * 5, [[1.0]]])
def test_bad_scales_are_one_sentence(scales):
    with pytest.raises(ValueError, match="column_scales must be 5 positive numbers, one for each"):
        KernelFisherDiscriminant(column_scales=scales).fit(*smooth(60))


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        ({"kernel": "exponential"}, "kernel='auto' or 'laplacian' or 'rbf'; got kernel='exp"),
        ({"kernel": "poly"}, "kernel='auto' or 'laplacian' or 'rbf'; got kernel='poly'"),
        ({"gamma": 0.1}, "gamma='loo' and penalty='rkhs'; got gamma=0.1"),
        ({"penalty": "coef"}, "gamma='loo' and penalty='rkhs'; got gamma='loo' and penalty='coef'"),
    ],
)
def test_scales_that_cannot_be_learned_are_one_sentence(options, needed):
    with pytest.raises(ValueError, match=f"column_scales='loo' needs {needed}"):
        KernelFisherDiscriminant(**options, column_scales="loo").fit(*smooth(60))


def test_a_matrix_of_kernels_has_no_columns_to_scale():
    X, y = smooth(60)
    model = KernelFisherDiscriminant(kernel="precomputed", column_scales=np.ones(60))
    with pytest.raises(ValueError, match="column_scales needs columns"):
        model.fit(X @ X.T, y)


@pytest.mark.parametrize("make", [thresholds, smooth])
def test_the_fit_on_many_rows_is_that_of_what_it_chose(monkeypatch, make):
    X, y = make(700)
    new, _ = make(100, 1)
    monkeypatch.setattr(_expansion, "BASIS_ROWS", 600)
    monkeypatch.setattr(_trial, "SURFACE_ROWS", 200)
    monkeypatch.setattr(_scales, "_SCALE_ROWS", 300)
    model = KernelFisherDiscriminant().fit(X, y)
    same = {"kernel": model.kernel_, "gamma": model.gamma_, "alpha": model.alpha_}
    monkeypatch.undo()
    again = KernelFisherDiscriminant(column_scales=model.column_scales_, **same).fit(X, y)
    expected = again.decision_function(new)
    room = 1e-6 * np.abs(expected).max()
    np.testing.assert_allclose(model.decision_function(new), expected, atol=room)
    assert model.alpha_ == again.alpha_


def test_rows_that_learn_scales_are_none_of_those_that_judge_if_others_do():
    y = np.arange(3000) % 3
    coding = Coding(y, *[np.ones(3000)] * 4, np.ones(3), np.ones((3, 2)), 1.0, 1.0)
    learning, judging = _scales._scale_rows(coding, 2000), _trial.sample_rows(coding, 2000)
    assert len(learning) == 700
    assert len(np.intersect1d(learning, judging)) == 0
    few = _trial.sample_rows(coding, 500)
    assert np.isin(few, judging).all(), "smaller samples are parts of larger ones"


@pytest.mark.parametrize("scales", [None, SCALES])
@pytest.mark.parametrize("kernel", KERNELS)
def test_shares_are_mean_differences_of_all_pairs(kernel, scales):
    X = smooth(25)[0] + 100
    function = KernelFunction(kernel)
    if scales is not None:
        function, rows = function.with_scales(scales), X * scales
    else:
        rows = X
    power, expected = 1 if kernel == "laplacian" else 2, np.zeros(5)
    times = np.random.default_rng(0).integers(1, 4, 25) * 1.0
    for a, m in zip(rows, times, strict=True):
        for b, n in zip(rows, times, strict=True):
            expected += m * n * np.abs(a - b) ** power
    found = column_shares(function, X, times)
    np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-9)
    assert found.sum() == pytest.approx(1)
    np.testing.assert_array_equal(column_shares(function, np.ones((4, 5)), np.ones(4)), 0.2)
    assert column_shares(KernelFunction("poly"), X, times) is None


def test_shares_of_a_sample_are_those_of_all_rows():
    rng = np.random.default_rng(0)
    y = (np.arange(30_000) >= 29_700).astype(int)
    X = rng.normal(size=(30_000, 2)) + 8 * np.outer(y, [0, 1])
    # The sample of 10 000 rows has three times as many of the rare class as all rows have.
    model = SparseKernelFisherDiscriminant(kernel="rbf", max_nodes=20, random_state=0).fit(X, y)
    expected = X.var(axis=0) / X.var(axis=0).sum()
    np.testing.assert_allclose(model.column_shares_, expected, atol=0.02)


def same_answers(found, expected, new, unit=1.0):
    assert found.kernel_ == expected.kernel_
    for name in ("column_scales_", "column_shares_"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-5)
    answer = expected.decision_function(new)
    room = 1e-6 * np.abs(answer).max()
    np.testing.assert_allclose(found.decision_function(new * unit), answer, atol=room)


@pytest.mark.parametrize("unit", [2.0**-30, 2.0**30])
def test_learned_scales_do_not_depend_on_the_unit(chosen, unit):
    X, y = thresholds(400)
    same_answers(KernelFisherDiscriminant().fit(X * unit, y), chosen, thresholds(50, 1)[0], unit)


def test_learned_scales_of_weights_are_those_of_copies():
    X, y = thresholds(250)
    new, _ = thresholds(50, 1)
    times = np.random.default_rng(0).integers(0, 3, 250)
    weighted = KernelFisherDiscriminant().fit(X, y, sample_weight=times)
    copies = KernelFisherDiscriminant().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.column_scales_ is not None
    same_answers(copies, weighted, new)


def test_another_order_of_rows_parts_other_halves_and_answers_alike(chosen):
    """The halves that judge scales are drawn by row, so that only the law of answers is left."""
    X, y = thresholds(400)
    new, _ = thresholds(1000, 1)
    order = np.random.default_rng(3).permutation(400)
    mixed = KernelFisherDiscriminant().fit(X[order], y[order])
    assert mixed.kernel_ == chosen.kernel_
    assert np.mean(mixed.predict(new) == chosen.predict(new)) > 0.97
    assert np.corrcoef(mixed.column_scales_, chosen.column_scales_)[0, 1] > 0.98


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize(
    "model",
    [KernelFisherDiscriminant(), SparseKernelFisherDiscriminant(max_nodes=40, random_state=0)],
    ids=str,
)
def test_learned_scales_of_tensors_are_those_of_arrays(torch, model):
    X, y = thresholds(150, n_noise=3)
    new, _ = thresholds(50, 1, n_noise=3)
    here, there = clone(model).fit(X, y), clone(model).fit(torch.as_tensor(X), y)
    assert torch.is_tensor(there.column_scales_)
    assert torch.is_tensor(there.column_shares_)
    assert there.kernel_ == here.kernel_ == "laplacian"
    np.testing.assert_allclose(there.column_scales_, here.column_scales_, rtol=1e-5)
    expected = here.decision_function(new)
    room = 1e-5 * np.abs(expected).max()
    found = there.decision_function(torch.as_tensor(new))
    np.testing.assert_allclose(found.numpy(), expected, atol=room)


def test_the_ridge_falls_as_the_rows_grow():
    kernel = KernelFunction("rbf")
    trial = _trial.Trial(kernel, 1.0, 10, 0.9, 0.5, 500, {}, searches_width=True)
    # Two positions are a decade, and ten times the rows need a tenth of the ridge.
    columns = [_trial.ridge_column(trial, n) for n in (500, 1600, 5000, 50_000, 10**12)]
    assert columns == [10, 9, 8, 6, 0]
