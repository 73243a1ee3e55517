"""Locality preserving and Roweis-Saul projections against dense eigenproblems and closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space, subspace_angles
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mercer.projections import LocalityPreservingProjection, RoweisSaulProjection
from oracles import projections as oracle

BOTH = [LocalityPreservingProjection, RoweisSaulProjection]


def data(seed=0, n=50, d=5, classes=4):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(classes, d))[y] + rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return X, y


def assert_same(components, expected, atol=1e-8):
    ours = oracle.align_signs(components.T, expected)
    np.testing.assert_allclose(ours, expected, atol=atol * np.abs(expected).max())


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_lpp_is_its_eigenproblem(seed):
    X, _ = data(seed)
    W = oracle.heat_or_graph(X, 5, 2.0)
    lpp = LocalityPreservingProjection(n_components=3, affinity_width=2.0).fit(X)
    assert_same(lpp.components_, oracle.lpp(X, W, 3))
    V, Xc = lpp.components_.T, X - X.mean(axis=0)
    D = np.diag(W.sum(axis=1))
    np.testing.assert_allclose(V.T @ Xc.T @ D @ Xc @ V, np.eye(3), atol=1e-9)
    smoothness = np.diag(V.T @ Xc.T @ oracle.laplacian(W) @ Xc @ V)
    np.testing.assert_allclose(lpp.eigenvalues_, smoothness, atol=1e-9)


@pytest.mark.parametrize("unit_covariance", [False, True])
@pytest.mark.parametrize("neighborhood", ["knn", "class_knn"])
def test_roweis_saul_is_its_eigenproblem(unit_covariance, neighborhood):
    X, y = data()
    E = oracle.knn_edges(X, 5, None if neighborhood == "knn" else y)
    W = oracle.reconstruction(X, E, 1e-3)
    ours = RoweisSaulProjection(
        n_components=3,
        neighborhood=neighborhood,
        constraint="unit_covariance" if unit_covariance else "orthonormal",
    ).fit(X, y)
    assert_same(ours.components_, oracle.roweis_saul(X, W, 3, unit_covariance))
    assert (np.diff(ours.eigenvalues_) > 0).all()


def test_perturbed_graphs():
    X, y = data()
    alpha, same = 0.8, y[:, None] == y
    extra = np.where(same, alpha, 1 - alpha)

    W = oracle.heat_or_graph(X, 5, 2.0)
    lpp = LocalityPreservingProjection(n_components=3, affinity_width=2.0, label_weight=alpha)
    assert_same(lpp.fit(X, y).components_, oracle.lpp(X, np.where(W > 0, W + extra, 0), 3))
    lpp.set_params(perturbation="printed")
    assert_same(lpp.fit(X, y).components_, oracle.lpp(X, W + extra, 3))

    E = oracle.knn_edges(X, 5)
    W = oracle.reconstruction(X, E, 1e-3)
    rs = RoweisSaulProjection(
        n_components=3, neighborhood="knn", label_weight=alpha, constraint="orthonormal"
    )
    edges = np.where(E, W + extra, 0)
    edges /= edges.sum(axis=1, keepdims=True)
    assert_same(rs.fit(X, y).components_, oracle.roweis_saul(X, edges, 3))
    rs.set_params(perturbation="printed")
    assert_same(rs.fit(X, y).components_, oracle.roweis_saul(X, W + extra, 3))  # eq. (14)


def test_uniform_weights_on_all_pairs_are_principal_components():  # [1] section 3.1
    X, _ = data()
    last = RoweisSaulProjection(
        n_components=2, neighborhood="knn", n_neighbors=50, weights="uniform",
        constraint="orthonormal",
    ).fit(X)  # fmt: skip
    pca = PCA().fit(X)
    assert_same(last.components_, pca.components_[::-1][:2].T)
    np.testing.assert_allclose(last.eigenvalues_ / 49, pca.explained_variance_[::-1][:2])


def test_uniform_weights_on_classes_are_fishers_discriminant():  # [1] section 3.2
    X, y = data()
    ours = RoweisSaulProjection(
        neighborhood="class", weights="uniform", constraint="unit_covariance"
    ).fit(X, y)
    assert ours.components_.shape == (3, 5)
    lda = LinearDiscriminantAnalysis(solver="svd").fit(X, y)
    theirs = lda.scalings_[:, :3] / np.linalg.norm(lda.scalings_[:, :3], axis=0)
    own = ours.components_ / np.linalg.norm(ours.components_, axis=1, keepdims=True)
    assert_same(own, theirs)


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("neighborhood", ["class", "class_knn"])
def test_graphs_of_classes_span_the_null_space_of_the_within_class_scatter(cls, neighborhood):
    X, y = data(n=20, d=100)
    ours = cls(neighborhood=neighborhood, n_neighbors=3).fit(X, y)
    assert ours.components_.shape == (3, 100)
    np.testing.assert_allclose(ours.eigenvalues_, 0, atol=1e-12 * np.square(X).sum())
    # Zero within classes, and inside of the span of the rows.
    axes = PCA().fit(X).components_[:19]
    inside = null_space(axes @ oracle.within_scatter(X, y) @ axes.T, rcond=1e-10)
    assert inside.shape[1] == 3
    angles = subspace_angles(ours.components_.T, axes.T @ inside)
    np.testing.assert_allclose(angles, 0, atol=1e-6)
    Z = ours.transform(X)
    for c in range(4):
        np.testing.assert_allclose(
            Z[y == c], Z[y == c][:1].repeat(5, 0), atol=1e-9 * np.abs(Z).max()
        )


def test_directions_of_value_zero_come_by_variance():
    X, y = data(n=20, d=100)
    Z = RoweisSaulProjection(n_components=3).fit_transform(X, y)
    covariance = Z.T @ Z
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-8)
    assert (np.diff(np.diag(covariance)) < 0).all()


@pytest.mark.parametrize(
    "projection",
    [
        LocalityPreservingProjection(neighborhood="class"),
        RoweisSaulProjection(constraint="unit_covariance"),
    ],
)
def test_with_the_variance_fixed_they_come_shortest_first(projection):
    V = projection.fit(*data(n=20, d=100)).components_
    inner = V @ V.T
    np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-8 * inner.max())
    assert (np.diff(np.diag(inner)) > 0).all()


@pytest.mark.parametrize("cls", BOTH)
def test_work_is_done_among_the_rows(cls, monkeypatch):
    X, y = data(n=30, d=3000)
    sizes = []
    import mercer.projections._linear_projection as module

    original = module.generalized_eigh
    monkeypatch.setattr(
        module, "generalized_eigh", lambda A, B=None: sizes.append(len(A)) or original(A, B)
    )
    cls(n_components=2).fit(X, y)
    assert sizes == [29]


@pytest.mark.parametrize("cls", BOTH)
def test_principal_front(cls):
    X, y = data(d=8)
    pca = PCA(4).fit(X)
    inside = cls(n_components=2, pca_components=4).fit(X, y)
    before = cls(n_components=2).fit(pca.transform(X), y)
    Z, expected = inside.transform(X), before.transform(pca.transform(X))
    np.testing.assert_allclose(oracle.align_signs(Z, expected), expected, atol=1e-8)


@pytest.mark.parametrize("cls", BOTH)
def test_transform_inverse_and_names(cls):
    X, y = data()
    ours = cls(n_components=2).set_output(transform="pandas").fit(X, y)
    Z = ours.transform(X)
    assert list(Z.columns) == [f"{cls.__name__.lower()}{i}" for i in range(2)]
    back = ours.inverse_transform(Z)
    np.testing.assert_allclose(ours.transform(back), Z, atol=1e-9)
    full = cls(n_components=5).fit(X, y)
    np.testing.assert_allclose(full.inverse_transform(full.transform(X)), X, atol=1e-9)


@pytest.mark.parametrize("cls", BOTH)
def test_no_more_directions_than_dimensions(cls):
    X, y = data(d=3)
    ours = cls(n_components=7).fit(np.hstack([X, X[:, :1]]), y)  # one column twice
    assert ours.n_components_ == 3


def test_unit_length():
    X, _ = data()
    plain = LocalityPreservingProjection(n_components=3).fit(X)
    unit = LocalityPreservingProjection(n_components=3, unit_length=True).fit(X)
    lengths = np.linalg.norm(plain.components_, axis=1, keepdims=True)
    np.testing.assert_allclose(unit.components_, plain.components_ / lengths)
    np.testing.assert_array_equal(unit.eigenvalues_, plain.eigenvalues_)


def test_constraint_follows_the_number_of_rows():
    assert RoweisSaulProjection().fit(*data(n=50, d=5)).constraint_ == "unit_covariance"
    assert RoweisSaulProjection().fit(*data(n=20, d=100)).constraint_ == "orthonormal"


def test_components_are_orthonormal_where_asked():
    X, y = data()
    V = RoweisSaulProjection(n_components=3, constraint="orthonormal").fit(X, y).components_
    np.testing.assert_allclose(V @ V.T, np.eye(3), atol=1e-10)


def test_orthogonal_directions_are_found_one_after_the_other():
    X, _ = data()
    W = oracle.reconstruction(X, oracle.knn_edges(X, 5), 1e-3)
    ours = RoweisSaulProjection(n_components=4, neighborhood="knn", constraint="orthogonal").fit(X)
    V, Xc = ours.components_.T, X - X.mean(axis=0)
    assert_same(V.T, oracle.orthogonal_npe(X, W, 4))
    np.testing.assert_allclose(V.T @ V, np.eye(4), atol=1e-10)
    ratio = np.square((Xc - W @ Xc) @ V).sum(axis=0) / np.square(Xc @ V).sum(axis=0)
    np.testing.assert_allclose(ours.eigenvalues_, ratio)
    assert (np.diff(ratio) > 0).all()


def test_orthogonal_directions_among_faces_are_the_null_space():
    X, y = data(n=20, d=100)
    one = RoweisSaulProjection(constraint="orthogonal").fit(X, y)
    two = RoweisSaulProjection(constraint="unit_covariance", unit_length=True).fit(X, y)
    assert_same(one.components_, two.components_.T, atol=1e-6)


@pytest.mark.parametrize("constraint", ["orthonormal", "unit_covariance", "orthogonal"])
def test_the_first_direction_is_left_out_as_printed(constraint):
    X, y = data()
    all_of_them = RoweisSaulProjection(n_components=3, constraint=constraint).fit(X, y)
    ours = RoweisSaulProjection(n_components=2, constraint=constraint, discard_first=True)
    ours.fit(X, y)
    np.testing.assert_allclose(ours.components_, all_of_them.components_[1:])
    np.testing.assert_allclose(ours.eigenvalues_, all_of_them.eigenvalues_[1:])
    assert ours.set_params(n_components=9).fit(X, y).n_components_ == 4
    with pytest.raises(ValueError, match="discard_first=True leaves no direction"):
        ours.fit(X[:, :1], y)


@pytest.mark.parametrize("cls", BOTH)
def test_a_graph_of_ones_own(cls):
    X, y = data()
    E = oracle.knn_edges(X, 5) | np.eye(50, dtype=bool)  # A row is never its own neighbour.
    named = cls(n_components=2, neighborhood="knn", n_neighbors=5).fit(X)
    for own in (E, csr_array(E.astype(float)), lambda rows: oracle.knn_edges(rows, 5)):
        ours = clone(cls(n_components=2, neighborhood=own)).fit(X)
        np.testing.assert_allclose(ours.components_, named.components_, atol=1e-10)
    assert not cls(neighborhood=E).__sklearn_tags__().target_tags.required
    with pytest.raises(ValueError, match="a row and a column for each of the 49"):
        cls(neighborhood=E).fit(X[1:], y[1:])
    unknown = E.astype(float)
    unknown[3, 7] = np.nan
    for own in (unknown, csr_array(unknown)):
        with pytest.raises(ValueError, match="has NaN in row 3, column 7"):
            cls(neighborhood=own).fit(X, y)
    with pytest.raises(ValueError, match="for neighborhood must hold numbers"):
        cls(neighborhood=np.where(E, "yes", "no")).fit(X, y)
    objects = cls(n_components=2, neighborhood=E.astype(object)).fit(X)
    np.testing.assert_allclose(objects.components_, named.components_, atol=1e-10)


@pytest.mark.parametrize("cls", BOTH)
def test_place_and_scale_do_not_matter(cls):
    X, y = data()
    one = cls(n_components=2).fit(X, y).transform(X)
    two = cls(n_components=2).fit(8 * X + 1000, y).transform(8 * X + 1000)
    two *= np.abs(one).max() / np.abs(two).max()
    np.testing.assert_allclose(oracle.align_signs(two, one), one, atol=1e-8 * np.abs(one).max())


def test_columns_of_very_different_scale_are_no_trouble():
    X, y = data()
    scales = np.array([1e6, 1, 1e-3, 1, 1])
    lda = {"neighborhood": "class", "weights": "uniform", "constraint": "unit_covariance"}
    one = RoweisSaulProjection(**lda).fit(X, y).transform(X)
    two = RoweisSaulProjection(**lda).fit(X * scales, y).transform(X * scales)
    np.testing.assert_allclose(oracle.align_signs(two, one), one, atol=1e-6)


def test_a_class_of_one_rebuilds_itself():
    X, y = data(n=20, d=100)
    y = y.copy()
    y[0] = 9
    ours = RoweisSaulProjection().fit(X, y)
    np.testing.assert_allclose(ours.eigenvalues_, 0, atol=1e-9)
    assert ours.components_.shape == (4, 100)


def test_a_radius_joins_some_rows_only():
    X, _ = data()
    D = oracle.squared_distances(X)
    radius = np.sqrt(np.quantile(D, 0.2))
    E = (radius**2 >= D) & ~np.eye(50, dtype=bool)
    W = np.where(E, np.exp(-D / 8), 0)
    lpp = LocalityPreservingProjection(
        n_components=2, neighborhood="radius", radius=radius, affinity_width=2.0
    ).fit(X)
    if (W.sum(axis=1) > 0).all():
        assert_same(lpp.components_, oracle.lpp(X, W, 2))
    rs = RoweisSaulProjection(
        n_components=2, neighborhood="radius", radius=radius, constraint="orthonormal"
    ).fit(X)
    assert_same(rs.components_, oracle.roweis_saul(X, oracle.reconstruction(X, E, 1e-3), 2))


@pytest.mark.parametrize("cls", BOTH)
def test_bad_input_has_a_sentence(cls):
    X, y = data()
    with pytest.raises(ValueError, match="y"):
        cls(neighborhood="class").fit(X)
    with pytest.raises(ValueError, match="label_weight"):
        cls(label_weight=1.5).fit(X, y)
    with pytest.raises(ValueError, match="no variance"):
        cls(n_components=1).fit(np.ones((5, 3)), [0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="Unknown label type"):
        cls(neighborhood="class").fit(X, np.linspace(0, 1, 50))
