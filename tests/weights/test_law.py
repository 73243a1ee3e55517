"""One law of sample weights: copies, relative weights, and what leaves when a row is left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale

import mercer
from mercer.samples import count_rows, merge_copies
from mercer.samples._weights import as_counts, is_whole, places_of_keys, row_keys

SELF_TUNED = {
    "laplacian": mercer.LaplacianClassifier(),
    "parzen": mercer.ParzenClassifier(),
    "plane": mercer.ISEClassifier(),
    "ise append": mercer.ISEClassifier(rule="append"),
    "fisher": mercer.KernelFisherDiscriminant(),
    "landmarks": mercer.KernelFisherDiscriminant(n_landmarks=60, random_state=0),
    "sparse": mercer.SparseKernelFisherDiscriminant(max_nodes=40, random_state=0),
}
every_model = pytest.mark.parametrize("model", SELF_TUNED.values(), ids=SELF_TUNED)
CLASSIFIERS = {**SELF_TUNED, "machine": mercer.LaplacianSVC()}
every_classifier = pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS)


def width(model):
    return getattr(model, "bandwidth_", None) or model.gamma_


def test_whole_weights_are_told_from_others():
    assert is_whole(np.array([0.0, 1.0, 3.0]))
    assert not is_whole(np.array([0.0, 1.0, 2.5]))
    assert not is_whole(np.random.default_rng(0).uniform(size=9) * 1e20)  # no float is a fraction


@given(arrays(float, 9, elements=st.floats(0.001, 1000)), st.floats(-90, 90))
def test_relative_weights_add_up_to_the_rows_that_have_one(weights, power):
    weights = np.r_[weights, 0.0, 0.5]
    scaled = as_counts(weights * 10.0**power)
    if is_whole(weights * 10.0**power):
        return
    assert scaled.sum() == pytest.approx(np.count_nonzero(weights))
    np.testing.assert_allclose(scaled * weights.sum(), weights * scaled.sum(), rtol=1e-12)
    rows = np.zeros((weights.size, 1))[weights > 0]
    assert count_rows(rows, weights[weights > 0] * 10.0**power) == np.count_nonzero(weights)


def test_a_weight_too_light_for_its_square_is_refused():
    with pytest.raises(ValueError, match=r"contains 1e-80 in row 1 beside 1e\+80 in row 0"):
        mercer.ParzenClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 1], [1e80, 1e-80, 1.0])


def test_a_weight_too_light_in_blocks_is_refused_without_naming_a_row():
    da = pytest.importorskip("dask.array")
    rows, weights = da.from_array(np.arange(9.0)[:, None], chunks=4), np.full(9, 1e80)
    weights[5] = 1e-80
    with pytest.raises(ValueError, match=r"contains 1e-80 beside a mean of 8.9e\+79"):
        mercer.ParzenClassifier().fit(rows, np.arange(9) % 2, da.from_array(weights, chunks=4))


@given(
    X=arrays(float, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=st.integers(-1, 1)),
    seed=st.integers(0, 99),
)
def test_merging_is_what_a_dictionary_finds(X, seed):
    rng = np.random.default_rng(seed)
    X = np.where((X == 0) & (rng.random(X.shape) < 0.5), -0.0, X)
    codes, weights = rng.integers(0, 3, len(X)), rng.integers(1, 4, len(X)).astype(float)
    if seed % 2:
        weights *= 0.7
    sets, places = {}, {}
    for i, row in enumerate(X):
        sets.setdefault((*(row + 0.0), codes[i]), []).append(i)
        places.setdefault(tuple(row + 0.0), set()).add(codes[i])
    merged = merge_copies(X, codes, weights)
    assert merged.rows.tolist() == [members[0] for members in sets.values()]
    np.testing.assert_allclose(merged.weights, [weights[m].sum() for m in sets.values()])
    for which, (key, members) in enumerate(sets.items()):
        assert (merged.index[members] == which).all()
        copies = weights[members].sum() if seed % 2 == 0 else len(members)
        parts = copies if len(places[key[:-1]]) > 1 else 1
        assert merged.leaving[which] == pytest.approx(weights[members].sum() / parts)


def test_rows_with_the_same_key_by_chance_stay_apart():
    X = np.array([[1.0], [2.0], [1.0], [3.0], [2.0]])
    places = places_of_keys(np.zeros(5, np.int64), lambda a, b: (X[a] == X[b]).all(axis=1))
    assert places[0] == places[2]
    assert len(set(places.tolist())) == 4  # the two rows of 2 are not seen to be the same


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_keys_of_tensors_are_those_of_arrays(torch, dtype):
    X = np.random.default_rng(0).integers(-3, 4, (200, 5)).astype(dtype)
    X[X == 0] *= -1.0
    there = row_keys(torch.tensor(X))
    np.testing.assert_array_equal(there.numpy(), row_keys(X))
    codes = np.arange(200) % 2
    ours, theirs = (merge_copies(A, codes, np.ones(200)) for A in (X, torch.tensor(X)))
    np.testing.assert_array_equal(ours.rows, theirs.rows)
    np.testing.assert_array_equal(ours.leaving, theirs.leaving)


@every_model
def test_rows_twice_or_weights_of_two_choose_what_rows_once_do(model):
    """A copy that stays behind would tell leave-one-out the class of the row that it left out."""
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    once = clone(model).fit(X, y)
    for many in (
        clone(model).fit(X, y, sample_weight=np.full(len(y), 2)),
        clone(model).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2)),
        clone(model).fit(np.tile(X, (10, 1)), np.tile(y, 10)),
    ):
        if hasattr(once, "gamma_"):
            assert (many.gamma_, many.alpha_) == pytest.approx((once.gamma_, once.alpha_))
        # Ladders of bandwidths begin at Silverman's, which follows N: their rungs differ.
        assert 0.6 < width(many) / width(once) < 1.7
        assert (many.predict(X) == once.predict(X)).mean() > 0.97


@every_model
def test_observations_that_differ_leave_one_at_a_time(model):
    """A table of few distinct rows, in which the same row has both classes."""
    rng = np.random.default_rng(0)
    places, shares = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.1, 0.7, 0.2, 0.9])
    at = rng.integers(0, 4, 400)
    y = (rng.random(400) < shares[at]).astype(int)
    fitted = clone(model).fit(places[at], y)
    assert fitted.predict(places).tolist() == [0, 1, 0, 1]


def test_leaving_one_of_several_observations_out_is_refitting_without_it():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (40, 2)).astype(float)
    y = rng.integers(0, 2, 40)
    options = {"gamma": 0.5, "alpha": 0.1, "scatter": "total"}
    model = mercer.KernelFisherDiscriminant(**options).fit(X, y)
    found = model.loo_results_["squared_error"][0, 0]
    assert found == pytest.approx(squared_error_by_refitting(X, y, 0.5, 0.1), rel=1e-6)


def squared_error_by_refitting(X, y, gamma, alpha):
    """Kernel ridge regression on the class codes, by rows: copies leave together if they agree."""
    shares = np.bincount(y) / len(y)
    T = np.array([-np.sqrt(shares[1] / shares[0]), np.sqrt(shares[0] / shares[1])])[y]
    K = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))
    p, total = np.full(len(y), 1 / len(y)), 0.0
    for i in range(len(y)):
        same = (X[i] == X).all(axis=1)
        gone = np.flatnonzero(same) if len(set(y[same])) == 1 else [i]
        kept = np.delete(np.arange(len(y)), gone)
        # Σ p (T − f − b)² + α‖f‖², with a free level b
        n = len(kept)
        A = np.block(
            [[K[np.ix_(kept, kept)] + alpha * np.diag(1 / p[kept]), np.ones((n, 1))],
             [np.ones((1, n)), np.zeros((1, 1))]]
        )  # fmt: skip
        solved = np.linalg.solve(A, np.r_[T[kept], 0.0])
        total += p[i] * (T[i] - K[i, kept] @ solved[:-1] - solved[-1]) ** 2
    return total


@pytest.mark.parametrize("share", [0.2, 1 / 569])
def test_sparse_fisher_does_not_mind_what_weights_add_up_to(share):
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    model = mercer.SparseKernelFisherDiscriminant(random_state=0)
    plain = clone(model).fit(X, y).predict(X)
    assert (plain == y).mean() > 0.98
    weighted = clone(model).fit(X, y, sample_weight=np.full(len(y), share))
    np.testing.assert_array_equal(weighted.predict(X), plain)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@every_classifier
def test_normalised_random_weights_classify_new_rows(model, load):
    X, y = load(return_X_y=True)
    X, new, y, new_y = train_test_split(scale(X), y, random_state=0, stratify=y)
    plain, found = clone(model).fit(X, y).score(new, new_y), []
    for seed in range(3):
        weights = np.random.default_rng(seed).uniform(size=len(y))
        fitted = clone(model).fit(X, y, sample_weight=weights / weights.sum())
        found.append(fitted.score(new, new_y))
    assert np.mean(found) > plain - 0.06


@every_classifier
def test_boosting_and_bagging_take_them(model):
    X, y = load_iris(return_X_y=True)
    X, new, y, new_y = train_test_split(scale(X), y, random_state=0, stratify=y)
    boosted = AdaBoostClassifier(model, n_estimators=3, random_state=0).fit(X, y)
    bagged = BaggingClassifier(model, n_estimators=3, random_state=0).fit(X, y)
    assert min(boosted.score(new, new_y), bagged.score(new, new_y)) > 0.85


def test_bandwidths_of_normalised_weights_are_near_those_of_none():
    X = load_iris().data
    rng = np.random.default_rng(0)
    for _ in range(400):
        weights = rng.random(150)
        found = mercer.bandwidth.silverman_bandwidth(X, sample_weight=weights / weights.sum())
        assert found == pytest.approx(mercer.bandwidth.silverman_bandwidth(X), rel=0.2)


@pytest.mark.parametrize("few", [1, 3])
@pytest.mark.parametrize("chunks", [1000, 23])
@pytest.mark.parametrize("share", [1, 0.7])
@every_model
def test_copies_in_blocks_are_found_as_in_memory(model, chunks, share, few):
    da = pytest.importorskip("dask.array")
    if getattr(model, "n_landmarks", None) == 60:
        pytest.skip("landmarks of a Dask array are those in memory")
    X, y = load_wine(return_X_y=True)
    X = scale(X)[:, :4]
    rows = np.random.default_rng(0).integers(0, len(y) // few, len(y))
    X, y = X[::few][rows], y[::few][rows]
    weights = share * np.random.default_rng(1).integers(1, 4, len(y))
    here = clone(model).fit(X, y, sample_weight=weights)
    blocks = (da.from_array(A, chunks=chunks) for A in (X, y))
    there = clone(model).fit(*blocks, sample_weight=da.from_array(weights, chunks=chunks))
    assert width(there) == pytest.approx(width(here), rel=1e-9)
    np.testing.assert_allclose(
        np.asarray(there.decision_function(X)), here.decision_function(X), rtol=1e-6, atol=1e-7
    )


def test_blocks_given_one_by_one_count_copies_within_a_block():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    fits = []
    for rows, w in ((np.arange(len(y)), weights), (repeated, None)):
        model = mercer.SparseKernelFisherDiscriminant(max_nodes=20, random_state=0)
        fits.append(model.partial_fit(X[rows], y[rows], classes=[0, 1, 2], sample_weight=w))
    np.testing.assert_allclose(*(fit.decision_function(X) for fit in fits), rtol=1e-6)


def test_pipelines_pass_weights_on():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(mercer.KernelFisherDiscriminant())
    fitted = model.fit(X, y, kernelfisherdiscriminant__sample_weight=np.full(150, 1e-3))
    assert fitted.score(X, y) > 0.95
