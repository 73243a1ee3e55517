"""The test without a width: its statistic, its exactness at any number of rows, its power."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from scipy.stats import binom, chisquare
from sklearn import config_context

from information.samples import two_classes
from mercer.information import _blocks, two_sample_test
from mercer.kernels import get_kernel

EXPONENTS = np.arange(-6, 4) / 2  # of 2, of the width over the median distance


def _value(x, y, kernel, width):
    """One kernel value, by its formula."""
    if kernel == "gaussian":
        return np.exp(-sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / (2 * width**2))
    return np.exp(-sum(abs(a - b) for a, b in zip(x, y, strict=True)) / width)


def _literal_statistic(X, Y):
    """T, pair by pair: the unbiased MMD², N_k of the centred kernel, and their soft maximum."""
    Z, n, m = np.concatenate([X, Y]), len(X), len(Y)
    N, scaled = n + m, []
    for kernel, metric in (("gaussian", "euclidean"), ("laplacian", "cityblock")):
        for e in EXPONENTS:
            width = np.median(pdist(Z, metric)) * 2.0**e
            k = [[_value(a, b, kernel, width) for b in Z] for a in Z]
            xx = sum(k[i][j] for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
            yy = sum(k[i][j] for i in range(n, N) for j in range(n, N) if i != j) / (m * (m - 1))
            xy = sum(k[i][j] for i in range(n) for j in range(n, N)) / (n * m)
            rows = [sum(k[i]) - k[i][i] for i in range(N)]
            squares = 0.0
            for i, j in combinations(range(N), 2):
                centred = k[i][j] - (rows[i] + rows[j]) / (N - 2)
                centred += sum(rows) / ((N - 1) * (N - 2))
                squares += 2 * centred**2
            scaled.append((xx + yy - 2 * xy) / np.sqrt(squares / (N * (N - 3))))
    sharpness = 4 * n * m / (n + m)
    return np.log(np.mean(np.exp(sharpness * np.array(scaled)))) / sharpness


@pytest.mark.parametrize(("n", "m", "d"), [(9, 9, 1), (5, 12, 3), (2, 2, 2), (8, 3, 20)])
def test_the_statistic_is_the_formula(n, m, d):
    rng = np.random.default_rng(n)
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(m, d)) + 0.7
    result = two_sample_test(X, Y, n_permutations=1, random_state=0)
    assert result.statistic == pytest.approx(_literal_statistic(X, Y), rel=1e-9, abs=1e-12)
    swapped = two_sample_test(Y, X, n_permutations=1, random_state=0)
    assert swapped.statistic == pytest.approx(result.statistic, rel=1e-9, abs=1e-12)


def _kernel_of(Z, W, kernel, width):
    r = cdist(Z, W, "euclidean" if kernel == "gaussian" else "cityblock")
    return np.exp(-(r**2) / (2 * width**2)) if kernel == "gaussian" else np.exp(-r / width)


@pytest.mark.parametrize("slab", [10, 4096])
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
@pytest.mark.parametrize("sizes", [(40, 40), (23, 61), (9, 100, 30)])
def test_sums_between_blocks_are_sums_of_pairs(monkeypatch, sizes, kernel, slab):
    monkeypatch.setattr(_blocks, "_ONE_SLAB", slab)
    monkeypatch.setattr(_blocks, "_BLOCKS", 12)
    monkeypatch.setattr(_blocks, "_LEAST_BLOCKS", 3)
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(size, 3)) for size in sizes]
    random = np.random.RandomState(0)
    blocks = _blocks.deal_blocks(sizes, random)
    widths = np.array([0.5, 2.0])
    sums = _blocks.block_sums(parts, blocks, get_kernel(kernel), widths, random)
    Z = np.concatenate(parts)
    for width, found in zip(widths, sums, strict=True):
        K = _kernel_of(Z, Z, kernel, width)
        for i, a in enumerate(blocks.rows):
            for j, b in enumerate(blocks.rows):
                expected = 0 if i == j else K[np.ix_(a, b)].sum()
                assert found[i, j] == pytest.approx(expected, rel=1e-9)


@given(sizes=st.lists(st.integers(2, 3000), min_size=2, max_size=5), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_blocks_hold_each_row_at_most_once(sizes, seed):
    blocks = _blocks.deal_blocks(sizes, np.random.RandomState(seed))
    rows = blocks.rows.ravel()
    assert np.unique(rows).size == rows.size
    of_row = np.repeat(np.arange(len(sizes)), sizes)
    assert (of_row[blocks.rows] == blocks.samples[:, None]).all()
    counts, n_rows = blocks.counts, blocks.rows.shape[1]
    assert (counts >= np.minimum(sizes, 16)).all()
    assert counts.sum() <= 1024
    if sum(sizes) <= 512:
        assert rows.size == sum(sizes)
    elif counts.sum() < 1000:  # Nothing but what is less than a block is left out.
        assert ((sizes - counts * n_rows) < n_rows).all()


def test_landmarks_are_a_low_rank_kernel(monkeypatch):
    """With as many landmarks as it takes, the sums are those of all pairs."""
    monkeypatch.setattr(_blocks, "_BLOCKS", 20)
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(200, 2)), rng.normal(size=(200, 2))]
    kernel, widths = get_kernel("gaussian"), np.array([1.0, 3.0])
    blocks = _blocks.deal_blocks((200, 200), np.random.RandomState(0))
    options = (parts, blocks, kernel, widths, np.random.RandomState(1))
    exact = _blocks.block_sums(*options)
    monkeypatch.setattr(_blocks, "_ALL_PAIRS", 0)
    found = _blocks.block_sums(*options)
    np.testing.assert_allclose(found, exact, rtol=2e-3)
    with config_context(working_memory=0.01):  # a block at a time
        options = (*options[:-1], np.random.RandomState(1))
        again = _blocks.block_sums(*options)
    monkeypatch.setattr(_blocks, "_LANDMARKS", 10)
    few = _blocks.block_sums(*options)
    np.testing.assert_allclose(again, exact, rtol=2e-3)
    assert np.abs(few - exact).max() > np.abs(found - exact).max()


@pytest.mark.parametrize("shift", [0.4, 30.0])
def test_all_labellings(shift):
    """Seven rows have 35 labellings; drawn often enough, their exact p-value comes out."""
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(4, 2)), rng.normal(size=(3, 2)) + shift
    Z = np.concatenate([X, Y])
    values = []
    for chosen in combinations(range(7), 4):
        rest = np.setdiff1d(range(7), chosen)
        values.append(_literal_statistic(Z[list(chosen)], Z[rest]))
    exact = np.mean(np.array(values) >= values[0] - 1e-9)
    result = two_sample_test(X, Y, n_permutations=4000, random_state=0)
    assert result.pvalue == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4000))
    drawn = np.unique(result.null_distribution.round(8))
    np.testing.assert_allclose(drawn, np.unique(np.round(values, 8)), atol=2e-8)


def _cauchy(rng, n, d):
    return rng.standard_cauchy(size=(n, d))


def _few_values(rng, n, d):
    return rng.integers(0, 3, size=(n, d)).astype(float)


def _constant_column(rng, n, d):
    return np.column_stack([rng.normal(size=(n, d)), np.full(n, 7.0)])


def _huge_column(rng, n, d):
    return np.column_stack([rng.normal(size=(n, d)), 1e12 * rng.normal(size=n)])


def _mostly_equal(rng, n, d):
    return (rng.uniform(size=(n, d)) < 0.15) * rng.normal(size=(n, d))


@pytest.mark.parametrize(
    ("draw", "n", "m"),
    [
        (_cauchy, 5, 30),
        (_cauchy, 12, 12),
        (_few_values, 5, 30),
        (_few_values, 12, 12),
        (_constant_column, 5, 30),
        (_huge_column, 12, 12),
        (_mostly_equal, 5, 30),
    ],
)
def test_level(draw, n, m):
    """Where nothing differs one test in twenty rejects at most, whatever the distribution."""
    runs, rejected = 200, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        X, Y = draw(rng, n, 2), draw(rng, m, 2)
        rejected += two_sample_test(X, Y, n_permutations=19, random_state=seed).significant
    low, high = binom.ppf([1e-4, 1 - 1e-4], runs, 0.05)
    assert rejected <= high
    if draw not in (_few_values, _mostly_equal):  # where statistics tie, fewer are rejected
        assert rejected >= low


@pytest.mark.parametrize("path", ["rows", "blocks", "landmarks"])
def test_pvalues_are_uniform(monkeypatch, path):
    """With 9 permutations, all of 0.1, 0.2, … 1.0 are as likely: every path is exact."""
    if path != "rows":
        monkeypatch.setattr(_blocks, "_BLOCKS", 10)
        monkeypatch.setattr(_blocks, "_LEAST_BLOCKS", 4)
    if path == "landmarks":
        monkeypatch.setattr(_blocks, "_ALL_PAIRS", 0)
        monkeypatch.setattr(_blocks, "_LANDMARKS", 8)
    counts = np.zeros(10)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, Y = rng.exponential(size=(17, 2)), rng.exponential(size=(33, 2))
        result = two_sample_test(X, Y, n_permutations=9, random_state=seed)
        counts[round(10 * result.pvalue) - 1] += 1
    assert chisquare(counts).pvalue > 1e-4


def test_one_column_of_huge_scale_is_all_that_counts():
    """Documented: distances see nothing else.  The answer is finite and that of this column."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 3)), rng.normal(size=(30, 3)) + np.array([0, 0, 2])
    for A in (X, Y):
        A[:, 0] *= 1e12
    found = two_sample_test(X, Y, n_permutations=99, random_state=0)
    alone = two_sample_test(X[:, :1], Y[:, :1], n_permutations=99, random_state=0)
    assert found.pvalue == alone.pvalue
    assert found.statistic == pytest.approx(alone.statistic, rel=1e-6)


