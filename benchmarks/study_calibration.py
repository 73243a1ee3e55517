"""How right probabilities are, and what that costs, by who made them and how.

    export MERCER_TABLES=/path/to/tables MERCER_DATA=/path/to/data
    python benchmarks/study_calibration.py --out results [--rows 300] [--methods fisher,parzen-loo]

Kernel Fisher and the Parzen family as they are and at their word, the latter also with biases and
inside scikit-learn's CalibratedClassifierCV; boosting and CatBoost, which must be installed; on
every table and numeric set, one split, a few training rows.  Prints means of log-loss, Brier score,
the error of the largest probability and the processor's seconds of a fit, over the problems that
all methods have.
Every result is a small file in ``--out``, and what is there is not computed again.

With ``--maps`` it prints instead what a bias for each class brings beside one temperature, both
fitted to the same left-out scores of training rows.
"""

import argparse
import json
import os
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from _tables_methods import ALL_METHODS, CALIBRATIONS, Clock
from _tables_problems import Place, Problem, all_sizes, draw, load, split
from scipy.special import log_softmax
from study_tables import _score as score_answer

from mercer.models import make_model
from mercer.samples import fit_biases, fit_temperature
from mercer.tables import match_columns, split_target

FAMILIES = ("fisher", "parzen", "laplacian", "ise")
# Those of kernel Fisher inside CalibratedClassifierCV are run where they are asked for: they take
# longer than all others together, and study_tables.py compares them on more rows.
METHODS = ["fisher", "uncalibrated", *(m for m in CALIBRATIONS if "-" in m), "hgb", "catboost"]
# The cheapest first: a run that is broken off has whole columns.
LAST = ("hgb", "catboost", "temperature", "isotonic", "sigmoid")
TEST_ROWS = 2000
MIN_ROWS = 5  # of a class among the rows that are drawn: each of five folds has one
SCORES = ["log_loss", "brier", "calibration_error", "accuracy", "fit_seconds"]


def draw_problem(place, name, n_rows):
    """Return (problem, training rows, test rows), without classes that are too rare to be drawn."""
    problem = load(place, name)
    train, test = split(problem, 0)
    train = draw(train, problem.y, n_rows, 0)
    kept = np.flatnonzero(np.bincount(problem.y[train], minlength=problem.y.max() + 1) >= MIN_ROWS)
    train, test = (rows[np.isin(problem.y[rows], kept)] for rows in (train, test))
    y = np.searchsorted(kept, problem.y)
    if len(test) > TEST_ROWS:
        test = np.sort(np.random.default_rng(0).permutation(test)[:TEST_ROWS])
    return Problem(problem.X, y, problem.categorical), train, test


def answer(place, name, method, n_rows):
    problem, train, test = draw_problem(place, name, n_rows)
    known = problem.X.columns[problem.X.iloc[train].notna().any()]
    parts = [problem.X.loc[rows, known].reset_index(drop=True) for rows in (train, test)]
    categorical = [column for column in problem.categorical if column in known]
    found = ALL_METHODS[method](parts[0], problem.y[train], parts[1], categorical, 0)
    return score_answer(found, problem.y[test], int(problem.y[train].max()) + 1)


def run(options, names):
    methods = options.methods.split(",") if options.methods else METHODS
    Clock.now = staticmethod(time.process_time)  # Others may be at work on the machine.
    options.out.mkdir(parents=True, exist_ok=True)
    jobs = [(name, method) for method in sorted(methods, key=_rank) for name in names]
    started = time.perf_counter()
    for number, (name, method) in enumerate(jobs, 1):
        path = options.out / f"{name.replace('/', '+')}.{options.rows}.{method}.json"
        if path.exists():
            continue
        result = {"problem": name, "method": method}
        try:
            result |= answer(Place(options.tables, options.data), name, method, options.rows)
        except Exception as error:
            result["error"] = f"{type(error).__name__}: {error}"
        path.write_text(json.dumps(result), encoding="utf-8")
        seconds = time.perf_counter() - started
        print(f"{number}/{len(jobs)} {seconds:.0f} s {name} {method}", flush=True)
    report(options, names, methods)


def _rank(method):
    is_folded = method.endswith(("-sigmoid", "-isotonic", "-temperature"))
    return 2 + LAST.index(method) if method in LAST else int(is_folded)


