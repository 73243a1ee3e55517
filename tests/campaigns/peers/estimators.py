"""Mercer's estimators where scikit-learn's tests ask for all estimators."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import sklearn.base
from sklearn.utils._test_common import instance_generator

import mercer
from mercer.models import CappedClassifier, OnDevice, TunedClassifier

_KINDS = {
    "classifier": sklearn.base.ClassifierMixin,
    "cluster": sklearn.base.ClusterMixin,
    "regressor": sklearn.base.RegressorMixin,
    "transformer": sklearn.base.TransformerMixin,
}
# Settings of the estimators that wrap another one, in the form of scikit-learn's own table.
_WRAPPED = {
    CappedClassifier: {"estimator": mercer.ParzenClassifier()},
    OnDevice: {"estimator": mercer.ISEClassifier(), "device": "cpu", "dtype": "float64"},
    TunedClassifier: {
        "estimator": mercer.ParzenClassifier(),
        "param_grid": {"scoring": ["accuracy"]},
    },
}


def say_how_to_make_wrappers() -> None:
    instance_generator.INIT_PARAMS.update(_WRAPPED)


def all_estimators(type_filter: Any = None) -> list[tuple[str, type]]:
    """Return (name, class) of Mercer's estimators, as scikit-learn's function does for its own."""
    found = {
        value.__name__: value
        for value in _public_values()
        if isinstance(value, type) and issubclass(value, sklearn.base.BaseEstimator)
    }
    kinds = [type_filter] if isinstance(type_filter, str) else type_filter
    bases = tuple(_KINDS[kind] for kind in kinds) if kinds else object
    return sorted((name, value) for name, value in found.items() if issubclass(value, bases))


def nothing() -> list[tuple[str, Any]]:
    """Stand in for scikit-learn's displays and functions: its checks are for estimators here."""
    return []


def _public_values() -> Iterator[Any]:
    for module in pkgutil.iter_modules(mercer.__path__):
        if module.ispkg and not module.name.startswith("_") and module.name != "samples":
            package = importlib.import_module(f"mercer.{module.name}")
            yield from (getattr(package, name) for name in package.__all__)
