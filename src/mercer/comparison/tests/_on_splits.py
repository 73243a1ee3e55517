"""Tests of scores on the splits of one data set: paired t tests, and those of 5×2 halves.

Of the t tests prefer the corrected one; the plain one is here because papers use it.  The 5×2 tests
are Dietterich's t and Alpaydin's F.
"""

from collections.abc import Sequence
from math import inf

import numpy as np
import numpy.typing as npt
from scipy import stats

from mercer._arrays import FloatArray
from mercer.comparison.tests._pairs import (
    NO_SPREAD,
    PairedTestResult,
    better_phrase,
    check_confidence_level,
    check_names,
    check_scores,
    favoured,
    has_no_spread,
    in_scores,
    interval_phrase,
    largest,
    mean_difference,
    sign_test,
    zero_if_noise,
)


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
    return paired_t(
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
    A scores 0.1 better than B on average over 4 splits (95 % interval −0.0985 to 0.298);
    that could be chance (p = 0.21)
    """
    return paired_t(
        scores_a,
        scores_b,
        test="corrected t test (Nadeau-Bengio)",
        overlap=check_overlap(n_train, n_test),
        confidence_level=confidence_level,
        names=names,
    )


def check_overlap(n_train: float, n_test: float) -> float:
    """Return the ratio of test to training samples, which stands for how splits are correlated."""
    if not (0 < n_train < inf and 0 < n_test < inf and n_test / n_train < inf):
        raise ValueError(
            "n_train and n_test must be positive and finite, and so must their ratio; got "
            f"n_train={n_train}, n_test={n_test}."
        )
    return n_test / n_train


def paired_t(
    scores_a: npt.ArrayLike,
    scores_b: npt.ArrayLike,
    *,
    test: str,
    overlap: float,
    caveat: str = "",
    confidence_level: float,
    names: Sequence[str],
    what: str = "splits",
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
        finding=f"{better_phrase(effect, pair)} on average over {n_splits} {what} "
        f"({interval_phrase(interval, confidence_level, effect=effect)}{caveat})",
    )


def five_by_two_t_test(
    scores_a: npt.ArrayLike,
    scores_b: npt.ArrayLike,
    *,
    confidence_level: float = 0.95,
    names: Sequence[str] = ("A", "B"),
) -> PairedTestResult:
    r"""Run Dietterich's t test of five replications of two-fold cross-validation.

    With :math:`p_i^{(j)}` the difference of the scores on half j of replication i, and
    :math:`s_i^2 = (p_i^{(1)} - \bar p_i)^2 + (p_i^{(2)} - \bar p_i)^2`,

    .. math:: t = \frac{p_1^{(1)}}{\sqrt{\frac15 \sum_{i=1}^5 s_i^2}}

    is compared with Student's t of 5 degrees of freedom.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (5, 2) or (10,)
        Scores of A and B: a row per replication, a column per half. Ten scores in the order of
        ``RepeatedStratifiedKFold(n_splits=2, n_repeats=5)`` will do.
    confidence_level : float, default=0.95
        Coverage of the interval.
    names : sequence of two str, default=("A", "B")
        Names for the sentence.

    Returns
    -------
    PairedTestResult
        ``effect`` is :math:`p_1^{(1)}`, the only difference that the statistic weighs, and the
        interval holds the differences that the test would not reject.

    See Also
    --------
    five_by_two_f_test : Uses all ten differences; steadier and stronger.

    Notes
    -----
    Which half comes first is a matter of luck, and so is the answer: another order of the same
    scores gives another p-value. Where the two halves of every replication differ by the same,
    there is no scale, and the signs of the ten differences are tested instead. The classifiers are
    trained on half of the samples, so the test speaks of that size. The paper [1]_ prints a
    quotient for the sum in :math:`s_i^2`.

    References
    ----------
    .. [1] P. Rajamannar, G. V. Ramanan. Roweis-Saul classifier for machine learning,
       section 6.3, eq. (15).
    .. [2] T. G. Dietterich (1998). Neural Computation 10, 1895-1923, section 3.5.
       :doi:`10.1162/089976698300017197`

    Examples
    --------
    >>> from mercer.comparison import five_by_two_t_test
    >>> a = [[0.92, 0.88], [0.91, 0.90], [0.93, 0.89], [0.90, 0.90], [0.92, 0.91]]
    >>> b = [[0.90, 0.87], [0.90, 0.86], [0.90, 0.88], [0.88, 0.90], [0.91, 0.87]]
    >>> print(five_by_two_t_test(a, b))  # doctest: +NORMALIZE_WHITESPACE
    A scores 0.02 better than B on the first of ten halves (95 % interval −0.0222 to 0.0622);
    that could be chance (p = 0.28)
    """
    return _five_by_two(
        scores_a, scores_b, combined=False, confidence_level=confidence_level, names=names
    )


def five_by_two_f_test(
    scores_a: npt.ArrayLike,
    scores_b: npt.ArrayLike,
    *,
    confidence_level: float = 0.95,
    names: Sequence[str] = ("A", "B"),
) -> PairedTestResult:
    r"""Run Alpaydin's combined F test of five replications of two-fold cross-validation.

    With the notation of :func:`five_by_two_t_test`,

    .. math:: f = \frac{\sum_i \sum_j \bigl(p_i^{(j)}\bigr)^2}{2 \sum_i s_i^2}

    is compared with F of 10 and 5 degrees of freedom.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (5, 2) or (10,)
        Scores of A and B, as for :func:`five_by_two_t_test`.
    confidence_level : float, default=0.95
        Coverage of the interval.
    names : sequence of two str, default=("A", "B")
        Names for the sentence.

    Returns
    -------
    PairedTestResult
        ``effect`` is the mean of the ten differences, and the interval holds the differences that
        the test would not reject. Where it rejects every one, because the replications differ far
        more than their halves do, the interval is NaN; ``favours`` is then empty, unless all ten
        differences point one way.

    Notes
    -----
    The order of the scores does not matter. The ten differences are taken as independent, which
    they are nearly for stable learners; for unstable ones, such as nearest neighbours, the two
    halves of a replication move together and both 5×2 tests find too much (docs/comparison.md
    has the measured rates). Where the two halves of every replication differ by the same, there is
    no scale, and the signs of the ten differences are tested instead.

    References
    ----------
    .. [1] E. Alpaydin (1999). Combined 5×2 cv F test for comparing supervised classification
       learning algorithms. Neural Computation 11, 1885-1892. :doi:`10.1162/089976699300016007`

    Examples
    --------
    >>> from mercer.comparison import five_by_two_f_test
    >>> a = [[0.92, 0.88], [0.91, 0.90], [0.93, 0.89], [0.90, 0.90], [0.92, 0.91]]
    >>> b = [[0.90, 0.87], [0.90, 0.86], [0.90, 0.88], [0.88, 0.90], [0.91, 0.87]]
    >>> result = five_by_two_f_test(a, b)
    >>> round(result.statistic, 3), result.df, round(result.pvalue, 3)
    (1.963, (10, 5), 0.236)
    """
    return _five_by_two(
        scores_a, scores_b, combined=True, confidence_level=confidence_level, names=names
    )


def _five_by_two(
    scores_a: npt.ArrayLike,
    scores_b: npt.ArrayLike,
    *,
    combined: bool,
    confidence_level: float,
    names: Sequence[str],
) -> PairedTestResult:
    """Validate, compute the differences and their variances, and finish as t or as F."""
    check_confidence_level(confidence_level)
    pair = check_names(names)
    a, b, exponent = check_scores(scores_a, scores_b)
    if a.shape not in ((5, 2), (10,)):
        raise ValueError(
            "A 5×2 test needs five replications of two scores, shape (5, 2) or (10,); got shape "
            f"{a.shape}."
        )
    p = zero_if_noise(a - b, scale=largest(a, b)).reshape(5, 2)
    variances: FloatArray = ((p - p.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)  # s_i²
    no_spread = has_no_spread(float(np.abs(p[:, 0] - p[:, 1]).max()), a, b)
    goes_one_way = bool((p >= 0).all() or (p <= 0).all())
    remark = ""

    df: tuple[int, ...]
    if combined:
        test, df, where = "5×2 F test", (10, 5), "on average over ten halves"
        effect = mean_difference(a, b) if p.any() else 0.0
    else:
        test, df, where = "5×2 t test", (5,), "on the first of ten halves"
        effect = float(p.flat[0])
    favours = favoured(effect, pair)
    if no_spread:
        test, df, half = f"sign test (no spread for the {test})", (), np.nan
        statistic, pvalue = sign_test(p)
        favours = favoured(float(p.sum()), pair) if goes_one_way else ""
        remark = NO_SPREAD if p.any() else ""
    elif combined:
        statistic = f_statistic(float((p**2).sum()), variances)
        pvalue = float(stats.f.sf(statistic, *df))
        # δ is kept while Σ(p − δ)² ≤ 2F Σs², that is 10(p̄ − δ)² ≤ 2F Σs² − Σ(p − p̄)²
        bound = 2 * stats.f.ppf(confidence_level, *df) * variances.sum()
        room = float(bound - ((p - p.mean()) ** 2).sum())
        half = np.sqrt(room / 10) if room >= 0 else np.nan
        if room < 0:
            remark = ": no single difference fits all replications"
            favours = favours if goes_one_way else ""
    else:
        statistic = t_statistic(effect, variances)
        pvalue = 2 * float(stats.t.sf(abs(statistic), *df))
        half = stats.t.ppf((1 + confidence_level) / 2, *df) * np.sqrt(variances.mean())
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
        favours=favours,
        finding=f"{better_phrase(effect, pair)} {where} "
        f"({interval_phrase(interval, confidence_level, effect=effect)}{remark})",
    )


def t_statistic(first: float, variances: FloatArray) -> float:
    """T of eq. (15) from the first difference and the five variances s_i²."""
    return float(first / np.sqrt(variances.sum() / 5))


def f_statistic(sum_of_squares: float, variances: FloatArray) -> float:
    """F from the sum of the ten squared differences and the five variances s_i²."""
    return float(sum_of_squares / (2 * variances.sum()))
