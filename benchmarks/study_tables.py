"""Kernel Fisher discriminants against boosting, forests and other peers on real tables.

    export MERCER_TABLES=/path/to/tables MERCER_DATA=/path/to/data
    python benchmarks/study_tables.py run --out results --jobs 2 --threads 1 [--methods fisher,hgb]
    python benchmarks/study_tables.py report --out results [--methods fisher,hgb]

Every result is one small file in ``--out``; what is there is not computed again, so a study that
was broken off goes on.  Everything is tuned on training rows only.
"""

import argparse
import gc
import json
import multiprocessing
import os
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from mercer.comparison import compare_over_datasets
from mercer.models import compile_models, make_model
from mercer.tables import match_columns, split_target

NUMERIC = [
    "australian", "balance", "echocardiogram", "ecoli", "german_numeric", "glass", "heart_statlog",
    "ionosphere", "iris", "liver", "newthyroid", "pima", "sonar", "soybean_large", "tae",
    "transfusion", "vehicle", "vowel", "wbc", "wdbc", "wine", "digits8x8", "pendigits",
]  # fmt: skip

# Random rows share time, speakers or duplicates: random splits flatter every method.
FLATTERING = ["electricity", "eeg_eye_state", "gesture_phase", "vowel", "wine_quality"]
ENUMERATIONS = ["car", "nursery", "tic_tac_toe", "kr_vs_kp", "jungle_chess"]
FICTIONAL = ["telco_churn", "churn5000"]

# Columns that name the group of a row: left out where the groups of the test rows are new.
GROUP_COLUMNS = {"gesture_phase": ["video"], "vowel": ["Speaker Number", "Train or Test"]}
N_BLOCKS = 10  # of consecutive rows, where rows are in the order of time

SMALL = 3000  # Tables of fewer rows are split twice more; peers are tuned on them by three folds.
MAX_ROWS = 10_000  # of the training part, and of the test part
MIN_CLASS_ROWS = 5  # smaller classes are left out of a table
MIN_TRAIN_ROWS = 3  # of every class, so that each of three folds can have one
MAX_LEVELS = 250  # of a column, for boosting by scikit-learn

SVC_GRID = {"C": np.logspace(-1, 4, 6), "gamma": np.logspace(-4, 1, 6)}
N_SETTINGS = 20  # of tuned boosting, the default among them

# Slow peers: method → (training rows at most, where there are more classes than this).
CAPS = {"svc": (5000, 0), "hgb-tuned": (5000, 2), "catboost": (5000, 10)}

# Rough relative costs, for the order of jobs alone.
COSTS = {"hgb-tuned": 60, "svc": 60, "catboost": 20, "xrfm": 10, "fisher": 10}

SCORES = ["accuracy", "balanced_accuracy", "log_loss", "auc"]
FLAT = 0.2  # points of accuracy within which nobody wins


# Problems ---------------------------------------------------------------------------------------


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


def _sizes(place):
    """Return the size of every problem by its name; rare classes counted too."""
    sizes = {}
    for name, entry in _entries(place).items():
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
def _entries(place):
    path = Path(place.tables, "tables.json")
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


@cache
def _load(place, name):
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
    entry = _entries(place)[name]
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


def _split(problem, number):
    """Return training rows and test rows of a split, both at most 10 000."""
    rows = np.arange(len(problem.y))
    if problem.groups is None:
        train, test = train_test_split(rows, test_size=0.3, stratify=problem.y, random_state=number)
    else:
        train, test = _split_groups(problem, number)
    return _draw(train, problem.y, MAX_ROWS, number), _draw(test, problem.y, MAX_ROWS, number)


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


def _draw(rows, y, most, seed):
    """Return at most so many rows, classes in proportion, rows in order."""
    if len(rows) > most:
        rows = train_test_split(rows, train_size=most, stratify=y[rows], random_state=seed)[0]
    return np.sort(rows)


# Methods ----------------------------------------------------------------------------------------


