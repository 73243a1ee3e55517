"""What a test of two estimators found, and all pairs of them with Holm's correction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isinf, isnan

import numpy as np
import numpy.typing as npt
import pandas as pd

from mercer._system.words import confidence, p_value


def interval_phrase(interval: tuple[float, float], level: float, *, effect: float) -> str:
    """Write an interval as the one named first sees it: ``95 % interval -0.01 to 0.03``."""
    low, high = interval if effect >= 0 else (0 - interval[1], 0 - interval[0])
    percent = confidence(level)
    if isnan(low) or isinf(low):
        return f"no {percent} interval" if isnan(low) else f"no finite {percent} interval"
    return f"{percent} interval {low:.3g} to {high:.3g}"


def favoured(effect: float, names: tuple[str, str]) -> str:
    """Name that an effect of this sign favours; empty at 0."""
    return "" if effect == 0 else names[int(effect < 0)]


def better_phrase(effect: float, names: tuple[str, str]) -> str:
    """Say who scores better, and by how much: ``A scores 0.02 better than B``."""
    a, b = names if effect >= 0 else names[::-1]
    if effect == 0:
        return f"{a} and {b} score the same"
    return f"{a} scores {abs(effect):.3g} better than {b}"


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
            reasons[key] if one is None else _verdict(one, pvalue < 1 - confidence_level)
            for key, one, pvalue in zip(keys, found, block["pvalue_holm"], strict=True)
        ]
        blocks.append(block)
    return pd.concat(blocks, ignore_index=True), results


def _verdict(result: PairedTestResult, significant: bool) -> str:
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
