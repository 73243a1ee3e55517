"""What torture found in the estimators, one test for each fault."""

from itertools import product

import numpy as np
import pytest
from scipy import linalg

import mercer
from mercer.discriminants import SparseKernelFisherDiscriminant
from mercer.graphs import neighbor_graph, reconstruction_weights
from mercer.samples._weights import as_counts
from mercer.spectral import (
    decompose_features,
    decompose_kernel,
    generalized_eigh,
    partial_cholesky,
    principal_axes,
    whiten,
)
from oracles import exact

rng = np.random.default_rng(0)
X = np.r_[rng.normal(0, 1, (6, 2)), rng.normal(4, 1, (6, 2))]
y = np.repeat([0, 1], 6)
CLASSIFIERS = [
    mercer.LaplacianClassifier(),
    mercer.ParzenClassifier(),
    mercer.ISEClassifier(),
    mercer.NearestAngleClassifier(),
    mercer.KernelFisherDiscriminant(),
    SparseKernelFisherDiscriminant(random_state=0),
]


# --- Weights --------------------------------------------------------------------------------


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("weight", [1e280, 1e-280])
def test_weights_without_products_are_refused_by_row(model, weight):
    weights = np.ones(12)
    weights[3] = weight
    with pytest.raises(ValueError, match=r"sample_weight contains .*280 in row 3: weights count"):
        model.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_from_1e_49_to_1e49_give_finite_answers(model, dtype):
    weights = 10.0 ** np.linspace(-49, 49, 12)
    model.fit(X.astype(dtype), y, sample_weight=weights)
    assert np.isfinite(model.decision_function(X.astype(dtype))).all()


def test_weights_beyond_float32_are_summed_in_float64():
    weights = np.where(y == 0, 1e60, 2e60)
    single = mercer.ParzenClassifier(bandwidth=1.0).fit(X.astype(np.float32), y, weights)
    double = mercer.ParzenClassifier(bandwidth=1.0).fit(X, y, weights)
    np.testing.assert_array_equal(single.predict(X.astype(np.float32)), double.predict(X))
    append = mercer.LaplacianClassifier(bandwidth=1.0, rule="append")
    append.fit(X.astype(np.float32), y, weights)
    assert np.isfinite(append.decision_function(X.astype(np.float32))).all()


def test_a_light_class_has_the_width_of_its_rows():
    weights = np.where(y == 0, 0.1, 1.0)
    model = mercer.ParzenClassifier(bandwidth="silverman", per_class=True).fit(X, y, weights)
    expected = mercer.bandwidth.silverman_bandwidth(X[y == 0])
    assert model.bandwidth_[0] == pytest.approx(expected)


# --- Classifiers ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_window_that_reaches_one_class_only_has_a_finite_decision(dtype):
    model = mercer.ParzenClassifier(kernel="epanechnikov", bandwidth=1.0).fit(X.astype(dtype), y)
    decision = model.decision_function(X.astype(dtype))
    assert np.isfinite(decision).all()
    assert ((decision > 0) == y).all()


def test_append_where_the_point_outweighs_its_class():
    """1 − V/V' was lost where V is small beside x, and the score with it."""
    rows = np.array([[0.0], [0.3], [1.0], [1.4]])
    model = mercer.LaplacianClassifier(bandwidth=1.0, rule="append")
    y, weights = np.array([0, 0, 1, 1]), np.array([1e-60, 1e-60, 1.5, 1.0])
    model.fit(rows, y, sample_weight=weights)
    cuts, _ = exact.Classes(rows, y, as_counts(weights), [[30.0]], 1.0).appended_cuts()
    expected = 4 * float(exact.log(cuts[0][0]) - exact.log(cuts[0][1]))
    assert model.decision_function([[30.0]]) == pytest.approx(expected, rel=1e-6, abs=0)


