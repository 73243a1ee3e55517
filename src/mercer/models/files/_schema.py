"""What a model file may hold: kinds of nodes, types by name, and the members that these ask for.

skops trusts every estimator of scikit-learn and all ufuncs.  Most of them no model of Mercer has,
and some hand arrays of the file to compiled code that does not look at them.  So a file may hold
what is named here, and nothing else; what compiled code reads is checked once more in _sound.

Nothing is built here: the schema of the file, which is JSON, is read as text.
"""

import io
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np

from mercer._system.npy import check_array
from mercer.models.files._archive import CARD, SCHEMA, parse

TRUSTED = (
    # What a table is turned into.
    "mercer.tables.preparing._class_shares.ClassShares",
    "mercer.tables.preparing._dummies.CategoryDummies",
    "mercer.tables.preparing._table_transformer.TableTransformer",
    "mercer.tables.preparing._transformers.SoftRankScaler",
    "mercer.tables.preparing._transformers.DateFeatures",
    "mercer.tables.preparing._transformers.FeatureClipper",
    "numpy.dtype",  # It belongs to an empty array; nothing is called.
    # Estimators, and what they keep after fitting.
    "mercer.classifiers._ise.ISEClassifier",
    "mercer.classifiers._laplacian.LaplacianClassifier",
    "mercer.classifiers._nearest_angle.NearestAngleClassifier",
    "mercer.classifiers._parzen.ParzenClassifier",
    "mercer.discriminants._blocks.BlockState",
    "mercer.discriminants._coding.Coding",
    "mercer.discriminants._exact.KernelFisherDiscriminant",
    "mercer.discriminants._jackknife.FittedRows",
    "mercer.discriminants._moments.Moments",
    "mercer.discriminants._path.NodePath",
    "mercer.discriminants._sparse.SparseKernelFisherDiscriminant",
    "mercer.kernels._functions.KernelFunction",
    "mercer.models._wrappers.CappedClassifier",
    "mercer.models._make_model.NamedForest",
    "mercer.models.deciding._classifier.DecidingClassifier",
    "mercer.models._tuned.TunedClassifier",
    "mercer.projections._laplacian_svc.LaplacianSVC",
    "mercer.projections._roweis_saul.RoweisSaulProjection",
    "mercer.samples._sets.LeftOutScores",
    # Trees, whose indices are checked before anything is predicted: see _sound.
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
)

# How skops may put an object together.  Functions, methods, partials and operators are left out.
_NODES = {
    "DTypeNode", "DictNode", "JsonNode", "ListNode", "LossNode", "NdArrayNode", "ObjectNode",
    "RandomGeneratorNode", "RandomStateNode", "SetNode", "SliceNode", "TreeNode", "TupleNode",
    "TypeNode",
}  # fmt: skip

_BUILTINS = {"bool", "dict", "float", "int", "list", "set", "slice", "str", "tuple"}

# Parts of scikit-learn that compute by NumPy alone, and so raise an error for odd arrays.
_PLAIN_PARTS = (
    "sklearn._loss", "sklearn.compose", "sklearn.decomposition._pca",
    "sklearn.discriminant_analysis", "sklearn.dummy", "sklearn.impute", "sklearn.linear_model",
    "sklearn.naive_bayes", "sklearn.pipeline", "sklearn.preprocessing",
)  # fmt: skip
# Estimators with compiled code, whose arrays are checked in _sound before they are used.
_CHECKED = {
    "DecisionTreeClassifier", "HistGradientBoostingClassifier", "KNeighborsClassifier",
    "RandomForestClassifier", "SVC", "_BinMapper",
}  # fmt: skip


def type_name(node: Mapping[str, Any]) -> str:
    """Return the full name of the type that a node of a schema describes."""
    return f"{node['__module__']}.{node['__class__']}"


