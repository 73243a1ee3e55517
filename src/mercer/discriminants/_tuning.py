"""The leave-one-out surface: every ridge at every width, from one decomposition per width."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from mercer._arrays import Array, FloatArray, to_numpy
from mercer.discriminants._coding import Coding, weight_of_others
from mercer.discriminants._gaussian import Rule, fit_rule, score_rule
from mercer.discriminants._left_out_rule import LeftOutRules
from mercer.spectral import RidgeSolution

# The first ladder of widths has these powers of two, and may grow to this one on either side.
_FIRST_RUNGS = range(-3, 4)
_LAST_RUNG = 12
# The path of ridges spans these decades, relative to the mean diagonal of the kernel.
_DECADES = (-9, 1)
RIDGES_PER_DECADE = 2
# Scores of outputs whose squared error is so many times that of no answer at all are not believed:
# an output that overshoots by the row's own absence gives its class away.
_WORST_ERROR = 10.0


# The ridges, scores and squared errors of each rung.
_Surface = dict[int, tuple[FloatArray, FloatArray, FloatArray]]


@dataclass(frozen=True)
class Tuned:
    """The best width and ridge, the decomposition at that width, and the surface."""

    gamma: float
    alpha: float
    basis: RidgeSolution
    results: dict[str, Any]


def ridge_path(scale: float) -> FloatArray:
    """Return the ridges to try, ascending, for a kernel whose mean diagonal is `scale`."""
    low, high = _DECADES
    scale = 1.0 if scale <= 0 else scale
    return scale * np.logspace(low, high, (high - low) * RIDGES_PER_DECADE + 1)


def given_ridge(alpha: float, scale: float) -> FloatArray:
    """Return one ridge as an array; beyond 10^±50 times the kernel's scale all are alike."""
    scale = 1.0 if scale <= 0 else scale
    return np.clip([alpha], 1e-50 * scale, 1e50 * scale)


def tune(
    decompose: Callable[[float], tuple[RidgeSolution, FloatArray]],
    gammas: float | tuple[float, str],
    coding: Coding,
    log_priors: Array,
    scoring: str,
    by_error: bool = False,
) -> Tuned:
    """Evaluate the surface and take its best point.

    Parameters
    ----------
    decompose : callable
        Returns, for a gamma, the decomposition and the ridges (ascending, NumPy) to try.
    gammas : float or (float, "loo")
        The one gamma to use, or the middle of a ladder whose best rung is wanted.
    coding : Coding
        Rows and classes, on the device of the decomposition.
    log_priors : array of shape (C,)
        Logarithms of the priors.
    scoring : {"accuracy", "balanced_accuracy"}
        The score to maximise.  Scores within half a standard error of the best are ties, and
        the least squared error decides.
    by_error : bool, default=False
        Let the squared error alone decide.
    """
    middle = gammas[0] if isinstance(gammas, tuple) else gammas
    rows: _Surface = {}
    slack = np.inf if by_error else tie_slack(coding)
    best_basis: tuple[int, RidgeSolution] | None = None  # only one, as it is large
    for rung in _rungs(rows, slack) if isinstance(gammas, tuple) else [0]:
        basis, alphas = decompose(middle * 2.0**rung)
        rows[rung] = (alphas, *evaluate(basis, alphas, coding, log_priors, scoring))
        if best_basis is None or _best_point(rows, slack)[0] == rung:
            best_basis = (rung, basis)
        del basis
    best, column = _best_point(rows, slack)
    if best_basis is None or best_basis[0] != best:  # Ties are not transitive.
        best_basis = (best, decompose(middle * 2.0**best)[0])
    rungs = sorted(rows)
    alphas, score, error = (np.stack([rows[rung][k] for rung in rungs]) for k in range(3))
    results = {
        "gamma": middle * 2.0 ** np.array(rungs, dtype=float),
        "alpha": alphas * coding.scale,
        "score": score,
        "squared_error": error,
        "rows": np.full(len(rungs), coding.labels.shape[0]),
        "best_index": (rungs.index(best), column),
    }
    return Tuned(middle * 2.0**best, float(rows[best][0][column]), best_basis[1], results)