@dataclass
class Answer:
    """What a method says of the test rows, and the seconds it took.

    ``proba`` has a column for each class; where ``calibrated`` is False it holds scores that are
    no probabilities.  ``found`` are the codes of the classes, the largest column by default.
    """

    proba: np.ndarray
    fit_seconds: float
    predict_seconds: float
    found: np.ndarray | None = None
    calibrated: bool = True


class Clock:
    """Seconds of the blocks that it timed."""

    def __init__(self):
        self.seconds = []

    @contextmanager
    def time(self):
        started = time.perf_counter()
        yield
        self.seconds.append(time.perf_counter() - started)


def _n_threads():
    return int(os.environ.get("OMP_NUM_THREADS", "1"))


def _fit_and_ask(model, train, y_train, test, **fit_options):
    """Return the answer of a classifier with predict_proba."""
    clock = Clock()
    with clock.time():
        model.fit(train, y_train, **fit_options)
    with clock.time():
        proba = model.predict_proba(test)
    return Answer(np.asarray(proba, dtype=float), *clock.seconds)


def _fisher(train, y_train, test, categorical, seed):
    """Mercer's model for a table, compiled beforehand."""
    frame = train.assign(**{"class of the row": [f"class {code:03d}" for code in y_train]})
    kinds = {name: "category" if name in categorical else "number" for name in train.columns}
    clock = Clock()
    compiling = split_target(frame, "class of the row", kinds=kinds)
    compile_models({"fisher": make_model("fisher", compiling, random_state=seed)}, compiling)
    with clock.time():
        data = split_target(frame, "class of the row", kinds=kinds)
        model = make_model("fisher", data, random_state=seed).fit(data.X, data.y)
    with clock.time():
        proba = model.predict_proba(match_columns(test, data.columns).frame)
    return Answer(np.asarray(proba, dtype=float), *clock.seconds)


def _hgb(train, y_train, test, categorical, seed):
    train, test = _with_category_dtype(train, test, categorical, MAX_LEVELS)
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=seed)
    return _fit_and_ask(model, train, y_train, test)


def _hgb_tuned(train, y_train, test, categorical, seed):
    """Boosting with the best of 20 settings by accuracy on training rows, ties by log-loss."""
    train, test = _with_category_dtype(train, test, categorical, MAX_LEVELS)
    clock = Clock()
    with clock.time():
        folds = list(_folds(len(y_train), seed).split(train, y_train))
        models = _boosting_settings(len(np.unique(y_train)), len(train), seed)
        scores = [_fold_scores(model, train, y_train, folds) for model in models]
        best = models[max(range(len(models)), key=lambda number: scores[number])]
        best.fit(train, y_train)
    with clock.time():
        proba = best.predict_proba(test)
    return Answer(proba, *clock.seconds)


def _boosting_settings(n_classes, n_rows, seed):
    rng = np.random.default_rng(seed)
    # Rows held out to stop early are stratified, so that they must be as many as the classes.
    held_out = max(0.1, 1.5 * (n_classes + 1) / n_rows)
    models = [HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=seed)]
    while len(models) < N_SETTINGS:
        model = clone(models[0]).set_params(
            learning_rate=float(np.exp(rng.uniform(np.log(0.01), np.log(0.3)))),
            max_leaf_nodes=int(rng.choice([7, 15, 31, 63])),
            min_samples_leaf=int(rng.choice([2, 5, 10, 20, 50])),
            l2_regularization=float(np.exp(rng.uniform(np.log(1e-6), np.log(10)))),
            max_features=float(rng.choice([0.3, 0.6, 1.0])),
            max_iter=500,
            early_stopping=True,
            validation_fraction=held_out,
        )
        models.append(model)
    return models


def _fold_scores(model, train, y_train, folds):
    """Return mean accuracy and minus mean log-loss."""
    scores = []
    for fit_rows, test_rows in folds:
        fitted = clone(model).fit(train.iloc[fit_rows], y_train[fit_rows])
        proba = fitted.predict_proba(train.iloc[test_rows])
        found = fitted.classes_[proba.argmax(axis=1)]
        loss = log_loss(y_train[test_rows], proba, labels=fitted.classes_)
        scores.append((accuracy_score(y_train[test_rows], found), -loss))
    return tuple(np.mean(scores, axis=0))


