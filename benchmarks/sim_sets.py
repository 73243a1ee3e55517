"""How often do prediction sets hold the true class, and how large are they?

    export MERCER_TABLES=/path/to/tables MERCER_DATA=/path/to/data
    python benchmarks/sim_sets.py run --out results --seconds 1500 [--draws 1000] [--jobs 2]
    python benchmarks/sim_sets.py report --out results

A quarter of a table's rows, at most 200, are put aside: they say how its columns are prepared, and
they choose a kernel's width and ridge "beforehand".  Of the other rows each draw takes some to
train on, and at most 150 to test.  Draws are added to what is in ``--out``, in which every table
gets the same time, until the time or the draws are used.  The peer is MAPIE, if it is installed,
on the same discriminant and the same rows.
"""

import argparse
import functools
import importlib.util
import itertools
import json
import multiprocessing
import os
import sys
import time
import warnings
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from pathlib import Path

import numpy as np
from _tables_problems import Place, all_sizes, load
from sklearn.model_selection import train_test_split

from mercer.classifiers import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from mercer.tables import make_preprocessor, match_columns, split_target

COVERAGE = 0.9
# MAPIE's sets at these coverages: its size at ours is between two of them.
LEVELS = [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.875, 0.9, 0.925, 0.95, 0.975, 0.985]
ASIDE, TRAIN, TEST = 200, 200, 150  # rows
TRAIN_OF_A_CLASS = 25  # rows for each class, where that is more
ROWS_OF_A_CLASS = 10  # are expected among the training rows, or the class is left out
KERNEL = {"kernel": "laplacian"}  # by name, as the choice among several takes seconds
PARZEN = {"parzen": ParzenClassifier, "laplacian": LaplacianClassifier, "ise": ISEClassifier}
SELDOM, SELDOMER = 10, 40  # Every so many draws have the slow methods, and the slowest.


