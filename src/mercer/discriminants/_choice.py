"""Which kernel: candidates meet each other by leave-one-out, and the best is taken.

≤ 500 rows     width and ridge of every candidate: the whole surface (`_trial`)
≤ 1 400 rows   scales of the columns; halves of these rows judge each other's (`_scales`)
≤ 2 000 rows   the leading candidates, up the surface; the best is taken
≤ 4 000 rows   its width and ridge once more (`_exact`)
all rows       its ridge (`_exact`), or its nodes (`_sparse`)
"""

from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from mercer._arrays import Array, FloatArray, like, to_numpy
from mercer._linalg import in_threads
from mercer._memory import is_on_gpu
from mercer._system.words import count_of, percent
from mercer.discriminants._coding import Coding
from mercer.discriminants._scales import WITH_DERIVATIVES, proven_scales
from mercer.discriminants._trial import Criterion, Trial, climb, sample_rows, try_on_few
from mercer.discriminants._tuning import best_entry, tie_slack
from mercer.kernels import KernelFunction, resolve_gamma

# The kernels that "auto" tries, smooth, with a cusp, and by columns.
AUTO_KERNELS = ("rbf", "exponential", "laplacian")
# The kernel whose columns get scales of their own; those of the others gained nothing.
SCALED_KERNEL = "laplacian"
# Rows on which candidates meet, and on which the best of them climbs on.
TRIAL_ROWS, CLIMB_ROWS = 2000, 4000
# A GPU can do so many of both: a factorisation takes a tenth of a second there.
GPU_TRIAL_ROWS, GPU_CLIMB_ROWS = 8000, 16_000
# Widths and ridges that are tried on the way from few rows to more.
_TRIAL_STEPS = 8
# Candidates that are so many standard errors behind the best on few rows are not tried on more.
_CLEAR = 2.5


@dataclass(frozen=True)
class Candidates:
    """Kernels to choose from.

    Attributes
    ----------
    kernels : tuple of KernelFunction
        The simplest first.
    scaled : str or None
        The kernel of this name gets scales of the columns too, if those prove themselves.
    searches_width : bool
        Whether their widths are to be found.
    """

    kernels: tuple[KernelFunction, ...]
    scaled: str | None
    searches_width: bool

    @property
    def is_choice(self) -> bool:
        """Whether there is more than one."""
        return len(self.kernels) > 1 or self.scaled is not None

    @classmethod
    def of(cls, model: Any, X: Array, counts: FloatArray) -> "Candidates":
        """Return the kernels that a discriminant may have, and check its parameters for them.

        `counts` says how many rows each row of X stands for.
        """
        is_auto = model.kernel == "auto" and model.gamma == "loo"
        # A width that is given says nothing about other kernels than the usual one.
        name = "rbf" if model.kernel == "auto" else model.kernel
        names = AUTO_KERNELS if is_auto else (name,)
        kernels = tuple(KernelFunction(name, 1.0, model.degree, model.coef0) for name in names)
        scales, scaled = model.column_scales, None
        if isinstance(scales, str):
            if scales == "loo":
                _check_learning(SCALED_KERNEL if is_auto else name, model.gamma, model.penalty)
            if model.penalty == "rkhs" and (is_auto or scales == "loo"):
                scaled = SCALED_KERNEL if is_auto else name
        elif scales is not None:
            checked = _check_scales(scales, X, model.kernel)
            kernels = tuple(kernel.with_scales(checked) for kernel in kernels)
        searches_width = kernels[0].uses_gamma and model.gamma == "loo"
        if kernels[0].uses_gamma and not searches_width:
            gamma = resolve_gamma(model.gamma, kernels[0].scaled(X), counts)
            kernels = (kernels[0].with_gamma(gamma),)
        return cls(kernels, scaled, searches_width)

    def try_all(
        self,
        X: Array,
        coding: Coding,
        criterion: Criterion,
        seconds: float | None,
        trial_rows: int | None = None,
    ) -> list[Trial]:
        """Return a trial of every candidate, the best first.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Rows.
        coding : Coding
            Their classes and weights, as NumPy arrays.
        criterion : Criterion
            What they are judged by.
        seconds : float or None
            After this time no further candidate is tried.
        trial_rows : int or None
            On how many rows they meet at most; None is 2 000, on a GPU 8 000.
        """
        learn_rows = TRIAL_ROWS if trial_rows is None else trial_rows
        if trial_rows is None:
            trial_rows = GPU_TRIAL_ROWS if is_on_gpu(X) else TRIAL_ROWS
        ends = np.inf if seconds is None else monotonic() + seconds
        search = self.searches_width

        def on_few(kernel: KernelFunction) -> Trial | None:
            late = monotonic() >= ends and kernel != self.kernels[0]
            return None if late else try_on_few(kernel, X, coding, criterion, search=search)

        trials = [trial for trial in in_threads(on_few, self.kernels, X) if trial is not None]
        plain = [trial for trial in trials if trial.kernel.kernel == self.scaled]
        if plain and monotonic() < ends:
            scales = proven_scales(plain[0], X, coding, criterion, learn_rows)
            if scales is not None:
                kernel = plain[0].kernel.with_scales(scales)
                trials.append(try_on_few(kernel, X, coding, criterion, search=True))
        top = max(trial.score for trial in trials)
        near = top - _CLEAR * np.sqrt(max(top * (1 - top), 0.0) / trials[0].rows)  # rounded above 1
        leaders = [trial for trial in trials if trial.score >= near]
        beaten = [trial for trial in trials if trial.score < near]

        def on_more(trial: Trial) -> Trial:
            return climb(trial, X, coding, criterion, trial_rows, _TRIAL_STEPS)

        leaders = in_threads(on_more, leaders, X)
        score, error = np.array([(trial.score, trial.error) for trial in leaders]).T
        slack = tie_slack(coding.take(sample_rows(coding, trial_rows)))
        # `best_entry` takes the last of equal ones, and here the first is the simplest.
        best = len(leaders) - 1 - best_entry(score[::-1], error[::-1], slack)
        return [leaders[best], *leaders[:best], *leaders[best + 1 :], *beaten]


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