def _folds(n_rows, seed):
    """Return what peers are tuned by: three folds, above 3 000 rows a quarter that is held out."""
    if n_rows > SMALL:
        return StratifiedShuffleSplit(1, test_size=0.25, random_state=seed)
    return StratifiedKFold(3, shuffle=True, random_state=seed)


def _lightgbm(train, y_train, test, categorical, seed):
    from lightgbm import LGBMClassifier

    train, test = _with_category_dtype(train, test, categorical, None)
    names = [f"x{number}" for number in range(train.shape[1])]  # it refuses some characters
    train, test = train.set_axis(names, axis=1), test.set_axis(names, axis=1)
    model = LGBMClassifier(verbosity=-1, random_state=seed, n_jobs=_n_threads())
    return _fit_and_ask(model, train, y_train, test)


def _catboost(train, y_train, test, categorical, seed):
    from catboost import CatBoostClassifier

    as_text = {name: (lambda frame, name=name: _known(frame[name])) for name in categorical}
    model = CatBoostClassifier(
        verbose=False,
        allow_writing_files=False,
        thread_count=_n_threads(),
        random_seed=seed,
        cat_features=categorical,
    )
    return _fit_and_ask(model, train.assign(**as_text), y_train, test.assign(**as_text))


def _xrfm(train, y_train, test, categorical, seed):
    """Recursive feature machines with their defaults, a fifth of the rows held out for tuning."""
    import torch
    from xrfm import xRFM

    clock = Clock()
    with clock.time():
        fitting, tuning = train_test_split(
            np.arange(len(y_train)), test_size=_held_out(y_train), stratify=y_train,
            random_state=seed,
        )  # fmt: skip
        encoder = _encoder(train, categorical).fit(train.iloc[fitting])
        model = xRFM(
            device=torch.device("cuda" if torch.cuda.is_available() else "cpu"),
            categorical_info=_categorical_info(encoder, categorical),
            n_threads=_n_threads(),
            random_state=seed,
            verbose=False,
        )
        model.fit(
            _as_floats(encoder, train.iloc[fitting]), y_train[fitting],
            _as_floats(encoder, train.iloc[tuning]), y_train[tuning],
        )  # fmt: skip
    with clock.time():
        proba = model.predict_proba(_as_floats(encoder, test))
    del model
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return Answer(np.asarray(proba, dtype=float), *clock.seconds)


def _held_out(y_train):
    """Return how many rows are a fifth of them, but no fewer than there are classes."""
    return max(len(np.unique(y_train)), round(0.2 * len(y_train)))


def _as_floats(encoder, frame):
    return encoder.transform(frame).astype(np.float32)


def _categorical_info(encoder, categorical):
    """Return what xRFM wants to know of dummies: numbers come first, then each category."""
    import torch

    if not categorical:
        return None
    levels = encoder.named_transformers_["categories"].named_steps["onehotencoder"].categories_
    lengths = [len(names) for names in levels]
    n_numbers = encoder.output_indices_["numbers"].stop - encoder.output_indices_["numbers"].start
    starts = n_numbers + np.concatenate([[0], np.cumsum(lengths)])
    return {
        "numerical_indices": torch.arange(n_numbers),
        "categorical_indices": [
            torch.arange(start, start + length)
            for start, length in zip(starts, lengths, strict=False)
        ],
        "categorical_vectors": [torch.eye(length) for length in lengths],
    }


def _forest(train, y_train, test, categorical, seed):
    forest = RandomForestClassifier(random_state=seed, n_jobs=_n_threads())
    return _fit_and_ask(make_pipeline(_encoder(train, categorical), forest), train, y_train, test)


def _logistic(train, y_train, test, categorical, seed):
    model = make_pipeline(_encoder(train, categorical), LogisticRegression(max_iter=1000))
    return _fit_and_ask(model, train, y_train, test)


