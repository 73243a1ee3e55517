"""How often is a verdict wrong where the truth is known, and how often does it find what is there?

    python benchmarks/sim_verdicts.py run --out results --minutes 10 [--jobs 16]
    python benchmarks/sim_verdicts.py report --out results

Two classifiers are compared on tables that are drawn from a known distribution, by the rules of
several tools, each on the splits that it makes.  One number of the distribution sets how much
better the first classifier is on average, 0, 1, 2 or 5 points of accuracy, when it is trained on
nine tenths of so many rows; it is found on fresh rows, in the first minutes of a run, and measured
once more, with its standard error, which the report prints.  Draws are added to what is in
``--out`` until the time is used; cells with the fewest draws come first, and cells without a true
difference get twice as many.

The rules: the corrected tests of splits and of rows, by which `mercer compare` judges (ten folds,
twice); autorank's for two columns
(Shapiro's test on each; if neither rejects, the paired t test; else Wilcoxon's test of the one with
the higher median, one-sided) on ten folds and on Mercer's splits, written here as in its version
1.3; Wilcoxon's test on ten repetitions of three folds, the splits of TabArena's small tables; and
what tables of means invite to, as in PyCaret, skore and LazyPredict: the higher mean of ten folds
is better, or is so if the two do not overlap within one standard deviation.
"""

import argparse
import json
import os
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # a process for each core instead
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

SIZES = (100, 300, 1000)
POINTS = (0, 1, 2, 5)  # of accuracy, by which the first classifier is better
FRESH = 2000  # rows on which a fitted classifier is judged for the truth
CHUNK = 20  # draws of a task


def _twins(rng, n, strength, base):
    """Two blocks of three columns, alike but for the strength of the first; balanced classes."""
    y = np.arange(n) % 2
    blocks = rng.normal(size=(2, n, 3))
    blocks[0, :, 0] += strength * y
    blocks[1, :, 0] += base * y
    return blocks[0], blocks[1], y


_easy_twins = partial(_twins, base=2.6)  # nine in ten rows are right
_hard_twins = partial(_twins, base=1.0)  # two in three


def _one_column_more(rng, n, strength):
    """The same five columns for both, and one more for the first."""
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 6))
    X[:, :2] += 0.8 * y[:, None]
    X[:, 5] += strength * y
    return X, X[:, :5], y


def _one_bent_pair(rng, n, strength):
    """The same columns for both: two shifted ones, and two whose product tells the class."""
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 4))
    X[:, :2] += y[:, None]
    side = rng.choice([-1.0, 1.0], n)
    X[:, 2] += strength * side
    X[:, 3] += strength * side * (2 * y - 1)
    return X, X, y


@dataclass(frozen=True)
class Kind:
    """A pair of classifiers, the distribution they learn from, and strengths to search among."""

    words: str
    learners: tuple
    draw: object
    strengths: tuple[float, float]
    null: float | None = None  # the strength at which both are exactly as good, if it is known


LDA = LinearDiscriminantAnalysis
TREE = partial(DecisionTreeClassifier, random_state=0)
NEAREST = partial(KNeighborsClassifier, 1)
KINDS = {
    "means": Kind("LDA, other columns", (LDA, LDA), _easy_twins, (2.6, 3.8), 2.6),
    "neighbour": Kind("1-NN, other columns", (NEAREST, NEAREST), _hard_twins, (1, 1.6), 1.0),
    "trees": Kind("a tree, other columns", (TREE, TREE), _hard_twins, (1, 1.6), 1.0),
    "column": Kind("LDA, one column more", (LDA, LDA), _one_column_more, (0, 1)),
    "bent": Kind("5-NN and LDA", (KNeighborsClassifier, LDA), _one_bent_pair, (0.5, 1.3)),
}


PAIRS = [(name, n) for name in KINDS for n in SIZES]


def trained_difference(kind, n_train, strength, seeds):
    """Accuracy of the first minus that of the second, on fresh rows, for each training set."""
    found = []
    for seed in seeds:
        rng = np.random.default_rng((seed, 5))
        A, B, y = kind.draw(rng, n_train, strength)
        new_A, new_B, new_y = kind.draw(rng, FRESH, strength)
        first, second = (make().fit(X, y) for make, X in zip(kind.learners, (A, B), strict=True))
        found.append(first.score(new_A, new_y) - second.score(new_B, new_y))
    return np.array(found)


def find_strengths(name, n, n_sets):
    """The strength at which the first is better by so many points, and the truth at it.

    The difference is measured at eleven strengths and smoothed by a polynomial; where that reaches
    the points, the truth is measured again, on other rows.
    """
    kind, n_train = KINDS[name], round(0.9 * n)
    grid = np.linspace(*kind.strengths, 11)
    means = [trained_difference(kind, n_train, s, range(n_sets)).mean() for s in grid]
    fine = np.linspace(*kind.strengths, 2001)
    smooth = np.polyval(np.polyfit(grid, means, 4), fine)
    found = {}
    for points in POINTS:
        is_exact = kind.null is not None and points == 0
        strength = kind.null if is_exact else fine[np.argmin(np.abs(smooth - points / 100))]
        others = range(10**6, 10**6 + 5 * n_sets)
        truth = trained_difference(kind, n_train, strength, others)
        found[_key((name, n, points))] = {
            "strength": float(strength),
            "difference": 0.0 if is_exact else float(truth.mean()),
            "error": 0.0 if is_exact else float(truth.std(ddof=1) / np.sqrt(len(truth))),
        }
    return found


