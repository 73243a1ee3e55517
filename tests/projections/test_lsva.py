"""Laplacian support vector analysis against the literal algorithms and explicit maps."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from mercer.projections import LaplacianSupportVectorAnalysis, LaplacianSVC
from oracles import projections as oracle

LOSSES = ["hinge", "squared_hinge", "squared_error"]
K, WIDTH = 5, 1.5


def data(seed=0, n=60, d=4, classes=3, unlabelled=0):
    """Classes that overlap a little, in every direction."""
    X, y = make_blobs(n, d, centers=classes, cluster_std=4.0, random_state=seed)
    y[np.random.default_rng(seed).permutation(n)[:unlabelled]] = -1
    return X / X.std(), y


def model(**parameters):
    defaults = {"n_components": 2, "C": 2.0, "laplacian_weight": 0.5, "n_neighbors": K}
    return LaplacianSupportVectorAnalysis(
        **{**defaults, "affinity_width": WIDTH, "tol": 1e-8, **parameters}
    )


def graph(X):
    return oracle.laplacian(oracle.heat_or_graph(X, K, WIDTH))


def assert_same(Z, expected, atol=1e-8):
    np.testing.assert_allclose(
        oracle.align_signs(Z, expected), expected, atol=atol * np.abs(expected).max()
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weight", [0.0, 0.5, 20.0])
@pytest.mark.parametrize("unlabelled", [0, 30])
def test_linear_is_algorithm_1(loss, weight, unlabelled):
    X, y = data(unlabelled=unlabelled)
    ours = model(loss=loss, laplacian_weight=weight).fit(X, y)
    problems = oracle.one_versus_all(y, ours.direction_classes_)
    W = oracle.lsva(X, problems, graph(X), weight, 2.0, loss)
    assert_same(ours.components_.T, W)
    assert_same(ours.transform(X), X @ W)
    assert ours.direction_classes_.tolist() == [0, 1]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("unlabelled", [0, 30])
def test_kernel_is_algorithm_1_on_the_explicit_map(loss, unlabelled):
    X, y = data(unlabelled=unlabelled)
    new = data(seed=7)[0]
    ours = model(loss=loss, kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    problems = oracle.one_versus_all(y, ours.direction_classes_)
    W = oracle.lsva(oracle.quadratic_map(X), problems, graph(X), 0.5, 2.0, loss)
    assert_same(ours.transform(X), oracle.quadratic_map(X) @ W)
    assert_same(ours.transform(new), oracle.quadratic_map(new) @ W)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("loss", LOSSES)
def test_lengths_turn_projections_into_outputs_of_the_machines(loss, kernel):
    """The first direction is a Laplacian SVM, whose output is the length times z and an offset."""
    X, y = data(classes=2)
    shared = {"kernel": kernel, "gamma": 0.7, "loss": loss, "C": 2.0, "tol": 1e-8}
    ours = model(**shared).fit(X, y)
    rest = {"laplacian_weight": 0.5, "n_neighbors": K, "affinity_width": WIDTH}
    svc = LaplacianSVC(**shared, **rest, normalized=False)
    output = svc.fit(X, y).decision_function(X) - svc.intercept_[0]
    projected = ours.transform(X)[:, 0] * ours.lengths_[0]
    difference = projected - output  # the same but for a common offset
    np.testing.assert_allclose(difference - difference.mean(), 0, atol=1e-6 * np.ptp(output))
    assert ours.lengths_.shape == (2,)
    assert (ours.lengths_ > 0).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_kernel_is_algorithm_2_with_exact_deflation(loss):
    X, y = data(n=40)
    new = data(seed=7)[0]
    ours = model(loss=loss, kernel="rbf", gamma=0.7).fit(X, y)
    problems = oracle.one_versus_all(y, ours.direction_classes_)
    duals, Z, Z_new = oracle.kernel_lsva(
        rbf_kernel(X, gamma=0.7), problems, graph(X), 0.5, 2.0, loss, rbf_kernel(new, X, gamma=0.7)
    )
    assert_same(ours.transform(X), Z, 1e-6)
    assert_same(ours.transform(new), Z_new, 1e-6)
    printed = model(loss=loss, kernel="rbf", gamma=0.7, readout="printed").fit(X, y)
    assert_same(printed.transform(X), rbf_kernel(X, gamma=0.7) @ duals, 1e-6)
    assert_same(printed.dual_directions_, duals, 1e-6)


@settings(max_examples=20)
@given(st.integers(0, 1000), st.sampled_from(LOSSES), st.floats(0, 50))
def test_directions_are_orthonormal_in_feature_space(seed, loss, weight):
    X, y = data(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = model(kernel="rbf", gamma=0.5, n_components=6, loss=loss, laplacian_weight=weight)
        ours.fit(X, y)
    A = ours.dual_coef_
    inner = A.T @ rbf_kernel(X, gamma=0.5) @ A
    np.testing.assert_allclose(inner, np.eye(A.shape[1]), atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_normalised_laplacian_is_in_the_place_of_the_plain_one(kernel):
    X, y = data(unlabelled=30)
    ours = model(kernel=kernel, gamma=0.7, normalized=True).fit(X, y)
    L = oracle.normalized_laplacian(oracle.heat_or_graph(X, K, WIDTH))
    problems = oracle.one_versus_all(y, ours.direction_classes_)
    if kernel == "linear":  # of rows about their mean, so that the origin says nothing
        assert_same(ours.components_.T, oracle.lsva(X - X.mean(axis=0), problems, L, 0.5, 2.0))
    else:
        Z = oracle.kernel_lsva(rbf_kernel(X, gamma=0.7), problems, L, 0.5, 2.0)[1]
        assert_same(ours.transform(X), Z, 1e-6)


def test_linear_kernel_is_the_linear_form():
    X, y = data()
    linear = model().fit(X, y)
    # The same kernel under another name takes the other road: factors, duals, kernel sums.
    kernel = model(kernel="poly", degree=1, gamma=1.0).fit(X, y)
    assert_same(kernel.transform(X), linear.transform(X))


def test_more_columns_than_rows_are_solved_among_the_rows():
    X, y = data(n=40, d=4)
    lift = np.linalg.qr(np.random.default_rng(0).normal(size=(300, 4)))[0].T
    low, high = model().fit(X, y), model().fit(X @ lift, y)
    assert_same(high.transform(X @ lift), low.transform(X))
    np.testing.assert_allclose(high.components_ @ high.components_.T, np.eye(2), atol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_path_equals_separate_fits(kernel):
    X, y = data()
    weights = [0.0, 0.1, 3.0, 100.0]
    path = model(kernel=kernel).fit_path(X, y, weights)
    for one, weight in zip(path, weights, strict=True):
        alone = model(kernel=kernel, laplacian_weight=weight).fit(X, y)
        assert one.get_params() == alone.get_params()
        assert_same(one.transform(X), alone.transform(X))
        assert one.n_features_in_ == 4


def test_a_fit_after_a_path_knows_nothing_of_the_path():
    X, y = data()
    (one,) = model(kernel="linear").fit_path(X, y, [1.0])
    again = one.set_params(kernel="rbf").fit(X, y)
    assert vars(again).keys() == vars(model(kernel="rbf").fit(X, y)).keys()


def test_printed_readout_is_a_shear():
    X, y = data()
    ours = model(kernel="rbf").fit(X, y)
    printed = model(kernel="rbf", readout="printed").fit(X, y)
    T = np.linalg.lstsq(ours.transform(X), printed.transform(X), rcond=None)[0]
    np.testing.assert_allclose(T, np.triu(T), atol=1e-8)
    np.testing.assert_allclose(np.diag(T), 1, atol=1e-8)
    assert np.abs(np.triu(T, 1)).max() > 1e-3


def test_all_landmarks_are_the_exact_kernel():
    X, y = data()
    exact = model(kernel="rbf").fit(X, y)
    landmarks = model(kernel="rbf", landmarks=60, random_state=0).fit(X, y)
    assert_same(landmarks.transform(X), exact.transform(X), 1e-6)


def test_few_landmarks_are_near():
    X, y = data(n=300)
    exact = model(kernel="rbf", gamma=0.05).fit(X, y).transform(X)
    few = model(kernel="rbf", gamma=0.05, landmarks=60, random_state=0).fit(X, y)
    assert few.X_fit_.shape == (60, 4)
    assert_same(few.transform(X), exact, 0.02)


def test_landmarks_are_what_random_state_says():
    X, y = data()
    one, two, other = (
        model(kernel="rbf", landmarks=10, random_state=seed).fit(X, y) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.X_fit_, two.X_fit_)
    assert not np.array_equal(one.X_fit_, other.X_fit_)


def test_orders_of_classes():
    X, y = data(n=90)
    y[:20] = 2  # the largest
    orders = {
        order: model(loss="squared_hinge", n_components=4, class_order=order, random_state=1)
        .fit(X, y)
        .direction_classes_.tolist()
        for order in ("cycle", "largest", "random")
    }
    assert orders["cycle"] == [0, 1, 2, 0]
    assert orders["largest"] == [0, 1, 2, 2]
    assert orders["random"][:3] == [0, 1, 2]
    more = model(
        kernel="rbf", loss="squared_hinge", n_components=12, class_order="random", random_state=1
    ).fit(X, y)
    assert set(more.direction_classes_[3:]) == {0, 1, 2}
    assert more.direction_classes_[3:].tolist() != [0, 1, 2] * 3


def test_degenerate_steps_end_with_a_warning():
    # Every row has a mirror image of the same class: along the second column nothing separates.
    rng = np.random.default_rng(0)
    half = rng.normal(size=(40, 2))
    X = np.vstack([half, half * [1, -1]])
    y = (X[:, 0] > 0).astype(int)
    with pytest.warns(ConvergenceWarning, match="Found 1 of 2 directions"):
        hinge = model(laplacian_weight=0.0).fit(X, y)
    assert hinge.n_components_ == 1
    assert hinge.transform(X).shape == (80, 1)
    np.testing.assert_allclose(hinge.components_, [[1, 0]], atol=1e-6)
    assert hinge.get_feature_names_out().tolist() == ["laplaciansupportvectoranalysis0"]


def test_an_exhausted_class_is_skipped_and_the_others_go_on():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.repeat([0, 1, 2], 30)
    X[y == 0] += [8, 0]  # class 0 is apart along one axis; 1 and 2 along the other
    X[y == 1] += [0, 8]
    ours = model(n_components=2, laplacian_weight=0.0).fit(X, y)
    assert len(set(ours.direction_classes_)) == 2


def test_no_direction_at_all_is_an_error():
    X, y = data()
    with pytest.raises(ValueError, match="squared_hinge"):
        model(C=1e-9).fit(X, y)


def test_two_classes_by_default_give_one_direction():
    X, y = data(classes=2)
    ours = LaplacianSupportVectorAnalysis().fit(X, y)
    assert ours.components_.shape == (1, 4)
    assert ours.direction_classes_.tolist() == [1]
    projected = ours.transform(X)[:, 0]
    assert projected[y == 1].mean() > projected[y == 0].mean()


def test_inverse_transform_is_the_nearest_row():
    X, y = data()
    ours = model(n_components=2, loss="squared_hinge").fit(X, y)
    back = ours.inverse_transform(ours.transform(X))
    np.testing.assert_allclose(ours.transform(back), ours.transform(X), atol=1e-10)
    complement = np.eye(4) - ours.components_.T @ ours.components_
    np.testing.assert_allclose(back @ complement, np.tile(X.mean(axis=0) @ complement, (60, 1)))
    full = model(n_components=4, loss="squared_hinge").fit(X, y)
    np.testing.assert_allclose(full.inverse_transform(full.transform(X)), X, atol=1e-10)
    with pytest.raises(ValueError, match="kernel='linear'"):
        model(kernel="rbf").fit(X, y).inverse_transform(np.zeros((1, 2)))


def test_place_does_not_matter_and_scale_of_the_graph_follows():
    X, y = data()
    one = model(affinity_width="median").fit(X, y)
    two = model(affinity_width="median").fit(X + 1e4, y)
    np.testing.assert_allclose(two.affinity_width_, one.affinity_width_, rtol=1e-8)
    assert_same(two.components_.T, one.components_.T, 1e-6)


def test_a_kernel_of_ones_own():
    X, y = data()
    named = model(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    own = model(kernel=lambda a, b: (a @ b + 1) ** 2).fit(X, y)
    np.testing.assert_allclose(own.transform(X[:5]), named.transform(X[:5]), atol=1e-8)
    np.testing.assert_allclose(
        named.transform(X), polynomial_kernel(X, X, 2, 1.0, 1.0) @ named.dual_coef_, atol=1e-8
    )


def test_a_kernel_that_is_none_is_refused():
    X, y = data()
    with pytest.raises(ValueError, match="Mercer kernel"):
        model(kernel=lambda a, b: -float(((a - b) ** 2).sum()) + 1.0).fit(X, y)
