"""The only door to scikit-learn's private names.

Anything that scikit-learn does not promise to keep is imported here and nowhere else, so
that one file says what to look at when a new version comes out.
"""

from sklearn.base import _fit_context as fit_context
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
    "fit_context",
    "get_namespace",
]


def effective_n_threads() -> int:
    """Return how many threads scikit-learn's own loops would use here and now.

    That is the number of usable cores (affinity and container limits counted in), or less
    where ``OMP_NUM_THREADS``, threadpoolctl or a joblib process says so.
    """
    return int(_openmp_effective_n_threads())
