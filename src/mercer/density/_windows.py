"""A sample as windows, one at each row, whose widths are those of a few groups of rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, FloatArray, detached, like, take_rows, to_numpy
from mercer._memory import row_slabs, working_memory
from mercer.kernels import Kernel
from mercer.samples import count_rows, home_of, logsumexp, safe_log, total_weight
from mercer.sums import group_sums, kernel_sum, log_kernel_sum

# Widths that differ between rows are rounded to steps of this many to an octave: each is within
# 4.5 per cent of what was asked for.
_TO_AN_OCTAVE = 8
_MOST_OCTAVES = 500
_HEAVY = 0.75  # Above this share of a sum its difference to the sum is added up again.
_BYTES_PER_PAIR = 40  # of the arrays that adding up pairs without a matrix of them holds at once


@dataclass(frozen=True, eq=False)
class Windows:
    """Σⱼ wⱼ W_{hⱼ}(z − zⱼ), where the integral of each W is 1.

    Parameters
    ----------
    Z : array of shape (n, d)
        Rows, in coordinates in which windows are round.
    weights : array of shape (n,) or None
        Positive: NumPy floats, or a Dask array if the rows are one.
    kernel : Kernel
        The form of a window.
    bandwidths : tuple of float
        The widths h of the groups.
    groups : NumPy array of int of shape (n,) or None
        The group of each row; None if there is one.
    """

    Z: Array
    weights: Any
    kernel: Kernel
    bandwidths: tuple[float, ...]
    groups: NDArray[np.int64] | None = None

    def log_sums(self, Z: Array, tol: float | None = None) -> Array:
        """Return log Σⱼ wⱼ W_{hⱼ}(z − zⱼ) at some points: (rows,), in float64."""
        home = home_of(self.Z)
        ones = home.ones(self.Z)
        weights = home.like(ones if self.weights is None else self.weights, self.Z)
        groups = (0 * ones).astype(np.int64) if self.groups is None else self.groups
        n_groups = len(self.bandwidths)
        logs = group_sums(
            Z, self.Z, weights, groups, n_groups, log=True, kernel=self.kernel, tol=tol,
            bandwidth=self.bandwidths[0] if n_groups == 1 else self.bandwidths,
        )  # fmt: skip
        if n_groups == 1:
            return logs[:, 0] - float(self.log_normalisers[0])
        return logsumexp(logs - like(self.log_normalisers, logs))

    def log_sums_at_rows(self) -> FloatArray:
        """Return `log_sums` at the rows themselves, of windows of one width, in half the time."""
        return to_numpy(self._self_sums(exclude_self=False))

    def left_out_log_sums(self) -> Array:
        """Return `log_sums` at the rows, each without what leaves with it: (n,), in float64."""
        sums = self._self_sums() if self.groups is None else self._left_out_by_group()
        if self.weights is None:
            return sums
        home, stay = home_of(self.Z), self.weights - self.leaving
        if not home.is_whole(self.weights):
            return sums
        # The copies that stay are at the place of the row, where a window has its peak, k = 1.
        copies = safe_log(stay) - self.log_normalisers[0 if self.groups is None else self.groups]
        return array_namespace(sums).logaddexp(sums, home.like(copies, sums))

    @property
    def leaving(self) -> Any:
        """What leaves with each row: one copy where weights are whole, else the weight."""
        if self.weights is None:
            return np.ones(int(self.Z.shape[0]))
        is_whole = home_of(self.Z).is_whole(self.weights)
        return self.weights.clip(max=1.0) if is_whole else self.weights

    def log_weight(self) -> float:
        """Return log Σⱼ wⱼ."""
        return log(total_weight(self.Z, self.weights))

    def log_weight_left(self) -> Any:
        """Return the log of the weight that is left when a row leaves: a number, or (n,)."""
        if self.weights is None:
            return log(self.Z.shape[0] - 1)
        N, w, leaving = total_weight(self.Z, self.weights), self.weights, self.leaving
        # Of the heaviest row the difference could have lost its digits.
        rest = home_of(self.Z).all_but_largest(w)
        return np.log(np.where(leaving > N / 2, rest + (w - leaving), N - leaving))

    def left_out_log_sums_at(self, rows: NDArray[np.int64], mirrored: Array) -> Array:
        """Return log Σⱼ wⱼ W(z'ᵢ − zⱼ) at mirrors z'ᵢ of rows i, without what leaves with i."""
        xp = array_namespace(mirrored)
        Z, weights = to_numpy(self.Z).astype(np.float64), self.weights
        points = to_numpy(mirrored).astype(np.float64)
        groups = np.zeros(len(Z), np.int64) if self.groups is None else self.groups
        widths, normalisers = np.array(self.bandwidths)[groups], self.log_normalisers[groups]
        weights, leaving = np.ones(len(Z)) if weights is None else weights, self.leaving

        def logs(differences: Iterator[FloatArray], of: Any) -> FloatArray:
            """Return log W of differences that are given column by column."""
            r2 = self.kernel.squared_distances(d / widths[of] for d in differences)
            found: FloatArray = self.kernel.log_profile(r2, 1.0) - normalisers[of]
            return found

        sums = to_numpy(self.log_sums(mirrored))
        own = logs(iter((points - Z[rows]).T), rows)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            share = leaving[rows] * np.exp(own - sums)
            out = np.where(sums == -np.inf, sums, sums + np.log1p(-share))
        # Where most of a sum leaves, the difference has lost its digits.  Then it is the whole row
        # that leaves: one of several copies is half of the sum at most.
        heavy = np.flatnonzero((sums > -np.inf) & ~(share < _HEAVY))
        for start, stop in row_slabs(heavy.size, _BYTES_PER_PAIR * len(Z), working_memory()):
            few = heavy[start:stop]
            columns = zip(points[few].T, Z.T, strict=True)
            terms = logs((p[:, None] - z for p, z in columns), slice(None)) + np.log(weights)
            terms[np.arange(len(few)), rows[few]] = -np.inf
            out[few] = logsumexp(terms, axis=1)
        return like(out, self.Z, dtype=xp.float64)

    def log_bound(self, gaps: Sequence[FloatArray]) -> FloatArray:
        """Return an upper bound of `log_sums` at points so far from the box of the rows."""
        r2 = self.kernel.squared_distances(gaps)
        pairs = zip(self.bandwidths, self.log_normalisers, strict=True)
        peaks = [self.kernel.log_profile(r2, h) - normaliser for h, normaliser in pairs]
        bound: FloatArray = np.max(peaks, axis=0) + self.log_weight()
        return bound

    @property
    def log_normalisers(self) -> FloatArray:
        """Log of the integral of a window of each group."""
        d = int(self.Z.shape[1])
        return np.array([self.kernel.log_normaliser(h, d) for h in self.bandwidths])

    def adapted(self, log_pilot: FloatArray) -> tuple["Windows", FloatArray]:
        """Return windows that are wider where a pilot density is low, and their factors: (n,).

        Abramson's law: h·(g/f)^½, with g the geometric mean of the pilot f over the rows.  Rounded
        factors make few groups; the windows are densities whatever their widths.
        """
        w = np.ones(len(log_pilot)) if self.weights is None else self.weights
        octaves = 0.5 * (np.average(log_pilot, weights=w) - log_pilot) / log(2)
        if np.abs(octaves).max() > _MOST_OCTAVES:
            raise ValueError(
                "adaptive=True would need widths beyond floating point: the density at some rows "
                f"is 2**{2 * np.abs(octaves).max():.0f} times that at others; use adaptive=False, "
                "or a wider bandwidth."
            )
        steps, groups = np.unique(np.rint(octaves * _TO_AN_OCTAVE), return_inverse=True)
        factors = 2.0 ** (steps / _TO_AN_OCTAVE)
        widths = tuple(float(self.bandwidths[0] * factor) for factor in factors)
        found = Windows(self.Z, self.weights, self.kernel, widths, groups.astype(np.int64))
        return found, factors[groups]

    def moved_uphill(self) -> "Windows":
        """Return Gaussian windows of one width at rows moved by h²/2·∇log f, f their own density.

        The gradient of log f is the mean of the rows, weighted by their windows at the row, less
        the row, over h²: a row goes half of the way to that mean.
        """
        Z, xp = detached(self.Z), array_namespace(self.Z)
        beside = Z - Z[:1, :]  # so that an offset costs no digits
        w = xp.ones_like(Z[:, :1])
        if self.weights is not None:
            w = like(self.weights, Z)[:, None]
        columns = xp.concat([w, w * beside], axis=1)
        sums = kernel_sum(Z, weights=columns, kernel=self.kernel, bandwidth=self.bandwidths[0])
        moved = Z + (sums[:, 1:] / sums[:, :1] - beside) / 2
        return Windows(moved, self.weights, self.kernel, self.bandwidths)

    def check_more_than_one(self) -> None:
        """Raise ValueError unless something is left when a row leaves."""
        n_rows = count_rows(self.Z, self.weights)
        if n_rows <= 1:
            raise ValueError(f"Leaving rows out needs more than one row; got n_samples={n_rows:g}.")

    def _self_sums(self, exclude_self: bool = True) -> Array:
        """Return log Σⱼ wⱼ W(zᵢ − zⱼ) of windows of one width, without j = i if that is asked."""
        Z = detached(self.Z)
        weights = None if self.weights is None else home_of(Z).like(self.weights, Z)
        sums = log_kernel_sum(
            Z, weights=weights, kernel=self.kernel, bandwidth=self.bandwidths[0],
            exclude_self=exclude_self,
        )  # fmt: skip
        xp: Any = array_namespace(sums)
        return xp.astype(sums, xp.float64) - float(self.log_normalisers[0])

    def _left_out_by_group(self) -> Array:
        """Return log Σⱼ≠ᵢ wⱼ W_{hⱼ}(zᵢ − zⱼ), group by group."""
        out = np.full(int(self.Z.shape[0]), -np.inf)
        for g, h in enumerate(self.bandwidths):
            own, others = np.flatnonzero(self.groups == g), np.flatnonzero(self.groups != g)
            weights = None if self.weights is None else self.weights[own]
            group = Windows(take_rows(self.Z, own), weights, self.kernel, (h,))
            out[own] = np.logaddexp(out[own], to_numpy(group._self_sums()))
            if others.size:
                sums = to_numpy(group.log_sums(take_rows(self.Z, others)))
                out[others] = np.logaddexp(out[others], sums)
        return like(out, self.Z, dtype=array_namespace(self.Z).float64)
