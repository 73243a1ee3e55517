"""Studies by name: every file of the folder ``papers``, or a file of the user's own.

Only the study that is asked for is imported.
"""

import importlib
import importlib.util
import pkgutil
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from mercer.studies import papers
from mercer.studies._model import Study


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
    return tuple(sorted(_modules()))


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
    if source not in _modules():
        known = ", ".join(list_studies())
        raise LookupError(f"No study is called {source!r}: there are {known}, or a file ….py.")
    return _study_of(importlib.import_module(_modules()[source]))


@cache
def _modules() -> dict[str, str]:
    """Return the module of each study by the study's name, which is that of its file.

    No module is imported here: a study loads all of the estimators that it fits.
    """
    found = [module.name for module in pkgutil.iter_modules(papers.__path__)]
    return {name.removeprefix("_").replace("_", "-"): f"{papers.__name__}.{name}" for name in found}


@cache
def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise FileNotFoundError(f"There is no study file {path}.")
    name = f"mercer_study_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and inspect look modules up by name
    spec.loader.exec_module(module)
    return module


def _study_of(module: ModuleType) -> Study:
    study = getattr(module, "STUDY", None)
    if not isinstance(study, Study):
        raise ValueError(f"{module.__file__} does not define STUDY = Study(…).")
    return study
