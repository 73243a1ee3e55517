"""Agreement with tapkee, an independent library in C++, where it is installed.

tapkee 1.4.0 fills one triangle of the matrices of its eigenproblems and solves with the other, so
that it loses what is off the diagonal: on general data its embedding is a selection of columns.
The data here have all their mirror images, which makes these matrices diagonal; what is compared
is then graph, weights and the order of the eigenvalues.
"""

import itertools

import numpy as np
import pytest

from mercer.projections import LocalityPreservingProjection, RoweisSaulProjection
from oracles import projections as oracle

tapkee = pytest.importorskip("tapkee", reason="tapkee is not installed")


@pytest.fixture(params=range(5))
def X(request):  # noqa: N802
    rng = np.random.default_rng(request.param)
    some = np.abs(rng.normal(size=(12, 4))) ** rng.uniform(0.5, 2, size=4)
    mirrors = np.array(list(itertools.product([-1, 1], repeat=4)))
    return np.vstack([some * mirror for mirror in mirrors])


def embed(X, method, **parameters):
    return tapkee.embed(
        np.asfortranarray(X.T),
        method=method,
        num_neighbors=8,
        target_dimension=3,
        neighbors_method="brute",
        eigen_method="dense",
        check_connectivity=False,
        **parameters,
    )


def assert_same_up_to_scale(Z, theirs):
    Z, theirs = Z / np.linalg.norm(Z, axis=0), theirs / np.linalg.norm(theirs, axis=0)
    np.testing.assert_allclose(oracle.align_signs(Z, theirs), theirs, atol=1e-8)


def test_locality_preserving_projection(X):
    theirs = embed(X, "lpp", gaussian_kernel_width=4.0)  # exp(−d²/4), W + Wᵀ
    ours = LocalityPreservingProjection(
        n_components=3, n_neighbors=8, affinity_width=np.sqrt(2.0), symmetry="mean"
    )
    assert_same_up_to_scale(ours.fit_transform(X), theirs)


def test_neighbourhood_preserving_embedding(X):
    theirs = embed(X, "npe")
    ours = RoweisSaulProjection(
        n_components=3, n_neighbors=8, neighborhood="knn", constraint="unit_covariance"
    )
    assert_same_up_to_scale(ours.fit_transform(X), theirs)
