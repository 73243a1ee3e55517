"""Which kernels are positive definite, and what those that are not are told."""

import numpy as np
import pytest

from mercer.kernels import KERNELS, get_kernel
from oracles.sums import squared_distances

MERCER = ["gaussian", "exponential", "laplacian", "cauchy"]


def smallest_eigenvalue(name, points, bandwidth):
    d2 = squared_distances(points, points, name).astype(float)
    return np.linalg.eigvalsh(get_kernel(name).profile(d2, bandwidth))[0]


def test_flags():
    assert [name for name, kernel in KERNELS.items() if kernel.is_mercer] == MERCER


@pytest.mark.parametrize("name", MERCER)
@pytest.mark.parametrize("d", [1, 2, 5, 20])
@pytest.mark.parametrize("factor", [0.2, 1.0, 5.0])
def test_flagged_kernels_have_no_negative_eigenvalue(name, d, factor):
    points = np.random.default_rng(d).normal(size=(80, d))
    assert smallest_eigenvalue(name, points, factor * np.sqrt(d)) >= -1e-10


def test_epanechnikov_has_a_negative_eigenvalue():
    """Three points on a line: neighbours see each other, the ends do not."""
    points = np.array([[0.0], [0.5], [1.0]])
    # 1 and 3/4 twice beside the centre, 0 at the ends: the least eigenvalue is 1 − 3/4·√2.
    np.testing.assert_allclose(
        smallest_eigenvalue("epanechnikov", points, 1.0), 1 - 0.75 * np.sqrt(2), rtol=1e-12
    )
    assert 1 - 0.75 * np.sqrt(2) < 0


@pytest.mark.parametrize("name", MERCER)
def test_mercer_kernels_are_let_through(name):
    assert get_kernel(name).require_mercer("LaplacianClassifier") is None


def test_others_are_refused_with_a_sentence():
    sentence = (
        r"^LaplacianClassifier needs a Mercer \(positive definite\) kernel and 'epanechnikov' is "
        r"not one; use one of 'gaussian', 'exponential', 'laplacian', 'cauchy'\.$"
    )
    with pytest.raises(ValueError, match=sentence):
        get_kernel("epanechnikov").require_mercer("LaplacianClassifier")
