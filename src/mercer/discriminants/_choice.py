"""Which kernel: candidates by leave-one-out, column scales by halves of a sample that judge them.

    ≤ 500 rows     width and ridge of every candidate, by eigenvectors: the whole surface
    ≤ 1 400 rows   scales of the columns, by descent; halves of these rows judge each other's
    ≤ 2 000 rows   the leading candidates, by Cholesky, up the surface; the best is taken
    ≤ 4 000 rows   its width and ridge once more (`_exact`)
    all rows       its ridge (`_exact`), or its nodes (`_sparse`)

Scales flatter themselves in the leave-one-out of rows that learned them.  So they are learned on
one half and judged on the other, both ways, against equal scales on the same rows.
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_numpy_array
from numpy.typing import NDArray

from mercer._arrays import Array, FloatArray, like, take_rows, to_numpy
from mercer._linalg import one_thread
from mercer._sklearn import effective_n_threads
from mercer._system.words import count_of, percent
from mercer.discriminants._coding import Coding
from mercer.discriminants._scales import WITH_DERIVATIVES, dummy_groups, learn_scales
from mercer.discriminants._tuning import (
    RIDGES_PER_DECADE,
    Tuned,
    best_entry,
    evaluate,
    given_ridge,
    ridge_path,
    tie_slack,
    tune,
)
from mercer.discriminants._width import gamma_unit
from mercer.kernels import KernelFunction, resolve_gamma
from mercer.samples import stratified_rows
from mercer.spectral import RidgeBasis, decompose_kernel, factor_kernel

# The kernels that "auto" tries, smooth, with a cusp, and by columns.
AUTO_KERNELS = ("rbf", "exponential", "laplacian")
# The kernel whose columns get scales of their own; those of the others gained nothing.
SCALED_KERNEL = "laplacian"
# Rows of each step.
SURFACE_ROWS, SCALE_ROWS, TRIAL_ROWS, CLIMB_ROWS = 500, 700, 2000, 4000
# From so many rows on, twice as many learn scales.
_MANY_ROWS = 4000
# Widths and ridges that are tried on the way from few rows to more.
_TRIAL_STEPS = 8
# Up to this many rows eigenvectors serve every ridge; beyond, Cholesky factors are quicker.
BASIS_ROWS = 1000
# Candidates that are so many standard errors behind the best on few rows are not tried on more.
_CLEAR = 2.5
# Scales are taken as they are learned, or shrunken: their roots are half as far apart.
_POWERS, _POWER_ODDS = (0.5, 1.0), np.array([1.0, 0.9])
# Halves of fewer rows cannot judge scales.
_LEAST_HALF = 50


@dataclass(frozen=True)
class Criterion:
    """What candidates are judged by."""

    log_priors: Array
    scoring: str
    penalty: str
    alpha: float | None  # a ridge that the user gave

    def tune(self, gram: "Gram", coding: Coding, gamma: float, search: bool) -> Tuned:
        """Choose width and ridge by eigenvectors; the coding is on the device of the kernel."""
        gammas = (gamma, "loo") if search else gamma
        return tune(gram.decompose_with(coding), gammas, coding, self.log_priors, self.scoring)


@dataclass(frozen=True)
class Gram:
    """Gram matrices of some rows at every width, and the ridges to try.

    Under ``penalty="coef"`` the kernel's columns are features: their Gram matrix is K Kᵀ.
    """

    kernel: KernelFunction
    base: Array
    penalty: str
    alpha: float | None

    @classmethod
    def of(
        cls, kernel: KernelFunction, X: Array, rows: NDArray[np.intp] | None, criterion: Criterion
    ) -> "Gram":
        """Return the matrices of a kernel on these rows, or on all of them."""
        part = X if rows is None else take_rows(X, rows)
        if kernel.kernel == "precomputed":
            base = part if rows is None else take_rows(part.T, rows).T
        else:
            base = kernel.base(part, part)
        if not kernel.uses_gamma:
            kernel.check_range(base)
        return cls(kernel, base, criterion.penalty, criterion.alpha)

    def at(self, gamma: float) -> tuple[Array, FloatArray]:
        """Return the Gram matrix and the ridges at this width."""
        K = self.kernel.with_gamma(gamma).profile(self.base)
        self.kernel.check_range(K)
        if self.penalty == "coef":
            K = K @ K.T
        elif self.kernel.kernel not in AUTO_KERNELS:  # Those are symmetric but for rounding.
            K = (K + K.T) / 2
        unit = float(array_namespace(K).linalg.trace(K)) / K.shape[0]
        return K, ridge_path(unit) if self.alpha is None else given_ridge(self.alpha, unit)

    def decompose_with(self, coding: Coding) -> Any:
        """Return the function from a width to the decomposition and the ridges."""

        def decompose(gamma: float) -> tuple[RidgeBasis, FloatArray]:
            K, alphas = self.at(gamma)
            return decompose_kernel(K, coding.weights), alphas

        return decompose


@dataclass(frozen=True)
class Trial:
    """A kernel at its best width, and what leave-one-out says of it.

    Attributes
    ----------
    kernel : KernelFunction
        With its gamma and scales.
    unit : float
        The middle of its ladder of widths.
    column : int
        Position of its ridge among those of `ridge_path`.
    score, error : float
        Leave-one-out score and squared error.
    rows : int
        On how many rows.
    surface : dict
        The surface of at most 500 rows, as ``loo_results_`` has it.
    searches_width : bool
        Whether another width may be taken.
    """

    kernel: KernelFunction
    unit: float
    column: int
    score: float
    error: float
    rows: int
    surface: dict[str, Any]
    searches_width: bool

    def summary(self) -> dict[str, Any]:
        """Return what `loo_results_` says of the candidate."""
        return {
            "kernel": self.kernel.kernel,
            "has_scales": self.kernel.scales is not None,
            "gamma": self.kernel.gamma,
            "score": self.score,
            "squared_error": self.error,
            "rows": self.rows,
        }


def try_kernels(
    model: Any, X: Array, coding: Coding, criterion: Criterion, trial_rows: int = TRIAL_ROWS
) -> list[Trial]:
    """Return trials of the kernels that a discriminant may have, the best first.

    Parameters
    ----------
    model : estimator
        Its `kernel`, `gamma`, `degree`, `coef0`, `column_scales` and `search_seconds` are read.
    X : array of shape (n_rows, n_features)
        Rows.
    coding : Coding
        Their classes and weights, as NumPy arrays.
    criterion : Criterion
        What kernels are judged by.
    trial_rows : int
        On how many rows kernels meet each other at most.
    """
    is_auto = model.kernel == "auto" and model.gamma == "loo"
    # A width that is given says nothing about other kernels than the usual one.
    name = "rbf" if model.kernel == "auto" else model.kernel
    names = AUTO_KERNELS if is_auto else (name,)
    kernels = tuple(KernelFunction(name, 1.0, model.degree, model.coef0) for name in names)
    scales = model.column_scales
    if scales is not None and not isinstance(scales, str):
        checked = _check_scales(scales, X, model.kernel)
        kernels = tuple(kernel.with_scales(checked) for kernel in kernels)
    kernel, scaled = kernels[0], None
    if isinstance(scales, str) and (is_auto or scales == "loo"):
        scaled = SCALED_KERNEL if is_auto else name
        if scales == "loo":
            _check_learning(scaled, model.gamma, criterion.penalty)
    if not (kernel.uses_gamma and model.gamma == "loo"):
        if kernel.uses_gamma:
            kernel = kernel.with_gamma(resolve_gamma(model.gamma, kernel.scaled(X)))
        trial = _surface_trial(kernel, X, coding, criterion, search=False)
        return [climb(trial, X, coding, criterion, trial_rows, _TRIAL_STEPS)]
    options = {"scaled": scaled, "seconds": model.search_seconds, "trial_rows": trial_rows}
    return choose_kernel(kernels, X, coding, criterion, **options)


def _check_learning(kernel: Any, gamma: Any, penalty: str) -> None:
    """Raise ValueError where scales of the columns cannot be learned."""
    if kernel not in WITH_DERIVATIVES:
        names = " or ".join(map(repr, ("auto", *WITH_DERIVATIVES)))
        raise ValueError(f"column_scales='loo' needs kernel={names}; got kernel={kernel!r}.")
    if gamma != "loo" or penalty != "rkhs":
        raise ValueError(
            f"column_scales='loo' needs gamma='loo' and penalty='rkhs'; got gamma={gamma!r} and "
            f"penalty={penalty!r}."
        )


def _check_scales(scales: Any, X: Array, kernel: Any) -> FloatArray:
    """Return scales that a user gave as an array, one positive number for each column."""
    if kernel == "precomputed":
        raise ValueError("column_scales needs columns, which kernel='precomputed' does not have.")
    checked = np.asarray(to_numpy(scales), dtype=np.float64)
    if checked.shape != (X.shape[1],) or not ((checked > 0) & (checked < np.inf)).all():
        raise ValueError(
            f"column_scales must be {X.shape[1]} positive numbers, one for each column of X."
        )
    return checked


def choose_kernel(
    candidates: tuple[KernelFunction, ...],
    X: Array,
    coding: Coding,
    criterion: Criterion,
    *,
    scaled: str | None,
    seconds: float | None,
    trial_rows: int,
) -> list[Trial]:
    """Return a trial of every candidate, the best first.

    Parameters
    ----------
    candidates : tuple of KernelFunction
        Kernels with a width.
    X : array of shape (n_rows, n_features)
        Rows.
    coding : Coding
        Their classes and weights, as NumPy arrays.
    criterion : Criterion
        What they are judged by.
    scaled : str or None
        The candidate of this name gets scales of the columns too, if those prove themselves.
    seconds : float or None
        After this time no further candidate is tried.
    trial_rows : int
        On how many rows they meet at most.
    """
    ends = np.inf if seconds is None else monotonic() + seconds

    def on_few(kernel: KernelFunction) -> Trial | None:
        late = monotonic() >= ends and kernel != candidates[0]
        return None if late else _surface_trial(kernel, X, coding, criterion, search=True)

    trials = [trial for trial in _in_threads(on_few, candidates, X) if trial is not None]
    plain = [trial for trial in trials if trial.kernel.kernel == scaled]
    if plain and monotonic() < ends and criterion.penalty == "rkhs":
        scales = _proven_scales(plain[0], X, coding, criterion, trial_rows)
        if scales is not None:
            kernel = plain[0].kernel.with_scales(scales)
            trials.append(_surface_trial(kernel, X, coding, criterion, search=True))
    top = max(trial.score for trial in trials)
    near = top - _CLEAR * np.sqrt(max(top * (1 - top), 0.0) / trials[0].rows)  # rounded above 1
    leaders = [trial for trial in trials if trial.score >= near]
    beaten = [trial for trial in trials if trial.score < near]
    leaders = _in_threads(
        lambda trial: climb(trial, X, coding, criterion, trial_rows, _TRIAL_STEPS), leaders, X
    )
    score, error = np.array([(trial.score, trial.error) for trial in leaders]).T
    slack = tie_slack(coding.take(sample_rows(coding, trial_rows)))
    # `best_entry` takes the last of equal ones, and here the first is the simplest.
    best = len(leaders) - 1 - best_entry(score[::-1], error[::-1], slack)
    return [leaders[best], *leaders[:best], *leaders[best + 1 :], *beaten]


def _in_threads(work: Callable[[Any], Any], items: Sequence[Any], X: Array) -> list[Any]:
    """Return what `work` answers for each item; NumPy's rows on threads with one of BLAS each.

    Decompositions of a few hundred rows gain nothing from threads of BLAS.
    """
    if not is_numpy_array(X):
        return [work(item) for item in items]
    with one_thread(), ThreadPoolExecutor(effective_n_threads()) as pool:
        return list(pool.map(work, items))


def _surface_trial(
    kernel: KernelFunction, X: Array, coding: Coding, criterion: Criterion, *, search: bool
) -> Trial:
    """Return the trial of a kernel on few rows; without `search`, it keeps its width."""
    rows = sample_rows(coding, SURFACE_ROWS)
    few, counts = coding.take(rows).like(X), coding.counts[rows]
    gram = Gram.of(kernel, X, rows, criterion)
    unit = gamma_unit(gram.base, counts, counts)
    tuned = criterion.tune(gram, few, unit if search else kernel.gamma, search)
    (rung, column), surface = tuned.results["best_index"], tuned.results
    return Trial(
        kernel.with_gamma(tuned.gamma),
        unit,
        column,
        score=float(surface["score"][rung, column]),
        error=float(surface["squared_error"][rung, column]),
        rows=len(rows),
        surface=surface,
        searches_width=search,
    )


def climb(
    trial: Trial, X: Array, coding: Coding, criterion: Criterion, size: int, most: int
) -> Trial:
    """Return the trial on up to `size` rows, at the best width and ridge that steps lead to.

    More rows allow narrower kernels and need a smaller ridge.  From the best so far, neighbouring
    widths and ridges are tried until none is better, or `most` points were tried.  A kernel that is
    not positive keeps its trial.
    """
    rows = sample_rows(coding, size)
    if len(rows) <= trial.rows:
        return trial
    gram, part = Gram.of(trial.kernel, X, rows, criterion), coding.take(rows).like(X)
    slack, gamma = tie_slack(part), trial.kernel.gamma
    at = (0, ridge_column(trial, len(rows)))
    found: dict[tuple[int, int], tuple[float, float]] = {}
    step: tuple[int, int] | None = at
    while step is not None and len(found) < most:
        K, alphas = gram.at(gamma * 2.0 ** step[0])
        found[step] = judge_ridge(K, float(alphas[step[1]]), part, criterion) or (0.0, np.inf)
        score, error = np.array(list(found.values())).T
        at = list(found)[best_entry(score, error, slack)]
        near = [(at[0], at[1] - 1), (at[0] + 1, at[1]), (at[0], at[1] + 1), (at[0] - 1, at[1])]
        if not trial.searches_width:
            near = near[::2]
        step = next((p for p in near if p not in found and 0 <= p[1] < len(alphas)), None)
    (rung, column), (score, error) = at, found[at]
    if error == np.inf:
        return trial
    kernel = trial.kernel.with_gamma(gamma * 2.0**rung)
    return replace(trial, kernel=kernel, column=column, score=score, error=error, rows=len(rows))


def ridge_column(trial: Trial, n_rows: int) -> int:
    """Return the position of a trial's ridge for so many rows.

    The ridge stands beside a mean over the rows, so that it falls as their number grows.
    """
    shift = round(math.log10(n_rows / trial.rows) * RIDGES_PER_DECADE)
    return max(trial.column - shift, 0)


def judge_ridge(
    K: Array, alpha: float, coding: Coding, criterion: Criterion
) -> tuple[float, float] | None:
    """Return leave-one-out score and squared error at one ridge; None if K is not positive."""
    factor = factor_kernel(K, coding.weights, alpha)
    if factor is None:
        return None
    ridge = np.array([alpha])
    score, error = evaluate(factor, ridge, coding, criterion.log_priors, criterion.scoring)
    return float(score[0]), float(error[0])


def _proven_scales(
    trial: Trial, X: Array, coding: Coding, criterion: Criterion, trial_rows: int
) -> FloatArray | None:
    """Return scales that lower the error of rows that did not learn them; None if none do."""
    rows = _scale_rows(coding, trial_rows)
    half = stratified_rows(coding.labels[rows], len(rows) // 2, 1.0, np.random.RandomState(0))
    halves = [rows[half], np.delete(rows, half)]
    groups = dummy_groups(take_rows(X, rows))
    if len(half) < _LEAST_HALF or groups.max() == 0:
        return None

    def judge(parts: list[NDArray[np.intp]]) -> FloatArray:
        """Return score and error of the second part: without scales, and with each power of them.

        The first part learns them.
        """
        learning, judging = parts
        scales = _learned_scales(trial, X, coding, learning, groups, criterion)
        kernels = (trial.kernel, *(trial.kernel.with_scales(scales**power) for power in _POWERS))
        part = coding.take(judging).like(X)
        grams = (Gram.of(kernel, X, judging, criterion) for kernel in kernels)
        return np.array([_best_nearby(gram, trial, part, criterion) for gram in grams])

    score, error = np.mean(_in_threads(judge, [halves, halves[::-1]], X), axis=0).T
    better = np.flatnonzero((score[1:] >= score[0]) & (error[1:] < error[0]))
    if len(better) == 0:
        return None
    # The learned scales themselves must be clearly better than their roots.
    power = _POWERS[better[np.argmin((error[1:] / _POWER_ODDS)[better])]]
    scales = _learned_scales(trial, X, coding, rows, groups, criterion) ** power
    return np.asarray(scales / scales.mean())


def _scale_rows(coding: Coding, trial_rows: int) -> NDArray[np.intp]:
    """Return the rows that learn scales: none of those that trials are judged on, if others do."""
    n_rows = len(coding.labels)
    size = SCALE_ROWS if n_rows < _MANY_ROWS else min(2 * SCALE_ROWS, trial_rows)
    others = np.delete(np.arange(n_rows), sample_rows(coding, trial_rows))
    if len(others) < size:
        others = np.arange(n_rows)
    rng = np.random.RandomState(0)
    return others[stratified_rows(coding.labels[others], size, 1.0, rng)]


def _learned_scales(
    trial: Trial,
    X: Array,
    coding: Coding,
    rows: NDArray[np.intp],
    groups: NDArray[np.intp],
    criterion: Criterion,
) -> FloatArray:
    """Return the scales that the descent finds on some rows."""
    alpha = criterion.alpha
    if alpha is None:
        alpha = float(ridge_path(1.0)[trial.column]) * trial.rows / len(rows)
    part = coding.take(rows).like(X)
    return learn_scales(trial.kernel, take_rows(X, rows), part, groups, alpha).scales


def _best_nearby(
    gram: Gram, trial: Trial, coding: Coding, criterion: Criterion
) -> tuple[float, float]:
    """Return score and error at the best of some widths and ridges around those of a trial."""
    counts = to_numpy(coding.counts)
    relative = trial.kernel.gamma / trial.unit
    gamma, points = relative * gamma_unit(gram.base, counts, counts), []
    for factor in (4.0, 2.0, 1.0, 0.5):
        K, alphas = gram.at(gamma * factor)
        points += [
            judge_ridge(K, float(alpha), coding, criterion) or (0.0, np.inf)
            for alpha in alphas[max(trial.column - 1, 0) : trial.column + 4]
        ]
    score, error = np.array(points).T
    return points[best_entry(score, error, tie_slack(coding))]


def sample_rows(coding: Coding, size: int) -> NDArray[np.intp]:
    """Return rows with the shares of the classes; smaller samples are parts of larger ones.

    They are the same in every fit, because an expansion on all rows uses no random state.
    """
    return stratified_rows(coding.labels, size, 1.0, np.random.RandomState(0))


def describe_choice(trials: list[Trial]) -> str:
    """Return one sentence about the kernel that was chosen and those that were not."""
    chosen, *others = (
        f"{_name(trial.kernel)} ({percent(trial.score)}, squared error {trial.error:.3g})"
        for trial in trials
    )
    rows = count_of(max(trial.rows for trial in trials), "row")
    against = f"; against {', '.join(others)}" if others else ""
    return f"Leave-one-out on up to {rows} chose {chosen}{against}."


def _name(kernel: KernelFunction) -> str:
    """Return what a kernel is called in a sentence."""
    name = kernel.kernel if isinstance(kernel.kernel, str) else "the given kernel"
    return f"{name} with column scales" if kernel.scales else name


def column_shares(kernel: KernelFunction, X: Array) -> Array | None:
    """Return the share of each column in the distance of two rows, on average, adding up to one.

    Absolute differences are averaged, for a kernel of squared distances their squares.  None for
    kernels that are no function of a distance.
    """
    if kernel.kernel not in AUTO_KERNELS:
        return None
    xp: Any = array_namespace(X)
    rows = xp.astype(kernel.scaled(X), xp.float64, copy=False)
    if kernel.kernel == "laplacian":
        # Σᵢⱼ |xᵢ − xⱼ| = 2 Σᵢ (2i − n + 1) x₍ᵢ₎
        places = 2.0 * np.arange(rows.shape[0]) - rows.shape[0] + 1
        spread = xp.maximum(like(places, rows) @ xp.sort(rows, axis=0), 0.0)
    else:
        spread = xp.var(rows, axis=0)
    total = float(xp.sum(spread))
    return spread / total if total > 0 else xp.full_like(spread, 1.0 / rows.shape[1])
