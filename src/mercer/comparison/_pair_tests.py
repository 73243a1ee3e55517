"""Every pair of estimators, tested by every metric that was asked for, with one correction.

Two families of tests are corrected apart: the pairs of models, and each model against the floor.
Within a family Holm's correction counts every pair once for every metric, because whoever asks for
several metrics may find a difference in any of them.  It needs nothing of how tests depend on each
other, and scores by several metrics on the same rows depend on each other in unknown ways.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mercer._arrays import FloatArray
from mercer._system.words import listed
from mercer.comparison._result import cut_to_possible
from mercer.comparison.engine._metrics import LOWER_IS_BETTER
from mercer.comparison.tests._mcnemar import (
    JUDGED_BY_ROWS,
    by_rows_where_without_spread,
    mcnemar_test,
)
from mercer.comparison.tests._on_parts import parts_t_test
from mercer.comparison.tests._on_rows import corrected_rows_test
from mercer.comparison.tests._on_splits import corrected_t_test
from mercer.comparison.tests._pairs import (
    PairedTestResult,
    PairTest,
    Results,
    holm_correction,
    run_pairs,
    verdict_of,
)

# The tests of one metric: a row per pair, and the full results.
PairTests = tuple[pd.DataFrame, Results]


def judge_pairs(
    scores: Mapping[str, pd.DataFrame],
    floor: str | None,
    *,
    n_train: float,
    n_test: float,
    predictions: pd.DataFrame,
    confidence_level: float,
    by_part: Mapping[str, Mapping[str, FloatArray]],
    has_free_rows: bool,
) -> dict[str, PairTests]:
    """Test every pair by every metric, with one correction for each family of tests.

    ``scores`` are by metric, with a row per round and a column per estimator.  With ``by_part``,
    what each part of one test file adds to a score, there is one round, and rows or parts are
    tested.  Rows count one by one only where they are free of each other.
    """
    names = [str(name) for name in next(iter(scores.values()))]
    rivals = [name for name in names if name != floor]
    families: list[list[Sequence[str]]] = [[rivals]]
    if floor is not None and floor in names and rivals:
        families.append([(one, floor) for one in rivals])

    def test_by(metric: str) -> PairTest:
        sign = -1.0 if metric in LOWER_IS_BETTER else 1.0
        values = sign * scores[metric]

        def test(a: str, b: str) -> PairedTestResult:
            missing = [name for name in (a, b) if not np.isfinite(values[name]).all()]
            if missing:
                has = "have" if len(missing) > 1 else "has"
                raise ValueError(f"not tested: {listed(missing)} {has} no {metric}")
            options: Any = {"confidence_level": confidence_level, "names": (a, b)}
            if by_part and metric == "accuracy":
                answers = (predictions[name] for name in ("y_true", a, b))
                return mcnemar_test(*answers, **options)
            if by_part:
                result = parts_t_test(*(sign * by_part[name][metric] for name in (a, b)), **options)
            elif metric == "accuracy" and has_free_rows and len(values) > 1:
                # Rows are many more than splits: their variance is known far better.
                is_a, is_b = (predictions[one] == predictions["y_true"] for one in (a, b))
                rows = predictions.index.get_level_values("sample")
                return corrected_rows_test(is_a, is_b, rows, n_train=n_train, **options)
            else:
                options |= {"n_train": n_train, "n_test": n_test}
                result = corrected_t_test(values[a], values[b], **options)
            if metric in JUDGED_BY_ROWS and has_free_rows:
                return by_rows_where_without_spread(result, predictions)
            return result

        return test

    parts: dict[str, list[PairTests]] = {metric: [] for metric in scores}
    for groups in families:
        for metric in scores:
            parts[metric].append(_run(groups, test_by(metric), confidence_level))
        _correct([made[-1] for made in parts.values()], confidence_level)
    return {metric: _joined(made, metric) for metric, made in parts.items()}


def _run(groups: Sequence[Sequence[str]], test: PairTest, confidence_level: float) -> PairTests:
    """Test all pairs within each group of names."""
    tests = {"corrected_t": test}
    made = [run_pairs(names, tests, confidence_level=confidence_level) for names in groups]
    results = {key: result for _, some in made for key, result in some.items()}
    return pd.concat([pairs for pairs, _ in made], ignore_index=True), results


def _correct(family: Sequence[PairTests], confidence_level: float) -> None:
    """Correct the p-values of a family of tests together, and give the verdicts by that."""
    sizes = [len(pairs) for pairs, _ in family]
    corrected = holm_correction(np.concatenate([pairs["pvalue"] for pairs, _ in family]))
    for (pairs, results), own in zip(
        family, np.split(corrected, np.cumsum(sizes)[:-1]), strict=True
    ):
        pairs["pvalue_holm"] = own
        keys = pairs[["test", "a", "b"]].itertuples(index=False, name=None)
        pairs["verdict"] = [
            verdict_of(results[key], p < 1 - confidence_level) if key in results else reason
            for key, p, reason in zip(keys, own, pairs["verdict"], strict=True)
        ]


def _joined(made: Sequence[PairTests], metric: str) -> PairTests:
    """Return the tests of all families, with intervals cut to differences that are possible."""
    results = {key: result for _, some in made for key, result in some.items()}
    pairs = pd.concat([pairs for pairs, _ in made if len(pairs)] or [made[0][0]], ignore_index=True)
    if metric not in LOWER_IS_BETTER:
        pairs[["low", "high"]] = cut_to_possible(pairs[["low", "high"]], -1.0, 1.0)
    return pairs, results
