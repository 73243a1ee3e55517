"""The plan of a comparison within a budget: who is still in, which fits come next, when to stop."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mercer._system.words import count_of, duration
from mercer._system.workers import Limit, TookTooLongError, Workers, no_limit
from mercer.comparison.engine._checkpoint import Checkpoint
from mercer.comparison.engine._fit import Fit, Task, as_fit
from mercer.comparison.engine._splits import Splits

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
        The one that was fitted last; empty before the first.
    remark : str
        What is to be said of a checkpoint before the first fit; else empty.
    """

    rounds: int
    max_rounds: int
    seconds: float
    budget: float
    estimator: str
    remark: str = ""


class Clock:
    """Seconds since the beginning, and those that are left."""

    def __init__(self, budget: float, spent: float = 0.0) -> None:
        self.budget = budget
        self._start = time.perf_counter() - spent
        self.deadline = self._start + budget

    def spent(self) -> float:
        return time.perf_counter() - self._start

    def left(self) -> float:
        return self.budget - self.spent()


class RoundsPlan:
    """Which fits have been made, who is still in, and what comes next."""

    def __init__(
        self,
        names: Iterable[str],
        metric: str,
        clock: Clock,
        max_rounds: int,
        on_progress: Callable[[RoundsProgress], None] | None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.fits: dict[str, dict[int, Fit]] = {name: {} for name in names}
        self.errors: dict[str, str] = {}
        self.notes: dict[str, str] = {}
        self._metric = metric
        self._clock = clock
        self._max_rounds = max_rounds
        self._on_progress = on_progress
        self._checkpoint = checkpoint

    def restore(self, checkpoint: Checkpoint, splits: Splits, n_classes: int) -> None:
        """Take over the fits of a run that was interrupted, and who was left out by then."""
        for name in self.fits:
            for k, fit in checkpoint.fits.get(name, {}).items():
                if fit.error or (k < self._max_rounds and fit.is_of(len(splits[k][1]), n_classes)):
                    self._write_down(Task(name, k, splits[k]), fit)
        notes = checkpoint.notes(self._clock.budget)
        self.notes |= {name: notes[name] for name in self.fits if name in notes}
        if checkpoint.begins_anew:
            self._tell(
                "",
                "The table, the options or the versions are not those of the run that was "
                "interrupted: its rounds are gone, and this one begins anew.",
            )
        elif any(self.fits.values()):
            done = count_of(len(self.finished_rounds()), "round")
            self._tell("", f"Goes on with {done} that an interrupted run has finished.")

    def remaining(self) -> list[str]:
        """Names of estimators that have neither failed nor been left out."""
        out = {*self.errors, *self.notes}
        return [name for name in self.fits if name not in out]

    def finished_rounds(self) -> list[int]:
        """Numbers of the rounds in which everybody who is still in has been fitted."""
        names = self.remaining()
        if not names:
            return []
        return sorted(set.intersection(*(set(self.fits[name]) for name in names)))

    def run(self, workers: Workers[Task, Fit], splits: Splits) -> None:
        """Run the first round, then others while there is time."""
        self._first_round(workers, splits)
        if len(self.finished_rounds()) < _MIN_ROUNDS <= self._max_rounds:
            self._leave_out_slow(workers.n)
        if self._checkpoint is not None:
            self._checkpoint.keep(notes=self.notes, budget=self._clock.budget)
        while rounds := self._next_rounds(workers.n):
            times = self._last_seconds()
            slow_first = sorted(self.remaining(), key=lambda name: -times[name])
            tasks = [
                Task(name, k, splits[k])
                for k in rounds
                for name in slow_first
                if k not in self.fits[name]
            ]
            self._run(workers, tasks, limit=no_limit)
            if not set(rounds) <= set(self.finished_rounds()):
                return

    def _first_round(self, workers: Workers[Task, Fit], splits: Splits) -> None:
        """Share out half the budget; who was stopped may try again with what the others left."""
        until = self._clock.spent() + self._clock.left() / min(_MIN_ROUNDS, self._max_rounds)

        def share(n_open: int) -> float:
            rest = max(0.0, until - self._clock.spent())
            # A worker whose task is stopped has to start anew, so a share less than that takes
            # would lose more time than it saves.
            return max(min(rest, rest * workers.n / n_open), workers.start_seconds)

        waiting = [name for name in self.remaining() if not self.fits[name]]
        stopped: dict[str, float] = {}
        while waiting and share(len(waiting)) >= 2 * max(stopped.values(), default=0.0):
            tasks = [Task(name, 0, splits[0]) for name in waiting]
            stopped = self._run(workers, tasks, limit=share)
            waiting = [name for name in self.remaining() if not self.fits[name]]
            if not stopped:
                break
        for name in waiting:
            self.notes[name] = (
                f"left out: one fit takes more than {duration(stopped[name])}, its share of the "
                "budget"
                if name in stopped
                else "left out: the budget was used up before its first fit was done"
            )

    def _leave_out_slow(self, n_workers: int) -> None:
        """Leave out the slowest until a second round of the others fits, if two are enough."""
        times = self._last_seconds()
        by_speed = sorted(self.remaining(), key=lambda name: times[name])
        kept = list(by_speed)
        while len(kept) > 2 and not self._would_end_in_time(kept, 1, n_workers):
            kept.pop()
        if not self._would_end_in_time(kept, 1, n_workers):
            return
        for name in by_speed[len(kept) :]:
            self.notes[name] = (
                f"left out after one round: a fit takes {duration(times[name])}, and a second "
                "round with it would overrun the budget"
            )

    def _next_rounds(self, n_workers: int) -> list[int]:
        """Return the rounds to run next: several at once where that keeps all workers busy."""
        names, times = self.remaining(), self._last_seconds()
        done = self.finished_rounds()
        left = [k for k in range(self._max_rounds) if k not in done]
        if not names or not done or not left:
            return []
        total = sum(times.values())
        slowest = max(times.values())
        n = 1 if total == 0 else int(np.ceil(2 * n_workers * slowest / total))
        n = min(len(left), n if n_workers > 1 else 1)
        while n and not self._would_end_in_time(names, n, n_workers):
            n -= 1
        return left[:n]

    def _would_end_in_time(self, names: Sequence[str], n_rounds: int, n_workers: int) -> bool:
        """Tell whether so many rounds would end within the budget, by what the last one took."""
        times = self._last_seconds()
        seconds = [times[name] for name in names]
        slowest, total = max(seconds, default=0.0), n_rounds * sum(seconds)
        return max(slowest, total / n_workers) <= self._clock.left()

    def _last_seconds(self) -> dict[str, float]:
        """Seconds that everybody who is still in took in the last round."""
        last = {name: max(self.fits[name], default=None) for name in self.remaining()}
        return {name: 0.0 if k is None else self.fits[name][k].seconds for name, k in last.items()}

    def _run(
        self, workers: Workers[Task, Fit], tasks: Sequence[Task], *, limit: Limit
    ) -> dict[str, float]:
        """Run tasks, write down what they gave, and return who was stopped after which seconds."""
        stopped = {}
        deadline = self._clock.deadline
        for task, outcome in workers.run(tasks, limit=limit, deadline=deadline):
            if isinstance(outcome, TookTooLongError):
                stopped[task.name] = outcome.seconds
                continue
            fit = as_fit(outcome)
            self._write_down(task, fit)
            if self._checkpoint is not None:
                self._checkpoint.add(task.name, task.number, fit, self._clock.spent())
            self._tell(task.name)
        return stopped

    def _tell(self, estimator: str, remark: str = "") -> None:
        if self._on_progress:
            rounds, clock = len(self.finished_rounds()), self._clock
            self._on_progress(
                RoundsProgress(
                    rounds, self._max_rounds, clock.spent(), clock.budget, estimator, remark
                )
            )

    def _write_down(self, task: Task, fit: Fit) -> None:
        error = fit.error
        if not error and not np.isfinite(fit.scores[self._metric]):
            error = (
                f"ValueError: {self._metric} cannot be computed: it needs probabilities"
                + ("" if self._metric == "log-loss" else " or decision scores")
                + " that are finite"
            )
        if error:
            self.errors.setdefault(task.name, f"split {task.number}: {error}")
        else:
            self.fits[task.name][task.number] = fit
