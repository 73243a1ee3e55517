"""Leave-one-out by elimination: the choice of the full search, from fewer judgements."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from classifiers.samples import assert_close
from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.classifiers import _race
from mercer.classifiers._leave_one_out import LeftOut, LeftOutVectors, LeftOutWindows
from mercer.classifiers._race import Stages, choose, race
from mercer.kernels import get_kernel
from mercer.samples import SortedSample


@pytest.fixture
def small_stages(monkeypatch):
    """Samples of some hundred rows are judged in stages of 100, 200, … rows."""
    monkeypatch.setattr(_race, "_ALL_UP_TO", 250)
    monkeypatch.setattr(_race, "_FIRST", 100)


def clouds(n, n_classes=3, d=3, shift=1.2, shares=None, seed=0):
    """Gaussians that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n, p=shares)
    y[:n_classes] = np.arange(n_classes)
    centres = shift * rng.normal(size=(n_classes, d))
    return rng.normal(size=(n, d)) + centres[y], y


def stripes(n, shares=None, seed=0):
    """Three classes side by side, again and again: wide windows see nothing."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=shares)
    return np.c_[(y + rng.random(n)) / 3 + rng.integers(0, 4, n), rng.random(n)], y


def sample_of(sizes, weights=None):
    y = np.repeat(np.arange(len(sizes)), sizes)
    weights = np.ones(y.size) if weights is None else weights
    return SortedSample.of(np.zeros((y.size, 1)), y, weights)


MODELS = {
    "cosine": LaplacianClassifier(),
    "auto": LaplacianClassifier(rule="auto"),
    "exact": LaplacianClassifier(loo="exact", rule="auto"),
    "density=None": LaplacianClassifier(density=None, priors="uniform"),
    "density_subset": LaplacianClassifier(density="mercer", density_subset=0.3, random_state=0),
    "parzen": ParzenClassifier(),
    "parzen, exponential": ParzenClassifier(kernel="exponential"),
    "parzen, laplacian": ParzenClassifier(kernel="laplacian"),
    "parzen, epanechnikov": ParzenClassifier(kernel="epanechnikov"),
    "plane": ISEClassifier(),
    "ise auto": ISEClassifier(rule="auto"),
    "plane, cauchy": ISEClassifier(kernel="cauchy"),
    "cosine, laplacian": LaplacianClassifier(kernel="laplacian"),
}


# The choice ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
@pytest.mark.parametrize("name", MODELS)
def test_the_choice_is_that_of_the_full_search(name, scoring, monkeypatch):
    """And so is everything that is fitted at it; what is judged on all rows has the same scores."""
    model = clone(MODELS[name]).set_params(scoring=scoring)
    n_saved, n = 0, 400 if name == "exact" else 500
    for seed in (1, 2):
        X, y = stripes(n, shares=[0.6, 0.35, 0.05] if seed % 2 else None, seed=seed)
        weights = None if seed < 2 else np.random.default_rng(seed).integers(1, 4, len(y))
        full = clone(model).fit(X, y, sample_weight=weights)
        with monkeypatch.context() as patched:
            patched.setattr(_race, "_ALL_UP_TO", 100)
            patched.setattr(_race, "_FIRST", 150)
            raced = clone(model).fit(X, y, sample_weight=weights)
        assert raced.bandwidth_ == full.bandwidth_
        assert getattr(raced, "rule_", None) == getattr(full, "rule_", None)
        assert_close(raced.decision_function(X), full.decision_function(X), 1e-8)
        a, b = full.loo_results_, raced.loo_results_
        assert (a["rows"] == len(y)).all()
        assert (b["rows"] <= len(y)).all()
        assert_close(b["bandwidth"], a["bandwidth"])
        n_saved += np.sum(b["rows"] < len(y))
        whole = b["rows"] == len(y)
        if whole.any():
            for column in ("accuracy", "balanced_accuracy", "log_loss", "balanced_log_loss"):
                assert_close(b[column][whole], a[column][whole])
    assert n_saved > 0


class Drawn:
    """A ladder whose decisions are drawn: rows are right with some probability at each rung."""

    def __init__(self, sample, rates, seed, common=0.8):
        """Rungs share most of their luck, as bandwidths that are near each other do."""
        rng = np.random.default_rng(seed)
        n = sample.codes.size
        shared, own = rng.random(n), rng.random((len(rates), n))
        luck = np.where(rng.random((len(rates), n)) < common, shared, own)
        rates = np.stack([np.broadcast_to(r, sample.n_classes) for r in rates])
        self.sample, self.found = sample, luck < rates[:, sample.codes]
        self.bandwidths = tuple(2.0 ** -np.arange(len(rates)))
        self.judged = np.zeros(len(rates), int)
        self.rungs = range(len(rates))

    def at(self, rungs):
        some = object.__new__(Drawn)
        vars(some).update(vars(self), rungs=[self.rungs[r] for r in rungs])
        return some

    def parts(self, rows=None):
        rows = np.arange(self.sample.codes.size) if rows is None else rows
        own = self.sample.is_of_class(rows)
        for local, rung in enumerate(self.rungs):
            self.judged[rung] += rows.size
            right = self.found[rung, rows][:, None]
            scores = np.where(right == own, 1.0, 0.0)
            yield LeftOut(rows, local, own * 1.0, scores, None, None, None)

    def scores(self):
        """Accuracy and balanced accuracy on all rows."""
        omega = self.sample.weights
        rates = self.sample.class_sums(omega * self.found) / self.sample.counts
        return (omega * self.found).sum(1) / omega.sum(), rates.mean(1)


RULES = {"only": lambda part: [part.log_sums]}


def _weights(kind, n, seed):
    rng = np.random.default_rng(seed)
    if kind == "heavy":  # a few rows are most of the sample
        return np.where(rng.random(n) < 5e-3, 1e3, 1.0)
    return np.ones(n) if kind == "equal" else rng.lognormal(0, 1.5, n)


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
@pytest.mark.parametrize("kind", ["equal", "heavy", "lognormal"])
@pytest.mark.parametrize(
    "sizes", [[3000, 3000], [5000, 900, 40, 3], [30] * 200], ids=["two", "rare", "many"]
)
def test_what_drops_out_is_not_the_best(sizes, kind, scoring, small_stages):
    """Many samples, with rungs as near to each other as makes it hard."""
    n_saved = n_possible = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        sample = sample_of(sizes, _weights(kind, sum(sizes), seed))
        steps = np.cumsum(rng.choice([0.0, 0.005, 0.02, 0.1], 9))
        rates = 0.85 - np.roll(steps, rng.integers(9))
        ladder = Drawn(sample, rates, seed)
        table = race(ladder, RULES, sample, scoring)
        true = ladder.scores()[scoring == "balanced_accuracy"]
        h = table["bandwidth"][choose(table, scoring)]
        ties = np.flatnonzero(true >= true.max() - 1e-12)
        if scoring == "accuracy":
            assert h == ladder.bandwidths[ties[0]]  # the widest of equals
        else:
            assert h in [ladder.bandwidths[t] for t in ties]
        assert (table["rows"][::-1] == ladder.judged).all()
        n_saved += (sum(sizes) - table["rows"]).sum()
        n_possible += table["rows"].size * sum(sizes)
    # Unequal weights in many classes: a row that is not judged may outweigh all that is.
    expected = 0.3 if kind == "equal" else -1 if len(sizes) > 100 else 0.02
    assert n_saved > expected * n_possible


def test_elimination_goes_by_differences_row_by_row(small_stages):
    """Rungs that share their luck tell apart what independent ones could not."""
    sample = sample_of([4000, 4000])
    rates = [0.75, 0.70]
    together, apart = (
        race(Drawn(sample, rates, 0, common), RULES, sample, "accuracy")["rows"].min()
        for common in (0.999, 0.0)
    )
    assert together < apart


def test_with_a_loose_threshold_the_choice_goes_wrong(small_stages, monkeypatch):
    """So that the tests above can fail."""
    monkeypatch.setattr(_race, "_ERRORS", 0.5)
    monkeypatch.setattr(_race, "_UNSEEN", 0)
    wrong = 0
    for seed in range(20):
        sample = sample_of([3000, 3000])
        ladder = Drawn(sample, [0.8, 0.805, 0.8, 0.81, 0.8], seed)
        table = race(ladder, RULES, sample, "accuracy")
        best = table["bandwidth"][choose(table, "accuracy")]
        wrong += best != ladder.bandwidths[ladder.scores()[0].argmax()]
    assert wrong > 2


def test_equal_rungs_are_all_judged_in_full(small_stages):
    sample = sample_of([400, 400])
    for rate in (0.0, 1.0, 0.5):  # all wrong, all right, the same half right
        ladder = Drawn(sample, [rate] * 5, 0, common=1.0)
        table = race(ladder, RULES, sample, "accuracy")
        assert (table["rows"] == 800).all()
        assert table["bandwidth"][choose(table, "accuracy")] == 1.0
        assert_close(table["accuracy"], np.full(5, ladder.scores()[0][0]))


def test_no_difference_seen_is_not_none(small_stages, monkeypatch):
    """A small class that is judged in full must not decide while a large one may hide more."""
    sample = sample_of([50, 5000])
    stages = Stages.of(sample)
    hidden = np.flatnonzero(stages.stage == stages.last)[:40]
    assert (stages.stage[:50] == 0).all()
    ladder = Drawn(sample, [0.5, 0.5], 0, common=1.0)
    ladder.found[0, :30], ladder.found[1, :30] = False, True
    ladder.found[0, hidden], ladder.found[1, hidden] = True, False
    table = race(ladder, RULES, sample, "accuracy")
    assert table["bandwidth"][choose(table, "accuracy")] == 1.0
    monkeypatch.setattr(_race, "_UNSEEN", 0)
    table = race(ladder, RULES, sample, "accuracy")
    assert table["bandwidth"][choose(table, "accuracy")] == 0.5


# What is reported ------------------------------------------------------------------------------


def test_scores_from_some_rows_are_near_those_from_all(small_stages):
    sample = sample_of([5000, 900, 40, 3], _weights("lognormal", 5943, 0))
    ladder = Drawn(sample, [0.3, 0.5, [0.9, 0.8, 0.7, 1.0], 0.2], 0)
    table = race(ladder, RULES, sample, "accuracy")
    assert table["rows"].min() < 2000
    assert choose(table, "accuracy") == table["accuracy"].argmax() == 1
    accuracy, balanced = ladder.scores()
    assert np.abs(table["accuracy"][::-1] - accuracy).max() < 0.06
    assert np.abs(table["balanced_accuracy"][::-1] - balanced).max() < 0.2
    assert (np.diff(table["bandwidth"]) > 0).all()


def test_a_score_from_some_rows_is_the_best_ones_less_the_difference_on_them(small_stages):
    sample = sample_of([3000, 3000])
    ladder = Drawn(sample, [0.8, 0.799, 0.4], 0, common=1.0)
    table = race(ladder, RULES, sample, "accuracy")
    n = table["rows"][0]
    assert n < 6000
    assert (table["rows"][1:] == 6000).all()
    stages = Stages.of(sample)
    (until,) = (k for k in range(6) if np.sum(stages.stage <= k) == n)
    judged = stages.stage <= until
    behind = ladder.found[0, judged].mean() - ladder.found[2, judged].mean()
    assert_close(table["accuracy"][0], ladder.scores()[0][0] - behind)


# The stages ------------------------------------------------------------------------------------


def test_small_samples_have_one_stage():
    stages = Stages.of(sample_of([2**14, 2**14]))
    assert stages.last == 0
    assert stages.rows(0) is None
    assert Stages.of(sample_of([2**14, 2**14 + 1])).last > 0


@pytest.mark.parametrize("sizes", [[3000, 3000], [5000, 900, 40, 3], [6] * 1000])
@pytest.mark.parametrize("weighted", [False, True])
def test_stages(sizes, weighted, small_stages):
    sample = sample_of(sizes, _weights("lognormal" if weighted else "equal", sum(sizes), 0))
    stages = Stages.of(sample)
    parts = [stages.rows(k) for k in range(stages.last + 1)]
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(sum(sizes)))
    assert all(part.size > 0 and np.array_equal(part, np.sort(part)) for part in parts)
    first = np.bincount(sample.codes[parts[0]], minlength=len(sizes))
    share = np.maximum(100 * np.array(sizes) / sum(sizes), 100 / len(sizes))
    assert (first == np.minimum(sizes, np.ceil(share))).all()  # no class is left out
    assert np.array_equal(stages.stage, Stages.of(sample).stage)  # not by chance
    assert (stages.stage[stages.certain] == 0).all()
    for k in range(stages.last + 1):
        judged = np.concatenate(parts[: k + 1])
        for scoring, standing in stages.standing(k).items():
            assert_close(standing.mean(np.ones(judged.size)), 1.0)
            assert (standing.unseen == 0) == (k == stages.last)
            assert (standing.shares > 0).all()
            if not weighted:
                parts_of = sizes if scoring == "accuracy" else np.ones(len(sizes))
                for c, share in enumerate(parts_of / np.sum(parts_of)):
                    assert_close(standing.mean(sample.codes[judged] == c), share)


def test_standard_errors_are_those_of_drawing_again(small_stages):
    """The variance of a difference, over random stages, against the mean estimate of it."""
    sample = sample_of([1500, 300, 50], _weights("lognormal", 1850, 1))
    ladder = Drawn(sample, [0.7, 0.68], 3, common=0.5)
    gain = ladder.found[0] * 1.0 - ladder.found[1]
    for scoring, at in (("accuracy", 0), ("balanced_accuracy", 1)):
        differences, variances = [], []
        for seed in range(300):
            rng = np.random.default_rng(seed)
            order = np.lexsort((rng.random(1850), sample.codes))
            mixed = replace(sample, weights=sample.weights[order], unit=sample.unit[order])
            stages = Stages.of(mixed)
            standing, rows = stages.standing(0)[scoring], order[stages.rows(0)]
            differences.append(standing.mean(gain[rows]))
            variances.append((gain[rows] ** 2 * standing.variances).sum() / standing.total**2)
        true = np.subtract(*ladder.scores()[at])
        assert np.mean(differences) == pytest.approx(true, abs=4 * np.std(differences) / 300**0.5)
        assert np.var(differences) == pytest.approx(np.mean(variances), rel=0.3)


# What is judged --------------------------------------------------------------------------------


@pytest.mark.parametrize("links", [None, "norms", "counts"])
@pytest.mark.parametrize("weighted", [False, True])
def test_some_rows_and_some_rungs_are_judged_as_all_are(links, weighted):
    X, y = clouds(90)
    omega = np.random.default_rng(0).integers(1, 4, 90).astype(float)
    sample = SortedSample.of(X, y, omega)
    bandwidths = (2.0, 1.0, 0.7, 0.2)
    F = np.stack([np.full(90, 3.0) + i for i in range(4)]) if weighted else None
    rows, rungs = np.array([3, 5, 40, 88]), [1, 3]
    for ladder in (
        LeftOutVectors.of(sample, bandwidths, F, get_kernel("gaussian"), links=links),
        LeftOutWindows.of(sample, bandwidths, get_kernel("laplacian")),
    ):
        whole = {part.rung: part for part in ladder.parts()}
        fresh = type(ladder).at(ladder, range(4)) if links else ladder
        for some in (ladder.at(rungs), fresh.at(rungs)):
            assert some.bandwidths == (1.0, 0.2)
            for part in some.parts(rows):
                expected = whole[rungs[part.rung]]
                for name in ("counts", "log_sums", "log_norms", "log_links", "log_weight"):
                    value = getattr(part, name)
                    if value is not None:
                        assert_close(value, getattr(expected, name)[rows])


def test_the_ladder_goes_on_in_a_race(small_stages, monkeypatch):
    """Two classes that only very narrow windows tell apart."""
    rng = np.random.default_rng(0)
    y = np.arange(700) % 2
    X = np.c_[rng.integers(0, 50, 700) + 0.5 * y + 1e-3 * rng.normal(size=700)]
    model = ParzenClassifier()
    raced = clone(model).fit(X, y)
    monkeypatch.setattr(_race, "_ALL_UP_TO", 10**6)
    full = clone(model).fit(X, y)
    assert len(full.loo_results_["bandwidth"]) > 17
    assert raced.bandwidth_ == full.bandwidth_
    assert_close(raced.loo_results_["bandwidth"], full.loo_results_["bandwidth"])
    assert raced.loo_results_["rows"].min() < 700


def test_fewer_judgements_on_a_sample_that_is_large_enough(monkeypatch):
    """As it comes, without a smaller threshold."""
    X, y = stripes(2**15 + 100)
    y[::4] = np.random.default_rng(1).integers(0, 3, y[::4].size)  # so that narrow ones are worse
    judged = []
    judge = _race._judge

    def count(ladder, rules, sample, runners, rows, verdicts):
        judged.append(len(runners) * (sample.codes.size if rows is None else rows.size))
        judge(ladder, rules, sample, runners, rows, verdicts)

    monkeypatch.setattr(_race, "_judge", count)
    model = ParzenClassifier().fit(X, y)
    rows = model.loo_results_["rows"]
    assert sum(judged) == rows.sum() < 0.7 * 17 * len(y)
    assert rows.min() < 2**14


# At most so many rows ---------------------------------------------------------------------------


@pytest.mark.parametrize("most", [50, 150, 1000, 2999])
def test_no_more_rows_are_judged_than_wanted(most, small_stages):
    """Up to rounding by class; scores are means over these rows, near those of all."""
    sample = sample_of([2000, 700, 300])
    ladder = Drawn(sample, [0.5, 0.7, 0.71, 0.7], seed=most)
    table = race(ladder, RULES, sample, "accuracy", most)
    assert ladder.judged.max() <= most * 5 / 3 + 3  # each class at least by its even share
    assert table["rows"].max() == ladder.judged.max()
    best = choose(table, "accuracy")
    exact = ladder.scores()[0][::-1]
    spread = (0.25 / table["rows"][best]) ** 0.5
    assert abs(table["accuracy"][best] - exact[best]) < 6 * spread
    assert exact[best] > 0.6


def test_as_many_as_there_are_is_all(small_stages):
    sample = sample_of([400, 300])
    tables = [
        race(Drawn(sample, [0.6, 0.62, 0.61], seed=3), RULES, sample, "accuracy", most)
        for most in (None, 700, 10**9)
    ]
    for table in tables[1:]:
        for column, values in tables[0].items():
            assert (table[column] == values).all()


def test_the_error_of_a_difference(small_stages):
    """Of equal classes: √(D (1 − m/n)) / m for D rows of m on which two decide differently."""
    n, m = 2000, 400
    sample = sample_of([n // 2, n // 2])
    ladder = Drawn(sample, [0.70, 0.70], seed=5)
    table = race(ladder, RULES, sample, "accuracy", m)
    stages = Stages.of(sample, m)
    judged = np.flatnonzero(stages.stage <= stages.last)
    assert judged.size == m
    n_different = np.sum(ladder.found[0, judged] != ladder.found[1, judged])
    expected = np.sqrt(n_different * (1 - m / n)) / m
    best = choose(table, "accuracy")
    assert table["error"][best] == 0
    np.testing.assert_allclose(table["error"][1 - best], expected, rtol=1e-9)
    assert (race(ladder, RULES, sample, "accuracy")["error"] == 0).all()


def test_the_ladder_goes_on_only_where_the_score_surely_rises(monkeypatch):
    """With some rows judged, a rise within two standard errors is none."""
    X, y = clouds(900, shift=0.9, seed=8)
    model = LaplacianClassifier(loo_rows=60).fit(X, y)
    results = model.loo_results_
    assert results["rows"].max() < 900
    assert results["bandwidth"].size <= 17 + 2 * 8
    assert (results["error"] >= 0).all()


@pytest.mark.parametrize("name", ["cosine", "parzen", "plane"])
def test_loo_rows_of_every_classifier(name):
    X, y = stripes(600, seed=3)
    full = clone(MODELS[name]).fit(X, y)
    same = clone(MODELS[name]).set_params(loo_rows=None).fit(X, y)
    assert same.bandwidth_ == full.bandwidth_
    some = clone(MODELS[name]).set_params(loo_rows=200).fit(X, y)
    assert some.loo_results_["rows"].max() <= 210
    assert full.score(X, y) - some.score(X, y) < 0.1
    with pytest.raises(ValueError, match="loo_rows"):
        clone(MODELS[name]).set_params(loo_rows=0).fit(X, y)