def is_trusted(node: Mapping[str, Any]) -> bool:
    """Tell whether a model of Mercer may have such a node; skops must trust its type too."""
    module, name = str(node["__module__"]), str(node["__class__"])
    kind = node.get("__loader__")
    if kind not in _NODES:
        return False
    if type_name(node) in TRUSTED:
        return True
    if module == "builtins":
        return name in _BUILTINS
    if module.split(".")[0] == "numpy":
        return kind in ("NdArrayNode", "RandomGeneratorNode", "RandomStateNode")
    if module == "_loss" and kind == "LossNode":  # So scikit-learn before 1.9 calls sklearn._loss.
        module = getattr(sys.modules.get("_loss"), "__name__", "")
    is_plain = any(module == part or module.startswith(part + ".") for part in _PLAIN_PARTS)
    return is_plain or (module.startswith("sklearn.") and name in _CHECKED)


def schema_types(members: Mapping[str, bytes]) -> list[str]:
    """Return the types that a schema names, in alphabetical order."""
    return sorted({type_name(node) for node in _nodes(members)})


def unknown_types(members: Mapping[str, bytes]) -> list[str]:
    """Return the types that no model of Mercer has, in alphabetical order."""
    return sorted({type_name(node) for node in _nodes(members) if not is_trusted(node)})


def estimator_types(members: Mapping[str, bytes]) -> set[str]:
    """Return the types of objects in it that are estimators of scikit-learn, or their bins.

    skops lists all estimators of scikit-learn to know as much, which takes a second and loads
    torch; here only modules that a trusted name begins with are imported.
    """
    from sklearn.base import BaseEstimator

    found = set()
    for node in _nodes(members):
        module, name = str(node["__module__"]), str(node["__class__"])
        is_object = node.get("__loader__") == "ObjectNode" and module.startswith("sklearn.")
        if is_object and is_trusted(node) and type_name(node) not in found:
            with suppress(ImportError):
                kind = getattr(import_module(module), name, None)
                if isinstance(kind, type) and (
                    issubclass(kind, BaseEstimator) or module.startswith("sklearn._loss.")
                ):
                    found.add(type_name(node))
    return found


def check_members(members: Mapping[str, bytes], max_bytes: int) -> None:
    """Raise ValueError if a member is not a plain array, or is read more often than by Mercer.

    Its words go into brackets.
    """
    for name, content in members.items():
        if name in (CARD, SCHEMA):
            continue
        if not name.endswith(".npy") or not name.removesuffix(".npy").isalnum():
            raise ValueError(f"its member {name!r} has a name that Mercer never gives")
        check_array(content)
    total, seen = 0, set()
    for node in _nodes(members):
        if node.get("__loader__") == "TreeNode":
            _check_tree(node, members)
        if node.get("__loader__") == "RandomGeneratorNode":
            _check_generator(node)
        if "file" not in node:
            continue
        name, key = str(node["file"]), json.dumps(node.get("__id__"))
        if name not in members or name in (CARD, SCHEMA):
            raise ValueError(f"it refers to {name!r} in a way that Mercer never does")
        if not node.get("__id__") or key not in seen:  # Without an id, skops reads it again.
            total += len(members[name])
        seen.add(key)
    if total > max_bytes:
        raise ValueError("it refers to members in a way that Mercer never does")


def _check_tree(node: Mapping[str, Any], members: Mapping[str, bytes]) -> None:
    """Raise if a tree has more than one output: building it would read beyond an array."""
    try:
        _, classes, outputs = node["__reduce__"]["args"]["content"]
        counts = np.load(io.BytesIO(members[classes["file"]]), allow_pickle=False)
        is_sound = outputs["content"] == "1" and counts.shape == (1,) and 0 < counts[0] < 1 << 20
    except (KeyError, TypeError, ValueError):
        is_sound = False
    if not is_sound:
        raise ValueError("a tree in it has a shape that Mercer never writes")


def _check_generator(node: Mapping[str, Any]) -> None:
    """Raise if a random generator has another pool than NumPy's: a large one is mixed for ever."""
    try:
        is_numpys = node["content"]["seed_seq"]["content"]["pool_size"]["content"] == "4"
    except (KeyError, TypeError):
        is_numpys = False
    if not is_numpys:
        raise ValueError("a random generator in it is of a kind that Mercer never writes")


def _nodes(members: Mapping[str, bytes]) -> Iterator[Mapping[str, Any]]:
    """Yield every object that the schema describes, without recursion, however deep it is."""
    waiting = [parse(members[SCHEMA])]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            if "__class__" in found and "__module__" in found:
                yield found
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)
