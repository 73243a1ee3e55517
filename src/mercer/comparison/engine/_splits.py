"""The splits that all estimators share: those of a list, and those of repeated folds."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state

# Indices of the training and of the test samples.
Split = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]


def make_splits(
    cv: object,
    X: object,
    y: npt.NDArray[np.generic],
    groups: npt.ArrayLike | None,
    random_state: int | np.random.RandomState | None,
) -> list[Split]:
    """Make the splits of a number of folds, of a splitter or of an iterable.

    Folds of a number are shuffled and stratified, and by group where groups are given.
    """
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


def is_tested_once(splits: Sequence[Split]) -> bool:
    """Tell whether every sample is tested at most once, as in plain K-fold cross-validation."""
    tested = np.concatenate([test for _, test in splits])
    return len(np.unique(tested)) == len(tested)


def mean_sizes(splits: Sequence[Split]) -> tuple[float, float]:
    """Return the mean numbers of training and of test samples in a split."""
    n_train = float(np.mean([len(train) for train, _ in splits]))
    n_test = float(np.mean([len(test) for _, test in splits]))
    return n_train, n_test