def _svc(train, y_train, test, categorical, seed):
    """A machine on a grid of 36 cells; its decision values are no probabilities."""
    clock = Clock()
    with clock.time(), joblib.parallel_config("threading", n_jobs=_n_threads()):
        encoder = _encoder(train, categorical)
        search = GridSearchCV(SVC(cache_size=500), SVC_GRID, cv=_folds(len(y_train), seed))
        search.fit(encoder.fit_transform(train), y_train)
    with clock.time():
        rows = encoder.transform(test)
        found, values = search.predict(rows), search.decision_function(rows)
    if values.ndim == 1:
        values = np.column_stack([-values, values])
    return Answer(values, *clock.seconds, found=found, calibrated=False)


def _encoder(frame, categorical):
    """Return numbers standardised, the median for missing ones, then dummies of categories."""
    numbers = [name for name in frame.columns if name not in categorical]
    numeric = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    fill = SimpleImputer(strategy="constant", fill_value="(missing)", missing_values=np.nan)
    dummies = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    as_objects = make_pipeline(_AsObjects(), fill, dummies)
    parts = [("numbers", numeric, numbers), ("categories", as_objects, categorical)]
    return ColumnTransformer(parts)


class _AsObjects:
    """Columns of text as Python objects, which imputation understands."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X.astype(object).where(X.notna(), np.nan)

    def fit_transform(self, X, y=None):
        return self.transform(X)


def _with_category_dtype(train, test, categorical, most_levels):
    """Return both tables with pandas' categories of the training rows, rare ones pooled."""
    train, test = train.copy(), test.copy()
    for name in categorical:
        known = train[name].value_counts().index
        kept = list(known if most_levels is None else known[:most_levels])
        pools = len(known) > len(kept)
        dtype = pd.CategoricalDtype([*kept, "(others)"] if pools else kept)
        for frame in (train, test):
            values = frame[name]
            if pools:
                values = values.where(values.isin(kept) | values.isna(), "(others)")
            frame[name] = values.astype(object).astype(dtype)
    return train, test


def _known(values):
    return values.astype(object).where(values.notna(), "(missing)").astype(str)


METHODS: dict[str, Callable[..., Answer]] = {
    "fisher": _fisher,
    "hgb": _hgb,
    "hgb-tuned": _hgb_tuned,
    "lightgbm": _lightgbm,
    "catboost": _catboost,
    "xrfm": _xrfm,
    "forest": _forest,
    "svc": _svc,
    "logistic": _logistic,
}


# Jobs -------------------------------------------------------------------------------------------


class Job(NamedTuple):
    problem: str
    split: int
    method: str

    @property
    def file_name(self):
        return f"{self.problem.replace('/', '+')}.{self.split}.{self.method}.json"


def _run_job(place, job):
    """Return the result of a job; an error is a result too."""
    result: dict[str, Any] = job._asdict()
    warnings.simplefilter("ignore")
    try:
        problem = _load(place, job.problem)
        train, test = _split(problem, job.split)
        n_classes = int(problem.y.max()) + 1
        used = _draw(train, problem.y, _cap(job.method, n_classes), job.split)
        known = problem.X.columns[problem.X.iloc[used].notna().any()]  # Some peers fail on others.
        result |= {"n_train": len(train), "n_train_used": len(used), "n_test": len(test)}
        result |= {"classes": n_classes, "columns": problem.X.shape[1]}
        answer = METHODS[job.method](
            problem.X.loc[used, known].reset_index(drop=True),
            problem.y[used],
            problem.X.loc[test, known].reset_index(drop=True),
            [name for name in problem.categorical if name in known],
            job.split,
        )
        result |= _score(answer, problem.y[test], n_classes)
    except Exception as error:
        place_of_error = traceback.extract_tb(error.__traceback__)[-1]
        result["error"] = f"{type(error).__name__}: {error} ({place_of_error.name})"
    return result


