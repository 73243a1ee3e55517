"""Studies by name: every file of the folder ``papers``, or a file of the user's own."""

import importlib
import importlib.util
import pkgutil
import sys
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType

from mercer.studies import papers
from mercer.studies._model import Study

__all__ = ["list_studies", "load_study"]


@lru_cache(maxsize=1)
def _built_in() -> dict[str, Study]:
    names = [f"{papers.__name__}.{found.name}" for found in pkgutil.iter_modules(papers.__path__)]
    studies = [_study_of(importlib.import_module(name)) for name in names]
    return {study.name: study for study in studies}


def list_studies() -> tuple[str, ...]:
    """Return the names of the studies that come with Mercer.

    Returns
    -------
    tuple of str
        The names, sorted.

    Examples
    --------
    >>> from mercer.studies import list_studies
    >>> list_studies()
    ('equivalences', 'fisher', 'laplacian', 'lsva', 'roweis-saul')
    """
    return tuple(sorted(_built_in()))


def load_study(source: str) -> Study:
    """Return a study by its name, or the ``STUDY`` of a Python file.

    Parameters
    ----------
    source : str
        One of :func:`list_studies`, or the path of a file that ends in ``.py``.

    Returns
    -------
    Study
        Tables, methods and published numbers.

    Examples
    --------
    >>> from mercer.studies import load_study
    >>> load_study("fisher").tables[0].unit
    '% error'
    """
    if source.endswith(".py"):
        return _study_of(_import_file(Path(source).resolve()))
    if source not in _built_in():
        known = ", ".join(list_studies())
        raise LookupError(f"no study is called {source!r}: there are {known}, or a file ….py")
    return _built_in()[source]


@cache
def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise FileNotFoundError(f"there is no study file {path}")
    name = f"mercer_study_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and inspect look modules up by name
    spec.loader.exec_module(module)
    return module


def _study_of(module: ModuleType) -> Study:
    study = getattr(module, "STUDY", None)
    if not isinstance(study, Study):
        raise ValueError(f"{module.__file__} defines no STUDY = Study(…)")
    return study
