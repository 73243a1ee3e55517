"""The splits that all estimators share: by folds, by whole groups, by time, or one test file.

Folds are drawn again and again.  Those by group test whole groups; blocks of time are tested by
what is earlier; a test file is tested once.
"""

import warnings
from collections.abc import Sequence
from math import inf
from typing import Protocol

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state

from mercer.comparison.engine._fit import Split
from mercer.comparison.tests._pairs import check_labels

_FIRST_SHARE = 0.5  # of the rows by time: what the first block is tested by
_MANY_GROUPS = 500  # With more, groups are dealt out by their most frequent class.
_PARTS = 40  # of a test file, by which the spread of a score is estimated
_GROUPS_PER_FOLD = 2  # With fewer, another repetition would be much the same folds.


class Splits(Protocol):
    """The k-th split, for k below ``n_rounds``, and how it came about.

    Where ``has_free_rows``, rows are independent of each other, so that each may count by itself.
    """

    kind: str
    has_free_rows: bool
    n_folds: int
    n_rounds: float

    def __getitem__(self, k: int) -> Split:
        """Return the indices of the training and of the test samples."""


def make_splits(
    cv: object,
    X: object,
    y: npt.NDArray[np.generic],
    groups: npt.ArrayLike | None,
    random_state: int | np.random.RandomState | None,
    time: npt.ArrayLike | None = None,
) -> list[Split]:
    """Make the splits of a number of folds, of a splitter or of an iterable.

    Folds of a number are shuffled and stratified, and by group where groups are given; with times
    they are blocks of time, the earliest first.
    """
    if time is not None:
        if groups is not None or not isinstance(cv, (int, np.integer)):
            raise ValueError("time goes with a number of blocks as cv, and without groups.")
        blocks = TimeBlocks(y, check_labels(time, "time"), int(cv))
        return sorted((blocks[k] for k in range(blocks.n_folds)), key=lambda split: len(split[0]))
    if isinstance(cv, (int, np.integer)):
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        splitter = kind(int(cv), shuffle=True, random_state=random_state)
        if groups is not None and (n_groups := len(np.unique(groups))) < cv:
            raise ValueError(f"{cv} folds by group need {cv} groups or more; got {n_groups}.")
    else:
        splitter = check_cv(cv, y, classifier=True)
    samples = np.arange(len(y))  # so that lists and masks become indices
    splits = [(samples[train], samples[test]) for train, test in splitter.split(X, y, groups)]
    if not splits:
        raise ValueError("cv gives no split.")
    return splits


def five_by_two_splits(
    X: object,
    y: npt.NDArray[np.generic],
    groups: npt.ArrayLike | None,
    random_state: int | np.random.RandomState | None,
) -> list[Split]:
    """Five shuffled two-fold cross-validations, one after the other."""
    rng = check_random_state(random_state)
    return [split for _ in range(5) for split in make_splits(2, X, y, groups, rng)]


class RepeatedFolds:
    """The k-th split of repeated stratified folds, each repetition made when it is asked for."""

    kind = "repeated stratified folds"
    has_free_rows = True
    n_rounds = inf

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


class GroupFolds:
    """Folds that test whole groups, with about the same shares of the classes.

    Every repetition deals the groups out again.  Of few groups there is one repetition only: more
    of them would be much the same splits, which add rounds and no evidence.
    """

    kind = "stratified folds of whole groups"
    has_free_rows = False

    def __init__(
        self,
        y: npt.NDArray[np.generic],
        groups: npt.NDArray[np.generic],
        n_folds: int,
        random_state: int | np.random.RandomState | None,
    ) -> None:
        names, self._groups = np.unique(groups, return_inverse=True)
        self.n_groups = len(names)
        if self.n_groups < 2:
            raise ValueError("groups must hold two groups or more: all rows are of one.")
        self._y = np.unique(y, return_inverse=True)[1]
        self.n_folds = min(n_folds, self.n_groups)
        self._rng = check_random_state(random_state)
        self._made = self._repetition()
        is_few = self.n_groups < _GROUPS_PER_FOLD * n_folds
        self.n_rounds = len(self._made) if is_few else inf

    def __getitem__(self, k: int) -> Split:
        while len(self._made) <= k:
            self._made += self._repetition()
        return self._made[k]

    def _repetition(self) -> list[Split]:
        """Deal the groups out to folds; a fold may stay empty where one group is very large."""
        with warnings.catch_warnings():  # of classes in fewer rows or groups than folds
            warnings.simplefilter("ignore", UserWarning)
            made = self._by_class() if self.n_groups > _MANY_GROUPS else self._balanced()
        sound = [(train, test) for train, test in made if len(train) and len(test)]
        for train, _ in sound:
            if np.ptp(self._y[train]) == 0:
                raise ValueError(
                    "Without the groups of one fold, only one class is left to learn from: the "
                    "groups tell the classes, so that whole groups cannot be tested."
                )
        return sound

    def _balanced(self) -> list[Split]:
        folds = StratifiedGroupKFold(self.n_folds, shuffle=True, random_state=self._rng)
        return list(folds.split(self._y, self._y, self._groups))

    def _by_class(self) -> list[Split]:
        counts = np.zeros((self.n_groups, self._y.max() + 1), dtype=np.intp)
        np.add.at(counts, (self._groups, self._y), 1)
        mostly = counts.argmax(axis=1)
        folds = StratifiedKFold(self.n_folds, shuffle=True, random_state=self._rng)
        is_tested = np.zeros(self.n_groups, dtype=bool)
        made = []
        for _, tested in folds.split(mostly, mostly):
            is_tested[:] = False
            is_tested[tested] = True
            of_rows = is_tested[self._groups]
            made.append((np.flatnonzero(~of_rows), np.flatnonzero(of_rows)))
        return made


