"""What a permutation test found, and how it compares one labelling with the others."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from mercer._arrays import FloatArray
from mercer._system.words import p_value

_LEVELS = (0.5, 0.9, 0.95, 0.99)


@dataclass(frozen=True, eq=False)
class PermutationTestResult:
    """What a permutation test found: the attributes that all of them have."""

    _who: ClassVar[str]

    statistic: float
    pvalue: float
    null_distribution: FloatArray
    bandwidth: float
    confidence_level: float
    name: str

    @property
    def significant(self) -> bool:
        """Whether the p-value is at most one minus the confidence level."""
        return self.pvalue + self.confidence_level <= 1  # 1 − 0.9 is less than 0.1

    @property
    def null_quantiles(self) -> dict[float, float]:
        """What the statistic reaches by chance: its median, 90, 95 and 99 % quantiles."""
        values = np.quantile(self.null_distribution, _LEVELS)
        return dict(zip(_LEVELS, values.tolist(), strict=True))

    def __str__(self) -> str:
        verdict = "is unlikely to be chance" if self.significant else "could be chance"
        return (
            f"{self._who} differ by {self.statistic:.3g} in {self.name}, where mixed samples "
            f"differ by {self.null_quantiles[0.5]:.3g} (median) and "
            f"{self.null_quantiles[0.95]:.3g} (95 %); that {verdict} ({p_value(self.pvalue)})"
        )


def compare_with_permutations(
    values: FloatArray, order: FloatArray, tie: float
) -> tuple[FloatArray, float]:
    """Return the values of the permutations, sorted, and the p-value of the first labelling.

    `order` is what is compared: values that are no further apart than `tie` count as equal.
    """
    as_large = int(np.sum(~(order[1:] < order[0] - tie)))  # NaN is no evidence
    null = np.sort(values[1:])
    null.flags.writeable = False
    return null, (1 + as_large) / order.size


def check_test_options(n_permutations: Any, confidence_level: Any) -> None:
    """Raise if these are not a number of permutations and a confidence level."""
    if not (isinstance(n_permutations, Integral) and int(n_permutations) >= 1):
        raise ValueError(f"n_permutations must be a positive integer, got {n_permutations!r}.")
    if not (isinstance(confidence_level, Real) and 0 < float(confidence_level) < 1):
        raise ValueError(f"confidence_level must lie between 0 and 1, got {confidence_level!r}.")
