"""Some of the rows of a large table: which are drawn, how many, and that this is said."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import mercer.comparison.engine._sample as sampling
from mercer._system.workers import TookTooLongError
from mercer.comparison import compare_in_rounds, draw_rows
from mercer.comparison.engine._fit import Fit
from mercer.comparison.engine._sample import is_large, rows_in_time

LABELS = np.repeat(["a", "b", "c"], [60_000, 30_000, 15])


@pytest.mark.parametrize("n_rows", [100, 5_000, 90_014])
def test_classes_keep_their_shares_and_rare_ones_their_rows(n_rows):
    rows = draw_rows(LABELS, n_rows, 10, 0)
    assert len(np.unique(rows)) == len(rows)
    assert (np.diff(rows) > 0).all()
    names, counts = np.unique(LABELS[rows], return_counts=True)
    assert names.tolist() == ["a", "b", "c"]
    assert counts[:2] == pytest.approx([n_rows * 60_000 / 90_015, n_rows * 30_000 / 90_015], abs=1)
    assert counts[2] == max(10, round(15 * n_rows / 90_015))


def test_every_row_of_a_class_is_as_likely():
    seen = sum(
        np.isin(np.arange(90), draw_rows(LABELS[59_970:60_060], 30, 1, k)) for k in range(900)
    )
    assert abs(seen - 300).max() < 5 * np.sqrt(900 * 2 / 9)


def test_no_fewer_rows_are_all_in_their_order():
    assert draw_rows(LABELS, 90_015, 10, 0).tolist() == list(range(90_015))


def test_the_draw_is_that_of_the_seed():
    draws = [draw_rows(LABELS, 500, 10, seed).tolist() for seed in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]


class Workers:
    """Fits that take a known time for so many rows."""

    start_seconds = 0.0

    def __init__(self, seconds, n=1):
        self.n, self.seconds, self.spent, self.sizes = n, seconds, 0.0, []

    def run(self, tasks, *, limit, deadline):
        for task in tasks:
            n = sum(map(len, task.split))
            self.sizes.append(n)
            took = self.seconds[task.name](n)
            most = limit(1)
            self.spent += min(took, most)
            stopped = took > most
            yield task, TookTooLongError(most) if stopped else Fit(seconds=took)


def drawn(seconds, n_rows, budget=120.0, n=1):
    workers = Workers(seconds, n)
    clock = SimpleNamespace(budget=budget, deadline=np.inf, left=lambda: budget - workers.spent / n)
    split = lambda size: (np.arange(size - size // 10), np.arange(size // 10))  # noqa: E731
    found, notes = rows_in_time(workers, list(seconds), split, n_rows, clock)
    return found, notes, workers


@pytest.mark.parametrize("power", [0.6, 1.0, 1.5])
@pytest.mark.parametrize("at_all", [30.0, 100.0, 300.0])
@pytest.mark.parametrize("n", [1, 4])
def test_five_rounds_of_what_is_drawn_fit_and_little_is_lost(power, at_all, n):
    n_rows = 250_000

    def seconds(rows):
        return at_all * (rows / n_rows) ** power

    found, notes, workers = drawn({"a": seconds, "b": seconds}, n_rows, n=n)
    left = 120.0 - workers.spent / n
    rounds = left / (2 * seconds(found) / n)
    assert not notes
    assert rounds >= 5 or found == 1_000
    assert rounds < 15 or found == n_rows
    assert workers.spent / n < 25


def test_what_is_constant_does_not_make_the_sample_small():
    capped = {"capped": lambda n: 8.0 * min(n, 10_000) / 10_000, "linear": lambda n: n / 10_000}
    found, _, workers = drawn(capped, 250_000)
    rounds = (120 - workers.spent) / sum(one(found) for one in capped.values())
    assert 5 <= rounds < 12


def test_all_rows_are_taken_where_they_fit():
    assert drawn({"a": lambda n: n / 50_000}, 250_000)[0] == 250_000


def test_who_is_too_slow_on_few_rows_is_left_out_and_the_others_are_not_the_worse():
    models = {"slow": lambda n: 60.0, "quick": lambda n: n / 20_000}
    found, notes, _ = drawn(models, 250_000)
    assert notes == {
        "slow": "left out: a fit on 1000 rows takes more than 18 s, its share of the budget"
    }
    assert found > 100_000


def test_small_tables_are_not_tried():
    assert not is_large(np.empty((900, 100_000)), 1.0)
    assert not is_large(np.empty((10_000, 20)), 120.0)
    assert is_large(np.empty((250_000, 20)), 120.0)


class Slow(ClassifierMixin, BaseEstimator):
    """Takes time for every row, by a clock of its own."""

    clock = None
    rows = ()

    def fit(self, X, y):
        Slow.clock.now += len(X) / 1_000
        Slow.rows += (len(X),)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    clock.perf_counter = lambda: clock.now
    for module in ("comparison.engine._plan", "comparison.engine._fit", "_system.workers"):
        monkeypatch.setattr(f"mercer.{module}.time", clock)
    monkeypatch.setattr(sampling, "_CELLS_PER_SECOND", 1)
    monkeypatch.setattr(Slow, "clock", clock)
    monkeypatch.setattr(Slow, "rows", ())
    return clock


def test_a_comparison_draws_what_leaves_time_for_five_rounds(clock, tmp_path):
    X, y = np.zeros((90_000, 2)), LABELS[:90_000]
    options = {"budget": 60.0, "random_state": 0, "checkpoint": tmp_path}
    found = compare_in_rounds({"slow": Slow()}, X, y, sample=True, **options)
    assert 4_000 < found.n_samples < 12_000
    assert len(found.rounds) >= 5
    assert clock.now <= 60
    tested = found.predictions.index.get_level_values("sample")
    assert tested.max() > 80_000  # rows keep the numbers that they have in the table
    assert (found.predictions["y_true"].to_numpy() == y[tested]).all()
    fits = len(Slow.rows)
    again = compare_in_rounds({"slow": Slow()}, X, y, sample=True, **options)
    assert (again.n_samples, len(Slow.rows)) == (found.n_samples, fits)  # from the checkpoint
    plain = compare_in_rounds({"slow": Slow()}, X, y, budget=600.0, random_state=0)
    assert plain.n_samples == 90_000
