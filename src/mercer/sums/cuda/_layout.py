"""How a sum is laid out for the Triton kernels: order, packing, tiles and pieces.

Rows of Y are put in the order of summation, every segment filled up to whole tiles.  If X is Y, its
rows are put in the same order, so that the columns of a block's own rows are in a few tiles only.
Both are packed as the kernels take them, in slabs that fit the memory budget.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from math import inf, isqrt
from typing import Any

import numpy as np

from mercer._arrays import Array, like
from mercer._memory import row_slabs, working_memory
from mercer.sums._geometry import Geometry, choose_geometry
from mercer.sums._problem import Problem
from mercer.sums.cuda._launch import launch

_LN2 = 0.6931471805599453
# The forms of distances, numbered as in _kernels.
DIFFERENCES, TOGETHER, BESIDE, APART, RESIDENT, STREAMED, FOLDED = range(7)
NARROW = (TOGETHER, BESIDE, APART)
_STEP = 64  # Features are streamed this many at a time, as in _kernels.
# The most features of each form.
_UP_TO = {TOGETHER: 4, BESIDE: 11, APART: 16, RESIDENT: 64}
# The radius is this many units: whole numbers up to 2048 are exact in float16, and the products of
# two of them in float32.
_UNITS = 2040.0
_FEWEST_PROGRAMS = 4096  # At least this many programs keep a large chip busy to the end.
_FEWEST_TILES = 16  # A program is worth starting for this many tiles.
_PIECE_BYTES = 2**24  # Columns of this many bytes stay in the second-level cache.
# Largest exponent at the radius, r²/2b², at which products are accurate enough: for sums, logs and
# at precision="fast"; and for at most four features, where differences cost little.
_PRODUCTS_UP_TO = (2.0**16, 2.0**12, 2.0**20)
_PRODUCTS_AT_FEW_FEATURES = 2.0**6
# From this exponent on, products of M are too inexact: for nearly equal rows they are off by 1.5e-7
# of it (RESIDENT and STREAMED: twice that).
_PRECISE_FROM = {BESIDE: 16.0, APART: 16.0, RESIDENT: 8.0, STREAMED: 8.0}
# At precision="fast", rows are rounded once.  Rounding x by δ changes ‖x − y‖² by 2(x − y)·δ if
# norms are rounded too, and by −2y·δ if not.  Over all y near x one of them all but cancels: the
# former in narrow windows, which hold y ≈ x; the latter in wide ones, where y lies on all sides.
# Exact norms are taken up to this exponent at the radius, and where windows are wider than the data
# in most directions, r²/2b² ≤ d/2.
_EXACT_NORMS_UP_TO = 16.0
# Up to this exponent at the radius, 2**(2·kappa·x·y) is far from the ends of float32 and its error
# is small, so that the factors 2**(−kappa·‖x‖²) may be multiplied with sums and 2**(−kappa·‖y‖²)
# with weights: two products less at 12 to 16 features.
_FOLDED_UP_TO = 14.0
LIFT = 30  # Weights of logarithms go down to 2**−60: this power of two keeps terms in range.


@cache
def kernels() -> Any:
    """Return the compiled code, imported when the first tensor comes."""
    from mercer.sums.cuda import _kernels

    return _kernels


@cache
def pack_kernels() -> Any:
    """Return the compiled code that packs rows."""
    from mercer.sums.cuda import _pack_kernels

    return _pack_kernels


@cache
def left_out_kernels() -> Any:
    """Return the compiled code of sums with the row at hand left out."""
    from mercer.sums.cuda import _left_out_kernels

    return _left_out_kernels


@dataclass(frozen=True)
class Tile:
    """How much of a sum a program holds at a time; the values were found by trying."""

    rows: int
    columns: int
    fold: int  # Partial sums keep this many columns apart: those of one thread.
    warps: int
    stages: int
    chunk: int = 32  # This many tiles are added up in float32.
    registers: int | None = None  # A thread has at most this many registers.
    held: int = 0  # This many parts of rows are held in registers.
    blocks: int = 2**20  # This many blocks of rows go over all columns before the next ones do.


@dataclass(frozen=True)
class TensorColumns:
    """The columns of a sum, filled up to whole tiles: which row of Y each of them is.

    Parameters
    ----------
    order : int64 tensor of shape (columns,) or None
        Rows of Y; −1 where a column only fills up a tile; None for all rows in their order.
    place : int64 tensor of shape (m',) or None
        The column of each entry of the problem's order.
    n_columns : int
    tiles : tuple of int
        Segment s is tiles[s] … tiles[s + 1].
    width : int
        Columns in a tile.
    """

    order: Array | None
    place: Array | None
    n_columns: int
    tiles: tuple[int, ...]
    width: int

    @classmethod
    def of(cls, problem: Problem, width: int) -> "TensorColumns":
        """Lay out the columns."""
        import torch

        where: dict[str, Any] = {"dtype": torch.int64, "device": problem.X.device}
        bounds = problem.bounds
        lengths = [stop - start for start, stop in pairwise(bounds)]
        tiles = (0, *accumulate(-(-length // width) for length in lengths))
        n_columns = tiles[-1] * width
        if problem.order is None and len(lengths) == 1:
            return cls(None, None, n_columns, tiles, width)
        place = torch.arange(problem.n_columns, **where)
        order = place if problem.order is None else torch.as_tensor(problem.order, **where)
        if len(lengths) > 1:
            shifts = [t * width - start for t, start in zip(tiles, bounds, strict=True)][:-1]
            shift, repeats = like([shifts, lengths], problem.X, torch.int64)
            place = place + torch.repeat_interleave(shift, repeats, output_size=problem.n_columns)
        columns = torch.full((n_columns,), -1, **where)
        columns[place] = order
        return cls(columns, place, n_columns, tiles, width)

    def spread(self, values: Array, fill: float = 0.0) -> Array:
        """Return values (…, m') in the order of summation as (…, columns)."""
        out = values.new_full((*values.shape[:-1], self.n_columns), fill)
        out[..., slice(values.shape[-1]) if self.place is None else self.place] = values
        return out

    def slabs(self, bytes_per_column: int) -> Iterator[tuple[slice, tuple[int, ...]]]:
        """Cut the columns into slabs within the budget; with each, the segments' tiles in it."""
        bytes_per_tile = self.width * bytes_per_column
        budget = max(working_memory() // 4, bytes_per_tile)
        for first, last in row_slabs(self.tiles[-1], bytes_per_tile, budget):
            part = slice(first * self.width, last * self.width)
            yield part, tuple(min(max(tile, first), last) - first for tile in self.tiles)


@dataclass(frozen=True)
class Rows:
    """The order in which rows of X are taken, and the column that is each row itself.

    Parameters
    ----------
    order : int64 tensor of shape (n',) or None
        None for all rows in their order.
    own : int32 tensor of shape (n',) or None
        −1 if a row has no column; None if X is not Y.
    n_rows : int
    place : int64 tensor of shape (n',) or None
        Where the result of each row belongs, if they are not in order.
    """

    order: Array | None
    own: Array | None
    n_rows: int
    place: Array | None = None

    @classmethod
    def of(cls, problem: Problem, columns: TensorColumns, rows: Array | None = None) -> "Rows":
        """Put the rows in the order of the columns, if X is Y."""
        import torch

        X = problem.X
        n = X.shape[0] if rows is None else rows.shape[0]
        if not problem.self_sum:
            return cls(rows, None, n)
        if columns.order is None:
            own = torch.arange(n, device=X.device) if rows is None else rows
            return cls(rows, own.to(torch.int32), n)
        if rows is None:
            rows = torch.arange(n, device=X.device)
        own = torch.full((X.shape[0],), -1, dtype=torch.int64, device=X.device)
        own[columns.order[columns.place]] = columns.place
        own = own[rows]
        own, by_column = torch.sort(own)
        return cls(rows[by_column], own.to(torch.int32), n, by_column)

    def restore(self, sums: Array) -> Array:
        """Return sums (b, segments, n') of the rows taken as (b, rows asked for, segments)."""
        if self.place is None:
            return sums.permute(0, 2, 1)
        out = sums.new_empty((sums.shape[0], sums.shape[2], sums.shape[1]))
        out[:, self.place] = sums.permute(0, 2, 1)
        return out

    def slabs(self, bytes_per_row: int, multiple: int) -> Iterator["RowSlab"]:
        """Cut the rows into slabs within the budget, filled up to whole blocks."""
        from torch.nn.functional import pad

        budget = max(working_memory() // 4, multiple * bytes_per_row)
        most = budget // bytes_per_row // multiple * multiple
        for start, stop in row_slabs(self.n_rows, 1, most):
            part, fill = slice(start, stop), (0, (start - stop) % multiple)
            order, own = (
                None if A is None else pad(A[part], fill, value=-1) for A in (self.order, self.own)
            )
            yield RowSlab(part, stop - start + fill[1], order, own)


@dataclass(frozen=True)
class RowSlab:
    """A part of the rows; `order` and `own` are filled up to `n_filled`."""

    part: slice
    n_filled: int
    order: Array | None
    own: Array | None


@dataclass(frozen=True)
class Packed:
    """Rows as the kernels take them.

    H, M and L, and the columns or numbers that norms come from; for differences, all rows' first
    feature, then their second, and so on.
    """

    high: Array
    middle: Array
    low: Array
    first: Array
    second: Array
    n_rows: int


@dataclass(frozen=True)
class Packer:
    """Packs rows of X and Y about one centre, in one unit.

    Parameters
    ----------
    geometry : Geometry
    form : {DIFFERENCES, TOGETHER, BESIDE, APART, RESIDENT, STREAMED, FOLDED}
    fast : bool
        Whether one product is enough.
    precise : bool
        Whether products of H and L are needed; otherwise products of M save one.
    radius : tensor of shape (1,)
        Largest squared norm, on the device.
    units : float
        How many units the radius is.
    width : int
        Features of a packed row.
    exact_norms : bool
        Whether norms are those of rows before they are rounded; only if `fast`.
    exponent : float
        Of the narrowest window at the radius, where it was needed; else infinite.
    coefficient : float
        Of the kernel, in base 2; only of form FOLDED.
    lift : int
        The power of two that columns are multiplied with, and rows divided by; only of FOLDED.
    """

    geometry: Geometry
    form: int
    fast: bool
    precise: bool
    radius: Array
    units: float
    width: int
    exact_norms: bool = False
    exponent: float = inf
    coefficient: float = 0.0
    lift: int = 0

    @classmethod
    def of(cls, problem: Problem, geometry: Geometry, precise: bool = False) -> "Packer":
        """Choose form and unit; `precise` asks for precise products also of wide windows."""
        import torch

        d, fast = problem.X.shape[1], problem.precision == "fast"
        radius = problem.X.new_zeros(1)
        if geometry.centre is None:
            return cls(geometry, DIFFERENCES, fast, False, radius, 1.0, d)
        form = next((form for form, most in _UP_TO.items() if d <= most), STREAMED)
        width = max(16, 1 << (d - 1).bit_length()) if form != STREAMED else -(-d // _STEP) * _STEP
        middle, square = problem.middle, geometry.scale**2
        if fast and form not in NARROW:  # Exact norms leave −2y·δ, which cancels about the mean.
            mean = problem.Y.detach().mean(0, dtype=torch.float64) * geometry.scale
            geometry, middle = replace(geometry, centre=mean.to(radius.dtype)), None
        if middle is None:
            Y = None if problem.self_sum else problem.Y
            raise_to_largest_norm(radius, problem.X, Y, geometry.centre, geometry.scale)
        else:
            radius = middle.squared_radius * square
        exponent, exact_norms = inf, False
        if not precise and form != TOGETHER and not (fast and form in NARROW):
            number = float(radius) if middle is None else middle.number * square
            exponent = number * problem.kernel.coefficient(geometry.bandwidths[-1])
        if form == TOGETHER or fast:
            precise = False  # TOGETHER computes all products anyway, and `fast` only one.
            exact_norms = exponent <= min(d / 2, _EXACT_NORMS_UP_TO)
        elif not precise:
            precise = exponent > _PRECISE_FROM[form]
        units = _UNITS - (isqrt(d) + 1) / 2  # Rounding lengthens a row by at most √d/2.
        return cls(geometry, form, fast, precise, radius, units, width, exact_norms, exponent)

    def folded(self, coefficient: float, lift: int) -> "Packer":
        """Return this packer with norms folded into weights and sums, where that is as good.

        The second numbers of packed columns are then factors of their weights, those of rows of
        their sums: 2**(±lift − kappa·‖a‖²), and 0 of rows that only fill up.
        """
        can = self.form in (APART, RESIDENT) and not (self.fast or self.precise)
        if not can or self.exponent > _FOLDED_UP_TO:
            return self
        return replace(self, form=FOLDED, coefficient=coefficient, lift=lift)

    @property
    def bytes_per_row(self) -> int:
        """Bytes of a packed row, with the temporaries of packing."""
        return 4 * self.width * (3 if self.form == DIFFERENCES else 2) + 80

    def pack(self, A: Array, order: Array | None, start: int, n: int, side: int) -> Packed:
        """Pack n rows of A, in an order or from `start`; −1 is a row infinitely far away.

        Side 1 are the rows of a sum, which are packed twice as large, side 2 its columns.
        """
        import torch

        A = A.detach()
        if self.form == DIFFERENCES:
            rows = _in_order(A, order, start, n, 0.0 if side == 1 else np.inf)
            rows = rows * self.geometry.scale
            rows = rows.T.contiguous()
            return Packed(rows, rows, rows, rows, rows, n)
        half = {"dtype": torch.float16, "device": A.device}
        narrow, natural = self.form in NARROW, order is None
        # `_streamed` needs this order in memory.  The L of narrow columns meets the M of rows.
        parts = torch.empty((4 - side, n, self.width), **half)
        low, high = parts[-2], parts[-1]
        middle = parts[0] if side == 1 else low
        norms = high.new_empty((2, n, 16)) if self.form == APART else A.new_empty((2, n))
        first, second = norms[0], norms[1]
        given = (
            A[start:] if natural else A, A if natural else order, self.geometry.centre, self.radius,
            high, middle, low, first, second, n, max(0, A.shape[0] - start), A.shape[1],
        )  # fmt: skip
        how = {"NATURAL": natural, "SIDE": side, "FORM": self.form}
        how |= {"FAST": self.fast, "PRECISE": self.precise}
        n_blocks = -(-n // 64)
        if narrow:
            launch(
                pack_kernels().pack_narrow, n_blocks,
                *given, *A.stride(), self.geometry.scale, self.units,
                ROWS=64, **how,
            )  # fmt: skip
        else:
            launch(
                pack_kernels().pack_products, n_blocks,
                *given, self.width, *A.stride(), self.geometry.scale, self.units,
                2.0 if side == 1 else 1.0, 1.0 if self.exact_norms else 0.0,
                self.coefficient, float(self.lift if side == 2 else -self.lift),
                ROWS=64, FEATURES=min(self.width, 64), **how,
            )  # fmt: skip
        return Packed(high, middle, low, first, second, n)


def _in_order(A: Array, order: Array | None, start: int, n: int, fill: float) -> Array:
    """Return n rows of A, in an order or from `start`; `fill` where there is no row."""
    import torch

    if order is not None:
        return torch.where(order[:, None] >= 0, A[order.clamp(min=0)], fill)
    rows = A[start : start + n]
    return torch.nn.functional.pad(rows, (0, 0, 0, n - rows.shape[0]), value=fill)


def raise_to_largest_norm(
    radius: Array, X: Array, Y: Array | None, centre: Array, scale: float, ends: Array | None = None
) -> None:
    """Raise a radius to the largest ‖a·scale − centre‖² of X and Y, on their device.

    With the ends of their columns, the middle of these is the centre, and is written there.
    """
    X = X.detach()
    Y = X[:0] if Y is None else Y.detach()
    n_x, n_y, d = X.shape[0], Y.shape[0], X.shape[1]
    features = min(64, max(16, 1 << (d - 1).bit_length()))
    launch(
        pack_kernels().largest_norm, -(-n_x // 64) - (-n_y // 64),
        X, Y, centre if ends is None else ends, centre, radius, n_x, n_y, d,
        *X.stride(), *Y.stride(), scale,
        ROWS=64, FEATURES=features, FROM_ENDS=ends is not None,
    )  # fmt: skip


def choose_tensor_geometry(problem: Problem, to_judge: bool = False) -> Geometry:
    """Choose scale and formula by what products of split float16 numbers can do.

    Logarithms that only serve to compare classes (`to_judge`) may lose a digit where windows are so
    narrow that they hardly reach another row.
    """
    sums, logs, fast = _PRODUCTS_UP_TO
    limits = (sums, sums if to_judge else logs, fast)
    return choose_geometry(problem, limits, _PRODUCTS_AT_FEW_FEATURES)


@lru_cache(maxsize=64)
def tiles_on(device: Any, tiles: tuple[int, ...]) -> Array:
    """Return tiles as int32 on a device; the same ones come again in each call over some rows.

    They are there before this returns, because other streams may read them later.
    """
    import torch

    there = torch.tensor(tiles, dtype=torch.int32, device=device)
    if there.is_cuda:
        torch.cuda.current_stream(device).synchronize()
    return there


def count_pieces(tiles: tuple[int, ...], n_blocks: int, bytes_per_tile: int) -> int:
    """Return into how many pieces each segment is cut.

    There are enough pieces to keep the chip busy to the end, and each is so small that its columns
    stay in the second-level cache while all blocks of rows go over them.

    >>> count_pieces((0, 64, 100), n_blocks=1024, bytes_per_tile=2**10)
    2
    >>> count_pieces((0, 1000), n_blocks=10**6, bytes_per_tile=2**16)
    4
    """
    longest = max(stop - start for start, stop in pairwise(tiles))
    for_chip = -(-_FEWEST_PROGRAMS // (n_blocks * (len(tiles) - 1)))
    for_cache = -(-longest * bytes_per_tile // _PIECE_BYTES)
    return max(1, for_cache, min(for_chip, longest // _FEWEST_TILES))


def log_of_pieces(totals: Array, tops: Array) -> Array:
    """Return logarithms (rungs, segments, rows) of sums relative to powers of 2**tops.

    Parameters
    ----------
    totals : float64 tensor of shape (segments, pieces, rungs, rows)
    tops : tensor of shape (segments, pieces, rows)
    """
    import torch

    tops = tops.to(torch.float64)
    top = tops.amax(1, keepdim=True)
    powers = 2.0 ** torch.arange(totals.shape[2], dtype=torch.float64, device=tops.device)[:, None]
    shares = torch.exp2((tops - top)[:, :, None, :] * powers)
    logs = (totals * shares).sum(1).log_() + (_LN2 * top) * powers
    return logs.permute(1, 0, 2)