class Rows:
    """The numbers of a table, and its classes: rows put aside, and those that are drawn from."""

    def __init__(self, place, name):
        problem = load(place, name)
        shares = np.bincount(problem.y) / len(problem.y)
        most = max(TRAIN, TRAIN_OF_A_CLASS * len(shares))
        most = min(most, int(0.6 * 0.75 * len(problem.y)))
        kept = np.flatnonzero((shares * most >= ROWS_OF_A_CLASS)[problem.y])
        kept = np.random.default_rng(0).permutation(kept)[:20_000]
        n_aside = min(ASIDE, len(kept) // 4)
        self.n_train = min(most, int(0.6 * (len(kept) - n_aside)))
        frame = problem.X.iloc[kept].assign(**{"the class": [f"c{c:03}" for c in problem.y[kept]]})
        data = split_target(frame.reset_index(drop=True), "the class")
        table = make_preprocessor(data.columns, scale="soft-ranks")
        numbers = match_columns(data.X, data.columns).frame
        table.fit(numbers.iloc[:n_aside], data.y[:n_aside])
        X, y = np.asarray(table.transform(numbers), dtype=float), data.y
        self.aside, self.rest = (X[:n_aside], y[:n_aside]), (X[n_aside:], y[n_aside:])
        self.n_classes = len(np.unique(y))

    def draw(self, number):
        """Training rows, their classes, test rows and theirs; the classes are all trained on."""
        X, y = self.rest
        rng = np.random.default_rng((number, 11))
        while True:
            order = rng.permutation(len(y))
            train, test = np.split(order[: self.n_train + TEST], [self.n_train])
            counts = np.unique(y[train], return_counts=True)[1]
            if len(counts) == self.n_classes and counts.min() >= 4:
                return X[train], y[train], X[test], y[test]


def judge(sets, classes, y):
    """Share of sets with the class, mean size, share of sets with one class."""
    own = sets[np.arange(len(y)), np.searchsorted(classes, y)]
    sizes = sets.sum(axis=1)
    return [float(own.mean()), float(sizes.mean()), float((sizes == 1).mean())]


def ours(model, X, y, new, new_y, methods=("jackknife+", "left-out")):
    """What sets of a fitted discriminant are like, by each method."""
    model.fit(X, y)
    found = {"accuracy": float(model.score(new, new_y))}
    for method in methods:
        options = {"method": method} if isinstance(model, KernelFisherDiscriminant) else {}
        sets = model.predict_set(new, COVERAGE, **options)
        found[method] = judge(sets, model.classes_, new_y)
    return found


def mapie_split(model, X, y, new, new_y, number):
    """MAPIE's sets: half of the rows fit the discriminant, the other half says what is odd."""
    from mapie.classification import SplitConformalClassifier

    parts = train_test_split(X, y, test_size=0.5, stratify=y, random_state=number)
    levels = possible_levels(len(parts[1]))
    sets = SplitConformalClassifier(model, levels, "lac", prefit=False)
    sets.fit(parts[0], parts[2]).conformalize(parts[1], parts[3])
    return mapie_judged(sets, levels, np.unique(y), new, new_y)


def mapie_cross(model, X, y, new, new_y):
    """MAPIE's sets by five folds."""
    from mapie.classification import CrossConformalClassifier

    levels = possible_levels(len(X))
    sets = CrossConformalClassifier(model, levels, "lac", cv=5)
    return mapie_judged(sets.fit_conformalize(X, y), levels, np.unique(y), new, new_y)


def possible_levels(n_rows):
    """The levels that so many rows can tell: MAPIE refuses others."""
    return [level for level in LEVELS if n_rows * (1 - level) > 1.01]


def mapie_judged(fitted, levels, classes, new, new_y):
    """At each level: its sets as they are, and with the prediction where they lack it."""
    answers, sets = fitted.predict_set(new)
    whole = sets | (np.asarray(answers)[:, None] == classes)[:, :, None]
    places = range(len(levels))
    return {
        "as it is": [judge(sets[:, :, k], classes, new_y) for k in places],
        "with the prediction": [judge(whole[:, :, k], classes, new_y) for k in places],
    }


def one_draw(rows, fixed, number, has_mapie):
    """Everything that one draw says, as JSON has it."""
    X, y, new, new_y = drawn = rows.draw(number)
    tuned = KernelFisherDiscriminant(**KERNEL)
    found = {"draw": number, "tuned": ours(tuned, *drawn)}
    found["beforehand"] = ours(KernelFisherDiscriminant(**KERNEL, **fixed), *drawn)
    for name, window in PARZEN.items():
        found[name] = ours(window(), *drawn, methods=("left-out",))
    if has_mapie:
        found["mapie split"] = mapie_split(tuned, X, y, new, new_y, number)
    if number % SELDOM == 0:
        sparse = SparseKernelFisherDiscriminant(**KERNEL, random_state=number)
        found["sparse"] = ours(sparse, *drawn, methods=("left-out",))
        if has_mapie:
            found["mapie cross"] = mapie_cross(tuned, X, y, new, new_y)
    if number % SELDOMER == 0:
        found["auto"] = ours(KernelFisherDiscriminant(), *drawn)
    return found


def run(options):
    place = Place(options.tables, options.data)
    names = [name for name in all_sizes(place) if not name.endswith("/blocked")]
    names = [name for name in names if not options.only or name in options.only.split(",")]
    options.out.mkdir(parents=True, exist_ok=True)
    files = {name: options.out / f"{name.replace('/', '+')}.jsonl" for name in names}
    waiting = {}
    for name, path in files.items():
        done = {one["draw"] for one in _lines(path)}
        waiting[name] = [number for number in range(options.draws) if number not in done]
    spent, last = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    start = time.perf_counter()

    def batches():
        """Draws to be done, next those of the table that had the least time, until it is up."""
        while any(waiting.values()) and time.perf_counter() - start < options.seconds:
            name = min((name for name in names if waiting[name]), key=spent.__getitem__)
            numbers, waiting[name] = waiting[name][:SELDOM], waiting[name][SELDOM:]
            spent[name] += last[name]  # is put right when the draws are there
            yield place, name, numbers, last[name]

    n_draws = 0
    for name, found, seconds, expected in _answers(batches(), options.jobs):
        if found is None:
            waiting[name] = []
            continue
        with files[name].open("a") as file:
            file.writelines(json.dumps(one) + "\n" for one in found)
        spent[name] += seconds - expected
        last[name] = seconds
        n_draws += len(found)
        _show((time.perf_counter() - start) / options.seconds, n_draws, name)
    print(file=sys.stderr)


def _answers(tasks, n_jobs):
    """What the processes answer to tasks, as it comes; a task is taken when a process is idle."""
    with ProcessPoolExecutor(n_jobs, multiprocessing.get_context("spawn")) as pool:
        running = set()
        while True:
            for task in itertools.islice(tasks, n_jobs - len(running)):
                running.add(pool.submit(_draws, *task))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()


def _draws(place, name, numbers, expected):
    """What some draws of a table say, None for a table too small; and the seconds they took."""
    warnings.simplefilter("ignore")
    began = time.process_time()
    prepared = _prepare(place, name)
    if prepared is None:
        return name, None, 0.0, expected
    has_mapie = importlib.util.find_spec("mapie") is not None
    found = [one_draw(*prepared, number, has_mapie) for number in numbers]
    return name, found, time.process_time() - began, expected


@functools.cache
def _prepare(place, name):
    """Rows of a table and the width and ridge of the rows put aside; None for a table too small."""
    rows = Rows(place, name)
    if rows.n_classes < 2 or rows.n_train < 50:
        return None
    X, y = rows.aside
    if len(np.unique(y)) < 2:
        return None
    model = KernelFisherDiscriminant(**KERNEL).fit(X, y)
    return rows, {"gamma": model.gamma_, "alpha": model.alpha_}


def _lines(path):
    """Return the whole lines of a file: a run that was ended may have left a part of one."""
    if not path.exists():
        return []
    found = []
    for line in path.read_text().splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    path.write_text("".join(json.dumps(one) + "\n" for one in found))
    return found


def _show(share, n_draws, name):
    bar = "#" * int(30 * min(share, 1))
    text = f"[{bar:30}] {n_draws} draws, {name}"
    print(f"\r{text:70.70}", end="", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=1500)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", default="")
    parser.add_argument("--tables", default=os.environ.get("MERCER_TABLES", ""))
    parser.add_argument("--data", default=os.environ.get("MERCER_DATA", ""))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.what == "run":
        run(options)
    else:
        from _sets_report import print_report

        print_report({path.stem: _lines(path) for path in sorted(options.out.glob("*.jsonl"))})


if __name__ == "__main__":
    main()
