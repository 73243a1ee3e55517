"""Projections are fitted in memory and project Dask arrays block by block."""

import numpy as np
import pytest

from lazy import cut, labelled
from mercer import (
    LaplacianEigenmaps,
    LaplacianFeatureMap,
    LaplacianSupportVectorAnalysis,
    LaplacianSVC,
    LocalityPreservingProjection,
    LocallyLinearEmbedding,
    RoweisSaulProjection,
)

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

PROJECTIONS = [
    LaplacianEigenmaps(),
    LaplacianFeatureMap(2),
    LaplacianSupportVectorAnalysis(n_components=2, loss="squared_hinge"),
    LaplacianSupportVectorAnalysis(n_components=2, loss="squared_hinge", kernel="rbf"),
    LocalityPreservingProjection(n_components=2),
    LocallyLinearEmbedding(),
    RoweisSaulProjection(n_components=2),
]


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("model", PROJECTIONS, ids=str)
def test_transform_by_blocks(model):
    X, y = labelled(80, n_features=4)
    new, _ = labelled(30, n_features=4, seed=1)
    model.fit(X, y)
    lazy = model.transform(cut(new))
    assert isinstance(lazy, da.Array)
    assert lazy.shape == (30, 2)
    np.testing.assert_allclose(lazy, model.transform(new), rtol=1e-9, atol=1e-9)
    if hasattr(model, "inverse_transform") and getattr(model, "kernel", "linear") == "linear":
        back = model.inverse_transform(lazy)
        expected = model.inverse_transform(model.transform(new))
        np.testing.assert_allclose(back, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_support_vector_machine_by_blocks(n_classes):
    X, y = labelled(80, n_classes=n_classes)
    model = LaplacianSVC().fit(X, y)
    np.testing.assert_array_equal(model.predict(cut(X)), model.predict(X))
    expected = model.decision_function(X)
    np.testing.assert_allclose(model.decision_function(cut(X)), expected, rtol=1e-9)


@pytest.mark.parametrize("model", [*PROJECTIONS, LaplacianSVC()], ids=str)
def test_fits_refuse_in_one_sentence(model):
    X, y = labelled(40)
    with pytest.raises(ValueError, match=r"\.fit takes no Dask array: .*; fit rows in memory"):
        model.fit(cut(X), y)


@pytest.mark.usefixtures("dispatch")
def test_what_was_fitted_on_tensors_answers_no_blocks(torch):
    X, y = labelled(80)
    model = LaplacianFeatureMap(2).fit(torch.tensor(X), y)
    with pytest.raises(ValueError, match="X is a Dask array and what was fitted is a tensor"):
        model.transform(cut(X))
