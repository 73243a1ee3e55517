"""The Laplacian information cut of labelled samples, LC eqs. (8)-(15)."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace

from mercer._arrays import Array, itemsize
from mercer.bandwidth import resolve_bandwidth
from mercer.information._estimates import Weights, as_double, as_scalar, exp
from mercer.kernels import Kernel, get_kernel, overlap_width
from mercer.samples import check_labelled, home_of
from mercer.sums import log_kernel_sum

# By bytes of a number: the logarithm to which the largest weight of each class is scaled.
_LARGEST = {4: 20.0, 8: 600.0}
# float32 is not enough if the logarithms of the weights of a class span more than this.
_SINGLE_SPAN = 60.0


def laplacian_information_cut(
    X: Any,
    y: Any,
    *,
    bandwidth: Any,
    sample_weight: Any = None,
    kernel: str | Kernel = "gaussian",
    density: str | None = "parzen",
) -> Any:
    r"""Mean cosine between the means of classes, each row weighted by its rarity.

    A row x counts with :math:`\hat f(x)^{-1/2}`, f̂ being the Parzen estimate of all rows.  Where
    two classes are well separated, the cut follows the Bayes error, LC eqs. (2)-(6): it is between
    half and all of the error over :math:`\sqrt{P_1 P_2}`.  Minus its logarithm is the
    Cauchy–Schwarz divergence that the Laplacian classifier rests on.

    .. math:: \mathrm{LIC} = \frac{2}{C(C-1)} \sum_{i<j} \cos \angle(m_i, m_j), \qquad
       m_c = \frac{1}{N_c} \sum_{x \in c} \hat f(x)^{-1/2} \Phi(x)

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows of all classes: a NumPy array or what becomes one, or a torch tensor.
    y : array-like of shape (n,)
        The class of each row; two classes or more.
    bandwidth : float or str
        Width h of the Parzen windows (the paper's σ), or a rule of
        :func:`mercer.bandwidth.resolve_bandwidth` by its name.  Φ belongs to the kernel of
        width √2·h (the paper's σ̃) for Gaussian windows, and of width h for others.
    sample_weight : array-like of shape (n,), default=None
        How often each row counts.
    kernel : {"gaussian", "exponential", "laplacian", "cauchy"} or Kernel, default="gaussian"
        The window, a Mercer kernel.
    density : {"parzen", "mercer"} or None, default="parzen"
        Windows of f̂: of width h as printed in (8), or of the width that Φ's kernel has, as the
        row sums of a graph's affinities; None leaves f̂ out, which for two classes gives
        :func:`information_cut`.

    Returns
    -------
    float or torch scalar
        Between 0 (no overlap) and 1; a torch scalar for torch input, differentiable with respect
        to X.

    See Also
    --------
    log_laplacian_information_cut : Its logarithm, for distant classes.

    Notes
    -----
    Time is that of one and a half kernel sums over n² pairs, however many classes; memory O(n·C).

    f̂ is the estimate of LC eq. (8), with the row's own window.  LC eq. (17) prints
    W of width σ in its last line; it must be √2·σ, as in eq. (10).  LC says that the cut of
    separated classes is the Bayes error over :math:`\sqrt{P_1 P_2}`; it puts f ≈ P₁p₁ on one
    side of the boundary and P₂p₂ on the other, but the overlap lies at the boundary, where f is
    the sum of both.  For two Gaussians of one variance the ratio tends to π/4, not 1.

    References
    ----------
    .. [1] R. Jenssen, D. Erdogmus, J. C. Principe, T. Eltoft (2007). The Laplacian classifier.
       IEEE Transactions on Signal Processing 55, 3262-3271. Eqs. (8)-(15).
       :doi:`10.1109/TSP.2007.894391`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import laplacian_information_cut
    >>> X = np.array([[0.0], [1.0], [3.0], [4.0], [9.0]])
    >>> round(laplacian_information_cut(X, [0, 0, 1, 1, 2], bandwidth=1.0), 4)
    0.055
    """
    X, log_cosine = _log_mean_cosine(X, y, bandwidth, sample_weight, kernel, density)
    return as_scalar(exp(log_cosine), X)


def log_laplacian_information_cut(
    X: Any,
    y: Any,
    *,
    bandwidth: Any,
    sample_weight: Any = None,
    kernel: str | Kernel = "gaussian",
    density: str | None = "parzen",
) -> Any:
    """Return the natural logarithm of :func:`laplacian_information_cut`, never above 0.

    Minus this is the divergence of LC eqs. (1) and (14).

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows of all classes.
    y : array-like of shape (n,)
        The class of each row; two classes or more.
    bandwidth : float or str
        Width h of the Parzen windows, or a rule by its name.
    sample_weight : array-like of shape (n,), default=None
        How often each row counts.
    kernel : {"gaussian", "exponential", "laplacian", "cauchy"} or Kernel, default="gaussian"
        The window, a Mercer kernel.
    density : {"parzen", "mercer"} or None, default="parzen"
        Windows of f̂: of width h, or of the width that Φ's kernel has; None leaves f̂ out.

    Returns
    -------
    float or torch scalar
        The logarithm.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import log_laplacian_information_cut
    >>> X = np.array([[0.0], [1.0], [300.0], [400.0]])
    >>> round(log_laplacian_information_cut(X, [0, 0, 1, 1], bandwidth=1.0), 2)
    -22351.23
    """
    X, log_cosine = _log_mean_cosine(X, y, bandwidth, sample_weight, kernel, density)
    return as_scalar(log_cosine, X)


def _log_mean_cosine(
    X: Any, y: Any, bandwidth: Any, sample_weight: Any, kernel: Any, density: Any
) -> tuple[Array, Array]:
    """Return the checked rows of positive weight, and the logarithm of the cut."""
    kernel = get_kernel(kernel)
    kernel.require_mercer("The Laplacian information cut, a cosine,")
    if density not in ("parzen", "mercer", None):
        raise ValueError(f"density must be 'parzen', 'mercer' or None, got {density!r}.")
    X, classes, n_classes, weights = check_labelled(X, y, sample_weight)
    if n_classes < 2:
        raise ValueError(f"y must hold two classes or more, got {n_classes}.")
    h = resolve_bandwidth(bandwidth, X, weights, kernel=kernel)
    width = overlap_width(kernel, h, h)
    window = width if density == "mercer" else h
    log_weights = None if density is None else _log_rarity(X, weights, kernel, window)
    overlaps = _log_class_overlaps(X, classes, n_classes, weights, log_weights, kernel, width)
    return X, _log_mean_pairwise_cosine(overlaps)


def _log_rarity(X: Array, weights: Weights, kernel: Kernel, width: float) -> Array:
    """Return log f̂(x)^(−1/2) for each row, up to a constant that cancels in cosines."""
    sums = log_kernel_sum(
        X,
        weights=None if weights is None else home_of(X).like(weights, X),
        kernel=kernel,
        bandwidth=width,
    )
    return -as_double(sums) / 2  # LC eq. (8), the row's own window included


def _log_class_overlaps(
    X: Array,
    classes: Array,
    n_classes: int,
    weights: Weights,
    log_rarity: Array | None,
    kernel: Kernel,
    width: float,
) -> Array:
    """Return the C × C matrix of log N_i N_j ⟨m_i, m_j⟩; one pass over all pairs."""
    xp: Any = array_namespace(X)
    log_weights = log_rarity
    if weights is not None:
        counts = home_of(X).like(np.log(weights), X, dtype=xp.float64)
        log_weights = counts if log_rarity is None else counts + log_rarity
    if log_weights is not None:
        X, log_weights = _scale_class_weights(X, classes, n_classes, log_weights)
    rows = log_kernel_sum(
        X,
        weights=None if log_weights is None else xp.astype(exp(log_weights), X.dtype),
        groups=classes,
        kernel=kernel,
        bandwidth=width,
    )
    rows = as_double(rows)
    if log_weights is not None:
        rows = rows + log_weights[:, None]
    return home_of(rows).log_total(rows, classes, n_classes)


def _scale_class_weights(
    X: Array, classes: Any, n_classes: int, log_weights: Array
) -> tuple[Array, Array]:
    """Return rows in a precision that holds the weights, and log weights scaled class by class.

    A factor for each class does not change the cosines, and keeps every class from underflowing.
    """
    xp, home = array_namespace(X), home_of(X)
    tops = home.at_classes(home.class_maxima(classes, log_weights, n_classes), classes)
    if itemsize(X) == 4 and float((tops - home.as_numbers(log_weights)).max()) > _SINGLE_SPAN:
        X = xp.astype(X, xp.float64)
    return X, log_weights - home.like(tops - _LARGEST[itemsize(X)], log_weights)


def _log_mean_pairwise_cosine(overlaps: Array) -> Array:
    """Return the logarithm of LC eq. (15)."""
    xp: Any = array_namespace(overlaps)
    squares = xp.linalg.diagonal(overlaps)
    cosines = overlaps - (squares[:, None] + squares[None, :]) / 2  # N_i and N_j cancel
    first, second = np.triu_indices(overlaps.shape[0], k=1)
    pairs = xp.stack([cosines[int(i), int(j)] for i, j in zip(first, second, strict=True)])
    mean = home_of(pairs).log_total(pairs) - float(np.log(len(first)))
    return xp.where(mean > 0, xp.zeros_like(mean), mean)  # above 0 by rounding only
