"""The few things about which array libraries disagree."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_torch_array
from numpy.typing import NDArray

Array = Any  # An array of NumPy, torch or Dask; they have no common type.
FloatArray = NDArray[np.float64]
_POWER_IN_RANGE = 126  # Two to this power, and its inverse, are normal numbers of float32.
_FEW = 2**16  # Pinned memory is scarce: no more numbers than this are put there.


def itemsize(A: Array) -> int:
    """Return the bytes of one number of a float32 or float64 array."""
    return int(A.dtype.itemsize)


def detached(A: Array) -> Array:
    """Return a tensor without its gradient history, and anything else as it is."""
    return A.detach() if is_torch_array(A) else A


def refuse_tensor(X: Any, who: object) -> None:
    """Raise TypeError for a tensor that an estimator of NumPy arrays cannot compute with."""
    from sklearn import get_config  # Whoever passes rows to an estimator has loaded it.

    if is_torch_array(X) and (X.device.type != "cpu" or get_config()["array_api_dispatch"]):
        raise TypeError(
            f"{type(who).__name__} computes with NumPy arrays only: pass X.cpu().numpy()."
        )


def to_numpy(A: Array) -> NDArray[Any]:
    """Return the values as a NumPy array, from any device and without gradient history."""
    if not is_torch_array(A):
        return np.asarray(A)
    try:
        return np.asarray(A.detach().cpu())
    except RuntimeError:
        # In a transform of torch.func a tensor stands for another one that cannot be converted.
        found: list[NDArray[Any]] = []
        _reader().apply(A.detach(), found.append)
        return found[0]


def refuse_batch(info: Any, in_dims: Any, *given: Any) -> Any:
    """Raise RuntimeError: the `vmap` step of a torch function that cannot take a batch."""
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
    if is_torch_array(A) and A.is_cuda and not is_torch_array(values):
        return _on_cuda(np.asarray(values), A, dtype or A.dtype)
    return array_namespace(A).asarray(values, dtype=dtype or A.dtype, device=device(A))


def _on_cuda(values: NDArray[Any], A: Array, dtype: Any) -> Array:
    """Copy values to A's device; few go by pinned memory, so that nobody waits for the device."""
    import torch

    there = torch.as_tensor(values, dtype=dtype)
    if 0 < values.size <= _FEW:
        there = there.pin_memory()
    return there.to(A.device, non_blocking=True)


def times_powers_of_two(A: Array, exponents: Array) -> Array:
    """Return A · 2**exponents, exactly unless the result is beyond the range of A's type.

    The exponents are whole numbers of NumPy or of A's library.  torch computes 2.0 ** k of whole
    numbers k in float32, so the powers are made from their bits: float64 keeps the exponent plus
    1023 above its 52 bits of digits.  Two factors of half the exponent stay in range where one
    factor would leave it although the product does not.
    """
    one = _one_exponent(A, exponents)
    if one is not None:  # A number is part of the multiplication: nothing goes to the device.
        if abs(one) <= _POWER_IN_RANGE:
            return A if one == 0 else A * 2.0**one
        return (A * 2.0 ** (one // 2)) * 2.0 ** (one - one // 2)
    half = exponents // 2
    for part in (half, exponents - half):
        power = (np.asarray(part, dtype=np.int64) if not is_torch_array(part) else part) + 1023
        A = A * like((power << 52).view(array_namespace(power).float64), A)
    return A


def _one_exponent(A: Array, exponents: Array) -> int | None:
    """Return the exponent of all entries of a tensor, or None where they are several."""
    if not is_torch_array(A) or is_torch_array(exponents):
        return None
    exponents = np.asarray(exponents)
    fits = exponents.size == 1 or exponents.shape == tuple(A.shape)[-1:]
    if not fits or not 0 < exponents.size <= _FEW or exponents.ndim > 1:
        return None
    first = int(exponents.flat[0])
    return first if bool((exponents == first).all()) else None


def take_rows(A: Array, rows: NDArray[np.int64]) -> Array:
    """Return these rows of A (or entries of a vector)."""
    xp = array_namespace(A)
    return xp.take(A, xp.asarray(rows, device=device(A)), axis=0)
