"""What leave-one-out leads to: a guard against class sizes, and a ladder that goes on."""

import numpy as np
import pytest

from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.bandwidth import silverman_bandwidth
from mercer.classifiers._race import choose
from mercer.classifiers._selection import search
from mercer.samples import SortedSample


def _two_clouds(n, seed, d=20, shift=0.45):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    return rng.normal(size=(2 * n, d)) + shift * np.where(y, 1, -1)[:, None], y


@pytest.mark.parametrize(
    "model",
    [LaplacianClassifier(rule="append"), ISEClassifier(rule="append"), ISEClassifier()],
    ids=["append", "ise append", "plane"],
)
def test_leave_one_out_of_equal_classes_tells_what_new_rows_get(model):
    """A class that has lost a row is the smaller one: no rule may win by that."""
    X, y = _two_clouds(150, seed=0)
    X_new, y_new = _two_clouds(1500, seed=1)
    results = model.fit(X, y).loo_results_
    chosen = model.bandwidth_
    assert min(results["accuracy"]) < 0.7  # windows too narrow to tell anything are among them
    for h, accuracy in zip(results["bandwidth"], results["accuracy"], strict=True):
        given = {"bandwidth": float(h)}
        new = type(model)(**{**model.get_params(), **given}).fit(X, y).score(X_new, y_new)
        assert accuracy < new + 0.06
        if h == chosen:
            assert accuracy == pytest.approx(new, abs=0.06)


def test_plain_refitting_is_blind_to_class_sizes():
    """The figures of docs/classifiers.md: what the guard above is for."""
    X, y = _two_clouds(60, seed=0)
    model = LaplacianClassifier(rule="append", bandwidth=silverman_bandwidth(X) / 16)
    right = 0
    for row in range(len(X)):
        others = np.arange(len(X)) != row
        right += model.fit(X[others], y[others]).predict(X[[row]])[0] == y[row]
    assert right / len(X) == pytest.approx(0.98, abs=0.01)
    assert model.fit(X, y).score(*_two_clouds(1500, seed=1)) == pytest.approx(0.63, abs=0.01)


@pytest.mark.parametrize(
    "model", [LaplacianClassifier(rule="auto"), ParzenClassifier(), ISEClassifier()]
)
@pytest.mark.parametrize("distance", [1e3, 1e6, 1e12])
@pytest.mark.filterwarnings("ignore:Column 0 spreads")
def test_a_wild_row_does_not_put_the_ladder_out_of_reach(model, distance):
    X, y = _two_clouds(100, seed=2, d=2, shift=1.5)
    X_new, y_new = _two_clouds(1000, seed=3, d=2, shift=1.5)
    clean = model.fit(X, y).score(X_new, y_new)
    wild = model.fit(np.vstack([X, [[distance, 0.0]]]), np.append(y, 0)).score(X_new, y_new)
    assert wild > clean - 0.02


def _sample():
    X = np.random.default_rng(0).normal(size=(40, 3))
    return SortedSample.of(X, np.arange(40) % 2, np.ones(40))


def _runner(score, calls):
    """Return a leave-one-out whose score is a function of the bandwidth."""

    def run(bandwidths):
        calls.append(bandwidths)
        h = np.array(bandwidths)[::-1]
        zeros = np.zeros(h.size)
        accuracy = np.array([score(b) for b in h])
        return {
            "rule": np.repeat("only", h.size),
            "bandwidth": h,
            "accuracy": accuracy,
            "balanced_accuracy": accuracy,
            "log_loss": zeros,
            "balanced_log_loss": zeros,
            "rows": np.full(h.size, 40),
            "error": np.zeros(h.size),
        }

    return run


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
def test_the_ladder_goes_on_where_the_score_rises(factor):
    sample, calls = _sample(), []
    wanted = factor * silverman_bandwidth(sample.X)
    results, best = search(_runner(lambda h: -abs(np.log(h / wanted)), calls), sample, "accuracy")
    assert results["bandwidth"][best] == pytest.approx(wanted, rel=0.2)
    assert (np.diff(results["bandwidth"]) > 0).all()
    assert len(calls) == (1 if factor == 1 else 3)
    for bandwidths in calls:
        assert list(bandwidths) == sorted(bandwidths, reverse=True)


def test_a_level_end_is_no_reason_to_go_on():
    sample, calls = _sample(), []
    middle = silverman_bandwidth(sample.X)
    results, best = search(_runner(lambda h: float(h < middle), calls), sample, "accuracy")
    assert len(calls) == 1
    assert results["bandwidth"][best] == pytest.approx(middle / np.sqrt(2))  # the widest of equals


def test_an_endless_rise_ends():
    sample, calls = _sample(), []
    search(_runner(lambda h: -np.log(h), calls), sample, "accuracy")
    assert len(calls) == 5


def test_ties():
    results = {
        "rule": np.array(["a", "a", "b", "b"]),
        "bandwidth": np.array([1.0, 2.0, 1.0, 2.0]),
        "accuracy": np.array([0.9, 0.9, 0.9, 0.9]),
        "balanced_accuracy": np.array([0.9, 0.8, 0.9, 0.8]),
        "balanced_log_loss": np.array([0.3, 0.1, 0.2, 0.1]),
        "rows": np.full(4, 10),
        "error": np.zeros(4),
    }
    assert choose(results, "accuracy") == 1  # the wider, then the first rule
    assert choose(results, "balanced_accuracy") == 2  # the smaller balanced loss


@pytest.mark.parametrize("model", [LaplacianClassifier(), ParzenClassifier(), ISEClassifier()])
def test_refitting_does_not_remember_leave_one_out(model):
    X, y = _two_clouds(20, seed=0, d=2)
    model.set_params(bandwidth="loo").fit(X, y)
    assert hasattr(model, "loo_results_")
    assert not hasattr(model.set_params(bandwidth=1.0).fit(X, y), "loo_results_")
