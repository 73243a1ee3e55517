"""Densities of Dask arrays and torch tensors are those of NumPy arrays."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lazy import cut, cut_elsewhere
from mercer import DensityOutlierDetector, KernelDensity

OPTIONS = [
    {},
    {"bandwidth": "likelihood-cv"},
    {"bandwidth": "scott", "metric": "mahalanobis"},
    {"bandwidth": [0.5, 2.0, 1.0]},
]


def sample(n=60, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("weights", [None, [0, 1, 2], [0.3, 0.7, 1.1]], ids=str)
def test_blocks(options, weights):
    dask = pytest.importorskip("dask")
    X, new, w = sample(), sample(25, 1), weights and np.tile(weights, 20)
    memory = KernelDensity(**options).fit(X, sample_weight=w)
    expected = memory.score_samples(new)
    with dask.config.set(scheduler="synchronous"):
        lazy = None if w is None else cut_elsewhere(w)
        blocks = KernelDensity(**options).fit(cut(X), sample_weight=lazy)
        assert_allclose(blocks.score_samples(new), expected, rtol=1e-12)
        for model in (memory, blocks):
            found = model.score_samples(cut(new))
            assert dask.is_dask_collection(found)
            assert_allclose(found.compute(), expected, rtol=1e-12)
        left_out = np.asarray(blocks.leave_one_out_scores())
        assert_allclose(left_out, memory.leave_one_out_scores(), rtol=1e-12)
        assert_allclose(np.asarray(blocks.sample(4, 0)), memory.sample(4, 0), rtol=1e-12)
        assert blocks.score(cut(new)) == pytest.approx(expected.sum())


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (KernelDensity(adaptive=True), "adaptive=True needs sums"),
        (KernelDensity(debiased=True), "debiased=True needs sums"),
        (KernelDensity(bounds=[(0, None)] * 3), "bounds needs sums"),
        (DensityOutlierDetector(), "training rows are looked up"),
    ],
)
def test_what_blocks_cannot_be_fitted_with_is_said_in_a_sentence(model, what):
    pytest.importorskip("dask")
    with pytest.raises(ValueError, match=rf"^{type(model).__name__}\.fit takes no Dask .*{what}"):
        model.fit(cut(sample()))


def test_outliers_among_new_blocks():
    dask = pytest.importorskip("dask")
    X = sample()
    model = DensityOutlierDetector(contamination=0.1).fit(X)
    with dask.config.set(scheduler="synchronous"):
        found = model.predict(cut(X))
        assert dask.is_dask_collection(found)
        np.testing.assert_array_equal(found.compute(), model.predict(X))


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "options",
    [*OPTIONS, {"debiased": True}, {"adaptive": True, "bounds": [(-9, 9), None, (-5, None)]}],
    ids=str,
)
def test_tensors(torch, options, dtype):
    X, new, w = sample(), sample(25, 1), np.tile([0, 1, 2], 20)
    kind = getattr(torch, dtype)
    memory = KernelDensity(**options).fit(X, sample_weight=w)
    tensors = KernelDensity(**options).fit(torch.tensor(X, dtype=kind), sample_weight=w)
    found = tensors.score_samples(torch.tensor(new, dtype=kind))
    assert torch.is_tensor(found)
    assert found.dtype == torch.float64
    rtol = 1e-12 if dtype == "float64" else 1e-5
    assert_allclose(found.numpy(), memory.score_samples(new), rtol=rtol)
    left_out = tensors.leave_one_out_scores()
    assert torch.is_tensor(left_out)
    assert_allclose(left_out.numpy(), memory.leave_one_out_scores(), rtol=rtol)
    draws = tensors.sample(4, 0)
    assert draws.dtype == kind
    assert_allclose(draws.numpy(), memory.sample(4, 0), rtol=rtol, atol=1e-6)
