"""Splits, scaling and the per cent correct of one job."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from mercer import LaplacianClassifier
from mercer.studies import Row, Task
from mercer.studies.experiments._holdout import compact, holdout, judge


def iris(**changes: Any) -> Task:
    task = Task(
        row=Row(label="Iris", dataset="iris"), protocol="paper", replication=0, seed=7, options={}
    )
    return replace(task, **changes)


@dataclass(frozen=True, kw_only=True)
class Given(Task):
    """A job on data that a test makes."""

    data: Any

    def load(self, name: str | None = None) -> Any:
        return self.data


def test_halves_cover_the_data_and_follow_the_seed():
    data = iris().load()
    part = holdout(iris(), scale=False)
    assert (len(part.y_train), len(part.y_test)) == (75, 75)
    rest = np.setdiff1d(np.arange(150), part.rows)
    assert np.array_equal(part.X_test, data.X[part.rows])
    assert np.array_equal(part.y_test, data.y[part.rows])
    assert np.array_equal(np.sort(part.X_train, axis=0), np.sort(data.X[rest], axis=0))
    same = holdout(iris(protocol="honest", options={"any": 1}), scale=True)
    assert np.array_equal(same.rows, part.rows)
    assert not np.array_equal(holdout(iris(seed=8), scale=False).rows, part.rows)


def test_partitions_of_the_data_are_taken_by_their_number():
    data = SimpleNamespace(
        X=np.arange(8.0).reshape(4, 2),
        y=np.array([0, 1, 1, 0]),
        train_idx=np.array([[0, 1], [2, 3]]),
        test_idx=np.array([[2, 3], [0, 1]]),
    )
    task = Given(**vars(iris(replication=1)), data=data)
    part = holdout(task, scale=False)
    assert part.rows.tolist() == [0, 1]
    assert part.y_train.tolist() == [1, 0]
    assert part.X_test.tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("protocol", ["paper", "honest", "either"])
def test_who_is_scaled_by_what(protocol):
    part = holdout(iris(protocol=protocol), scale=True)
    rows = np.r_[part.X_train, part.X_test] if protocol == "paper" else part.X_train
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(rows.std(axis=0), 1)
    whole = np.r_[part.X_train, part.X_test]
    raw = holdout(iris(), scale=False)
    back = StandardScaler().fit(raw.X_train if protocol != "paper" else iris().load().X)
    np.testing.assert_allclose(whole, back.transform(np.r_[raw.X_train, raw.X_test]))


def test_judge_counts_and_keeps_what_was_predicted():
    part = holdout(iris(), scale=True)
    outcome = judge(KNeighborsClassifier(3), part)
    literal = KNeighborsClassifier(3).fit(part.X_train, part.y_train).predict(part.X_test)
    kept = outcome.predictions
    assert np.array_equal(kept["predicted"], literal)
    assert np.array_equal(kept["truth"], iris().load().y[kept["rows"]])
    assert outcome.values == pytest.approx(100 * np.mean(kept["predicted"] == kept["truth"]))
    assert {array.dtype for array in kept.values()} == {np.dtype(np.uint8)}
    assert outcome.details == {}


def test_judge_says_what_was_chosen():
    part = holdout(iris(), scale=True)
    search = GridSearchCV(LaplacianClassifier(), {"bandwidth": [0.2, 50.0]}, cv=3)
    assert judge(search, part).details == {"bandwidth": search.best_params_["bandwidth"]}
    model = LaplacianClassifier(rule="auto")
    details = judge(model, part).details
    assert details == {"bandwidth": model.bandwidth_, "rule": model.rule_}


def test_compact():
    assert compact(np.array([0, 255])).dtype == np.uint8
    assert compact(np.array([0, 256])).dtype == np.uint16
    assert compact(np.array([3, 70_000])).tolist() == [3, 70_000]
