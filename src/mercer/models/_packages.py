"""Classifiers of packages that may be installed, and what these need to be compared with ours."""

import importlib
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from mercer.models._catalogue import describe_model
from mercer.models._wrappers import (
    DelegatingClassifier,
    check_classes,
    check_indexable,
    keep_features,
)

# Which parameter says how many threads there are: these start their own, whatever joblib says.
_THREADS = {"lightgbm": "n_jobs", "xgboost": "n_jobs", "catboost": "thread_count"}


class MissingModelPackageError(ImportError, ValueError):
    """A model is made by a package that is not installed."""


def check_package(name: str) -> None:
    """Raise if a model's package is not installed, and say how to get it."""
    package = describe_model(name).package
    if package is None:
        return
    try:
        importlib.import_module(package)
    except ImportError as error:
        raise MissingModelPackageError(
            f"Model {name!r} needs {package}: pip install {package}."
        ) from error


def packaged_classifier(name: str, balanced: bool, seed: int) -> "PackagedClassifier":
    """Return the classifier of a package with its defaults, silent and with a seed."""
    check_package(name)
    made: Any = importlib.import_module(str(describe_model(name).package))
    match name:
        case "lightgbm":
            model = made.LGBMClassifier(random_state=seed, verbose=-1)
        case "xgboost":
            model = made.XGBClassifier(random_state=seed, verbosity=0)
        case "catboost":
            model = made.CatBoostClassifier(
                random_seed=seed, verbose=False, allow_writing_files=False
            )
        case "tabpfn":  # It has weights of its own for the answer, and takes none of rows.
            model = made.TabPFNClassifier(
                random_state=seed, balance_probabilities=balanced, ignore_pretraining_limits=True
            )
            balanced = False
    return PackagedClassifier(model, balanced=balanced)


def is_packaged(estimator: Any) -> bool:
    """Tell whether an estimator, or the last step of a pipeline, is of a package with its ways."""
    return _package_of(_last(estimator)) in _THREADS


class PackagedClassifier(DelegatingClassifier):
    """Fit a classifier on the numbers of the classes, with the threads of its task.

    Some packages take no names of classes, return a column of answers in place of a row, or start
    a thread for every core while other models are fitted beside them.

    Parameters
    ----------
    estimator : classifier
        What to fit: a classifier, or a pipeline that ends with one.
    balanced : bool, default=False
        Whether rows get weights by which all classes count the same.
    """

    def __init__(self, estimator: Any, *, balanced: bool = False) -> None:
        self.estimator = estimator
        self.balanced = balanced

    def fit(self, X: Any, y: Any) -> "PackagedClassifier":
        """Fit a clone; whole numbers stand for the classes."""
        X = check_indexable(X, self)
        self.classes_, codes = np.unique(check_classes(X, y, self), return_inverse=True)
        fitted = clone(self.estimator)
        last = _last(fitted)
        threads = _THREADS.get(_package_of(last))
        if threads is not None and last.get_params().get(threads) in (None, -1):
            last.set_params(**{threads: effective_n_jobs(-1)})
        weights = {"sample_weight": compute_sample_weight("balanced", codes)}
        self.estimator_ = fitted.fit(X, codes, **(weights if self.balanced else {}))
        keep_features(self, self.estimator_)
        return self

    def _answer(self, method: str, X: Any, **options: Any) -> NDArray[Any]:
        check_is_fitted(self)
        found = np.asarray(getattr(self.estimator_, method)(check_indexable(X, self), **options))
        if method == "predict":
            return np.asarray(self.classes_[found.reshape(-1).astype(np.intp)])
        return found


def _last(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _package_of(estimator: Any) -> str:
    return type(estimator).__module__.partition(".")[0]
