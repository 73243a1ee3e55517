"""The test of several samples: its statistics against formulas, its exactness, its power."""

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from scipy.stats import chisquare
from sklearn.datasets import load_iris

from mercer.information import (
    _blocks,
    k_sample_test,
    log_laplacian_information_cut,
    two_sample_test,
)
from mercer.information._fuse import centred, discrepancies
from mercer.kernels import get_kernel


def _unbiased(K, a, b):
    """MMD² of two samples of rows, without the pairs of a row with itself."""

    def within(rows):
        part = K[np.ix_(rows, rows)]
        return (part.sum() - np.trace(part)) / (len(rows) * (len(rows) - 1))

    return within(a) + within(b) - 2 * K[np.ix_(a, b)].mean()


@pytest.mark.parametrize("sizes", [(6, 9), (4, 2, 11), (5, 5, 5, 20)])
def test_the_scatter_is_the_sum_over_pairs(sizes):
    n = sum(sizes)
    X, y = np.random.default_rng(0).normal(size=(n, 3)), np.repeat(np.arange(len(sizes)), sizes)
    K = np.exp(-(cdist(X, X) ** 2) / 2)
    share = np.array(sizes) / n
    expected = sum(
        share[i] * share[j] * _unbiased(K, np.flatnonzero(y == i), np.flatnonzero(y == j))
        for i, j in combinations(range(len(sizes)), 2)
    )
    off = K - np.eye(n)
    H = off - (off.sum(1)[:, None] + off.sum(0)) / (n - 2) + off.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(H, 0)
    spread = np.sqrt((H**2).sum() / (n * (n - 3)))
    found = discrepancies(centred(K), y[None, :].astype(np.int16), np.array(sizes))
    assert found[0] * spread == pytest.approx(expected, rel=1e-10)
    result = k_sample_test(X, y, bandwidth=np.sqrt(0.5), n_permutations=1, random_state=0)
    assert result.statistic * spread == pytest.approx(expected, rel=1e-10)


def test_two_samples_have_the_p_value_of_the_two_sample_test():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 2)), rng.normal(size=(25, 2)) + 0.4
    options = {"n_permutations": 199, "random_state": 3}
    both, labels = np.concatenate([X, Y]), np.repeat([0, 1], [40, 25])
    two, several = two_sample_test(X, Y, **options), k_sample_test(both, labels, **options)
    assert several.pvalue == two.pvalue
    share = 40 * 25 / 65**2
    assert several.statistic == pytest.approx(share * two.statistic, rel=1e-9)
    mixed = rng.permutation(65)
    again = k_sample_test(both[mixed], labels[mixed], **options)
    assert again.statistic == pytest.approx(several.statistic, rel=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_the_cut_is_that_of_the_function(kernel):
    X, y = load_iris(return_X_y=True)
    options = {"bandwidth": 0.6, "kernel": kernel}
    result = k_sample_test(X, y, statistic="laplacian_cut", n_permutations=99, **options)
    assert result.statistic == pytest.approx(-log_laplacian_information_cut(X, y, **options))
    assert result.pvalue == 0.01
    assert str(result).startswith("The samples differ by 2.")


def test_cuts_of_permuted_labels_are_those_of_the_function(monkeypatch):
    """Six rows in three samples have 90 labellings; all cuts that are drawn are among theirs."""
    X = np.random.default_rng(0).normal(size=(6, 2))
    expected = set()
    for a in combinations(range(6), 2):
        for b in combinations(sorted(set(range(6)) - set(a)), 2):
            y = np.full(6, 2)
            y[list(a)], y[list(b)] = 0, 1
            expected.add(round(-log_laplacian_information_cut(X, y, bandwidth=0.7), 9))
    options = {"statistic": "laplacian_cut", "bandwidth": 0.7, "n_permutations": 300}
    result = k_sample_test(X, [0, 0, 1, 1, 2, 2], random_state=0, **options)
    assert set(result.null_distribution.round(9)) <= {round(value, 9) for value in expected}


@pytest.mark.parametrize(
    ("statistic", "path"),
    [
        ("mmd", "rows"),
        ("mmd", "blocks"),
        ("mmd", "landmarks"),
        ("laplacian_cut", "rows"),
        ("laplacian_cut", "blocks"),  # a cut has no landmarks
    ],
)
def test_pvalues_are_uniform(monkeypatch, statistic, path):
    if path != "rows":
        monkeypatch.setattr(_blocks, "_BLOCKS", 12)
        monkeypatch.setattr(_blocks, "_LEAST_BLOCKS", 3)
    if path == "landmarks":
        monkeypatch.setattr(_blocks, "_ALL_PAIRS", 0)
        monkeypatch.setattr(_blocks, "_LANDMARKS", 8)
    counts = np.zeros(5)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.exponential(size=(45, 2)), np.repeat(["a", "b", "c"], [9, 24, 12])
        options = {"statistic": statistic, "n_permutations": 4, "random_state": seed}
        counts[round(5 * k_sample_test(X, y, **options).pvalue) - 1] += 1
    assert chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("statistic", ["mmd", "laplacian_cut"])
@pytest.mark.parametrize("bandwidth", [None, "median", 0.8])
def test_power(statistic, bandwidth):
    rejected = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(120, 2)), np.repeat([0, 1, 2], 40)
        X[y == 2] += 0.9
        options = {"statistic": statistic, "bandwidth": bandwidth, "n_permutations": 99}
        rejected += k_sample_test(X, y, random_state=seed, **options).significant
    assert rejected >= 10


