"""``KernelFisherDiscriminant`` as an estimator: kernels, landmarks, weights, transform."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine, make_classification
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer.discriminants import KernelFisherDiscriminant, _exact, _expansion, _iterative
from mercer.discriminants._width import gamma_unit
from mercer.kernels import KernelFunction

WINE = load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def wine():
    X, y = WINE
    return StandardScaler().fit_transform(X), y


def test_wine_is_learned():
    model = make_pipeline(StandardScaler(), KernelFisherDiscriminant())
    assert cross_val_score(model, *WINE, cv=5).mean() > 0.97


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear"])
@pytest.mark.parametrize("penalty", ["rkhs", "coef"])
def test_kernels_by_name(wine, kernel, penalty):
    X, y = wine
    model = KernelFisherDiscriminant(kernel=kernel, penalty=penalty, degree=2).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.93
    assert (model.gamma_ is None) == (kernel == "linear")


@pytest.mark.parametrize("penalty", ["rkhs", "coef"])
@pytest.mark.parametrize("n_landmarks", [None, 30])
def test_callable_and_precomputed_kernels_agree_with_names(wine, penalty, n_landmarks):
    X, y = wine
    options = {"alpha": 1e-3, "penalty": penalty, "n_landmarks": n_landmarks, "random_state": 0}
    named = KernelFisherDiscriminant(kernel="laplacian", gamma=0.1, **options)

    def laplacian(A, B):
        return laplacian_kernel(A, B, gamma=0.1)

    called = KernelFisherDiscriminant(kernel=laplacian, **options)
    given = KernelFisherDiscriminant(kernel="precomputed", **options)
    expected = named.fit(X[::2], y[::2]).decision_function(X[1::2])
    np.testing.assert_allclose(called.fit(X[::2], y[::2]).decision_function(X[1::2]), expected)
    given.fit(laplacian(X[::2], X[::2]), y[::2])
    np.testing.assert_allclose(given.decision_function(laplacian(X[1::2], X[::2])), expected)


def test_a_kernel_of_the_wrong_shape_is_refused(wine):
    X, y = wine
    with pytest.raises(ValueError, match="kernel must return a matrix of shape"):
        KernelFisherDiscriminant(kernel=lambda A, B: np.ones(3)).fit(X, y)
    with pytest.raises(ValueError, match="square"):
        KernelFisherDiscriminant(kernel="precomputed").fit(X, y)


def test_an_indefinite_kernel_needs_the_other_penalty(wine):
    X, y = wine
    K = np.tanh(X @ X.T)
    with pytest.raises(ValueError, match="penalty='coef'"):
        KernelFisherDiscriminant(kernel="precomputed").fit(K, y)
    model = KernelFisherDiscriminant(kernel="precomputed", penalty="coef").fit(K, y)
    assert model.score(K, y) > 0.9


def test_weights_equal_repetition(wine):
    X, y = wine
    X, y = X[::3], y[::3]
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    for options in ({}, {"class_weight": "balanced"}, {"scatter": "total", "penalty": "rkhs"}):
        model = KernelFisherDiscriminant(**options)
        weighted = clone(model).fit(X, y, sample_weight=counts)
        repeated = clone(model).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
        assert weighted.gamma_ == pytest.approx(repeated.gamma_)
        assert weighted.alpha_ == pytest.approx(repeated.alpha_)
        np.testing.assert_allclose(
            weighted.decision_function(X), repeated.decision_function(X), rtol=1e-5, atol=1e-6
        )


def test_landmarks_on_nearly_all_rows_are_nearly_the_exact_fit(wine):
    X, y = wine
    exact = KernelFisherDiscriminant(gamma=0.05, alpha=1e-2).fit(X, y)
    near = KernelFisherDiscriminant(
        gamma=0.05, alpha=1e-2, n_landmarks=len(y) - 5, random_state=0
    ).fit(X, y)
    np.testing.assert_allclose(near.eigenvalues_, exact.eigenvalues_, rtol=0.02)
    np.testing.assert_allclose(near.predict_proba(X), exact.predict_proba(X), atol=0.05)
    assert len(near.support_) == len(y) - 5
    np.testing.assert_array_equal(near.X_fit_, X[near.support_])


# A kernel matrix of 256 rows in float64 is half a MiB.
SMALL_BUDGET = {"working_memory": 0.5}


@pytest.mark.parametrize("penalty", ["rkhs", "coef"])
def test_above_the_rows_that_are_solved_in_full_it_says_so_once(monkeypatch, penalty):
    """A matrix of 256 rows fits the memory; for "rkhs" steps reach 300 of them without one."""
    monkeypatch.setattr(_exact, "_LANDMARKS", 100)
    monkeypatch.setattr(_iterative, "_MOST_PAIRS", {False: 300**2})
    most = {"rkhs": 300, "coef": 256}[penalty]
    X, y = load_digits(return_X_y=True)
    X, new, y, new_y = X[:400] / 16, X[400:] / 16, y[:400], y[400:]
    model = KernelFisherDiscriminant(kernel="rbf", penalty=penalty, random_state=0)
    with config_context(**SMALL_BUDGET):
        sentence = f"X has 400 rows, more than the {most} .* expanded on 100 landmarks"
        with pytest.warns(UserWarning, match=sentence) as said:
            model.fit(X, y)
        assert len(said) == 1
        assert said[0].filename == __file__
        assert model.solver_ == "landmarks"
        assert len(model.support_) == 100
        assert model.score(new, new_y) > 0.8
        # No warning where nothing is decided for the user.
        model.set_params(gamma=model.gamma_, alpha=model.alpha_)
        for options, n_terms in (
            ({"n_landmarks": 30}, 30),
            ({"n_landmarks": None, "solver": "landmarks"}, 100),
            ({"n_landmarks": None, "solver": "exact"}, 400),
        ):
            assert len(model.set_params(**options).fit(X, y).support_) == n_terms
        assert len(model.set_params(solver="auto").fit(X[:256], y[:256]).support_) == 256
        assert model.solver_ == "exact"


def test_one_gibibyte_has_room_for_all_pairs_of_11_585_rows():
    with config_context(working_memory=1024):
        assert _exact.most_exact_rows(np.zeros((1, 1))) == 11_585
    assert 8 * 11_585**2 <= 2**30 < 8 * 11_586**2


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear"])
@pytest.mark.parametrize("penalty", ["rkhs", "coef"])
def test_on_many_rows_a_cholesky_factor_gives_what_eigenvectors_give(monkeypatch, kernel, penalty):
    X, y = make_classification(300, 6, n_informative=4, n_classes=3, random_state=1)
    model = KernelFisherDiscriminant(kernel=kernel, penalty=penalty)
    monkeypatch.setattr(_expansion, "BASIS_ROWS", 0)
    factored = clone(model).fit(X, y)
    results = factored.loo_results_
    row, column = results["best_index"]
    judged = ~np.isnan(results["score"][row])
    assert judged.sum() <= 3, "the ridge of the sample, and smaller ones while they are better"
    assert judged[column]
    assert results["alpha"][row, column] == pytest.approx(factored.alpha_)
    monkeypatch.undo()
    same = {"gamma": factored.gamma_ or "loo", "alpha": factored.alpha_}
    given = clone(model).set_params(**same).fit(X, y)
    expected = given.decision_function(X)
    room = 1e-6 * np.abs(expected).max()
    np.testing.assert_allclose(factored.decision_function(X), expected, atol=room)
    for name in ("score", "squared_error"):
        on_all = given.loo_results_[name][0, 0]
        assert results[name][row, column] == pytest.approx(on_all, rel=1e-5)


def test_a_matrix_without_a_factor_is_one_sentence(monkeypatch):
    monkeypatch.setattr(_expansion, "BASIS_ROWS", 0)
    monkeypatch.setattr(_expansion, "factor_kernel", lambda *_: None)
    with pytest.raises(ValueError, match=r"of 50 rows is not positive definite .* larger alpha"):
        KernelFisherDiscriminant(kernel="rbf").fit(np.arange(100.0).reshape(50, 2), [0, 1] * 25)


def test_transform_has_names_and_at_most_the_discriminants(wine):
    X, y = wine
    model = KernelFisherDiscriminant().fit(X, y)
    Z = model.transform(X)
    assert Z.shape == (len(X), 2)
    names = [f"kernelfisherdiscriminant{k}" for k in range(2)]
    assert list(model.get_feature_names_out()) == names
    one = KernelFisherDiscriminant(n_components=1).fit(X, y)
    np.testing.assert_allclose(one.transform(X), Z[:, :1])
    np.testing.assert_allclose(one.predict_proba(X), model.predict_proba(X))
    with pytest.raises(ValueError, match="more than the 2 discriminants"):
        KernelFisherDiscriminant(n_components=3).fit(X, y)
    frame = model.set_output(transform="pandas").transform(X)
    assert list(frame.columns) == names


def test_transform_is_the_expansion(wine):
    X, y = wine
    model = KernelFisherDiscriminant(gamma=0.05).fit(X[::2], y[::2])
    expected = rbf_kernel(X, X[::2], gamma=0.05) @ model.dual_coef_
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-7, atol=1e-9)


def test_labels_may_be_words(wine):
    X, y = wine
    words = np.array(["barolo", "grignolino", "barbera"])[y]
    model = KernelFisherDiscriminant(class_weight={"barolo": 3.0}).fit(X, words)
    assert set(model.predict(X)) <= set(words)
    assert model.priors_[1] == pytest.approx(3 * 59 / (3 * 59 + 71 + 48))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"priors": [0.5, 0.5]}, "one entry for each of the 3 classes"),
        ({"priors": [0.5, 0.6, 0.2]}, "add up to 1"),
        ({"class_weight": {7: 2.0}}, "class_weight names 7"),
        ({"class_weight": {0: -1.0}}, "positive"),
        ({"alpha": 0.0}, "alpha"),
        ({"gamma": "width"}, "gamma"),
    ],
)
def test_bad_parameters_are_named(wine, options, message):
    with pytest.raises(ValueError, match=message):
        KernelFisherDiscriminant(**options).fit(*wine)


def test_a_prior_of_zero_is_never_chosen(wine):
    X, y = wine
    model = KernelFisherDiscriminant(priors=[0.5, 0.5, 0.0]).fit(X, y)
    assert set(model.predict(X)) == {0, 1}
    assert (model.predict_proba(X)[:, 2] == 0).all()


def test_far_from_the_origin_nothing_changes(wine):
    X, y = wine
    near = KernelFisherDiscriminant(gamma=0.05, alpha=1e-3).fit(X, y)
    far = KernelFisherDiscriminant(gamma=0.05, alpha=1e-3).fit(X + 1e7, y)
    np.testing.assert_allclose(far.predict_proba(X + 1e7), near.predict_proba(X), atol=1e-4)


def test_rows_that_coincide():
    X, y = np.ones((20, 2)), np.arange(20) % 2
    model = KernelFisherDiscriminant().fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    np.testing.assert_allclose(model.predict_proba(X), 0.5, atol=1e-6)


def test_most_rows_may_coincide():
    # The median distance is nought: the ladder starts from the mean.
    X = np.zeros((60, 1))
    X[40:] = np.random.default_rng(0).normal(3, 0.3, (20, 1))
    y = (np.arange(60) >= 40).astype(int)
    model = KernelFisherDiscriminant().fit(X, y)
    assert model.score(X, y) == 1.0
    assert 1e-3 < model.gamma_ < 1e3


def test_the_unit_of_gamma_is_the_median_distance():
    rng = np.random.default_rng(1)
    X, counts = rng.normal(size=(31, 2)), rng.integers(1, 4, 31).astype(float)
    kernel = KernelFunction("rbf")
    repeated = np.repeat(X, counts.astype(int), axis=0)
    squared = ((repeated[:, None] - repeated[None]) ** 2).sum(axis=2)
    lower_median = np.sort(squared.ravel())[(squared.size - 1) // 2]
    found = gamma_unit(kernel.base(X, X), counts, counts)
    assert found == pytest.approx(1 / lower_median)
    ones = np.ones(len(repeated))
    assert gamma_unit(kernel.base(repeated, repeated), ones, ones) == pytest.approx(found)


@pytest.mark.parametrize("left", [0, 1, 2, 20])
def test_landmarks_that_are_nearly_all_rows_classify_as_all_rows_do(left):
    """What the features left over was rounding, and leave-one-out chose by it."""
    X, y = make_classification(300, 12, n_informative=6, n_classes=3, random_state=0, class_sep=0.8)
    X, new, y, new_y = X[:200], X[200:], y[:200], y[200:]
    every = KernelFisherDiscriminant(n_landmarks=None).fit(X, y).score(new, new_y)
    model = KernelFisherDiscriminant(n_landmarks=200 - left, random_state=0).fit(X, y)
    assert model.score(new, new_y) > every - 0.05
