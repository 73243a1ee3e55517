"""One memory budget for everything: scikit-learn's ``working_memory``."""

from collections.abc import Iterator

from sklearn import get_config


def working_memory() -> int:
    """Bytes that temporaries may take."""
    return int(get_config()["working_memory"] * 2**20)


def row_slabs(n_rows: int, bytes_per_row: int, budget: int) -> Iterator[tuple[int, int]]:
    """Cut n_rows into as few ranges as fit the budget."""
    step = max(1, budget // max(1, bytes_per_row))
    for start in range(0, n_rows, step):
        yield start, min(start + step, n_rows)