class TimeBlocks:
    """Blocks of time, each tested by all that is earlier, and by nothing of the same time.

    The later half of the rows is cut into blocks of about the same size.  The latest comes first
    and the others are spread, so that a few rounds are of more than one time.
    """

    kind = "later rows by earlier ones"
    has_free_rows = False

    def __init__(
        self, y: npt.NDArray[np.generic], time: npt.NDArray[np.generic], n_blocks: int
    ) -> None:
        self._order = np.argsort(time, kind="stable")
        ordered = time[self._order]
        # Rows of one time stay on one side: a block may begin only where the time changes.
        starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
        if not len(starts):
            raise ValueError("time must hold two times or more: all rows are of one.")
        n = len(ordered)
        wanted = n * (_FIRST_SHARE + (1 - _FIRST_SHARE) * np.arange(n_blocks) / n_blocks)
        nearest = starts[np.abs(starts[None, :] - wanted[:, None]).argmin(axis=1)]
        self._ends = [*np.unique(nearest).tolist(), n]
        self.n_folds = len(self._ends) - 1
        self.n_rounds: float = self.n_folds
        self.times = ordered[self._ends[:-1]]
        first = y[self._order[: self._ends[0]]]
        if (first == first[0]).all():
            raise ValueError(
                f"The earliest {len(first)} rows are all of class {str(first[0])!r}: there is "
                "nothing to learn from them, so that later rows cannot be tested by time."
            )
        # Numbers with their bits turned around are spread over their range.
        self._turn = sorted(range(self.n_folds), key=lambda i: _turned(self.n_folds - 1 - i))

    def __getitem__(self, k: int) -> Split:
        block = self._turn[k]
        start, end = self._ends[block], self._ends[block + 1]
        return np.sort(self._order[:start]), np.sort(self._order[start:end])


def _turned(number: int) -> int:
    return int(f"{number:032b}"[::-1], 2)


class TestFile:
    """One split: all rows of the table are learnt from, and all of the test file are tested."""

    __test__ = False  # not a test of pytest
    kind = "a test file"
    has_free_rows = True
    n_folds = 1
    n_rounds: float = 1

    def __init__(self, n_train: int, n_test: int) -> None:
        self._split = np.arange(n_train), np.arange(n_test)

    def __getitem__(self, k: int) -> Split:
        return self._split


def plan_splits(
    y: npt.NDArray[np.generic],
    n_folds: int,
    random_state: int | np.random.RandomState | None,
    *,
    groups: npt.ArrayLike | None = None,
    time: npt.ArrayLike | None = None,
    n_test: int | None = None,
) -> Splits:
    """Return the splits that fit what is known of the rows: groups, times, or a test file."""
    if sum(one is not None for one in (groups, time, n_test)) > 1:
        raise ValueError("Give one of groups, time and test: they are splits of different kinds.")
    if groups is not None:
        return GroupFolds(y, check_labels(groups, "groups"), n_folds, random_state)
    if time is not None:
        return TimeBlocks(y, check_labels(time, "time"), n_folds)
    if n_test is not None:
        return TestFile(len(y), n_test)
    smallest = int(np.unique(y, return_counts=True)[1].min())
    return RepeatedFolds(y, min(n_folds, smallest), random_state)


def random_parts(
    n_rows: int, random_state: int | np.random.RandomState | None
) -> npt.NDArray[np.intp]:
    """Deal the rows of a test file out to parts of the same size; return the part of each."""
    rng = check_random_state(random_state)
    return np.asarray(rng.permutation(n_rows) % min(_PARTS, n_rows), dtype=np.intp)


def is_tested_once(splits: Sequence[Split]) -> bool:
    """Tell whether every sample is tested at most once, as in plain K-fold cross-validation."""
    tested = np.concatenate([test for _, test in splits])
    return len(np.unique(tested)) == len(tested)


def mean_sizes(splits: Sequence[Split]) -> tuple[float, float]:
    """Return the mean numbers of training and of test samples in a split."""
    n_train = float(np.mean([len(train) for train, _ in splits]))
    n_test = float(np.mean([len(test) for _, test in splits]))
    return n_train, n_test
