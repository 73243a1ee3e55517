"""A map within a time: drawn in a process that can be ended, or left out with a sentence."""

import dataclasses
import multiprocessing
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from mercer._system import workers
from mercer.tables import split_target
from mercer.views import draw_map, draw_map_within


@pytest.fixture(scope="module")
def data():
    bunch = load_breast_cancer(as_frame=True)
    return split_target(bunch.data.assign(diagnosis=bunch.target_names[bunch.target]), "diagnosis")


def test_a_map_that_takes_too_long_is_ended(data, monkeypatch):
    start = time.perf_counter()
    with monkeypatch.context() as patch:
        patch.setattr("mercer.views._table_map._LEAST_SECONDS", 0.0)
        points, said = draw_map_within(data, 0, 1e-3)  # no process starts in that
    assert time.perf_counter() - start < 20
    assert points.empty
    assert said.method is None
    [sentence] = said.notes
    assert sentence == (
        "The map is left out: it takes more than the 0 s that the rounds left; "
        "mercer project draws one."
    )
    points, said = draw_map_within(data, 0, 0.5)
    assert said.notes[0].startswith("The map is left out: the rounds took all the time there was")


def test_a_map_in_time_is_that_of_this_process(data):
    twice = dataclasses.replace(
        data, X=pd.concat([data.X, data.X + 1], ignore_index=True), y=np.r_[data.y, data.y]
    )  # more rows than a map shows
    points, said = draw_map_within(twice, 0, 200.0)
    literal, _ = draw_map(twice, 0)
    assert len(points) == 1000 < len(twice.y)
    pd.testing.assert_frame_equal(points, literal)
    assert said.method == "fisher"


def test_a_map_that_fails_says_why(data):
    points, said = draw_map_within(dataclasses.replace(data, columns=()), 0, 200.0)
    assert points.empty
    assert said.notes[0].startswith("The map is left out: ValueError: No column is used")


def fail_for_want_of_room():
    """Fail as a library does that cannot be mapped into memory: who loads it does not find it."""
    try:
        raise OSError("libllvmlite.so: failed to map segment from shared object")
    except OSError as error:
        raise OSError("Could not find/load shared object file") from error


def test_a_map_without_room_says_so():
    here, there = multiprocessing.Pipe()
    with here, there:
        here.send((fail_for_want_of_room, ()))
        assert str(workers._answer_or_error(there)) == (
            "its process could not go on, for want of memory as a rule (OSError: "
            "libllvmlite.so: failed to map segment from shared object)"
        )