def test_angles_of_cauchy_schwarz_far_away_in_single_precision():
    rows = X.astype(np.float32)
    model = mercer.ISEClassifier(bandwidth=1e-8, weighting="cauchy_schwarz").fit(rows, y)
    assert np.isfinite(model.decision_function(rows * np.float32(1e21))).all()


@pytest.mark.parametrize("scale", [1e160, 1e-160])
def test_cauchy_schwarz_and_exact_leave_one_out_at_any_scale(scale):
    for model in (
        mercer.ISEClassifier(weighting="cauchy_schwarz", bandwidth="silverman"),
        mercer.LaplacianClassifier(loo="exact"),
    ):
        plain = model.fit(X, y).predict(X)
        np.testing.assert_array_equal(model.fit(X * scale, y).predict(X * scale), plain)


def test_the_machine_of_margins_ends():
    """Bounds of 1e105 kept libsvm busy for ever where copies of a row are of two classes."""
    rows, weights = np.repeat(X, 2, axis=0), 10.0 ** np.linspace(-9, 9, 24)
    model = mercer.ISEClassifier(bandwidth=1.0, weighting="margin", C=1e100)
    with pytest.raises(ValueError, match=r"weighting='margin' did not converge .* lower C=1e\+100"):
        model.fit(rows, np.arange(24) % 2, sample_weight=weights)


@pytest.mark.filterwarnings("ignore:Column 0 spreads")
def test_the_machine_of_margins_beside_an_outlier():
    """Kernel values above 1, of distances by products, gave infinite duals."""
    rows = np.r_[X, [[1e12, 0.0]]]
    model = mercer.ISEClassifier(bandwidth=1.0, weighting="margin").fit(rows, np.r_[y, 1])
    plain = mercer.ISEClassifier(bandwidth=1.0, weighting="margin").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def test_bandwidths_follow_powers_of_two_to_the_bit():
    for power in (-600, -1, 3, 600):
        scaled = mercer.bandwidth.silverman_bandwidth(X[:4, :1] * 2.0**power)
        assert scaled == mercer.bandwidth.silverman_bandwidth(X[:4, :1]) * 2.0**power


def test_herding_where_squares_overflow():
    model = mercer.LaplacianClassifier(bandwidth=1e160, n_nodes=4).fit(X * 1e160, y)
    assert (model.predict(X * 1e160) == y).all()


# --- Discriminants --------------------------------------------------------------------------


def test_equal_rows_have_a_kernel_that_is_positive():
    """A constant kernel matrix was refused as not positive semi-definite, for its rounding."""
    model = mercer.KernelFisherDiscriminant(penalty="coef", alpha=1e-3).fit(
        np.zeros((40, 3)), [0, 1] * 20
    )
    np.testing.assert_allclose(model.predict_proba([[0.0, 0, 0]]), 0.5)
    mercer.KernelFisherDiscriminant().fit(np.full((40, 3), 0.1), [0, 1] * 20)


def test_rows_that_are_close_keep_the_digits_of_their_distance():
    """Products lose 1e-8 beside 1e8: the kernel of the near pair was 1 or 0 by chance."""
    rows = np.array([[0.0], [1e-8], [1.0], [1e8]])
    model = mercer.KernelFisherDiscriminant(gamma=1e15, alpha=1e-3).fit(rows, [0, 1, 0, 1])
    K = model._kernel.matrix(rows, rows)
    assert K[0, 1] == pytest.approx(np.exp(-0.1))
    machine = mercer.LaplacianSVC(gamma=1e15).fit(rows, [0, 1, 0, 1])
    assert machine.predict(rows).tolist() == [0, 1, 0, 1]


def test_a_laplacian_svc_far_from_the_origin():
    """The rbf kernel of an offset table was refused as not positive semidefinite."""
    plain = mercer.LaplacianSVC().fit(X, y).decision_function(X)
    shifted = mercer.LaplacianSVC().fit(X + 2.0**30, y).decision_function(X + 2.0**30)
    np.testing.assert_allclose(shifted, plain, atol=1e-2)