@pytest.mark.parametrize(
    ("shift", "scale", "d"), [(0.6, 1.0, 2), (0.5, 1.0, 30), (0.0, 2.0, 2), (0.0, 1.6, 1)]
)
def test_power(shift, scale, d):
    rejected = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, Y = rng.normal(size=(100, d)), rng.normal(size=(100, d)) * scale + shift
        rejected += two_sample_test(X, Y, n_permutations=99, random_state=seed).significant
    assert rejected >= 16


def test_many_widths_see_what_the_median_misses():
    """Two bumps and one of the same mean and variance: the median distance hardly sees them."""
    found = {None: 0, "median": 0}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 2))
        Y = rng.normal(size=(150, 2))
        Y[:, 0] = np.sign(Y[:, 0]) * 0.9 + 0.43 * rng.normal(size=150)
        for bandwidth in found:
            options = {"bandwidth": bandwidth, "n_permutations": 99, "random_state": seed}
            found[bandwidth] += two_sample_test(X, Y, **options).significant
    assert found[None] >= 17
    assert found["median"] <= 8


def test_blocks_and_landmarks_keep_the_power(monkeypatch):
    """A difference that the test of rows sees in some half of the cases is seen as often."""
    found = {"rows": 0, "blocks": 0, "landmarks": 0}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, Y = rng.normal(size=(150, 3)), rng.normal(size=(150, 3)) * 1.2
        for path in found:
            with monkeypatch.context() as patch:
                patch.setattr(_blocks, "_BLOCKS", 512 if path == "rows" else 75)
                patch.setattr(_blocks, "_ALL_PAIRS", 0 if path == "landmarks" else 10**4)
                patch.setattr(_blocks, "_LANDMARKS", 100)
                result = two_sample_test(X, Y, n_permutations=99, random_state=seed)
            found[path] += result.significant
    assert 6 <= found["rows"] <= 26
    assert found["blocks"] >= found["rows"] - 5
    assert found["landmarks"] >= found["rows"] - 5


