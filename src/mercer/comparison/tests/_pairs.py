"""What all tests of two estimators share: checks, the result, all pairs with Holm's correction.

The checks are of scores, labels, names and levels; they also say what counts as equal.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import frexp, isinf, isnan

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats
from sklearn.utils import column_or_1d

from mercer._arrays import FloatArray
from mercer._system.words import confidence, p_value, significant

# Scores that differ by less than this share of the largest one are equal: 0.9 - 0.8 and
# 0.2 - 0.1 are not the same number in floating point, but they are the same difference.
_ROUNDING = 1e-12
# What is said beside a difference that was judged by its sign.
NO_SPREAD = ": the difference never varies, so that its sign is tested"
_LARGEST_EXPONENT = 1020  # differences of scores below 2**this, and intervals, are finite


def check_scores(
    scores_a: npt.ArrayLike, scores_b: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, int]:
    """Return both score arrays in units of 2**exponent, and the exponent, or say what is wrong.

    Scores are finite and of one shape; the largest is near 1 in these units, so that neither
    squares nor sums of scores of any size leave the range of floating point.
    """
    a, b = _as_floats(scores_a, "scores_a"), _as_floats(scores_b, "scores_b")
    if a.shape != b.shape:
        raise ValueError(
            f"The two score arrays must have one shape, score by score; got {a.shape} and "
            f"{b.shape}."
        )
    for name, scores in (("scores_a", a), ("scores_b", b)):
        bad = np.flatnonzero(~np.isfinite(scores))
        if bad.size:
            raise ValueError(
                f"{name} holds {scores.flat[bad[0]]} at position {bad[0]}: leave that score out "
                "of both arrays, or repair the run that made it."
            )
    exponent = frexp(largest(a, b))[1]
    if exponent > _LARGEST_EXPONENT:
        raise ValueError(
            f"scores_a and scores_b go up to {largest(a, b):.3g}: differences of such scores are "
            "beyond the range of floating point; divide both arrays by something."
        )
    return np.ldexp(a, -exponent), np.ldexp(b, -exponent), exponent


def in_scores(values: Sequence[float], exponent: int) -> list[float]:
    """Return numbers in units of 2**exponent as scores; infinite beyond the range."""
    with np.errstate(over="ignore", under="ignore"):
        scaled: list[float] = np.ldexp(np.asarray(values, dtype=np.float64), exponent).tolist()
    return scaled


def _as_floats(scores: npt.ArrayLike, name: str) -> FloatArray:
    try:
        return np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}.") from error


def check_labels(labels: npt.ArrayLike, name: str) -> npt.NDArray[np.generic]:
    """Return labels as a one-dimensional array without gaps, or say where the first gap is."""
    checked = np.asarray(column_or_1d(labels))
    gaps = np.flatnonzero(pd.isna(checked))
    if gaps.size:
        raise ValueError(f"{name} has no label at position {gaps[0]}.")
    return checked


def check_confidence_level(confidence_level: float) -> None:
    """Refuse a level outside (0, 1)."""
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must lie between 0 and 1; got {confidence_level}.")


def check_names(names: Sequence[str]) -> tuple[str, str]:
    """Return the two names as strings."""
    if isinstance(names, str) or len(names) != 2:
        raise ValueError(f"names must hold two names, of A and of B; got {names!r}.")
    return str(names[0]), str(names[1])


def has_no_spread(spread: float, a: FloatArray, b: FloatArray) -> bool:
    """Tell whether what a test takes its scale from is rounding alone, for scores of this size."""
    return spread <= _ROUNDING * largest(a, b)


def sign_test(differences: FloatArray) -> tuple[float, float]:
    """Return the number of signs in the minority and the two-sided p-value of so few.

    A t or F test takes its scale from the spread of the differences; without any spread the
    smallest difference would be infinitely significant, so their signs are tested instead.
    Differences of zero have no sign; where all are zero, p is 1. Where J differences go one way,
    p is 2/2ᴶ, which no test of J independent differences can undercut without knowing their scale.
    """
    n_a, n_b = int((differences > 0).sum()), int((differences < 0).sum())
    tail = float(stats.binom.cdf(min(n_a, n_b), n_a + n_b, 0.5))
    return float(min(n_a, n_b)), min(1.0, 2 * tail)


def mean_difference(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Mean of a − b; 0 where rounding alone keeps differences that cancel from adding up to it."""
    mean = float(np.mean(np.subtract(a, b)))
    return 0.0 if abs(mean) <= 1e-15 * largest(np.asarray(a), np.asarray(b)) else mean


def without_rounding(values: FloatArray, *, scale: float) -> FloatArray:
    """Round away floating-point noise of scores of this size, so that what is equal ties."""
    if scale == 0:
        return values
    mantissa, exponent = frexp(scale)  # so that the step of a tiny scale is not 0
    step = _ROUNDING * mantissa
    rounded: FloatArray = np.ldexp(np.round(np.ldexp(values, -exponent) / step) * step, exponent)
    return rounded


def zero_if_noise(values: FloatArray, *, scale: float) -> FloatArray:
    """Put 0 for what rounding alone keeps from it, for differences of scores of this size."""
    return np.where(np.abs(values) <= _ROUNDING * scale, 0.0, values)


def largest(*arrays: FloatArray) -> float:
    """Size of the largest score."""
    return max(float(np.abs(array).max(initial=0.0)) for array in arrays)


