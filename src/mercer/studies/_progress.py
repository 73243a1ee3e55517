"""How far a run has come, and how long the rest will take."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from mercer.studies._jobs import Job


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What a run tells after every job.

    Parameters
    ----------
    done, total : int
        Number of jobs that are finished, and of all; those of earlier runs are included.
    seconds_left : float or None
        Expected time by the clock until all workers are done; None before the first job has ended.
    label : str
        The job that has just ended.
    error : str
        What went wrong with it, or nothing.
    """

    done: int
    total: int
    seconds_left: float | None
    label: str = ""
    error: str = ""


class Clock:
    """Estimates the time that is left from what jobs of the same kind took.

    Jobs differ a thousandfold, so a mean over all of them says little: every row and method has a
    mean of its own, and a kind that no job has finished yet counts as the mean of all kinds.
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
        """Return the estimate, or None before the first job has ended."""
        if not self.done:
            return None
        means = {kind: sum(times) / len(times) for kind, times in self._seen.items()}
        overall = sum(means.values()) / len(means)
        rest = sum(count * means.get(kind, overall) for kind, count in self._left.items())
        return rest / self.workers
