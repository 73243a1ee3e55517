"""A table → the density of one or two of its columns, and its least likely rows."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import find_peaks

from mercer._arrays import FloatArray
from mercer._system.words import count_of, grouped, listed, significant
from mercer.density import KernelDensity
from mercer.tables import Table, describe_columns, typed_frame

SHARES = (0.5, 0.9, 0.99)  # of the mass: the smallest region that holds so much of it
_TAIL = 0.005  # This share of the values at either end may lie farther out than the rest.
_LEAST_ROWS = 10  # Of fewer, none is taken for lying far out.
_ROWS_OF_WIDTH = 10_000  # A width is chosen in seconds on so many.
_ROWS_LEFT_OUT = 20_000  # Each row is judged by all others where there are no more.
_WIDER = 12  # The width may grow by so many steps of √2 while rows are about as likely.
_POINTS, _GRID = 1000, {1: 501, 2: 181}  # that a page shows; of one column more, up to
_MOST_POINTS, _TO_A_WIDTH = 10_001, 4  # so many, until there are four to a width.
_ROOM = 3.0  # A picture reaches so many widths beyond the rows.
_UNLIKELY = 10
_LEAST_PEAK = 0.05  # A peak stands out by this share of the highest,
_ERRORS = 3.0  # and by so many standard errors.
_TOL = 1e-6


class SomeRows(NamedTuple):
    """Some rows of a table: their numbers, from 1, and their values, (rows, columns)."""

    numbers: NDArray[np.int64]
    values: FloatArray


@dataclass(frozen=True)
class TableDensity:
    """What :func:`table_density` found; ``str(result)`` is a sentence.

    Parameters
    ----------
    columns : tuple of str
        One or two names.
    n_rows : int
        Rows with a value in each column.
    widths : tuple of float
        Of a window, in each column.
    grid : tuple of ndarray
        Coordinates along each axis.
    log_density : ndarray of shape (g,) or (h, g)
        Log density there; of two columns the first runs along the last axis.
    held : ndarray of the same shape
        The share of the mass where the density is at least as high.
    peaks : tuple of tuple of float
        The peaks of one column, from left to right; of two columns, where the density is highest.
    points : SomeRows
        Up to 1 000 of the rows in the picture, at random.
    unlikely : SomeRows
        The least likely rows, each by the density of all others, the least likely first.
    unlikely_logs : ndarray
        Their log densities.
    notes : tuple of str
    """

    columns: tuple[str, ...]
    n_rows: int
    widths: tuple[float, ...]
    grid: tuple[FloatArray, ...]
    log_density: FloatArray
    held: FloatArray
    peaks: tuple[tuple[float, ...], ...]
    points: SomeRows
    unlikely: SomeRows
    unlikely_logs: FloatArray
    notes: tuple[str, ...]

    def regions(self, share: float) -> list[tuple[float, float]]:
        """Return the intervals of one column that hold this share of the mass; none for two."""
        if len(self.columns) > 1:
            return []
        inside = np.concatenate([[False], self.held <= share, [False]])
        ends = np.flatnonzero(np.diff(inside.astype(np.int8)))
        x = self.grid[0]
        return [(float(x[a]), float(x[b - 1])) for a, b in list(pairwise(ends))[::2]]

    def panel(self) -> dict[str, Any]:
        """Return the picture as :mod:`mercer.report` draws it: a curve, or bands, and the rows."""
        rows = self.points.values.T.tolist()
        names = [f"row {number}" for number in self.points.numbers]
        points = {"kind": "points", "names": names, "faint": True, "colour": 7, "label": "rows"}
        if len(self.columns) == 1:
            x, y = self.grid[0].tolist(), np.exp(self.log_density).tolist()
            layers = [
                {"kind": "line", "x": x, "y": y},
                {**points, "x": rows[0], "y": [0.0] * len(names), "marker": "plus"},
            ]
            return {"x_label": self.columns[0], "y_label": "density", "layers": layers}
        bands = np.sum([self.held <= share for share in SHARES], axis=0)
        extent = [float(axis[end]) for axis in self.grid for end in (0, -1)]
        layers = [
            {"kind": "raster", "z": bands.tolist(), "extent": extent, "scale": "shade"},
            {**points, "x": rows[0], "y": rows[1]},
        ]
        shares = listed([f"{100 * share:g} %" for share in SHARES])
        return {
            "title": f"The smallest regions that hold {shares} of the mass, the first deepest",
            "x_label": self.columns[0],
            "y_label": self.columns[1],
            "layers": layers,
        }

    def __str__(self) -> str:
        places = [", ".join(significant(value) for value in peak) for peak in self.peaks]
        names = listed([repr(name) for name in self.columns])
        if len(self.columns) == 2:
            return f"The density of {names} is highest at ({places[0]})."
        if len(places) == 1:
            return f"The density of {names} has one peak, at {places[0]}."
        return f"The density of {names} has {len(places)} peaks, at {listed(places, most=8)}."


def table_density(
    table: Table,
    columns: Sequence[str],
    *,
    bandwidth: str | Sequence[float] = "likelihood-cv",
    random_state: int = 0,
) -> TableDensity:
    """Estimate the density of one or two columns of numbers.

    Parameters
    ----------
    table : Table
        Rows; those without a value in one of the columns are left out.
    columns : sequence of str
        One or two names.
    bandwidth : str or sequence of float, default="likelihood-cv"
        A name that :class:`mercer.KernelDensity` knows, in units of the columns' standard
        deviations, or a width for each column.
    random_state : int, default=0
        Seed of the draws of rows.

    Returns
    -------
    TableDensity
        The density, where it is high, and its least likely rows.

    Raises
    ------
    ColumnNotFoundError
        Where there is no such column.
    ValueError
        Where a column does not hold numbers, or one number only.

    Notes
    -----
    "likelihood-cv" takes the widest windows whose likelihood is within a standard error of the
    best; numbers that are rounded are first spread over the gaps between them, and no window is
    narrower than half of such a gap.  The width is chosen on at most 10 000 of the rows in the
    picture, and made narrower by (m/n)^(1/(d+4)) for all n.  A peak counts that rises above the
    valleys beside it by three standard errors of its density.  Of a column without negative
    numbers windows are reflected at 0 if they reach below it; counts, of which one window holds
    few values, are left.  Numbers that lie farther from 99 %
    of their column than these span are not in the picture.  The density itself is that of all
    rows, in linear time.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from mercer.tables import Table
    >>> from mercer.views import table_density
    >>> rng = np.random.default_rng(0)
    >>> sizes = np.concatenate([rng.normal(0, 1, 300), rng.normal(9, 1, 300)])
    >>> print(table_density(Table(pd.DataFrame({"size": sizes}), "t.csv"), ["size"]))
    The density of 'size' has 2 peaks, at −0.289 and 8.92.
    """
    X, row_numbers, notes = _numbers(table, columns)
    n = len(X)
    rng = np.random.default_rng(random_state)
    near = X[_near_rows(X)]
    widths = _widths(near, bandwidth, rng, notes)
    low, high = near.min(axis=0) - _ROOM * widths, near.max(axis=0) + _ROOM * widths
    begins = _begin_at_zero(X, widths, low)
    model = KernelDensity(
        bandwidth=widths, tol=_TOL, bounds=[(0, None) if begin else None for begin in begins]
    ).fit(X)
    low = np.where(begins, 0.0, low)
    grid = _grid(low, high, widths)
    for name, axis, width, begin in zip(columns, grid, widths, begins, strict=True):
        if begin:
            notes.append(f"Column {name!r} has no negative numbers: windows are reflected at 0.")
        if axis[1] - axis[0] > width:
            notes.append(f"Column {name!r}: windows are narrower than the steps of the picture.")
    mesh = np.meshgrid(*grid)
    logs = model.score_samples(np.column_stack([axis.ravel() for axis in mesh]))
    logs = logs.reshape(mesh[0].shape)
    relative = np.exp(logs - logs.max())
    inside = np.flatnonzero(_are_inside(X, low, high))
    n_outside = n - len(inside)
    if n_outside:
        verbs = ("lies", "is") if n_outside == 1 else ("lie", "are")
        rows = count_of(n_outside, "row")
        notes.append(f"{rows} {verbs[0]} far outside and {verbs[1]} not in the picture.")
    some = np.sort(rng.choice(inside, min(len(inside), _POINTS), replace=False))
    least, least_logs = _unlikely(model, n, notes)
    return TableDensity(
        columns=tuple(columns),
        n_rows=n,
        widths=tuple(float(width) for width in widths),
        grid=grid,
        log_density=logs,
        held=mass_held(relative),
        peaks=_peaks(grid, relative, _errors(logs, n, grid[0], widths[0], bool(begins[0]))),
        points=SomeRows(row_numbers[some], X[some]),
        unlikely=SomeRows(row_numbers[least], X[least]),
        unlikely_logs=least_logs,
        notes=tuple(dict.fromkeys([*table.notes, *notes])),
    )


def mass_held(density: FloatArray) -> FloatArray:
    """Return for each point of a grid the share of the mass where density is at least as high."""
    values, places = np.unique(density, return_inverse=True)
    mass = values * np.bincount(places.ravel(), minlength=len(values))
    above = np.cumsum(mass[::-1])[::-1]
    held: FloatArray = (above / above[0])[places].reshape(density.shape)
    return held


def _begin_at_zero(X: FloatArray, widths: FloatArray, low: FloatArray) -> NDArray[np.bool_]:
    """Return which columns have no negative numbers, and some within three widths of 0.

    Windows that are wider than the rows are spread, as those of a handful of rows can be, say
    nothing about an end.  Few numbers that come again and again, such as counts, are left: a window
    about 0 stands for 0 as that about 1 for 1, and would be twice as high.
    """
    gaps = np.array([np.median(np.diff(np.unique(column))) for column in X.T])
    is_narrow = (gaps < widths) & (widths < X.std(axis=0))
    begins: NDArray[np.bool_] = (X.min(axis=0) >= 0) & (low < 0) & is_narrow
    return begins


def _grid(low: FloatArray, high: FloatArray, widths: FloatArray) -> tuple[FloatArray, ...]:
    """Return the axes of the picture; that of one column has some points to each width."""
    n_points = _GRID[len(widths)]
    if len(widths) == 1:
        wanted = _TO_A_WIDTH * (high[0] / widths[0] - low[0] / widths[0]) + 1
        n_points = int(np.clip(np.ceil(wanted), n_points, _MOST_POINTS))
    return tuple(np.linspace(*ends, n_points) for ends in zip(low, high, strict=True))


def _numbers(
    table: Table, columns: Sequence[str]
) -> tuple[FloatArray, NDArray[np.int64], list[str]]:
    """Return the values of rows that have all of them, the numbers of these rows, and notes."""
    names = list(columns)
    if len(names) not in (1, 2) or len(set(names)) < len(names):
        raise ValueError(
            "A density is drawn of one column or of two that differ; got "
            f"{listed(names) or 'none'}."
        )
    if set(names) <= set(table.frame):  # else there is an error that suggests other names
        table = replace(table, frame=table.frame[names])
    every = describe_columns(table, kinds=dict.fromkeys(names, "number"))
    described = {column.name: column for column in every}
    for name in names:
        if described[name].kind != "number":
            reason = described[name].reason
            raise ValueError(f"Column {name!r} of {table.name} has no density: {reason}.")
    frame, unread = typed_frame(table.frame, [described[name] for name in names])
    notes = [
        f"Column {name!r}: {found.sentence('number')}." for name, found in unread.items() if found
    ]
    known = frame.notna().all(axis=1).to_numpy()
    n_without = int((~known).sum())
    if n_without:
        are = "is" if n_without == 1 else "are"
        notes.append(f"{count_of(n_without, 'row')} without a value {are} left out.")
    X = frame[names].to_numpy(dtype=np.float64)[known]
    for name, column in zip(names, X.T, strict=True):
        if len(column) == 0 or column.min() == column.max():
            raise ValueError(
                f"Column {name!r} of {table.name} has fewer than two different numbers in the rows "
                "that count: there is no density to draw."
            )
    return X, np.flatnonzero(known) + 1, notes


def _near_rows(X: FloatArray) -> NDArray[np.int64]:
    """Return the rows of the picture: all but those that lie far out in some column.

    Far is what lies farther from the others than these span, the half per cent at either end, or
    one row, left aside.
    """
    n_far = max(1, round(_TAIL * len(X))) if len(X) > _LEAST_ROWS else 0
    ordered = np.sort(X, axis=0)
    low, high = ordered[n_far], ordered[len(X) - 1 - n_far]
    # Where nearly all are the same, the others stay visible.
    extent = np.where(high > low, high - low, np.inf)
    return np.flatnonzero(_are_inside(X, low - extent, high + extent))


def _are_inside(X: FloatArray, low: FloatArray, high: FloatArray) -> NDArray[np.bool_]:
    inside = (low <= X) & (high >= X)
    return np.asarray(inside.all(axis=1), dtype=np.bool_)


def _widths(
    X: FloatArray, bandwidth: str | Sequence[float], rng: np.random.Generator, notes: list[str]
) -> FloatArray:
    """Return the width of a window in each column."""
    n, d = X.shape
    if not isinstance(bandwidth, str):
        return np.asarray(bandwidth, dtype=np.float64)
    m = min(n, _ROWS_OF_WIDTH) if bandwidth.endswith("-cv") else n
    sample = X[np.sort(rng.choice(n, m, replace=False))] if m < n else X
    if m < n:
        notes.append(f"The width is chosen on {grouped(m)} rows at random.")
    gaps = np.array([np.median(np.diff(np.unique(column))) for column in sample.T])
    if bandwidth.endswith("-cv"):
        # Rounded numbers have equals, whose narrowest windows are the most likely.
        sample = sample + rng.uniform(-0.5, 0.5, size=sample.shape) * gaps
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = KernelDensity(bandwidth=bandwidth, metric="seuclidean").fit(sample)
    notes += [str(one.message) for one in caught if issubclass(one.category, UserWarning)]
    if bandwidth == "likelihood-cv":
        model = _widest_about_as_likely(model, sample)
    # Windows of half a gap smooth rounded numbers: the ripple between them is one per cent.
    widths: FloatArray = np.maximum(model.widths_ * (m / n) ** (1 / (d + 4)), 0.5 * gaps)
    return widths


def _widest_about_as_likely(best: KernelDensity, X: FloatArray) -> KernelDensity:
    """Return the model of the widest windows that is hardly worse than the best.

    The likelihood is flat about its maximum, and narrow windows make peaks of chance.  So windows
    grow by √2 while the rows that are left out are less likely by no more than a standard error of
    that difference.
    """
    logs, model = best.leave_one_out_scores(), best
    for _ in range(_WIDER):
        wider = KernelDensity(bandwidth=sqrt(2) * model.widths_).fit(X)
        losses = logs - wider.leave_one_out_scores()
        if losses.mean() > losses.std(ddof=1) / sqrt(len(losses)):
            break
        model = wider
    return model


def _errors(
    logs: FloatArray, n: int, x: FloatArray, width: float, begins: bool
) -> FloatArray | float:
    """Return for densities f of one column, the highest 1, their standard errors over √f.

    The variance of f̂ is f·∫W²/n, with ∫W² = 1/(2√π·h); windows that are reflected at 0 overlap
    their images: (W(y − x) + W(y + x))² has the integral (1 + exp(−x²/h²))/(2√π·h).
    """
    error = sqrt(np.exp(-logs.max()) / (2 * sqrt(pi) * n * width))
    return error * np.sqrt(1 + np.exp(-((x / width) ** 2))) if begins else error


def _peaks(
    grid: tuple[FloatArray, ...], density: FloatArray, errors: FloatArray | float
) -> tuple[tuple[float, ...], ...]:
    """Return where two columns are densest, or the peaks of one that stand out.

    The standard error of a density f is errors·√f.
    """
    if len(grid) == 2:
        row, column = np.unravel_index(int(np.argmax(density)), density.shape)
        return ((float(grid[0][column]), float(grid[1][row])),)
    padded = np.concatenate([[0.0], density, [0.0]])
    places, found = find_peaks(padded, prominence=_LEAST_PEAK * density.max())
    least = np.pad(_ERRORS * errors * np.sqrt(density), 1)
    stands_out = found["prominences"] > least[places]
    stands_out |= padded[places] == density.max()
    return tuple((float(grid[0][place - 1]),) for place in places[stands_out])


def _unlikely(
    model: KernelDensity, n: int, notes: list[str]
) -> tuple[NDArray[np.int64], FloatArray]:
    """Return the rows of least density, each by all others, and the log densities."""
    if n > _ROWS_LEFT_OUT:
        notes.append(
            f"Of more than {grouped(_ROWS_LEFT_OUT)} rows the least likely are not listed."
        )
        return np.empty(0, np.int64), np.empty(0)
    logs = model.leave_one_out_scores()
    least: NDArray[np.int64] = np.argsort(logs, kind="stable")[:_UNLIKELY]
    return least, logs[least]
