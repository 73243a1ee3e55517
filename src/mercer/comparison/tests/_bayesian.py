"""The Bayesian correlated t test: how probable it is that one of two is better by so much."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

from mercer._arrays import FloatArray
from mercer.comparison.tests._on_splits import check_overlap
from mercer.comparison.tests._pairs import (
    check_names,
    check_scores,
    has_no_spread,
    largest,
    mean_difference,
    zero_if_noise,
)
from mercer.comparison.tests._signed_rank import BayesianResult, check_rope


def bayesian_correlated_t_test(
    scores_a: npt.ArrayLike,
    scores_b: npt.ArrayLike,
    *,
    n_train: float,
    n_test: float,
    rope: float = 0.01,
    names: Sequence[str] = ("A", "B"),
) -> BayesianResult:
    r"""Return how probable it is that A is better, that the two are equivalent, and that B is.

    With :math:`m` and :math:`S^2` the mean and variance of the differences on J splits of one
    data set, the posterior of the mean difference is Student's t of J − 1 degrees of freedom,

    .. math::
        \delta \sim t_{J-1}\Bigl(m,\ \Bigl(\frac1J + \frac{n_{test}}{n_{train}}\Bigr) S^2\Bigr)

    under the prior that says nothing: what :func:`corrected_t_test` makes a p-value of [1]_. The
    three probabilities are those of :math:`\delta > r`, of :math:`|\delta| \le r` and of
    :math:`\delta < -r`.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n_splits,)
        Scores of A and B on the same splits, of which greater ones are better.
    n_train, n_test : float
        Number of training and of test samples in a split (the mean, where they vary).
    rope : float, default=0.01
        Half-width r of the region of practical equivalence, in units of the score. 0 leaves the
        region out.
    names : sequence of two str, default=("A", "B")
        Names for the sentence.

    Returns
    -------
    BayesianResult
        Probabilities that either is better, and that neither is.

    Notes
    -----
    Where all differences are zero the two are equivalent. Where all are the same and not zero there
    is no scale to judge by, and the probabilities are NaN.

    References
    ----------
    .. [1] A. Benavoli, G. Corani, J. Demšar, M. Zaffalon (2017). Time for a change: a tutorial for
       comparing multiple classifiers through Bayesian analysis. JMLR 18(77), 1-36, section 3.
       https://jmlr.org/papers/v18/16-305.html

    Examples
    --------
    >>> from mercer.comparison import bayesian_correlated_t_test
    >>> a = [0.91, 0.92, 0.90, 0.93, 0.91, 0.92, 0.90, 0.92, 0.93, 0.91]
    >>> b = [0.90, 0.90, 0.89, 0.90, 0.90, 0.90, 0.89, 0.91, 0.90, 0.90]
    >>> result = bayesian_correlated_t_test(a, b, n_train=90, n_test=10)
    >>> print(result)  # doctest: +NORMALIZE_WHITESPACE
    over 10 splits A is better with probability 0.92, the two are within 0.01 with probability
    0.08, B is better with probability 0.00
    """
    overlap = check_overlap(n_train, n_test)
    check_rope(rope)
    pair = check_names(names)
    a, b, exponent = check_scores(scores_a, scores_b)
    if a.ndim != 1 or len(a) < 2:
        raise ValueError(
            "The Bayesian t test needs one-dimensional arrays of at least two scores; got shape "
            f"{a.shape}."
        )
    differences: FloatArray = zero_if_noise(a - b, scale=largest(a, b))
    if not differences.any():
        p_a, p_rope, p_b = (0.0, 1.0, 0.0) if rope else (0.5, 0.0, 0.5)
    elif has_no_spread(float(np.ptp(differences)), a, b):
        p_a = p_rope = p_b = np.nan
    else:
        reach = float(np.ldexp(rope, -exponent))
        scale = float(np.sqrt((1 / len(a) + overlap) * differences.var(ddof=1)))
        posterior = stats.t(len(a) - 1, mean_difference(a, b), scale)
        p_a, p_b = float(posterior.sf(reach)), float(posterior.cdf(-reach))
        p_rope = float(posterior.cdf(reach) - posterior.cdf(-reach))
    return BayesianResult(
        p_a=p_a, p_rope=p_rope, p_b=p_b, rope=rope, n_scores=len(a), over="splits", names=pair
    )
