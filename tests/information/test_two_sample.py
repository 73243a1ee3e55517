"""The two-sample test: its statistics, exactness under the null, power, and robustness."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import binom
from sklearn import config_context

from information.samples import two_classes
from mercer.information import (
    TwoSampleTestResult,
    cauchy_schwarz_divergence,
    integrated_squared_error,
    two_sample_test,
)
from mercer.information._test_result import compare_with_permutations
from mercer.kernels import get_kernel

STATISTICS = ["ise", "cauchy_schwarz"]


def _statistic(X, Y, name, h, kernel):
    if name == "cauchy_schwarz":
        return cauchy_schwarz_divergence(X, Y, bandwidth=h, kernel=kernel)
    width = np.sqrt(2) * h if kernel == "gaussian" else h
    peak = np.exp(-get_kernel(kernel).log_normaliser(width, X.shape[1]))
    return integrated_squared_error(X, Y, bandwidth=h, kernel=kernel) / peak


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "laplacian"])
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("name", ["gaussian", "ring", "moons", "wine"])
def test_statistics_are_the_divergences(name, statistic, kernel):
    X, Y = two_classes(name)
    options = {"statistic": statistic, "kernel": kernel, "bandwidth": 0.7}
    result = two_sample_test(X, Y, n_permutations=5, random_state=0, **options)
    assert result.statistic == pytest.approx(_statistic(X, Y, statistic, 0.7, kernel), rel=1e-9)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("shift", [0.5, 1e3])
def test_all_labellings(statistic, shift):
    """Seven rows have 35 labellings; drawn often enough, their exact p-value comes out.

    Far apart, the divergences of separated samples are lost in rounding and must still tie.
    """
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(4, 2)), rng.normal(size=(3, 2)) + shift
    Z = np.concatenate([X, Y])
    values = []
    for chosen in combinations(range(7), 4):
        rest = np.setdiff1d(range(7), chosen)
        values.append(_statistic(Z[list(chosen)], Z[rest], statistic, 1.0, "gaussian"))
    exact = np.mean(np.array(values) >= values[0] - 1e-12)
    result = two_sample_test(
        X, Y, statistic=statistic, bandwidth=1.0, n_permutations=4000, random_state=0
    )
    assert result.pvalue == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4000))
    drawn = np.unique(result.null_distribution.round(9))
    if shift == 0.5:
        np.testing.assert_allclose(drawn, np.unique(np.round(values, 9)), atol=2e-9)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_level(statistic):
    """Under the null one test in twenty rejects, also for unequal sizes and odd distributions."""
    runs = 300
    rejected = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        X, Y = rng.standard_cauchy(size=(15, 2)), rng.standard_cauchy(size=(25, 2))
        result = two_sample_test(X, Y, statistic=statistic, n_permutations=19, random_state=seed)
        rejected += result.significant
    low, high = binom.ppf([1e-4, 1 - 1e-4], runs, 0.05)
    assert low <= rejected <= high


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize(
    ("shift", "scale", "d"), [(0.6, 1.0, 2), (0.5, 1.0, 30), (0.0, 2.0, 2), (0.0, 1.6, 1)]
)
def test_power(statistic, shift, scale, d):
    rejected = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, Y = rng.normal(size=(100, d)), rng.normal(size=(100, d)) * scale + shift
        result = two_sample_test(X, Y, statistic=statistic, n_permutations=99, random_state=seed)
        rejected += result.significant
    assert rejected >= 16


@pytest.mark.parametrize("statistic", STATISTICS)
def test_many_columns_do_not_drown(statistic):
    """d = 784 with narrow windows: every kernel value underflows, the ranks of pairs do not."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 784)), rng.normal(size=(60, 784)) + 0.5
    assert two_sample_test(X, Y, statistic=statistic, random_state=0).pvalue == 0.001
    with pytest.warns(UserWarning, match="rows hardly see each other"):
        narrow = two_sample_test(X, Y, statistic=statistic, bandwidth=0.3, random_state=0)
    assert 0 < narrow.pvalue < 1
    assert np.isfinite(narrow.statistic)


