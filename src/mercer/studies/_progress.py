"""How far a run is, and how long the rest will take."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from mercer.studies._jobs import Job

__all__ = ["Clock", "Progress"]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What is told of a run after every job.

    Parameters
    ----------
    done, total : int
        Jobs, those of earlier runs among them.
    seconds_left : float or None
        By the clock, for all workers together; None before anything is known.
    label : str
        The job that has just ended.
    error : str
        What went wrong with it, if anything.
    """

    done: int
    total: int
    seconds_left: float | None
    label: str = ""
    error: str = ""


class Clock:
    """Estimates the rest from what jobs of the same kind took.

    Jobs differ a thousandfold, so that a mean over all of them says little: every row and
    method has a mean of its own, and what has not been seen yet counts as the mean of all.
    """

    def __init__(self, jobs: Sequence[Job], workers: int) -> None:
        self.workers = workers
        self.total = len(jobs)
        self.done = 0
        self._left: dict[tuple[object, ...], int] = defaultdict(int)
        self._seen: dict[tuple[object, ...], list[float]] = defaultdict(list)
        for job in jobs:
            self._left[self._kind(job)] += 1

    @staticmethod
    def _kind(job: Job) -> tuple[object, ...]:
        return job.source, job.kind, job.part, job.row, job.method, job.protocol

    def finish(self, job: Job, seconds: float) -> None:
        """Count a job as done."""
        self.done += 1
        self._left[self._kind(job)] -= 1
        self._seen[self._kind(job)].append(seconds)

    def seconds_left(self) -> float | None:
        """Return the estimate, or None."""
        if not self.done:
            return None
        means = {kind: sum(times) / len(times) for kind, times in self._seen.items()}
        overall = sum(means.values()) / len(means)
        rest = sum(count * means.get(kind, overall) for kind, count in self._left.items())
        return rest / self.workers
