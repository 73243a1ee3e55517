"""HSIC and the quadratic mutual informations against printed sums, integrals and invariants."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import qmc

from information.samples import SAMPLES
from mercer.information import (
    cauchy_schwarz_mutual_information,
    euclidean_mutual_information,
    hilbert_schmidt_independence,
)
from oracles import dependence as oracle

MEASURES = [
    cauchy_schwarz_mutual_information,
    euclidean_mutual_information,
    hilbert_schmidt_independence,
]
PAIR = {"bandwidth": (0.7, 1.1)}


def sides(name="gaussian", step=2):
    """Columns of a sample, parted in two sides that depend on each other."""
    X = SAMPLES[name][0][::step]
    return X[:, :1], X[:, 1:]


def unbiased(X, Y, **options):
    return hilbert_schmidt_independence(X, Y, unbiased=True, **options)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
@pytest.mark.parametrize("name", ["gaussian", "moons", "wine"])
def test_printed_sums(name, kernel):
    X, Y = sides(name)
    joint, marginal, cross = oracle.potentials(X, Y, *PAIR["bandwidth"], kernel=kernel)
    found = [measure(X, Y, kernel=kernel, **PAIR) for measure in MEASURES]
    expected = [
        np.log(joint * marginal / cross**2),
        joint - 2 * cross + marginal,
        oracle.hsic(X, Y, *PAIR["bandwidth"], kernel=kernel),
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    expected = oracle.unbiased_hsic(X, Y, *PAIR["bandwidth"], kernel=kernel)
    assert unbiased(X, Y, kernel=kernel, **PAIR) == pytest.approx(expected, rel=1e-9)


def test_integrals_by_quadrature():
    """Not sums over pairs but the integrals of the densities that these stand for."""
    x, y = np.array([-1.0, 0.2, 0.5]), np.array([0.0, 2.0, 0.3])
    grid = np.linspace(-7, 9, 801)
    step = grid[1] - grid[0]
    p, q = (
        np.exp(-((grid - v[:, None]) ** 2) / (2 * h**2)) / np.sqrt(2 * np.pi) / h
        for v, h in ((x, 0.5), (y, 0.9))
    )
    joint, product = p.T @ q / 3, np.outer(p.mean(0), q.mean(0))
    square = ((joint - product) ** 2).sum() * step**2
    ratio = np.log((joint**2).sum() * (product**2).sum() / (joint * product).sum() ** 2)
    options = {"bandwidth": (0.5, 0.9)}
    assert euclidean_mutual_information(x, y, **options) == pytest.approx(square)
    assert cauchy_schwarz_mutual_information(x, y, **options) == pytest.approx(ratio)


@pytest.mark.parametrize("rho", [0.0, 0.5, -0.9])
def test_closed_form_of_a_normal_distribution(rho):
    """The integrals of Gaussian densities, smoothed by the windows; 4096 even points."""
    h = 0.5
    covariance = np.array([[1.0, rho], [rho, 1.0]])
    Z = qmc.MultivariateNormalQMC([0, 0], covariance, rng=0).random(4096)
    A, B = covariance + h**2 * np.eye(2), (1 + h**2) * np.eye(2)
    overlap = lambda S: 1 / (2 * np.pi * np.sqrt(np.linalg.det(S)))  # noqa: E731
    joint, marginal, cross = overlap(2 * A), overlap(2 * B), overlap(A + B)
    x, y = Z.T
    found = cauchy_schwarz_mutual_information(x, y, bandwidth=h)
    assert found == pytest.approx(np.log(joint * marginal / cross**2), rel=0.05, abs=2e-3)
    found = euclidean_mutual_information(x, y, bandwidth=h)
    assert found == pytest.approx(joint - 2 * cross + marginal, rel=0.05, abs=1e-4)


def test_the_unbiased_statistic_has_no_bias():
    values = []
    for seed in range(400):
        x, y = np.random.default_rng(seed).normal(size=(2, 12))
        values.append([measure(x, y, bandwidth=0.5) for measure in (unbiased, MEASURES[2])])
    mean, error = np.mean(values, axis=0), np.std(values, axis=0) / 20
    assert abs(mean[0]) < 4 * error[0]
    assert mean[1] > 20 * error[1]
    assert np.min(values, axis=0)[0] < 0


@given(
    st.integers(0, 2**31),
    st.integers(2, 9),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from(MEASURES),
)
def test_invariants(seed, n, d, c, measure):
    """Sides swapped, rows in another order, sides shifted and turned: nothing changes."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(n, c))
    value = measure(X, Y, **PAIR)
    assert value >= 0
    near = {"rel": 1e-7, "abs": 1e-12}
    assert measure(Y, X, bandwidth=PAIR["bandwidth"][::-1]) == pytest.approx(value, **near)
    order = rng.permutation(n)
    assert measure(X[order], Y[order], **PAIR) == pytest.approx(value, **near)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    assert measure(X @ turn + 10, Y - 3, **PAIR) == pytest.approx(value, **near)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_weight_of_two_is_a_row_twice(measure):
    X, Y = sides("moons")
    w = np.random.default_rng(0).integers(0, 3, len(X))
    value = measure(X, Y, sample_weight=w, **PAIR)
    assert value == pytest.approx(measure(np.repeat(X, w, 0), np.repeat(Y, w, 0), **PAIR), rel=1e-9)
    assert value == pytest.approx(measure(X, Y, sample_weight=7.5 * w, **PAIR), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e-150, 1e150])
