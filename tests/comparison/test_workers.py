"""The pool that runs fits and jobs: whatever a task does, all others get their answers."""

import multiprocessing
import re
import time

import pytest

from comparison.sleeper import answer
from mercer._system import workers as pools
from mercer._system.workers import (
    ByJoblib,
    InThisProcess,
    NoAnswerError,
    Processes,
    TookTooLongError,
    WorkerDiedError,
    answers_within,
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


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        ("raise", r"could not go on, for want of memory as a rule \(FileNotFoundError: .*data.npz"),
        ("odd", "OddError: salt and pepper"),
        ("lambda", "(?i)pickle"),
        ("unreadable", "TypeError: .*missing 1 required positional argument"),
        ("die", "its process ended early"),
    ],
)
def test_an_answer_that_cannot_be_had_is_a_sentence(task, sentence):
    [found] = answers_within(60.0, (answer, (task,)))
    assert isinstance(found, NoAnswerError)
    assert re.search(sentence, str(found))


def test_an_answer_in_time_comes_and_a_late_one_does_not():
    assert answers_within(60.0, (answer, ("a",))) == ["a"]
    [late] = answers_within(0.5, (answer, (60.0,)))
    assert isinstance(late, TookTooLongError)


def test_several_answers_come_in_order_and_one_that_fails_costs_the_others_nothing():
    before = multiprocessing.active_children()  # those of other tests
    found = answers_within(60.0, (answer, ("die",)), (answer, ("a",)), (answer, (lambda: 0,)))
    assert found[1] == "a"
    assert isinstance(found[0], NoAnswerError)
    assert "cannot be sent to a process" in str(found[2])
    assert set(multiprocessing.active_children()) <= set(before)


def test_without_a_process_there_is_no_answer(monkeypatch):
    def full(*given):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(pools, "start_process", full)
    [found] = answers_within(60.0, (answer, ("a",)))
    assert re.search(r"no process could be started \(OSError: .*Too many", str(found))
