"""Tests of significance of mlxtend and statsmodels by Mercer's; what Mercer has not is theirs."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests as statsmodels_multipletests

from mercer.comparison import (
    five_by_two_f_test,
    five_by_two_t_test,
    holm_correction,
    kfold_paired_t_test,
    mcnemar_test,
)


def logistic_regression(multi_class: str | None = None, **parameters: Any) -> Any:
    """Take `multi_class="ovr"`, which mlxtend's tests pass and scikit-learn no longer knows."""
    machine = LogisticRegression(**parameters)
    return OneVsRestClassifier(machine) if multi_class == "ovr" else machine


def mcnemar(ary: Any, corrected: bool = True, exact: bool = False) -> tuple[float | None, float]:
    result = _mcnemar_of_table(ary, exact)
    return None if exact else result.statistic, result.pvalue


def mcnemar_of_statsmodels(table: Any, exact: bool = True, correction: bool = True) -> Any:
    if not exact and not correction:
        return statsmodels_mcnemar(table, exact=exact, correction=correction)
    return _mcnemar_of_table(table, exact)


def multipletests(pvals: Any, alpha: float = 0.05, method: str = "hs", **options: Any) -> Any:
    if method not in ("h", "holm"):
        return statsmodels_multipletests(pvals, alpha=alpha, method=method, **options)
    adjusted = holm_correction(pvals)
    return adjusted <= alpha, adjusted, None, None


def _mcnemar_of_table(table: Any, exact: bool) -> Any:
    """Test a table of counts: both right, A alone right; B alone right, both wrong."""
    right_a, right_b = (np.repeat(cells, np.ravel(table)) for cells in ([1, 1, 0, 0], [1, 0, 1, 0]))
    method = "exact" if exact else "chi2"
    return mcnemar_test(np.ones_like(right_a), right_a, right_b, method=method)


def paired_ttest_5x2cv(*models: Any, random_seed: Any = None, **given: Any) -> tuple[float, float]:
    return _answer(five_by_two_t_test(*_scores(_halves(random_seed), *models, **given)))


def combined_ftest_5x2cv(
    *models: Any, random_seed: Any = None, **given: Any
) -> tuple[float, float]:
    return _answer(five_by_two_f_test(*_scores(_halves(random_seed), *models, **given)))


def paired_ttest_kfold_cv(
    *models: Any, cv: int = 10, random_seed: Any = None, **given: Any
) -> tuple[float, float]:
    return _answer(kfold_paired_t_test(*_scores(KFold(cv).split, *models, **given)))


def paired_ttest_resampled(
    *models: Any,
    num_rounds: int = 30,
    test_size: float = 0.3,
    random_seed: Any = None,
    **given: Any,
) -> tuple[float, float]:
    splits = _draws(random_seed, num_rounds, test_size)
    return _answer(kfold_paired_t_test(*_scores(splits, *models, **given)))


def _halves(seed: Any) -> Any:
    """Return a function that cuts rows five times into two halves, each of which trains once."""

    def split(X: Any) -> Iterator[tuple[Any, Any]]:
        for one, other in _draws(seed, 5, 0.5)(X):
            yield one, other
            yield other, one

    return split


def _draws(seed: Any, rounds: int, test_size: float) -> Any:
    def split(X: Any) -> Iterator[tuple[Any, Any]]:
        rng = np.random.RandomState(seed)
        for _ in range(rounds):
            state = rng.randint(low=0, high=32767)  # as mlxtend draws, so that splits are the same
            yield train_test_split(np.arange(len(X)), test_size=test_size, random_state=state)

    return split


def _scores(
    split: Any, estimator1: Any, estimator2: Any, X: Any, y: Any, scoring: Any = None
) -> tuple[list[float], list[float]]:
    if scoring is None:
        scoring = "accuracy" if is_classifier(estimator1) else "r2"
    score = get_scorer(scoring)
    a, b = [], []
    for train, test in split(X):
        for model, scores in ((estimator1, a), (estimator2, b)):
            scores.append(score(model.fit(X[train], y[train]), X[test], y[test]))
    return a, b


def _answer(result: Any) -> tuple[float, float]:
    return result.statistic, result.pvalue
