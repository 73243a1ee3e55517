"""Sets of a comparison: of the test rows of every round, counted as they are."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from mercer.comparison import (
    ClassRecord,
    ComparisonRecord,
    ImportancesRecord,
    MapRecord,
    QuestionRecord,
    compare_in_rounds,
    hard_rows,
    record_comparison,
)
from mercer.comparison._details import set_counts


def likely(model, X, least):
    """Classes of at least this probability, of one of two models."""
    return model.predict_proba(X) >= least if isinstance(model, GaussianNB) else None


def compared(find_sets):
    X, y = load_iris(return_X_y=True)
    names = np.array(["b", "c", "a"])[y]  # not in the order of the alphabet
    models = {"knn": KNeighborsClassifier(), "bayes": GaussianNB()}
    return compare_in_rounds(models, X, names, random_state=0, max_rounds=4, find_sets=find_sets)


def test_sets_stand_beside_the_predictions():
    found = compared(partial(likely, least=0.3))
    assert list(found.sets) == ["bayes"]
    np.testing.assert_array_equal(found.sets["bayes"], found.outputs["bayes"] >= 0.3)
    assert compared(None).sets == {}


def test_counts_are_those_of_the_rows():
    sets = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1]], dtype=bool)
    comparison = SimpleNamespace(
        sets={"m": sets},
        classes=np.array(["a", "b", "c"]),
        predictions=pd.DataFrame({"y_true": ["a", "c", "b", "a", "c"]}),
    )
    assert set_counts(comparison, "m") == {"rows": 5, "alone": 2, "right": 1, "held": 3}


def test_the_record_tells_of_the_best_model_with_sets():
    found = compared(partial(likely, least=0.3))
    classes = tuple(ClassRecord(name=k, rows=50) for k in "abc")
    question = QuestionRecord(
        table="t", target="y", rows=150, columns=(), classes=classes, notes=()
    )
    options = {
        "models": {"knn": ("K", "peer"), "bayes": ("B", "peer")},
        "hard_rows": hard_rows(found, ["knn", "bayes"], np.arange(150) + 1),
        "importances": ImportancesRecord(),
        "metric_reason": "", "budget_seconds": 1, "longer_command": None, "fit_command": "",
        "python": "", "the_map": MapRecord(), "seed": 0,
    }  # fmt: skip
    record = record_comparison(found, question, sets_coverage=0.9, **options)
    assert record.sets.model == "bayes"
    assert record.sets.coverage == 0.9
    assert record.sets.rows == len(found.predictions)
    assert ComparisonRecord.from_json(record.to_json()) == record
    before = {key: value for key, value in record.to_json().items() if key != "sets"}
    assert ComparisonRecord.from_json(before).sets is None
    assert record_comparison(compared(None), question, sets_coverage=0.9, **options).sets is None
