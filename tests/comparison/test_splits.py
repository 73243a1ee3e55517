"""Splits by whole groups, by time and of a test file, and the tests that go with them."""

import runpy
from math import inf
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from mercer.comparison import compare, compare_in_rounds, mcnemar_test
from mercer.comparison._splits_record import SplitsRecord
from mercer.comparison.engine._splits import GroupFolds, RepeatedFolds, TestFile, TimeBlocks
from mercer.comparison.tests._on_parts import parts_t_test, values_by_part

X, Y = load_iris(return_X_y=True)
X2, Y2 = load_breast_cancer(return_X_y=True)
X2 = X2[:, :6]
MODELS = {"bayes": GaussianNB(), "knn": KNeighborsClassifier(), "dummy": DummyClassifier()}


@given(
    groups=st.lists(st.integers(0, 12), min_size=30, max_size=80),
    n_folds=st.integers(2, 10),
    seed=st.integers(0, 5),
)
def test_groups_are_whole_and_every_row_is_tested_once_in_a_repetition(groups, n_folds, seed):
    groups = np.array(groups)
    y = np.arange(len(groups)) % 2
    try:
        folds = GroupFolds(y, groups, n_folds, seed)
    except ValueError:  # there is one group, or one holds all rows of a class
        reject()
    tested, k = [], 0
    while len(tested) < len(groups):
        train, test = folds[k]
        assert not set(groups[train]) & set(groups[test])
        assert len(np.unique(y[train])) == 2
        tested += test.tolist()
        k += 1
    assert sorted(tested) == list(range(len(groups)))
    assert folds.n_rounds == (k if len(np.unique(groups)) < 2 * n_folds else inf)


def test_very_many_groups_are_whole_too_and_classes_keep_their_shares():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 1500, 6000)
    y = (rng.random(1500) < 0.2).astype(int)[groups]
    folds = GroupFolds(y, groups, 10, 0)
    for k in range(10):
        train, test = folds[k]
        assert not set(groups[train]) & set(groups[test])
        assert len(train) + len(test) == 6000
        assert abs(y[test].mean() - y.mean()) < 0.05
    assert not np.array_equal(folds[0][1], folds[10][1])


def test_groups_that_tell_the_class_cannot_be_tested():
    with pytest.raises(ValueError, match="the groups tell the classes"):
        GroupFolds(np.arange(40) // 20, np.arange(40) // 20, 5, 0)


@given(times=st.lists(st.integers(0, 40), min_size=20, max_size=120), n_blocks=st.integers(1, 12))
def test_what_is_learnt_is_earlier_than_all_that_is_tested(times, n_blocks):
    times = np.array(times)
    y = np.arange(len(times)) % 2
    try:
        blocks = TimeBlocks(y, times, n_blocks)
    except ValueError:  # there is one time, or the earliest rows are of one class
        reject()
    assert blocks.n_rounds == blocks.n_folds <= n_blocks
    made = [blocks[k] for k in range(blocks.n_folds)]
    for train, test in made:
        assert times[train].max() < times[test].min()
    assert len(made[0][0]) == max(len(train) for train, _ in made)  # the latest block comes first
    tested = np.concatenate([test for _, test in made])
    assert len(np.unique(tested)) == len(tested)
    first = min((train for train, _ in made), key=len)
    assert len(first) + len(tested) == len(times)


def test_half_of_evenly_spaced_rows_is_tested_in_equal_blocks():
    blocks = TimeBlocks(np.arange(200) % 2, np.arange(200)[::-1], 10)
    sizes = sorted((len(train), len(test)) for train, test in (blocks[k] for k in range(10)))
    assert sizes == [(100 + 10 * k, 10) for k in range(10)]


def test_scores_with_groups_are_those_of_the_folds_spelled_out():
    groups = np.arange(len(Y)) % 12
    found = compare_in_rounds(MODELS, X, Y, groups=groups, random_state=3, n_folds=5)
    folds = GroupFolds(Y, groups, 5, 3)
    assert found.rounds == tuple(range(20))
    assert found.split_kind == folds.kind
    for k in (0, 4, 17):
        train, test = folds[k]
        literal = GaussianNB().fit(X[train], Y[train]).score(X[test], Y[test])
        assert found.scores["bayes"][k] == literal


def test_few_groups_are_tested_once_each():
    groups = np.arange(len(Y)) % 6
    found = compare_in_rounds(MODELS, X, Y, groups=groups, random_state=0)
    assert len(found.rounds) == 6
    assert found.is_complete


def test_scores_by_time_are_those_of_the_blocks_spelled_out():
    rng = np.random.default_rng(0)
    times = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.permutation(len(Y)), "D")
    found = compare_in_rounds(MODELS, X, Y, time=times.to_numpy(), random_state=0)
    order = np.argsort(times.to_numpy())
    assert len(found.rounds) == 10
    literal = GaussianNB().fit(X[order[:142]], Y[order[:142]]).score(X[order[142:]], Y[order[142:]])
    assert found.scores["bayes"][0] == pytest.approx(literal)
    tested = found.predictions.index.get_level_values("sample")
    assert sorted(tested) == sorted(order[75:])


