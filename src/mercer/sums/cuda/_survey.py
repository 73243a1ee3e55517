"""What checks and packing must know of float32 tensors on a CUDA device: two launches, one look.

torch would take a launch for each reduction, and each takes as long as a hundredth of a sum over
100 000 rows.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer.sums._problem import Box, Middle
from mercer.sums.cuda._launch import launch
from mercer.sums.cuda._layout import pack_kernels, raise_to_largest_norm
from mercer.sums.cuda._run import WORTH_COMPILING, device_refuses

_LEAST_SQUARE, _LARGEST_SQUARE = 1e-30, 1e30
_ROWS, _PASSES = 64, 8  # A program looks at this many rows, and as often at the next ones.


def is_worth_it(rows: tuple[Array, ...]) -> bool:
    """Tell whether these tensors, X or X and Y, are for Triton."""
    X, Y = rows[0], rows[-1]
    return bool(
        X.is_cuda
        and X.dtype.itemsize == 4
        and X.shape[0] * Y.shape[0] >= WORTH_COMPILING
        and device_refuses(X.device) is None
    )


def start_looking(rows: tuple[Array, ...], weights: Array | None) -> Array:
    """Return a tensor that will hold the ends of coordinates and weights, radius and centre."""
    import torch

    X, Y = rows[0].detach(), rows[-1].detach()
    n_x, n_y, d = X.shape[0], 0 if len(rows) == 1 else Y.shape[0], X.shape[1]
    w = X[:, 0] if weights is None else weights.detach().reshape(-1)
    n_weights = 0 if weights is None else w.shape[0]
    found = torch.full((3 * d + 5,), -torch.inf, device=X.device)
    per_program = _ROWS * _PASSES
    with torch.cuda.device_of(X):
        launch(
            pack_kernels().raise_ends, sum(-(-n // per_program) for n in (n_x, n_y, n_weights)),
            X, Y, w, found, n_x, n_y, n_weights, d, *X.stride(), *Y.stride(), *w.stride(),
            ROWS=_ROWS, FEATURES=min(64, max(16, 1 << (d - 1).bit_length())), PASSES=_PASSES,
        )  # fmt: skip
        centre, radius = found[2 * d + 5 :], found[2 * d + 4 :]
        raise_to_largest_norm(radius, X, Y if n_y else None, centre, 1.0, ends=found)
    return found


def read_look(
    found: Array, numbers: NDArray[Any], d: int
) -> tuple[Box, Middle | None, tuple[float, float]]:
    """Return box and middle of the rows, and the ends of weights, from a look and its values.

    There is no middle where squares are beyond the range of float32, before rows are scaled.
    """
    low, high = -numbers[:d].astype(np.float64), numbers[d : 2 * d].astype(np.float64)
    negative, largest, in_rows, in_weights, radius = numbers[2 * d : 2 * d + 5].tolist()
    if in_rows == 0:
        low[0] = np.nan
    ends = (np.nan, np.nan) if in_weights == 0 else (-negative, largest)
    middle = None
    if _LEAST_SQUARE < radius < _LARGEST_SQUARE:
        middle = Middle(found[2 * d + 5 :], found[2 * d + 4 : 2 * d + 5], radius)
    return Box(low, high), middle, ends
