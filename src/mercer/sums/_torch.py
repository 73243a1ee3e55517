"""The backend of torch tensors: tiles of torch operations, on the CPU or a CUDA device.

Differentiable with respect to X, Y and weights, once: the backward pass computes each tile
anew, so that neither pass keeps anything of size n × m.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from array_api_compat import is_torch_array
from sklearn import config_context

from mercer._arrays import Array, itemsize, refuse_batch
from mercer._memory import is_out_of_memory, room_on_device, row_slabs, working_memory
from mercer.sums._geometry import Geometry, choose_geometry
from mercer.sums._problem import Problem
from mercer.sums._reductions import law

_Result = TypeVar("_Result")
_TILE = {"cpu": 2**18, "cuda": 2**26}  # numbers in a tile that keep such a device busy
_TEMPORARIES = 12  # arrays of the size of a tile that the backward pass holds at once
_COLUMNS = 2**13  # a float32 sum over more would lose digits


def owns(X: Array) -> bool:
    """Whether this backend computes sums over such arrays."""
    return bool(is_torch_array(X))


def refuses(problem: Problem) -> str | None:
    """Return why this backend can not compute the problem, or None if it can."""
    if problem.method == "fast":
        return "method='fast' is not available for torch tensors; use method='direct'"
    return None


def run(problem: Problem) -> Array:
    """Return the sums, or their logarithms, as (bandwidths, rows of X, outputs) in float64."""
    return differentiable(problem, tiled_sums)


def differentiable(problem: Problem, sums: Callable[[Problem], Array]) -> Array:
    """Return the sums with a history, if one is wanted: tiles give the gradients."""
    import torch

    order = problem.order
    if order is not None:
        order = torch.as_tensor(order, device=problem.X.device)
    tensors = problem.X, problem.Y, problem.weights, order
    return _differentiable_sum().apply(*tensors, problem, sums)


def with_room(problem: Problem, work: Callable[[], _Result]) -> _Result:
    """Return what the work gives; where the device is full, that of work in smaller parts."""
    import torch

    with torch.cuda.device_of(problem.X):  # of several, the one that the rows are on
        try:
            return work()
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
        torch.cuda.empty_cache()
        what = f"a kernel sum of {problem.X.shape[0]} rows over {problem.n_columns}"
        with config_context(working_memory=working_memory() / 2**24), room_on_device(what):
            return work()


@dataclass(frozen=True)
class _Tile:
    """Rows of X, columns of the order of summation, and where their sums go."""

    rows: slice
    columns: slice
    outputs: slice


@dataclass(frozen=True)
class Tiling:
    """A problem cut into tiles, each with its distances."""

    problem: Problem
    geometry: Geometry
    order: Array | None

    @classmethod
    def of(cls, problem: Problem, geometry: Geometry) -> "Tiling":
        """Put the order of summation where the data are."""
        import torch

        order = problem.order
        if order is not None:
            order = torch.as_tensor(order, device=problem.X.device)
        return cls(problem, geometry, order)

    def tiles(self, n_rows: int | None = None) -> Iterator[_Tile]:
        """All pairs of rows, of X or of so many, in tiles that lie in one segment each."""
        X, bounds = self.problem.X, self.problem.bounds
        n_rows = X.shape[0] if n_rows is None else n_rows
        budget = working_memory() // (_TEMPORARIES * itemsize(X))
        area = max(1, min(budget, _TILE.get(X.device.type, _TILE["cuda"])))
        width = min(_COLUMNS, max(1, int(area**0.5) * 2), max(1, self.problem.n_columns))
        for top, bottom in row_slabs(n_rows, width, area):
            rows = slice(top, bottom)
            for s, (low, high) in enumerate(pairwise(bounds)):
                outputs = slice(None) if self.problem.weights_are_columns else slice(s, s + 1)
                for first, last in row_slabs(high - low, 1, width):
                    yield _Tile(rows, slice(low + first, low + last), outputs)

    def distances(self, x: Array, y: Array, tile: _Tile, own: Array | None = None) -> Array:
        """Squared distances of rows to columns, in the geometry's scale.

        `own` says which rows of X these are, where they are not the tile's.
        """
        import torch

        scale, centre = self.geometry.scale, self.geometry.centre
        x, y = x * scale, y * scale
        if centre is not None:
            # (−2x, 1, ‖x‖²)·(y, ‖y‖², 1) = ‖x − y‖²: one product, no further pass over the tile.
            x, y = x - centre, y - centre
            one_x, one_y = torch.ones_like(x[:, :1]), torch.ones_like(y[:, :1])
            x = torch.cat([-2 * x, one_x, (x * x).sum(1, keepdim=True)], dim=1)
            y = torch.cat([y, (y * y).sum(1, keepdim=True), one_y], dim=1)
            with _matmul_precision(self.problem.precision):
                d2 = x @ y.T
        else:
            d2 = (x[:, 0, None] - y[None, :, 0]) ** 2
            for f in range(1, x.shape[1]):
                d2 = d2 + (x[:, f, None] - y[None, :, f]) ** 2
        if self.problem.self_sum:
            if own is None:
                own = torch.arange(tile.rows.start, tile.rows.stop, device=x.device)
            is_own = own[:, None] == self._column_rows(tile)[None, :]
            d2 = torch.where(is_own, np.inf if self.problem.exclude_self else 0.0, d2)
        return d2

    def columns_of(self, Y: Array, tile: _Tile) -> Array:
        """Return the rows of Y that are the columns of the tile."""
        return Y[tile.columns] if self.order is None else Y[self.order[tile.columns]]

    def _column_rows(self, tile: _Tile) -> Array:
        import torch

        if self.order is not None:
            return self.order[tile.columns]
        device = self.problem.X.device
        return torch.arange(tile.columns.start, tile.columns.stop, device=device)


def tiled_sums(problem: Problem) -> Array:
    """Return the sums, tile by tile, without their history."""
    import torch

    tiling, reduction = Tiling.of(problem, choose_geometry(problem)), law(problem.log)
    X, Y, weights = problem.X, problem.Y, problem.weights
    if weights is None:
        weights = torch.ones(problem.n_columns, dtype=X.dtype, device=X.device)
    shape = (len(problem.bandwidths), X.shape[0], problem.n_outputs)
    out = torch.full(shape, reduction.identity, dtype=torch.float64, device=X.device)
    for tile in tiling.tiles():
        d2 = tiling.distances(X[tile.rows], tiling.columns_of(Y, tile), tile)
        w = _as_columns(weights[tile.columns])
        for b, bandwidth in enumerate(tiling.geometry.bandwidths):
            with _matmul_precision("high"):
                partial = reduction.reduce(problem.kernel, d2, bandwidth, w).to(torch.float64)
            so_far = out[b, tile.rows, tile.outputs]
            out[b, tile.rows, tile.outputs] = reduction.merge(so_far, partial)
    return out


def _backward(problem: Problem, out: Array, grad: Array) -> tuple[Array, Array, Array]:
    """Return gradients by automatic differentiation of one tile at a time.

    The derivative of log Σ is that of Σ with terms divided by the sum, which is known.
    """
    import torch

    tiling = Tiling.of(problem, choose_geometry(problem))
    X, Y, weights = problem.X, problem.Y, problem.weights
    if weights is None:
        weights = torch.ones(problem.n_columns, dtype=X.dtype, device=X.device)
    gradients = tuple(torch.zeros_like(A) for A in (X, Y, weights))
    empty = torch.isneginf(out)  # no term: the logarithm does not depend on anything
    for tile in tiling.tiles():
        with torch.enable_grad(), _matmul_precision("high"):
            x = X[tile.rows].detach().requires_grad_()
            y = tiling.columns_of(Y, tile).detach().requires_grad_()
            w = weights[tile.columns].detach().requires_grad_()
            d2 = tiling.distances(x, y, tile)
            objective = torch.zeros((), dtype=torch.float64, device=X.device)
            for b, bandwidth in enumerate(tiling.geometry.bandwidths):
                at = (b, tile.rows, tile.outputs)
                g = torch.where(empty[at], 0.0, grad[at])
                if problem.log:
                    # Relative to the row's largest sum; columns of weights share the terms.
                    logs = torch.where(empty[at], 0.0, out[at])
                    top = logs.max(1, keepdim=True).values
                    g = g * torch.exp(top - logs)
                    terms = torch.exp(problem.kernel.log_profile(d2, bandwidth) - top.to(d2.dtype))
                else:
                    terms = problem.kernel.profile(d2, bandwidth)
                objective = objective + ((terms @ _as_columns(w)) * g).sum()
            parts = torch.autograd.grad(objective, (x, y, w))
        gradients[0][tile.rows] += parts[0]
        if tiling.order is None:
            gradients[1][tile.columns] += parts[1]
        else:
            gradients[1].index_add_(0, tiling.order[tile.columns], parts[1])
        gradients[2][tile.columns] += parts[2]
    return gradients


@cache
def _differentiable_sum() -> Any:
    """Return the sum as a torch function; torch is imported when the first tensor comes.

    Tensors are arguments, beside the problem that has them, as transforms of torch.func put others
    in their place.
    """
    import torch

    def state(
        problem: Problem, X: Array, Y: Array, weights: Array | None, order: Array | None
    ) -> Problem:
        return replace(problem, X=X, Y=Y, weights=weights, order=order)

    class KernelSum(torch.autograd.Function):
        @staticmethod
        def forward(
            X: Array, Y: Array, weights: Any, order: Any, problem: Problem, sums: Any
        ) -> Array:
            stated = state(problem, X, Y, weights, order)
            return with_room(stated, lambda: sums(stated))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Array) -> None:
            *tensors, ctx.problem, _ = inputs
            ctx.save_for_backward(*tensors, output)

        @staticmethod
        def backward(ctx: Any, grad: Array) -> tuple[Array | None, ...]:
            x, y, w = Gradient.apply(grad, *ctx.saved_tensors, ctx.problem)
            return x, y, None if ctx.saved_tensors[2] is None else w, None, None, None

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> None:
            raise RuntimeError(
                "kernel sums have no forward-mode derivatives (torch.func.jvp, jacfwd, hessian): "
                "use torch.func.vjp, jacrev or grad, or write the sum in torch."
            )

        vmap = staticmethod(refuse_batch)  # jacfwd asks for it, with rows that are no batch

    class Gradient(torch.autograd.Function):
        @staticmethod
        def forward(
            grad: Array, X: Array, Y: Array, weights: Any, order: Any, out: Array, problem: Problem
        ) -> tuple[Array, Array, Array]:
            return _backward(state(problem, X, Y, weights, order), out, grad)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            """Nothing is kept: there is no second derivative."""

        @staticmethod
        def backward(ctx: Any, *grads: Array) -> None:
            raise RuntimeError(
                "kernel sums can be differentiated once: write the sum in torch for second "
                "derivatives."
            )

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> None:
            Gradient.backward(ctx)

        @staticmethod
        def vmap(info: Any, in_dims: tuple[Any, ...], *given: Any) -> tuple[Any, Any]:
            """One gradient after the other: jacrev asks for a batch of them."""
            each = [
                Gradient.apply(
                    *(
                        A if dim is None else A.select(dim, i)
                        for A, dim in zip(given, in_dims, strict=True)
                    )
                )
                for i in range(info.batch_size)
            ]
            return tuple(torch.stack(parts) for parts in zip(*each, strict=True)), (0, 0, 0)

    return KernelSum


def _as_columns(weights: Array) -> Array:
    return weights if weights.ndim == 2 else weights[:, None]


@contextmanager
def _matmul_precision(precision: str) -> Iterator[None]:
    """Compute float32 products in full, whatever the program chose, or in TF32 if asked to."""
    from torch import backends, get_float32_matmul_precision, set_float32_matmul_precision

    if hasattr(backends.cuda.matmul, "fp32_precision"):  # torch ≥ 2.9
        switches = (backends.cuda.matmul, backends.mkldnn.matmul)
        before = [switch.fp32_precision for switch in switches]
        try:
            for switch in switches:
                switch.fp32_precision = "ieee" if precision == "high" else "tf32"
            yield
        finally:
            for switch, value in zip(switches, before, strict=True):
                switch.fp32_precision = value
    else:
        setting = get_float32_matmul_precision()
        try:
            set_float32_matmul_precision("highest" if precision == "high" else "high")
            yield
        finally:
            set_float32_matmul_precision(setting)
