"""Rows, kernels and penalties at the ends of floating point, each a fault that torture found."""

import numpy as np
import pytest

import mercer

rng = np.random.default_rng(0)
X = np.r_[rng.normal(0, 1, (6, 2)), rng.normal(4, 1, (6, 2))]
y = np.repeat([0, 1], 6)
PROJECTIONS = [
    mercer.LocalityPreservingProjection(),
    mercer.RoweisSaulProjection(constraint="unit_covariance"),
    mercer.LaplacianEigenmaps(),
    mercer.LaplacianFeatureMap(),
    mercer.LocallyLinearEmbedding(),
]


@pytest.mark.parametrize("model", PROJECTIONS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("power", [-490, 490])
def test_projections_at_the_ends_of_the_range(model, power):
    plain = model.fit(X, y).transform(X)
    np.testing.assert_array_equal(model.fit(X * 2.0**power, y).transform(X * 2.0**power), plain)


@pytest.mark.parametrize(
    "model",
    [*PROJECTIONS, mercer.LaplacianSVC()],
    ids=lambda m: type(m).__name__,
)
def test_numbers_without_squares_are_refused_by_column(model):
    large = X.copy()
    large[3, 1] = 1e160
    with pytest.raises(
        ValueError, match=r"X contains 1e\+160 in row 3, column 1: squares of numbers beyond"
    ):
        model.fit(large, y)
    with pytest.raises(
        ValueError, match=r"X varies by .* at most: squares of differences below 1e-150"
    ):
        model.fit(X * 1e-160, y)


def test_eigenmaps_of_rows_that_are_all_the_same():
    """A vector of value nought was divided by that value."""
    maps = mercer.LaplacianEigenmaps().fit(np.zeros((5, 2)))
    assert (maps.transform(np.zeros((2, 2))) == 0).all()
    assert (maps.embedding_ == 0).all()
    wide = mercer.LaplacianEigenmaps(neighborhood="radius", radius=1e200).fit(X)
    assert np.isfinite(wide.transform(X)).all()


def test_feature_map_where_lapack_loses_eigenvalues():
    rows = np.random.default_rng((1, 1)).normal(size=(18, 40))
    coordinates = mercer.LaplacianFeatureMap(1, bandwidth=0.2).fit_transform(rows)
    assert coordinates.shape == (18, 1)
    assert np.isfinite(coordinates).all()


def test_feature_map_refuses_a_bandwidth_without_square():
    with pytest.raises(ValueError, match="bandwidth=1e-200 is too extreme"):
        mercer.LaplacianFeatureMap(bandwidth=1e-200).fit(X)


@pytest.mark.parametrize("model", PROJECTIONS[:2], ids=lambda m: type(m).__name__)
def test_a_constant_column_has_no_direction(model):
    """What rounding left of its mean was a direction along which no neighbours differ."""
    column = np.full((12, 1), 1e12 / 3)
    plain = model.fit(X, y).eigenvalues_
    np.testing.assert_allclose(model.fit(np.hstack([X, column]), y).eigenvalues_, plain)
    with pytest.raises(ValueError, match="X has no variance: all rows are the same"):
        model.fit(np.repeat(column, 3, axis=1), y)


def test_unit_length_where_directions_are_long():
    model = mercer.LocalityPreservingProjection(unit_length=True)
    plain = model.fit(X, y).components_
    np.testing.assert_array_equal(model.fit(X * 2.0**-490, y).components_, plain)


def test_lpp_says_who_has_no_neighbours():
    with pytest.raises(ValueError, match="neighborhood='class' joins 3 of 3 rows to no other"):
        mercer.LocalityPreservingProjection(neighborhood="class").fit(X[:3], [0, 1, 2])


def test_a_laplacian_svc_far_from_the_origin():
    """The rbf kernel of an offset table was refused as not positive semidefinite."""
    plain = mercer.LaplacianSVC().fit(X, y).decision_function(X)
    shifted = mercer.LaplacianSVC().fit(X + 2.0**30, y).decision_function(X + 2.0**30)
    np.testing.assert_allclose(shifted, plain, atol=1e-2)


def test_machines_where_the_penalty_outweighs_the_norm():
    """Beside a large smoothness the identity was lost, and Cholesky's factor with it."""
    wild = np.r_[X, [[1e9, -1e9]]]
    for options in ({"loss": "squared_hinge", "C": 1e6}, {"laplacian_weight": 1e6}):
        machine = mercer.LaplacianSVC(kernel="linear", **options).fit(wild, np.r_[y, 1])
        assert np.isfinite(machine.decision_function(wild)).all()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_machines_on_rows_that_are_all_the_same(loss, kernel, capfd):
    """BLAS printed a complaint about an empty matrix."""
    machine = mercer.LaplacianSVC(kernel=kernel, loss=loss, C=1e6).fit(
        np.ones((5, 9)), [0, 0, 0, 1, 1]
    )
    assert machine.predict(np.ones((1, 9))) == [0]
    assert capfd.readouterr() == ("", "")


def test_landmarks_of_kernels_that_are_nought():
    """A row of zeros has cosine 0 with itself."""
    rows = np.r_[X, [[0.0, 0.0]]]
    for seed in range(8):
        machine = mercer.LaplacianSVC(kernel="cosine", landmarks=2, random_state=seed)
        assert np.isfinite(machine.fit(rows, np.r_[y, 0]).decision_function(rows)).all()


def test_rows_that_are_close_keep_the_digits_of_their_distance():
    """Products lose 1e-8 beside 1e8: the kernel of the near pair was 1 or 0 by chance."""
    rows = np.array([[0.0], [1e-8], [1.0], [1e8]])
    machine = mercer.LaplacianSVC(gamma=1e15).fit(rows, [0, 1, 0, 1])
    assert machine.predict(rows).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_kernels_without_squares_are_refused_by_name(kernel):
    with pytest.raises(ValueError, match=f"kernel='{kernel}' takes values of size"):
        mercer.LaplacianSVC(kernel=kernel, gamma=1.0).fit(X * 1e80, y)


def test_new_rows_beyond_a_polynomial_are_refused():
    machine = mercer.LaplacianSVC(kernel="poly", gamma=1.0).fit(X, y)
    with pytest.raises(ValueError, match="X has rows so large that kernel='poly'"):
        machine.predict(X * 1e140)