def test_a_test_file_is_scored_by_models_of_the_whole_table():
    found = compare_in_rounds(
        MODELS, X2[:300], Y2[:300], test=(X2[300:], Y2[300:]), metric="accuracy", random_state=0
    )
    for name, model in MODELS.items():
        fitted = model.fit(X2[:300], Y2[:300])
        assert found.scores[name].tolist() == [fitted.score(X2[300:], Y2[300:])]
    assert found.predictions["y_true"].tolist() == Y2[300:].tolist()
    literal = mcnemar_test(Y2[300:], *(found.predictions[name] for name in ("bayes", "knn")))
    pair = found.pairs.set_index(["a", "b"]).loc["bayes", "knn"]
    assert pair["pvalue"] == literal.pvalue
    assert (pair["low"], pair["high"]) == literal.interval
    assert "Too few rounds" not in found.answer
    assert found.summary["low"].notna().all()


def test_other_metrics_of_a_test_file_have_the_t_test_of_the_jackknife():
    models = {"bayes": GaussianNB(), "logistic": LogisticRegression(max_iter=5000)}
    found = compare_in_rounds(
        models, X2[:300], Y2[:300], test=(X2[300:], Y2[300:]), metric="auc", random_state=0
    )
    truth = Y2[300:]
    positive = int(np.bincount(Y2[:300]).argmin())
    parts = np.random.RandomState(0).permutation(len(truth)) % 40
    pseudo = {}
    for name in models:
        outputs = found.outputs[name][:, positive].astype(float)
        whole = roc_auc_score(truth == positive, outputs)
        without = [
            roc_auc_score(truth[parts != g] == positive, outputs[parts != g]) for g in range(40)
        ]
        pseudo[name] = 40 * whole - 39 * np.array(without)  # Tukey's, whose spread is the same
    gap = pseudo["bayes"] - pseudo["logistic"]
    error = gap.std(ddof=1) / np.sqrt(40)
    pair = found.pairs.iloc[0]
    assert (pair["high"] - pair["low"]) / 2 == pytest.approx(
        stats.t.ppf(0.975, 39) * error, rel=1e-3
    )
    whole = found.scores.iloc[0]
    assert pair["difference"] == pytest.approx(whole["bayes"] - whole["logistic"])
    t = pair["difference"] / error
    assert pair["pvalue"] == pytest.approx(2 * stats.t.sf(abs(t), 39), rel=1e-3)


@given(st.lists(st.floats(-5, 5), min_size=4, max_size=30), st.floats(-3, 3))
def test_values_by_part_have_the_score_as_mean_and_the_variance_of_the_jackknife(without, score):
    without = np.array(without)
    values = values_by_part(score, without)
    n = len(without)
    literal = (n - 1) / n * sum((one - without.mean()) ** 2 for one in without)
    assert values.mean() == pytest.approx(score, abs=1e-9)
    assert values.var(ddof=1) / n == pytest.approx(literal, abs=1e-9)