def interval_phrase(interval: tuple[float, float], level: float, *, effect: float) -> str:
    """Write an interval as the one named first sees it: ``95 % interval −0.01 to 0.03``."""
    low, high = interval if effect >= 0 else (0 - interval[1], 0 - interval[0])
    percent = confidence(level)
    if isnan(low) or isinf(low):
        return f"no {percent} interval" if isnan(low) else f"no finite {percent} interval"
    return f"{percent} interval {significant(low, 3)} to {significant(high, 3)}"


def favoured(effect: float, names: tuple[str, str]) -> str:
    """Name that an effect of this sign favours; empty at 0."""
    return "" if effect == 0 else names[int(effect < 0)]


def better_phrase(effect: float, names: tuple[str, str]) -> str:
    """Say who scores better, and by how much: ``A scores 0.02 better than B``."""
    a, b = names if effect >= 0 else names[::-1]
    if effect == 0:
        return f"{a} and {b} score the same"
    return f"{a} scores {significant(abs(effect), 3)} better than {b}"


@dataclass(frozen=True)
class PairedTestResult:
    """Outcome of a test that compares two classifiers, A and B.

    ``str(result)`` is a sentence; the attributes are for programs. A positive effect favours A.

    Attributes
    ----------
    test : str
        Name of the test.
    statistic : float
        Test statistic.
    pvalue : float
        Two-sided p-value.
    df : tuple of int
        Degrees of freedom of the statistic: one for χ² and t, two for F, none for exact tests.
    effect : float
        Estimated difference, score of A minus score of B; positive where A is better.
    interval : tuple of float
        Confidence interval of the effect; NaN where the scores have no spread to make one from, or
        where the test rejects every difference.
    confidence_level : float
        Coverage that the interval claims; ``significant`` asks for ``pvalue`` below one minus it.
    names : tuple of str
        Names of A and B.
    favours : str
        The name that the data speak for, significantly or not; empty where they speak for neither.
    finding : str
        What was seen, without the verdict.
    """

    test: str
    statistic: float
    pvalue: float
    df: tuple[int, ...]
    effect: float
    interval: tuple[float, float]
    confidence_level: float
    names: tuple[str, str]
    favours: str
    finding: str

    @property
    def significant(self) -> bool:
        """Whether the p-value is below one minus the confidence level."""
        return self.pvalue < 1 - self.confidence_level

    def __str__(self) -> str:
        if self.significant:
            verdict = "that is unlikely to be chance"
        elif self.effect == 0 and not self.favours:
            verdict = "nothing tells them apart"
        else:
            verdict = "that could be chance"
        return f"{self.finding}; {verdict} ({p_value(self.pvalue)})"


# Tests the estimators of two names.
PairTest = Callable[[str, str], PairedTestResult]

# By test, name of A and name of B.
Results = dict[tuple[str, str, str], PairedTestResult]


def run_pairs(
    names: Sequence[str], tests: Mapping[str, PairTest], *, confidence_level: float
) -> tuple[pd.DataFrame, Results]:
    """Test every pair; a pair that cannot be tested is a row with the reason as its verdict."""
    results: Results = {}
    reasons: dict[tuple[str, str, str], str] = {}
    blocks = []
    for test, run in tests.items():
        keys = [(test, a, b) for a, b in combinations(names, 2)]
        for key in keys:
            try:
                results[key] = run(*key[1:])
            except ValueError as error:
                reasons[key] = str(error)
        found = [results.get(key) for key in keys]
        block = pd.DataFrame(keys, columns=["test", "a", "b"])
        block["difference"] = [np.nan if one is None else one.effect for one in found]
        block["low"] = [np.nan if one is None else one.interval[0] for one in found]
        block["high"] = [np.nan if one is None else one.interval[1] for one in found]
        block["statistic"] = [np.nan if one is None else one.statistic for one in found]
        block["pvalue"] = [np.nan if one is None else one.pvalue for one in found]
        block["pvalue_holm"] = holm_correction(block["pvalue"])
        block["verdict"] = [
            reasons[key] if one is None else verdict_of(one, pvalue < 1 - confidence_level)
            for key, one, pvalue in zip(keys, found, block["pvalue_holm"], strict=True)
        ]
        blocks.append(block)
    return pd.concat(blocks, ignore_index=True), results


def verdict_of(result: PairedTestResult, significant: bool) -> str:
    """Say in a few words what a test found, which is significant after correction or not."""
    if significant:
        return f"{result.favours} is better" if result.favours else "they differ, but not one way"
    nothing = result.effect == 0 and not result.favours
    return "no difference seen" if nothing else "could be chance"


def holm_correction(pvalues: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Adjust p-values of several tests so that all of them together keep the level.

    The smallest of m p-values is multiplied by m, the next by m − 1, and so on; none may fall
    below one that was smaller before, nor rise above 1. Rejecting where the adjusted value is
    below 0.05 makes even one false rejection unlikely (5 %), whatever the dependence.

    Parameters
    ----------
    pvalues : array-like of shape (n_tests,)
        P-values. NaN stands for a test that could not be made; it stays NaN and is not counted.

    Returns
    -------
    ndarray
        Adjusted p-values, in the order given.

    References
    ----------
    .. [1] S. Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian
       Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> from mercer.comparison import holm_correction
    >>> print(holm_correction([0.01, 0.04, 0.03]))
    [0.03 0.06 0.06]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    if p.ndim != 1:
        raise ValueError(f"p-values must be in one dimension; got shape {p.shape}.")
    made = np.flatnonzero(~np.isnan(p))
    if np.any((p[made] < 0) | (p[made] > 1)):
        raise ValueError("p-values must lie between 0 and 1.")
    order = made[np.argsort(p[made], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted = np.full(p.shape, np.nan)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * p[order]))
    return adjusted