def _cap(method, n_classes):
    most, beyond_classes = CAPS.get(method, (MAX_ROWS, 0))
    return most if n_classes > beyond_classes else MAX_ROWS


def _score(answer, y, n_classes):
    """Return every score of an answer as a number, NaN where it has none."""
    proba = answer.proba
    if proba.shape != (len(y), n_classes) or not np.isfinite(proba).all():
        raise ValueError(f"The answer has shape {proba.shape} or numbers that are not finite.")
    found = proba.argmax(axis=1) if answer.found is None else answer.found
    scores = {
        "accuracy": accuracy_score(y, found),
        "balanced_accuracy": balanced_accuracy_score(y, found),
        "log_loss": float("nan"),
        "auc": _auc(proba, y, n_classes),
        "fit_seconds": answer.fit_seconds,
        "predict_seconds": answer.predict_seconds,
    }
    if answer.calibrated:
        clipped = np.clip(proba, 1e-15, 1)
        clipped /= clipped.sum(axis=1, keepdims=True)
        scores["log_loss"] = -np.log(clipped[np.arange(len(y)), y]).mean()
    return {name: float(score) for name, score in scores.items()}


def _auc(proba, y, n_classes):
    """Return the area of each class against the rest, averaged over classes with test rows."""
    if n_classes == 2:
        areas = [roc_auc_score(y, proba[:, 1] - proba[:, 0])] if len(np.unique(y)) == 2 else []
    else:
        areas = [
            roc_auc_score(y == code, proba[:, code])
            for code in range(n_classes)
            if 0 < (y == code).sum() < len(y)
        ]
    return np.mean(areas) if areas else float("nan")


def _write(folder, job, result):
    """Write a result so that the file is there whole or not at all."""
    path = Path(folder, job.file_name)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    temporary.write_text(json.dumps(result), encoding="utf-8")
    temporary.replace(path)


def _work(connection, place):
    """Answer jobs until the other side hangs up: the life of a worker process."""
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            connection.send(_run_job(place, connection.recv()))


class Worker:
    """A process that runs one job after the other and can be killed over one that takes long."""

    def __init__(self, place, timeout):
        self.place, self.timeout = place, timeout
        self.process = None

    def run(self, job):
        if self.process is None:
            self._start()
        self.connection.send(job)
        try:
            if self.connection.poll(self.timeout):
                return self.connection.recv()
            error = f"over {self.timeout:g} s"
        except (EOFError, ConnectionError):
            error = "the process died"
        self.stop()
        return {**job._asdict(), "error": error}

    def _start(self):
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, self.place), daemon=True)
        self.process.start()
        theirs.close()

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.connection.close()
        self.process = None


def _run(options):
    for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = str(options.threads)
    os.environ["PYTHONWARNINGS"] = "ignore"
    options.out.mkdir(parents=True, exist_ok=True)
    place = Place(options.tables, options.data)
    jobs = [job for job in _jobs(place, options) if not _is_done(options, job)]
    print(f"{len(jobs)} jobs are left to do.", flush=True)
    pending, lock, started = iter(jobs), threading.Lock(), time.perf_counter()
    counter = iter(range(1, len(jobs) + 1))

    def work():
        worker = Worker(place, options.timeout)
        while True:
            with lock:
                job = next(pending, None)
            if job is None:
                return worker.stop()
            result = worker.run(job)
            _write(options.out, job, result)
            with lock:
                seconds = time.perf_counter() - started
                number = next(counter)
                print(f"{number}/{len(jobs)} {seconds:.0f} s {_line(result)}", flush=True)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _jobs(place, options):
    """Return all jobs that were asked for, those that take longest first."""
    sizes = _sizes(place)
    wanted = options.problems.split(",") if options.problems else list(sizes)
    unknown = sorted({*wanted} - {*sizes}) + sorted({*_methods(options)} - {*METHODS})
    if unknown:
        raise SystemExit(f"Unknown problems or methods: {', '.join(unknown)}.")
    jobs = [
        Job(name, split, method)
        for name in wanted
        for split in range(_n_splits(options.splits, sizes[name].rows))
        for method in _methods(options)
    ]
    return sorted(jobs, key=lambda job: -_cost(job.method, sizes[job.problem]))


