"""Estimators of scikit-learn that hand their arrays to compiled code must have sound ones.

Trees, libsvm and the search for neighbours follow sizes and indices without looking, so that a
made-up file could crash the process or read memory that is not its own.  That is why skops does
not trust trees by itself.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_sound(model: Any) -> None:
    """Raise ValueError if a tree points outside itself, or if arrays do not fit each other.

    Its words go into brackets.
    """
    for part, n_features in _all_parts(model):
        kind = type(part).__name__
        if (kind == "Tree" and not _is_sound_tree(part, n_features)) or (
            kind == "TreePredictor" and not _is_sound_predictor(part, n_features)
        ):
            raise ValueError("a tree in it points to nodes that do not exist")
        if kind == "SVC" and not _is_sound_machine(part):
            raise ValueError("the support vectors in it do not fit each other")
        if kind == "KNeighborsClassifier" and not _is_sound_search(part):
            raise ValueError("the neighbours in it do not fit each other")


def _all_parts(model: Any) -> Iterator[tuple[Any, int]]:
    """Yield every object in a model with the least number of features that is checked around it.

    An object that is in several places comes again where fewer features are checked.
    """
    least: dict[int, int] = {}
    waiting = [(model, np.iinfo(np.intp).max)]
    while waiting:
        found, n_features = waiting.pop()
        attributes = getattr(found, "__dict__", {})
        n_features = min(n_features, attributes.get("n_features_in_", n_features))
        if id(found) not in least or n_features < least[id(found)]:
            least[id(found)] = n_features
            yield found, n_features
            waiting += [(part, n_features) for part in _parts(found)]


def _parts(found: Any) -> list[Any]:
    """Return what an object, a container or an array of objects holds."""
    if isinstance(found, dict):
        return list(found.values())
    if isinstance(found, list | tuple | set):
        return list(found)
    if isinstance(found, np.ndarray):
        return list(found.flat) if found.dtype == object else []
    return list(getattr(found, "__dict__", {}).values())


def _is_sound_machine(svc: Any) -> bool:
    """Check what libsvm is given; a machine that was not fitted is sound."""
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


def _is_sound_tree(tree: Any, n_features: int) -> bool:
    """Check a tree of a forest."""
    if not 0 < tree.node_count <= tree.capacity:
        return False
    nodes = tree.__getstate__()["nodes"]
    is_inner = nodes["left_child"] != -1
    children = (nodes["left_child"], nodes["right_child"])
    return _is_sound(is_inner, children, nodes["feature"], n_features)


def _is_sound_predictor(tree: Any, n_features: int) -> bool:
    """Check a tree of gradient boosting; none of Mercer's splits by sets of categories."""
    nodes = tree.nodes
    if not len(nodes) or nodes["is_categorical"].any():
        return False
    is_inner = nodes["is_leaf"] == 0
    return _is_sound(is_inner, (nodes["left"], nodes["right"]), nodes["feature_idx"], n_features)


def _is_sound(
    is_inner: NDArray[np.bool_],
    children: tuple[NDArray[Any], NDArray[Any]],
    features: NDArray[Any],
    n_features: int,
) -> bool:
    """Children come after their parent, so that no walk is endless or leaves the tree."""
    parents = np.flatnonzero(is_inner)
    after = [child[is_inner].astype(np.int64) for child in children]
    used = features[is_inner].astype(np.int64)
    return all(
        bool(np.all((child > parents) & (child < len(is_inner)))) for child in after
    ) and bool(np.all((used >= 0) & (used < n_features)))
