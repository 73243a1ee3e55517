"""Estimators of scikit-learn that hand their arrays to compiled code must have sound ones.

libsvm and the search for neighbours follow sizes and indices without looking, so that a made-up
file could crash the process or read memory that is not its own.  Trees have a file of their own.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["check_sound", "parts_of"]


def check_sound(model: Any) -> None:
    """Refuse a support vector machine or neighbours whose arrays do not fit each other.

    Raises
    ------
    ValueError
    """
    for part in _all_parts(model):
        kind = type(part).__name__
        if kind == "SVC" and not _is_sound_machine(part):
            raise ValueError("the support vectors in it do not fit each other")
        if kind == "KNeighborsClassifier" and not _is_sound_search(part):
            raise ValueError("the neighbours in it do not fit each other")


def parts_of(found: Any) -> list[Any]:
    """Return what an object, a container or an array of objects holds."""
    if isinstance(found, dict):
        return list(found.values())
    if isinstance(found, list | tuple | set):
        return list(found)
    if isinstance(found, np.ndarray):
        return list(found.flat) if found.dtype == object else []
    return list(getattr(found, "__dict__", {}).values())


def _all_parts(model: Any) -> Iterator[Any]:
    waiting, seen = [model], set()
    while waiting:
        found = waiting.pop()
        if id(found) not in seen:
            seen.add(id(found))
            yield found
            waiting.extend(parts_of(found))


def _is_sound_machine(svc: Any) -> bool:
    """Check what libsvm is given; one that was not fitted says so itself."""
    if not hasattr(svc, "support_vectors_"):
        return True
    vectors, counts = svc.support_vectors_, svc._n_support
    n_classes, n_vectors = len(svc.classes_), len(vectors)
    pairs = n_classes * (n_classes - 1) // 2
    return bool(
        svc._sparse is False
        and svc._impl == "c_svc"
        and isinstance(svc.kernel, str)
        and svc.kernel != "precomputed"
        and n_vectors > 0
        and vectors.shape == (n_vectors, svc.n_features_in_)
        and svc.support_.shape == (n_vectors,)
        and counts.shape == (n_classes,)
        and counts.min() >= 0
        and int(counts.sum(dtype=np.int64)) == n_vectors
        and svc._dual_coef_.shape == (n_classes - 1, n_vectors)
        and svc._intercept_.shape == (pairs,)
        and all(one.shape in ((0,), (pairs,)) for one in (svc._probA, svc._probB))
    )


def _is_sound_search(knn: Any) -> bool:
    if not hasattr(knn, "_fit_X"):
        return True
    rows = knn._fit_X
    return bool(
        knn._fit_method == "brute"
        and rows.ndim == 2
        and len(rows) == knn.n_samples_fit_ == len(knn._y)
        and rows.shape[1] == knn.n_features_in_
        and 0 < knn.n_neighbors <= len(rows)
    )
