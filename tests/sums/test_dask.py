"""Sums over Dask arrays are those of the arrays in memory, whatever the blocks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazy import cut, cut_elsewhere
from mercer.samples._blocks import FAN_IN
from mercer.sums import explain_kernel_sum, kernel_sum, landmark_kernel_sum, log_kernel_sum

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def _samples(dtype=np.float64, n_features=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, n_features)).astype(dtype)
    Y = rng.normal(size=(61, n_features)).astype(dtype)
    return X, Y, rng


def _close(lazy, expected):
    assert isinstance(lazy, da.Array)
    assert lazy.dtype == expected.dtype
    assert lazy.shape == expected.shape
    rtol = 1e-11 if expected.dtype == np.float64 else 2e-5
    np.testing.assert_allclose(lazy.compute(), expected, rtol=rtol, atol=rtol / 100)


@pytest.mark.parametrize("function", [kernel_sum, log_kernel_sum])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bandwidth", [0.7, [1.0, 0.5]])
@pytest.mark.parametrize("what", ["plain", "weights", "columns", "groups", "weighted groups"])
def test_blocks_of_both_sides(function, dtype, bandwidth, what):
    X, Y, rng = _samples(dtype)
    groups = np.sort(rng.integers(0, 4, len(Y)))  # most blocks lack some
    options = {
        "plain": {},
        "weights": {"weights": rng.uniform(size=len(Y))},
        "columns": {"weights": rng.uniform(size=(len(Y), 3))},
        "groups": {"groups": groups},
        "weighted groups": {"weights": rng.uniform(size=len(Y)), "groups": groups},
    }[what]
    expected = function(X, Y, bandwidth=bandwidth, **options)
    lazy_options = {name: cut_elsewhere(value) for name, value in options.items()}
    _close(function(cut(X), cut(Y), bandwidth=bandwidth, **lazy_options), expected)
    _close(function(cut(X), Y, bandwidth=bandwidth, **options), expected)
    _close(function(X, cut(Y), bandwidth=bandwidth, **options), expected)


@pytest.mark.parametrize("function", [kernel_sum, log_kernel_sum])
@pytest.mark.parametrize("exclude_self", [False, True])
def test_rows_with_themselves(function, exclude_self):
    X = np.repeat(_samples()[0], 2, axis=0)  # copies are not a row itself
    expected = function(X, bandwidth=0.4, exclude_self=exclude_self)
    _close(function(cut(X), bandwidth=0.4, exclude_self=exclude_self), expected)


def test_rows_keep_their_blocks():
    X, Y, _ = _samples()
    lazy = kernel_sum(cut(X, (15, 25)), cut(Y), bandwidth=1.0)
    assert lazy.chunks == ((15, 25),)


def test_columns_in_blocks_and_integers():
    X = np.arange(24).reshape(8, 3) % 7
    lazy = da.from_array(X, chunks=(3, 2))
    _close(kernel_sum(lazy, bandwidth=2.0), kernel_sum(X, bandwidth=2.0))


def test_mixed_precision_is_double():
    X, Y, _ = _samples(np.float32)
    Y = Y.astype(np.float64)
    _close(kernel_sum(cut(X), cut(Y), bandwidth=1.0), kernel_sum(X, Y, bandwidth=1.0))


def test_far_points_keep_their_logarithm():
    X, Y, _ = _samples()
    _close(log_kernel_sum(cut(X + 500), cut(Y), bandwidth=0.5),
           log_kernel_sum(X + 500, Y, bandwidth=0.5))  # fmt: skip


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(sum), st.booleans())
@settings(max_examples=25)
def test_any_blocks(sizes, exclude_self):
    X = np.random.default_rng(1).normal(size=(sum(sizes), 2))
    with dask.config.set(scheduler="synchronous"):
        lazy = kernel_sum(cut(X, tuple(sizes)), bandwidth=0.5, exclude_self=exclude_self)
        found = lazy.compute()
    expected = kernel_sum(X, bandwidth=0.5, exclude_self=exclude_self)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_no_task_sees_more_than_a_few_blocks():
    from dask.core import get_dependencies

    X, Y, rng = _samples()
    weights = rng.uniform(size=len(Y))
    lazy = kernel_sum(cut(X, (4,) * 10), cut(Y, (1,) * 61), weights=cut(weights, (61,)),
                      bandwidth=1.0)  # fmt: skip
    graph = dict(lazy.__dask_graph__())
    assert len(graph) > 10 * 61
    assert max(len(get_dependencies(graph, key)) for key in graph) <= FAN_IN


def test_nothing_is_computed_before_it_is_asked_for():
    def fail(block):
        raise AssertionError("computed")

    X = da.zeros((10, 2), chunks=5).map_blocks(fail, dtype=float, meta=np.empty((0, 0)))
    kernel_sum(X, bandwidth=1.0)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_the_bad_row_is_named(value):
    X = _samples()[0]
    X[33, 1] = value
    what = "NaN" if np.isnan(value) else "infinity"
    with pytest.raises(ValueError, match=f"X contains {what} in row 33, column 1"):
        kernel_sum(cut(X), bandwidth=1.0).compute()


def test_negative_weights_have_no_logarithm():
    X = _samples()[0]
    weights = np.ones(len(X))
    weights[17] = -2
    with pytest.raises(ValueError, match=r"not negative, got -2\.0 in row 17"):
        log_kernel_sum(cut(X), weights=cut(weights), bandwidth=1.0).compute()
    _close(kernel_sum(cut(X), weights=cut(weights), bandwidth=1.0),
           kernel_sum(X, weights=weights, bandwidth=1.0))  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"weights": da.ones(7, chunks=7)}, "weights must have one entry or row for each"),
        ({"groups": da.zeros(7, dtype=int, chunks=7)}, "groups must have one entry for each"),
        ({"groups": da.zeros(40, chunks=7)}, "groups must be integers"),
        ({"groups": -da.ones(40, dtype=int, chunks=7)}, "groups must be integers 0, 1, …, got -1"),
        ({"Y": da.ones((5, 2), chunks=5)}, "X has 3 columns and Y has 2"),
        ({"Y": da.ones((5, 3), chunks=5), "exclude_self": True}, "goes with Y=None"),
        ({"bandwidth": -1.0}, "bandwidth must be positive"),
    ],
)
def test_one_sentence_for_bad_input(arguments, sentence):
    X = cut(_samples()[0])
    with pytest.raises(ValueError, match=sentence):
        kernel_sum(X, **{"bandwidth": 1.0, **arguments})


@pytest.mark.parametrize("function", [kernel_sum, log_kernel_sum])
def test_blocks_beside_tensors(torch, function):
    X, Y, rng = _samples()
    groups = rng.integers(0, 3, len(Y))
    x, y, ones = torch.tensor(X), torch.tensor(Y), torch.ones(len(X), dtype=torch.float64)
    for arguments, sentence in [
        ((cut(X), y), "X is a Dask array and Y a tensor on cpu"),
        ((x, cut(Y)), "X is a tensor on cpu and Y a Dask array"),
    ]:
        with pytest.raises(TypeError, match=f"^{sentence}: pass both as arrays of one library"):
            function(*arguments, bandwidth=1.0)
    with pytest.raises(TypeError, match="X is a Dask array and weights a tensor on cpu"):
        function(cut(X), weights=ones, bandwidth=1.0)
    with pytest.raises(TypeError, match="X is a tensor on cpu and weights a Dask array"):
        function(x, weights=cut(np.ones(len(X))), bandwidth=1.0)
    # Groups are no numbers to compute with: those of either kind go with rows of the other.
    expected = function(X, Y, groups=groups, bandwidth=1.0)
    _close(function(cut(X), cut(Y), groups=torch.tensor(groups), bandwidth=1.0), expected)
    on_tensors = function(x, y, groups=cut(groups), bandwidth=1.0)
    np.testing.assert_allclose(on_tensors.numpy(), expected, rtol=1e-11)


def test_unknown_blocks_and_shapes():
    X = cut(_samples()[0])
    with pytest.raises(ValueError, match=r"call X\.compute_chunk_sizes\(\) first"):
        kernel_sum(X[X[:, 0] > 0], bandwidth=1.0)
    with pytest.raises(ValueError, match="got a vector of length 40"):
        kernel_sum(X[:, 0], bandwidth=1.0)
    with pytest.raises(ValueError, match="must hold real numbers"):
        kernel_sum(X.astype(complex), bandwidth=1.0)
    with pytest.raises(ValueError, match="X has no rows"):
        kernel_sum(X[:0], bandwidth=1.0)


def test_tasks_in_threads_use_one_thread_each():
    from mercer._memory import thread_count

    def count(block):
        return np.full(len(block), float(thread_count()))

    from mercer.samples._dask_arrays import by_blocks

    X = da.zeros((4, 1), chunks=1)
    lazy = by_blocks(count, X, n_columns=None, dtype=float)
    assert (lazy.compute(scheduler="threads", num_workers=2) == 1).all()


def test_sums_within_a_tolerance():
    pytest.importorskip("finufft")
    X = np.random.default_rng(0).normal(size=(6000, 2))
    options = {"bandwidth": 0.3, "exclude_self": True}
    found = kernel_sum(cut(X), tol=1e-6, method="fast", **options)
    assert isinstance(found, da.Array)
    np.testing.assert_allclose(found, kernel_sum(X, **options), rtol=1e-6)


@pytest.mark.parametrize("function", [explain_kernel_sum, landmark_kernel_sum])
def test_one_sentence_for_what_looks_at_rows_in_memory(function):
    X = np.random.default_rng(0).normal(size=(30, 2))
    for arrays in ((cut(X),), (X, cut(X))):
        with pytest.raises(ValueError, match=f"{function.__name__} takes no Dask array"):
            function(*arrays, bandwidth=1.0)


@pytest.mark.parametrize("n_blocks", [1, 8, 9, 17])
def test_no_block_is_lost_when_many_are_merged(n_blocks):
    """Eight at a time: one may be over."""
    Y = np.random.default_rng(0).normal(size=(3 * n_blocks, 2))
    blocks = da.from_array(Y, chunks=(3, 2))
    out = kernel_sum(Y[:4], blocks, bandwidth=1.0)
    np.testing.assert_allclose(out.compute(), kernel_sum(Y[:4], Y, bandwidth=1.0), rtol=1e-13)
