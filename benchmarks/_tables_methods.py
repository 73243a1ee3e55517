"""Mercer's model and its peers.  For study_tables.py.

A method is a function of (train, y_train, test, categorical, seed) that returns an Answer.
"""

import gc
import os
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import joblib
import numpy as np
import pandas as pd
from _tables_problems import SMALL
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    StratifiedShuffleSplit,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from mercer.models import compile_models, make_model
from mercer.tables import match_columns, split_target

MAX_LEVELS = 250  # of a column, for boosting by scikit-learn
SVC_GRID = {"C": np.logspace(-1, 4, 6), "gamma": np.logspace(-4, 1, 6)}
N_SETTINGS = 20  # of tuned boosting, the default among them


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

    now = staticmethod(time.perf_counter)

    def __init__(self):
        self.seconds = []

    @contextmanager
    def time(self):
        started = self.now()
        yield
        self.seconds.append(self.now() - started)


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


def _mercer(train, y_train, test, categorical, seed, name="fisher", calibration="loo"):
    """A model of Mercer's for a table, compiled beforehand.

    Probabilities are its own, or taken at their word (None), or made by six fits of scikit-learn's
    CalibratedClassifierCV, whose answers come from the one on all rows.
    """
    frame = train.assign(**{"class of the row": [f"class {code:03d}" for code in y_train]})
    kinds = {name: "category" if name in categorical else "number" for name in train.columns}
    clock = Clock()
    compiling = split_target(frame, "class of the row", kinds=kinds)
    compile_models({name: make_model(name, compiling, random_state=seed)}, compiling)
    with clock.time():
        data = split_target(frame, "class of the row", kinds=kinds)
        model = make_model(name, data, random_state=seed)
        folded = calibration in ("sigmoid", "isotonic", "temperature")
        if calibration != "loo":
            model.set_params(model__calibration=None if folded else calibration)
        if folded:
            folds = StratifiedKFold(5, shuffle=True, random_state=seed)
            model = CalibratedClassifierCV(model, method=calibration, cv=folds, ensemble=False)
        model.fit(data.X, data.y)
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
    "fisher": _mercer,
    "hgb": _hgb,
    "hgb-tuned": _hgb_tuned,
    "lightgbm": _lightgbm,
    "catboost": _catboost,
    "xrfm": _xrfm,
    "forest": _forest,
    "svc": _svc,
    "logistic": _logistic,
}

# Other ways to probabilities, which are run where they are asked for by name.
CALIBRATIONS: dict[str, Callable[..., Answer]] = {
    "uncalibrated": partial(_mercer, calibration=None),
    "sigmoid": partial(_mercer, calibration="sigmoid"),
    "isotonic": partial(_mercer, calibration="isotonic"),
    "temperature": partial(_mercer, calibration="temperature"),
}
WAYS = {"loo": "loo", "biases": "loo-biases", "none": None}
WAYS |= {way: way for way in ("sigmoid", "isotonic", "temperature")}
CALIBRATIONS |= {
    f"{name}-{title}": partial(_mercer, name=name, calibration=way)
    for name in ("parzen", "laplacian", "ise")
    for title, way in WAYS.items()
}
ALL_METHODS = {**METHODS, **CALIBRATIONS}


def asked_methods(options):
    return options.methods.split(",") if options.methods else list(METHODS)
