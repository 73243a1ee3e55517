"""``compare_predictions``: verdicts on what fitted models say of the same rows."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from mercer._system.words import count_of, listed, quoted
from mercer.comparison._elsewhere import (
    ScoresComparison,
    neighbours_of,
    with_posteriors,
)
from mercer.comparison._result import against_best
from mercer.comparison._score_table import ScoreTable
from mercer.comparison.tests._cochran import cochran_q_test
from mercer.comparison.tests._mcnemar import mcnemar_test
from mercer.comparison.tests._pairs import (
    PairedTestResult,
    check_confidence_level,
    run_pairs,
)

_TRUTHS = ("truth", "y_true", "true", "actual", "label")
_ASIDE = ("round", "row", "fold", "split", "sample", "index", "id")


def truth_column(table: pd.DataFrame) -> str | None:
    """Return the column of true classes, if this is a table of predictions beside one."""
    names = [str(name) for name in table if str(name).strip().lower() in _TRUTHS]
    return names[0] if names and len(_model_columns(table, names[0])) > 1 else None


def _model_columns(table: pd.DataFrame, truth: str) -> list[str]:
    """Return the columns that hold classes, as the truth does."""
    classes = set(map(str, table[truth].dropna()))
    aside = {truth, *(name for name in table if str(name).strip().lower() in _ASIDE)}
    return [
        str(name)
        for name in table
        if name not in aside and set(map(str, table[name].dropna())) <= classes
    ]


def compare_predictions(
    predictions: pd.DataFrame, truth: str | None = None, *, confidence_level: float = 0.95
) -> ScoresComparison:
    """Test which differences between the error rates of fitted models are more than chance.

    All together are tested by :func:`cochran_q_test`, pairs by :func:`mcnemar_test`.

    Parameters
    ----------
    predictions : DataFrame
        A row for each test row: the true class, and what each model says, in columns by the
        names of the models. Of a column ``row`` only the first time of each row counts.
    truth : str, optional
        The column of true classes; ``truth``, ``y_true``, ``true``, ``actual`` or ``label`` by
        default.
    confidence_level : float, default=0.95
        Coverage of the intervals; a verdict needs a corrected p-value below one minus it.

    Returns
    -------
    ScoresComparison
        Ranking by accuracy with exact binomial intervals, tests and the answer. Its ``scores`` are
        1 where a model is right and 0 where not; there are no posterior probabilities.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.comparison import compare_predictions
    >>> table = pd.DataFrame({"truth": [0, 1] * 20, "a": [0, 1] * 20, "b": [0] * 40})
    >>> print(compare_predictions(table).answer)
    a is better than b (p < 0.001).
    """
    check_confidence_level(confidence_level)
    level = confidence_level
    truth = truth_column(predictions) if truth is None else truth
    if truth is None or truth not in predictions:
        raise ValueError(
            "The table of predictions needs a column of true classes, such as truth, and columns "
            f"of classes for two models; it has {listed([quoted(n) for n in predictions], most=8)}."
        )
    models, notes = _model_columns(predictions, truth), []
    if len(models) < 2:
        raise ValueError(f"Two columns or more must hold classes that are in {quoted(truth)}.")
    gone = predictions[[truth, *models]].isna().any(axis=1)
    again = predictions.duplicated("row") & ~gone if "row" in predictions else gone & False
    for which, what in ((gone, "lack a class"), (again, "were predicted before")):
        if which.any():
            notes.append(f"{count_of(int(which.sum()), 'line')} that {what} do not count.")
    kept = predictions[~gone & ~again].reset_index(drop=True)
    labels = kept[[truth, *models]].map(str)
    overall = cochran_q_test(labels[truth], labels[models], confidence_level=level)

    def test(a: str, b: str) -> PairedTestResult:
        return mcnemar_test(
            labels[truth], labels[a], labels[b], confidence_level=level, names=(a, b)
        )

    pairs, results = run_pairs(models, {"mcnemar": test}, confidence_level=level)
    pairs = with_posteriors(pairs, {})
    right = labels[models].eq(labels[truth], axis=0).astype(np.float64)
    order = list(right.mean().sort_index().sort_values(ascending=False, kind="stable").index)
    table = ScoreTable(
        scores={"": right},
        metrics={"": "accuracy"},
        lower_is_better=False,
        overlap=None,
        splits_reason="Each row is predicted once, by models that are fitted.",
        notes=tuple(notes),
    )
    summary = pd.DataFrame({"score": right[order].mean()}).rename_axis("model")
    bounds = [_binomial_interval(right[name], level) for name in order]
    summary[["low", "high"]] = np.reshape(bounds, (-1, 2))
    return ScoresComparison(
        table=table,
        metric="accuracy",
        lower_is_better=False,
        scores=right[order],
        unit="row",
        summary=summary.join(against_best(summary["score"], pairs, level)),
        pairs=pairs,
        neighbours=neighbours_of(pairs, order),
        datasets=pd.DataFrame(),
        overall=overall,
        results=results,
        rope=0.0,
        confidence_level=level,
    )


def _binomial_interval(right: "pd.Series[Any]", level: float) -> tuple[float, float]:
    """Return the exact interval of a share of rows."""
    found = stats.binomtest(int(right.sum()), len(right)).proportion_ci(level)
    return float(found.low), float(found.high)
