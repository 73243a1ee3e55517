"""The test of independence: its pairings, the kernels that it sees, level, power, robustness."""

import tracemalloc
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import binom, gamma, kstest
from sklearn import config_context

from mercer.information import independence_test, pairwise_independence
from mercer.information._independence import _log_ratios, _log_tails
from mercer.information._kernel_columns import kernel_columns
from mercer.information._pairings import (
    Orders,
    PartedTurns,
    Turns,
    draw_many_pairings,
    draw_pairings,
    squared_sizes,
)
from oracles import dependence as oracle

MEASURES = ["hsic", "cauchy_schwarz"]


def _random(seed=0):
    return np.random.RandomState(seed)


def _turned(turns, k):
    """Row i of X meets row _turned(turns, k)[i] of Y: every circle by k places."""
    m, n = turns.n_places, len(turns.rows)
    circles = turns.rows[: n - n % m].reshape(m, n // m)
    order = np.arange(n)
    order[circles] = circles[(np.arange(m) + k) % m]
    return order


@pytest.mark.parametrize(("n", "m"), [(53, 7), (48, 8), (9, 9), (10, 9), (5, 1)])
@pytest.mark.parametrize("memory", [1024, 0.01])
def test_products_of_all_turns(n, m, memory):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(n, 3)), rng.normal(size=(n, 2))
    turns = Turns(m, rng.permutation(n))
    with config_context(working_memory=memory):
        (products,) = turns.products(A, B)
    expected = [A.T @ B[_turned(turns, k)] for k in range(m)]
    np.testing.assert_allclose(products, expected, atol=1e-12)
    np.testing.assert_allclose(products[0], A.T @ B, atol=1e-12)


def test_turns_are_a_group():
    """What makes the test exact: one turn after another is a turn."""
    turns = Turns(6, np.random.default_rng(0).permutation(20))
    group = {tuple(_turned(turns, k)) for k in range(6)}
    assert len(group) == 6
    for k in range(6):
        for other in range(6):
            assert tuple(_turned(turns, k)[_turned(turns, other)]) in group


@pytest.mark.parametrize("sizes", [(4, 5), (3, 2, 3)])
def test_turns_in_parts(sizes):
    """A pairing turns each part of the rows by a number of places of its own."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(23, 3)), rng.normal(size=(23, 2))
    parts = np.array_split(rng.permutation(23), len(sizes))
    parted = PartedTurns(tuple(map(Turns, sizes, parts)))
    found, expected = squared_sizes(parted.products(A, B)), []
    for places in product(*map(range, sizes)):
        order = np.arange(23)
        for turns, k in zip(parted.parts, places, strict=True):
            m = turns.n_places
            circles = turns.rows[: len(turns.rows) // m * m].reshape(m, -1)
            order[circles] = circles[(np.arange(m) + k) % m]
        expected.append(np.sum((A.T @ B[order]) ** 2))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert len(parted) == len(found)


@pytest.mark.parametrize(("n", "n_parts"), [(40, 4), (60, 4), (66, 3), (199, 3), (200, 2)])
def test_few_rows_have_many_pairings(n, n_parts):
    pairings = draw_many_pairings(n, 9999, _random())
    assert isinstance(pairings, PartedTurns)
    assert len(pairings.parts) == n_parts
    assert len(pairings) >= 10_000
    rows = np.concatenate([part.rows for part in pairings.parts])
    assert (np.sort(rows) == np.arange(n)).all()


def test_other_tables_have_orders_or_turns():
    assert isinstance(draw_many_pairings(10_001, 9999, _random()), Turns)
    assert isinstance(draw_many_pairings(39, 9999, _random()), Orders)


def test_pairs_of_sides():
    """What each two have to do with each other; p-values are uniform where it is nothing."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 400, 1))
    sides = [x, y, x**2 + 0.5 * y]
    found = {
        (i, j): one
        for i, j, one in pairwise_independence(sides, n_permutations=9999, random_state=0)
    }
    assert list(found) == [(0, 1), (0, 2), (1, 2)]
    assert found[0, 1].pvalue > 0.01
    assert found[0, 2].pvalue == found[1, 2].pvalue == 1e-4
    assert found[0, 2].dependence == pytest.approx(
        independence_test(sides[0], sides[2], random_state=0).dependence, abs=0.02
    )
    sides = rng.normal(size=(14, 220, 1))
    p = [one.pvalue for *_, one in pairwise_independence(sides, n_permutations=99, random_state=0)]
    assert kstest(p, "uniform").pvalue > 1e-3