@pytest.mark.parametrize("alpha", [1e-300, 1e300])
@pytest.mark.parametrize("penalty", ["rkhs", "coef"])
def test_a_ridge_beyond_all_proportion(alpha, penalty):
    for seed in range(1, 5):
        rows = np.random.default_rng(seed).normal(size=(4, 1))
        for kernel, n_landmarks in product(["rbf", "laplacian", "linear"], [None, 2]):
            model = mercer.KernelFisherDiscriminant(
                kernel=kernel, gamma=5.0, alpha=alpha, penalty=penalty,
                n_landmarks=n_landmarks, random_state=0,
            )  # fmt: skip
            assert np.isfinite(model.fit(rows, [0, 0, 1, 1]).decision_function(rows)).all()
    model = SparseKernelFisherDiscriminant(alpha=alpha, penalty=penalty, random_state=0)
    assert np.isfinite(model.fit(X, y).decision_function(X)).all()


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_kernels_without_squares_are_refused_by_name(kernel):
    for model in (
        mercer.KernelFisherDiscriminant(kernel=kernel, gamma=1.0),
        SparseKernelFisherDiscriminant(kernel=kernel, gamma=1.0),
        mercer.LaplacianSVC(kernel=kernel, gamma=1.0),
    ):
        with pytest.raises(ValueError, match=f"kernel='{kernel}' takes values of size"):
            model.fit(X * 1e80, y)


def test_new_rows_beyond_a_polynomial_are_refused():
    for model in (
        mercer.KernelFisherDiscriminant(kernel="poly", gamma=1.0, alpha=0.1),
        mercer.LaplacianSVC(kernel="poly", gamma=1.0),
    ):
        model.fit(X, y)
        with pytest.raises(ValueError, match="X has rows so large that kernel='poly'"):
            model.predict(X * 1e140)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly"])
