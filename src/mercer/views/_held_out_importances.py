"""Which columns the leaders of a comparison go by: what a score loses when one is shuffled.

A leader is fitted again on the training rows of a split, and asked about the rows that were held
out there.  All of it is made from time that is left: the more there is, the more splits.
"""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from mercer._arrays import FloatArray
from mercer._system.words import count_of, duration, listed, score
from mercer.comparison import (
    ColumnImportanceRecord,
    ImportancesRecord,
    ModelImportancesRecord,
    RoundsComparison,
    StandInsRecord,
    mean_interval,
    metric_scorer,
)
from mercer.explanations import score_losses
from mercer.spectral import stratified_rows
from mercer.tables import LabelledTable

_MOST_SPLITS = 5
_LEAST_SPLITS = 3  # An interval of fewer is wider than anything that it could tell.
_MOST_TESTED = 2000  # rows that are held out, of a split
_LEAST_TESTED = 50
_TRIED = 200  # With so many rows it is found out how long an answer takes.
_LEAST_SHARE = 0.05  # A model that has time for less of the training rows is not asked.
_REPEATS = 3
_SHARE_FOR_FIT = 0.5  # of the time that a model has on a split
_ALIKE = 0.9  # Columns of at least this rank correlation stand in for each other.
_MOST_ALIKE = 5  # pairs of such columns that are named
_MOST_COMPARED = 200  # columns of which pairs are looked at
_MOST_CELLS = 20_000_000  # Of a larger table, a draw of the rows is sent to the process.

# Positions of training and test rows.
_Split = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class Leaders:
    """Models that are not fitted, the splits of their comparison, and what judges them.

    ``fit_seconds`` are those of a fit on all training rows of a split, and ``test`` has the rows
    that splits number as test rows where these are not rows of the table.
    """

    models: Mapping[str, Any]
    fit_seconds: Mapping[str, float]
    splits: Sequence[_Split]
    metric: str
    classes: NDArray[Any]
    positive: int
    costs: FloatArray | None
    confidence_level: float
    test: LabelledTable | None = None

    @classmethod
    def of(
        cls,
        comparison: RoundsComparison,
        models: Mapping[str, Any],
        names: Sequence[str],
        test: LabelledTable | None = None,
    ) -> "Leaders":
        """Take the models of these names from all that were compared."""
        numbers = list(comparison.rounds)[:_MOST_SPLITS]
        return cls(
            models={name: models[name] for name in names},
            fit_seconds=comparison.fit_seconds.median().to_dict(),
            splits=[comparison.splits[k] for k in numbers],
            metric=comparison.metric,
            classes=comparison.classes,
            positive=int(np.searchsorted(comparison.classes, comparison.positive)),
            costs=comparison.costs,
            confidence_level=comparison.confidence_level,
            test=test,
        )


def _with_test_rows(leaders: Leaders, data: LabelledTable) -> tuple[Leaders, LabelledTable]:
    """Put the rows of a test file behind those of the table, and number them so."""
    if leaders.test is None:
        return leaders, data
    columns = {}
    for name in data.X:
        first, second = data.X[name], leaders.test.X[name]
        if isinstance(first.dtype, pd.CategoricalDtype):
            known = first.cat.categories.union(second.cat.categories, sort=False)
            first, second = (one.cat.set_categories(known) for one in (first, second))
        columns[name] = pd.concat([first, second], ignore_index=True)
    splits = [(train, test + len(data.y)) for train, test in leaders.splits]
    both = replace(data, X=pd.DataFrame(columns), y=np.append(data.y, leaders.test.y))
    return replace(leaders, splits=splits, test=None), both