def test_products_of_orders():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(9, 3)), rng.normal(size=(9, 2))
    pairings = draw_pairings(9, 20, _random())
    assert isinstance(pairings, Orders)
    expected = [A.T @ B[order] for order in pairings]
    np.testing.assert_allclose(pairings.products(A, B)[0], expected, atol=1e-13)
    orders = np.array(list(pairings))
    assert (orders[0] == np.arange(9)).all()
    assert (np.sort(orders, axis=1) == np.arange(9)).all()
    assert len(np.unique(orders, axis=0)) == 21


@pytest.mark.parametrize("n", [99, 100, 101, 1234, 100_000])
def test_pairings_are_as_many_as_asked_for(n):
    pairings = draw_pairings(n, 99, _random())
    assert isinstance(pairings, Orders if n < 100 else Turns)
    assert 100 <= len(pairings) <= 125
    if n > 1000:
        assert n % len(pairings) <= 10  # few rows stay


@pytest.mark.parametrize("n", [40, 128])
@pytest.mark.parametrize("d", [1, 3, 12])
def test_columns_have_the_centred_kernel_as_their_products(n, d):
    X = np.random.default_rng(0).normal(size=(n, d))
    side = kernel_columns(X, None, _random())
    assert len(side) == 6
    for part, h in zip(side.parts(), side.bandwidths, strict=True):
        A = side.columns[:, part]
        np.testing.assert_allclose(A.mean(axis=0), 0, atol=1e-14)
        assert np.linalg.norm(A.T @ A) == pytest.approx(1)
        K = np.exp(-((X[:, None] - X) ** 2).sum(-1) / (4 * h**2))
        K = K - K.mean(0) - K.mean(1)[:, None] + K.mean()
        if A.shape[1] < 40:  # not cut off
            agreement = np.sum(K * (A @ A.T)) / np.linalg.norm(K)
            assert agreement > 0.999


def test_columns_of_many_rows_are_those_of_the_kernel_nearly():
    X = np.random.default_rng(0).normal(size=(1500, 1))
    side = kernel_columns(X, "silverman", _random())
    A, (h,) = side.columns, side.bandwidths
    K = np.exp(-((X - X.T) ** 2) / (4 * h**2))
    K = K - K.mean(0) - K.mean(1)[:, None] + K.mean()
    assert np.sum(K * (A @ A.T)) / np.linalg.norm(K) > 0.99


@pytest.mark.parametrize("d", [2, 20])
def test_columns_do_not_depend_on_memory(d):
    X = np.random.default_rng(0).normal(size=(300, d))
    plain = kernel_columns(X, None, _random())
    with config_context(working_memory=0.05):
        small = kernel_columns(X, None, _random())
    np.testing.assert_allclose(small.columns, plain.columns, atol=1e-9)


def test_the_ladder_sees_shares_of_the_pairs():
    from scipy.spatial.distance import pdist

    X = np.random.default_rng(0).normal(size=(200, 3))
    side = kernel_columns(X, None, _random())
    widths = np.sqrt(2) * side.bandwidths
    shares = [np.mean(pdist(X) <= w) for w in widths[-4:]]
    np.testing.assert_allclose(shares, [1 / 2, 1 / 4, 1 / 8, 1 / 16], atol=1e-3)


def test_statistic_of_one_pair_of_widths_is_the_measure():
    """Among all orders of six rows, HSIC and the Cauchy–Schwarz information rank alike."""
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(6, 1)), rng.normal(size=(6, 2))
    for measure in MEASURES:
        values = []
        for order in permutations(range(6)):
            joint, marginal, cross = oracle.potentials(X, Y[list(order)], 0.5, 0.8)
            difference, ratio = joint - 2 * cross + marginal, joint * marginal / cross**2
            values.append(difference if measure == "hsic" else ratio)
        exact = np.mean(np.array(values) >= values[0] * (1 - 1e-9))
        found = independence_test(
            X, Y, measure=measure, bandwidth=(0.5, 0.8), n_permutations=4000, random_state=0
        )
        error = np.sqrt(exact * (1 - exact) / 4000)
        assert found.pvalue == pytest.approx(exact, abs=4 * error + 0.01)


def test_ratios_come_from_columns():
    """V_J, V_M and V_C are means of products of uncentred kernels FFᵀ and GGᵀ."""
    rng = np.random.default_rng(0)
    F, G = rng.uniform(size=(30, 3)), rng.uniform(size=(30, 4))
    G[:, 0] = F[:, 0] ** 2
    K, L = F @ F.T, G @ G.T
    joint, marginal, cross = (K * L).mean(), K.mean() * L.mean(), (K.mean(0) * L.mean(0)).mean()
    A, B = F - F.mean(0), G - G.mean(0)
    found = _log_ratios((A.T @ B / 30)[None], F.mean(0), G.mean(0))
    assert found[0] == pytest.approx(np.log(joint * marginal / cross**2), rel=1e-9)


