"""The tables and numeric sets as they are read, and their splits.  For study_tables.py."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupShuffleSplit, train_test_split

NUMERIC = [
    "australian", "balance", "echocardiogram", "ecoli", "german_numeric", "glass", "heart_statlog",
    "ionosphere", "iris", "liver", "newthyroid", "pima", "sonar", "soybean_large", "tae",
    "transfusion", "vehicle", "vowel", "wbc", "wdbc", "wine", "digits8x8", "pendigits",
]  # fmt: skip

# Random rows share time, speakers or duplicates: random splits flatter every method.
FLATTERING = ["electricity", "eeg_eye_state", "gesture_phase", "vowel", "wine_quality"]

# Columns that name the group of a row: left out where the groups of the test rows are new.
GROUP_COLUMNS = {"gesture_phase": ["video"], "vowel": ["Speaker Number", "Train or Test"]}
N_BLOCKS = 10  # of consecutive rows, where rows are in the order of time

SMALL = 3000  # Tables of fewer rows are split twice more; peers are tuned on them by three folds.
MAX_ROWS = 10_000  # of the training part, and of the test part
MIN_CLASS_ROWS = 5  # smaller classes are left out of a table
MIN_TRAIN_ROWS = 3  # of every class, so that each of three folds can have one


@dataclass
class Problem:
    """Rows, classes as codes 0, 1, …, names of categorical columns, and groups of rows."""

    X: pd.DataFrame
    y: np.ndarray
    categorical: list[str]
    groups: np.ndarray | None = None


class Place(NamedTuple):
    """Where the tables and the numeric sets are."""

    tables: str
    data: str


class Size(NamedTuple):
    """What is known of a problem before it is read in full."""

    rows: int
    columns: int
    classes: int


def all_sizes(place):
    """Return the size of every problem by its name; rare classes counted too."""
    sizes = {}
    for name, entry in entries(place).items():
        sizes[name] = Size(entry["rows"], entry["cols"] - 1, len(entry["classes"]))
        if name in FLATTERING:
            sizes[f"{name}/blocked"] = sizes[name]
    for name in NUMERIC:
        path = Path(place.data, f"{name}.npz")
        if path.exists():
            with np.load(path) as stored:
                n_classes = len(np.unique(stored["y"]))
                sizes[f"numeric/{name}"] = Size(*stored["X"].shape, n_classes)
    return sizes


@cache
def entries(place):
    path = Path(place.tables, "tables.json")
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


@cache
def load(place, name):
    """Return a problem by its name: table, table/blocked or numeric/set."""
    kind, _, rest = name.partition("/")
    if kind == "numeric":
        return _load_numeric(place, rest)
    return _load_table(place, kind, blocked=rest == "blocked")


def _load_numeric(place, name):
    with np.load(Path(place.data, f"{name}.npz")) as stored:
        X = pd.DataFrame(stored["X"].astype(float))
        keep = _is_common(stored["y"])
        y = np.unique(stored["y"][keep], return_inverse=True)[1]
    X.columns = [f"x{number}" for number in range(X.shape[1])]
    return Problem(X[keep].reset_index(drop=True), y, [])


def _load_table(place, name, *, blocked):
    entry = entries(place)[name]
    path = Path(place.tables, entry["file"])
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame = frame[_is_common(frame[entry["target"]])].reset_index(drop=True)
    y = np.unique(frame[entry["target"]].to_numpy(dtype=str), return_inverse=True)[1]
    dropped = {entry["target"], *entry["ids"], *entry["leaks"], *entry.get("left_out", ())}
    groups = _groups(name, frame, dropped) if blocked else None
    if blocked:
        dropped |= {*GROUP_COLUMNS.get(name, ())}
    kept = [column for column in frame.columns if column not in dropped]
    categorical = [column for column in kept if column in entry["categorical_columns"]]
    X = frame[kept].where(frame[kept] != "")
    numbers = [column for column in kept if column not in categorical]
    X[numbers] = X[numbers].apply(pd.to_numeric).astype(float)
    return Problem(X, y, categorical, groups)


def _is_common(labels):
    """Say of every row whether it has a class, and one that is large enough to be split."""
    labels = pd.Series(labels)
    return ((labels.map(labels.value_counts()) >= MIN_CLASS_ROWS) & (labels != "")).to_numpy()


def _groups(name, frame, dropped):
    """Return the group of every row; no group may be in both parts of a split."""
    if name in GROUP_COLUMNS:
        return pd.factorize(frame[GROUP_COLUMNS[name][0]])[0]
    if name == "wine_quality":
        columns = [column for column in frame.columns if column not in dropped]
        return frame.groupby(columns, sort=False).ngroup().to_numpy()
    return np.arange(len(frame)) * N_BLOCKS // len(frame)


def split(problem, number):
    """Return training rows and test rows of a split, both at most 10 000."""
    rows = np.arange(len(problem.y))
    if problem.groups is None:
        train, test = train_test_split(rows, test_size=0.3, stratify=problem.y, random_state=number)
    else:
        train, test = _split_groups(problem, number)
    return draw(train, problem.y, MAX_ROWS, number), draw(test, problem.y, MAX_ROWS, number)


def _split_groups(problem, number):
    """Return parts that share no group; splits differ and train on every class."""
    n_classes = problem.y.max() + 1
    seen = set()
    for seed in range(500):
        splitter = GroupShuffleSplit(1, test_size=0.3, random_state=seed)
        train, test = next(splitter.split(problem.X, problem.y, problem.groups))
        counts = np.bincount(problem.y[train], minlength=n_classes)
        tested = tuple(np.unique(problem.groups[test]))
        if counts.min() >= MIN_TRAIN_ROWS and tested not in seen:
            seen.add(tested)
            if len(seen) > number:
                return train, test
    raise ValueError("Too few splits of the groups have every class in their training part.")


def draw(rows, y, most, seed):
    """Return at most so many rows, classes in proportion, rows in order."""
    if len(rows) > most:
        rows = train_test_split(rows, train_size=most, stratify=y[rows], random_state=seed)[0]
    return np.sort(rows)
