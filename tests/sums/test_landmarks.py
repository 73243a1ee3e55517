"""Landmark sums: no bias, and standard errors that cover the error."""

import numpy as np
import pytest

from mercer.sums import kernel_sum, landmark_kernel_sum

RNG = np.random.default_rng(0)
Y = RNG.normal(size=(6000, 6))
X = RNG.normal(size=(400, 6))
FEW = {"n_landmarks": 64, "n_sampled": 1024}


def repeated(times=20, **options):
    """Return estimates and errors of many draws: (times, n) each."""
    draws = [landmark_kernel_sum(X, Y, random_state=i, **FEW, **options) for i in range(times)]
    sums, errors = zip(*draws, strict=True)
    return np.stack(sums), np.stack(errors)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "laplacian", "cauchy"])
@pytest.mark.parametrize("bandwidth", [1.0, 2.5, 8.0])
def test_errors_cover(kernel, bandwidth):
    truth = kernel_sum(X, Y, kernel=kernel, bandwidth=bandwidth)
    sums, errors = repeated(kernel=kernel, bandwidth=bandwidth)
    deviations = sums - truth
    # Standard errors are as large as the errors are, and those of many draws cancel.
    ratio = np.sqrt((deviations**2).mean() / (errors**2).mean())
    assert 0.7 < ratio < 1.3
    assert np.mean(np.abs(deviations) < 2.13 * errors) > 0.88
    # 20 draws have a fifth of the error, were they biased they would not.
    assert np.sqrt((deviations.mean(axis=0) ** 2).mean()) < 0.5 * np.sqrt((deviations**2).mean())


def test_wide_kernels_need_few_rows():
    """Where the kernel is smooth, landmarks do what a sample of rows could not."""
    truth = kernel_sum(X, Y, bandwidth=8.0)
    sums, _ = landmark_kernel_sum(X, Y, bandwidth=8.0, random_state=0, **FEW)
    drawn = RNG.permutation(len(Y))[:1088]
    plain = kernel_sum(X, Y[drawn], bandwidth=8.0) * len(Y) / 1088
    assert np.abs(sums - truth).max() < 0.03 * np.abs(plain - truth).max()


def test_weights_of_any_sign_and_groups():
    weights, groups = RNG.normal(size=6000), np.arange(6000) % 3
    options = {"weights": weights, "groups": groups, "bandwidth": 4.0}
    sums, errors = landmark_kernel_sum(X, Y, random_state=0, **FEW, **options)
    truth = kernel_sum(X, Y, **options)
    assert sums.shape == errors.shape == truth.shape == (400, 3)
    assert np.mean(np.abs(sums - truth) < 2.13 * errors) > 0.88


def test_what_fits_is_added_up():
    sums, errors = landmark_kernel_sum(X, Y[:500], bandwidth=1.0)
    np.testing.assert_array_equal(sums, kernel_sum(X, Y[:500], bandwidth=1.0))
    assert not errors.any()
    sums, errors = landmark_kernel_sum(X, Y, groups=np.full(6000, 1), bandwidth=1.0)
    assert not sums[:, 0].any()
    assert errors[:, 1].all()


def test_a_sample_of_all_other_rows_is_exact():
    sums, errors = landmark_kernel_sum(X, Y[:1089], bandwidth=2.0, random_state=0, **FEW)
    truth = kernel_sum(X, Y[:1089], bandwidth=2.0)
    assert errors.max() < 0.01 * truth.max()
    assert np.mean(np.abs(sums - truth) < 2.13 * errors) > 0.8


def test_the_same_seed_the_same_sums():
    first, second = (landmark_kernel_sum(X, bandwidth=1.0, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_float32_and_tensors(torch):
    truth = kernel_sum(X, Y, bandwidth=4.0)
    for convert in (np.float32, torch.as_tensor):
        sums, errors = landmark_kernel_sum(
            convert(X), convert(Y), bandwidth=4.0, random_state=0, **FEW
        )
        assert sums.dtype == errors.dtype == convert(X).dtype
        np.testing.assert_allclose(np.asarray(sums), truth, rtol=0.05, atol=1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_landmarks": 0}, "n_landmarks must be an integer of at least 1, got 0."),
        ({"n_sampled": 31}, "n_sampled must be an integer of at least 32, got 31."),
        ({"n_landmarks": 2.5}, "n_landmarks must be an integer of at least 1, got 2.5."),
        ({"bandwidth": [1.0, 2.0]}, "landmark_kernel_sum takes one bandwidth, not several."),
        ({"weights": np.ones((6000, 2))}, "takes one weight for each row, not columns"),
    ],
)
def test_refusals(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        landmark_kernel_sum(X, Y, **{"bandwidth": 1.0, **options})


@pytest.mark.parametrize("weight", [1e-300, 1e300])
def test_errors_of_any_weights_are_in_range(weight):
    """Their squares are not."""
    Y = np.random.default_rng(0).normal(size=(300, 3))
    options = {"bandwidth": 0.5, "n_landmarks": 8, "n_sampled": 64, "random_state": 0}
    sums, errors = landmark_kernel_sum(Y[:5], Y, **options)
    far = landmark_kernel_sum(Y[:5], Y, weights=np.full(300, weight), **options)
    np.testing.assert_allclose(far[0], sums * weight, rtol=1e-9)
    np.testing.assert_allclose(far[1], errors * weight, rtol=1e-9)
    assert (errors > 0).all()