def test_scale_ties_and_tensors(torch):
    X, y = load_iris(return_X_y=True)
    X, y = X[30:120:2], y[30:120:2]
    for statistic in ("mmd", "laplacian_cut"):
        options = {"statistic": statistic, "n_permutations": 49, "random_state": 0}
        plain = k_sample_test(X, y, **options)
        for other in (X * 1e-12, X * 1e12, torch.tensor(X), torch.tensor(X, requires_grad=True)):
            found = k_sample_test(other, y, **options)
            assert found.pvalue == plain.pvalue
            assert found.statistic == pytest.approx(plain.statistic, rel=1e-6)
        same = k_sample_test(np.ones((9, 2)), np.arange(9) % 3, **options)
        assert same.pvalue == 1
        assert same.statistic == 0


def test_many_rows_of_a_cut_are_drawn_from_blocks(monkeypatch):
    from mercer.information import _k_sample

    monkeypatch.setattr(_k_sample, "_MOST_ROWS_OF_CUT", 600)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 2)), np.repeat([0, 1, 2], 1000)
    X[y == 1] *= 2
    options = {"statistic": "laplacian_cut", "n_permutations": 49, "random_state": 0}
    assert k_sample_test(X, y, bandwidth=0.5, **options).pvalue == 0.02


@pytest.mark.parametrize(
    ("y", "options", "sentence"),
    [
        ([0, 0, 0, 0], {}, "y must hold two samples or more, got 1."),
        ([0, 0, 0, 1], {}, "y has a sample of one row, whose spread cannot be seen"),
        ([0, 0, 1], {}, "y must have one class for each of the 4 rows of X"),
        ([0, 0, 1, 1], {"statistic": "ise"}, "statistic must be 'mmd' or 'laplacian_cut', got"),
        ([0, 0, 1, 1], {"n_permutations": 0}, "n_permutations must be a positive integer"),
        ([0, 0, 1, 1], {"kernel": "epanechnikov"}, "A test of samples needs a Mercer"),
        ([0, 0, 1, 1], {"bandwidth": "wide"}, "bandwidth must be a positive number or one of"),
    ],
)
def test_bad_input_gets_a_sentence(y, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        k_sample_test(np.arange(8.0).reshape(4, 2), y, **options)


def test_more_samples_than_there_is_room_for_are_refused():
    y = np.repeat(np.arange(513), 2)
    with pytest.raises(ValueError, match="y holds 513 samples; a test of samples takes 512"):
        k_sample_test(y[:, None], y, n_permutations=1)


def test_a_kernel_is_a_kernel_object_too():
    X, y = load_iris(return_X_y=True)
    options = {"bandwidth": 1.0, "n_permutations": 1, "random_state": 0}
    name = k_sample_test(X, y, kernel="laplacian", **options)
    assert (
        name.statistic == k_sample_test(X, y, kernel=get_kernel("laplacian"), **options).statistic
    )
    assert name.bandwidth == 1.0
    assert k_sample_test(X, y, bandwidth="median", n_permutations=1).bandwidth == pytest.approx(
        np.median(pdist(X)) / np.sqrt(2)
    )


def test_cuts_below_the_range_of_floats_have_a_sentence():
    y = np.repeat([0, 1], 10)
    X = np.random.default_rng(0).normal(size=(20, 1)) + 1000 * y[:, None]
    options = {"statistic": "laplacian_cut", "n_permutations": 99, "random_state": 0}
    result = k_sample_test(X, y, bandwidth=1.0, **options)
    assert result.pvalue == 0.01
    assert 700 < result.statistic < 709
    assert "nan" not in str(k_sample_test(X, y, bandwidth=1e-9, **options))