def describe_choice(candidates: Candidates, trials: list[Trial]) -> str:
    """Return one sentence about the kernel that was chosen and those that were not."""
    if not candidates.is_choice:
        return f"The kernel was given: {_name(candidates.kernels[0])}."
    chosen, *others = (
        f"{_name(trial.kernel)} ({percent(trial.score)}, squared error {trial.error:.3g})"
        for trial in trials
    )
    rows = count_of(max(trial.rows for trial in trials), "row")
    against = f"; against {', '.join(others)}" if others else ""
    return f"Leave-one-out on up to {rows} chose {chosen}{against}."


def _name(kernel: KernelFunction) -> str:
    """Return what a kernel is called in a sentence."""
    name = kernel.kernel if isinstance(kernel.kernel, str) else "a function"
    return f"{name} with column scales" if kernel.scales else name


def column_shares(kernel: KernelFunction, X: Array, weights: FloatArray) -> Array | None:
    """Return the share of each column in the distance of two rows, on average, adding up to one.

    Absolute differences are averaged, for a kernel of squared distances their squares.  None for
    kernels that are no function of a distance.

    Parameters
    ----------
    kernel : KernelFunction
        With its scales.
    X : array of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Positive: how many rows each one stands for.
    """
    if kernel.kernel not in AUTO_KERNELS:
        return None
    xp: Any = array_namespace(X)
    rows = xp.astype(kernel.scaled(X), xp.float64, copy=False)
    rows = rows - rows[:1, :]  # Then numbers far from zero lose no digits below.
    share = like(weights / weights.sum(), rows)
    if kernel.kernel == "laplacian":
        # In ascending order, Σᵢⱼ pᵢpⱼ|xᵢ − xⱼ| = 4 Σᵢ pᵢxᵢ(p₁ + … + pᵢ − pᵢ/2 − ½).
        p = share[xp.argsort(rows, axis=0)]
        place = xp.cumulative_sum(p, axis=0) - p / 2 - 0.5
        spread = xp.sum(p * place * xp.sort(rows, axis=0), axis=0)
    else:
        spread = share @ (rows - share @ rows) ** 2
    spread = xp.maximum(spread, 0.0)
    total = float(xp.sum(spread))
    return spread / total if total > 0 else xp.full_like(spread, 1.0 / rows.shape[1])
