"""Measures of Dask arrays, with weights and rules for bandwidths."""

import numpy as np
import pytest

from lazy import cut, cut_elsewhere, labelled
from mercer import information

dask = pytest.importorskip("dask")


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def _weights(n, seed=3):
    return np.random.default_rng(seed).choice([0.0, 0.5, 1.0], n)


@pytest.mark.parametrize("bandwidth", [0.5, "silverman", "silverman-amise", "scott",
                                       "likelihood-cv", "least-squares-cv"])  # fmt: skip
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_entropy(bandwidth, weighted, dtype):
    X, _ = labelled(60, dtype=dtype)
    weights = _weights(60) if weighted else None
    expected = information.renyi_quadratic_entropy(X, bandwidth=bandwidth, sample_weight=weights)
    lazy = cut_elsewhere(weights) if weighted else None
    value = information.renyi_quadratic_entropy(cut(X), bandwidth=bandwidth, sample_weight=lazy)
    assert value == pytest.approx(expected, rel=1e-9 if dtype == np.float64 else 1e-4)


@pytest.mark.parametrize("bandwidth", [0.5, "scott", (0.5, 0.8), ("silverman", "scott")])
@pytest.mark.parametrize("lazy", [(True, True), (True, False), (False, True)])
def test_two_samples(bandwidth, lazy):
    X, _ = labelled(60)
    Y, _ = labelled(50, seed=1)
    weights = {"sample_weight": _weights(60), "sample_weight_y": _weights(50)}
    expected = information.integrated_squared_error(X, Y, bandwidth=bandwidth, **weights)
    arrays = [cut(A) if is_lazy else A for A, is_lazy in zip((X, Y), lazy, strict=True)]
    value = information.integrated_squared_error(*arrays, bandwidth=bandwidth, **weights)
    assert value == pytest.approx(expected, rel=1e-9)


def test_windows_that_do_not_meet():
    X, _ = labelled(30)
    options = {"bandwidth": 0.1, "kernel": "epanechnikov"}
    assert information.log_cross_information_potential(cut(X), X + 99, **options) == -np.inf
    assert information.cross_information_potential(cut(X), X + 99, **options) == 0.0


@pytest.mark.parametrize("density", ["parzen", "mercer", None])
def test_laplacian_cut_without_rows_of_weight_zero(density):
    X, y = labelled(60)
    weights = _weights(60)
    weights[y == "class 2"] = 0
    options = {"bandwidth": 0.6, "density": density}
    expected = information.laplacian_information_cut(X, y, sample_weight=weights, **options)
    value = information.laplacian_information_cut(
        cut(X), cut_elsewhere(y), sample_weight=cut(weights), **options
    )
    assert value == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("n_columns", [1, 2])
def test_columns_of_weights(n_columns):
    X, y = labelled(30)
    weights = np.ones((30, n_columns))
    shape = rf"must have one entry for each of the 30 rows, got shape \(30, {n_columns}\)"
    for given in (weights, cut(weights)):
        with pytest.raises(ValueError, match=f"^sample_weight {shape}"):
            information.information_potential(cut(X), bandwidth=1.0, sample_weight=given)
        with pytest.raises(ValueError, match=f"^sample_weight {shape}"):
            information.laplacian_information_cut(cut(X), y, bandwidth=1.0, sample_weight=given)
        with pytest.raises(ValueError, match=f"^sample_weight_y {shape}"):
            information.information_cut(cut(X), cut(X), bandwidth=1.0, sample_weight_y=given)


def test_blocks_beside_tensors(torch):
    X, _ = labelled(30)
    y, weights = np.arange(30) % 3, np.linspace(1, 2, 30)
    expected = information.laplacian_information_cut(X, y, bandwidth=1.0, sample_weight=weights)
    labels, history = torch.tensor(y), torch.tensor(weights, requires_grad=True)
    for given in ((cut(X), labels, history), (torch.tensor(X), cut(y), cut(weights))):
        value = information.laplacian_information_cut(
            *given[:2], bandwidth=1.0, sample_weight=given[2]
        )
        assert float(value) == pytest.approx(expected, rel=1e-10)
    with pytest.raises(TypeError, match="X is a Dask array and Y a tensor on cpu: pass both as"):
        information.information_cut(cut(X), torch.tensor(X), bandwidth=1.0)
    with pytest.raises(TypeError, match="X is a tensor on cpu and Y a Dask array: pass both as"):
        information.information_cut(torch.tensor(X), cut(X), bandwidth=1.0)


def test_sentences():
    X, y = labelled(30)
    with pytest.raises(ValueError, match="two_sample_test takes no Dask array"):
        information.two_sample_test(X, cut(X))
    with pytest.raises(ValueError, match="k_sample_test takes no Dask array"):
        information.k_sample_test(cut(X), y)
    with pytest.raises(ValueError, match="sample_weight is zero everywhere"):
        information.information_potential(cut(X), bandwidth=1.0, sample_weight=np.zeros(30))
    bad = np.ones(30)
    bad[20] = -1
    with pytest.raises(ValueError, match="not negative, got -1 in row 20"):
        information.information_potential(cut(X), bandwidth=1.0, sample_weight=cut(bad))
    with pytest.raises(ValueError, match="one class for each of the 30 rows"):
        information.laplacian_information_cut(cut(X), y[:9], bandwidth=1.0)
