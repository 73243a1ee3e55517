"""Several devices share a sum: each takes some of the rows of X.

A part of the rows is a problem of its own on one device, where all rows of Y, their weights and
groups are copied.  Some rows of a sum of X with itself are two problems: these rows among
themselves, where a row meets itself, and these rows over all others, where none does; their results
merge by the law.  So no own term is added only to be subtracted again.  Left-out sums say which
`rows` are wanted, and need no second problem.

One thread for each part computes with the settings of the thread that asked.  NumPy arrays go to
the devices and come back.  Of Dask arrays, each worker has its own devices of these names share the
sums over its blocks: tasks carry the names along.
"""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from array_api_compat import is_torch_array
from sklearn import config_context, get_config

from mercer._arrays import Array
from mercer._system.extras import how_to_install
from mercer.sums._problem import Problem, Removal, compute, law

OWNS = ("numpy", "torch", "cuda")

_devices: ContextVar[tuple[str, ...]] = ContextVar("devices that share a sum", default=())


@contextmanager
def use_devices(*devices: Any) -> Iterator[None]:
    """Within this context, these devices share every sum.

    The rows of X are cut into as many equal parts as there are devices.  Each device is sent its
    rows of X, and all rows of Y with their weights and groups, once in each call; all compute
    at the same time, and the results come back to the device of X.  They are those of one device,
    to rounding.  Whatever calls sums within the context shares them: estimators too.

    NumPy arrays go to the devices and come back, unless `tol` allows an approximation, which is
    computed here.  The blocks of Dask arrays go to the devices of these names that the worker has
    who sums them: with ``use_devices("cuda")`` each worker uses its own GPU.  The context must be
    open where the sum is asked for, not where it is computed.

    Parameters
    ----------
    *devices : str or torch.device
        "cuda:0", "cuda:1" and so on, or "cpu".  A device that is named twice computes two parts.

    Yields
    ------
    None
        Where the context ends, the devices of a context around it share the sums again.

    Raises
    ------
    ValueError
        Without a device, or for a word that names none.  From a sum within the context, where a
        device is not there, and where gradients would be wanted: there are none of sums that are
        shared.
    ImportError
        From a sum within the context, where torch is not installed.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> from mercer.sums import kernel_sum, use_devices
    >>> X = torch.arange(4.0)[:, None]
    >>> with use_devices("cpu", "cpu"):
    ...     sums = kernel_sum(X, bandwidth=1.0)
    >>> torch.allclose(sums, kernel_sum(X, bandwidth=1.0))
    True
    """
    token = _devices.set(_checked_devices(devices))
    try:
        yield
    finally:
        _devices.reset(token)


def devices_in_use() -> tuple[str, ...]:
    """Return the names of the devices that share sums; () where none do."""
    return _devices.get()


@dataclass(frozen=True)
class _OnDevices:
    """A task over blocks, and the devices that are to share its sums where it is computed."""

    task: Callable[..., Any]
    devices: tuple[str, ...]

    def __call__(self, *given: Any) -> Any:
        with use_devices(*self.devices):
            return self.task(*given)


def on_devices_in_use(task: Callable[..., Any]) -> Callable[..., Any]:
    """Return a task that takes the devices in use now along to the worker that computes it."""
    devices = devices_in_use()
    return _OnDevices(task, devices) if devices else task


def refuses(problem: Problem) -> str | None:
    """Return "" where nothing is shared, for the backends that follow; else None."""
    is_shared = _devices.get() and not problem.bounds and not _may_be_quicker_here(problem)
    return None if is_shared and problem.n_rows and problem.Y.shape[0] else ""


def _may_be_quicker_here(problem: Problem) -> bool:
    """Tell whether a sum over NumPy arrays may be approximated, which no device does."""
    is_approximate = problem.tol is not None or problem.method == "fast"
    return is_approximate and not is_torch_array(problem.X)


