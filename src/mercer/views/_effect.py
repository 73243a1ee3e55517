"""How well a kernel Fisher discriminant tells two tables apart, by which columns and which rows.

Each fifth of the rows is held out once.  On the others a :class:`KernelFisherDiscriminant` chooses
column scales, width and ridge by its leave-one-out scores, and then it scores the fifth: no row has
a part in the choice of what judges it.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state

from mercer._arrays import FloatArray
from mercer.discriminants import KernelFisherDiscriminant
from mercer.spectral import stratified_rows
from mercer.views._auc import auc_interval, share_of_pairs

CONFIDENCE = 0.95
FEWEST_ROWS = 5  # of either table, for as many folds
_FOLDS = 5
_ROWS_OF_A_CHOICE = 500  # Column scales and width are chosen on at most so many rows.
_LANDMARKS = 500  # With more rows, the discriminant is expanded on so many of them.
# Shares of columns are found on at most so many rows of a fold, on fewer of a wide table: shuffling
# each of d columns takes d² products for a row and a landmark.
_ROWS_OF_SHARES, _PRODUCTS_OF_SHARES, _FEWEST_SHUFFLED = 1000, 3e9, 20


@dataclass(frozen=True)
class TableEffect:
    """How well two tables can be told apart, by rows that are held out.

    Parameters
    ----------
    auc : float
        Share of pairs, a row of either table, that a kernel Fisher discriminant fitted on other
        rows puts in order: 0.5 where nobody can tell the tables apart, 1 where there is no doubt.
    low, high : float
        Its interval.
    confidence : float
        Probability that the interval covers the true value.
    n_rows : tuple of two int
        Rows of either table that it is from.
    n_folds : int
        In so many parts the rows were held out.
    """

    auc: float
    low: float
    high: float
    confidence: float
    n_rows: tuple[int, int]
    n_folds: int

    @property
    def is_shown(self) -> bool:
        """Whether the tables can be told apart by more than chance."""
        return self.low > 0.5


@dataclass(frozen=True)
class Witness:
    """What held-out rows say: the effect, the log odds of each row, and the columns' shares.

    Parameters
    ----------
    effect : TableEffect
    log_odds : ndarray of shape (n_rows,)
        That the row is the second table's, by the discriminant that did not see it.
    shares : dict of str to float
        Of each column of the table in what the discriminants know, adding up to 1; empty where that
        is not shown to be anything.
    """

    effect: TableEffect
    log_odds: FloatArray
    shares: dict[str, float] = field(default_factory=dict)

    def most_typical(self, rows: NDArray[np.intp], is_second: bool) -> NDArray[np.intp]:
        """Return these rows, those first that tell most clearly which table they are of."""
        against = -self.log_odds[rows] if is_second else self.log_odds[rows]
        return rows[np.argsort(against, kind="stable")]

    def chance(self, row: int, is_second: bool) -> float:
        """Return the probability that the row is of that table, both being equally likely."""
        return float(expit(self.log_odds[row] if is_second else -self.log_odds[row]))


def find_witness(
    Z: FloatArray, is_second: NDArray[np.bool_], sources: Sequence[str], random_state: int
) -> Witness:
    """Fit discriminants between two tables, and judge them by rows that they have not seen.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_features)
        Rows of both tables.
    is_second : ndarray of bool of shape (n_rows,)
        Which are the second table's; either has at least `FEWEST_ROWS`.
    sources : sequence of str
        The column of the table that each feature is from.
    random_state : int
        Seed of folds, landmarks and shuffles.
    """
    rng = check_random_state(random_state)
    labels = is_second.astype(np.intp)
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=rng)
    log_odds = np.empty(len(Z))
    by_column = {name: np.flatnonzero(np.asarray(sources) == name) for name in sources}
    drops = dict.fromkeys(by_column, 0.0)
    n_shuffled = _PRODUCTS_OF_SHARES / (len(by_column) * Z.shape[1] * min(_LANDMARKS, len(Z)))
    n_shuffled = round(min(max(n_shuffled, _FEWEST_SHUFFLED), _ROWS_OF_SHARES))
    ordered, sizes = 0.0, []
    for fitted, held_out in folds.split(Z, labels):
        score = _fit_discriminant(Z[fitted], labels[fitted], rng)
        log_odds[held_out] = score(Z[held_out])
        n_second = int(labels[held_out].sum())
        size = (len(held_out) - n_second, n_second)
        sizes.append(size)
        ordered += size[0] * size[1] * share_of_pairs(log_odds[held_out], is_second[held_out])
        part = held_out[stratified_rows(labels[held_out], n_shuffled, 1.0, rng)]
        known = share_of_pairs(log_odds[part], is_second[part])
        for name, features in by_column.items():
            shuffled = Z[part]
            shuffled[:, features] = shuffled[rng.permutation(len(part))][:, features]
            drops[name] += known - share_of_pairs(score(shuffled), is_second[part])
    auc = float(ordered / sum(first * second for first, second in sizes))
    low, high = auc_interval(auc, sizes, CONFIDENCE)
    n_rows = (int((~is_second).sum()), int(is_second.sum()))
    effect = TableEffect(auc, low, high, CONFIDENCE, n_rows, _FOLDS)
    lost = {name: max(drop, 0.0) for name, drop in drops.items()}
    total = sum(lost.values())
    shares = {name: drop / total for name, drop in lost.items()} if total > 0 else {}
    return Witness(effect, log_odds, shares if effect.is_shown else {})


def _fit_discriminant(
    Z: FloatArray, labels: NDArray[np.intp], rng: np.random.RandomState
) -> Callable[[FloatArray], FloatArray]:
    """Return a function that gives the log odds that rows are of class 1."""
    seed = int(rng.randint(2**31 - 1))
    rows = stratified_rows(labels, _ROWS_OF_A_CHOICE, 0.0, rng)
    # Scores of a few hundred rows are too few to tell kernels apart: a choice among them lost more
    # than it won.  Both tables count the same.
    options: dict[str, Any] = {
        "kernel": "rbf",
        "priors": "uniform",
        "scoring": "balanced_accuracy",
        "random_state": seed,
    }
    with warnings.catch_warnings():
        # What it would advise is for those who choose its rows and columns.
        warnings.simplefilter("ignore")
        model = KernelFisherDiscriminant(**options, column_scales="loo")
        model.fit(Z[rows], labels[rows])
        if len(rows) < len(Z):
            options |= {"gamma": model.gamma_, "column_scales": model.column_scales_}
            model = KernelFisherDiscriminant(**options, n_landmarks=_LANDMARKS).fit(Z, labels)
    return lambda rows: np.asarray(model.decision_function(rows))
