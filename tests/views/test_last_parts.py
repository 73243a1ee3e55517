"""A map and the columns that count: made in processes that can be ended, or left out in words."""

import dataclasses
import multiprocessing
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline

from mercer._system import workers
from mercer.comparison import compare_in_rounds
from mercer.explanations import column_importances
from mercer.tables import make_preprocessor, split_target
from mercer.views import Leaders, draw_map, find_importances, last_parts_within


@pytest.fixture(scope="module")
def data():
    bunch = load_breast_cancer(as_frame=True)
    return split_target(bunch.data.assign(diagnosis=bunch.target_names[bunch.target]), "diagnosis")


@pytest.fixture(scope="module")
def noisy():
    """One column tells the class, one copies it nearly, one is noise, one has colours."""
    rng = np.random.default_rng(0)
    tells = rng.normal(size=400)
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=400),
            "tells": tells,
            "colour": rng.choice(["red", "blue", "green"], 400),
            "nearly": tells + 0.05 * rng.normal(size=400),
            "y": np.where(tells + 0.3 * rng.normal(size=400) > 0.4, "yes", "no"),
        }
    )
    return split_target(frame, "y")


def leaders_of(data, models=None, metric="accuracy", rounds=6):
    """A comparison of quick models on a table, and what is asked about its columns."""
    if models is None:
        models = {"logistic": LogisticRegression(), "boosting": HistGradientBoostingClassifier()}
    preprocessor = make_preprocessor(data.columns)
    pipelines = {name: make_pipeline(preprocessor, one) for name, one in models.items()}
    found = compare_in_rounds(
        pipelines, data.X, data.y, metric=metric, max_rounds=rounds, random_state=0
    )
    return found, Leaders.of(found, pipelines, list(models))


def asked(leaders, data, seconds=60.0, seed=0):
    return find_importances(leaders, data.X, data.y, seed, time.time() + seconds)


def test_what_takes_too_long_is_ended(data, monkeypatch):
    before = multiprocessing.active_children()  # those of other tests
    leaders = leaders_of(data, {"logistic": LogisticRegression()}, rounds=2)[1]
    start = time.perf_counter()
    with monkeypatch.context() as patch:
        patch.setattr("mercer.views._last_parts._LEAST_SECONDS", 0.0)
        points, said, found = last_parts_within(data, leaders, 0, 1e-3, 60.0)
    assert time.perf_counter() - start < 20
    assert points.empty
    assert said.method is None
    [no_map], [unknown] = said.notes, found.notes
    assert no_map == (
        "The map is left out: it takes more than the 1 ms that the rounds left; "
        "mercer project draws one."
    )
    assert unknown == (
        "Which columns count is left out: it takes more than the 1 ms that the rounds left; "
        "a longer budget leaves more."
    )
    points, said, found = last_parts_within(data, leaders, 0, 0.5, 60.0)
    assert "the rounds took all the time there was" in said.notes[0]
    assert "the rounds took all the time there was" in found.notes[0]
    assert set(multiprocessing.active_children()) <= set(before)


def test_what_is_made_in_time_is_that_of_this_process(data):
    twice = dataclasses.replace(
        data, X=pd.concat([data.X, data.X + 1], ignore_index=True), y=np.r_[data.y, data.y]
    )  # more rows than a map shows
    leaders = leaders_of(twice, {"logistic": LogisticRegression()}, rounds=2)[1]
    points, said, found = last_parts_within(twice, leaders, 0, 200.0, 800.0)
    literal, _ = draw_map(twice, 0)
    assert len(points) == 1000 < len(twice.y)
    pd.testing.assert_frame_equal(points, literal)
    assert said.method == "fisher"
    here = asked(leaders, twice)
    assert found.stand_ins == here.stand_ins
    assert found.models[0].columns == here.models[0].columns


def test_a_part_that_fails_says_why_and_costs_the_other_nothing(noisy):
    leaders = leaders_of(noisy, {"logistic": LogisticRegression()}, rounds=2)[1]
    without = dataclasses.replace(noisy, columns=())
    points, said, found = last_parts_within(without, leaders, 0, 200.0, 800.0)
    assert points.empty
    assert said.notes[0].startswith("The map is left out: ValueError: No column is used")
    assert [one.model for one in found.models] == ["logistic"]