def rows_to_ask(
    leaders: Leaders, data: LabelledTable, seed: int
) -> tuple[Leaders, pd.DataFrame, NDArray[Any]]:
    """Return leaders, rows and classes as they are sent to a process: not more than it can hold."""
    leaders, data = _with_test_rows(leaders, data)
    most = max(1, _MOST_CELLS // max(1, data.X.shape[1]))
    if len(data.y) <= most:
        return leaders, data.X, data.y
    rng = np.random.RandomState(seed)
    _, codes = np.unique(data.y, return_inverse=True)
    rows = np.sort(stratified_rows(codes, most, 1.0, rng))
    place = np.full(len(data.y), -1)
    place[rows] = np.arange(len(rows))
    kept = [[place[part] for part in split] for split in leaders.splits]
    splits = [(train[train >= 0], test[test >= 0]) for train, test in kept]
    return replace(leaders, splits=splits), data.X.iloc[rows], data.y[rows]


@dataclass(frozen=True, eq=False)
class _Pass:
    """What one fit lost by column, and on how many rows it was fitted and asked."""

    losses: FloatArray
    fitted: int
    tested: int
    seconds: float


def find_importances(
    leaders: Leaders, X: pd.DataFrame, y: NDArray[Any], seed: int, until: float
) -> ImportancesRecord:
    """Return what the score of each leader loses when a column is shuffled among held-out rows.

    One split after the other, as long as there is time ``until`` the clock (of `time.time`) says
    so; every leader gets an equal share of what is left of it on the first.
    """
    scorer = metric_scorer(leaders.metric, leaders.classes, leaders.positive, leaders.costs)
    passes: dict[str, list[_Pass]] = {name: [] for name in leaders.models}
    notes: dict[str, str] = {}
    with warnings.catch_warnings(), threadpool_limits(1):  # as all fits of a comparison
        warnings.simplefilter("ignore")
        fair = (until - time.time()) / max(1, len(leaders.models) * len(leaders.splits))
        for k, split in enumerate(leaders.splits):
            for place, name in enumerate(leaders.models):
                if name in notes or len(passes[name]) < k:
                    continue
                left = until - time.time()
                share = left / (len(leaders.models) - place) if k == 0 else left
                if k and left < 1.2 * passes[name][-1].seconds:
                    continue
                try:
                    found = _ask(leaders, name, X, y, split, scorer, seed + k, (share, fair))
                except Exception as error:  # one model that cannot be asked must not end the others
                    notes[name] = f"{name} could not be asked: {type(error).__name__}: {error}"
                    continue
                if isinstance(found, str):
                    notes[name] = f"{name} is left out: {found}"
                else:
                    passes[name].append(found)
    made = {name: own for name, own in passes.items() if own}
    stand_ins = _stand_ins(X, seed)
    return ImportancesRecord(
        metric=leaders.metric,
        models=tuple(_record(name, own, leaders, list(X.columns)) for name, own in made.items()),
        stand_ins=stand_ins,
        caution=_caution(stand_ins),
        notes=tuple(note for name, note in notes.items() if name not in made),
    )


def _ask(
    leaders: Leaders,
    name: str,
    X: pd.DataFrame,
    y: NDArray[Any],
    split: _Split,
    scorer: Any,
    seed: int,
    limits: tuple[float, float],
) -> _Pass | str:
    """Fit a model on the training rows of a split and shuffle columns of the rest, or say why not.

    What does not fit the first number of seconds is made of fewer rows, not of fewer columns.
    Columns are shuffled several times if that takes no more than the second, with which there is
    time for all splits: more splits tell more than more shuffles.
    """
    start, rng = time.time(), np.random.RandomState(seed)
    seconds, fair = limits
    train, test = split
    wanted, given = leaders.fit_seconds[name], _SHARE_FOR_FIT * seconds
    if wanted > given:
        if given < _LEAST_SHARE * wanted:
            left = duration(seconds) if seconds > 0 else "nothing"
            return f"a fit takes {duration(wanted)}, and {left} was left of the time"
        train = _some(train, y, int(len(train) * given / wanted), rng)
    model = clone(leaders.models[name]).fit(X.iloc[train], y[train])

    tried = _some(test, y, _TRIED, rng)
    begun = time.time()
    names, _ = score_losses(
        model, X.iloc[tried], y[tried], scorer, n_repeats=1, random_state=rng, most=1
    )
    each = (time.time() - begun) / (2 * len(tried))  # an answer as it is, and one that is shuffled
    n_answers = 1 + len(names)
    room = (seconds - (time.time() - start)) / (each * n_answers) if each > 0 else np.inf
    n_rows = int(min(len(test), _MOST_TESTED, 0.8 * room))
    if n_rows < min(len(test), _LEAST_TESTED):
        return (
            f"shuffling {count_of(len(names), 'column')} takes longer than the time that was left"
        )
    rows = _some(test, y, n_rows, rng)
    for_all = (time.time() - start) + _REPEATS * n_rows * each * n_answers
    repeats = _REPEATS if for_all <= fair else 1
    names, losses = score_losses(
        model, X.iloc[rows], y[rows], scorer, n_repeats=repeats, random_state=rng
    )
    by_name = dict(zip(names, losses, strict=True))
    every = np.array([by_name.get(str(column), 0.0) for column in X.columns])
    return _Pass(every, len(train), len(rows), time.time() - start)


def _some(
    rows: NDArray[np.intp], y: NDArray[Any], n: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw so many of these rows, with classes in their shares; all, if there are no more."""
    if len(rows) <= n:
        return rows
    _, codes = np.unique(y[rows], return_inverse=True)
    return np.asarray(rows[stratified_rows(codes, n, 1.0, rng)])


def _record(
    name: str, passes: Sequence[_Pass], leaders: Leaders, columns: Sequence[Any]
) -> ModelImportancesRecord:
    """Return means over the splits, with the interval that scores have, the largest first."""
    losses = np.array([one.losses for one in passes])
    n_train, n_test = leaders.splits[0][0], leaders.splits[0][1]
    overlap = len(n_test) / len(n_train)
    lines = []
    for k in np.argsort(-losses.mean(axis=0), kind="stable"):
        low, high = mean_interval(losses[:, k], overlap, leaders.confidence_level)
        known = np.isfinite(low) and len(passes) >= _LEAST_SPLITS
        lines.append(
            ColumnImportanceRecord(
                name=str(columns[k]),
                loss=float(losses[:, k].mean()),
                low=float(low) if known else None,
                high=float(high) if known else None,
            )
        )
    return ModelImportancesRecord(
        model=name,
        splits=len(passes),
        train_rows=len(n_train),
        fitted_rows=min(one.fitted for one in passes),
        tested_rows=sum(one.tested for one in passes),
        columns=tuple(lines),
    )


def _stand_ins(X: pd.DataFrame, seed: int) -> tuple[StandInsRecord, ...]:
    """Return the pairs of columns of numbers that rise and fall together, the closest first."""
    numbers = X.select_dtypes("number").iloc[:, :_MOST_COMPARED]
    numbers = numbers.sample(min(len(numbers), _MOST_TESTED), random_state=seed)
    found = numbers.corr(method="spearman").to_numpy()
    close = np.argwhere(np.triu(np.abs(found) >= _ALIKE, 1)).tolist()
    pairs = sorted(close, key=lambda pair: -abs(found[pair[0], pair[1]]))
    return tuple(
        StandInsRecord(
            a=str(numbers.columns[a]), b=str(numbers.columns[b]), correlation=float(found[a, b])
        )
        for a, b in pairs[:_MOST_ALIKE]
    )


def _caution(stand_ins: Sequence[StandInsRecord]) -> str:
    """Say what shuffling does not see where columns say the same, and which ones do."""
    said = (
        "Columns that tell alike stand in for each other: when one is shuffled the other still "
        "tells, so that each can look unimportant though together they count."
    )
    if not stand_ins:
        return f"{said} No two columns of numbers here have a rank correlation of {_ALIKE} or more."
    pairs = [f"{one.a} and {one.b} ({score(one.correlation, 2)})" for one in stand_ins]
    return f"{said} By rank correlation that may be so of {listed(pairs)}."
