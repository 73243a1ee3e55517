"""The cut and the Bayes error, LC eqs. (2)-(6): two Gaussians on a line, unequal priors.

With a = P₁p₁ and b = P₂p₂, P₁P₂ ∫p₁p₂/f = ∫ab/(a + b), which lies between half the Bayes error
∫min(a, b) and all of it.  The paper takes f ≈ max(a, b); but the overlap of separated classes
lies where both are alike, and for Gaussians of one variance the factor tends to π/4.
"""

import numpy as np
import pytest
from scipy.stats import norm

from mercer.information import laplacian_information_cut


def _by_quadrature(prior, distance):
    """P_f of eq. (1), and P_e/√(P₁P₂) of eq. (6)."""
    grid = np.linspace(-12, distance + 12, 200_001)
    step = grid[1] - grid[0]
    p, q = norm.pdf(grid), norm.pdf(grid, distance)
    f = prior * p + (1 - prior) * q
    inner = lambda u, v: np.sum(u * v / f) * step  # noqa: E731
    cut = inner(p, q) / np.sqrt(inner(p, p) * inner(q, q))
    error = np.sum(np.minimum(prior * p, (1 - prior) * q)) * step
    return cut, error / np.sqrt(prior * (1 - prior))


@pytest.mark.parametrize("prior", [0.5, 0.8, 0.95])
def test_separated_classes(prior):
    for distance in (6, 8, 12):
        cut, error = _by_quadrature(prior, distance)
        assert 0.5 < cut / error < 1
    assert cut / error == pytest.approx(np.pi / 4, rel=0.01)


@pytest.mark.parametrize("prior", [0.5, 0.8, 0.95])
def test_the_cut_is_at_least_half_the_error(prior):
    for distance in (0.1, 1, 2, 4):
        cut, error = _by_quadrature(prior, distance)
        assert cut > error / 2


@pytest.mark.parametrize("distance", [2, 3])
def test_sample_estimate(distance):
    n, prior = 8000, 0.8
    y = (np.arange(n) >= prior * n).astype(int)
    X = np.random.default_rng(0).normal(size=(n, 1)) + distance * y[:, None]
    estimate = laplacian_information_cut(X, y, bandwidth=0.1)
    assert estimate == pytest.approx(_by_quadrature(prior, distance)[0], rel=0.08)
