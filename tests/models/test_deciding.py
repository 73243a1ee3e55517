"""Answers by costs and by a wish: the maths against literal versions, and the promise kept."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from mercer.discriminants import KernelFisherDiscriminant
from mercer.models import (
    CappedClassifier,
    DecidingClassifier,
    ModelCard,
    TooFewRowsWarning,
    load_model,
    make_model,
    save_model,
)
from mercer.models.deciding._correction import fit_correction
from mercer.models.deciding._figures import alarms_in_hindsight, decision_figures
from mercer.models.deciding._rules import (
    at_threshold,
    choose_threshold,
    highest_rank,
    least_cost,
    promised_recall,
    raw_threshold,
    rows_needed,
    shares_of_class,
)


def random_proba(rng, n_rows, n_classes):
    return rng.dirichlet(np.ones(n_classes), size=n_rows)


@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_the_answer_has_the_least_expected_cost(n_classes, seed):
    rng = np.random.default_rng(seed)
    proba, costs = random_proba(rng, 20, n_classes), rng.random((n_classes, n_classes))
    np.fill_diagonal(costs, 0.0)
    answers = least_cost(proba, costs)
    for row, answer in zip(proba, answers, strict=True):
        expected = [sum(row[c] * costs[c, k] for c in range(n_classes)) for k in range(n_classes)]
        assert expected[answer] <= min(expected) + 1e-12


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_answers_depend_neither_on_the_unit_of_costs_nor_on_what_being_right_costs(factor):
    rng = np.random.default_rng(0)
    proba, costs = random_proba(rng, 200, 3), rng.random((3, 3)) * (1 - np.eye(3))
    expected = least_cost(proba, costs)
    moved = costs + np.array([[0.25], [-0.5], [1.0]])
    np.testing.assert_array_equal(least_cost(proba, moved * factor), expected)


def test_equal_costs_give_the_most_probable_class():
    proba = random_proba(np.random.default_rng(1), 500, 4)
    np.testing.assert_array_equal(least_cost(proba, 1 - np.eye(4)), proba.argmax(axis=1))


def at_least(n, share, k):
    """The probability that a binomial variable is at least k, by its definition."""
    terms = (math.comb(n, j) * share**j * (1 - share) ** (n - j) for j in range(k))
    return 1 - math.fsum(terms)


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("recall", [0.6, 0.9, 0.98])
def test_the_rank_is_the_highest_that_keeps_the_promise(recall, confidence):
    for n in (1, 5, 29, 60, 150, 400):
        rank = highest_rank(n, recall, confidence)
        assert rank == 0 or at_least(n, 1 - recall, rank) >= confidence
        assert at_least(n, 1 - recall, rank + 1) < confidence
        assert (rank > 0) == (n >= rows_needed(recall, confidence))


def test_rows_needed_are_those_of_the_docs():
    assert rows_needed(0.98, 0.95) == 149
    assert rows_needed(0.9, 0.95) == 29


@given(st.integers(1, 300), st.floats(0, 1), st.floats(0.5, 0.99))
def test_what_is_promised_is_the_interval_of_clopper_and_pearson(n, part, confidence):
    found = max(1, round(part * n))
    low = promised_recall(n, found, confidence)
    assert stats.binom.sf(found - 1, n, low) == pytest.approx(1 - confidence, rel=1e-6)


@pytest.mark.parametrize(("n", "recall"), [(60, 0.9), (200, 0.98), (1000, 0.95)])
def test_the_promise_is_kept_with_its_confidence(n, recall):
    # Shares of new rows are uniform here, so that the recall of a threshold is 1 − threshold.
    rng = np.random.default_rng(0)
    draws = [choose_threshold(rng.random(n) / 2, recall, 0.95).threshold for _ in range(4000)]
    kept = np.mean(1 - 2 * np.array(draws) >= recall)
    assert kept >= 0.95 - 4 * np.sqrt(0.05 * 0.95 / 4000)
    if n == 1000:  # and not by a wide margin, where the class has rows enough
        assert kept <= 0.975


def test_a_class_with_too_few_rows_is_found_whole_and_promised_less():
    shares = np.array([0.2, 0.3, 0.4])
    found = choose_threshold(shares, 0.98, 0.95)
    assert (found.threshold, found.n_found) == (0.2, 3)
    assert found.promised == pytest.approx(0.05 ** (1 / 3))


def test_the_threshold_never_lies_above_that_of_the_most_probable_class():
    found = choose_threshold(np.linspace(0.8, 1.0, 100), 0.5, 0.95)
    assert (found.threshold, found.n_found) == (0.5, 100)
    assert found.promised == pytest.approx(0.05 ** (1 / 100))


@given(st.integers(2, 5), st.integers(0, 2**32 - 1), st.floats(0.01, 0.5))
def test_a_class_is_the_answer_from_its_threshold_on(n_classes, seed, threshold):
    rng = np.random.default_rng(seed)
    proba, c = random_proba(rng, 30, n_classes), int(rng.integers(n_classes))
    for row, answer in zip(proba, at_threshold(proba, c, threshold), strict=True):
        others = {k: row[k] for k in range(n_classes) if k != c}
        best = max(others, key=others.get)
        share = row[c] / (row[c] + row[best])
        if abs(share - threshold) > 1e-12:
            assert answer == (c if share > threshold else best)


def test_half_is_the_most_probable_class():
    proba = random_proba(np.random.default_rng(2), 500, 4)
    np.testing.assert_array_equal(at_threshold(proba, 2, 0.5), proba.argmax(axis=1))


def test_a_class_without_any_probability_has_a_share_all_the_same():
    proba = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(shares_of_class(proba, 0), [0.0, 1.0])


def literal_correction(proba, labels, weights):
    """The correction by its definition, without gradients."""

    def loss(found):
        scores = found[0] * np.log(proba) + found[1:]
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        prior = ((found[0] - 1) ** 2 + (found[1:] ** 2).sum()) / 2
        return -weights @ logs[np.arange(len(labels)), labels] + prior

    start = np.r_[1.0, np.zeros(proba.shape[1])]
    found = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-7, "maxiter": 9000})
    return found.x


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_correction_has_the_least_penalised_log_loss(n_classes):
    rng = np.random.default_rng(n_classes)
    proba = random_proba(rng, 80, n_classes)
    labels = np.array([rng.choice(n_classes, p=row**0.5 / (row**0.5).sum()) for row in proba])
    weights = rng.uniform(0.5, 2, 80)
    found = fit_correction(proba, labels, weights)
    expected = literal_correction(proba, labels, weights)
    assert found.slope == pytest.approx(expected[0], abs=1e-3)
    np.testing.assert_allclose(found.offsets, expected[1:] - expected[1:].mean(), atol=1e-3)


def test_the_correction_takes_back_what_made_probabilities_too_sure():
    rng = np.random.default_rng(0)
    true = random_proba(rng, 20_000, 3)
    labels = (rng.random((20_000, 1)) > true.cumsum(axis=1)).sum(axis=1)
    sure = true**3 / (true**3).sum(axis=1, keepdims=True)
    found = fit_correction(sure, labels)
    assert found.slope == pytest.approx(1 / 3, abs=0.02)
    np.testing.assert_allclose(found.offsets, 0.0, atol=0.05)
    np.testing.assert_allclose(found.apply(sure), true, atol=0.03)


def test_probabilities_of_0_and_1_are_corrected_to_finite_ones():
    proba = np.array([[1.0, 0.0], [0.0, 1.0]] * 10)
    found = fit_correction(proba, np.array([0, 1] * 10))
    assert np.isfinite(found.apply(proba)).all()


@given(st.floats(0.01, 100), st.floats(0.2, 3), st.floats(-2, 2))
def test_the_threshold_of_costs_is_where_the_answer_changes(ratio, slope, offset):
    from mercer.models.deciding._correction import Correction

    costs, offsets = np.array([[0.0, 1.0], [ratio, 0.0]]), np.array([-offset, offset])
    threshold = raw_threshold(costs, slope, offsets)
    near = np.clip(threshold * np.array([0.999, 1.001]), 1e-12, 1 - 1e-12)
    if 1e-9 < threshold < 1 - 1e-2:
        proba = Correction(slope, offsets).apply(np.column_stack([1 - near, near]))
        assert least_cost(proba, costs).tolist() == [0, 1]


# The classifier.


@pytest.fixture(scope="module")
def cells():
    bunch = load_breast_cancer()
    X = (bunch.data - bunch.data.mean(axis=0)) / bunch.data.std(axis=0)
    return X, bunch.target_names[bunch.target]


COSTS = np.array([[0.0, 1.0], [20.0, 0.0]])  # benign, malignant


def test_without_a_rule_the_answer_is_the_most_probable_class(cells):
    model = DecidingClassifier(LogisticRegression()).fit(*cells)
    np.testing.assert_array_equal(model.predict(cells[0]), model.estimator_.predict(cells[0]))
    assert model.decision_ == "The answer is the most probable class."


def test_the_threshold_is_that_of_rows_left_out_by_folds(cells):
    X, y = cells
    wish = {"malignant": 0.9}
    model = DecidingClassifier(GaussianNB(), recall=wish, random_state=3).fit(X, y)
    proba = np.empty((len(y), 2))
    rng = np.random.RandomState(3)
    seed = rng.randint(2**31 - 1)
    for train, test in StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y):
        proba[test] = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
    shares = np.sort(proba[y == "malignant", 1])
    expected = min(0.5, shares[highest_rank(len(shares), 0.9, 0.95) - 1])
    assert model.threshold_ == pytest.approx(expected)
    assert model.n_left_out_ == (y == "malignant").sum()
    likely = model.predict_proba(X)[:, 1] >= expected
    np.testing.assert_array_equal(model.predict(X), np.where(likely, "malignant", "benign"))
    np.testing.assert_array_equal(model.predict(X), model.decide(model.predict_proba(X)))
    np.testing.assert_array_equal(model.predict_proba(X), GaussianNB().fit(X, y).predict_proba(X))


class CountsFits(KernelFisherDiscriminant):
    fits = 0

    def fit(self, X, y, sample_weight=None):
        CountsFits.fits += 1
        return super().fit(X, y, sample_weight)


def test_kernel_fisher_is_fitted_once_and_judged_by_its_own_left_out_rows(cells):
    X, y = cells[0][::3], cells[1][::3]
    plain = KernelFisherDiscriminant(kernel="rbf", column_scales=None).fit(X, y)
    own = CountsFits(kernel="rbf", column_scales=None)
    CountsFits.fits = 0
    model = DecidingClassifier(own, recall={"malignant": 0.9}).fit(X, y)
    assert CountsFits.fits == 1
    shares = np.sort(plain.loo_proba_[y == "malignant", 1])
    rank = highest_rank(len(shares), 0.9, 0.95)
    assert model.threshold_ == pytest.approx(min(0.5, shares[rank - 1]))
    assert not hasattr(model.estimator_, "loo_proba_")  # the decision was made


def test_costs_move_answers_and_lower_what_mistakes_cost(cells):
    X, y = cells
    model = DecidingClassifier(GaussianNB(), costs=COSTS, random_state=0).fit(X[::2], y[::2])
    new, truth = X[1::2], y[1::2]
    figures = decision_figures(
        truth,
        model.predict(new),
        model.estimator_.predict(new),
        model.classes_,
        costs=COSTS,
    )
    missed, false = (
        np.mean((truth == t) & (model.predict(new) == p))
        for t, p in (("malignant", "benign"), ("benign", "malignant"))
    )
    assert figures["mean_cost"] == pytest.approx(20 * missed + false)
    assert figures["mean_cost"] < figures["plain_mean_cost"]
    likely = model.predict_proba(new)[:, 1] >= model.threshold_
    np.testing.assert_array_equal(model.predict(new), np.where(likely, "malignant", "benign"))


def test_costs_are_found_by_name_in_a_frame(cells):
    X, y = cells
    frame = pd.DataFrame([[0, 20], [1, 0]], ["malignant", "benign"], ["malignant", "benign"])
    by_name = DecidingClassifier(GaussianNB(), costs=frame, random_state=0).fit(X, y)
    np.testing.assert_array_equal(by_name.costs_, COSTS)


@pytest.mark.parametrize("recall", [{"setosa": 0.5}, {"virginica": 0.93}, {"versicolor": 0.9}])
def test_the_wish_of_one_of_several_classes(recall):
    bunch = load_iris()
    X, y = bunch.data, bunch.target_names[bunch.target]
    model = DecidingClassifier(GaussianNB(), recall=recall, random_state=0).fit(X, y)
    ((name, share),) = recall.items()
    found = np.mean(model.predict(X)[y == name] == name)
    assert found >= share
    assert model.promised_recall_ >= share
    is_named = model.predict(X) == name
    others = np.delete(model.predict_proba(X), model.classes_.tolist().index(name), axis=1)
    names = np.delete(model.classes_, model.classes_.tolist().index(name))
    rest = names[others[~is_named].argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X)[~is_named], rest)


def test_too_few_rows_are_said_to_be_too_few(cells):
    X, y = cells[0][::8], cells[1][::8]
    model = DecidingClassifier(GaussianNB(), recall={"malignant": 0.98}, random_state=0)
    with pytest.warns(TooFewRowsWarning, match=r"has \d+ rows .* takes 149 to promise") as caught:
        model.fit(X, y)
    assert str(caught[0].message).endswith(".")
    assert model.promised_recall_ < 0.98
    assert "too few of them to promise 98.0 %" in model.decision_


WRONG = {
    "both": ({"costs": COSTS, "recall": {"malignant": 0.9}}, "not both"),
    "shape": ({"costs": np.eye(3)}, "a row and a column for each of the 2 classes"),
    "text": ({"costs": [["a", "b"], ["c", "d"]]}, "costs must be numbers"),
    "infinite": ({"costs": [[0, np.inf], [1, 0]]}, "costs must be finite"),
    "gains": ({"costs": [[1, 0], [0, 1]]}, "cheaper"),
    "row": (
        {"costs": pd.DataFrame(COSTS, ["benign", "x"], ["benign", "malignant"])},
        "no row for class 'malignant'",
    ),
    "class": ({"recall": {"malignnt": 0.9}}, "did you mean 'malignant'"),
    "two": ({"recall": {"malignant": 0.9, "benign": 0.9}}, "takes one class"),
    "share": ({"recall": {"malignant": 98}}, "between 0 and 1"),
    "truth": ({"recall": {"malignant": True}}, "between 0 and 1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_are_named(cells, case):
    options, sentence = WRONG[case]
    with pytest.raises(ValueError, match=sentence) as caught:
        DecidingClassifier(GaussianNB(), **options).fit(*cells)
    assert str(caught.value).endswith((".", "?"))


def test_probabilities_of_other_classes_are_refused(cells):
    model = DecidingClassifier(GaussianNB()).fit(*cells)
    with pytest.raises(ValueError, match="a column for each of the 2 classes"):
        model.decide(np.ones((3, 3)))


def test_a_class_that_folds_lack_can_be_decided_about():
    X, y = make_classification(60, n_classes=2, random_state=0)
    y = np.where(np.arange(60) == 7, 2, y)
    model = DecidingClassifier(GaussianNB(), recall={1: 0.5}, random_state=0).fit(X, y)
    assert set(model.predict(X)) <= {0, 1, 2}


# Models of a table and their files.


@pytest.mark.parametrize("rule", ["costs", "recall"])
@pytest.mark.parametrize("name", ["fisher", "boosting", "parzen"])
def test_a_model_file_keeps_the_rule(data, tmp_path, name, rule):
    classes = np.unique(data.y).tolist()
    wrong = np.arange(1.0, 1 + len(classes) ** 2).reshape(len(classes), -1)
    rules = {"costs": wrong * (1 - np.eye(len(classes))), "recall": {classes[1]: 0.7}}
    model = make_model(name, data, **{rule: rules[rule]}, max_rows=len(data.y) - 1)
    model.fit(data.X, data.y)
    decider = model[-1].estimator_ if isinstance(model[-1], CappedClassifier) else model[-1]
    assert isinstance(decider, DecidingClassifier)
    path = tmp_path / "model.skops"
    save_model(path, model, ModelCard.describe(name, data, decision=decider.decision_))
    loaded, card = load_model(path)
    assert card.decision == decider.decision_
    np.testing.assert_array_equal(loaded.predict(data.X), model.predict(data.X))
    np.testing.assert_array_equal(loaded.predict_proba(data.X), model.predict_proba(data.X))


def test_costs_and_balanced_classes_do_not_go_together(data):
    with pytest.raises(ValueError, match="Balanced classes and costs"):
        make_model("logistic", data, balanced=True, costs=np.zeros((3, 3)))


def test_a_clone_has_the_rule_and_nothing_else(cells):
    model = DecidingClassifier(GaussianNB(), recall={"malignant": 0.9}, random_state=0).fit(*cells)
    copy = clone(model)
    assert copy.recall == {"malignant": 0.9}
    assert not hasattr(copy, "threshold_")


# Figures.


@given(arrays(np.int64, 40, elements=st.integers(0, 2)), st.integers(0, 2**32 - 1))
def test_figures_are_those_of_their_definitions(truth, seed):
    classes, rng = np.array(["a", "b", "c"]), np.random.default_rng(seed)
    said = rng.integers(0, 3, 40)
    found = decision_figures(
        classes[truth], classes[said], classes[truth], classes, recall={"b": 0.9}
    )
    hits = sum(t == s == 1 for t, s in zip(truth, said, strict=True))
    assert found["alarms"] == pytest.approx(1000 * (sum(said == 1) - hits) / 40)
    assert found["recall"] == (hits / sum(truth == 1) if 1 in truth else None)
    assert found["precision"] == (hits / sum(said == 1) if 1 in said else None)
    assert found["plain_alarms"] == 0


def test_alarms_in_hindsight_are_those_of_the_highest_threshold_that_finds_as_many():
    rng = np.random.default_rng(0)
    proba, truth = random_proba(rng, 300, 2), rng.random(300) < 0.3
    for recall in (0.5, 0.9, 1.0):
        thresholds = [t for t in proba[:, 1] if np.mean(proba[truth, 1] >= t) >= recall]
        expected = 1000 * np.mean((proba[:, 1] >= max(thresholds)) & ~truth)
        assert alarms_in_hindsight(truth, proba, 1, [recall]) == [pytest.approx(expected)]
