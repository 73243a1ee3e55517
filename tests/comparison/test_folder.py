"""The results folder of a comparison is that of one run, whoever writes at the same time."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from mercer.comparison import (
    ClassRecord,
    ComparisonRecord,
    ImportancesRecord,
    MapRecord,
    QuestionRecord,
    _folder,
    add_last_parts,
    compare_in_rounds,
    read_comparison,
    record_comparison,
    write_comparison,
)

POINTS = pd.DataFrame({"row": [1], "x": [0.0], "y": [0.0], "class": ["0"], "held_out": [False]})
ROWS = np.arange(150) + 1
HARD = pd.DataFrame(
    {"row": [7], "truth": ["0"], "predicted": ["1"], "rounds": [2], "wrong": [4], "a": [0.5]}
)


@pytest.fixture
def run():
    """Return a function that compares with a seed: the comparison and its record."""
    X, y = load_iris(return_X_y=True)
    models = {"knn": KNeighborsClassifier(), "bayes": GaussianNB()}

    def compared(seed):
        found = compare_in_rounds(models, X, y, random_state=seed, max_rounds=2)
        classes = tuple(ClassRecord(name=str(k), rows=50) for k in range(3))
        question = QuestionRecord(
            table="t", target="y", rows=150, columns=(), classes=classes, notes=()
        )
        record = record_comparison(
            found, question, models={"knn": ("K", "peer"), "bayes": ("B", "peer")}, hard_rows=HARD,
            metric_reason="", budget_seconds=1, longer_command=None, fit_command="", python="",
            the_map=MapRecord(), importances=ImportancesRecord(), seed=seed,
        )  # fmt: skip
        return found, record

    return compared


@pytest.mark.parametrize("when", ["before", "while it is written"])
def test_no_map_is_added_to_the_results_of_another_run(run, tmp_path, monkeypatch, when):
    (ours, record), (theirs, other) = run(1), run(2)
    folder = tmp_path / "results"
    write_comparison(folder, record, ours, rows=ROWS, hard_rows=HARD, points=POINTS)

    def replace_results():
        write_comparison(folder, other, theirs, rows=ROWS, hard_rows=HARD, points=POINTS)

    if when == "before":
        replace_results()
    else:
        write = _folder._write_csv

        def while_another_run_ends(path, frame):
            monkeypatch.setattr(_folder, "_write_csv", write)
            replace_results()
            write(path, frame)

        monkeypatch.setattr(_folder, "_write_csv", while_another_run_ends)
    assert not add_last_parts(folder, replace(record, map=MapRecord(method="lda")), POINTS)
    found = read_comparison(folder)
    assert found.record == other
    assert not list(tmp_path.glob("**/*results.*"))


def test_a_map_is_added(run, tmp_path):
    found, record = run(1)
    write_comparison(tmp_path, record, found, rows=ROWS, hard_rows=HARD, points=POINTS)
    with_map = replace(record, map=MapRecord(method="lda"))
    assert add_last_parts(tmp_path, with_map, POINTS)
    assert read_comparison(tmp_path).record == with_map


def test_a_record_says_what_it_is(run):
    _, record = run(1)
    content = record.to_json()
    assert ComparisonRecord.from_json(content) == record
    del content["kind"]
    with pytest.raises(ValueError, match="'kind' is None instead of 'comparison'"):
        ComparisonRecord.from_json(content)
