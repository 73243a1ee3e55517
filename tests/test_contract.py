"""Every public estimator, held to one contract: the one place where that is checked.

The list is read from the packages' `__all__`, so a new estimator is checked from the moment it
is exported.
"""

import importlib

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import estimator_checks_generator

from test_public_api import PACKAGES


def _public_estimators():
    found = {}
    for name in PACKAGES:
        package = importlib.import_module(name)
        for public in package.__all__:
            value = getattr(package, public)
            if isinstance(value, type) and issubclass(value, BaseEstimator):
                found[value.__name__] = value
    return found


ESTIMATORS = _public_estimators()
CHECKS = [
    pytest.param(estimator, check, id=f"{name}-{getattr(check, 'func', check).__name__}")
    for name, cls in ESTIMATORS.items()
    for estimator, check in estimator_checks_generator(cls())
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_estimators_are_exported_from_mercer():
    top = importlib.import_module("mercer")
    assert set(ESTIMATORS) <= set(top.__all__)
