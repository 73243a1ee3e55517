"""What a paired test found: numbers for programs, a sentence for people."""

from dataclasses import dataclass
from math import isinf, isnan

__all__ = ["PairedTestResult", "better_phrase", "favoured", "interval_phrase", "p_phrase"]


def p_phrase(pvalue: float) -> str:
    """Write a p-value with the digits that matter: ``p = 0.11``, ``p < 0.001``."""
    if pvalue < 0.001:
        return "p < 0.001"
    if pvalue == 1.0:
        return "p = 1"
    return f"p = {pvalue:.3f}" if pvalue < 0.1 else f"p = {pvalue:.2f}"


def interval_phrase(interval: tuple[float, float], level: float, *, effect: float) -> str:
    """Write an interval as the one named first sees it: ``95 % interval -0.01 to 0.03``."""
    low, high = interval if effect >= 0 else (0 - interval[1], 0 - interval[0])
    percent = f"{100 * level:.4g} %"
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
        return f"{self.finding}; {verdict} ({p_phrase(self.pvalue)})"
