"""Verdicts: which numbers are compared, which way is better, and what is said."""

import numpy as np
import pandas as pd
import pytest

from mercer.comparison import compare_over_datasets
from mercer.report.study._verdicts import compare_columns

ROWS = [f"set {k}" for k in range(10)]


def _table(better="higher", rows=ROWS, columns=("good", "bad"), datasets=None):
    datasets = rows if datasets is None else datasets
    return {
        "better": better, "unit": "% correct", "columns": list(columns),
        "rows": [{"label": r, "dataset": d} for r, d in zip(rows, datasets, strict=True)],
    }  # fmt: skip


def _cells(values, protocol="either", reading=""):
    """Lines of cells.csv from a mapping of column to numbers by row."""
    lines = [
        {"row": row, "column": column, "measured": value, "protocol": protocol, "reading": reading}
        for column, numbers in values.items()
        for row, value in zip(ROWS, numbers, strict=False)
    ]
    return pd.DataFrame(lines)


BASE = np.linspace(70, 90, 10)
VALUES = {"good": BASE + 2 + np.arange(10) / 10, "bad": BASE}


def test_better_is_higher_or_lower_as_the_table_says():
    for better, first in (("higher", "good"), ("lower", "bad")):
        verdict = compare_columns(_table(better), _cells(VALUES), "Table 1")
        (pair,) = verdict.pairs
        assert pair.better == first
        assert pair.significant
        assert pair.verdict == f"{first} is better"


def test_numbers_are_those_of_the_comparison():
    values = {"good": BASE + np.arange(10) / 5, "bad": BASE}  # some within a point, some not
    verdict = compare_columns(_table(), _cells(values), "Table 1")
    expected = compare_over_datasets(pd.DataFrame(values), rope=1.0, random_state=0).pairs.iloc[0]
    assert 0.05 < expected["P(same)"] < 0.95
    (pair,) = verdict.pairs
    assert pair.difference == f"{expected['difference']:.2f} points"
    assert pair.interval == f"{expected['low']:.2f} to {expected['high']:.2f}"
    assert pair.pvalue == expected["pvalue_holm"]
    assert pair.same == f"{expected['P(same)']:.2f}"


def test_intervals_turn_with_the_pair():
    verdict = compare_columns(_table(columns=("bad", "good")), _cells(VALUES), "Table 1")
    again = compare_columns(_table(), _cells(VALUES), "Table 1")
    assert verdict.pairs[0].interval == again.pairs[0].interval
    assert verdict.pairs[0].better == "good"


def test_honest_numbers_go_first_and_the_papers_are_said_to_be():
    honest = _cells({"good": VALUES["bad"], "bad": VALUES["good"]}, "honest")
    paper = _cells(VALUES, "paper")
    verdict = compare_columns(_table(), pd.concat([paper, honest]), "Table 1")
    assert verdict.pairs[0].better == "bad"
    assert "training rows alone" in verdict.basis
    verdict = compare_columns(_table(), paper, "Table 1")
    assert verdict.pairs[0].better == "good"
    assert "the paper's protocol" in verdict.basis


def test_the_first_reading_counts():
    other = _cells({"good": BASE - 5}, reading="second")
    verdict = compare_columns(_table(), pd.concat([_cells(VALUES), other]), "Table 1")
    assert verdict.pairs[0].better == "good"


def test_equal_columns_are_told_without_numbers_that_are_none():
    verdict = compare_columns(_table(), _cells({"good": BASE, "bad": BASE}), "Table 1")
    (pair,) = verdict.pairs
    assert not pair.significant
    assert pair.verdict == "no difference seen"
    assert not any(word in str(pair) for word in ("nan", "inf'", "inf "))


def test_columns_with_many_gaps_are_left_out():
    values = {**VALUES, "rare": np.where(np.arange(10) < 2, BASE, np.nan)}
    verdict = compare_columns(_table(columns=("good", "bad", "rare")), _cells(values), "Table 1")
    assert verdict.basis.startswith("10 data sets, 2 methods")


def test_a_data_set_counts_once():
    same = _table(datasets=["iris"] * 8 + ["wine", "seeds"])
    assert compare_columns(same, _cells(VALUES), "Table 1") is None


@pytest.mark.parametrize(
    ("table", "cells"),
    [
        (_table(better=None), _cells(VALUES)),
        (_table(), _cells({"good": VALUES["good"]})),
        (_table(), _cells({name: numbers[:4] for name, numbers in VALUES.items()})),
        (_table(), _cells({name: numbers * np.nan for name, numbers in VALUES.items()})),
    ],
)
def test_too_little_to_compare(table, cells):
    assert compare_columns(table, cells, "Table 1") is None
