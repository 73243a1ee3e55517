"""Classifiers with `tol`: the same answers from approximate sums."""

import numpy as np
import pytest

from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.sums.fast import _plan as _fast_plan

pytest.importorskip("finufft", reason="finufft is not installed")

RNG = np.random.default_rng(0)
N = 1200
Y = RNG.integers(0, 3, N)
X = RNG.normal(size=(N, 2)) + 2.0 * Y[:, None]
NEW = 4 * RNG.normal(size=(300, 2)) + 2
WEIGHTS = RNG.exponential(size=N)
MODELS = [
    ParzenClassifier(bandwidth=0.3),
    ParzenClassifier(bandwidth=[0.3, 0.4, 0.5]),
    LaplacianClassifier(bandwidth=0.3),
    LaplacianClassifier(bandwidth=0.3, rule="append"),
    LaplacianClassifier(bandwidth=0.3, density="mercer", density_subset=0.5, random_state=0),
    LaplacianClassifier(bandwidth=0.3, density=None, n_nodes=300),
    ISEClassifier(bandwidth=0.3),
    ISEClassifier(bandwidth=0.3, weighting="margin"),
]


@pytest.fixture
def transforms(monkeypatch):
    """Count how often a sum was transformed; sums as small as these are made to look dear."""
    from mercer.sums.fast import _run as _fast

    calls = []
    forward = _fast.forward
    monkeypatch.setattr(_fast, "forward", lambda *a: calls.append(a) or forward(*a))
    monkeypatch.setattr(_fast_plan, "_PAIR", {4: 1e-4, 8: 1e-4})
    return calls


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_scores_are_within_the_tolerance(model, transforms):
    exact = model.set_params(tol=None).fit(X, Y, WEIGHTS).decision_function(NEW)
    assert not transforms
    near = model.set_params(tol=1e-9).fit(X, Y, WEIGHTS).decision_function(NEW)
    assert transforms
    np.testing.assert_allclose(near, exact, rtol=1e-6, atol=1e-6)


def test_norms_are_within_the_tolerance(transforms):
    exact = LaplacianClassifier(bandwidth=0.3).fit(X, Y)
    near = LaplacianClassifier(bandwidth=0.3, tol=1e-4).fit(X, Y)
    assert transforms
    np.testing.assert_allclose(near.norms_, exact.norms_, rtol=2e-4)
    np.testing.assert_allclose(near.weights_, exact.weights_, rtol=1e-4)


def test_leave_one_out_stays_exact(transforms):
    exact = LaplacianClassifier().fit(X[:200], Y[:200])
    near = LaplacianClassifier(tol=1e-2).fit(X[:200], Y[:200])
    np.testing.assert_array_equal(near.loo_results_["log_loss"], exact.loo_results_["log_loss"])


@pytest.mark.parametrize("tol", [0, 1, -1e-3, "fast"])
@pytest.mark.parametrize("kind", [ParzenClassifier, LaplacianClassifier, ISEClassifier])
def test_tol_is_checked(kind, tol):
    with pytest.raises(ValueError, match="'tol' parameter"):
        kind(bandwidth=1.0, tol=tol).fit(X, Y)
