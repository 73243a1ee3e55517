"""A kernel sum as a frozen statement, the laws by which parts merge, and the list of backends.

It is stated with weights and groups as they were given, over rows in memory or in blocks:

    out[b, i, g] = Σ_{j in group g} weights[j] · k_b(X[i], Y[j])

or its logarithm; weights of shape (m, c) give c numbers in place of groups.  Rows in memory are
then brought to one form, whatever users wrote (`_in_memory`): the rows of Y are taken in `order`
and cut into segments at `bounds`, and weights are in that order:

    out[b, i, s] = Σ_{j in segment s} weights[j] · k_b(X[i], Y[order[j]])

A problem with `rung_weights` leaves out the row at hand, and what it adds to the densities of
others (`left_out_log_sums`): it has two results, the logarithms and the drifts.

Backends compute problems, and merge partial results by a law: sums, or logarithms of sums.
Merging is associative and has an identity, so that one law serves tiles, slabs, bands of weights
and the parts of a distributed array alike.

A backend is a module that says three things: ``OWNS``, the kinds of arrays that it is for
(`kind_of`); ``refuses(problem)``, a reason that a user can read or None; and ``run(problem)``.
They are imported when a sum needs them, so that ``import mercer`` stays light.  The first three
make new problems of a problem and give them to `compute` again: rows in blocks become pairs of
blocks in memory; rows that several devices share become parts; weights and groups in memory become
segments, which all others take.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_torch_array
from numpy.typing import NDArray

from mercer._arrays import Array, detached, like, times_powers_of_two, to_numpy
from mercer.kernels import Kernel
from mercer.samples import kind_of

# Up to this many columns are reduced one by one, which is some twenty times as fast in NumPy.
_BY_COLUMN = 8


@dataclass(frozen=True)
class Box:
    """The least and largest coordinates, (d,) each; NaN or infinite if some point is."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, *arrays: Array) -> "Box":
        """Return the box of all rows of these arrays; there must be at least one row."""
        arrays = tuple(detached(A) for A in arrays if A.shape[0])
        if is_torch_array(arrays[0]):
            import torch

            ends = torch.stack([end for A in arrays for end in torch.aminmax(A, dim=0)])
            return cls.around(to_numpy(ends))
        return cls.around(np.concatenate([_ends(A) for A in arrays]))

    @classmethod
    def around(cls, ends: NDArray[Any]) -> "Box":
        """Return the box of the least and largest coordinates of several arrays, in turn."""
        low, high = ends[::2].min(axis=0), ends[1::2].max(axis=0)
        return cls(low.astype(np.float64), high.astype(np.float64))

    @property
    def is_finite(self) -> bool:
        """Whether all coordinates are finite."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    @cached_property
    def extent(self) -> float:
        """The largest absolute coordinate."""
        return float(np.maximum(self.high.max(), -self.low.min()))


def _ends(A: NDArray[Any]) -> NDArray[Any]:
    """Return the least and largest of each column: (2, d)."""
    if A.shape[1] > _BY_COLUMN:
        return np.stack([A.min(axis=0), A.max(axis=0)])
    columns = [A[:, j] for j in range(A.shape[1])]
    return np.array([[c.min() for c in columns], [c.max() for c in columns]])


@dataclass(frozen=True)
class Middle:
    """The middle of the box, and how far the farthest row of X and Y is from it, on a device.

    Parameters
    ----------
    centre : tensor of shape (d,)
    squared_radius : tensor of shape (1,)
        The largest squared distance, as float32 arithmetic has it.
    number : float
        The same as a number, at which the device was looked.
    """

    centre: Array
    squared_radius: Array
    number: float


@dataclass(frozen=True)
class ByGroup:
    """Rows sorted by their group, in their order within each: where they are, and how many."""

    order: Array
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class Removal:
    """What leaves the densities with a row, and what is wanted to first order.

    Parameters
    ----------
    amount : array of shape (n,)
        Weight of row i's window in every density.
    densities : array of shape (b, n)
        F, in the units of `amount`, with the kernel's peak as 1.
    least : array of shape (n,)
        The part of F_j that cannot leave with another row: row j's own term.
    squared : bool
        Whether F sums the squared kernel (p = 2) or the kernel (p = 1).
    drift_weights : array of shape (b, n)
        q.
    """

    amount: Array
    densities: Array
    least: Array
    squared: bool
    drift_weights: Array


@dataclass(frozen=True)
class Problem:
    """One kernel sum over one pair of arrays.

    Parameters
    ----------
    X, Y : arrays of shape (n, d) and (m, d)
        Of one library, device and precision (float32 or float64), finite.
    order : integer array of shape (m',) or None
        The rows of Y in the order of summation; None is all of them in their order.
    weights : array of shape (m',) or (m', c), or None
        In the order of summation.
    bounds : tuple of int
        Segment s is bounds[s] … bounds[s + 1] of that order; empty before rows were put in order.
    kernel : Kernel
    bandwidths : tuple of float
        Widths of the kernel; in segments, the widest first.
    log : bool
        Whether logarithms of the sums are wanted.
    self_sum : bool
        Whether Y is X: the distance of a row to itself is then exactly zero.
    exclude_self : bool
        Whether the term of a row with itself is left out.
    method : {"auto", "direct", "fast"}
    tol : float or None
        Relative error that an approximation may make.
    precision : {"high", "fast"}
    box : Box or None
        The box of all rows of X and Y, if it is known.
    middle : Middle or None
        Its middle on a CUDA device, if that was computed.
    weight_ends : tuple of float or None
        The least and the largest weight as they were given, if that is known.
    by_group : ByGroup or None
        The rows of Y by group, if they were sorted already.
    groups : integer array of shape (m,) or None
        As they were given; None in segments.
    n_groups : int or None
        How many there are, where some may have no row here.
    rung_weights : array of shape (b, m) or None
        Of left-out sums: weights of the rows of Y in their order, one set for each bandwidth.
    removal : Removal or None
        What leaves the densities of left-out sums; None leaves them as they are.
    rows : slice, NumPy array of int or None
        The rows of X for which left-out sums are wanted; None is all.
    """

    X: Array
    Y: Array
    order: Array | None
    weights: Array | None
    bounds: tuple[int, ...]
    kernel: Kernel
    bandwidths: tuple[float, ...]
    log: bool
    self_sum: bool
    exclude_self: bool
    method: str
    tol: float | None
    precision: str
    box: Box | None = None
    middle: Middle | None = None
    weight_ends: tuple[float, float] | None = None
    by_group: ByGroup | None = None
    groups: Array | None = None
    n_groups: int | None = None
    rung_weights: Array | None = None
    removal: Removal | None = None
    rows: slice | NDArray[np.int64] | None = None

    @property
    def is_left_out(self) -> bool:
        """Whether the row at hand is left out of weights that are themselves sums."""
        return self.rung_weights is not None

    @property
    def n_rows(self) -> int:
        """Rows of X for which sums are wanted."""
        n = int(self.X.shape[0])
        if self.rows is None:
            return n
        return len(range(n)[self.rows] if isinstance(self.rows, slice) else self.rows)

    @property
    def n_columns(self) -> int:
        """Length of the order of summation."""
        return self.bounds[-1]

    @property
    def weights_are_columns(self) -> bool:
        """Whether weights are (m', c)."""
        return self.weights is not None and self.weights.ndim == 2

    @property
    def n_outputs(self) -> int:
        """Numbers wanted for each row of X and each bandwidth."""
        if self.weights is not None and self.weights.ndim == 2:
            return int(self.weights.shape[1])
        return len(self.bounds) - 1


# Below this, logarithms of different groups may differ by less than float32 resolves.
_FAR = -1e4


class Law(ABC):
    """How a tile is reduced, and how partial results merge."""

    identity: float

    @abstractmethod
    def reduce(self, kernel: Kernel, d2: Array, bandwidth: float, weights: Array) -> Array:
        """Reduce squared distances (rows, columns) with weights (columns, c) to (rows, c)."""

    @abstractmethod
    def merge(self, a: Array, b: Array) -> Array:
        """Merge two partial results."""

    @abstractmethod
    def scale(self, partial: Array, exponents: NDArray[np.int64]) -> Array:
        """Return the partial result of weights that are 2**exponents times as large."""


class Sum(Law):
    """Σⱼ wⱼ kⱼ."""

    identity = 0.0

    def reduce(self, kernel: Kernel, d2: Array, bandwidth: float, weights: Array) -> Array:
        return kernel.profile(d2, bandwidth) @ weights

    def merge(self, a: Array, b: Array) -> Array:
        return a + b

    def scale(self, partial: Array, exponents: NDArray[np.int64]) -> Array:
        return times_powers_of_two(partial, exponents)


class LogSum(Law):
    """log Σⱼ wⱼ kⱼ, relative to the largest kernel value, so that nothing underflows."""

    identity = float("-inf")

    def reduce(self, kernel: Kernel, d2: Array, bandwidth: float, weights: Array) -> Array:
        xp = array_namespace(d2)
        logs = kernel.log_profile(d2, bandwidth)
        top = xp.max(logs, axis=1, keepdims=True)
        top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
        return top + xp.log(xp.exp(logs - top) @ weights)

    def merge(self, a: Array, b: Array) -> Array:
        return array_namespace(a, b).logaddexp(a, b)

    def scale(self, partial: Array, exponents: NDArray[np.int64]) -> Array:
        return partial + like(exponents, partial) * 0.6931471805599453  # log 2


SUM, LOG_SUM = Sum(), LogSum()


def law(log: bool) -> Law:
    """Return the law of sums or of their logarithms."""
    return LOG_SUM if log else SUM


def are_far(logs: Array) -> Array:
    """Whether a row's largest logarithm is too large a number for float32 to tell groups apart."""
    return array_namespace(logs).max(logs, axis=1) < _FAR


# The first backend that owns the arrays and does not refuse computes the problem.
_BACKENDS = (
    "mercer.sums.dask",
    "mercer.sums._devices",
    "mercer.sums._in_memory",
    "mercer.sums.cuda",
    "mercer.sums.torch",
    "mercer.sums.fast",
    "mercer.sums.cpu",
)


@cache
def _backend(name: str) -> Any:
    return import_module(name)


def compute(problem: Problem) -> Any:
    """Return the sums as (bandwidths, rows of X, outputs), in float64.

    Of left-out sums, a pair: the logarithms, and the drifts, or None where nothing is removed.
    """
    reasons, kind = [], kind_of(problem.X)
    for name in _BACKENDS:
        backend = _backend(name)
        if kind not in backend.OWNS:
            continue
        reason = backend.refuses(problem)
        if reason is None:
            return backend.run(problem)
        if reason:  # An empty reason only says that a later backend is the better one.
            reasons.append(reason)
    raise ValueError(
        "; ".join(reasons) + "."
        if reasons
        else f"No backend computes sums over {type(problem.X).__name__}."
    )