def test_tails():
    values = gamma(3.0, scale=0.2).rvs(size=(2, 500), random_state=0)
    values[1, 0] = 400.0
    found = _log_tails(values)
    mean, variance = values[0].mean(), values[0].var()
    expected = gamma(mean**2 / variance, scale=variance / mean).logsf(values[0])
    np.testing.assert_allclose(found[0], expected, rtol=1e-9)
    far = _log_tails(np.append(values[0, 1:], np.linspace(200, 300, 5))[None])
    assert np.isfinite(far).all()
    order = np.argsort(values[1])
    assert (np.diff(found[1, order]) <= 0).all()
    assert (_log_tails(np.full((1, 9), 0.3)) == 0).all()


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(("n", "n_permutations"), [(18, 19), (45, 19)])
def test_level(measure, n, n_permutations):
    """One test in twenty rejects, whether orders are drawn or rows turn; with ties and far rows."""
    runs, rejected = 100, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        X = rng.standard_cauchy(size=(n, 2))
        y = rng.integers(0, 2, n) if seed % 2 else rng.normal(size=n) ** 3
        result = independence_test(
            X, y, measure=measure, n_permutations=n_permutations, random_state=seed
        )
        rejected += result.significant
    low, high = binom.ppf([1e-4, 1 - 1e-4], runs, 0.05)
    assert low / 2 <= rejected <= high  # ties make it smaller


def _linear(rng, x):
    return x + rng.normal(size=x.shape)


PATTERNS = {
    "linear": _linear,
    "quadratic": lambda rng, x: x**2 + 0.3 * rng.normal(size=x.shape),
    "sine": lambda rng, x: np.sin(4 * np.pi * x) + 0.5 * rng.normal(size=x.shape),
    "two parabolas": lambda rng, x: x**2 * rng.choice([-1, 1], x.shape),
    "noise that grows": lambda rng, x: x * rng.normal(size=x.shape),
}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", PATTERNS)
def test_power(name, measure):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-1, 1, size=150)
        result = independence_test(
            x, PATTERNS[name](rng, x), measure=measure, n_permutations=99, random_state=seed
        )
        assert result.pvalue <= 0.01


