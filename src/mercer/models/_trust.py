"""What a model file may hold: kinds of nodes and types, all by name.

skops trusts every estimator of scikit-learn and all ufuncs.  Most of them no model of Mercer has,
and some hand arrays of the file to compiled code that does not look at them.  So a file may hold
what is named here, and nothing else; what compiled code reads is checked once more in _sound.
"""

import sys
from collections.abc import Mapping
from typing import Any

__all__ = ["TRUSTED", "is_trusted", "type_name"]

TRUSTED = (
    # What a table is turned into.
    "mercer.tables._dummies.CategoryDummies",
    "mercer.tables._transformers.DateFeatures",
    "mercer.tables._transformers.FeatureClipper",
    "numpy.dtype",  # of an empty array: nothing is called
    # Estimators, and what they keep after fitting.
    "mercer.classifiers._ise.ISEClassifier",
    "mercer.classifiers._laplacian.LaplacianClassifier",
    "mercer.classifiers._nearest_angle.NearestAngleClassifier",
    "mercer.classifiers._parzen.ParzenClassifier",
    "mercer.discriminants._blocks.BlockState",
    "mercer.discriminants._exact.KernelFisherDiscriminant",
    "mercer.discriminants._moments.Moments",
    "mercer.discriminants._path.NodePath",
    "mercer.discriminants._sparse.SparseKernelFisherDiscriminant",
    "mercer.kernels._functions.KernelFunction",
    "mercer.models._capped.CappedClassifier",
    "mercer.models._forest.NamedForest",
    "mercer.models._tuned.TunedClassifier",
    "mercer.projections._laplacian_svc.LaplacianSVC",
    # Trees, whose indices are checked before anything is predicted: see _trees.
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
)

# How skops may put an object together: no functions, methods, partials or operators among them.
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
# Those with compiled code that is given only what was checked.
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
    if module == "_loss" and kind == "LossNode":  # what scikit-learn before 1.9 calls its own
        module = getattr(sys.modules.get("_loss"), "__name__", "")
    is_plain = any(module == part or module.startswith(part + ".") for part in _PLAIN_PARTS)
    return is_plain or (module.startswith("sklearn.") and name in _CHECKED)