@pytest.mark.parametrize("penalty", ["rkhs", "coef"])
def test_sparse_fisher_on_rows_that_are_all_the_same(kernel, penalty):
    """No node raised the criterion: none was taken, and the fit failed on empty arrays."""
    for alpha in ("gcv", "loo", 1e-3):
        model = SparseKernelFisherDiscriminant(kernel=kernel, penalty=penalty, alpha=alpha)
        model.fit(np.zeros((8, 2)), [0] * 5 + [1] * 3)
        assert model.n_nodes_ == 1
        np.testing.assert_array_equal(model.predict([[0.0, 0.0]]), [0])


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_sparse_fisher_where_one_row_has_all_the_weight(kernel):
    """The scatter about an unweighted mean was rounding, and the nodes' matrix indefinite."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows, weights = rng.normal(size=(5, 8)), 10.0 ** rng.uniform(-49, 49, 5)
        rows[seed % 5] *= 1e12
        model = SparseKernelFisherDiscriminant(
            kernel=kernel, gamma="scale", penalty="coef", alpha="gcv"
        )
        model.fit(rows, [0, 1, 0, 1, 0], sample_weight=weights)
        assert np.isfinite(model.decision_function(rows)).all()


def test_sparse_fisher_within_classes_that_have_no_scatter():
    """Scatter within classes, a difference, was indefinite by rounding, and gains overflowed."""
    rows = np.array([[-1.6, 0], [-0.16, -0.8], [0.2, 0.95], [2.4, 0], [0, 0], [0, 0.3]])
    weights = [2.7, 9e-6, 4e12, 3e-7, 5e26, 2e-30]
    model = SparseKernelFisherDiscriminant(
        kernel="poly", gamma=1e28, alpha=1e-3, penalty="coef", criterion="within", scatter="sum"
    )
    model.fit(rows, [2, 2, 0, 0, 1, 1], sample_weight=weights)
    assert np.isfinite(model.decision_function(rows)).all()


def test_features_without_variance_have_an_empty_basis():
    basis = decompose_features(np.ones((5, 2)), np.full(5, 0.2))
    residuals, _ = basis.residuals(np.arange(5.0)[:, None] - 2, np.array([0.1, 1.0]))
    np.testing.assert_allclose(residuals[0, :, 0], np.arange(5.0) - 2)


def test_directions_that_a_kernel_does_not_have_get_no_coefficients():
    basis = decompose_kernel(np.ones((4, 4)), np.full(4, 0.25))
    assert (basis.coefficients(np.array([[1.0], [-1.0], [1.0], [-1.0]]), 1e-300) == 0).all()


# --- Projections ----------------------------------------------------------------------------

PROJECTIONS = [
    mercer.LocalityPreservingProjection(),
    mercer.RoweisSaulProjection(constraint="unit_covariance"),
    mercer.LaplacianEigenmaps(),
    mercer.LaplacianFeatureMap(),
]


@pytest.mark.parametrize("model", PROJECTIONS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("power", [-490, 490])
def test_projections_at_the_ends_of_the_range(model, power):
    plain = model.fit(X, y).transform(X)
    np.testing.assert_array_equal(model.fit(X * 2.0**power, y).transform(X * 2.0**power), plain)


@pytest.mark.parametrize(
    "model",
    [*PROJECTIONS, mercer.LaplacianSVC(), mercer.KernelFisherDiscriminant()],
    ids=lambda m: type(m).__name__,
)
def test_numbers_without_squares_are_refused_by_column(model):
    large = X.copy()
    large[3, 1] = 1e160
    with pytest.raises(ValueError, match=r"X contains 1e\+160 in row 3, column 1: numbers beyond"):
        model.fit(large, y)
    with pytest.raises(ValueError, match=r"X varies by .* at most: differences below 1e-150"):
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
    A = np.eye(18) + 1e-40
    assert generalized_eigh(A, n_components=2, which="largest")[0].shape == (2,)


def test_feature_map_refuses_a_bandwidth_without_square():
    with pytest.raises(ValueError, match="bandwidth=1e-200 has no square"):
        mercer.LaplacianFeatureMap(bandwidth=1e-200).fit(X)


def test_reconstruction_of_rows_that_are_very_close():
    rows = np.array([[0.0], [1e-170], [3e-170]])
    graph = neighbor_graph(rows * 1e150, n_neighbors=2)
    W = reconstruction_weights(rows, graph, reg=1e-9).toarray()
    np.testing.assert_allclose(W, [[0, 1.5, -0.5], [2 / 3, 0, 1 / 3], [-2, 3, 0]], atol=1e-6)


def test_principal_axes_of_equal_rows_hold_no_share():
    assert principal_axes(np.zeros((3, 2)), 0.9)[1].size == 0


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


def test_machines_where_the_penalty_outweighs_the_norm():
    """Beside a large smoothness the identity was lost, and Cholesky's factor with it."""
    F = 1e10 * np.array([[1.0, 1.0], [1.0, 1.0], [0.5, 0.5]])
    S = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-15]]) * 1e20  # rounding made it indefinite
    with pytest.raises(linalg.LinAlgError):
        linalg.cholesky(np.eye(2) + S)
    assert np.isfinite(whiten(F, S, 1.0).G).all()
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
    with pytest.raises(ValueError, match="The kernel is 0 for all rows"):
        partial_cholesky(np.zeros(3), lambda i: np.zeros(3), 2, np.random.default_rng(0))


def test_weights_on_rows_whose_kernels_underflow():
    """A step of the Cauchy–Schwarz weights left no kernel between classes, and divided by it."""
    x = np.array([0.0, -1, -1, -1, -1, 2, 0, 0, -3])[:, None]
    labels = [2, 2, 0, 2, 0, 1, 2, 0, 1]
    model = mercer.ISEClassifier(bandwidth=0.025118864315095794, weighting="cauchy_schwarz", C=1e6)
    assert np.isfinite(model.fit(x, labels).decision_function(x)).all()
