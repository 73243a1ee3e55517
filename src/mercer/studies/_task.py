"""What a job is told: its row, method, protocol, number and seed; and how it gets its data."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mercer.datasets import Dataset, load_dataset
from mercer.studies._model import Protocol, Row


@dataclass(frozen=True, kw_only=True)
class Task:
    """What the function of a method or of a figure gets.

    Parameters
    ----------
    row : Row
        The row of the table; a figure has a row of its own.
    protocol : {"paper", "honest", "either"}
        Under which one the number is asked for.
    replication : int
        0, 1, …: the number of the partition, fold or draw.
    seed : int
        Made from the names of the study and the data set and from the replication, so that all
        methods see the same split, whatever the order of the jobs and the number of workers.
    options : mapping
        The options of the row and the method, in this order; those of a quick run last.
    folder : str or None
        Where data sets are looked for first.
    """

    row: Row
    protocol: Protocol
    replication: int
    seed: int
    options: Mapping[str, Any]
    folder: str | None = None

    def load(self, name: str | None = None) -> Dataset:
        """Load the row's data set, or another one by name; kept for the next job of the worker."""
        name = self.row.dataset if name is None else name
        if name is None:
            raise ValueError(f"Row {self.row.label!r} has no data set to load.")
        return _load(name, self.folder)

    def rng(self) -> np.random.Generator:
        """Return a fresh generator from the seed."""
        return np.random.default_rng(self.seed)


@lru_cache(maxsize=4)
def _load(name: str, folder: str | None) -> Dataset:
    return load_dataset(name, folder=folder, download_if_missing=False)
