"""Paired t tests of cross-validation scores: the plain one, and the one to use."""

from collections.abc import Sequence
from math import inf

import numpy as np
import numpy.typing as npt
from scipy import stats

from mercer._arrays import FloatArray
from mercer.comparison._checks import (
    check_confidence_level,
    check_names,
    check_scores,
    has_no_spread,
    in_scores,
    largest,
    mean_difference,
    zero_if_noise,
)
from mercer.comparison.tests._pairs import (
    PairedTestResult,
    better_phrase,
    favoured,
    interval_phrase,
)
from mercer.comparison.tests._sign import NO_SPREAD, sign_test


def kfold_paired_t_test(
    scores_a: npt.ArrayLike,
    scores_b: npt.ArrayLike,
    *,
    confidence_level: float = 0.95,
    names: Sequence[str] = ("A", "B"),
) -> PairedTestResult:
    r"""Paired t test of the scores on K folds, as if the folds were independent.

    With :math:`p_i` the difference of the scores on fold i and :math:`m` their mean,

    .. math:: t = \frac{\sqrt K\, m}{S},\qquad S^2 = \frac{\sum_i (p_i - m)^2}{K - 1},

    compared with Student's t of K − 1 degrees of freedom.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n_folds,)
        Scores of A and B on the same folds.
    confidence_level : float, default=0.95
        Coverage of the interval of the mean difference.
    names : sequence of two str, default=("A", "B")
        Names for the sentence.

    Returns
    -------
    PairedTestResult
        ``effect`` is the mean difference.

    See Also
    --------
    corrected_t_test : The same with honest degrees of overlap. Prefer it.

    Notes
    -----
    Any two training sets of K-fold cross-validation share (K − 2)/(K − 1) of their samples, so
    the differences are not independent and the test is optimistic: it finds differences that are
    not there more often than its level says (docs/comparison.md has the measured rates). It is
    here because papers use it. The paper [1]_ prints S without its square root.

    References
    ----------
    .. [1] P. Rajamannar, G. V. Ramanan. Roweis-Saul classifier for machine learning,
       section 6.2.
    .. [2] T. G. Dietterich (1998). Neural Computation 10, 1895-1923, section 3.4.
       :doi:`10.1162/089976698300017197`

    Examples
    --------
    >>> from mercer.comparison import kfold_paired_t_test
    >>> result = kfold_paired_t_test([0.9, 0.8, 0.9, 0.8], [0.8, 0.8, 0.7, 0.7])
    >>> round(result.statistic, 4), result.df
    (2.4495, (3,))
    """
    return _paired_t(
        scores_a,
        scores_b,
        test="K-fold paired t test",
        overlap=0.0,
        caveat="; optimistic, the splits share training samples",
        confidence_level=confidence_level,
        names=names,
    )


def corrected_t_test(
    scores_a: npt.ArrayLike,
    scores_b: npt.ArrayLike,
    *,
    n_train: float,
    n_test: float,
    confidence_level: float = 0.95,
    names: Sequence[str] = ("A", "B"),
) -> PairedTestResult:
    r"""Paired t test of resampled scores, corrected for training sets that overlap.

    With :math:`p_i` the difference on split i of J, mean :math:`m` and variance :math:`S^2`,

    .. math:: t = \frac{m}{\sqrt{\left(\frac1J + \frac{n_{test}}{n_{train}}\right) S^2}}

    compared with Student's t of J − 1 degrees of freedom. The second term stands for the
    correlation of the splits, which the plain test takes to be nought.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n_splits,)
        Scores of A and B on the same splits: K-fold, repeated K-fold or random splits.
    n_train, n_test : float
        Number of training and of test samples in a split (the mean, where they vary).
    confidence_level : float, default=0.95
        Coverage of the interval of the mean difference.
    names : sequence of two str, default=("A", "B")
        Names for the sentence.

    Returns
    -------
    PairedTestResult
        ``effect`` is the mean difference.

    Notes
    -----
    The correction is a sound approximation, not a theorem: no unbiased estimate of the variance
    of cross-validation exists. It speaks of the learning methods at training size ``n_train``.

    Where the difference is the same on all J splits, t has no scale; the sign test takes its
    place, with p = 2/2ᴶ and no interval. Where all differences are zero, p = 1.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning
       52, 239-281. :doi:`10.1023/A:1024068626366`
    .. [2] R. R. Bouckaert, E. Frank (2004). Evaluating the replicability of significance tests
       for comparing learning algorithms. PAKDD, 3-12. :doi:`10.1007/978-3-540-24775-3_3`

    Examples
    --------
    >>> from mercer.comparison import corrected_t_test
    >>> a, b = [0.9, 0.8, 0.9, 0.8], [0.8, 0.8, 0.7, 0.7]
    >>> print(corrected_t_test(a, b, n_train=75, n_test=25))  # doctest: +NORMALIZE_WHITESPACE
    A scores 0.1 better than B on average over 4 splits (95 % interval -0.0985 to 0.298);
    that could be chance (p = 0.21)
    """
    if not (0 < n_train < inf and 0 < n_test < inf and n_test / n_train < inf):
        raise ValueError(
            "n_train and n_test must be positive and finite, and so must their ratio; got "
            f"n_train={n_train}, n_test={n_test}."
        )
    return _paired_t(
        scores_a,
        scores_b,
        test="corrected t test (Nadeau-Bengio)",
        overlap=n_test / n_train,
        confidence_level=confidence_level,
        names=names,
    )


def _paired_t(
    scores_a: npt.ArrayLike,
    scores_b: npt.ArrayLike,
    *,
    test: str,
    overlap: float,
    caveat: str = "",
    confidence_level: float,
    names: Sequence[str],
) -> PairedTestResult:
    """T test with variance (1/J + overlap)·S²; overlap is 0 in the plain test.

    Where S is 0 there is nothing to measure the mean by, and the signs are tested.
    """
    check_confidence_level(confidence_level)
    pair = check_names(names)
    a, b, exponent = check_scores(scores_a, scores_b)
    if a.ndim != 1 or len(a) < 2:
        raise ValueError(
            f"A paired t test needs one-dimensional arrays of at least two scores; got shape "
            f"{a.shape}."
        )
    differences: FloatArray = zero_if_noise(a - b, scale=largest(a, b))
    n_splits = len(differences)
    df: tuple[int, ...] = (n_splits - 1,)
    effect = mean_difference(a, b) if differences.any() else 0.0
    if has_no_spread(float(np.ptp(differences)), a, b):
        test, df, half = f"sign test (no spread for the {test})", (), np.nan
        statistic, pvalue = sign_test(differences)
        caveat = NO_SPREAD * bool(effect) + caveat
    else:
        error = float(np.sqrt((1 / n_splits + overlap) * differences.var(ddof=1)))
        statistic = effect / error
        pvalue = 2 * float(stats.t.sf(abs(statistic), *df))
        half = float(stats.t.ppf((1 + confidence_level) / 2, *df)) * error
    effect, low, high = in_scores([effect, effect - half, effect + half], exponent)
    interval = (low, high)
    return PairedTestResult(
        test=test,
        statistic=statistic,
        pvalue=pvalue,
        df=df,
        effect=effect,
        interval=interval,
        confidence_level=confidence_level,
        names=pair,
        favours=favoured(effect, pair),
        finding=f"{better_phrase(effect, pair)} on average over {n_splits} splits "
        f"({interval_phrase(interval, confidence_level, effect=effect)}{caveat})",
    )
