"""Trees of a loaded model must point to nodes and features that exist.

scikit-learn follows the indices in a tree without looking, so that a made-up file could crash
the process or read memory that is not its own.  That is why skops does not trust trees by itself.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.models._sound import parts_of

__all__ = ["check_trees"]


def check_trees(model: Any) -> None:
    """Refuse a model with a tree that points outside itself or beyond the model's features.

    Raises
    ------
    ValueError
    """
    for tree, n_features in _trees(model, np.iinfo(np.intp).max, set()):
        if not (_is_sound_tree if hasattr(tree, "capacity") else _is_sound_predictor)(
            tree, n_features
        ):
            raise ValueError("a tree in it points to nodes that do not exist")


def _trees(found: Any, n_features: int, seen: set[int]) -> Iterator[tuple[Any, int]]:
    """Yield each tree with the least number of features that an estimator around it checks."""
    if id(found) in seen:
        return
    seen.add(id(found))
    if type(found).__name__ in ("Tree", "TreePredictor"):
        yield found, n_features
        return
    kept = getattr(found, "__dict__", {})
    n_features = min(n_features, kept.get("n_features_in_", n_features))
    for part in parts_of(found):
        yield from _trees(part, n_features, seen)


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