@pytest.mark.parametrize("measure", MEASURES)
def test_scales(measure, scale):
    """Each side has a scale of its own; the Euclidean measure is a density to the power of one."""
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    h = (0.5 * scale, 0.5 / scale)
    value, scaled = measure(x, y, bandwidth=0.5), measure(x * scale, y / scale, bandwidth=h)
    assert scaled == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("measure", [*MEASURES, unbiased])
def test_a_constant_side_depends_on_nothing(measure):
    x = np.random.default_rng(0).normal(size=30)
    assert measure(x, np.full(30, 3.0), bandwidth=0.5) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("measure", [*MEASURES, unbiased])
def test_many_columns_are_finite(measure):
    Z = np.random.default_rng(0).normal(size=(30, 784))
    assert np.isfinite(measure(Z, Z[:, ::-1] ** 2, bandwidth=2.0))
    narrow = cauchy_schwarz_mutual_information(Z, Z, bandwidth=0.01)
    assert narrow == pytest.approx(np.log(30), rel=1e-9)


@pytest.mark.parametrize("rule", ["silverman", "scott"])
def test_a_rule_sees_each_side_alone(rule):
    from mercer.bandwidth import resolve_bandwidth

    X, Y = sides("wine")
    pair = (resolve_bandwidth(rule, X), resolve_bandwidth(rule, Y))
    for measure in MEASURES:
        assert measure(X, Y, bandwidth=rule) == measure(X, Y, bandwidth=pair)


@pytest.mark.parametrize("measure", [*MEASURES, unbiased])
def test_tensors(torch, measure):
    X, Y = sides("moons", 8)
    value = measure(X, Y, **PAIR)
    tensors = [torch.tensor(A, requires_grad=True) for A in (X, Y)]
    found = measure(*tensors, **PAIR)
    assert float(found.detach()) == pytest.approx(value, rel=1e-9)
    assert torch.autograd.gradcheck(lambda *sides: measure(*sides, **PAIR), tensors)
    single = measure(*(torch.tensor(A, dtype=torch.float32) for A in (X, Y)), **PAIR)
    assert single.dtype == torch.float32
    assert float(single) == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize("measure", [*MEASURES, unbiased])
def test_dask(measure):
    da = pytest.importorskip("dask.array")
    X, Y = sides("moons")
    value = measure(X, Y, **PAIR)
    lazy = da.from_array(X, chunks=(17, 1)), da.from_array(Y, chunks=(11, 1))
    for given_sides in (lazy, (lazy[0], Y), (X, lazy[1])):
        assert measure(*given_sides, **PAIR) == pytest.approx(value, rel=1e-9)
    if measure is not unbiased:
        w = np.random.default_rng(0).integers(0, 3, len(X))
        value = measure(X, Y, sample_weight=w, **PAIR)
        assert measure(*lazy, sample_weight=w, **PAIR) == pytest.approx(value, rel=1e-9)


def test_memory_does_not_grow_with_pairs():
    x, y = np.random.default_rng(0).normal(size=(2, 20_000))
    hilbert_schmidt_independence(x[:50], y[:50], bandwidth=0.5)
    tracemalloc.start()
    hilbert_schmidt_independence(x, y, bandwidth=0.5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * 8 * len(x)  # the matrix of all pairs takes 8·n²


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("X", "Y", "options", "sentence"),
    [
        ([1.0, np.nan], [1.0, 2.0], {}, "X contains NaN"),
        ([1.0, 2.0], [1.0, np.inf], {}, "Y contains infinity"),
        ([1.0, 2.0], [1.0], {}, "X has 2 rows and Y has 1: each row of X belongs to the row of Y"),
        ([1.0], [1.0], {"kernel": "cauchy"}, "need a kernel that is a product over columns"),
        ([1.0], [1.0], {"bandwidth": (1, 2, 3)}, "bandwidth must be one, or two"),
        ([1.0], [1.0], {"sample_weight": [-1.0]}, "sample_weight must be finite and not negative"),
        ([], [], {}, "X has no rows"),
    ],
)
def test_sentences(measure, X, Y, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        measure(X, Y, **({"bandwidth": 1.0} | options))


def test_sentences_of_the_unbiased_statistic():
    with pytest.raises(ValueError, match="needs at least 4 rows, got 3"):
        unbiased([1.0, 2, 3], [1.0, 2, 3], bandwidth=1.0)
    with pytest.raises(ValueError, match="takes no weights"):
        unbiased([1.0] * 4, [1.0] * 4, bandwidth=1.0, sample_weight=np.ones(4))
