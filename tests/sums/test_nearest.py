"""The compiled search for nearest rows and for pairs within reach, against all distances."""

import numpy as np
import pytest

from mercer.sums import nearest_columns, pairs_in_reach


def tables(seed, n, m, d, kind):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    if kind == "clusters":  # far apart, so that most cells are never looked at
        X, Y = X + 100 * rng.integers(0, 5, (n, 1)), Y + 100 * rng.integers(0, 5, (m, 1))
    if kind == "ties":
        X, Y = X.round(), Y.round()
    if kind == "offset":
        X, Y = X + 1e6, Y + 1e6
    return X, Y


def squares(X, Y):
    return np.square(X[:, np.newaxis] - Y).sum(axis=-1)


@pytest.mark.parametrize("kind", ["normal", "clusters", "ties", "offset"])
@pytest.mark.parametrize(("n", "m", "d"), [(700, 1100, 3), (1, 600, 70), (500, 9, 1)])
def test_nearest_rows(kind, n, m, d):
    X, Y = tables(0, n, m, d, kind)
    all_squares = squares(X, Y)
    order = np.lexsort((np.broadcast_to(np.arange(m), all_squares.shape), all_squares))
    found = nearest_columns(X, Y, 7)
    if kind in ("ties", "normal"):  # Of ties the smaller numbers; sums of whole numbers are exact.
        np.testing.assert_array_equal(np.sort(found), np.sort(order[:, :7]))
    far = np.take_along_axis(all_squares, found, axis=1).max(axis=1)
    np.testing.assert_allclose(far, np.sort(all_squares)[:, 6], rtol=1e-12)


@pytest.mark.parametrize("kind", ["normal", "clusters", "ties"])
def test_nearest_other_rows(kind):
    X, _ = tables(1, 900, 1, 4, kind)
    all_squares = squares(X, X)
    np.fill_diagonal(all_squares, np.inf)
    found = nearest_columns(X, None, 5)
    assert not (found == np.arange(900)[:, np.newaxis]).any()
    far = np.take_along_axis(all_squares, found, axis=1).max(axis=1)
    np.testing.assert_allclose(far, np.sort(all_squares)[:, 4], rtol=1e-12)
    alone = nearest_columns(X[:3], None, 2)  # as many as there are
    np.testing.assert_array_equal(np.sort(alone), [[1, 2], [0, 2], [0, 1]])


@pytest.mark.parametrize("kind", ["normal", "clusters", "ties"])
@pytest.mark.parametrize("reach", [0.0, 3.0, np.inf])
def test_pairs_in_reach(kind, reach):
    X, Y = tables(2, 300, 620, 3, kind)
    rng = np.random.default_rng(0)
    of_X, of_Y = reach * rng.uniform(0.1, 1, 300), reach * rng.uniform(0.1, 1, 620)
    i, j = pairs_in_reach(X, Y, of_X, of_Y)
    expected = np.nonzero(squares(X, Y) <= np.maximum(of_X[:, np.newaxis], of_Y))
    np.testing.assert_array_equal([i, j], expected)


def test_more_pairs_than_there_was_room_for():
    X = np.zeros((400, 2))
    i, j = pairs_in_reach(X, X, np.zeros(400), np.zeros(400))
    np.testing.assert_array_equal(i, np.repeat(np.arange(400), 400))
    np.testing.assert_array_equal(j, np.tile(np.arange(400), 400))