@pytest.mark.parametrize("bandwidth", ["median", None])
@pytest.mark.parametrize("scale", [1e-150, 1e-12, 1e12, 1e150])
def test_scale_and_offset(scale, bandwidth):
    X, Y = two_classes("moons")
    options = {"bandwidth": bandwidth, "random_state": 0, "n_permutations": 99}
    plain = two_sample_test(X, Y + 0.2, **options)
    scaled = two_sample_test(X * scale, (Y + 0.2) * scale, **options)
    offset = two_sample_test(X + 1e5, Y + 0.2 + 1e5, **options)
    assert scaled.bandwidth == pytest.approx(plain.bandwidth * scale)
    for other in (scaled, offset):
        assert other.pvalue == plain.pvalue
        np.testing.assert_allclose(other.null_distribution, plain.null_distribution, rtol=1e-6)


def test_median_makes_the_kernel_as_wide_as_the_median_distance():
    X, Y = two_classes("wine")
    median = np.median(pdist(np.concatenate([X, Y])))
    options = {"bandwidth": "median", "n_permutations": 1, "random_state": 0}
    gaussian = two_sample_test(X, Y, **options)
    assert gaussian.bandwidth * np.sqrt(2) == pytest.approx(median)
    assert two_sample_test(X, Y, kernel="exponential", **options).bandwidth == pytest.approx(median)
    assert two_sample_test(X, Y, statistic="ise", **options).bandwidth == gaussian.bandwidth
    many = np.random.default_rng(0).normal(size=(1500, 1))
    found = two_sample_test(many[:700], many[700:], **options).bandwidth
    assert found == pytest.approx(np.median(pdist(many)) / np.sqrt(2), rel=0.1)


@pytest.mark.parametrize("X", [np.ones((5, 2)), np.repeat([[0.0], [1.0]], [9, 1], axis=0)])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_equal_rows(X, statistic):
    result = two_sample_test(X, X, statistic=statistic, random_state=0)
    assert result.pvalue == 1.0
    assert 0 < result.bandwidth < np.inf


@pytest.mark.parametrize("statistic", STATISTICS)
def test_does_not_depend_on_memory(statistic):
    X, Y = two_classes("breast cancer")
    X, Y = np.tile(X, (20, 1)), np.tile(Y, (20, 1))  # three blocks and more
    X = X + 0.1 * np.random.default_rng(0).normal(size=X.shape)
    options = {"statistic": statistic, "n_permutations": 50, "random_state": 0}
    plain = two_sample_test(X, Y, **options)
    with config_context(working_memory=0.1):
        small = two_sample_test(X, Y, **options)
    assert small.pvalue == plain.pvalue
    np.testing.assert_allclose(small.null_distribution, plain.null_distribution, rtol=1e-9)


def test_memory_stays_within_the_budget():
    X = np.random.default_rng(0).normal(size=(6000, 2))
    options = {"bandwidth": "median", "random_state": 0}
    two_sample_test(X[:100], X[100:200], n_permutations=9, **options)  # compiles
    with config_context(working_memory=16):
        tracemalloc.start()
        two_sample_test(X[:3000], X[3000:], n_permutations=199, **options)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 24 * 2**20  # the kernel matrix would be 288 MB


@pytest.mark.parametrize("bandwidth", ["median", None])
def test_float32_and_torch(torch, bandwidth):
    X, Y = two_classes("iris")
    options = {"bandwidth": bandwidth, "n_permutations": 199, "random_state": 0}
    plain = two_sample_test(X[:, :2], Y[:, :2] - 1.2, **options)
    tensors = (torch.tensor(X[:, :2], requires_grad=True), torch.tensor(Y[:, :2] - 1.2))
    for single in (False, True):
        arrays = [X[:, :2], Y[:, :2] - 1.2]
        if single:
            arrays, tensors = [A.astype(np.float32) for A in arrays], [t.float() for t in tensors]
        for found in (two_sample_test(*arrays, **options), two_sample_test(*tensors, **options)):
            assert found.pvalue == pytest.approx(plain.pvalue, abs=0.006)
            assert found.statistic == pytest.approx(plain.statistic, rel=1e-4)