def one_draw(name, n, strength, number):
    """A table, both classifiers on the splits of all tools: how many test rows each gets right.

    ``tens`` are ten folds twice, ``thirds`` three folds ten times; ``rows`` counts rows by who is
    right, A minus B, in the first and the second of the ten folds; ``apart`` are the rows of each
    of these splits on which one of them is right.
    """
    kind = KINDS[name]
    rng = np.random.default_rng((number, n, sorted(KINDS).index(name), round(1e6 * strength)))
    A, B, y = kind.draw(rng, n, strength)
    found = {"draw": number}
    for key, folds, repeats in (("tens", 10, 2), ("thirds", 3, 10)):
        splits = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=number)
        right, apart, gaps = [], [], np.zeros((repeats, n), dtype=int)
        for k, (train, test) in enumerate(splits.split(A, y)):
            ours = [
                make().fit(X[train], y[train]).predict(X[test]) == y[test]
                for make, X in zip(kind.learners, (A, B), strict=True)
            ]
            right.append([int(ours[0].sum()), int(ours[1].sum()), len(test)])
            gaps[k // folds, test] = ours[0].astype(int) - ours[1]
            apart.append(int(np.sum(ours[0] != ours[1])))
        found[key] = np.transpose(right).tolist()
        if key == "tens":
            counts = np.zeros((3, 3), dtype=int)
            np.add.at(counts, (gaps[0] + 1, gaps[1] + 1), 1)
            found |= {"rows": counts.tolist(), "apart": apart}
    return found


def some_draws(name, n, points, strength, first, count):
    draws = [one_draw(name, n, strength, number) for number in range(first, first + count)]
    cell = {"n": n, "points": points}
    return [json.dumps({**cell, **draw}, separators=(",", ":")) + "\n" for draw in draws]


def run(options):
    options.out.mkdir(parents=True, exist_ok=True)
    stop = time.monotonic() + 60 * options.minutes
    with ProcessPoolExecutor(options.jobs) as pool:
        strengths = _strengths(pool, options.out, options.sets)
        done = dict.fromkeys(strengths, 0)
        for cell, draws in read_draws(options.out).items():
            done[cell] = max(draw["draw"] for draw in draws) + 1
        waiting = {}
        while time.monotonic() < stop or waiting:
            while len(waiting) < 2 * options.jobs and time.monotonic() < stop:
                cell = min(done, key=lambda one: done[one] / (1 + (one[2] == 0)))
                task = pool.submit(some_draws, *cell, strengths[cell], done[cell], CHUNK)
                waiting[task] = cell
                done[cell] += CHUNK
            for task in wait(waiting, return_when=FIRST_COMPLETED).done:
                name = waiting.pop(task)[0]
                with (options.out / f"{name}.jsonl").open("a") as file:
                    file.writelines(task.result())
            _show(f"{sum(done.values())} draws, {(stop - time.monotonic()) / 60:.1f} minutes left")
    print(file=sys.stderr)


def _strengths(pool, out, n_sets):
    """The strength of every cell: those of an earlier run, and those that are still to find."""
    path = out / "strengths.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    pairs = [pair for pair in PAIRS if _key((*pair, 0)) not in known]
    tasks = [pool.submit(find_strengths, *pair, n_sets) for pair in pairs]
    for number, task in enumerate(tasks):
        _show(f"strengths of {len(tasks) - number} pairs to find")
        known.update(task.result())
        path.write_text(json.dumps(known, indent=1) + "\n")
    return {(*pair, p): known[_key((*pair, p))]["strength"] for pair in PAIRS for p in POINTS}


def _key(cell):
    return "-".join(map(str, cell))


def read_draws(out):
    """The draws of every cell; of a line that was cut off when a run was ended, nothing is left."""
    found = {}
    for name in KINDS:
        path = out / f"{name}.jsonl"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        if lines and not lines[-1].endswith("\n"):
            path.write_text("".join(lines[:-1]))
            lines.pop()
        for draw in map(json.loads, lines):
            found.setdefault((name, draw["n"], draw["points"]), []).append(draw)
    return found


def _show(text):
    print(f"\r{text:60}", end="", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--sets", type=int, default=400, help="training sets of a strength")
    options = parser.parse_args()
    if options.what == "run":
        run(options)
    else:
        from _verdicts_report import print_report  # needs Mercer, which a run does not

        known = json.loads((options.out / "strengths.json").read_text())
        print_report(known, read_draws(options.out))


if __name__ == "__main__":
    main()
