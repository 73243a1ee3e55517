"""Leave-one-out of rows in a Dask array: their sums by pairs of blocks, the rest as in memory.

What a row needs to be judged without it is of three kinds: numbers of the row itself (density, own
sum), numbers of all classes (counts, norms, products), and its sums over all other rows.  The first
stay in blocks but for the rows that are judged, the second are small and computed, the third are
merged over blocks.  Once some rows have them, they are judged by the code for rows in memory.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer.classifiers._class_vectors import ClassVectors, add_own
from mercer.classifiers._leave_one_out import LeftOut, LeftOutVectors
from mercer.classifiers._logs import logsumexp
from mercer.classifiers._sample import Rows, Sample
from mercer.classifiers._selection import QUARTILE_ROWS, ladder_centre
from mercer.kernels import Kernel
from mercer.samples import (
    compute_arrays,
    from_memory,
    gather_rows,
    log_total,
    take_by_code,
)
from mercer.sums import group_sums, left_out_log_sums, log_kernel_sum

__all__ = [
    "block_centre",
    "links_of_blocks",
    "other_window_sums",
    "vector_parts",
    "window_parts",
]

Array = Any
Numbers = NDArray[np.int64]


def window_parts(
    sample: Sample, widths: tuple[float, ...], rows: Numbers | None
) -> Iterator[LeftOut]:
    """Yield the plain class sums of Gaussian windows: what `LeftOutWindows` yields."""
    weights = _copies(sample.weights, len(widths))
    for some in ClassVectors(sample, widths, weights).slabs(rows):
        sums, _ = left_out_log_sums(
            sample.X, sample.codes, bandwidths=widths, weights=weights,
            rows=sample.judged.order[some], n_groups=sample.n_classes,
        )  # fmt: skip
        judged = sample.judged
        counts, copies = judged.counts_without(some), judged.weights[some] - judged.unit[some]
        sums = add_own(judged, sums, copies, some)
        for rung in range(len(widths)):
            yield LeftOut(some, rung, counts, sums[rung], None, None, np.zeros_like(copies))


def other_window_sums(
    sample: Sample, rows: Numbers | None, kernel: Kernel, bandwidth: float
) -> NDArray[np.float64]:
    """Return log Σ over each class without the row itself, of any kernel: (rows, C)."""
    options: dict[str, Any] = {"kernel": kernel, "bandwidth": bandwidth}
    weights, judged = sample.weights.astype(sample.X.dtype), sample.judged
    if rows is None:
        sums = log_kernel_sum(
            sample.X, weights=weights, groups=sample.codes, exclude_self=True, **options
        )
        return np.asarray(sums.compute())[judged.order]
    numbers = judged.order[rows]
    order = np.argsort(numbers)
    X = gather_rows(sample.X, numbers[order])[np.argsort(order)]
    kept = np.ones(judged.codes.size, sample.X.dtype)
    kept[numbers] = 0  # these are summed among themselves
    rest = weights * from_memory(kept).rechunk(weights.chunks)
    others = log_kernel_sum(
        from_memory(X), sample.X, weights=rest, groups=sample.codes, **options
    ).compute()
    among = log_kernel_sum(
        X, weights=judged.weights[rows].astype(X.dtype), groups=judged.codes[rows],
        exclude_self=True, **options,
    )  # fmt: skip
    out = np.full((rows.size, sample.n_classes), -np.inf)
    out[:, : others.shape[1]] = others
    out[:, : among.shape[1]] = np.logaddexp(out[:, : among.shape[1]], among)
    return out


def vector_parts(ladder: LeftOutVectors, rows: Numbers | None) -> Iterator[LeftOut]:
    """Yield sums, norms and links of the class vectors: what `LeftOutVectors` yields."""
    vectors, sample = ladder.vectors, ladder.vectors.sample
    for some in vectors.slabs(rows):
        numbers = sample.judged.order[some]
        of_rows = partial(
            left_out_log_sums, sample.X, sample.codes, bandwidths=vectors.widths,
            weights=vectors.weights, rows=numbers, n_groups=sample.n_classes,
        )  # fmt: skip
        sums, drifts = of_rows(removal=ladder.removal)
        plain = of_rows()[0] if ladder.removal is not None and ladder.links is not None else sums
        piece = _in_memory(ladder, some, numbers)
        for rung in range(len(ladder.bandwidths)):
            drift = None if drifts is None else drifts[rung]
            part = piece.part(slice(0, numbers.size), rung, sums[rung], drift, plain[rung])
            yield replace(part, rows=some)


def links_of_blocks(sample: Sample, beta: Array, norms: Array, width: float) -> Array:
    """Return log B_c = log Σ_{j≠c} ⟨M_c, M_j⟩ / V_j at one width: one pass over the pairs."""
    codes = sample.codes
    shares = beta / take_by_code(norms, codes)
    logs = group_sums(
        sample.X, sample.X, shares, codes, sample.n_classes, log=True, bandwidth=width
    )
    index = np.arange(sample.n_classes)
    others = array_namespace(beta).where(codes[:, None] == index, -float("inf"), logs)
    return log_total(logsumexp(others) + np.log(beta), codes, sample.n_classes)


def block_centre(sample: Sample) -> float:
    """Return the centre of the ladder, as of rows in memory."""
    X, weights = sample.X.astype(np.float64), sample.weights
    silverman = sample.resolve_bandwidth("silverman")
    unit = float(abs(X).max().compute()) or 1.0
    X, shares = X / unit, (weights / weights.sum())[:, None]
    mean = (shares * X).sum(axis=0).compute()
    spread = float(np.mean((shares * (X - mean) ** 2).sum(axis=0).compute()))
    step = max(1, X.shape[0] // QUARTILE_ROWS)
    rows = np.sort(sample.judged.order[::step])
    return ladder_centre(silverman, spread, gather_rows(X, rows), gather_rows(weights, rows))


def _in_memory(ladder: LeftOutVectors, some: Rows, numbers: Numbers) -> LeftOutVectors:
    """Return what is known of some rows, and of all classes, as if these were all rows."""
    vectors, judged = ladder.vectors, ladder.vectors.sample.judged
    sample = Sample(
        np.empty((numbers.size, 0)),
        judged.codes[some],
        judged.weights[some],
        judged.unit[some],
        judged.bounds,
        numbers,
    )
    vars(sample)["counts"] = judged.counts
    vars(sample)["_class_weight_without"] = judged._class_weight_without[some]
    order = np.argsort(numbers)
    arrays = [vectors.weights, vectors.own_sums]
    arrays += [] if ladder.densities is None else [ladder.densities]
    by_row = [
        A[:, np.argsort(order)] for A in compute_arrays(*(A[:, numbers[order]] for A in arrays))
    ]
    piece = ClassVectors(sample, vectors.widths, by_row[0])
    vars(piece).update(own_sums=by_row[1], squared_norms=vectors.squared_norms)
    if ladder.links is not None:
        products = vectors.products
        place = order[np.minimum(np.searchsorted(numbers[order], products.largest), order.size - 1)]
        is_here = numbers[place] == products.largest
        vars(piece)["products"] = replace(products, largest=np.where(is_here, place, -1))
    return replace(ladder, vectors=piece, densities=by_row[2] if len(by_row) == 3 else None)


def _copies(weights: Array, count: int) -> Array:
    """Return (count, n) copies of weights."""
    import dask.array as da

    return da.stack([weights] * count).rechunk({0: -1})