def report(options, names, methods):
    rows = [
        json.loads(path.read_text(encoding="utf-8"))
        for name in names
        for path in sorted(options.out.glob(f"{name.replace('/', '+')}.{options.rows}.*.json"))
    ]
    table = pd.DataFrame(rows)
    table = table[table["method"].isin(methods)]
    failed = table[table["error"].notna()] if "error" in table else table[:0]
    for title, part in (
        ("tables", table[~table["problem"].str.startswith("numeric/")]),
        ("numeric sets", table[table["problem"].str.startswith("numeric/")]),
    ):
        wide = part.pivot_table(index="problem", columns="method", values=SCORES).dropna()
        if len(wide):
            means = wide.mean().unstack(0)
            print_table(title, means.reindex([m for m in methods if m in means.index]), len(wide))
    for _, row in failed.iterrows():
        print(f"\n{row['method']} failed on {row['problem']} ({row['error']}).")


def print_table(title, means, n_problems):
    heads = ["log-loss", "Brier score", "calibration error", "accuracy, %", "fit, s"]
    print(f"\n| {title} ({n_problems}) | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    for method, row in means.iterrows():
        cells = [f"{row[score]:.4f}" for score in SCORES[:3]]
        cells += [f"{100 * row['accuracy']:.2f}", f"{row['fit_seconds']:.3f}"]
        print(f"| {method} | {' | '.join(cells)} |")


@contextmanager
def recorded(calls):
    """Keep the left-out scores, classes and weights that temperatures are fitted to."""

    def fit(*arguments):
        calls.append(arguments)
        return fit_temperature(*arguments)

    places = ("mercer.classifiers._calibration", "mercer.discriminants._gaussian")
    first, second = (mock.patch(f"{place}.fit_temperature", fit) for place in places)
    with first, second:
        yield


def maps(options, names):
    """Print the log-loss and accuracy of test rows by each map."""
    place, rows = Place(options.tables, options.data), []
    for name in names:
        problem, train, test = draw_problem(place, name, options.rows)
        columns = problem.X.columns[problem.X.iloc[train].notna().any()]
        frame = problem.X.loc[train, columns].reset_index(drop=True)
        frame = frame.assign(**{"class of the row": [f"class {c:03d}" for c in problem.y[train]]})
        kinds = {c: "category" if c in problem.categorical else "number" for c in columns}
        data, y = split_target(frame, "class of the row", kinds=kinds), problem.y[test]
        for family in FAMILIES:
            calls = []
            with recorded(calls):
                model = make_model(family, data, random_state=0).fit(data.X, data.y)
            if not calls:
                continue
            new = match_columns(problem.X.loc[test, columns], data.columns).frame
            temperature = model[-1].temperature_
            scores = temperature * model.predict_log_proba(new)
            new_temperature, biases = fit_biases(*calls[-1])
            answers = {
                "none": scores,
                "temperature": scores / temperature,
                "biases": scores / new_temperature + biases,
            }
            for title, odds in answers.items():
                logs = log_softmax(odds, axis=1)[np.arange(len(y)), y]
                right = (odds.argmax(axis=1) == y).mean()
                loss = -np.maximum(logs, np.log(1e-15)).mean()
                rows.append((family, title, name, loss, 100 * right, len(set(data.y))))
        print(f"{name} done", flush=True)
    heads = ["family", "map", "problem", "log-loss", "accuracy", "classes"]
    table = pd.DataFrame(rows, columns=heads)
    kinds = {"two classes": table["classes"] == 2, "more classes": table["classes"] > 2}
    for kind, chosen in kinds.items():
        wide = table[chosen].pivot_table(index="problem", columns=["family", "map"])
        print(f"\n| {kind} ({len(wide)}) | map | log-loss | better in | accuracy, % |")
        print("|---|---|---|---|---|")
        for family in [f for f in FAMILIES if f in wide["log-loss"]]:
            losses = wide["log-loss"][family]
            for title in answers:
                better = int((losses[title] < losses["temperature"] - 5e-4).sum())
                accuracy = wide["accuracy"][family][title].mean()
                cells = [family, title, f"{losses[title].mean():.4f}", better, f"{accuracy:.2f}"]
                print("| " + " | ".join(map(str, cells)) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    where = os.environ.get("MERCER_TABLES", "../shared/tables")
    parser.add_argument("--tables", default=where, help="folder of tables.json")
    parser.add_argument("--data", default=os.environ.get("MERCER_DATA", "../shared/data"))
    parser.add_argument("--rows", type=int, default=300, help="of the training part, at most")
    parser.add_argument("--problems", help="names between commas, all by default")
    parser.add_argument("--methods", help="names between commas, all by default")
    parser.add_argument("--out", type=Path, help="folder of results")
    parser.add_argument("--maps", action="store_true", help="compare maps of left-out scores")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sizes = all_sizes(Place(options.tables, options.data))
    names = [name for name in sizes if not name.endswith("/blocked")]
    names = options.problems.split(",") if options.problems else names
    if not options.maps and options.out is None:
        parser.error("--out says where results go")
    maps(options, names) if options.maps else run(options, names)


if __name__ == "__main__":
    main()
