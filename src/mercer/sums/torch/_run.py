"""The backend of torch tensors: tiles of torch operations, on the CPU or a CUDA device.

Differentiable with respect to X, Y and weights, once: the backward pass computes each tile
again, so that neither pass keeps anything of size n × m.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from mercer._arrays import Array, refuse_batch
from mercer.sums._problem import Problem, law
from mercer.sums.torch._left_out import tiled_left_out_sums
from mercer.sums.torch._tiles import Tiling, matmul_precision, retry_in_smaller_parts

OWNS = ("torch", "cuda")


def refuses(problem: Problem) -> str | None:
    """Return why this backend cannot compute the problem, or None if it can."""
    if problem.method == "fast":
        return "method='fast' is not available for torch tensors; use method='direct'"
    return None


def run(problem: Problem) -> Any:
    """Return the sums, or their logarithms, as (bandwidths, rows of X, outputs) in float64."""
    if problem.is_left_out:
        return retry_in_smaller_parts(problem, lambda: tiled_left_out_sums(problem))
    return differentiable(problem, tiled_sums)


def differentiable(problem: Problem, sums: Callable[[Problem], Array]) -> Array:
    """Return sums that torch can differentiate: gradients are computed tile by tile."""
    import torch

    order = problem.order
    if order is not None:
        order = torch.as_tensor(order, device=problem.X.device)
    tensors = problem.X, problem.Y, problem.weights, order
    if _have_no_derivative(tensors[:3]):  # A torch function would take longer than all checks.
        with torch.no_grad():
            return retry_in_smaller_parts(problem, lambda: sums(problem))
    return _differentiable_sum().apply(*tensors, problem, sums)


def _have_no_derivative(tensors: tuple[Array | None, ...]) -> bool:
    """Tell whether nobody can ask for a derivative with respect to these tensors."""
    import torch

    # torch's own functions ask the same before they look for transforms such as vmap and jvp.
    is_transformed = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)
    if is_transformed():
        return False
    for A in tensors:
        if A is None:
            continue
        if A.requires_grad and torch.is_grad_enabled():
            return False
        if torch.autograd.forward_ad.unpack_dual(A).tangent is not None:
            return False
    return True


def tiled_sums(problem: Problem) -> Array:
    """Return the sums, tile by tile, without gradient history."""
    import torch

    tiling, reduction = Tiling.of(problem), law(problem.log)
    X, Y, weights = problem.X, problem.Y, problem.weights
    if weights is None:
        weights = torch.ones(problem.n_columns, dtype=X.dtype, device=X.device)
    shape = (len(problem.bandwidths), X.shape[0], problem.n_outputs)
    out = torch.full(shape, reduction.identity, dtype=torch.float64, device=X.device)
    for tile in tiling.tiles():
        d2 = tiling.distances(X[tile.rows], tiling.columns_of(Y, tile), tile)
        w = _as_columns(weights[tile.columns])
        for b, bandwidth in enumerate(tiling.geometry.bandwidths):
            with matmul_precision("high"):
                partial = reduction.reduce(problem.kernel, d2, bandwidth, w).to(torch.float64)
            so_far = out[b, tile.rows, tile.outputs]
            out[b, tile.rows, tile.outputs] = reduction.merge(so_far, partial)
    return out


def _backward(problem: Problem, out: Array, grad: Array) -> tuple[Array, Array, Array]:
    """Return gradients by automatic differentiation of one tile at a time.

    The derivative of log Σ is that of Σ with terms divided by the sum, which is known.
    """
    import torch

    tiling = Tiling.of(problem)
    X, Y, weights = problem.X, problem.Y, problem.weights
    if weights is None:
        weights = torch.ones(problem.n_columns, dtype=X.dtype, device=X.device)
    gradients = tuple(torch.zeros_like(A) for A in (X, Y, weights))
    empty = torch.isneginf(out)  # Without a term the logarithm is constant.
    for tile in tiling.tiles():
        with torch.enable_grad(), matmul_precision("high"):
            x = X[tile.rows].detach().requires_grad_()
            y = tiling.columns_of(Y, tile).detach().requires_grad_()
            w = weights[tile.columns].detach().requires_grad_()
            d2 = tiling.distances(x, y, tile)
            objective = torch.zeros((), dtype=torch.float64, device=X.device)
            for b, bandwidth in enumerate(tiling.geometry.bandwidths):
                at = (b, tile.rows, tile.outputs)
                g = torch.where(empty[at], 0.0, grad[at])
                if problem.log:
                    # Terms relative to the row's largest sum serve all columns of weights.
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

    Tensors are arguments beside the problem that holds them, because transforms of torch.func
    replace arguments by other tensors.
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
            return retry_in_smaller_parts(stated, lambda: sums(stated))

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
                "Kernel sums have no forward-mode derivatives (torch.func.jvp, jacfwd, hessian): "
                "use torch.func.vjp, jacrev or grad, or write the sum in torch."
            )

        vmap = staticmethod(refuse_batch)  # jacfwd calls it.

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
                "Kernel sums can be differentiated only once: write the sum in torch for second "
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