def run(problem: Problem) -> Any:
    """Return what one device would: sums, or the logarithms and drifts of left-out sums."""
    devices = _devices_that_are_there()
    import torch

    from mercer.sums.torch._tiles import matmul_precision

    if not is_torch_array(problem.X):
        return _of_arrays(problem)
    tensors = (problem.X, problem.Y, problem.weights)
    if torch.is_grad_enabled() and any(getattr(A, "requires_grad", False) for A in tensors):
        raise ValueError(
            "Sums that several devices share have no gradients: leave the context of use_devices, "
            "or detach X, Y and weights."
        )
    # What is known of all rows is on one device.
    problem = replace(problem, by_group=None, middle=None)
    ends = np.linspace(0, problem.n_rows, len(devices) + 1).astype(int)
    take = _left_out_part if problem.is_left_out else _part_of_sums
    tasks = [
        (take, problem, slice(start, stop), device)
        for device, start, stop in zip(devices, ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        if start < stop
    ]
    if problem.X.is_cuda:  # The threads have streams of their own, which do not wait for this one.
        torch.cuda.current_stream(problem.X.device).synchronize()
    # The precision of products is one setting for all threads: it must not change between them.
    with matmul_precision("high"):
        parts = _in_threads(tasks)
    if not problem.is_left_out:
        return torch.cat(parts, dim=1)
    logs, drifts = zip(*parts, strict=True)
    return torch.cat(logs, dim=1), None if drifts[0] is None else torch.cat(drifts, dim=1)


def _in_threads(tasks: list[tuple[Any, ...]]) -> list[Any]:
    """Return the results of all parts, each computed by a thread in a copy of this context."""
    settings = get_config()  # scikit-learn keeps it for each thread apart

    def work(take: Callable[..., Any], *given: Any) -> Any:
        import torch

        _devices.set(())  # A part is not shared again.
        with config_context(**settings), np.errstate(over="ignore", under="ignore"):
            result = take(*given)
        if given[0].X.is_cuda:
            torch.cuda.current_stream(given[0].X.device).synchronize()
        return result

    with ThreadPoolExecutor(len(tasks), thread_name_prefix="mercer device") as pool:
        futures = [pool.submit(copy_context().run, work, *task) for task in tasks]
        return [future.result() for future in futures]


def _part_of_sums(problem: Problem, rows: slice, device: Any) -> Array:
    """Return (bandwidths, some rows, groups or columns) sums, computed on a device."""
    import torch

    home, groups, n_groups = problem.X.device, problem.groups, problem.n_groups
    if groups is not None and n_groups is None:  # The last group may have no row in a part.
        n_groups = int(groups.max()) + 1
    of_columns = {"Y": problem.Y, "weights": problem.weights, "groups": groups}
    there: dict[str, Any] = {name: _moved(A, device) for name, A in of_columns.items()}
    X = _moved(problem.X[rows], device)
    if not problem.self_sum:
        part = replace(problem, X=X, n_groups=n_groups, **there)
        return compute(part).to(home)
    its_own: dict[str, Any] = {name: None if A is None else A[rows] for name, A in there.items()}
    its_own["Y"] = X
    others: dict[str, Any] = {
        name: None if A is None else torch.cat([A[: rows.start], A[rows.stop :]])
        for name, A in there.items()
    }
    among_themselves = replace(problem, X=X, n_groups=n_groups, **its_own)
    with_others = replace(
        problem, X=X, n_groups=n_groups, self_sum=False, exclude_self=False, **others
    )
    reduction = law(problem.log)
    return reduction.merge(compute(among_themselves), compute(with_others)).to(home)


def _left_out_part(problem: Problem, rows: slice, device: Any) -> tuple[Array, Array | None]:
    """Return logarithms and drifts of some of the wanted rows, computed on a device."""
    wanted = np.arange(problem.X.shape[0])
    if problem.rows is not None:
        wanted = wanted[problem.rows]
    X, removal = _moved(problem.X, device), problem.removal
    if removal is not None:
        removal = Removal(
            _moved(removal.amount, device), _moved(removal.densities, device),
            _moved(removal.least, device), removal.squared, _moved(removal.drift_weights, device),
        )  # fmt: skip
    part = replace(
        problem, X=X, Y=X if problem.self_sum else _moved(problem.Y, device),
        groups=_moved(problem.groups, device), removal=removal,
        rung_weights=_moved(problem.rung_weights, device), rows=wanted[rows],
    )  # fmt: skip
    logs, drifts = compute(part)
    home = problem.X.device
    return logs.to(home), None if drifts is None else drifts.to(home)


def _of_arrays(problem: Problem) -> Any:
    """Return the sums over NumPy arrays: those of tensors that share their memory."""
    removal = problem.removal
    if removal is not None:
        removal = Removal(
            _as_tensor(removal.amount), _as_tensor(removal.densities), _as_tensor(removal.least),
            removal.squared, _as_tensor(removal.drift_weights),
        )  # fmt: skip
    X = _as_tensor(problem.X)
    groups = problem.groups
    out = run(
        replace(
            problem, X=X, Y=X if problem.self_sum else _as_tensor(problem.Y), removal=removal,
            weights=_as_tensor(problem.weights), rung_weights=_as_tensor(problem.rung_weights),
            groups=groups if problem.is_left_out else _as_tensor(groups),
        )
    )  # fmt: skip
    if not problem.is_left_out:
        return out.numpy()
    logs, drifts = out
    return logs.numpy(), None if drifts is None else drifts.numpy()


def _as_tensor(A: Any) -> Any:
    """Return a NumPy array as a tensor; torch takes no array that is read-only or reversed."""
    import torch

    if A is None:
        return None
    is_plain = A.flags.writeable and all(stride >= 0 for stride in A.strides)
    return torch.as_tensor(A if is_plain else A.copy())


def _moved(A: Any, device: Any) -> Any:
    """Return a tensor on a device, without gradient history; anything else as it is."""
    return A.detach().to(device) if is_torch_array(A) else A


def _checked_devices(devices: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the names of devices; whether they are there is another question."""
    if not devices:
        raise ValueError('use_devices needs at least one device, such as "cuda:0".')
    for given in devices:
        if not re.fullmatch(r"cpu(:0)?|cuda(:\d+)?", str(given)):
            raise ValueError(f"A device is cpu, cuda or cuda:1, not {given!r}.")
    return tuple(map(str, devices))


def _devices_that_are_there() -> list[Any]:
    """Return the devices in use as torch's; raise where one is not there."""
    if find_spec("torch") is None:
        raise ImportError(f"use_devices needs torch: {how_to_install('gpu')}.")
    import torch

    found = [torch.device(name) for name in _devices.get()]
    n_there = torch.cuda.device_count() if torch.cuda.is_available() else 0
    for device in found:
        if device.type == "cuda" and (device.index or 0) >= n_there:
            raise ValueError(f"Device {str(device)!r} is not there: torch finds {n_there}.")
    return found
