"""The few things about which array libraries disagree."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_torch_array
from numpy.typing import NDArray
from sklearn import get_config

Array = Any  # of NumPy, torch or Dask
FloatArray = NDArray[np.float64]


def itemsize(A: Array) -> int:
    """Bytes of one number of a float32 or float64 array."""
    return int(A.dtype.itemsize)


def detached(A: Array) -> Array:
    """Return the values without their history, if they have one."""
    return A.detach() if is_torch_array(A) else A


def refuse_tensor(X: Any, who: object) -> None:
    """Refuse tensors that an estimator of NumPy arrays could not compute with."""
    if is_torch_array(X) and (X.device.type != "cpu" or get_config()["array_api_dispatch"]):
        raise TypeError(
            f"{type(who).__name__} computes with NumPy arrays only: pass X.cpu().numpy()."
        )


def to_numpy(A: Array) -> NDArray[Any]:
    """Return the values as a NumPy array, without their history and wherever they are."""
    if not is_torch_array(A):
        return np.asarray(A)
    try:
        return np.asarray(A.detach().cpu())
    except RuntimeError:  # a tensor that stands for another one, in a transform of torch.func
        found: list[NDArray[Any]] = []
        _reader().apply(A.detach(), found.append)
        return found[0]


def refuse_batch(info: Any, in_dims: Any, *given: Any) -> Any:
    """Say why a torch function takes no batch; its `vmap` step."""
    raise RuntimeError(
        "torch.vmap hides the values of a batch, which Mercer must look at: loop over the batch, "
        "or pass its rows at once."
    )


@cache
def _reader() -> Any:
    """Return a torch function that reads values: its forward step sees the tensor itself."""
    import torch

    class Reader(torch.autograd.Function):
        @staticmethod
        def forward(A: Array, see: Callable[[NDArray[Any]], None]) -> Array:
            see(np.asarray(A.detach().cpu()))
            return A.new_empty(0)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Array) -> None:
            ctx.mark_non_differentiable(output)

        vmap = staticmethod(refuse_batch)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> None:
            """Values that are only looked at have no derivative."""

    return Reader


def like(values: Any, A: Array, dtype: Any = None) -> Array:
    """Return values as an array of A's library, on A's device, by default of A's type."""
    return array_namespace(A).asarray(values, dtype=dtype or A.dtype, device=device(A))


def times_powers_of_two(A: Array, exponents: Array) -> Array:
    """Return A · 2**exponents, without a rounding but beyond the range of A's type.

    The exponents are whole numbers of NumPy or of A's library.  Libraries disagree about powers:
    torch computes 2.0 ** k of whole numbers k in float32, so that the exponents' bits are written
    themselves; and in two steps, as the power may leave the range where the product does not.
    """
    half = exponents // 2
    for part in (half, exponents - half):
        power = (np.asarray(part, dtype=np.int64) if not is_torch_array(part) else part) + 1023
        A = A * like((power << 52).view(array_namespace(power).float64), A)
    return A


def take_rows(A: Array, rows: NDArray[np.int64]) -> Array:
    """Return these rows of A (or entries of a vector)."""
    xp = array_namespace(A)
    return xp.take(A, xp.asarray(rows, device=device(A)), axis=0)
