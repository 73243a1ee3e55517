"""Some of the rows where all of them take too long: how many leave time for enough rounds."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from mercer._system.workers import TookTooLongError, Workers
from mercer.comparison.engine._fit import Fit, Split, Task, as_fit
from mercer.comparison.engine._plan import Clock
from mercer.comparison.engine._splits import Splits

ENOUGH_ROUNDS = 5  # With fewer, only what is very different is told apart.
_LEAST_ROWS = 1_000  # Fewer are never drawn.
_FIRST_ROWS, _STEP = 1_000, 4  # Fits are tried on so many rows, then on so many times as many.
# A table of fewer cells for each second of the budget is not worth the trial.
_CELLS_PER_SECOND = 2_000
_SPARE_ROUNDS = 1.5  # The time of so many rounds is for what takes longer than it was thought.
_SHARE_OF_NEXT = 0.5  # The next trial may cost this share of a round.
_SHARE_OF_TRIAL = 0.15  # An estimator may take this share of the budget for the first trial.
# Seconds grow with rows by a power between these; the middle one, where one trial is all there is.
_SLOWEST_GROWTH, _USUAL_GROWTH, _FASTEST_GROWTH = 0.5, 1.0, 2.0


def is_large(X: Any, budget: float) -> bool:
    """Tell whether it should be tried if enough rounds of all rows fit the budget."""
    n_cells = int(np.prod(X.shape))
    return bool(X.shape[0] > _LEAST_ROWS and n_cells > _CELLS_PER_SECOND * budget)


def draw_rows(
    labels: npt.NDArray[np.generic],
    n_rows: int,
    least: int,
    random_state: int | np.random.RandomState | None,
) -> npt.NDArray[np.intp]:
    """Draw rows in which classes keep their shares, with `least` rows of each that has so many."""
    if n_rows >= len(labels):
        return np.arange(len(labels))
    _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    shares = np.round(counts * (n_rows / len(labels))).astype(np.intp)
    quotas = np.minimum(counts, np.maximum(shares, least))
    order = check_random_state(random_state).permutation(len(labels))
    order = order[np.argsort(codes[order], kind="stable")]  # class after class, at random in each
    starts = np.cumsum(counts) - counts
    rows = [order[start : start + n] for start, n in zip(starts, quotas, strict=True)]
    return np.sort(np.concatenate(rows))


class SplitsOf:
    """Splits of some rows of a table, by the numbers that these have in the table.

    Test parts number the rows of another file where ``tests_rows`` is false.
    """

    def __init__(
        self, rows: npt.NDArray[np.intp], splits: Splits, *, tests_rows: bool = True
    ) -> None:
        self.n_rows = len(rows)
        self.kind, self.has_free_rows = splits.kind, splits.has_free_rows
        self.n_folds, self.n_rounds = splits.n_folds, splits.n_rounds
        self._rows = rows
        self._splits = splits
        self._tests_rows = tests_rows

    def __getitem__(self, k: int) -> Split:
        train, test = self._splits[k]
        return self._rows[train], self._rows[test] if self._tests_rows else test


def rows_in_time(
    workers: Workers[Task, Fit],
    names: Sequence[str],
    split_of: Callable[[int], Split],
    n_rows: int,
    clock: Clock,
) -> tuple[int, dict[str, str]]:
    """Return how many of the rows leave time for enough rounds, and who is too slow for any.

    All estimators are fitted on few rows, then on more, as long as that costs little of a round;
    what more rows take follows from how the seconds of the last two trials grew.

    Parameters
    ----------
    workers : Workers
        What runs the fits.
    names : sequence of str
        Of the estimators.
    split_of : callable
        From a number of rows to a split of so many.
    n_rows : int
        Rows that there are.
    clock : Clock
        Of the comparison.

    Returns
    -------
    n_rows : int
        All, or fewer in two digits.
    notes : dict of str to str
        Why an estimator is left out, by its name.
    """
    most = max(_SHARE_OF_TRIAL * clock.budget, workers.start_seconds)
    size, before = _FIRST_ROWS, dict.fromkeys(names, np.nan)
    seconds, stopped = _trial(workers, [*names], split_of(size), most, clock.deadline)
    reason = f"left out: a fit on {size} rows takes more than {most:.2g} s, its share of the budget"
    notes = dict.fromkeys(stopped, reason)
    while True:
        cost = partial(_seconds_of_a_round, seconds, before, size)
        per_round = clock.left() * workers.n / (ENOUGH_ROUNDS + _SPARE_ROUNDS)
        next_size = _STEP * size
        if next_size >= n_rows or not seconds or cost(next_size) > _SHARE_OF_NEXT * per_round:
            return _largest(cost, per_round, n_rows), notes
        size, before = next_size, seconds
        seconds, stopped = _trial(workers, [*before], split_of(size), most, clock.deadline)
        if stopped:  # It took longer than was thought: what it takes is not known.
            return min(_largest(cost, per_round, n_rows), size), notes


def _trial(
    workers: Workers[Task, Fit], names: Sequence[str], split: Split, most: float, deadline: float
) -> tuple[dict[str, float], list[str]]:
    """Return the seconds of fits by the names of estimators, and who was stopped."""
    seconds: dict[str, float] = {}
    stopped: list[str] = []
    tasks = [Task(name, -1, split) for name in names]
    for task, outcome in workers.run(tasks, limit=lambda _: most, deadline=deadline):
        if isinstance(outcome, TookTooLongError):
            stopped.append(task.name)
        else:
            seconds[task.name] = as_fit(outcome).seconds
    return seconds, stopped


def _seconds_of_a_round(
    seconds: Mapping[str, float], before: Mapping[str, float], size: int, n_rows: int
) -> float:
    """Return what all fits of a round on some rows take, by two trials of which `size` the last."""
    times = n_rows / size
    return float(sum(took * times ** _growth(before[name], took) for name, took in seconds.items()))


def _growth(before: float, seconds: float) -> float:
    """Return the power of the number of rows with which seconds grow."""
    if not before > 0 or not seconds > 0:
        return _USUAL_GROWTH
    measured = np.log(seconds / before) / np.log(_STEP)
    return float(np.clip(measured, _SLOWEST_GROWTH, _FASTEST_GROWTH))


def _largest(cost: Callable[[int], float], most: float, n_rows: int) -> int:
    """Return the largest number of rows of two digits that costs no more than `most`."""
    if cost(n_rows) <= most:
        return n_rows
    scale = 10 ** np.arange(3, int(np.log10(n_rows)) + 1)
    sizes = np.unique(np.outer(scale, np.arange(1.0, 10.0, 0.1)).round().astype(int))
    sizes = sizes[(sizes >= min(_LEAST_ROWS, n_rows)) & (sizes <= n_rows)]
    affordable = [int(n) for n in sizes if cost(int(n)) <= most]
    return max(affordable, default=int(sizes[0]))
