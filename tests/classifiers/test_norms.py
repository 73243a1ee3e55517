"""V_c from some of the rows: unbiased, with its error, in time that grows with their number."""

import numpy as np
import pytest

from classifiers.samples import assert_close, three_gaussians, wine
from lazy import cut
from mercer import LaplacianClassifier
from mercer.classifiers._class_vectors import ClassVectors
from mercer.classifiers._norms import draw_rows, log_links, sampled_log_links, sampled_norms
from mercer.kernels import get_kernel
from mercer.samples import SortedSample
from mercer.sums import _problem

KERNEL = get_kernel("gaussian")


def vectors_of(n=300, weights=None, density=True, seed=0):
    """Class vectors of three Gaussians, weighted by the density or not."""
    X, y = three_gaussians(n, seed=seed)
    omega = np.ones(n) if weights is None else weights
    sample = SortedSample.of(X, y, omega)
    d2 = ((sample.X[:, None] - sample.X) ** 2).sum(axis=2)
    F = np.exp(-d2 / (2 * 0.5**2)) @ sample.weights
    beta = sample.weights * (F**-0.5 if density else 1.0)
    return ClassVectors.of(sample, 0.5, beta, KERNEL)


WEIGHTS = {
    "equal": None,
    "copies": np.random.default_rng(0).integers(1, 6, 300).astype(float),
    "one heavy row": np.r_[2000.0, np.ones(299)],
    "of all sizes": 10.0 ** np.random.default_rng(1).uniform(-3, 3, 300),
}


@pytest.mark.parametrize("density", [True, False])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_estimates_are_unbiased_and_know_their_error(kind, density):
    vectors = vectors_of(weights=WEIGHTS[kind], density=density)
    exact = vectors.squared_norms[0] ** 0.5
    links = log_links(vectors)
    found, errors, linked = [], [], []
    for seed in range(144):
        draw = draw_rows(vectors.sample, 45, np.random.RandomState(seed))
        norms, error = sampled_norms(vectors, draw)
        found.append(norms**2)
        errors.append(error)
        linked.append(np.exp(sampled_log_links(vectors, draw, exact) - links))
    found = np.array(found)
    spread = found.std(axis=0, ddof=1)
    assert (np.abs(found.mean(axis=0) - exact**2) <= 4 * spread / 12 + 1e-12 * exact**2).all()
    linked = np.array(linked)
    gap = np.abs(linked.mean(axis=0) - 1)
    assert (gap <= 4 * linked.std(axis=0, ddof=1) / 12 + 1e-12).all()
    # The relative error of V is half of that of V².
    mean = np.sqrt((np.array(errors) ** 2).mean(axis=0))
    # Both are small: only their ratio tells whether one is right.
    np.testing.assert_allclose(mean, spread / (2 * exact**2), rtol=0.25, atol=1e-12)
    assert (spread / (2 * exact**2) < 0.25).all()


def test_the_error_falls_as_one_over_the_root_of_the_number():
    vectors = vectors_of(2000)
    exact = vectors.squared_norms[0] ** 0.5
    spreads = []
    for size in (30, 120, 480):
        draws = (draw_rows(vectors.sample, size, np.random.RandomState(s)) for s in range(200))
        found = np.array([sampled_norms(vectors, draw)[0] for draw in draws])
        spreads.append(((found / exact - 1) ** 2).mean() ** 0.5)
    ratios = np.array(spreads[:-1]) / spreads[1:]
    assert (ratios > 1.6).all()  # four times as many rows: half the error, and less near the end
    assert (ratios < 2.9).all()