def _methods(options):
    return options.methods.split(",") if options.methods else list(METHODS)


def _n_splits(asked, n_rows):
    return asked + 2 if n_rows < SMALL else asked


def _cost(method, size):
    cells = min(size.rows, MAX_ROWS) * size.columns * size.classes
    return COSTS.get(method, 1) * cells


def _is_done(options, job):
    path = Path(options.out, job.file_name)
    if not path.exists():
        return False
    return not (options.retry and "error" in json.loads(path.read_text(encoding="utf-8")))


def _line(result):
    name = f"{result['problem']} {result['split']} {result['method']}"
    if "error" in result:
        return f"{name}: failed, {result['error']}"
    capped = ""
    if result["n_train_used"] < result["n_train"]:
        capped = f", {result['n_train_used']} of {result['n_train']} rows"
    seconds = result["fit_seconds"]
    return f"{name}: {100 * result['accuracy']:.2f} %, fitted in {seconds:.1f} s{capped}"


# Report -----------------------------------------------------------------------------------------


def _report(options):
    results = _read_results(options.out)
    methods = [name for name in _methods(options) if name in set(results["method"])]
    extra = sorted(set(results["method"]) - set(METHODS)) if not options.methods else []
    methods += extra
    focus = options.focus if options.focus in methods else methods[0]
    results = results[results["method"].isin(methods)]
    kinds = _kinds(results["problem"].unique(), Place(options.tables, ""))
    wide = _wide(results, "accuracy", methods) * 100
    for title in ("tables, random splits", "tables, blocked splits", "numeric sets"):
        names = [name for name in wide.index if name in kinds[title]]
        _print_scores(f"Accuracy (%): {title}", wide.loc[names])
    for score in [*SCORES, "fit_seconds", "predict_seconds"]:
        factor = 100 if score in ("accuracy", "balanced_accuracy", "auc") else 1
        _print_means(score, _wide(results, score, methods) * factor, kinds)
    for title in kinds:
        names = [name for name in wide.index if name in kinds[title]]
        _print_verdicts(title, wide.loc[names], focus)
    _print_troubles(results)


def _read_results(folder):
    rows = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("[!.]*.json"))
    ]
    if not rows:
        raise SystemExit(f"There are no results in {folder}.")
    table = pd.DataFrame(rows)
    for column in (*SCORES, "fit_seconds", "predict_seconds", "n_train", "n_train_used", "error"):
        if column not in table:
            table[column] = np.nan
    return table


def _kinds(problems, place):
    """Return the groups of problems that means are taken over."""
    tables = sorted(name for name in problems if "/" not in name)
    honest = [name for name in tables if name not in FLATTERING]
    in_order = sorted(_entries(place)) or tables  # halves do not depend on what is done
    return {
        "tables, random splits": tables,
        "without the five flattering": honest,
        "nor enumerations, nor fictional": [
            name for name in honest if name not in (*ENUMERATIONS, *FICTIONAL)
        ],
        "design half of the tables": [name for name in tables if name in in_order[::2]],
        "fresh half of the tables": [name for name in tables if name in in_order[1::2]],
        "tables, blocked splits": [name for name in problems if name.endswith("/blocked")],
        "numeric sets": [name for name in problems if name.startswith("numeric/")],
    }


def _wide(results, score, methods):
    """Return problem × method: means over the splits that every method of the problem has."""
    table = results.pivot_table(index=["problem", "split"], columns="method", values=score)
    if table.empty:
        return pd.DataFrame(np.nan, index=results["problem"].unique(), columns=methods)
    rows = {}
    for problem, part in table.groupby("problem"):
        part = part.dropna(axis=1, how="all")
        rows[problem] = part.dropna().mean()
    return pd.DataFrame(rows).T.reindex(columns=methods)


