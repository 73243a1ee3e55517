"""Left-out sums over tensors, tile by tile."""

import numpy as np

from mercer._arrays import Array
from mercer.sums._problem import LOG_SUM, Problem
from mercer.sums.torch._tiles import Tiling


def tiled_left_out_sums(problem: Problem) -> tuple[Array, Array | None]:
    """Return the logarithms and the drifts, (b, rows, segments) each, in float64."""
    import torch

    tiling = Tiling.of(problem)
    merge, weights, removal = LOG_SUM.merge, problem.rung_weights, problem.removal
    assert weights is not None  # noqa: S101
    # Which rows they are, in any order: a row's own column is left out by its number.
    numbers = torch.arange(problem.X.shape[0], device=problem.X.device)
    rows = slice(None) if problem.rows is None else problem.rows
    numbers = numbers[rows if isinstance(rows, slice) else torch.as_tensor(rows).to(numbers)]
    X = problem.X[numbers]
    shape = (len(problem.bandwidths), X.shape[0], len(problem.bounds) - 1)
    like_out = {"dtype": torch.float64, "device": problem.X.device}
    out = torch.full(shape, -np.inf, **like_out)
    drifts = torch.zeros(shape, **like_out) if removal else None
    for tile in tiling.tiles(X.shape[0]):
        at, s = tile.rows, tile.outputs.start
        y = tiling.columns_of(problem.Y, tile)
        d2 = tiling.distances(X[at], y, tile, numbers[at])
        for b, bandwidth in enumerate(tiling.geometry.bandwidths):
            log_k = problem.kernel.log_profile(d2, bandwidth).to(torch.float64)
            terms = log_k + torch.log(tiling.columns_of(weights[b], tile))
            if removal is not None and drifts is not None:
                F = tiling.columns_of(removal.densities[b], tile)
                gone = removal.amount[numbers[at]][:, None]
                rest = 1 - gone * torch.exp(log_k * (2 if removal.squared else 1)) / F
                rest = torch.maximum(rest, tiling.columns_of(removal.least, tile) / F)
                rho = rest**-0.5
                terms = terms + torch.log(rho)
                q = tiling.columns_of(removal.drift_weights[b], tile)
                drifts[b, at, s] += (rho - 1) @ q
            partial_sum = torch.logsumexp(terms, dim=1)
            out[b, at, s] = merge(out[b, at, s], partial_sum)
    return out, drifts