def test_terms_are_nearly_the_same_for_every_row():
    """Why so few rows do: β R is about the share of the class in the density at a row."""
    vectors = vectors_of(2000)
    terms = (vectors.weights * vectors.own_sums)[0]
    for c in range(3):
        own = terms[vectors.sample.codes == c]
        assert own.std() < 0.4 * own.mean()


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_chances_are_those_with_which_rows_are_drawn(weights):
    sample = vectors_of(weights=weights).sample
    counts, chances = np.zeros(300), np.full(300, np.nan)
    for seed in range(600):
        draw = draw_rows(sample, 60, np.random.RandomState(seed))
        assert len(set(draw.rows)) == draw.rows.size
        assert np.array_equal(draw.codes, sample.codes[draw.rows])
        counts[draw.rows] += 1
        chances[draw.rows] = draw.chances
    seen = np.isfinite(chances)
    error = np.sqrt(chances * (1 - chances) / 600)
    # Rows of a tiny chance are looked at only where one of the draws had them.
    assert (np.abs(counts / 600 - chances)[seen] <= 5 * error[seen] + 2 / 600).all()
    assert (counts[chances == 1] == 600).all()
    for c in range(3):  # proportional to the weights, but for rows that are certain
        free = seen & (sample.codes == c) & (chances < 1)
        ratio = chances[free] / sample.weights[free]
        assert_close(ratio, np.full(ratio.size, ratio[0]))
        assert counts[sample.codes == c].sum() == 600 * 20


def test_all_rows_are_the_norms_themselves():
    vectors = vectors_of()
    draw = draw_rows(vectors.sample, 900, np.random.RandomState(0))
    norms, errors = sampled_norms(vectors, draw)
    assert_close(norms, vectors.squared_norms[0] ** 0.5)
    assert_close(errors, np.zeros(3))
    assert_close(sampled_log_links(vectors, draw, norms), log_links(vectors))


# Through the classifier ---------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["cosine", "append"])
def test_a_fit_at_a_given_bandwidth_is_near_that_of_all_rows(rule):
    X, y = three_gaussians(1500, seed=2)
    options = {"bandwidth": 0.5, "rule": rule}
    full = LaplacianClassifier(**options).fit(X, y)
    part = LaplacianClassifier(density_subset=300, random_state=0, **options).fit(X, y)
    assert not hasattr(full, "norm_errors_")
    assert part.norm_errors_.shape == (3,)
    assert (part.norm_errors_ < 0.05).all()
    assert (part.predict(X) == full.predict(X)).mean() > 0.97


def test_leave_one_out_and_nodes_have_the_norms_of_all_their_rows():
    X, y = wine()
    for options in ({}, {"rule": "auto", "bandwidth": 1.0}, {"n_nodes": 20, "bandwidth": 1.0}):
        model = LaplacianClassifier(density_subset=40, random_state=0, **options).fit(X, y)
        assert not hasattr(model, "norm_errors_")


def test_pairs_grow_with_the_rows_and_not_with_their_square(monkeypatch):
    """The paper's O(N_subset · N), counted: twice the rows are twice the pairs."""
    counted = []
    compute = _problem.compute

    def counting(problem):
        if problem.bounds:
            counted.append(problem.n_rows * problem.n_columns)
        return compute(problem)

    for module in ("_problem", "_api", "_in_memory"):
        monkeypatch.setattr(f"mercer.sums.{module}.compute", counting)

    def pairs(n, **options):
        X, y = three_gaussians(n, seed=3)
        counted.clear()
        # Calibration leaves out up to 2048 rows, however many there are.
        options = {"calibration": None, "random_state": 0, **options}
        LaplacianClassifier(bandwidth=0.5, **options).fit(X, y)
        return sum(counted)

    for rule, passes in (("cosine", 2), ("append", 3)):
        few, many = (pairs(n, rule=rule, density_subset=90) for n in (600, 1200))
        assert passes * 90 * 600 <= few <= 1.1 * passes * 90 * 600
        assert many == pytest.approx(2 * few, rel=0.01)
    assert pairs(1200) > 3.9 * pairs(600)


@pytest.mark.parametrize("rule", ["cosine", "append"])
def test_rows_in_blocks_draw_the_same(rule):
    dask = pytest.importorskip("dask")
    X, y = three_gaussians(120)
    weights = np.random.default_rng(0).integers(0, 4, 120)
    model = LaplacianClassifier(bandwidth=0.7, rule=rule, density_subset=40, random_state=0)
    expected = model.fit(X, y, weights)
    norms, errors = expected.norms_, expected.norm_errors_
    scores = expected.decision_function(X)
    with dask.config.set(scheduler="synchronous"):
        sizes = (30, 1, 89)
        model.fit(cut(X, sizes), cut(y, sizes), sample_weight=cut(weights, sizes))
        assert_close(model.norms_, norms)
        assert_close(model.norm_errors_, errors)
        assert_close(model.decision_function(X), scores, 1e-8)
