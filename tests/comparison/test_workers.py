"""The pool that runs fits and jobs: whatever a task does, all others get their answers."""

import time

import pytest

from comparison.sleeper import answer
from mercer._system.workers import (
    ByJoblib,
    InThisProcess,
    Processes,
    TookTooLongError,
    WorkerDiedError,
)

TASKS = ["a", "raise", "b", "odd", "c"]


@pytest.mark.parametrize(
    "make", [InThisProcess, lambda function: ByJoblib(function, 1), lambda f: Processes(f, 2)]
)
def test_errors_come_in_place_of_results(make):
    with make(answer) as workers:
        found = dict(workers.run(TASKS))
    assert {task: found[task] for task in "abc"} == {"a": "a", "b": "b", "c": "c"}
    assert isinstance(found["raise"], FileNotFoundError)
    assert found["raise"].filename == "data.npz"
    assert "salt and pepper" in str(found["odd"])


def test_a_process_that_dies_and_a_result_that_cannot_be_sent_cost_the_others_nothing():
    with Processes(answer, 2) as workers:
        found = dict(workers.run(["a", "die", "b", "lambda", "c"]))
    assert [found[task] for task in "abc"] == ["a", "b", "c"]
    assert isinstance(found["die"], WorkerDiedError)
    assert isinstance(found["lambda"], Exception)


def test_a_task_is_stopped_at_its_limit_and_the_next_one_runs():
    start = time.perf_counter()
    with Processes(answer, 1) as workers:
        found = dict(workers.run([60.0, "a"], limit=lambda n_open: 0.5))
        assert found["a"] == "a"
        assert isinstance(found[60.0], TookTooLongError)
        assert found[60.0].seconds == pytest.approx(0.5, abs=0.1)
        cut = list(workers.run([61.0, "b"], deadline=time.perf_counter() + 0.5))
    assert cut == []
    assert time.perf_counter() - start < 50
