"""``compare_in_rounds``: the same splits for all, the budget kept, and literal statistics."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics as sk
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from mercer.comparison import choose_metric, compare_in_rounds, holm_correction
from mercer.comparison._result import mean_interval
from mercer.comparison.engine._metrics import METRICS, score_all

X, Y = load_iris(return_X_y=True)
X2, Y2 = load_breast_cancer(return_X_y=True)
X2 = X2[:, :6]
MODELS = {
    "bayes": GaussianNB(),
    "knn": KNeighborsClassifier(),
    "dummy": DummyClassifier(),
}


class Clock:
    """Time that passes only when an estimator says so."""

    def __init__(self):
        self.now = 100.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    for module in ("comparison.engine._plan", "comparison.engine._fit", "_system.workers"):
        fake = SimpleNamespace(perf_counter=clock.perf_counter)
        monkeypatch.setattr(f"mercer.{module}.time", fake)
    monkeypatch.setattr(Takes, "clock", clock)
    return clock


class Takes(GaussianNB):
    """Takes a while to fit, by the fake clock, and writes down who was fitted on which rows."""

    clock: Clock
    seen: list

    def __init__(self, seconds=0.0, name="", stop_at=None):
        super().__init__()
        self.seconds = seconds
        self.name = name
        self.stop_at = stop_at

    def fit(self, X, y):
        if len(self.seen) == self.stop_at:
            raise KeyboardInterrupt
        self.clock.now += self.seconds
        self.seen.append((self.name, hash(X.tobytes())))
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def _forget(monkeypatch):
    monkeypatch.setattr(Takes, "seen", [], raising=False)
    monkeypatch.setattr(Takes, "clock", Clock(), raising=False)


class Fails(ClassifierMixin, BaseEstimator):
    """Fails to fit, or answers nonsense."""

    def __init__(self, how="fit"):
        self.how = how

    def fit(self, X, y):
        if self.how == "fit":
            raise RuntimeError("no luck\nand more of it")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), 77)


def folds(y, n_folds, n_rounds, seed):
    """The splits, spelled out: repetitions of shuffled folds from one generator."""
    rng, found = np.random.RandomState(seed), []
    while len(found) < n_rounds:
        found += StratifiedKFold(n_folds, shuffle=True, random_state=rng).split(y, y)
    return found[:n_rounds]


def test_scores_are_those_of_repeated_stratified_folds():
    found = compare_in_rounds(MODELS, X, Y, max_rounds=13, random_state=3)
    splits = folds(Y, 10, 13, 3)
    for name, model in MODELS.items():
        literal = [model.fit(X[a], Y[a]).score(X[b], Y[b]) for a, b in splits]
        assert found.scores[name].tolist() == literal
    assert found.rounds == tuple(range(13))
    samples = found.predictions.index.get_level_values("sample")
    assert samples.tolist() == np.concatenate([test for _, test in splits]).tolist()
    assert (found.predictions["y_true"].to_numpy() == Y[samples]).all()


def test_results_depend_neither_on_processes_nor_on_order():
    models = {**MODELS, "forest": RandomForestClassifier(10, random_state=0, n_jobs=-1)}
    turned = dict(reversed(models.items()))
    options = {"max_rounds": 3, "random_state": 0, "budget": 600}
    one = compare_in_rounds(models, X, Y, **options)
    two = compare_in_rounds(turned, X, Y, n_jobs=2, **options)
    pd.testing.assert_frame_equal(one.scores, two.scores[list(models)], check_names=False)
    pd.testing.assert_frame_equal(one.predictions[list(models)], two.predictions[list(models)])
    for name in models:
        assert np.array_equal(one.outputs[name], two.outputs[name])
    columns = ["score", "low", "high", "pvalue", "against_best"]
    pd.testing.assert_frame_equal(
        one.summary[columns].sort_index(), two.summary[columns].sort_index()
    )


def test_every_model_sees_the_same_splits_round_after_round(clock):
    models = {name: Takes(name=name) for name in "abc"}
    compare_in_rounds(models, X, Y, max_rounds=4, random_state=0)
    rounds = [Takes.seen[i : i + 3] for i in range(0, 12, 3)]
    assert all({name for name, _ in one} == set("abc") for one in rounds)
    splits = [{rows for _, rows in one} for one in rounds]
    assert all(len(one) == 1 for one in splits)
    assert len(set.union(*splits)) == 4


def test_no_round_begins_that_would_overrun_the_budget(clock):
    models = {name: Takes(1.0, name) for name in "abc"}
    found = compare_in_rounds(models, X, Y, budget=11.0, random_state=0)
    assert len(found.rounds) == 3
    assert found.seconds == 9.0
    assert clock.now == 109.0
    assert (found.fit_seconds == 1.0).all(axis=None)


def test_a_round_may_end_with_the_budget_and_rounds_have_an_end(clock):
    models = {name: Takes(1.0, name) for name in "ab"}
    assert len(compare_in_rounds(models, X, Y, budget=8.0).rounds) == 4
    assert len(compare_in_rounds(models, X, Y, budget=1e9).rounds) == 20


def test_the_slowest_is_left_out_where_a_second_round_would_not_fit(clock):
    models = {"a": Takes(1.0), "slow": Takes(6.0), "b": Takes(1.0)}
    found = compare_in_rounds(models, X, Y, budget=12.0)
    assert len(found.rounds) == 3  # 8 s, and twice 2 s
    assert list(found.scores) == ["a", "b"]
    assert list(found.notes) == ["slow"]
    assert "a fit takes 6.0 s" in found.notes["slow"]
    assert found.summary.index[-1] == "slow"
    assert np.isnan(found.summary.loc["slow", "score"])
    assert "slow" in str(found)


def test_one_round_is_said_to_tell_nothing(clock):
    models = {"a": Takes(3.0), "b": Takes(3.0)}
    found = compare_in_rounds(models, X, Y, budget=7.0)
    assert found.rounds == (0,)
    assert not found.notes
    assert found.answer.startswith("Too few rounds to tell (1): a and b lead so far, with ")
    assert found.summary["low"].isna().all()
    assert found.summary["against_best"].tolist() == ["best", ""]


def test_a_budget_too_short_for_all_is_said(clock):
    models = {"a": Takes(5.0), "b": Takes(5.0)}
    found = compare_in_rounds(models, X, Y, budget=4.0)
    assert list(found.scores) == ["a"]
    assert "before its first fit was done" in found.notes["b"]
    assert "nothing to compare" in found.answer


@pytest.mark.parametrize("stop_at", [5, 7, 8])
def test_ctrl_c_keeps_finished_rounds(clock, stop_at):
    models = {name: Takes(1.0, name, stop_at=stop_at) for name in "abc"}
    found = compare_in_rounds(models, X, Y, random_state=0)
    assert found.interrupted
    assert found.rounds == tuple(range(stop_at // 3))
    assert len(found.predictions) == 15 * (stop_at // 3)


def test_ctrl_c_before_the_first_round_is_finished_is_ctrl_c(clock):
    models = {name: Takes(1.0, name, stop_at=2) for name in "abc"}
    with pytest.raises(KeyboardInterrupt):
        compare_in_rounds(models, X, Y)


def test_a_model_that_fails_is_a_row_with_its_error():
    models = {"fit": Fails("fit"), **MODELS, "nonsense": Fails("predict")}
    found = compare_in_rounds(models, X, Y, max_rounds=3, random_state=0)
    assert found.summary.index[-2:].tolist() == ["fit", "nonsense"]
    assert found.errors["fit"] == "split 0: RuntimeError: no luck\nand more of it"
    assert "predicts '77', which is not a class" in found.errors["nonsense"]
    assert set(found.pairs["a"]) | set(found.pairs["b"]) == set(MODELS)
    alone = compare_in_rounds(MODELS, X, Y, max_rounds=3, random_state=0)
    pd.testing.assert_frame_equal(found.scores, alone.scores)
    with pytest.raises(ValueError, match=r"No estimator could be scored; f: .*no luck"):
        compare_in_rounds({"f": Fails()}, X, Y)


def test_intervals_and_tests_are_the_formulas():
    found = compare_in_rounds(MODELS, X, Y, max_rounds=7, random_state=1, confidence_level=0.9)
    ratio, J = 15 / 135, 7
    for name in ("bayes", "knn"):
        s = found.scores[name].tolist()
        mean = sum(s) / J
        variance = sum((one - mean) ** 2 for one in s) / (J - 1)
        half = stats.t.ppf(0.95, J - 1) * ((1 / J + ratio) * variance) ** 0.5
        line = found.summary.loc[name]
        assert line["score"] == pytest.approx(mean)
        assert line["low"] == pytest.approx(mean - half)
        assert line["high"] == pytest.approx(min(1.0, mean + half))
    means = found.scores.mean()
    leader = means.idxmax()
    assert found.leader == leader
    by_pair = {}
    for a, b in combinations(MODELS, 2):
        right = found.predictions[[a, b]].eq(found.predictions["y_true"], axis=0).astype(float)
        d = (right[a] - right[b]).groupby("sample").mean()  # each row is tested once in 7 rounds
        t = d.mean() / np.sqrt((1 / len(d) + 1 / 135) * d.var(ddof=1))
        by_pair[a, b] = 2 * stats.t.sf(abs(t), len(d) - 1)
    assert found.pairs["pvalue"].tolist() == pytest.approx(list(by_pair.values()))
    holm = holm_correction(list(by_pair.values()))
    assert found.pairs["pvalue_holm"].tolist() == pytest.approx(holm.tolist())
    for (a, b), p in zip(by_pair, holm, strict=True):
        if leader in (a, b):
            line = found.summary.loc[a if b == leader else b]
            assert line["pvalue"] == pytest.approx(p)
            assert line["difference"] == pytest.approx(abs(means[a] - means[b]))
            assert line["against_best"] == ("worse" if p < 0.1 else "not told apart")


def test_a_mean_without_spread_has_no_interval():
    assert np.isnan(mean_interval([0.9, 0.9, 0.9], 0.1, 0.95)).all()
    assert np.isnan(mean_interval([0.9], 0.1, 0.95)).all()


def test_answer_is_one_sentence():
    found = compare_in_rounds(MODELS, X, Y, max_rounds=10, random_state=0)
    assert found.answer.startswith("bayes and knn are not told apart; ")
    assert found.answer.endswith("; dummy is worse (p < 0.001).")
    assert found.answer in " ".join(str(found).split())


@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_few_rounds_tell_who_leads_and_nothing_else(rounds):
    found = compare_in_rounds(MODELS, X, Y, floor="dummy", max_rounds=rounds, random_state=0)
    assert found.has_few_rounds
    means = found.scores.mean()
    best = sorted(name for name in means.index if means[name] > means.max() - 1e-9)
    lead = f"{best[0]} leads" if len(best) == 1 else f"{' and '.join(best)} lead"
    assert found.answer == (
        f"Too few rounds to tell ({rounds}): {lead} so far, with {means.max():.3f}; "
        "a longer budget tells more."
    )
    assert not compare_in_rounds(MODELS, X, Y, max_rounds=5, random_state=0).has_few_rounds


def test_an_interval_of_everything_is_none():
    """Two rounds have one degree of freedom, and an interval wider than what is possible."""
    rng = np.random.default_rng(3)
    models = {"a": KNeighborsClassifier(1), "b": KNeighborsClassifier(3)}
    found = compare_in_rounds(
        models, rng.normal(size=(60, 3)), np.arange(60) % 2, max_rounds=2, random_state=1
    )
    table = found.summary
    assert (found.scores.std() > 0.1).any()  # there is a spread, and an interval by the formula
    assert table[["low", "high"]].isna().all(axis=1).any()
    assert not ((table["low"] == 0) & (table["high"] == 1)).any()
    low, high = found.pairs.loc[0, ["low", "high"]]
    assert np.isnan(low) or -1 <= low <= high <= 1


def test_the_floor_has_a_family_of_tests_of_its_own():
    models = {**MODELS, "forest": RandomForestClassifier(5, random_state=0)}
    options = {"max_rounds": 5, "random_state": 0}
    plain = compare_in_rounds(models, X, Y, **options)
    found = compare_in_rounds(models, X, Y, floor="dummy", **options)
    with_floor = found.pairs["b"] == "dummy"
    assert with_floor.tolist() == [False] * 3 + [True] * 3
    for family in (with_floor, ~with_floor):
        part = found.pairs[family]
        literal = holm_correction(part["pvalue"])
        assert part["pvalue_holm"].tolist() == pytest.approx(literal.tolist())
    for one in found.pairs.itertuples():
        a, b = found.scores[one.a], found.scores[one.b]
        assert one.difference == pytest.approx((a - b).mean())
    assert found.summary.loc["dummy", "pvalue"] < plain.summary.loc["dummy", "pvalue"]
    assert found.answer.endswith("; all are better than dummy (p < 0.001).")
    assert "dummy" not in found.answer.partition(";")[0]


def test_what_is_not_above_the_floor_is_said():
    found = compare_in_rounds(MODELS, X, Y, floor="bayes", max_rounds=5, random_state=0)
    assert found.leader == "bayes"
    assert found.answer == "Nothing scores better than bayes, which any model must beat."
    noise, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    models = {"bayes": GaussianNB(), "knn": KNeighborsClassifier(), "guess": DummyClassifier()}
    found = compare_in_rounds(models, noise, y, floor="guess", max_rounds=10, random_state=0)
    assert found.leader != "guess"
    assert found.answer.endswith("; none is surely better than guess.")
    table = np.c_[y + 0.5 * noise[:, 0], noise[:, 1]]
    models = {
        "bayes": GaussianNB(),
        "blind": DummyClassifier(strategy="stratified", random_state=0),
    }
    models["guess"] = DummyClassifier()
    found = compare_in_rounds(models, table, y, floor="guess", max_rounds=10, random_state=0)
    assert found.answer.endswith(
        "; bayes is better than guess (p = 0.001); blind is not surely better than guess."
    )


def test_metrics_are_scikit_learns():
    model = LogisticRegression(max_iter=5000)
    (train, test), *_ = folds(Y2, 10, 1, 0)
    p = model.fit(X2[train], Y2[train]).predict_proba(X2[test])
    truth, predicted = Y2[test], model.predict(X2[test])
    assert np.bincount(Y2).argmin() == 0  # so the first class is the one to find
    literal = {
        "accuracy": sk.accuracy_score(truth, predicted),
        "balanced": sk.balanced_accuracy_score(truth, predicted),
        "f1": sk.f1_score(truth, predicted, pos_label=0),
        "auc": sk.roc_auc_score(truth, p[:, 1]),
        "average-precision": sk.average_precision_score(truth == 0, p[:, 0]),
        "log-loss": sk.log_loss(truth, p),
    }
    found = compare_in_rounds({"lr": model}, X2, Y2, max_rounds=1, random_state=0)
    assert found.metrics.loc["lr", 0].to_dict() == pytest.approx(literal)
    assert found.positive == 0
    assert found.has_probabilities["lr"]
    assert found.outputs["lr"] == pytest.approx(p, abs=1e-6)

    (train, test), *_ = folds(Y, 10, 1, 0)
    p = GaussianNB().fit(X[train], Y[train]).predict_proba(X[test])
    predicted = p.argmax(axis=1)
    found = compare_in_rounds({"b": GaussianNB()}, X, Y, max_rounds=1, random_state=0)
    row = found.metrics.loc["b", 0]
    assert row["auc"] == pytest.approx(sk.roc_auc_score(Y[test], p, multi_class="ovr"))
    assert row["f1"] == pytest.approx(sk.f1_score(Y[test], predicted, average="macro"))
    assert row["average-precision"] == pytest.approx(
        sk.average_precision_score(np.eye(3)[Y[test]], p, average="macro")
    )


def test_a_split_that_tests_one_class_has_no_curve_scores():
    ones = np.ones(4, dtype=int)
    outputs = np.array([[0.2, 0.8], [0.6, 0.4], [0.1, 0.9], [0.3, 0.7]])
    found = score_all(
        ones, outputs.argmax(axis=1), outputs, are_probabilities=True, n_classes=2, positive=1
    )
    assert list(found) == [name for name in METRICS if name != "cost"]  # without costs none
    assert np.isnan([found["auc"], found["average-precision"]]).all()
    assert found["accuracy"] == found["balanced"] == 0.75
    assert found["f1"] == pytest.approx(2 * 3 / (3 + 4))
    assert found["log-loss"] == pytest.approx(-np.log([0.8, 0.4, 0.9, 0.7]).mean())


def test_a_metric_that_a_model_cannot_give_is_its_error():
    models = {"margin": LinearSVC(), "lr": LogisticRegression(max_iter=5000), "floor": Fails("x")}
    found = compare_in_rounds(models, X, Y, metric="log-loss", max_rounds=2, random_state=0)
    assert "log-loss cannot be computed: it needs probabilities" in found.errors["margin"]
    assert list(found.scores) == ["lr"]
    found = compare_in_rounds(models, X, Y, metric="auc", max_rounds=2, random_state=0)
    assert set(found.scores) == {"margin", "lr"}
    assert not found.has_probabilities["margin"]


def test_decision_scores_of_two_classes_favour_the_second():
    models = {"margin": LinearSVC(random_state=0), "floor": DummyClassifier()}
    found = compare_in_rounds(models, X2, Y2, metric="auc", max_rounds=1, random_state=0)
    (train, test), *_ = folds(Y2, 10, 1, 0)
    margins = LinearSVC(random_state=0).fit(X2[train], Y2[train]).decision_function(X2[test])
    literal = sk.roc_auc_score(Y2[test], margins)
    assert literal > 0.9
    assert found.scores.loc[0, "margin"] == pytest.approx(literal)


COSTS = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [9.0, 3.0, -1.0]])


def test_the_mean_cost_of_a_row_is_what_answers_cost():
    models = {"dummy": DummyClassifier(), "bayes": GaussianNB()}
    found = compare_in_rounds(models, X, Y, costs=COSTS, max_rounds=3, random_state=0)
    assert found.metric == "cost"
    assert found.leader == "bayes"
    table = found.predictions
    for name in models:
        paid = [COSTS[t, p] for t, p in zip(table["y_true"], table[name], strict=True)]
        sizes = table.groupby("split").size()
        by_round = np.split(np.array(paid), sizes.cumsum()[:-1])
        literal = [np.mean(part) for part in by_round]
        np.testing.assert_allclose(found.scores[name], literal)
    bounds = found.summary[["low", "high"]].dropna()
    assert bounds.to_numpy().min() >= -1
    assert bounds.to_numpy().max() <= 9
    plain = compare_in_rounds(models, X, Y, max_rounds=1, random_state=0)
    assert "cost" not in plain.metrics


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"metric": "cost"}, "metric='cost' needs costs"),
        ({"costs": np.zeros((2, 2))}, "a column for each of the 3 classes"),
        ({"costs": np.full((3, 3), np.nan)}, "costs must be finite"),
    ],
)
def test_costs_that_are_none_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        compare_in_rounds({"dummy": DummyClassifier()}, X, Y, **options)


def test_less_is_better_for_log_loss():
    models = {"dummy": DummyClassifier(), "bayes": GaussianNB()}
    found = compare_in_rounds(models, X, Y, metric="log-loss", max_rounds=5, random_state=0)
    assert found.leader == "bayes"
    assert found.scores["dummy"].mean() > found.scores["bayes"].mean() > 0
    assert found.summary["score"].is_monotonic_increasing
    assert found.summary.loc["dummy", "difference"] > 0
    assert found.pairs.loc[0, "difference"] < 0  # dummy minus bayes, where positive is better


def test_labels_may_be_text_and_rows_a_frame():
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(150) + 1000)
    named = np.array(["setosa", "versicolor", "virginica"])[Y]
    found = compare_in_rounds(MODELS, frame, named, max_rounds=2, random_state=0)
    plain = compare_in_rounds(MODELS, X, Y, max_rounds=2, random_state=0)
    pd.testing.assert_frame_equal(found.scores, plain.scores)
    assert set(found.predictions["knn"]) <= set(named)


def test_folds_are_no_more_than_the_rarest_class_has_samples():
    y = np.r_[np.zeros(30, int), np.ones(4, int)]
    found = compare_in_rounds(MODELS, np.c_[y, y] + 0.1 * np.arange(34)[:, None], y, max_rounds=4)
    assert found.n_folds == 4
    per_round = found.predictions["y_true"].groupby("split").sum()
    assert per_round.tolist() == [1, 1, 1, 1]
    assert found.metric == "balanced"


def test_sizes_and_warnings_are_kept():
    models = {"lr": LogisticRegression(max_iter=1), "svc": SVC()}
    found = compare_in_rounds(models, X, Y, max_rounds=2, random_state=0)
    assert "converge" in found.warnings["lr"]
    assert list(found.warnings) == ["lr"]
    assert found.n_bytes["svc"] > found.n_bytes["lr"] > 100


class SeesFew(GaussianNB):
    """Is fitted on the first rows only, and says how many."""

    def fit(self, X, y):
        self.n_rows_fitted_ = 60
        rows = np.arange(len(y)) % 2 == 0
        return super().fit(X[rows], y[rows])


def test_rows_that_an_estimator_saw_are_said_beside_its_verdict():
    models = {"all": GaussianNB(), "few": SeesFew(), "dummy": DummyClassifier(),
              "pipe": make_pipeline(StandardScaler(), SeesFew())}  # fmt: skip
    found = compare_in_rounds(models, X, Y, floor="dummy", max_rounds=3, random_state=0)
    assert found.n_rows_fitted == {"all": 135, "few": 60, "dummy": 135, "pipe": 60}
    assert found.summary["n_rows_fitted"].to_dict() == found.n_rows_fitted
    said = {"all": "", "few": "saw 60 of 135 rows", "dummy": "", "pipe": "saw 60 of 135 rows"}
    assert found.summary["sample"].to_dict() == said
    assert found.answer.endswith("; few and pipe saw 60 of 135 rows.")
    assert "rows" in str(found)
    whole = compare_in_rounds({"all": GaussianNB(), "knn": KNeighborsClassifier()}, X, Y,
                              max_rounds=2, random_state=0)  # fmt: skip
    assert "rows" not in whole.answer


def test_splits_that_differ_by_a_row_are_no_samples():
    y = np.repeat(np.arange(4), [23, 19, 29, 31])
    rng = np.random.default_rng(0)
    found = compare_in_rounds(MODELS, rng.normal(size=(len(y), 2)), y, max_rounds=5, random_state=0)
    assert found.n_rows_fitted["bayes"] != found.n_train
    assert found.samples == {}


def test_progress_counts_rounds(clock):
    told = []
    models = {name: Takes(1.0, name) for name in "ab"}
    compare_in_rounds(models, X, Y, max_rounds=2, budget=60, on_progress=told.append)
    assert [one.rounds for one in told] == [0, 1, 1, 2]
    assert [one.seconds for one in told] == [1, 2, 3, 4]
    assert told[0].budget == 60
    assert told[0].max_rounds == 2


@pytest.mark.parametrize(
    ("y", "metric", "word"),
    [
        ([0, 1] * 10, "accuracy", "Scored by accuracy"),
        ([0] * 81 + [1] * 19, "balanced", "class '1' has only 19.0 %"),
        ([0] * 80 + [1] * 20, "accuracy", "accuracy"),
        (list(range(10)) * 5, "accuracy", "accuracy"),
    ],
)
def test_choose_metric(y, metric, word):
    found, reason = choose_metric(y)
    assert found == metric
    assert word in reason


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, "budget must be"),
        ({"metric": "r2"}, "metric must be one of accuracy"),
        ({"n_folds": 1}, "n_folds must be 2"),
        ({"max_rounds": 0}, "max_rounds 1"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"floor": "nobody"}, "floor must be"),
        ({"confidence_level": 1.0}, "confidence_level"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        compare_in_rounds(MODELS, X, Y, **options)


def test_wrong_data_are_refused():
    with pytest.raises(ValueError, match="two classes"):
        compare_in_rounds(MODELS, X, np.zeros(150))
    with pytest.raises(ValueError, match="Class '9' has one sample"):
        compare_in_rounds(MODELS, X, np.r_[Y[:-1], 9])
    with pytest.raises(ValueError, match="dict of names"):
        compare_in_rounds([GaussianNB()], X, Y)
