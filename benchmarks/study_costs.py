"""Answers by costs, and a recall that is promised: kept on new rows? and at which price?

Tables of MERCER_TABLES with two classes are drawn from again and again: some rows for the fit, the
others for the test.  Models are kernel Fisher (left-out rows in closed form), gradient boosting and
logistic regression (left out by folds); peers are the most probable class, thresholds without our
care for few rows, and scikit-learn's TunedThresholdClassifierCV, which is told the same wish.  All
of them see the same rows, and fits that they share are made once.

    MERCER_TABLES=tables python benchmarks/study_costs.py run --draws 6 --out results
    python benchmarks/study_costs.py report --out results

Some 20 minutes on one core; resumes.
"""

import argparse
import json
import os
import time
import warnings
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV, train_test_split

from mercer.models import DecidingClassifier, make_model
from mercer.tables import read_table, split_target

MODELS = ("fisher", "boosting", "logistic")
WISHES = (0.9, 0.95)
RATIOS = (5, 20)  # what it costs to miss the rarer class, where a false alarm costs 1
LEAST_TEST_ROWS = 100  # of the rarer class
MOST_TEST_ROWS = 6000
RESULTS = "study_costs.jsonl"

_FITS = {}  # by the rows of a fit: what it says of all rows, and how long it took
_WORLD = {}  # the table of now


class Remembered(ClassifierMixin, BaseEstimator):
    """A model whose rows are numbers of rows: a fit on the same rows is made once."""

    def __init__(self, name="fisher", seed=0):
        self.name = name
        self.seed = seed

    def fit(self, X, y):
        data, rows = _WORLD["data"], X[:, 0]
        key = (self.name, rows.tobytes())
        if key not in _FITS:
            part = replace(data, X=data.X.iloc[rows], y=data.y[rows])
            model = make_model(self.name, part, random_state=self.seed)
            start = time.perf_counter()
            model.fit(part.X, part.y)
            seconds = time.perf_counter() - start
            left_out = getattr(model[-1], "loo_proba_", None), getattr(model[-1], "loo_rows_", None)
            proba = np.full((len(data.y), len(model.classes_)), np.nan)
            proba[_WORLD["used"]] = model.predict_proba(data.X.iloc[_WORLD["used"]])
            _FITS[key] = proba, left_out, seconds
        self._proba, (loo_proba, loo_rows), seconds = _FITS[key]
        if loo_proba is not None:
            self.loo_proba_, self.loo_rows_ = loo_proba, loo_rows
        _WORLD["seconds"] += seconds
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return self._proba[X[:, 0]]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def read_problem(entry, folder):
    """Return a table with two classes, or None."""
    if len(entry["classes"]) != 2:
        return None
    kinds = dict.fromkeys((*entry["ids"], *entry["leaks"]), "excluded")
    return split_target(read_table(Path(folder, entry["file"])), entry["target"], kinds=kinds)


def try_draw(data, name, n_train, seed):
    """Return the lines of one draw of training rows."""
    rows = np.arange(len(data.y))
    train, test = train_test_split(rows, train_size=n_train, stratify=data.y, random_state=seed)
    test = test[:MOST_TEST_ROWS]
    classes, counts = np.unique(data.y, return_counts=True)
    rare = int(counts.argmin())
    if np.sum(data.y[test] == classes[rare]) < LEAST_TEST_ROWS:
        return []
    _FITS.clear()
    _WORLD.update(data=data, used=np.concatenate([train, test]), seconds=0.0)
    lines = []
    for model in MODELS:
        key = {"table": name, "seed": seed, "model": model}
        options = (data.y, train, test, classes, rare)
        lines += [{**key, **line} for line in _try_model(Remembered(model, seed), *options)]
    return lines


def _try_model(model, y, train, test, classes, rare):
    def answer(decider):
        """Return the answers of a rule to the test rows, and what its fits took."""
        _WORLD["seconds"] = 0.0
        fitted = decider.fit(train[:, None], y[train])
        return fitted.predict(test[:, None]), _WORLD["seconds"], fitted

    name, truth = classes[rare], y[test] == classes[rare]
    plain, plain_seconds, fitted = answer(model)
    seed = model.seed
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)

    def tuned(score):
        scorer = make_scorer(score)
        return TunedThresholdClassifierCV(model, scoring=scorer, cv=folds, refit=True)

    def figures(rule, what, answers, seconds, **more):
        found = answers == name
        return {
            "rule": rule, "what": what, "recall": float(found[truth].mean()),
            "alarms": float(1000 * np.mean(found & ~truth)), "seconds": seconds / plain_seconds,
            "class_rows": int(np.sum(y[train] == name)), **more,
        }  # fmt: skip

    for wish in WISHES:
        what = f"recall {wish}"
        yield figures("most probable", what, plain, plain_seconds)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = DecidingClassifier(model, recall={name: wish}, random_state=seed)
            answers, seconds, decider = answer(ours)
            promise = {"promised": decider.promised_recall_}
            yield figures("promised", what, answers, seconds, **promise)
            # Half of the draws keep what is promised with a confidence of one half.
            even = DecidingClassifier(model, recall={name: wish}, confidence=0.5, random_state=seed)
            yield figures("even odds", what, *answer(even)[:2])
        low = _Wish(name, wish)
        yield figures("TunedThreshold", what, *answer(tuned(low))[:2])
    for ratio in RATIOS:
        costs = np.zeros((2, 2))
        costs[rare, 1 - rare], costs[1 - rare, rare] = ratio, 1.0
        codes = np.searchsorted(classes, y[test])
        floor = min(costs[codes, k].mean() for k in (0, 1))  # one answer to all rows

        def priced(rule, answers, seconds, costs=costs, codes=codes, floor=floor, ratio=ratio):
            cost = costs[codes, np.searchsorted(classes, answers)].mean() / floor
            return figures(rule, f"costs {ratio}", answers, seconds, cost=float(cost))

        yield priced("most probable", plain, plain_seconds)
        expected = fitted.predict_proba(test[:, None]) @ costs
        yield priced("as probable", classes[expected.argmin(axis=1)], plain_seconds)
        ours = DecidingClassifier(model, costs=costs, random_state=seed)
        yield priced("corrected", *answer(ours)[:2])
        yield priced("TunedThreshold", *answer(tuned(_Gain(classes, costs)))[:2])