def test_the_column_that_tells_counts_and_noise_does_not(noisy):
    boosting = {"boosting": HistGradientBoostingClassifier(random_state=0)}
    [one] = asked(leaders_of(noisy, boosting, "auc")[1], noisy).models
    by_name = {column.name: column for column in one.columns}
    assert list(by_name) == [column.name for column in one.columns]
    assert {one.columns[0].name, one.columns[1].name} == {"tells", "nearly"}
    assert one.columns[0].low > 0
    assert by_name["noise"].low < 0.005
    assert (one.splits, one.fitted_rows, one.train_rows) == (5, 360, 360)
    assert one.tested_rows == 5 * 40
    losses = [column.loss for column in one.columns]
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize(
    ("metric", "literal"),
    [
        ("accuracy", lambda y, p: np.mean((p > 0.5) == y)),
        ("auc", roc_auc_score),
        ("log-loss", lambda y, p: -log_loss(y, p)),
    ],
)
def test_a_loss_is_that_of_the_metric_on_rows_held_out(noisy, metric, literal):
    """Of one column the score with chance in its place, by fits that are made again here."""
    found, leaders = leaders_of(noisy, {"logistic": LogisticRegression()}, metric)
    [one] = asked(leaders, noisy).models
    expected = []
    for k in range(5):
        train, test = found.splits[k]
        model = leaders.models["logistic"].fit(noisy.X.iloc[train], noisy.y[train])
        y, rows = noisy.y[test] == "yes", noisy.X.iloc[test]
        as_it_is = literal(y, model.predict_proba(rows)[:, 1])
        # Every value of the column in turn for every row: the mean over all shuffles, nearly.
        shifted = []
        for step in range(1, len(rows)):
            other = rows.assign(tells=np.roll(rows["tells"], step), nearly=rows["nearly"])
            shifted.append(literal(y, model.predict_proba(other)[:, 1]))
        expected.append(as_it_is - np.mean(shifted))
    [tells] = [column for column in one.columns if column.name == "tells"]
    scale = np.std(expected) + 0.1 * abs(np.mean(expected))
    assert tells.loss == pytest.approx(np.mean(expected), abs=1.5 * scale)
    assert tells.low < np.mean(expected) < tells.high


def test_columns_that_rise_and_fall_together_are_named(noisy):
    found = asked(leaders_of(noisy, rounds=2)[1], noisy)
    [pair] = found.stand_ins
    # Three decimals, as two would write 1.00 of what is not 1.
    assert f"{pair.a} and {pair.b} ({pair.correlation:.3f})" in found.caution
    assert {pair.a, pair.b} == {"tells", "nearly"}
    ranks = noisy.X[["tells", "nearly"]].rank()
    assert pair.correlation == pytest.approx(np.corrcoef(ranks.T)[0, 1])


def test_a_slow_model_is_fitted_on_fewer_rows_and_a_slower_one_is_left_out_in_words(noisy):
    _, leaders = leaders_of(noisy, rounds=2)
    slow = dataclasses.replace(leaders, fit_seconds={"logistic": 40.0, "boosting": 4000.0})
    found = asked(slow, noisy, seconds=40.0)
    assert [one.model for one in found.models] == ["logistic"]
    assert 0 < found.models[0].fitted_rows < found.models[0].train_rows / 2
    [note] = found.notes
    assert note.startswith("boosting is left out: a fit takes 1 h 7 min, and ")


def test_a_model_that_fails_does_not_end_the_others(noisy):
    _, leaders = leaders_of(noisy, rounds=2)
    models = {"broken": LogisticRegression(C=-1.0), **leaders.models}
    seconds = {**leaders.fit_seconds, "broken": 0.01}
    found = asked(dataclasses.replace(leaders, models=models, fit_seconds=seconds), noisy)
    assert [one.model for one in found.models] == ["logistic", "boosting"]
    assert found.notes[0].startswith("broken could not be asked: ")


def test_two_splits_have_no_interval(noisy):
    _, leaders = leaders_of(noisy, rounds=2)
    found = asked(leaders, noisy)
    assert [one.splits for one in found.models] == [2, 2]
    assert all(column.low is None for one in found.models for column in one.columns)


def test_a_large_table_is_sent_in_part_and_splits_follow(noisy, monkeypatch):
    from mercer.views import _held_out_importances as module

    _, leaders = leaders_of(noisy, rounds=2)
    monkeypatch.setattr(module, "_MOST_CELLS", 4 * 100)
    small, X, y = module.rows_to_ask(leaders, noisy, 0)
    assert len(X) == len(y) == 100
    for (train, test), (all_train, _) in zip(small.splits, leaders.splits, strict=True):
        assert sorted([*train, *test]) == list(range(100))
        assert set(X.index[train]) <= set(noisy.X.index[all_train])
    assert find_importances(small, X, y, 0, time.time() + 60).models[0].tested_rows > 0


def test_the_losses_of_the_explanations_and_of_the_comparison_agree(noisy):
    """Accuracy is what both can be judged by."""
    found, leaders = leaders_of(noisy, {"logistic": LogisticRegression()})
    [one] = asked(leaders, noisy).models
    train, test = found.splits[0]
    model = leaders.models["logistic"].fit(noisy.X.iloc[train], noisy.y[train])
    plain = column_importances(model, noisy.X.iloc[test], noisy.y[test], n_repeats=20)
    assert set(plain.columns) == {column.name for column in one.columns}
    for name, loss in zip(plain.columns, plain.accuracy, strict=True):
        [column] = [column for column in one.columns if column.name == name]
        assert column.loss == pytest.approx(loss, abs=0.15)


def fail_for_want_of_room():
    """Fail as a library does that cannot be mapped into memory: who loads it does not find it."""
    try:
        raise OSError("libllvmlite.so: failed to map segment from shared object")
    except OSError as error:
        raise OSError("Could not find/load shared object file") from error


def test_a_map_without_room_says_so():
    here, there = multiprocessing.Pipe()
    with here, there:
        here.send((fail_for_want_of_room, ()))
        assert str(workers._answer_or_error(there)) == (
            "its process could not go on, for want of memory as a rule (OSError: "
            "libllvmlite.so: failed to map segment from shared object)"
        )