def test_of_a_mean_over_rows_each_part_has_its_own_mean():
    right = np.random.default_rng(0).random((5, 20)) < 0.7
    without = [np.delete(right, g, axis=0).mean() for g in range(5)]
    assert values_by_part(right.mean(), without) == pytest.approx(right.mean(axis=1))
    result = parts_t_test(right.mean(axis=1), np.zeros(5))
    assert result.pvalue == stats.ttest_1samp(right.mean(axis=1), 0).pvalue


def test_rows_of_a_group_do_not_count_one_by_one():
    """A perfect model has no spread against a dummy: the splits are signs there, not the rows."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = np.column_stack([y, rng.normal(size=120)])
    models = {"perfect": GaussianNB(), "dummy": DummyClassifier(strategy="constant", constant=0)}
    groups = np.arange(120) // 20
    found = compare_in_rounds(models, X, y, groups=groups, random_state=0, metric="balanced")
    assert found.pairs["pvalue"].iloc[0] == 2 / 2 ** len(found.rounds)
    free = compare_in_rounds(models, X, y, max_rounds=6, random_state=0, metric="balanced")
    assert free.pairs["pvalue"].iloc[0] < 1e-8


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"groups": np.arange(150) % 5, "time": np.arange(150)}, "Give one of groups, time and"),
        ({"time": np.arange(150)}, "The earliest 75 rows are all|nothing to learn"),
        ({"time": np.r_[[np.nan], np.arange(149)]}, "time has no label|time holds"),
        ({"test": X}, "must be a tuple"),
        ({"test": (X[:5], Y[:5])}, "10 test samples or more; got 5"),
        ({"test": (X, Y + 1)}, "holds the class '3'"),
        ({"groups": np.zeros(150)}, "two groups or more"),
    ],
)
def test_what_cannot_be_split_is_refused(options, sentence):
    y = np.repeat([0, 1, 2], 50) if "test" in options else np.repeat([0, 1], 75)
    with pytest.raises(ValueError, match=sentence):
        compare_in_rounds(MODELS, X, y, **options)


def test_compare_takes_times_and_refuses_tests_of_independent_rows():
    found = compare(MODELS, X, Y, cv=5, time=np.random.default_rng(0).permutation(len(Y)))
    assert len(found.scores) == 5
    for options in ({"time": np.arange(150) % 30}, {"groups": np.arange(150) % 30}):
        with pytest.raises(ValueError, match="mcnemar takes samples to be independent"):
            compare(MODELS, X, Y, tests="mcnemar", **options)
    with pytest.raises(ValueError, match="needs halves at random"):
        compare(MODELS, X, Y, tests="five_by_two_f", time=np.arange(150) % 30)
    with pytest.raises(ValueError, match="without groups"):
        compare(MODELS, X, Y, time=np.arange(150) % 30, groups=np.arange(150) % 30)


def test_every_kind_of_split_has_sentences_of_its_own():
    kinds = {kind.kind for kind in (RepeatedFolds, GroupFolds, TimeBlocks, TestFile)}
    records = [
        SplitsRecord(kind=kind, source="s", folds=3, train_rows=20.0, test_rows=10.0)
        for kind in kinds
    ]
    assert len({record.sentence for record in records}) == 4
    for record in records:
        assert ("McNemar" in record.tests) == (record.kind in (RepeatedFolds.kind, TestFile.kind))


def test_corrected_t_keeps_its_level_for_groups_as_the_docs_claim(monkeypatch):
    benchmarks = Path(__file__).parents[2] / "benchmarks"
    monkeypatch.syspath_prepend(str(benchmarks))
    simulate = runpy.run_path(str(benchmarks / "sim_splits.py"))
    draws = 300
    high = stats.binom.ppf(0.995, draws, 0.05) / draws
    y = np.arange(200) % 2
    groups = np.arange(200) // 2 % 6
    folds = GroupFolds(y, groups, 10, 0)
    assert folds.n_rounds == 6
    splits = [folds[k] for k in range(6)]

    def draw(rng):
        return simulate["grouped_twins"](rng, 100, groups)

    for learner in simulate["LEARNERS"].values():
        plain, corrected = simulate["try_splits"](learner, draw, draws, 0, splits)
        assert corrected <= high
    assert plain > 0.05
