"""Which kernel: candidates by leave-one-out, column scales by halves of a sample that judge them.

    ≤ 500 rows     width and ridge of every candidate, by eigenvectors: the whole surface
    ≤ 700 rows     scales of the columns, by descent; halves of these rows judge each other's
    ≤ 2 000 rows   the best widths of the leading candidates, by Cholesky; the best is taken
    all rows       its ridge (`_exact`), or its nodes (`_sparse`)

Scales flatter themselves in the leave-one-out of rows that learned them.  So they are learned on
one half and judged on the other, both ways, against equal scales on the same rows.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_numpy_array
from numpy.typing import NDArray

from mercer._arrays import Array, FloatArray, take_rows, to_numpy
from mercer._linalg import one_thread
from mercer._sklearn import effective_n_threads
from mercer._system.words import count_of, percent
from mercer.discriminants._coding import Coding
from mercer.discriminants._scales import WITH_DERIVATIVES, dummy_groups, learn_scales
from mercer.discriminants._tuning import (
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
SURFACE_ROWS, SCALE_ROWS, TRIAL_ROWS = 500, 700, 2000
# Up to this many rows eigenvectors serve every ridge; beyond, Cholesky factors are quicker.
BASIS_ROWS = 1000
# Candidates that are so many standard errors behind the best on few rows are not tried on more.
_CLEAR = 2.5
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
        K = K @ K.T if self.penalty == "coef" else (K + K.T) / 2
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
    """

    kernel: KernelFunction
    unit: float
    column: int
    score: float
    error: float
    rows: int
    surface: dict[str, Any]

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
    learned = isinstance(model.column_scales, str)  # "auto" or "loo"
    if not learned and model.column_scales is not None:
        scales = _check_scales(model.column_scales, X)
        kernels = tuple(kernel.with_scales(scales) for kernel in kernels)
    kernel = kernels[0]
    if not (kernel.uses_gamma and model.gamma == "loo"):
        if kernel.uses_gamma:
            kernel = kernel.with_gamma(resolve_gamma(model.gamma, kernel.scaled(X)))
        trial = _surface_trial(kernel, X, coding, criterion, search=False)
        return [_on_more_rows(trial, X, coding, criterion, trial_rows)]
    scaled = SCALED_KERNEL if is_auto else name
    if not learned or (not is_auto and model.column_scales == "auto"):
        scaled = None
    elif scaled not in WITH_DERIVATIVES:
        raise ValueError(
            f"column_scales='loo' needs kernel='auto', {' or '.join(map(repr, WITH_DERIVATIVES))}; "
            f"got kernel={model.kernel!r}."
        )
    options = {"scaled": scaled, "seconds": model.search_seconds, "trial_rows": trial_rows}
    return choose_kernel(kernels, X, coding, criterion, **options)