def test_power_with_many_rows():
    """Rows turn; a dependence that explains a thousandth of the variance."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30_000, 2))
    y = 0.03 * x[:, 0] + rng.normal(size=30_000)
    assert independence_test(x, y, n_permutations=99, random_state=0).pvalue <= 0.02


def test_dependence_is_between_chance_and_one():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 400))
    assert abs(independence_test(x, noise, random_state=0).dependence) < 0.02
    for same in (x, 5 - 3 * x):
        assert independence_test(x, same, random_state=0).dependence > 0.99
    weak, strong = (
        independence_test(x, x + s * noise, random_state=0).dependence for s in (2, 0.5)
    )
    assert 0.05 < weak < strong < 0.9


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e300])
def test_scale_and_offset(scale):
    X, Y = np.random.default_rng(0).normal(size=(2, 60, 2))
    Y = Y + 0.4 * X
    plain = independence_test(X, Y, random_state=0, n_permutations=99)
    scaled = independence_test(X * scale, Y + 1e5, random_state=0, n_permutations=99)
    assert scaled.bandwidth[0] == pytest.approx(plain.bandwidth[0] * scale)
    assert scaled.pvalue == plain.pvalue
    assert scaled.statistic == pytest.approx(plain.statistic, rel=1e-5)


def test_extreme_bandwidths():
    x, y = np.random.default_rng(0).normal(size=(2, 30))
    narrow = independence_test(x, y, bandwidth=1e-250, random_state=0)
    assert narrow.pvalue == 1.0  # every row sees itself only
    assert independence_test(x, x, bandwidth=1e3, random_state=0).pvalue == 0.001
    with pytest.raises(ValueError, match="is so wide that rows which differ cannot be told apart"):
        independence_test(x, y, bandwidth=1e9)


def test_a_turned_side_is_the_same_side():
    X, Y = np.random.default_rng(0).normal(size=(2, 60, 3))
    Y = Y + 0.4 * X
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    plain = independence_test(X, Y, random_state=0, n_permutations=99)
    turned = independence_test(X @ turn, Y, random_state=0, n_permutations=99)
    assert turned.statistic == pytest.approx(plain.statistic, rel=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("n", [2, 5, 200])
def test_constant_sides(measure, n):
    x = np.random.default_rng(0).normal(size=n)
    for X, Y in ((x, np.ones(n)), (np.full(n, 0.1), x), (np.zeros(n), np.zeros(n))):
        result = independence_test(X, Y, measure=measure, random_state=0, n_permutations=50)
        assert result.pvalue == 1.0
        assert result.dependence == 0.0


@pytest.mark.parametrize("measure", MEASURES)
def test_categories(measure):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 200)
    y = np.where(rng.random(200) < 0.3, 1 - x, x)
    one_hot = np.eye(3)[(2 * x + rng.integers(0, 2, 200)) % 3]
    for other in (y, one_hot, rng.normal(size=200) + x):
        result = independence_test(x, other, measure=measure, random_state=0)
        assert result.pvalue <= 0.002
    rare = (np.arange(200) < 4).astype(float)
    far = np.where(rare, 9.0, 0.0) + rng.normal(size=200)
    assert independence_test(rare, far, measure=measure, random_state=0).pvalue <= 0.002


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensors(torch, dtype):
    x, y = np.random.default_rng(0).normal(size=(2, 40)).astype(dtype)
    plain = independence_test(x, y, random_state=0)
    tensors = torch.tensor(x, requires_grad=True), torch.tensor(y)
    assert independence_test(*tensors, random_state=0).pvalue == plain.pvalue


def test_memory_does_not_grow_with_pairs():
    x, y = np.random.default_rng(0).normal(size=(2, 20_000))
    independence_test(x[:50], y[:50], n_permutations=9)
    tracemalloc.start()
    with config_context(working_memory=16):
        independence_test(x, y, n_permutations=9)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 600 * 8 * len(x) + 2**25  # the matrix of all pairs takes 20 000 numbers a row


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("n", [60, 150])
def test_does_not_depend_on_memory(measure, n):
    x, y = np.random.default_rng(0).normal(size=(2, n))
    options = {"measure": measure, "random_state": 0, "n_permutations": 99}
    plain = independence_test(x, x + 2 * y, **options)
    with config_context(working_memory=0.1):
        small = independence_test(x, x + 2 * y, **options)
    assert small.pvalue == plain.pvalue
    np.testing.assert_allclose(small.null_distribution, plain.null_distribution, rtol=1e-6)


def test_sentence_and_repetition():
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    result = independence_test(x, x + y, random_state=0)
    assert str(result).endswith("that is unlikely to be chance (p = 0.001)")
    assert str(independence_test(x, y, random_state=0)).count("could be chance") == 1
    again = independence_test(x, x + y, random_state=0)
    assert (again.statistic, again.pvalue) == (result.statistic, result.pvalue)
    assert len(result.null_distribution) == 999
    assert not result.null_distribution.flags.writeable


@pytest.mark.parametrize(
    ("X", "Y", "options", "sentence"),
    [
        ([1.0, np.nan], [1.0, 2.0], {}, "X contains NaN"),
        ([1.0, 2.0], [1.0, np.nan], {}, "Y contains NaN"),
        ([1.0, 2.0], [1.0], {}, "X has 2 rows and Y has 1"),
        ([1.0], [1.0], {}, "needs two rows or more, got 1"),
        (["a", "b"], [1.0, 2.0], {}, "X must hold"),
        ([1.0, 2.0], [1.0, 2.0], {"measure": "dcorr"}, "measure must be 'hsic' or"),
        ([1.0, 2.0], [1.0, 2.0], {"n_permutations": 0}, "n_permutations must be a positive"),
        ([1.0, 2.0], [1.0, 2.0], {"confidence_level": 1}, "confidence_level must lie between"),
        ([1.0, 2.0], [1.0, 2.0], {"confidence_level": "1"}, "confidence_level must lie between"),
        ([1.0, 2.0], [1.0, 2.0], {"bandwidth": "wide"}, "bandwidth must be a positive number or"),
        ([1.0, 2.0], [1.0, 2.0], {"bandwidth": -1.0}, "bandwidth must be positive and finite"),
    ],
)
def test_sentences(X, Y, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        independence_test(X, Y, **options)


def test_dask_is_refused():
    da = pytest.importorskip("dask.array")
    x = np.arange(9.0)[:, None]
    for sides in ((da.from_array(x), x), (x, da.from_array(x))):
        with pytest.raises(ValueError, match="independence_test takes no Dask array"):
            independence_test(*sides)


@pytest.mark.parametrize("size", [1e20, 1e200, 1e308])
@pytest.mark.parametrize("place", [0, 7])
@pytest.mark.parametrize("d", [1, 10])
def test_one_far_row_does_not_hide_what_the_others_show(size, place, d):
    X = np.random.default_rng(0).normal(size=(150, d))
    Y = X.copy()
    X[place], Y[place] = size, 0
    result = independence_test(X, Y, n_permutations=99, random_state=0)
    assert result.pvalue <= 0.01
    assert result.bandwidth[0] < 10