def test_result_reads_well():
    X, Y = two_classes("moons")
    result = two_sample_test(X, Y, random_state=0)
    assert str(result).startswith("X and Y differ by")
    assert str(result).endswith("that is unlikely to be chance (p = 0.001)")
    half = two_sample_test(X[::2], X[1::2], random_state=0)
    assert "could be chance" in str(half)
    assert list(half.null_quantiles) == [0.5, 0.9, 0.95, 0.99]
    assert half.null_quantiles[0.95] == np.quantile(half.null_distribution, 0.95)
    with pytest.raises(AttributeError):
        result.pvalue = 0.5
    again = two_sample_test(X[::2], X[1::2], random_state=0)
    np.testing.assert_array_equal(again.null_distribution, half.null_distribution)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"statistic": "mmd"}, "statistic must be one of 'fuse', 'ise', 'cauchy_schwarz' or None"),
        ({"statistic": "fuse", "bandwidth": 1.0}, "'fuse' takes widths of its own"),
        ({"n_permutations": 0}, "n_permutations must be a positive integer, got 0"),
        ({"confidence_level": 95}, "confidence_level must lie between 0 and 1, got 95"),
        ({"kernel": "epanechnikov"}, "A two-sample test needs a Mercer"),
        ({"confidence_level": "high"}, "confidence_level must lie between 0 and 1, got 'high'"),
        ({"bandwidth": "wide"}, "bandwidth must be a positive number or one of"),
    ],
)
def test_bad_input_gets_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        two_sample_test(*two_classes("moons"), **options)


@pytest.mark.parametrize("scale", [1e-140, 1.0, 1e140])
def test_one_far_row_does_not_blur_the_others(scale):
    """Products about a mean that it moves have lost the distances of all others."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 6, 2))
    X[0] *= 1e12
    options = {"bandwidth": 0.5 * scale, "n_permutations": 9, "random_state": 0}
    result = two_sample_test(X * scale, Y * scale, **options)
    expected = integrated_squared_error(X, Y, bandwidth=0.5) * (4 * np.pi * 0.25)
    assert result.statistic == pytest.approx(expected, rel=1e-9)


def test_windows_that_meet_nowhere_are_refused():
    X = np.array([[0.0], [1e100]])
    with pytest.raises(ValueError, match="bandwidth is too small"):
        two_sample_test(X, X + 3e99, bandwidth=1e-100, n_permutations=9)


@pytest.mark.parametrize(
    ("kernel", "metric"), [("exponential", "euclidean"), ("laplacian", "cityblock")]
)
def test_the_median_is_that_of_the_distance_of_the_kernel(kernel, metric):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 50)), rng.normal(size=(25, 50))
    options = {"bandwidth": "median", "n_permutations": 1, "random_state": 0}
    found = two_sample_test(X, Y, kernel=kernel, **options)
    expected = np.median(pdist(np.concatenate([X, Y]), metric))
    assert found.bandwidth == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("bandwidth", ["median", None])
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "cauchy"])
def test_rows_that_are_all_the_same_and_far_from_the_origin(kernel, bandwidth):
    X, Y = np.full((3, 1), 2e150), np.full((4, 1), 2e150)
    options = {"bandwidth": bandwidth, "n_permutations": 9, "random_state": 0}
    assert two_sample_test(X, Y, kernel=kernel, **options).statistic == 0


@pytest.mark.parametrize("statistic", ["ise", "cauchy_schwarz"])
def test_a_small_sample_keeps_its_digits_beside_a_large_one(statistic):
    rng = np.random.default_rng(0)
    X, Y = (rng.normal(size=(n, 3)).astype(np.float32) for n in (3000, 20))
    found, exact = (
        two_sample_test(*pair, statistic=statistic, bandwidth=1.0, n_permutations=9, random_state=0)
        for pair in ((X, Y), (Y.astype(np.float64), X.astype(np.float64)))
    )
    assert found.statistic == pytest.approx(exact.statistic, rel=1e-4)


def test_a_statistic_that_is_no_number_is_no_evidence():
    values = np.array([np.nan, 1.0, 2.0])
    assert compare_with_permutations(values, values, 0.0)[1] == 1


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
def test_a_p_value_of_the_level_is_significant(level):
    null = np.array([0.0])
    result = TwoSampleTestResult(1.0, round(1 - level, 2), null, 1.0, level, "a divergence")
    assert result.significant


@pytest.mark.parametrize("size", [1e20, 1e200])
@pytest.mark.parametrize("place", [0, 7])
def test_one_far_row_leaves_the_median_alone(size, place):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 40, 2))
    options = {"bandwidth": "median", "n_permutations": 1, "random_state": 0}
    X[place] = 1e20
    expected = np.median(pdist(np.concatenate([X, Y])))
    X[place] = size
    found = two_sample_test(X, Y, kernel="exponential", **options)
    assert found.bandwidth == pytest.approx(expected, rel=1e-12)