def _cell(value, best, decimals):
    if np.isnan(value):
        return "–"
    text = f"{value:.{decimals}f}"
    return f"**{text}**" if text == f"{best:.{decimals}f}" else text


def _print_row(name, values, best, decimals):
    cells = [_cell(value, best, decimals) for value in values]
    print(f"| {name} | {' | '.join(cells)} |")


def _print_head(title, columns):
    print(f"\n| {title} | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")


def _print_scores(title, wide):
    if wide.empty:
        return
    _print_head(title, wide.columns)
    for name, row in wide.iterrows():
        _print_row(name, row, row.max(), 2)


def _print_means(score, wide, kinds):
    """Print the means over the problems that every method has, the best in bold."""
    wide = wide.dropna(axis=1, how="all")
    if wide.shape[1] == 0:
        return
    decimals = 4 if score == "log_loss" else 2
    _print_head(f"mean {score.replace('_', ' ')} (problems)", wide.columns)
    for title, names in kinds.items():
        complete = wide[wide.index.isin(names)].dropna()
        if len(complete):
            means = complete.mean()
            best = means.max() if score in ("accuracy", "balanced_accuracy", "auc") else means.min()
            _print_row(f"{title} ({len(complete)} of {len(names)})", means, best, decimals)


def _print_verdicts(title, wide, focus):
    """Print how often one method wins against each peer, and what the tests say."""
    lines = []
    for peer in wide.columns.drop(focus):
        pair = wide[[focus, peer]].dropna()
        if len(pair) == 0:
            continue
        difference = pair[focus] - pair[peer]
        wins, losses = int((difference > FLAT).sum()), int((difference < -FLAT).sum())
        verdict = "–"
        if len(pair) >= 2:
            found = compare_over_datasets(pair / 100, rope=FLAT / 100, random_state=0).pairs.iloc[0]
            verdict = f"{found['verdict']}, p = {found['pvalue_holm']:.3g}"
        lines.append(
            f"| {peer} | {wins} | {losses} | {len(pair) - wins - losses} | "
            f"{difference.mean():+.2f} | {difference.median():+.2f} | {verdict} |"
        )
    if lines:
        columns = ["wins", "losses", "ties", "mean difference", "median", "Wilcoxon"]
        _print_head(f"{focus} against, {title}", columns)
        print("\n".join(lines))


def _print_troubles(results):
    """Print what failed and which methods saw fewer rows than there were."""
    failed = results[results["error"].notna()]
    for (method, error), rows in failed.groupby(["method", "error"]):
        print(f"\n{method} failed ({error}): {', '.join(sorted(set(rows['problem'])))}.")
    capped = results[results["n_train_used"] < results["n_train"]]
    for method, rows in capped.groupby("method"):
        most = int(rows["n_train_used"].max())
        names = ", ".join(sorted(set(rows["problem"])))
        print(f"\n{method} saw at most {most} training rows of {names}.")


# Command line -----------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="compute what is not there yet")
    run.add_argument("--data", default=os.environ.get("MERCER_DATA", "../shared/data"))
    run.add_argument("--splits", type=int, default=3, help="of tables under 3 000 rows two more")
    run.add_argument("--problems", help="names between commas, all by default")
    run.add_argument("--jobs", type=int, default=1, help="processes")
    run.add_argument("--threads", type=int, default=1, help="threads of each process")
    run.add_argument("--timeout", type=float, default=600, help="seconds of one job")
    run.add_argument("--retry", action="store_true", help="do again what failed")
    report = commands.add_parser("report", help="print what is there as Markdown")
    report.add_argument("--focus", default="fisher", help="the method that the others meet")
    for command in (run, report):
        where = os.environ.get("MERCER_TABLES", "../shared/tables")
        command.add_argument("--tables", default=where, help="folder of tables.json")
        command.add_argument("--out", type=Path, required=True, help="folder of results")
        command.add_argument("--methods", help="names between commas, all by default")
    options = parser.parse_args()
    {"run": _run, "report": _report}[options.command](options)


if __name__ == "__main__":
    main()
