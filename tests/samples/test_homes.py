"""What can be asked of arrays in memory is answered alike for arrays in blocks, and is right."""

import numpy as np
import pytest

from lazy import cut
from mercer.samples import count_rows, home_of, total_weight

dask = pytest.importorskip("dask")
N_ROWS, N_CLASSES = 60, 3


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(params=["memory", "blocks"])
def put(request):
    """What puts an array where it is asked: in memory, or in uneven blocks."""
    return cut if request.param == "blocks" else lambda A: A


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def codes(rng):
    """Classes, of which the first block has but one."""
    found = rng.integers(0, N_CLASSES, N_ROWS)
    found[: N_ROWS // 3] = 1
    return found


@pytest.mark.parametrize("shift", [0.0, -5000.0, 5000.0])
@pytest.mark.parametrize("columns", [(), (2,)])
def test_log_total_adds_up_all_rows_or_those_of_each_class(put, codes, rng, columns, shift):
    logs = rng.normal(size=(N_ROWS, *columns))
    home = home_of(put(logs))
    np.testing.assert_allclose(
        home.log_total(put(logs + shift)), np.log(np.exp(logs).sum(axis=0)) + shift, rtol=1e-13
    )
    found = home.log_total(put(logs + shift), put(codes), N_CLASSES)
    wanted = [np.log(np.exp(logs[codes == c]).sum(axis=0)) + shift for c in range(N_CLASSES)]
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_log_total_of_nothing_is_minus_infinity(put, codes):
    logs = np.where(codes == 1, -np.inf, 0.0)
    found = home_of(put(logs)).log_total(put(logs), put(codes), N_CLASSES)
    assert found[1] == -np.inf
    assert np.isfinite(found[[0, 2]]).all()


def test_class_maxima_are_found_where_blocks_lack_classes(put, codes, rng):
    values = rng.normal(size=N_ROWS) - 100
    found = home_of(put(values)).class_maxima(put(codes), put(values), N_CLASSES)
    np.testing.assert_array_equal(found, [values[codes == c].max() for c in range(N_CLASSES)])


@pytest.mark.parametrize("c", range(N_CLASSES))
def test_rows_of_a_class_weigh_what_they_weighed_and_others_nothing(put, codes, rng, c):
    X, weights = rng.normal(size=(N_ROWS, 2)), rng.uniform(1, 2, N_ROWS)
    rows, kept, groups = home_of(put(X)).of_class(put(codes), c, put(X), put(weights))
    rows, kept, groups = (np.asarray(A) for A in (rows, kept, groups))
    np.testing.assert_array_equal(rows[kept > 0], X[codes == c])
    np.testing.assert_array_equal(kept[kept > 0], weights[codes == c])
    assert not groups.any()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_spread_is_the_root_of_the_mean_variance(put, rng, weighted, scale):
    X = rng.normal(size=(N_ROWS, 3)) * [1, 2, 3] + np.arange(N_ROWS)[:, None]  # blocks lie apart
    weights = rng.uniform(0.1, 5, N_ROWS) if weighted else None
    unit, spread = home_of(put(X)).spread(
        put(X * scale), None if weights is None else put(weights), N_ROWS
    )
    means = np.average(X, axis=0, weights=weights)
    variances = np.average((X - means) ** 2, axis=0, weights=weights) * N_ROWS / (N_ROWS - 1)
    assert unit / scale * spread == pytest.approx(np.sqrt(variances.mean()), rel=1e-12)


@pytest.mark.parametrize("row", [0, 40])
def test_one_fraction_makes_all_weights_relative(put, row):
    X, weights = np.zeros((N_ROWS, 1)), np.full(N_ROWS, 2.0)
    assert count_rows(put(X), put(weights)) == 2 * N_ROWS
    weights[row] = 0.5
    assert count_rows(put(X), put(weights)) == N_ROWS
    assert total_weight(put(X), put(weights)) == 2 * N_ROWS - 1.5
    assert count_rows(put(X), None) == total_weight(put(X), None) == N_ROWS


def test_all_but_the_largest_weight(put):
    weights = np.arange(N_ROWS)[::-1].astype(float)
    left = home_of(put(weights)).all_but_largest(put(weights))
    assert left == pytest.approx(weights[1:].sum())


def test_numbers_of_classes_go_to_their_rows(put, codes):
    values = np.arange(2.0 * N_CLASSES).reshape(2, N_CLASSES)
    found = home_of(put(codes)).at_classes(values, put(codes))
    np.testing.assert_array_equal(np.asarray(found), values[:, codes])