def _check_scales(scales: Any, X: Array) -> FloatArray:
    """Return scales that a user gave as an array, one positive number for each column."""
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
        scales = _proven_scales(plain[0], X, coding, criterion)
        if scales is not None:
            kernel = plain[0].kernel.with_scales(scales)
            trials.append(_surface_trial(kernel, X, coding, criterion, search=True))
    top = max(trial.score for trial in trials)
    near = top - _CLEAR * np.sqrt(max(top * (1 - top), 0.0) / trials[0].rows)  # rounded above 1
    leaders = [trial for trial in trials if trial.score >= near]
    beaten = [trial for trial in trials if trial.score < near]
    leaders = _in_threads(
        lambda trial: _on_more_rows(trial, X, coding, criterion, trial_rows), leaders, X
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
    point = (float(surface[name][rung, column]) for name in ("score", "squared_error"))
    return Trial(kernel.with_gamma(tuned.gamma), unit, column, *point, len(rows), surface)


def _on_more_rows(
    trial: Trial, X: Array, coding: Coding, criterion: Criterion, trial_rows: int
) -> Trial:
    """Return the trial of a kernel on up to `trial_rows` rows, at its best width there."""
    rows = sample_rows(coding, trial_rows)
    if len(rows) <= trial.rows:
        return trial
    gram = Gram.of(trial.kernel, X, rows, criterion)
    slack = tie_slack(coding.take(sample_rows(coding, SURFACE_ROWS)))
    return _best_width(trial, gram, coding.take(rows).like(X), criterion, slack) or trial


def _best_width(
    trial: Trial, gram: Gram, coding: Coding, criterion: Criterion, slack: float
) -> Trial | None:
    """Return the best of the surface's width, one wider and two narrower ones, on more rows.

    More rows allow narrower kernels and need a smaller ridge.  Each width is judged at the ridge
    that was its best on the sample, the k-th of its path, and at the next smaller one.  None if
    the kernel is not positive.
    """
    surface, points = trial.surface, []
    best, _ = surface["best_index"]
    last = len(surface["gamma"]) - 1
    for rung in range(min(best + 2, last), max(best - 2, -1), -1):  # widest first
        column = best_entry(surface["score"][rung], surface["squared_error"][rung], slack)
        gamma = float(surface["gamma"][rung])
        K, alphas = gram.at(gamma)
        for k in range(max(column - 1, 0), column + 1):
            found = judge_ridge(K, float(alphas[k]), coding, criterion)
            if found is None:
                return None
            points.append((gamma, k, *found))
    _, _, score, error = np.array(points).T
    gamma, k, *point = points[best_entry(score, error, tie_slack(coding))]
    rows = coding.labels.shape[0]
    return replace(
        trial,
        kernel=trial.kernel.with_gamma(gamma),
        column=k,
        score=point[0],
        error=point[1],
        rows=rows,
    )


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
    trial: Trial, X: Array, coding: Coding, criterion: Criterion
) -> FloatArray | None:
    """Return scales that lower the error of rows that did not learn them; None if none do."""
    rows = _scale_rows(coding)
    half = stratified_rows(coding.labels[rows], len(rows) // 2, 1.0, np.random.RandomState(0))
    halves = [rows[half], np.delete(rows, half)]
    groups = dummy_groups(take_rows(X, rows))
    if len(half) < _LEAST_HALF or groups.max() == 0:
        return None

    def gains(parts: list[NDArray[np.intp]]) -> FloatArray:
        """Return what the scales of the first part add to score and error of the second."""
        learning, judging = parts
        scales = _shrunken_scales(trial, X, coding, learning, groups, criterion)
        part, points = coding.take(judging).like(X), []
        for kernel in (trial.kernel.with_scales(scales), trial.kernel):
            gram = Gram.of(kernel, X, judging, criterion)
            points.append(_best_nearby(gram, trial, part, criterion))
        return np.subtract(*points)

    score, error = np.sum(_in_threads(gains, [halves, halves[::-1]], X), axis=0)
    if score < 0 or error >= 0:
        return None
    return _shrunken_scales(trial, X, coding, rows, groups, criterion)


def _scale_rows(coding: Coding) -> NDArray[np.intp]:
    """Return the rows that learn scales: none of those that trials are judged on, if others do."""
    others = np.delete(np.arange(len(coding.labels)), sample_rows(coding, TRIAL_ROWS))
    if len(others) < SCALE_ROWS:
        others = np.arange(len(coding.labels))
    rng = np.random.RandomState(0)
    return others[stratified_rows(coding.labels[others], SCALE_ROWS, 1.0, rng)]


def _shrunken_scales(
    trial: Trial,
    X: Array,
    coding: Coding,
    rows: NDArray[np.intp],
    groups: NDArray[np.intp],
    criterion: Criterion,
) -> FloatArray:
    """Return the roots of what the descent finds, with mean 1: scales half as far apart."""
    alpha = criterion.alpha
    if alpha is None:
        alpha = float(ridge_path(1.0)[trial.column]) * trial.rows / len(rows)
    part = coding.take(rows).like(X)
    scales = np.sqrt(learn_scales(trial.kernel, take_rows(X, rows), part, groups, alpha).scales)
    return np.asarray(scales / scales.mean())


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


def column_shares(kernel: KernelFunction, X: Array) -> FloatArray | None:
    """Return the share of each column in the distance of two rows, on average, adding up to one.

    Absolute differences are averaged, for a kernel of squared distances their squares.  None for
    kernels that are no function of a distance.
    """
    if kernel.kernel not in AUTO_KERNELS:
        return None
    rows = to_numpy(X if kernel.scales is None else kernel.scaled(X))
    if kernel.kernel == "laplacian":
        n = len(rows)
        order = np.sort(rows, axis=0)  # Σᵢⱼ |xᵢ − xⱼ| = 2 Σᵢ (2i − n + 1) x₍ᵢ₎
        spread = np.maximum((2.0 * np.arange(n) - n + 1) @ order, 0.0)
    else:
        spread = rows.var(axis=0)
    total = spread.sum()
    return spread / total if total > 0 else np.full(rows.shape[1], 1.0 / rows.shape[1])
