"""The course of a comparison in rounds: who is in, which fits come next, when to stop."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state

from mercer.comparison._rounds_workers import Limit, Workers
from mercer.comparison.engine._fit import Fit, Task
from mercer.comparison.engine._splits import Split

__all__ = ["Clock", "Course", "RoundsProgress", "Splits"]

_MIN_ROUNDS = 2  # without a second score there is no spread to judge by


@dataclass(frozen=True)
class RoundsProgress:
    """What is told after every fit.

    Attributes
    ----------
    rounds : int
        Rounds that all estimators have finished.
    max_rounds : int
        The most there will be.
    seconds, budget : float
        Spent so far, and the most.
    estimator : str
        The one that was fitted last.
    """

    rounds: int
    max_rounds: int
    seconds: float
    budget: float
    estimator: str


class Clock:
    """Seconds since the beginning, and those that are left."""

    def __init__(self, budget: float) -> None:
        self.budget = budget
        self._start = time.perf_counter()
        self.deadline = self._start + budget

    def spent(self) -> float:
        return time.perf_counter() - self._start

    def left(self) -> float:
        return self.budget - self.spent()


class Splits(Mapping[int, Split]):
    """The k-th split of repeated stratified folds, each repetition made when it is asked for."""

    def __init__(
        self,
        y: npt.NDArray[np.generic],
        n_folds: int,
        random_state: int | np.random.RandomState | None,
    ) -> None:
        self.n_folds = n_folds
        self._y = y
        self._rng = check_random_state(random_state)
        self._made: list[Split] = []

    def __getitem__(self, k: int) -> Split:
        while len(self._made) <= k:
            folds = StratifiedKFold(self.n_folds, shuffle=True, random_state=self._rng)
            self._made += list(folds.split(self._y, self._y))
        return self._made[k]

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self._made)))

    def __len__(self) -> int:
        return len(self._made)


class Course:
    """Which fits have been made, who is still in, and what comes next."""

    def __init__(
        self,
        names: Iterable[str],
        metric: str,
        clock: Clock,
        max_rounds: int,
        on_progress: Callable[[RoundsProgress], None] | None,
    ) -> None:
        self.fits: dict[str, dict[int, Fit]] = {name: {} for name in names}
        self.errors: dict[str, str] = {}
        self.notes: dict[str, str] = {}
        self._metric = metric
        self._clock = clock
        self._max_rounds = max_rounds
        self._on_progress = on_progress

    def alive(self) -> list[str]:
        """Names of estimators that have neither failed nor been left out."""
        out = {*self.errors, *self.notes}
        return [name for name in self.fits if name not in out]

    def finished(self) -> list[int]:
        """Numbers of the rounds in which everybody who is still in has been fitted."""
        alive = self.alive()
        if not alive:
            return []
        return sorted(set.intersection(*(set(self.fits[name]) for name in alive)))

    def run(self, workers: Workers, splits: Splits) -> None:
        """Run the first round, then others while there is time."""
        self._first_round(workers, splits)
        if self._max_rounds >= _MIN_ROUNDS:
            self._leave_out_slow(workers.n)
        while rounds := self._next_rounds(workers.n):
            times = self._times()
            slow_first = sorted(self.alive(), key=lambda name: -times[name])
            tasks = [(name, k) for k in rounds for name in slow_first]
            self._run(workers, tasks, splits, limit=lambda n_open: np.inf)
            if not set(rounds) <= set(self.finished()):
                return

    def _first_round(self, workers: Workers, splits: Splits) -> None:
        """Share out half the budget; who was stopped may try again with what the others left."""
        until = self._clock.spent() + self._clock.left() / _MIN_ROUNDS

        def share(n_open: int) -> float:
            rest = max(0.0, until - self._clock.spent())
            # A worker that is stopped has to start anew: no share is less than that takes.
            return max(min(rest, rest * workers.n / n_open), workers.start_seconds)

        waiting = list(self.fits)
        stopped: dict[str, float] = {}
        while waiting and share(len(waiting)) >= 2 * max(stopped.values(), default=0.0):
            stopped = self._run(workers, [(name, 0) for name in waiting], splits, limit=share)
            waiting = [name for name in self.alive() if not self.fits[name]]
            if not stopped:
                break
        for name in waiting:
            self.notes[name] = (
                f"left out: one fit takes more than {stopped[name]:.2g} s, its share of the budget"
                if name in stopped
                else "left out: the budget was used up before its first fit was done"
            )

    def _leave_out_slow(self, n_workers: int) -> None:
        """Leave out the slowest until a second round of the others fits, if two are enough."""
        times = self._times()
        by_speed = sorted(self.alive(), key=lambda name: times[name])
        kept = list(by_speed)
        while len(kept) > 2 and not self._fits(kept, 1, n_workers):
            kept.pop()
        if not self._fits(kept, 1, n_workers):
            return
        for name in by_speed[len(kept) :]:
            self.notes[name] = (
                f"left out after one round: a fit takes {times[name]:.2g} s, and a second round "
                "with it would overrun the budget"
            )

    def _next_rounds(self, n_workers: int) -> list[int]:
        """Return the rounds to run next: several at once where that keeps all workers busy."""
        alive, times = self.alive(), self._times()
        done = len(self.finished())
        left = self._max_rounds - done
        if not alive or not done or left < 1:
            return []
        total = sum(times.values())
        slowest = max(times.values())
        n = 1 if total == 0 else int(np.ceil(2 * n_workers * slowest / total))
        n = min(left, n if n_workers > 1 else 1)
        while n and not self._fits(alive, n, n_workers):
            n -= 1
        return list(range(done, done + n))

    def _fits(self, names: Sequence[str], n_rounds: int, n_workers: int) -> bool:
        """Tell whether so many rounds would end within the budget, by what the last one took."""
        times = self._times()
        own = [times[name] for name in names]
        return max(max(own, default=0.0), n_rounds * sum(own) / n_workers) <= self._clock.left()

    def _times(self) -> dict[str, float]:
        """Seconds that everybody who is still in took in the last round."""
        last = {name: max(self.fits[name], default=None) for name in self.alive()}
        return {name: 0.0 if k is None else self.fits[name][k].seconds for name, k in last.items()}

    def _run(
        self, workers: Workers, tasks: Sequence[Task], splits: Splits, *, limit: Limit
    ) -> dict[str, float]:
        """Run tasks, write down what they gave, and return who was stopped after which seconds."""
        stopped = {}
        deadline = self._clock.deadline
        for (name, k), fit in workers.run(tasks, splits, limit=limit, deadline=deadline):
            if not isinstance(fit, Fit):
                stopped[name] = fit
                continue
            self._keep(name, k, fit)
            if self._on_progress:
                self._on_progress(
                    RoundsProgress(
                        len(self.finished()),
                        self._max_rounds,
                        self._clock.spent(),
                        self._clock.budget,
                        name,
                    )
                )
        return stopped

    def _keep(self, name: str, k: int, fit: Fit) -> None:
        error = fit.error
        if not error and not np.isfinite(fit.scores[self._metric]):
            error = (
                f"ValueError: {self._metric} cannot be computed: it needs probabilities"
                + ("" if self._metric == "log-loss" else " or decision scores")
                + " that are finite"
            )
        if error:
            self.errors.setdefault(name, f"split {k}: {error}")
        else:
            self.fits[name][k] = fit
