"""Every public estimator, held to one contract: scikit-learn's checks here, our laws in contract/.

The list is read from the packages' `__all__`, so a new estimator is checked from the moment it
is exported.
"""

import importlib

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from contract.subjects import EXCEPTIONS, SUBJECTS, WRAPPERS, needs_another, public_estimators
from test_public_api import PACKAGES

# What stands behind the commands stays in its package.
PARTS = {"mercer.models", "mercer.tables"}

# tests/models/test_meta_estimators.py checks those that wrap another one.
CHECKS = [
    pytest.param(estimator, check, id=f"{name}-{getattr(check, 'func', check).__name__}")
    for name, cls in public_estimators().items()
    if not needs_another(cls)
    for estimator, check in estimator_checks_generator(cls())
]


# Classes of scikit-learn's sparse tables are drawn by lot: a projection may say that it found few.
@pytest.mark.filterwarnings("ignore:Found 1 of .* directions")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_estimators_are_exported_from_mercer():
    top = importlib.import_module("mercer")
    assert set(public_estimators(set(PACKAGES) - PARTS)) <= set(top.__all__)


def test_every_estimator_is_held_to_every_law():
    names = {subject.name for subject in SUBJECTS}
    assert set(public_estimators()) <= names
    assert set(EXCEPTIONS) <= names, "an exception is for nobody"
    assert set(WRAPPERS) == {n for n, cls in public_estimators().items() if needs_another(cls)}
