"""Counts of the summary, against a count by hand of cells.csv."""

import csv
from collections import Counter

from mercer.report.study._results import read_results
from mercer.report.study._summary import summarise


def _by_hand(folder):
    with (folder / "cells.csv").open(encoding="utf-8") as file:
        return [line for line in csv.DictReader(file) if line["counts"] == "True"]


def test_counts_are_those_of_the_file(folder):
    lines = _by_hand(folder)
    results = read_results(folder)
    summary = summarise(results.cells, ["laplacian", "faces-roweis-saul"])
    assert {k: v for k, v in summary.counts.items() if v} == Counter(x["mark"] for x in lines)
    assert summary.total == len(lines)
    assert summary.judged == len([line for line in lines if line["measured"]])
    assert summary.not_judged == 0
    for study in summary.studies:
        own = [line["mark"] for line in lines if line["study"] == study.name]
        assert {k: v for k, v in study.counts.items() if v} == Counter(own)
    assert sum(study.total for study in summary.studies) == summary.total


def test_every_published_cell_is_counted_once(folder):
    keys = [
        tuple(line[k] for k in ("study", "table", "row", "column")) for line in _by_hand(folder)
    ]
    assert len(set(keys)) == len(keys)


def test_reasons_hold_every_missed_cell_once(folder):
    lines = _by_hand(folder)
    summary = summarise(read_results(folder).cells, [])
    expected = Counter(
        (line["mark"], line["reason"] or "No reason is known.")
        for line in lines
        if line["mark"] in ("short", "differs")
    )
    assert {(r.mark.name, r.text): r.count for r in summary.missed} == expected
    sizes = [reason.count for reason in summary.missed]
    assert sizes == sorted(sizes, reverse=True)
    others = Counter(line["mark"] for line in lines if not line["measured"])
    assert Counter({r.mark.name: r.count for r in summary.unmeasured}) == others


def test_reasons_know_their_tables(folder):
    summary = summarise(read_results(folder).cells, [])
    for reason in (*summary.missed, *summary.unmeasured):
        tables = reason.by_table()
        assert sum(len(cells) for _, cells in tables) == reason.count
        assert all(c["table"] == table for (_, table), cells in tables for c in cells)
