"""All pairs of estimators under some tests, with Holm's correction within each test."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from mercer.comparison._result import PairedTestResult

__all__ = ["PairTest", "Results", "holm_correction", "run_pairs"]

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
    counted = np.flatnonzero(~np.isnan(p))
    if np.any((p[counted] < 0) | (p[counted] > 1)):
        raise ValueError("p-values must lie between 0 and 1.")
    order = counted[np.argsort(p[counted], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted = np.full(p.shape, np.nan)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * p[order]))
    return adjusted