def loo_rule(
    basis: RidgeSolution,
    alphas: FloatArray,
    coding: Coding,
    log_priors: Array,
    *,
    of_fitted: bool = False,
) -> tuple[Rule, Array, Array]:
    """Return rule, leave-one-out outputs and their squared error, for every ridge.

    The rule follows from the outputs of left-out rows, or from those of fitted ones, as in
    eq. (22) of the paper.

    The outputs are relative to the mean of the targets that remain.  A fit without row i has that
    mean as its level, which gives away the class of the missing row: with the level left in, a
    kernel without any information would seem to separate the classes.
    """
    outputs, fitted, errors = _left_out_outputs(basis, alphas, coding)
    judged, axes = fitted if of_fitted else outputs, _axes(fitted, coding)
    rule = fit_rule(judged, fitted, axes, coding.labels, coding.rule_weights, log_priors)
    return rule, outputs, errors


def left_out_rules(
    basis: RidgeSolution,
    alpha: float,
    coding: Coding,
    log_priors: Array,
    *,
    of_fitted: bool,
) -> tuple[LeftOutRules, Array]:
    """Return the rule without each row, and the left-out outputs, for one ridge.

    The outputs of the other rows are as they are with all rows.
    """
    outputs, fitted, _ = _left_out_outputs(basis, np.array([alpha]), coding)
    axes = _axes(fitted, coding)[0, :, :]
    outputs, fitted = outputs[0, :, :], fitted[0, :, :]
    judged = fitted if of_fitted else outputs
    return LeftOutRules.of(judged, fitted, axes, coding, log_priors), outputs


def _left_out_outputs(
    basis: RidgeSolution, alphas: FloatArray, coding: Coding
) -> tuple[Array, Array, Array]:
    """Return outputs of left-out rows, relative to the mean of the others; of the fit; errors."""
    targets = coding.targets
    xp = array_namespace(targets)
    outputs, fitted = basis.leave_one_out(targets, alphas, coding.removed)
    errors = xp.sum((targets - outputs) ** 2, axis=-1) @ coding.weights / targets.shape[1]
    return outputs + missing_level(coding)[:, None] * targets, fitted, errors


def missing_level(coding: Coding) -> Array:
    """Return what of each row's target is missing in the mean of the others, as a share."""
    left_out = coding.weights * coding.removed
    return left_out / weight_of_others(left_out)


def _axes(fitted: Array, coding: Coding) -> Array:
    """Return the discriminants as directions in the space of the outputs, for every ridge."""
    xp = array_namespace(fitted)
    explained = (coding.weights[:, None] * coding.targets).T @ fitted
    return xp.linalg.eigh((explained + xp.matrix_transpose(explained)) / 2)[1]


def best_entry(score: FloatArray, error: FloatArray, slack: float) -> int:
    """Return the index of the least error among scores near the greatest, the last of equal ones.

    Near is within `slack` times √(s(1 − s)), s the greatest score.  Differences that rounding
    could make are ties.  Entries of an absurd error are left out, unless all are.
    """
    score = np.where(error <= max(_WORST_ERROR, error.min()), score, -np.inf)
    top = float(score.max())
    near = slack * np.sqrt(max(top * (1.0 - top), 1e-18)) + 1e-9
    ties = np.flatnonzero(score >= top - near)
    least = error[ties].min()
    return int(ties[np.flatnonzero(error[ties] <= least * (1.0 + 1e-6))[-1]])


def tie_slack(coding: Coding) -> float:
    """Return how near to the best a score is a tie, in `best_entry`: half a standard error."""
    return float(0.5 / np.sqrt(float(coding.observations.sum())))


def evaluate(
    basis: RidgeSolution, alphas: FloatArray, coding: Coding, log_priors: Array, scoring: str
) -> tuple[FloatArray, FloatArray]:
    """Return score and squared error of the leave-one-out outputs, for every ridge."""
    rule, outputs, errors = loo_rule(basis, alphas, coding, log_priors)
    scores = rule.scores(outputs)
    score = score_rule(scores, coding.labels, coding.rule_weights, scoring)
    return to_numpy(score), to_numpy(errors)


def _best_point(rows: _Surface, slack: float) -> tuple[int, int]:
    """Return rung and ridge of the best entry; among equals the widest kernel."""
    rungs = sorted(rows, reverse=True)
    score, error = (np.concatenate([rows[r][k] for r in rungs]) for k in (1, 2))
    row, column = divmod(best_entry(score, error, slack), len(rows[rungs[0]][0]))
    return rungs[row], column


def _rungs(rows: _Surface, slack: float) -> Iterator[int]:
    """Yield the first ladder, then one more rung for as long as the best lies on an edge."""
    yield from _FIRST_RUNGS
    while True:
        best, _ = _best_point(rows, slack)
        if best == min(rows) and best > -_LAST_RUNG:
            yield best - 1
        elif best == max(rows) and best < _LAST_RUNG:
            yield best + 1
        else:
            return
