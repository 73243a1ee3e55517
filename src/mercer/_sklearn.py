"""The only door to scikit-learn's private names.

Anything that scikit-learn does not promise to keep is imported here and nowhere else, so
that one file says what to look at when a new version comes out.
"""

from sklearn.utils._openmp_helpers import _openmp_effective_n_threads


def effective_n_threads() -> int:
    """Return how many threads scikit-learn's own loops would use here and now.

    That is the number of usable cores (affinity and container limits counted in), or less
    where ``OMP_NUM_THREADS``, threadpoolctl or a joblib process says so.
    """
    return int(_openmp_effective_n_threads())
