"""Every public estimator, held to one contract: the one place where that is checked.

The list is read from the packages' `__all__`, so a new estimator is checked from the moment it
is exported.
"""

import importlib
from inspect import signature

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import estimator_checks_generator

from test_public_api import PACKAGES

# What stands behind the commands stays in its package.
PARTS = {"mercer.models", "mercer.tables"}


def _public_estimators(packages):
    found = {}
    for name in packages:
        package = importlib.import_module(name)
        for public in package.__all__:
            value = getattr(package, public)
            if isinstance(value, type) and issubclass(value, BaseEstimator):
                found[value.__name__] = value
    return found


def _needs_another(cls):
    """Tell whether it wraps an estimator: tests/models/test_meta_estimators.py checks those."""
    return "estimator" in signature(cls).parameters


CHECKS = [
    pytest.param(estimator, check, id=f"{name}-{getattr(check, 'func', check).__name__}")
    for name, cls in _public_estimators(PACKAGES).items()
    if not _needs_another(cls)
    for estimator, check in estimator_checks_generator(cls())
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_estimators_are_exported_from_mercer():
    top = importlib.import_module("mercer")
    assert set(_public_estimators(set(PACKAGES) - PARTS)) <= set(top.__all__)
