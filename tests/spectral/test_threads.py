"""Threads of LAPACK: they wait for each other, and for whatever else holds a core."""

import numpy as np
import pytest
from scipy import linalg
from sklearn import config_context, get_config
from threadpoolctl import threadpool_info, threadpool_limits

from mercer import _linalg, _memory
from mercer._linalg import one_thread
from mercer.spectral import PenaltyPath, generalized_eigh


def threads():
    """Return the number of threads of every BLAS that is loaded."""
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


@pytest.fixture
def seen(monkeypatch):
    """Threads that LAPACK had, once for each factorisation."""
    found = []

    def watched(function):
        def call(*args, **kwargs):
            found.append(threads())
            return function(*args, **kwargs)

        return call

    for library in (linalg, np.linalg):
        for name in ("eigh", "cholesky"):
            monkeypatch.setattr(library, name, watched(getattr(library, name)))
    return found


@pytest.mark.parametrize(
    "factor",
    [
        lambda A: _linalg.eigh(A.copy()),
        lambda A: _linalg.cholesky(A, lower=True),
        lambda A: generalized_eigh(A),
        lambda A: PenaltyPath(A, A),
    ],
    ids=["eigh", "cholesky", "generalized_eigh", "PenaltyPath"],
)
def test_matrices_of_a_few_thousand_rows_are_factored_by_one_thread(factor, seen):
    factor(np.eye(30))
    assert seen == [{1}]
    assert threads() == {2}


def test_larger_ones_get_all_threads(seen, monkeypatch):
    monkeypatch.setattr(_linalg, "_ONE_THREAD_ROWS", 29)
    _linalg.eigh(np.eye(30))
    assert seen == [{2}]


def test_threads_come_back_when_the_last_holder_leaves_whoever_came_first():
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads() == {1}
    second.__exit__(None, None, None)
    assert threads() == {2}


def test_threads_come_back_after_an_error():
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert threads() == {2}


def test_threads_share_the_cores_and_the_settings_of_their_caller(monkeypatch):
    monkeypatch.setattr(_memory, "effective_n_threads", lambda: 5)

    def work(item):
        return item, threads(), _memory.thread_count(), get_config()["working_memory"]

    with config_context(working_memory=7):
        found = _linalg.in_threads(work, [0, 1], np.zeros(3))
    assert found == [(item, {1}, 2, 7) for item in (0, 1)]
    assert threads() == {2}


def test_what_fails_in_a_thread_fails_here():
    with pytest.raises(ZeroDivisionError):
        _linalg.in_threads(lambda item: 1 / item, [1, 0, 1], np.zeros(3))
    assert threads() == {2}
