"""The only module that imports private names of scikit-learn.

Anything that scikit-learn does not promise to keep is imported here and nowhere else, so
that one file says what to look at when a new version comes out.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing as take_rows_of_any
from sklearn.utils._array_api import get_namespace
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt
from sklearn.utils._param_validation import StrOptions as _StrOptions
from sklearn.utils._set_output import _get_output_config

__all__ = [
    "FloatInterval",
    "HasMethods",
    "Interval",
    "StrOptions",
    "effective_n_threads",
    "fit_afresh",
    "fit_context",
    "get_namespace",
    "returns_arrays",
    "take_rows_of_any",
]

# The attribute of an estimator that lists the names of all attributes that its fits have added.
_RECORD = "_fitted_names"


class FloatInterval(Interval):  # type: ignore[misc]
    """Range of a float, beside that of an int: 1.0 may be a share where 1 is a count.

    scikit-learn's type for this leaves out NumPy's floats of other widths than 64 bits.
    """

    def __init__(self, left: float | None, right: float | None, *, closed: str) -> None:
        super().__init__(RealNotInt, left, right, closed=closed)

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether it is a float, Python's or NumPy's, within the range."""
        number = float(value) if isinstance(value, np.floating) else value
        return bool(super().is_satisfied_by(number))


class StrOptions(_StrOptions):  # type: ignore[misc]
    """Set of strings that are listed in alphabetical order, so that an error always reads the same.

    Parameters
    ----------
    options : set of str
    more : str, default=""
        What a message says after the list.
    """

    def __init__(self, options: set[str], *, more: str = "") -> None:
        super().__init__(options)
        self.more = more

    def __str__(self) -> str:
        return f"a str among {{{', '.join(map(repr, sorted(self.options)))}}}{self.more}"


def effective_n_threads() -> int:
    """Return how many threads scikit-learn's own loops would use at this moment.

    That is the number of usable cores (affinity and container limits counted in), or less
    where ``OMP_NUM_THREADS``, threadpoolctl or a joblib process says so.
    """
    return int(_openmp_effective_n_threads())


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[..., Any]:
    """Return scikit-learn's decorator of `fit`, which also forgets what an earlier fit has left.

    `partial_fit` forgets nothing.
    """
    decorate = _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)

    def decorated(fit: Callable[..., Any]) -> Callable[..., Any]:
        checked: Callable[..., Any] = decorate(fit)
        context = _recording if fit.__name__ == "partial_fit" else fit_afresh

        @wraps(fit)
        def fitting(estimator: Any, *arguments: Any, **options: Any) -> Any:
            with context(estimator):
                return checked(estimator, *arguments, **options)

        return fitting

    return decorated


@contextmanager
def fit_afresh(estimator: Any) -> Iterator[None]:
    """Forget earlier fits before the fit within, and that one too if it fails."""
    _forget(estimator)
    try:
        with _recording(estimator):
            yield
    except BaseException:
        _forget(estimator)
        raise


@contextmanager
def _recording(estimator: Any) -> Iterator[None]:
    """Record the names of the attributes that are added within, so that `_forget` knows them.

    Neither a trailing underscore nor the list of parameters would tell them: a subclass may have
    fewer parameters than the `__init__` of its parent sets, and users add attributes of their own.
    """
    before = {*vars(estimator), _RECORD}
    try:
        yield
    finally:
        if added := vars(estimator).keys() - before:
            known = vars(estimator).get(_RECORD, ())
            setattr(estimator, _RECORD, sorted({*known, *added}))


def _forget(estimator: Any) -> None:
    """Delete the attributes that fits have added, and no others."""
    for name in vars(estimator).pop(_RECORD, ()):
        vars(estimator).pop(name, None)


def returns_arrays(transformer: Any) -> bool:
    """Tell whether `transform` returns an array: neither `set_output` nor the settings say else."""
    return bool(_get_output_config("transform", transformer)["dense"] == "default")
