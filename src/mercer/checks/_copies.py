"""Rows and columns that stand in a table twice: copies, or alike by chance."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from mercer.checks._sample import Codes

_MOST_COLUMNS = 60  # So many columns are left out, one at a time; of more, some at random.
_FEWEST_APART = 5  # So many rows must differ from the most frequent value of a column.

Hashes = npt.NDArray[np.uint64]


def row_hashes(codes: Mapping[str, Codes], seed: int = 0) -> dict[str, Hashes]:
    """Return a random number for each value of each column; a row's hash is the sum of its own."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, one in codes.items():
        numbers = rng.integers(np.iinfo(np.uint64).max, size=one.max() + 2, dtype=np.uint64)
        found[name] = numbers[one]  # −1, which is missing, is the last
    return found


def add_up(hashes: Mapping[str, Hashes]) -> Hashes:
    """Return the hash of each row."""
    total = np.zeros(len(next(iter(hashes.values()))), dtype=np.uint64)
    for one in hashes.values():
        total += one  # modulo 2**64
    return total


def count_pairs(total: Hashes) -> int:
    """Return how many pairs of rows have the same hash."""
    counts = np.unique(total, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def pairs_but_for_one(hashes: Mapping[str, Hashes], total: Hashes, alike: int) -> float:
    """Return how many pairs of rows are alike in all columns but one, and differ there.

    Values that coincide by chance make many more such pairs than pairs of equal rows; copies of
    rows make equal rows only.
    """
    names = sorted(hashes)
    if len(names) > _MOST_COLUMNS:
        names = list(np.random.default_rng(0).choice(names, _MOST_COLUMNS, replace=False))
    pairs = sum(count_pairs(total - hashes[name]) - alike for name in names)
    return float(pairs * len(hashes) / len(names))


def same_columns(X: pd.DataFrame, codes: Mapping[str, Codes]) -> list[tuple[str, ...]]:
    """Return groups of columns that say the same.

    Columns of few values do where each value of one goes with one value of the other; numbers of
    many values where one is a multiple of the other, but for a constant.
    """
    n = len(X)
    by_key: dict[bytes, list[str]] = {}
    for name, one in codes.items():
        counts = np.bincount(one[one >= 0])
        if not len(counts) or n - counts.max() < _FEWEST_APART:
            continue
        if 2 * len(counts) <= n:
            key: npt.NDArray[Any] = _renumbered(one)
        elif X[name].dtype.kind == "f":
            key = _standardized(X[name].to_numpy())
        else:
            continue
        by_key.setdefault(key.tobytes(), []).append(name)
    return [tuple(names) for names in by_key.values() if len(names) > 1]


def _renumbered(codes: Codes) -> npt.NDArray[np.int32]:
    """Return numbers in the order in which values come: only the partition of rows counts."""
    return np.where(codes < 0, -1, pd.factorize(codes)[0]).astype(np.int32)


def _standardized(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Bring numbers to one scale and sign, to five digits, with 9 for a missing one."""
    known = np.isfinite(numbers)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = numbers[known].max() - numbers[known].min()
        scaled = (numbers - numbers[known].min()) / spread
    if scaled[known][0] > 0.5:
        scaled = 1 - scaled
    return np.where(known, np.round(scaled, 5) + 0.0, 9.0).astype(np.float32)
