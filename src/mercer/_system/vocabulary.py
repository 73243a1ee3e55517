"""The words that the terminal, the pages and the files share: marks, metrics and models.

Each stands here once: what a measured number is to a published one, how a model stands to the best,
how two tables differ, how a metric is called and which way it is better, which models are tried
first, and what the columns of result tables are called.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class Mark:
    """A verdict that is shown as a sign or an icon."""

    name: str  # what files and tables call it
    icon: str  # which icon and colour of the page it has
    meaning: str  # for a legend
    sign: str = ""  # one character for the terminal and for Markdown, where it has one
    in_counts: str = ""  # what a sentence says of several numbers that have it: "12 not reached"


def _by_name(*marks: Mark) -> Mapping[str, Mark]:
    return {mark.name: mark for mark in marks}


# How a measured number stands to the published one, in the order in which they are listed.
MARKS = _by_name(
    Mark(
        "reached",
        "reached",
        "within the published spread, or the measured one where none is printed, and not merely "
        "near",
        "✓",
        "reached within their own spread",
    ),
    Mark(
        "near",
        "near",
        "within the spread of single runs, but the means are more than three standard errors apart",
        "≈",
        "within the spread of single runs but more than three standard errors away",
    ),
    Mark("better", "better", "beyond the spread, on the better side", "▲", "better than published"),
    Mark("short", "short", "beyond the spread, on the worse side", "▽", "not reached"),
    Mark(
        "differs",
        "differs",
        "beyond the spread, where neither side is better",
        "≠",
        "different, where neither way is better",
    ),
    Mark(
        "one draw",
        "one-draw",
        "not judged: the paper prints one random draw, measured is a mean over many",
        "•",
        "of one random draw",
    ),
    Mark(
        "misprint",
        "misprint",
        "not judged: what the paper prints elsewhere contradicts this number",
        "†",
        "misprinted in the paper",
    ),
    Mark("failed", "failed", "the job ended in an error", in_counts="ended in an error"),
    Mark("not run", "not-run", "not part of this run", in_counts="not run"),
    Mark("no data", "no-data", "the data set was not found", in_counts="without data here"),
    Mark(
        "not available",
        "not-available",
        "data or details are not public, or not in the folder of data sets",
        in_counts="not available here",
    ),
    Mark("ours", "ours", "the paper prints no number here"),
    Mark("honest", "honest", "every choice was made on training rows alone"),
)

# Marks of a published number that was measured and judged, of one that no measured number can
# judge, and of one that was not measured.
JUDGED = ("reached", "near", "better", "short", "differs")
NOT_JUDGED = ("one draw", "misprint")
UNMEASURED = ("failed", "not run", "no data", "not available")

# Marks of a measured number with which a study's reason is shown, where it has one.
MISSED = ("short", "differs", "near")


def mark_named(name: str) -> Mark:
    """Return the mark of a number; an unknown one is shown under its own name."""
    return MARKS.get(name, Mark(name, "other", ""))


def said_of_one_reading(reached: int) -> str:
    """Say how many numbers one reading for each column reaches, beside the lenient count."""
    return (
        "Of several readings of the paper the one that suits each number best counts. With one "
        f"reading for each column of a table {reached} {'is' if reached == 1 else 'are'} reached."
    )


# How a model of a comparison stands to the best one.
STANDINGS = _by_name(
    Mark("best", "better", "the best mean score"),
    Mark("not told apart", "other", "the difference from the best could be chance"),
    Mark("worse", "short", "worse than the best by more than chance explains"),
    Mark("not tested", "no-data", "one round tells nothing apart"),
    Mark("failed", "failed", "it ended in an error"),
    Mark("left out", "not-run", "the budget was too short for it"),
)

# An AUC up to this one does not matter in practice, unless a user says otherwise.
USUAL_BOUND = 0.6

# How two tables differ, by a test and by the interval of the AUC at which they are told apart.
DIFFERENCES = _by_name(
    Mark(
        "practically different",
        "short",
        "the interval lies above the bound: the tables can be told apart by more than that",
    ),
    Mark(
        "different, perhaps in practice",
        "differs",
        "the test finds a difference, and the interval reaches both sides of the bound",
    ),
    Mark(
        "different, but no practical difference",
        "near",
        "the test finds a difference, and the interval lies under the bound",
    ),
    Mark(
        "not shown to differ",
        "reached",
        "the test finds no difference, and the interval lies under the bound",
    ),
    Mark(
        "too few rows to tell",
        "other",
        "the test finds no difference, and the interval reaches above the bound",
    ),
)


@dataclass(frozen=True)
class Metric:
    """What models are judged by: its name in options and files, its words, its better side."""

    name: str
    words: str
    lower_is_better: bool = False
    bounds: tuple[float, float] = (0.0, 1.0)  # what it can be


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "accuracy"),
        Metric("balanced", "balanced accuracy"),
        Metric("f1", "F1"),
        Metric("auc", "area under the ROC curve"),
        Metric("average-precision", "average precision"),
        Metric("log-loss", "log loss", lower_is_better=True, bounds=(0.0, inf)),
        Metric("cost", "mean cost", lower_is_better=True, bounds=(-inf, inf)),
    )
}


def metric_named(name: str) -> Metric:
    """Return a metric; an unknown one is shown under its own name."""
    return METRICS.get(name, Metric(name, name, bounds=(-inf, inf)))


# Models in the order in which they are tried: where time is short, the last ones are left out.
MODELS_QUICK_FIRST = (
    "dummy", "logistic", "parzen", "ise", "laplacian", "knn", "roweis-saul", "boosting", "fisher",
    "svc", "laplacian-svc", "forest",
)  # fmt: skip

# The tables of a results folder of ``mercer reproduce``, and their columns.
_KEY = ("study", "table", "row", "column", "reading", "protocol")
STUDY_TABLES = {
    "cells": (
        *_KEY, "published", "published_spread", "published_dimension", "published_decimals",
        "measured", "spread", "dimension", "n", "standard_error", "at_or_below", "mark", "counts",
        "one_reading", "reason", "seconds",
    ),
    "scores": (*_KEY, "replication", "seed", "value", "details"),
    "timings": (*_KEY, "replication", "seconds"),
    "failures": (*_KEY, "replication", "error"),
}  # fmt: skip
