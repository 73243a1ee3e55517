"""`__all__` of every package says what is public: no more and no less."""

import importlib
import pkgutil
import subprocess
import sys
import types

import pytest

import mercer

PACKAGES = [
    "mercer",
    *(
        f"mercer.{m.name}"
        for m in pkgutil.iter_modules(mercer.__path__)
        if m.ispkg and not m.name.startswith("_") and m.name != "samples"  # which is for us alone
    ),
]


@pytest.mark.parametrize("name", PACKAGES)
def test_all_is_what_is_defined(name):
    package = importlib.import_module(name)
    defined = {
        key
        for key in dir(package)
        if not key.startswith("_") and not isinstance(getattr(package, key), types.ModuleType)
    }
    for_mercer = set(getattr(package, "_FOR_MERCER", ()))
    assert set(package.__all__) - {"__version__"} == defined - for_mercer
    assert for_mercer <= defined


@pytest.mark.parametrize("name", PACKAGES)
def test_public_names_are_documented(name):
    package = importlib.import_module(name)
    assert package.__doc__
    for public in package.__all__:
        value = getattr(package, public)
        if callable(value):
            assert value.__doc__, f"{name}.{public} has no docstring"


def test_exports_are_loaded_when_asked_for():
    code = "import sys, mercer; assert 'sklearn' not in sys.modules; mercer.LaplacianClassifier"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="module 'mercer' has no attribute 'Laplace'"):
        _ = mercer.Laplace
