"""The only door to scikit-learn's private names.

Anything that scikit-learn does not promise to keep is imported here and nowhere else, so
that one file says what to look at when a new version comes out.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from numbers import Number
from typing import Any

from array_api_compat import is_array_api_obj
from sklearn.base import _fit_context
from sklearn.utils._array_api import get_namespace
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "check_sample_weight",
    "effective_n_threads",
    "fit_afresh",
    "fit_context",
    "get_namespace",
]


def effective_n_threads() -> int:
    """Return how many threads scikit-learn's own loops would use here and now.

    That is the number of usable cores (affinity and container limits counted in), or less
    where ``OMP_NUM_THREADS``, threadpoolctl or a joblib process says so.
    """
    return int(_openmp_effective_n_threads())


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[..., Any]:
    """Return scikit-learn's decorator of `fit`, for fits that begin with nothing.

    What an earlier fit has left is dropped, unless this is `partial_fit`.
    """
    decorate = _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)

    def decorated(fit: Callable[..., Any]) -> Callable[..., Any]:
        checked: Callable[..., Any] = decorate(fit)
        if fit.__name__ == "partial_fit":
            return checked

        @wraps(fit)
        def afresh(estimator: Any, *arguments: Any, **options: Any) -> Any:
            with fit_afresh(estimator):
                return checked(estimator, *arguments, **options)

        return afresh

    return decorated


@contextmanager
def fit_afresh(estimator: Any) -> Iterator[None]:
    """Fit within: an estimator is fitted by its last fit, or, where that failed, not at all."""
    _forget(estimator)
    try:
        yield
    except BaseException:
        _forget(estimator)
        raise


def _forget(estimator: Any) -> None:
    """Drop what fits have set: what is named so, and arrays, numbers and records of ours.

    Parameters stay, and so does what scikit-learn itself keeps in an estimator.
    """
    parameters = estimator.get_params(deep=False)
    for name, value in list(vars(estimator).items()):
        is_ours = isinstance(value, Number) or is_array_api_obj(value)
        is_ours = is_ours or type(value).__module__.startswith("mercer.")
        if name not in parameters and (is_ours or (name.endswith("_") and name[0] != "_")):
            delattr(estimator, name)
