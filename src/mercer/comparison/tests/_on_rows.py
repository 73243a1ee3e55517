"""The corrected test of paired rows: what cross-validation says of every row, averaged by row."""

from collections.abc import Sequence
from math import inf

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_consistent_length

from mercer.comparison.tests._on_splits import paired_t
from mercer.comparison.tests._pairs import PairedTestResult, check_scores


def corrected_rows_test(
    scores_a: npt.ArrayLike,
    scores_b: npt.ArrayLike,
    rows: npt.ArrayLike,
    *,
    n_train: float,
    confidence_level: float = 0.95,
    names: Sequence[str] = ("A", "B"),
) -> PairedTestResult:
    r"""Test two learning methods by their scores on the rows that cross-validation tested.

    A row that was tested in several repetitions has the mean of its differences,
    :math:`d_i`. With mean :math:`m` and variance :math:`S^2` over the n rows,

    .. math:: t = \frac{m}{\sqrt{\left(\frac1n + \frac{1}{n_{train}}\right) S^2}}

    is compared with Student's t of n − 1 degrees of freedom. It is the correction of Nadeau and
    Bengio for one test of every row: the second term stands for the correlation of rows that are
    predicted by models of shared training rows. Rows are many more than splits, so that their
    variance is known far better, and few rounds are enough.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n_predictions,)
        What A and B score by each prediction of a test row: 1 where it is right and 0 where not,
        or its log-likelihood; greater is better.
    rows : array-like of shape (n_predictions,)
        Which row each prediction is of. A row is tested once in each repetition of folds.
    n_train : float
        Number of training samples in a split (the mean, where they vary).
    confidence_level : float, default=0.95
        Coverage of the interval of the mean difference.
    names : sequence of two str, default=("A", "B")
        Names for the sentence.

    Returns
    -------
    PairedTestResult
        ``effect`` is the mean difference over rows.

    See Also
    --------
    corrected_t_test : The same correction for scores that are no means over rows.
    mcnemar_test : Without the correction, for classifiers that are fitted once.

    Notes
    -----
    The correction is a sound approximation, not a theorem. `docs/comparison.md` has its level and
    power beside those of other tests, in a simulation with known truth. Repetitions make the
    differences of rows steadier, but do not count as rows.

    Where all rows differ by the same, t has no scale; the sign test of rows takes its place.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning
       52, 239-281. :doi:`10.1023/A:1024068626366`

    Examples
    --------
    >>> from mercer.comparison import corrected_rows_test
    >>> right_a = [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1]
    >>> right_b = [1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1]
    >>> result = corrected_rows_test(right_a, right_b, range(12), n_train=9)
    >>> print(result)  # doctest: +NORMALIZE_WHITESPACE
    A scores 0.417 better than B on average over 12 rows (95 % interval −0.0831 to 0.916); that
    could be chance (p = 0.094)
    """
    if not 0 < n_train < inf:
        raise ValueError(f"n_train must be positive and finite; got {n_train}.")
    a, b, exponent = check_scores(scores_a, scores_b)
    check_consistent_length(a, np.asarray(rows))
    of_row = np.unique(np.asarray(rows), return_inverse=True)[1]
    times = np.bincount(of_row)
    return paired_t(
        np.ldexp(np.bincount(of_row, weights=a) / times, exponent),
        np.ldexp(np.bincount(of_row, weights=b) / times, exponent),
        test="corrected test of rows",
        overlap=1 / n_train,
        confidence_level=confidence_level,
        names=names,
        what="rows",
    )
