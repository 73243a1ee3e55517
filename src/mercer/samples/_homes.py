"""Where arrays live: in memory, or in blocks that a cluster holds.

A home is a module with the functions that both have, of one name and meaning: `_in_memory`
(NumPy arrays, torch tensors) and `_in_blocks` (Dask arrays).  Code above asks ``home_of(A)``, and
need not know which it is.  Another container is another such module.
"""

from types import ModuleType
from typing import Any

from array_api_compat import is_dask_array, is_numpy_array, is_torch_array


def is_in_blocks(*arrays: Any) -> bool:
    """Tell whether one of these is a Dask array."""
    return any(is_dask_array(A) for A in arrays)


def home_of(*arrays: Any) -> ModuleType:
    """Return the home of arrays: that of blocks if one of them is a Dask array."""
    from mercer.samples import _in_blocks, _in_memory  # These two import this module.

    return _in_blocks if is_in_blocks(*arrays) else _in_memory


def kind_of(A: Any) -> str:
    """Return "blocks" for a Dask array, "numpy", "torch" for a tensor, "cuda" for one on a GPU.

    It is "" for anything else.  No library is imported to tell.
    """
    if is_in_blocks(A):
        return "blocks"
    if is_torch_array(A):
        return "cuda" if A.is_cuda else "torch"
    return "numpy" if is_numpy_array(A) else ""


def total_weight(X: Any, weights: Any) -> float:
    """Return what the weights add up to: the number of rows where there are none."""
    return float(X.shape[0]) if weights is None else float(weights.sum())


def count_rows(X: Any, weights: Any) -> float:
    """Return N: how many rows of positive weight there are, copies counted."""
    if weights is not None and home_of(weights).is_whole(weights):
        return total_weight(X, weights)
    return float(X.shape[0])
