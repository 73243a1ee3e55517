"""From a kernel that was chosen to discriminants: an expansion on all rows, or on landmarks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import Array, FloatArray, take_rows
from mercer._memory import is_on_gpu
from mercer.discriminants._choice import CLIMB_ROWS, GPU_CLIMB_ROWS
from mercer.discriminants._coding import Coding
from mercer.discriminants._trial import BASIS_ROWS, Criterion, Gram, Trial, climb, ridge_column
from mercer.discriminants._tuning import Tuned, best_entry, given_ridge, tie_slack, tune
from mercer.discriminants._width import landmark_basis, ridge_scale_path, tune_width
from mercer.kernels import KernelFunction
from mercer.spectral import RidgeSolution, factor_kernel

# Widths and ridges that are tried on a sample.
_CLIMB_STEPS = 6


@dataclass(frozen=True)
class Expansion:
    """Regression on the targets by kernels of some rows.

    Attributes
    ----------
    kernel : KernelFunction
        Of the width that was chosen.
    tuned : Tuned
        The ridge, the solution with its leave-one-out, and the surface.
    coef : array of shape (n_terms, C − 1)
        Coefficients a: outputs are Σⱼ aⱼ k(x, xⱼ) − level.
    level : array of shape (C − 1,)
        The weighted mean of Σⱼ aⱼ k(x, xⱼ) over all rows.
    n_steps : int
        Steps of an iterative solution.
    is_single : bool
        Whether kernels were summed in float32, as answers are to be.
    """

    kernel: KernelFunction
    tuned: Tuned
    coef: Array
    level: Array
    n_steps: int = 0
    is_single: bool = False


def expand_on_all(trial: Trial, criterion: Criterion, coding: Coding, X: Array) -> Expansion:
    """Expand on all rows: the kernel of a trial, at the ridge that is best for all of them."""
    trial = climb_samples(trial, X, coding, criterion)
    coding, kernel = coding.like(X), trial.kernel
    gram = Gram.of(kernel, X, None, criterion)
    base = gram.base if criterion.penalty == "coef" else None
    mean = coding.weights @ kernel.profile(gram.base)
    if X.shape[0] <= BASIS_ROWS:
        tuned = criterion.tune(gram, coding, kernel.gamma, False)
    else:
        K, alphas = gram.at(kernel.gamma)
        del gram  # and with it a matrix of all pairs
        tuned = tune_ridge(
            trial, alphas, lambda alpha: factor_kernel(K, coding.weights, alpha), coding, criterion
        )
    coef = tuned.basis.coefficients(coding.targets, tuned.alpha)
    if base is not None:
        coef = kernel.profile(base).T @ coef
    tuned = replace(tuned, results=with_chosen_width(trial.surface, tuned.results))
    return Expansion(kernel, tuned, coef, mean @ coef)


def climb_samples(trial: Trial, X: Array, coding: Coding, criterion: Criterion) -> Trial:
    """Return the trial at the width and ridge that are best on up to 4 000 rows, more on a GPU."""
    if X.shape[0] > BASIS_ROWS:
        trial = climb(trial, X, coding, criterion, CLIMB_ROWS, _CLIMB_STEPS)
        if is_on_gpu(X):
            trial = climb(trial, X, coding, criterion, GPU_CLIMB_ROWS, _CLIMB_STEPS)
    return trial


def tune_ridge(
    trial: Trial,
    alphas: FloatArray,
    solve: Callable[[float], RidgeSolution | None],
    coding: Coding,
    criterion: Criterion,
    most: int = 3,
) -> Tuned:
    """Choose a ridge by leave-one-out: the next smaller one is tried while it is better.

    `solve` returns the solution at a ridge, or None where there is none; at most `most` are tried.
    """
    n_rows = coding.labels.shape[0]
    column = ridge_column(trial, n_rows)
    score, error = np.full(len(alphas), np.nan), np.full(len(alphas), np.nan)
    best, best_solution = column, None
    for k in range(column, max(column - most, -1), -1):
        solution = solve(float(alphas[k]))
        if solution is None:
            break
        found = criterion.judge(solution, np.array([alphas[k]]), coding)
        score[k], error[k] = float(found[0][0]), float(found[1][0])
        tried = np.flatnonzero(~np.isnan(score))
        if tried[best_entry(score[tried], error[tried], tie_slack(coding))] != k:
            break
        best, best_solution = k, solution
        del solution  # which may be a matrix of all pairs
    if best_solution is None:
        raise ValueError(
            f"The kernel matrix of {n_rows} rows is not positive definite at the ridge "
            f"{alphas[column]:.2g}; give a larger alpha."
        )
    results = {
        "gamma": np.array([trial.kernel.gamma]),
        "alpha": alphas[None, :] * coding.scale,
        "score": score[None, :],
        "squared_error": error[None, :],
        "rows": np.array([n_rows]),
        "best_index": (0, best),
    }
    return Tuned(trial.kernel.gamma, float(alphas[best]), best_solution, results)


def with_chosen_width(surface: dict[str, Any], line: dict[str, Any]) -> dict[str, Any]:
    """Return a sample's surface in which the chosen width is judged on all rows.

    A width that was not on the surface gets a line of its own.
    """
    gamma = line["gamma"][0]
    rung = int(np.searchsorted(surface["gamma"], gamma * (1 - 1e-9)))
    is_new = rung == len(surface["gamma"]) or not np.isclose(surface["gamma"][rung], gamma)
    found = {**surface, "best_index": (rung, line["best_index"][1])}
    for name in ("gamma", "alpha", "score", "squared_error", "rows"):
        old = surface[name]
        found[name] = np.insert(old, rung, old[0], axis=0) if is_new else old.copy()
        found[name][rung] = line[name][0]
    return found


def expand_on_landmarks(
    kernel: KernelFunction,
    criterion: Criterion,
    coding: Coding,
    X: Array,
    terms: NDArray[np.intp],
    search: bool,
    rng: np.random.RandomState,
) -> Expansion:
    """Expand on landmarks: the width from a sample, then the ridge from all rows."""
    gamma, results = kernel.gamma, None
    if search:
        options = (criterion.scoring, criterion.penalty, rng)
        sampled = tune_width(kernel, X, coding, criterion.log_priors, *options)
        gamma, results = sampled.gamma, sampled.results
    kernel = kernel.with_gamma(gamma)
    if kernel.kernel == "precomputed":
        K = take_rows(X.T, terms).T
    else:
        K = kernel.matrix(X, take_rows(X, terms))
    kernel.check_range(K)
    among, coding = take_rows(K, terms), coding.like(X)
    basis, span = landmark_basis(K, among, coding.weights, criterion.penalty)
    path = ridge_scale_path(basis, among, criterion.penalty)
    alphas = path if criterion.alpha is None else given_ridge(criterion.alpha, float(path[-1]))
    tuned = tune(lambda _: (basis, alphas), gamma, coding, criterion.log_priors, criterion.scoring)
    coef = basis.coefficients(coding.targets, tuned.alpha)
    if span is not None:
        coef = span.dual(coef)
    if results is not None:
        tuned = replace(tuned, results=results)
    return Expansion(kernel, tuned, coef, (coding.weights @ K) @ coef)