class _Wish:
    """A score that is largest at the fewest false alarms among thresholds that keep the recall."""

    __name__ = "wish"

    def __init__(self, name, wish):
        self.name, self.wish = name, wish

    def __call__(self, y, answers):
        found, truth = answers == self.name, y == self.name
        recall = found[truth].mean()
        return 1.0 - found[~truth].mean() if recall >= self.wish else recall - 1.0


class _Gain:
    """Minus the mean cost."""

    __name__ = "gain"

    def __init__(self, classes, costs):
        self.classes, self.costs = classes, costs

    def __call__(self, y, answers):
        codes = (np.searchsorted(self.classes, one) for one in (y, answers))
        return -self.costs[tuple(codes)].mean()


def run(options):
    place = Path(options.out)
    place.mkdir(parents=True, exist_ok=True)
    path = place / RESULTS
    done = {(one["table"], one["seed"]) for one in _lines(path)}
    tables = json.loads(Path(options.tables, "tables.json").read_text(encoding="utf-8"))
    problems = {}
    for seed in range(options.draws):
        for name, entry in tables.items():
            if entry["rows"] < options.rows + 500 or (name, seed) in done:
                continue
            if name not in problems:
                problems[name] = read_problem(entry, options.tables)
            if problems[name] is None:
                continue
            start = time.perf_counter()
            lines = try_draw(problems[name], name, options.rows, seed)
            with path.open("a", encoding="utf-8") as stream:
                stream.writelines(json.dumps(line) + "\n" for line in lines)
            print(f"{name}, draw {seed}: {time.perf_counter() - start:.0f} s", flush=True)
    report(options)


def _lines(path):
    return [json.loads(line) for line in path.open(encoding="utf-8")] if path.exists() else []


def report(options):
    lines = _lines(Path(options.out) / RESULTS)
    tables = {line["table"] for line in lines}
    draws = {(line["table"], line["seed"]) for line in lines}
    print(f"\n{len(draws)} draws from {len(tables)} tables\n")
    print("| wish | model | rule | draws | kept | recall | false alarms in 1 000 | fits' time |")
    print("|---|---|---|---|---|---|---|---|")
    for what in (f"recall {wish}" for wish in WISHES):
        wish = float(what.split()[1])
        for model, rule, group in _groups(lines, what):
            kept = np.mean([one["recall"] >= wish for one in group])
            mean = {key: np.mean([one[key] for one in group]) for key in ("recall", "alarms")}
            seconds = np.median([one["seconds"] for one in group])
            print(
                f"| {wish} | {model} | {rule} | {len(group)} | {100 * kept:.0f} % "
                f"| {mean['recall']:.3f} | {mean['alarms']:.0f} | {seconds:.1f} × |"
            )
    print("\n| costs | model | rule | draws | mean cost | fits' time |\n|---|---|---|---|---|---|")
    for what in (f"costs {ratio}" for ratio in RATIOS):
        for model, rule, group in _groups(lines, what):
            cost = np.mean([one["cost"] for one in group])
            seconds = np.median([one["seconds"] for one in group])
            ratio = what.split()[1]
            print(
                f"| {ratio} to 1 | {model} | {rule} | {len(group)} | {cost:.3f} | {seconds:.1f} × |"
            )


def _groups(lines, what):
    """Yield model, rule and lines; of a wish, where the class has rows enough to promise it."""
    found = defaultdict(list)
    for line in lines:
        kind, number = line["what"].split()
        needed = np.log(0.05) / np.log(float(number)) if kind == "recall" else 0
        if line["what"] == what and line["class_rows"] >= needed:
            found[line["model"], line["rule"]].append(line)
    for (model, rule), group in found.items():
        yield model, rule, group


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--tables", default=os.environ.get("MERCER_TABLES", "tables"))
    parser.add_argument("--rows", type=int, default=600, help="training rows of a draw")
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--out", default="results")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning)
    run(options) if options.what == "run" else report(options)


if __name__ == "__main__":
    main()
