"""Scales of the columns: learned by descent on the leave-one-out error, judged by other rows.

With weights p, √p·K·√p + αI and its inverse P on the complement of √p (`RidgeFactor`), rows that
are left out have the errors eᵢ = αqᵢ/(√pᵢ·ℓᵢ), q = P√pT, ℓᵢ = (1 − sᵢ) + sᵢαPᵢᵢ, sᵢ the share of a
row that leaves.  Since dP = −P dA P, one matrix serves the derivatives by all scales:

    L = Σ pᵢ‖eᵢ‖²,   dL = ⟨W, dA⟩ + …dα,   W = −(Pu)qᵀ + P diag(v) P,
    u = 2α²q/ℓ²,   v = 2α³s‖q‖²/ℓ³.

Scales flatter themselves in the leave-one-out of rows that learned them.  So they are learned on
one half of some rows and judged on the other, both ways, against equal scales on the same rows.

G. C. Cawley, N. L. C. Talbot (2007). Preventing over-fitting during model selection via Bayesian
regularisation of the hyper-parameters. JMLR 8, 841-861.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from scipy.optimize import minimize

from mercer._arrays import Array, FloatArray, like, take_rows, to_numpy
from mercer._linalg import in_threads
from mercer.discriminants._coding import Coding
from mercer.discriminants._trial import Criterion, Gram, Trial, sample_rows
from mercer.discriminants._tuning import best_entry, ridge_path, tie_slack
from mercer.discriminants._width import gamma_unit
from mercer.kernels import KernelFunction
from mercer.samples import stratified_rows
from mercer.spectral import decompose_kernel, factor_kernel
from mercer.sums import weighted_differences

# Rows that learn scales, and from how many rows on twice as many of them do.
_SCALE_ROWS, _MANY_ROWS = 700, 4000
# Halves of fewer rows cannot judge scales.
_LEAST_HALF = 50
# Scales are kept if they lower the error of rows that did not learn them to this share of it.
_WORTH_KEEPING = 0.99
# Scales are taken as they are learned if that lowers the error of their roots, which are half as
# far apart, to this share of it.
_CLEARLY_BETTER = 0.9
# Kernels whose derivatives by the scales are known here.
WITH_DERIVATIVES = ("laplacian", "rbf")
# The logarithms of the scales have a normal prior about their mean, of this variance.
_PRIOR_VARIANCE = 1.0
# The descent ends after this many steps; where it begins at the scales of both halves, after these.
_STEPS, _LAST_STEPS = 12, 4
# A scale may move from where it began by these factors, the ridge to these sizes.
_LEAST_FACTOR, _MOST_FACTOR = np.exp(-9.0), np.exp(5.0)
_LEAST_RIDGE, _MOST_RIDGE = 1e-10, 1.0


def dummy_groups(X: Array) -> NDArray[np.intp]:
    """Return the group of each column: dummies of one category are a group, any other is its own.

    Neighbouring columns that hold zero and one other number, the same for all of them, are dummies
    of a category if no row has two of them.  They share one scale, so that two categories of a
    column are as far from each other as any other two.  A column of zeros, such as the dummy of a
    category that no row has, joins its neighbours.
    """
    rows = to_numpy(X)
    top = rows.max(axis=0)
    is_dummy = ((rows == 0) | (rows == top)).all(axis=0) & (rows.min(axis=0) == 0)
    groups = np.empty(rows.shape[1], dtype=np.intp)
    # Rows that the dummies of the group at hand cover, the number that they hold, and whether it is
    # one of dummies.
    taken, height, is_open = np.zeros(len(rows), dtype=bool), 0.0, False
    group = -1
    for k in range(rows.shape[1]):
        hit, fits = rows[:, k] > 0, 0 in (height, top[k]) or height == top[k]
        if is_open and is_dummy[k] and fits and not (taken & hit).any():
            taken |= hit
            height = max(height, top[k])
        else:
            group, taken, height, is_open = group + 1, hit, top[k], bool(is_dummy[k])
        groups[k] = group
    return groups


@dataclass(frozen=True)
class Scaled:
    """Factors of the columns, and a ridge that suits them."""

    scales: FloatArray
    alpha: float


def proven_scales(
    trial: Trial, X: Array, coding: Coding, criterion: Criterion, trial_rows: int
) -> FloatArray | None:
    """Return scales that lower the error of rows that did not learn them; None if none do.

    Parameters
    ----------
    trial : Trial
        The kernel without scales, as it was found on few rows.
    X : array of shape (n_rows, n_features)
        Rows.
    coding : Coding
        Their classes and weights, as NumPy arrays.
    criterion : Criterion
        What kernels are judged by.
    trial_rows : int
        On how many rows kernels meet each other at most.
    """
    rows = _scale_rows(coding, trial_rows)
    half = stratified_rows(coding.labels[rows], len(rows) // 2, 1.0, np.random.RandomState(0))
    halves = [rows[half], np.delete(rows, half)]
    groups = dummy_groups(take_rows(X, rows))
    if len(half) < _LEAST_HALF or groups.max() == 0:
        return None
    alpha = criterion.alpha
    if alpha is None:
        alpha = float(ridge_path(1.0)[trial.column]) * trial.rows / len(half)
    start = Scaled(np.ones(X.shape[1]), alpha)

    def learn(some: NDArray[np.intp], start: Scaled, steps: int) -> Scaled:
        """Return what the descent finds on some rows."""
        part = coding.take(some).like(X)
        return learn_scales(trial.kernel, take_rows(X, some), part, groups, start, steps)

    def judge(parts: list[NDArray[np.intp]]) -> tuple[Scaled, list[tuple[float, float]]]:
        """Return what the first part learns, and what the second says of three kernels.

        That is score and error without scales, with the roots of the scales, and with the scales.
        """
        learning, judging = parts
        found, plain = learn(learning, start, _STEPS), trial.kernel
        kernels = (plain, plain.with_scales(found.scales**0.5), plain.with_scales(found.scales))
        part = coding.take(judging).like(X)
        grams = (Gram.of(kernel, X, judging, criterion) for kernel in kernels)
        return found, [_best_nearby(gram, trial, part, criterion) for gram in grams]

    (one, other), points = zip(*in_threads(judge, [halves, halves[::-1]], X), strict=True)
    (plain, *others), (plain_error, *errors) = np.mean(points, axis=0).T
    most = _WORTH_KEEPING * plain_error
    roots, full = (s >= plain and e <= most for s, e in zip(others, errors, strict=True))
    if not (roots or full):
        return None
    takes_roots = roots and not (full and errors[1] < _CLEARLY_BETTER * errors[0])
    # Twice as many rows begin in the middle of what both halves found.
    middle = Scaled(np.sqrt(one.scales * other.scales), 0.5 * np.sqrt(one.alpha * other.alpha))
    scales = learn(rows, middle, _LAST_STEPS).scales
    scales = scales**0.5 if takes_roots else scales
    return np.asarray(scales / scales.mean())


def _scale_rows(coding: Coding, trial_rows: int) -> NDArray[np.intp]:
    """Return the rows that learn scales: none of those that trials are judged on, if others do."""
    n_rows = len(coding.labels)
    size = _SCALE_ROWS if n_rows < _MANY_ROWS else min(2 * _SCALE_ROWS, trial_rows)
    others = np.delete(np.arange(n_rows), sample_rows(coding, trial_rows))
    if len(others) < size:
        others = np.arange(n_rows)
    rng = np.random.RandomState(0)
    return others[stratified_rows(coding.labels[others], size, 1.0, rng)]


def _best_nearby(
    gram: Gram, trial: Trial, coding: Coding, criterion: Criterion
) -> tuple[float, float]:
    """Return score and error at the best of some widths and ridges around those of a trial."""
    counts = to_numpy(coding.counts)
    relative = trial.kernel.gamma / trial.unit
    gamma = relative * gamma_unit(gram.base, counts, counts)
    ridges, found = slice(max(trial.column - 1, 0), trial.column + 4), []
    for factor in (4.0, 2.0, 1.0, 0.5):
        K, alphas = gram.at(gamma * factor)
        basis = decompose_kernel(K, coding.weights)
        found.append(criterion.judge(basis, alphas[ridges], coding))
    score, error = np.concatenate(found, axis=1)
    best = best_entry(score, error, tie_slack(coding))
    return float(score[best]), float(error[best])


def learn_scales(
    kernel: KernelFunction,
    X: Array,
    coding: Coding,
    groups: NDArray[np.intp],
    start: Scaled,
    steps: int,
) -> Scaled:
    """Return scales of the columns that lower the leave-one-out error, and the ridge.

    Parameters
    ----------
    kernel : KernelFunction
        "laplacian" or "rbf", with the width that suits all columns alike.
    X : array of shape (n_rows, n_features)
        Rows.
    coding : Coding
        Their classes and weights, on the device of X.
    groups : ndarray of int of shape (n_features,)
        Columns of one group share a scale.
    start : Scaled
        Where to begin; columns of one group have the same scale.
    steps : int
        How many steps the descent takes at most.
    """
    descent = _Descent(kernel, X, coding, groups)
    theta = np.zeros(groups.max() + 1)
    theta[groups] = np.log(start.scales)
    at = np.append(theta, np.log(start.alpha))
    scale_range = (np.log(_LEAST_FACTOR), np.log(_MOST_FACTOR))
    ridge_range = (min(np.log(_LEAST_RIDGE), at[-1]), max(np.log(_MOST_RIDGE), at[-1]))
    bounds = [scale_range] * len(theta) + [ridge_range]
    options = {"maxiter": steps, "maxfun": steps + 8}
    found = minimize(descent, at, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return Scaled(np.exp(found.x[:-1])[groups], float(np.exp(found.x[-1])))


class _Descent:
    """The logarithm of the leave-one-out error with the prior, and its derivatives.

    Called with the logarithms of the groups' scales, and of the ridge at the end.
    """

    def __init__(
        self, kernel: KernelFunction, X: Array, coding: Coding, groups: NDArray[np.intp]
    ) -> None:
        self.kernel, self.X, self.coding, self.groups = kernel, X, coding, groups
        self.n_rows = float(to_numpy(coding.observations).sum())

    def __call__(self, at: FloatArray) -> tuple[float, FloatArray]:
        theta, alpha = at[:-1], float(np.exp(at[-1]))
        error, by_scale, by_ridge = self._error(np.exp(theta)[self.groups], alpha)
        if not 0 < error < np.inf:  # Not a number that can be improved: a barrier.
            return 1e10, np.zeros_like(at)
        by_group = np.bincount(self.groups, by_scale, len(theta))
        weight, spread = 1 / (_PRIOR_VARIANCE * self.n_rows), theta - theta.mean()
        value = np.log(error) + weight * float(spread @ spread)
        return value, np.append(by_group / error + 2 * weight * spread, by_ridge * alpha / error)

    def _error(self, scales: FloatArray, alpha: float) -> tuple[float, FloatArray, float]:
        """Return the error, its derivatives by the logarithms of all scales, and by the ridge."""
        xp: Any = array_namespace(self.X)
        coding, kernel = self.coding, self.kernel
        X = self.X * like(scales, self.X)
        K = kernel.matrix(X, X)
        factor = factor_kernel(K, coding.weights, alpha)
        if factor is None:
            return np.inf, scales, 0.0
        P, root = factor.matrix(), factor.root
        q = P @ (root[:, None] * coding.targets)
        size, diagonal = xp.sum(q**2, axis=1), xp.linalg.diagonal(P)
        left = (1.0 - coding.removed) + coding.removed * alpha * diagonal
        u = 2 * alpha**2 * q / (left**2)[:, None]
        v = 2 * alpha**3 * coding.removed * size / left**3
        half = P * xp.sqrt(v)
        W = half @ half.T
        W -= (P @ u) @ q.T
        by_ridge = float(xp.sum(xp.linalg.diagonal(W)) + xp.sum(2 * alpha * size / left**2))
        by_ridge -= float(xp.sum(2 * alpha**2 * size * coding.removed * diagonal / left**3))
        W *= K
        W *= root
        W *= root[:, None]
        error = float(xp.sum(alpha**2 * size / left**2))
        if kernel.kernel == "rbf":
            rows = (X**2).T @ (xp.sum(W, axis=0) + xp.sum(W, axis=1))
            by_scale = -2 * kernel.gamma * (rows - 2 * xp.sum(X * (W @ X), axis=0))
        else:
            by_scale = -kernel.gamma * weighted_differences(W, X)
        return error, to_numpy(by_scale), by_ridge
