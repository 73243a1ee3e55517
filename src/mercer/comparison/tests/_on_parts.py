"""Two fitted classifiers on one test set, judged by any score: a jackknife by parts of the rows."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer.comparison.tests._on_splits import paired_t
from mercer.comparison.tests._pairs import PairedTestResult


def parts_t_test(
    values_a: npt.ArrayLike,
    values_b: npt.ArrayLike,
    *,
    confidence_level: float = 0.95,
    names: Sequence[str] = ("A", "B"),
) -> PairedTestResult:
    """Paired t test of two fitted classifiers by the parts of one test set.

    The values are those of :func:`values_by_part`; as parts are of different rows, nothing is
    corrected for.  It is the t test of the jackknife by groups of rows.
    """
    return paired_t(
        values_a,
        values_b,
        test="paired t test of the parts of a test set",
        overlap=0.0,
        caveat="",
        confidence_level=confidence_level,
        names=names,
        what="parts of the test rows",
    )


def values_by_part(score: float, left_out: npt.ArrayLike) -> FloatArray:
    """Return what each part of a test set adds to a score: the jackknife's pseudo-values.

    With the score θ of all rows and θ₋ᵍ without those of part g of G, they are
    θ + (G − 1)(mean θ₋ − θ₋ᵍ): of the mean of a number over rows, that of each part.  Their mean
    is θ, and their variance over G the jackknife's estimate of the variance of θ.
    """
    without: FloatArray = np.asarray(left_out, dtype=np.float64)
    values: FloatArray = score + (len(without) - 1) * (without.mean(axis=0) - without)
    return values
