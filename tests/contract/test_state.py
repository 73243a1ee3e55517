"""What a fit keeps: plain numbers, all that answers need, and nothing of what came before."""

import copy
import dataclasses
import pickle
from numbers import Number

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_info, threadpool_limits

from contract.subjects import (
    SUBJECTS,
    answers,
    assert_close,
    assert_same_bits,
    baseline,
    every_subject,
    rows,
)


@every_subject
def test_fitted_state_is_plain(subject):
    data = rows()
    model = subject.fit(pd.DataFrame(data.X).add_prefix("column "), data.y)
    for name in vars(model).keys() - model.get_params(deep=False).keys():
        _check_plain(getattr(model, name), name)


def _check_plain(value, where):
    """Numbers, text, arrays of them; lists, dictionaries and Mercer's own records of these.

    Wrappers keep the estimators that they fitted, which are walked too.
    """
    if value is None or isinstance(value, (str, Number, np.generic)):
        return
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            assert all(isinstance(one, str) for one in value.ravel()), where
        assert value.dtype.kind in "biufUO", where
        assert type(value) is np.ndarray, where
        return
    if type(value) in (list, tuple):
        parts = dict(enumerate(value))
    elif type(value) is dict:
        parts = value
    elif dataclasses.is_dataclass(value):
        assert type(value).__module__.startswith("mercer."), where
        parts = vars(value)
    else:
        assert isinstance(value, BaseEstimator), f"{where} is a {type(value)}"
        assert where in ("estimator_", "calibrator_"), where
        parts = {k: v for k, v in vars(value).items() if k not in value.get_params(deep=False)}
    for name, part in parts.items():
        _check_plain(part, f"{where}.{name}")


def _pickled(model):
    return pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes


def _through_skops(model):
    content = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=content)
    assert all(name.startswith("mercer.") for name in types), types
    return skops.io.loads(content, trusted=types)


@every_subject
@pytest.mark.parametrize("carry", [_pickled, _through_skops, copy.deepcopy])
def test_a_copy_answers_with_the_same_bits(subject, carry):
    data = rows()
    model, expected = baseline(subject)
    assert_same_bits(answers(carry(model), data.new, subject.methods), expected)
    assert_same_bits(answers(model, data.new, subject.methods), expected)


@every_subject
def test_a_clone_fits_the_same_and_has_no_state(subject):
    data = rows()
    model, _ = baseline(subject)
    twin = clone(model)
    assert vars(twin).keys() <= {*twin.get_params(deep=False), "_sklearn_output_config"}
    assert_same_state(twin.fit(data.X, subject.targets(data.y)), model)


@every_subject
def test_a_fit_knows_nothing_of_an_earlier_one(subject):
    before, data = rows(2, 3, seed=9), rows()
    frame = pd.DataFrame(before.X).add_prefix("column ")
    model = subject.fit(frame, before.y)
    assert_same_state(model.fit(data.X, subject.targets(data.y)), baseline(subject)[0])


@every_subject
def test_a_fit_knows_nothing_of_earlier_settings(subject):
    data = rows()
    expected, _ = baseline(subject)
    for other in SUBJECTS:
        if other is subject or other.name.split()[0] != subject.name.split()[0]:
            continue
        model = other.fit(data.X, data.y).set_params(**subject.make().get_params(deep=False))
        assert_same_state(model.fit(data.X, subject.targets(data.y)), expected)


@every_subject
def test_a_subclass_with_no_parameters_fits_as_its_parent_does(subject):
    parent, data = subject.made(), rows()

    class Mine(type(parent)):
        def __init__(self):
            super().__init__(**parent.get_params(deep=False))

    mine = Mine()
    for _ in range(2):
        mine.fit(data.X, subject.targets(data.y))
        assert_same_bits(answers(mine, data.new, subject.methods), baseline(subject)[1])


@every_subject
def test_attributes_of_users_survive_fits(subject):
    data, model = rows(), subject.made()
    own = {"note": "mine", "folds": 5, "grid": np.arange(3.0), "encoder_": [1, 2], "_seen": 7}
    vars(model).update(own)
    model.fit(data.X, subject.targets(data.y))
    model.later_ = own["later_"] = np.ones(2)
    model.fit(data.X, subject.targets(data.y))
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.where(np.arange(len(data.X))[:, None] == 50, np.inf, data.X), data.y)
    assert all(vars(model)[name] is value for name, value in own.items())
    assert vars(model).keys() == {*subject.make().get_params(deep=False), *own}


@every_subject
def test_a_fit_leaves_its_input_alone_and_forgets_it(subject):
    data = rows()
    X, y, new = (A.copy() for A in (data.X, data.y, data.new))
    model = subject.fit(X, y)
    expected = answers(model, new, subject.methods)
    for now, before in ((X, data.X), (y, data.y), (new, data.new)):
        np.testing.assert_array_equal(now, before)
    X[:], y[:] = 7.0, "ant"
    assert_same_bits(answers(model, new, subject.methods), expected)


@every_subject
def test_a_fit_that_fails_leaves_nothing(subject):
    data = rows()
    model = subject.fit(data.X, data.y)
    wrong = np.where(np.arange(len(data.X))[:, None] == 50, np.inf, data.X)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(wrong, data.y)
    for method in subject.methods:
        with pytest.raises(NotFittedError):
            getattr(model, method)(data.new)


def assert_same_state(found, expected):
    """Everything that the two keep is equal, to the last bit."""
    assert type(found) is type(expected)
    assert vars(found).keys() == vars(expected).keys()
    for name, value in vars(expected).items():
        _check_equal(getattr(found, name), value, name)


def _check_equal(found, expected, where):
    assert type(found) is type(expected), where
    if isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype, where
        np.testing.assert_array_equal(found, expected, err_msg=where)
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected), where
        for i, (one, other) in enumerate(zip(found, expected, strict=True)):
            _check_equal(one, other, f"{where}[{i}]")
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key, value in expected.items():
            _check_equal(found[key], value, f"{where}[{key!r}]")
    elif isinstance(expected, BaseEstimator) or dataclasses.is_dataclass(expected):
        _check_equal(vars(found), vars(expected), where)
    elif isinstance(expected, np.random.RandomState):
        _check_equal(found.get_state(legacy=False), expected.get_state(legacy=False), where)
    else:
        assert found == expected or (found != found and expected != expected), where


def at_most(threads):
    """Return limits of so many threads; fewer of BLAS where these would end the process.

    With OpenBLAS 0.3.28 (SciPy's own from 1.15.0 to 1.16.1) any product of matrices ends in a
    segmentation fault if it is given two threads more than it started with, or even more.
    """
    blas = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    faulty = [pool["num_threads"] for pool in blas if pool["version"] == "0.3.28"]
    return {"openmp": threads, "blas": min([threads, *(n + 1 for n in faulty)])}


@every_subject
def test_threads_and_tiles_change_nothing(subject):
    data = rows()
    new = np.repeat(data.new, 8, axis=0)
    expected = answers(baseline(subject)[0], new, subject.methods)
    for memory, threads in ((0.05, 1), (1024, 3)):
        with config_context(working_memory=memory), threadpool_limits(at_most(threads)):
            found = answers(subject.fit(data.X, data.y), new, subject.methods)
        assert_close(found, expected, subject.tolerance)
