"""The small functions under the classifiers, against direct sums in exact or extended precision."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from classifiers.samples import assert_close
from mercer.classifiers._class_vectors import append_scores, cosine_scores, ise_gains
from mercer.classifiers._significance import choose_subset
from mercer.samples import SortedSample, log_normalise, log_sum_of_others, logsumexp, safe_log

INF = float("inf")
logarithms = st.one_of(
    st.floats(-50, 50), st.floats(-1e6, 1e6), st.just(-INF), st.integers(-3, 3).map(float)
)
rows = arrays(float, st.integers(1, 8), elements=logarithms)


def exact_log_sum(terms):
    """Terms relative to the largest, added up without rounding."""
    terms = [t for t in terms if t > -INF]
    if not terms:
        return -INF
    relative = np.exp(np.array(terms, np.longdouble) - max(terms))
    total = sum(Fraction(*value.as_integer_ratio()) for value in relative)
    return float(np.longdouble(max(terms)) + np.log(np.longdouble(float(total))))


@given(rows)
def test_logsumexp(a):
    assert_close(logsumexp(a), exact_log_sum(a), 1e-13)


@given(rows)
def test_log_sum_of_others(a):
    expected = [exact_log_sum(np.delete(a, c)) for c in range(a.size)]
    assert_close(log_sum_of_others(a), expected, 1e-12)


@given(arrays(float, array_shapes(min_dims=2, max_dims=3, max_side=4), elements=logarithms))
def test_sums_run_over_the_last_axis(a):
    for index in np.ndindex(a.shape[:-1]):
        assert_close(logsumexp(a)[index], logsumexp(a[index]), 1e-14)
        assert_close(log_sum_of_others(a)[index], log_sum_of_others(a[index]), 1e-14)


@given(arrays(float, st.integers(1, 8), elements=st.floats(-1e300, 1e300)))
def test_shares_add_up_to_one(a):
    shares = np.exp(log_normalise(a))
    assert abs(shares.sum() - 1) < 1e-12
    assert shares[a.argmax()] == shares.max()


@given(arrays(float, st.integers(1, 8), elements=st.floats(-2, 1e300)))
def test_safe_log(a):
    expected = [np.log(v) if v > 0 else -INF for v in a]
    assert np.array_equal(safe_log(a), expected)


def test_cosine_scores_of_an_absent_class():
    scores = cosine_scores(np.array([[-1.0, -INF, -5.0]]), np.array([0.5, -INF, -2.0]))
    assert scores.tolist() == [[-1.5, -INF, -3.0]]


positive = st.floats(1e-3, 1e3)


@st.composite
def class_vectors(draw):
    """Gram matrix of positive class vectors and of a point, from vectors in a small space."""
    C = draw(st.integers(2, 5))
    vectors = draw(arrays(float, (C + 1, 6), elements=positive))
    return vectors[:C], vectors[C]


@given(class_vectors(), st.integers(1, 1000))
def test_append_scores_are_cuts(case, n):
    """Against cosines of the vectors themselves; x = aΦ with ‖Φ‖ = 1."""
    M, x = case
    log_a = np.log(np.linalg.norm(x))
    phi = x / np.linalg.norm(x)
    V = np.linalg.norm(M, axis=1)
    G = M @ M.T
    links = [sum(G[c, j] / V[j] for j in range(len(M)) if j != c) for c in range(len(M))]
    scores = append_scores(np.log(M @ phi)[None], np.log(V), np.log(links), np.array([log_a]), n)[0]
    before = _cut(M)
    for c in range(len(M)):
        appended = M.copy()
        appended[c] += x
        assert_close(scores[c], -n * np.log(_cut(appended) / before), 1e-9 * max(n, 1))


def _cut(M):
    U = M / np.linalg.norm(M, axis=1, keepdims=True)
    return sum(U[i] @ U[j] for i in range(len(U)) for j in range(i))


def test_append_scores_with_absent_classes():
    M = np.abs(np.random.default_rng(0).normal(size=(3, 4)))
    x = np.abs(np.random.default_rng(1).normal(size=4))
    phi, log_a = x / np.linalg.norm(x), np.log([np.linalg.norm(x)])
    V, G = np.linalg.norm(M, axis=1), M @ M.T
    present = [0, 2]
    links = np.array([G[0, 2] / V[2], 0.0, G[0, 2] / V[0]])
    log_v, log_sums = np.log(V), np.log(M @ phi)[None]
    log_v[1] = log_sums[0, 1] = -INF
    scores = append_scores(log_sums, log_v, safe_log(links), log_a, 10.0)[0]
    expected = append_scores(
        np.log(M[present] @ phi)[None], np.log(V[present]), np.log(links[present]), log_a, 10.0
    )[0]
    assert_close(scores[present], expected)
    assert scores[1] == -INF
    log_v[2] = log_sums[0, 2] = -INF  # one class alone is the answer
    scores = append_scores(log_sums, log_v, np.full(3, -INF), log_a, 10.0)[0]
    assert scores.tolist() == [0.0, -INF, -INF]


@given(class_vectors(), arrays(float, 5, elements=st.floats(0.5, 100)))
def test_ise_gains(case, counts):
    M, x = case
    counts, phi = counts[: len(M)], x / np.linalg.norm(x)
    M = M / np.abs(M).max()
    gains = ise_gains((M @ phi)[None], (M**2).sum(axis=1), M @ M.sum(axis=0), counts)[0]

    def total(M):
        return sum(((M[i] - M[j]) ** 2).sum() for i in range(len(M)) for j in range(i))

    for c, n in enumerate(counts):
        appended = M.copy()
        appended[c] = (n * M[c] + phi) / (n + 1)  # EQ (35)
        assert_close(gains[c], total(appended) - total(M), 1e-10)


def test_ise_gains_of_an_absent_class():
    M = np.random.default_rng(0).random((3, 4))
    phi = np.array([1.0, 0, 0, 0])
    sums, squares = M @ phi, (M**2).sum(axis=1)
    whole = M[[0, 2]].sum(axis=0)
    gains = ise_gains(sums[None], squares, M @ whole, np.array([2.0, 0.0, 3.0]))[0]
    two = ise_gains(sums[None, [0, 2]], squares[[0, 2]], M[[0, 2]] @ whole, np.array([2.0, 3.0]))
    assert_close(gains[[0, 2]], two[0])
    assert gains[1] == -INF


@given(
    codes=arrays(int, st.integers(1, 30), elements=st.integers(0, 4)),
    seed=st.integers(0, 1000),
)
def test_sample(codes, seed):
    codes = np.unique(codes, return_inverse=True)[1]
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(codes.size, 2)), rng.choice([0.3, 1.0, 2.0, 2.5], codes.size)
    sample = SortedSample.of(X, codes, weights)
    order = np.argsort(codes, kind="stable")
    assert np.array_equal(sample.X, X[order])
    assert np.array_equal(sample.codes, codes[order])
    assert np.array_equal(sample.weights, weights[order])
    C = codes.max() + 1
    assert sample.n_classes == C
    assert sample.bounds == (0, *np.cumsum(np.bincount(codes)))
    assert_close(sample.counts, np.bincount(codes, weights))
    is_whole = (weights == np.rint(weights)).all()
    assert_close(sample.unit, np.minimum(1, weights[order]) if is_whole else weights[order])
    values = rng.normal(size=(3, codes.size))
    expected = [np.bincount(sample.codes, row, C) for row in values]
    assert_close(sample.class_sums(values), expected)
    low, high = sorted(rng.integers(0, codes.size + 1, 2))
    part = slice(int(low), int(high))
    assert np.array_equal(sample.is_of_class(part), np.eye(C, dtype=bool)[sample.codes[part]])
    for i, left in zip(range(low, high), sample.counts_without(part), strict=True):
        less = sample.weights.copy()
        less[i] -= sample.unit[i]
        assert_close(left, np.bincount(sample.codes, less, C), 1e-12)
        mine = sample.codes == sample.codes[i]
        assert (left[sample.codes[i]] == 0) == (less[mine] == 0).all()


@pytest.mark.parametrize(("size", "count"), [(None, None), (3, 3), (0.5, 5), (1e-9, 1), (1.0, 10)])
def test_subsets(size, count):
    subset = choose_subset(size, 10, np.random.RandomState(0))
    if count is None:
        assert subset is None
    else:
        assert len(set(subset)) == count
        assert (np.diff(subset) > 0).all()
