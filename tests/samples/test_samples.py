"""Rows sorted by class in memory, and rows in blocks, answer the same; and rows that are drawn."""

import numpy as np
import pytest

from lazy import cut
from mercer import ParzenClassifier
from mercer.information import laplacian_information_cut, log_laplacian_information_cut
from mercer.samples import SortedSample, check_training, heaviest_rows, random_rows

dask = pytest.importorskip("dask")
N_ROWS = 60
ROWS = np.array([31, 2, 55, 17, 3])  # of the rows that leave-one-out judges, in no order


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def table():
    """Rows, unsorted classes and weights, of which some leave in part."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N_ROWS, 2)), rng.integers(0, 3, N_ROWS)
    X[40:45], y[40:45] = X[0], [0, 1, 0, 1, 1]  # places of two classes
    return X, y, rng.integers(1, 4, N_ROWS)


@pytest.fixture
def given(table):
    """The sample in memory as it came."""
    return check_training(ParzenClassifier(), *table)


@pytest.fixture
def memory(given):
    return given.sorted()


@pytest.fixture
def blocks(table):
    X, y, weights = table
    return check_training(ParzenClassifier(), cut(X), cut(y), cut(weights))


def test_sorted_rows_go_back_to_where_they_were(given, memory):
    assert (np.diff(memory.codes) >= 0).all()
    np.testing.assert_array_equal(memory.as_given(memory.weights), given.weights)
    np.testing.assert_array_equal(memory.as_given(memory.codes), given.codes)
    for c in range(3):
        X, weights = memory.of_class(c)
        np.testing.assert_array_equal(X, given.X[given.codes == c])
        np.testing.assert_array_equal(weights, given.weights[given.codes == c])


def test_rows_are_numbered_as_they_were_given(table, given, blocks):
    np.testing.assert_array_equal(table[0][given.rows], given.X)
    np.testing.assert_array_equal(blocks.rows, given.rows)
    counted = given.spread_out(given.X)
    np.testing.assert_array_equal(counted, table[0])


def test_blocks_gather_rows_as_they_are_sorted_in_memory(memory, blocks):
    stacked = blocks.copies(2) * np.array([[1.0], [10.0]])
    found = blocks.gather(ROWS, blocks.weights, stacked)
    wanted = memory.gather(ROWS, memory.weights, memory.copies(2) * np.array([[1.0], [10.0]]))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    thinned = [one.thinned(7, one.weights, one.codes) for one in (memory, blocks)]
    for here, there in zip(*thinned, strict=True):
        np.testing.assert_array_equal(np.sort(here), np.sort(there))


def test_classes_weigh_the_same_with_and_without_a_row(memory, blocks):
    np.testing.assert_array_equal(blocks.counts, memory.counts)
    np.testing.assert_array_equal(blocks.sizes, memory.sizes)
    np.testing.assert_array_equal(
        blocks.in_memory.counts_without(ROWS), memory.counts_without(ROWS)
    )
    without = memory.counts_without(ROWS)
    own = memory.codes[ROWS]
    np.testing.assert_array_equal(
        (memory.counts - without)[np.arange(ROWS.size), own], memory.unit[ROWS]
    )
    assert (memory.unit < memory.weights).any()


def test_what_a_heavy_row_leaves_has_all_its_digits():
    weights, unit = np.array([1e20, 0.25, 0.5, 1.0]), np.array([1e20 - 2**14, 0.25, 0.5, 1.0])
    sample = SortedSample.of(np.zeros((4, 1)), np.array([0, 0, 0, 1]), weights, unit)
    left = sample.counts_without(slice(0, 4))
    assert left[0, 0] == 2**14 + 0.75
    unit[0] = 1e20
    sample = SortedSample.of(np.zeros((4, 1)), np.array([0, 0, 0, 1]), weights, unit)
    left = sample.counts_without(slice(0, 4))
    assert left[0, 0] == 0.75
    assert left[3, 1] == 0


def test_draws_are_the_same_rows_in_blocks(given, blocks):
    shares = np.array([5, 4, 7])
    drawn = random_rows(given, shares, np.random.RandomState(3))
    np.testing.assert_array_equal(np.bincount(given.codes[drawn]), shares)
    np.testing.assert_array_equal(random_rows(blocks, shares, np.random.RandomState(3)), drawn)


def test_the_heaviest_rows_are_the_same_in_blocks_and_of_equals_the_first(given, blocks):
    shares = np.array([5, 4, 7])
    for weights in (given.weights, np.ones_like(given.weights)):
        found = heaviest_rows(given, shares, weights)
        for c, size in enumerate(shares):
            members = np.flatnonzero(given.codes == c)
            chosen = found[given.codes[found] == c]
            wanted = sorted(members, key=lambda i: (-weights[i], i))[:size]
            np.testing.assert_array_equal(chosen, np.sort(wanted))
        lazy = dask.array.from_array(weights, chunks=blocks.weights.chunks)
        np.testing.assert_array_equal(heaviest_rows(blocks, shares, lazy), found)


MIXED = np.array([1, "a"] * 10, dtype=object)
MIXED_SENTENCE = r"^y has labels that cannot be put in order, such as numbers beside text"


@pytest.mark.parametrize("measure", [laplacian_information_cut, log_laplacian_information_cut])
def test_labels_without_an_order_get_one_sentence(measure):
    X = np.arange(40.0).reshape(20, 2)
    for rows in (X, cut(X, 3)):
        with pytest.raises(ValueError, match=MIXED_SENTENCE):
            measure(rows, MIXED, bandwidth=1.0)


def test_labels_in_blocks_without_an_order_get_one_sentence():
    X = np.arange(40.0).reshape(20, 2)
    with pytest.raises(ValueError, match=MIXED_SENTENCE):
        ParzenClassifier().fit(cut(X, 3), MIXED)