def test_many_rows_in_little_memory():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(60_000, 4)).astype(np.float32)
    two_sample_test(Z[:100], Z[100:200], n_permutations=9)  # compiles
    with config_context(working_memory=32):
        tracemalloc.start()
        same = two_sample_test(Z[:35_000], Z[35_000:], n_permutations=99, random_state=0)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 120 * 2**20  # ten widths of 512 blocks, and no more for more rows
    assert same.pvalue > 0.01
    shifted = Z[35_000:] + np.float32(0.03)
    assert two_sample_test(Z[:35_000], shifted, n_permutations=99, random_state=0).pvalue == 0.01


def test_one_kernel_and_its_ten_widths():
    X, Y = two_classes("moons")
    both = two_sample_test(X, Y, n_permutations=1, random_state=0)
    one = two_sample_test(X, Y, n_permutations=1, random_state=0, kernel="gaussian")
    other = two_sample_test(X, Y, n_permutations=1, random_state=0, kernel="laplacian")
    sharpness = 4 * len(X) * len(Y) / (len(X) + len(Y))
    parts = [np.exp(sharpness * result.statistic) for result in (one, other)]
    assert both.statistic == pytest.approx(np.log(np.mean(parts)) / sharpness, rel=1e-9)
    assert both.bandwidth == one.bandwidth
    widths = np.median(pdist(np.concatenate([X, Y]))) * 2.0**EXPONENTS
    assert np.abs(widths / np.sqrt(2) - both.bandwidth).min() == pytest.approx(0, abs=1e-9)


def test_a_sample_of_one_row_gets_a_sentence():
    X, Y = two_classes("moons")
    with pytest.raises(ValueError, match="X has one row, whose spread cannot be seen; give a band"):
        two_sample_test(X[:1], Y)
    assert 0 < two_sample_test(X[:1], Y, bandwidth=0.5, random_state=0).pvalue <= 1
