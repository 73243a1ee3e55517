"""Docstrings say all that a reader needs, as scikit-learn's own checks ask for it.

Every parameter has a type and a description, in the order of the signature; every result has a
description; every fitted attribute is listed, and one that is not always there says "only".
numpydoc, which the extra `docs` installs, looks more closely where it is there.
"""

import importlib
import inspect
import re
import warnings
from functools import cache
from importlib.util import find_spec

import pytest
from sklearn.base import BaseEstimator

import mercer
from contract.subjects import SUBJECTS, baseline, rows
from test_public_api import PACKAGES

# Of any docstring: types beside names in Returns, where the text begins, a blank line after it.
NOT_ASKED = {"RT02", "GL01", "GL02"}
OF_CLASSES = {"ES01", "SA01", "EX01"}  # an extended summary, See Also, Examples


@cache
def _documented():
    """Return functions, estimators, displays and their methods by the place of their code."""
    found = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for thing in (getattr(module, name) for name in module.__all__):
            where = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__name__', '')}"
            if inspect.isfunction(thing):
                found[where] = thing
            elif inspect.isclass(thing) and _is_for_users(thing):
                found[where] = thing
                found |= {f"{where}.{name}": one for name, one in _methods(thing)}
    return found


def _is_for_users(cls):
    return issubclass(cls, BaseEstimator) or cls.__name__.endswith("Display")


def _methods(cls):
    for name in dir(cls):
        method = getattr(cls, name)
        if not name.startswith("_") and callable(method):
            code = inspect.unwrap(method)
            if code.__module__.startswith("mercer."):
                yield name, method


def _sections(docstring):
    """Return each section as a list of (names, type, description)."""
    sections, entries = {}, []
    lines = inspect.cleandoc(docstring).splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch("-{3,}", below):
            entries = sections.setdefault(line, [])
        elif line and line[0] not in " -":
            names, _, kind = line.partition(" : ")
            entries.append([names.split(", "), kind, ""])
        elif entries and line.startswith("    "):
            # A long type goes on in the next line, after a backslash.
            part = 1 if entries[-1][1].endswith("\\") else 2
            entries[-1][part] += " " + line.strip()
    return sections


def _faults(thing):
    """Yield what is missing in a docstring."""
    sections = _sections(thing.__doc__ or "")
    signature = inspect.signature(thing)
    wanted = [name for name in signature.parameters if name != "self"]
    given = [name.lstrip("*") for names, _, _ in sections.get("Parameters", ()) for name in names]
    if given != wanted:
        yield f"has the parameters {wanted} and describes {given}"
    for names, kind, description in sections.get("Parameters", ()):
        if not (description and (kind or names[0].startswith("*"))):
            yield f"says nothing of the type or the meaning of {names}"
    if not inspect.isclass(thing) and signature.return_annotation is not None:
        results = sections.get("Returns", sections.get("Yields", ()))
        if not results:
            yield "does not say what it returns"
        for names, _, description in results:
            if not description:
                yield f"says nothing of the result {names}"


@pytest.mark.parametrize("where", _documented())
def test_parameters_and_results_are_described(where):
    assert not list(_faults(_documented()[where]))


def test_faults_are_seen():
    def wrong(a, b):
        """Do.

        Parameters
        ----------
        b : int
        a
            A letter.

        Returns
        -------
        float
        """

    assert len(list(_faults(wrong))) == 4


# Beside those of the contract, settings with which other attributes are there.
SETTINGS = [
    mercer.ISEClassifier(weighting="cauchy_schwarz", bandwidth=1.0),
    mercer.KernelFisherDiscriminant(gamma=0.1, alpha=0.01),
    mercer.LaplacianClassifier(bandwidth=1.0),
    mercer.LaplacianEigenmaps(affinity="binary"),
    mercer.LaplacianSVC(landmarks=10, random_state=0),
    mercer.LocalityPreservingProjection(affinity="binary"),
    mercer.SparseKernelFisherDiscriminant(gamma=0.1, alpha=0.01, random_state=0),
    mercer.SparseKernelFisherDiscriminant(node_choice="loo", random_state=0),
]


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda one: one.name)
def test_attributes_are_described(subject):
    _check_attributes(baseline(subject)[0])


@pytest.mark.parametrize("model", SETTINGS, ids=repr)
def test_attributes_of_other_settings_are_described(model):
    _check_attributes(model.fit(rows().X, rows().y))


def _check_attributes(model):
    described = {
        name: description
        for names, _, description in _sections(type(model).__doc__)["Attributes"]
        for name in names
    }
    assert all(described.values())
    properties = inspect.getmembers(type(model), lambda one: isinstance(one, property))
    fitted = {*vars(model), *(name for name, _ in properties)}
    fitted = {name for name in fitted if name.endswith("_") and not name.startswith("_")}
    assert fitted <= described.keys()
    sometimes = {name for name, text in described.items() if "only " in text.lower()}
    assert described.keys() - fitted <= sometimes, "their descriptions say when they are there"


@pytest.mark.parametrize("where", _documented() if find_spec("numpydoc") else ["anything"])
def test_numpydoc_finds_nothing(where):
    validate = pytest.importorskip("numpydoc.validate", reason="numpydoc is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        errors = dict(validate.validate(where)["errors"])
    is_class = inspect.isclass(_documented()[where])
    ignored = NOT_ASKED if is_class else NOT_ASKED | OF_CLASSES
    assert not {code: text for code, text in errors.items() if code not in ignored}
