"""Which kernels the fit of a classifier will launch: they are compiled as soon as it begins."""

from dataclasses import replace
from functools import cache
from typing import Any

from mercer._arrays import Array, itemsize
from mercer.kernels import KERNELS
from mercer.sums._geometry import DIFFERENCES_UP_TO
from mercer.sums._problem import Middle, Problem, Removal
from mercer.sums.cuda._launch import compiling_ahead
from mercer.sums.cuda._left_out import fused_left_out_sums
from mercer.sums.cuda._run import WORTH_COMPILING, device_refuses, fused_sums
from mercer.sums.cuda._survey import start_looking

_ROWS = 64
_FAR = 1e3  # windows of about 1 are far too narrow for products there
_LADDER = tuple(2.0 ** (-rung / 2) for rung in range(5))  # four rungs at once, and one more


def start_compiling(X: Array, removes: bool, squared: bool) -> None:
    """Start compiling what densities of X, left-out sums and sums for new rows will need.

    Parameters
    ----------
    X : float32 tensor of shape (n, d) on a CUDA device
    removes : bool
        Whether rows will leave densities, too.
    squared : bool
        Whether these sum the squared kernel.
    """
    is_worth_it = itemsize(X) == 4 and X.shape[0] ** 2 >= WORTH_COMPILING
    if is_worth_it and device_refuses(X.device) is None:
        _expect(X.device, X.shape[1], removes, squared)


@cache
def _expect(device: Any, d: int, removes: bool, squared: bool) -> None:
    """Run ahead over a few rows: equal ones ask for products, as wide windows do.

    At few features a row far away asks for differences, as the narrow windows of a ladder do.
    """
    import torch

    with torch.cuda.device(device), torch.no_grad(), compiling_ahead():
        X = torch.zeros((_ROWS, d), device=device)
        _run_ahead(X, removes, squared)
        if d <= DIFFERENCES_UP_TO:
            X[0] = _FAR
            _run_ahead(X, removes, squared)


def _run_ahead(X: Array, removes: bool, squared: bool) -> None:
    import torch

    start_looking((X,), None)
    groups = torch.arange(_ROWS, device=X.device)
    rungs = torch.ones((len(_LADDER), _ROWS), dtype=torch.float64, device=X.device)
    natural, by_group = (None, None, (0, _ROWS)), (groups, None, (0, 40, _ROWS))
    weighted = (groups, X[:, 0].contiguous(), (0, 40, _ROWS))
    left_out = _state(X, by_group, _LADDER, log=True, self_sum=True)
    left_out = replace(left_out, rung_weights=rungs)
    if removes:  # the slowest to compile
        removal = Removal(rungs[0], rungs, rungs[0], squared, rungs)
        fused_left_out_sums(replace(left_out, removal=removal))
    fused_sums(_state(X, natural, _LADDER, log=False, self_sum=True), precise=True)
    fused_left_out_sums(left_out)
    fused_sums(_state(X, weighted, (1.0,), log=True, self_sum=False))


def _state(
    X: Array,
    segments: tuple[Array | None, Array | None, tuple[int, ...]],
    bandwidths: tuple[float, ...],
    log: bool,
    self_sum: bool,
) -> Problem:
    middle = Middle(X[1].clone(), X.new_zeros(1), float(X[0] @ X[0]))
    return Problem(
        X, X, *segments, KERNELS["gaussian"], bandwidths, log=log, self_sum=self_sum,
        exclude_self=self_sum and log, method="direct", tol=None, precision="high", middle=middle,
    )  # fmt: skip
