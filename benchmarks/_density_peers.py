"""Us and the peers that estimate densities: data in, the density at other points out.

A contender is a function of (X, Q, bandwidth, tol) that fits a Gaussian window of this width to the
rows of X and returns the density at the rows of Q, or its logarithm.  The rows of X are whitened,
so that everybody sums the same kernel, also those who scale it by the covariance of X.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

CENTRES, BLOCK = 5, 1 << 18


class Contender(NamedTuple):
    """How one is called, what computes it, and where it is asked."""

    compute: Callable
    most_columns: int = 1000
    is_log: bool = False
    own_width: bool = False  # An estimate of another kind, whose error means nothing here.


def mixture(n_rows, n_queries, n_columns):
    """Return rows of five Gaussians, whitened exactly, new ones for the queries, and Scott's width.

    The same for everybody who asks with the same numbers.
    """
    rng = np.random.default_rng((n_columns, n_rows))
    centres = 2 * rng.normal(size=(CENTRES, n_columns))
    scales = rng.uniform(0.3, 1.0, size=(CENTRES, n_columns))
    X, Q = (_draw(rng, n, centres, scales) for n in (n_rows, n_queries))
    middle = X.mean(axis=0)
    root = np.linalg.inv(np.linalg.cholesky(np.cov(X.T).reshape(n_columns, n_columns)))
    for A in (X, Q):  # in slabs, so that no third table is held
        for start in range(0, len(A), BLOCK):
            A[start : start + BLOCK] = (A[start : start + BLOCK] - middle) @ root.T
    return X, Q, float(n_rows ** (-1 / (n_columns + 4)))


def _draw(rng, n, centres, scales):
    A = rng.standard_normal((n, centres.shape[1]))
    for start in range(0, n, BLOCK):
        codes = rng.integers(0, len(centres), min(BLOCK, n - start))
        A[start : start + BLOCK] *= scales[codes]
        A[start : start + BLOCK] += centres[codes]
    return A


def checked_rows(Q, n_checked):
    """Return which queries are compared with the truth: random ones, and the farthest out."""
    far = np.argsort(np.einsum("ij,ij->i", Q, Q))[-(n_checked // 8) :]
    rest = np.random.default_rng(0).choice(len(Q), n_checked - len(far), replace=False)
    return np.unique(np.concatenate([far, rest]))


def literal_logs(X, Q, bandwidth):
    """Return log f(q) for each row of Q, by the definition: a log-sum-exp over all rows."""
    n, d = X.shape
    largest, total = np.full(len(Q), -np.inf), np.zeros(len(Q))
    for start in range(0, n, BLOCK):
        rows = X[start : start + BLOCK]
        for i, q in enumerate(Q):
            powers = -0.5 * (((rows - q) / bandwidth) ** 2).sum(axis=1)
            top = max(largest[i], powers.max())
            total[i] = total[i] * np.exp(largest[i] - top) + np.exp(powers - top).sum()
            largest[i] = top
    return largest + np.log(total) - np.log(n) - d * np.log(bandwidth * np.sqrt(2 * np.pi))


def _mercer(X, Q, bandwidth, tol):
    from mercer.density import KernelDensity

    return KernelDensity(bandwidth=bandwidth).fit(X).score_samples(Q)


def _mercer_within(X, Q, bandwidth, tol):
    from mercer.density import KernelDensity

    return KernelDensity(bandwidth=bandwidth, tol=tol).fit(X).score_samples(Q)


def _sklearn(X, Q, bandwidth, tol):
    from sklearn.neighbors import KernelDensity

    return KernelDensity(bandwidth=bandwidth).fit(X).score_samples(Q)


def _sklearn_within(X, Q, bandwidth, tol):
    from sklearn.neighbors import KernelDensity

    return KernelDensity(bandwidth=bandwidth, rtol=tol).fit(X).score_samples(Q)


def _scipy(X, Q, bandwidth, tol):
    from scipy.stats import gaussian_kde

    return gaussian_kde(X.T, bw_method=bandwidth)(Q.T)


def _kdepy_tree(X, Q, bandwidth, tol):
    from KDEpy import TreeKDE

    return TreeKDE(kernel="gaussian", bw=bandwidth).fit(X).evaluate(Q, eps=tol)


def _kdepy_fft(X, Q, bandwidth, tol):
    """The density on a grid of an eighth of the width, or as fine as memory bears; then lines."""
    from KDEpy import FFTKDE

    most = {1: 1 << 14, 2: 1 << 10, 3: 1 << 7}[X.shape[1]]
    axes = []
    for column in range(X.shape[1]):
        both = X[:, column], Q[:, column]
        low, high = min(map(np.min, both)), max(map(np.max, both))
        room = 5 * bandwidth
        size = int(min(most, np.ceil(8 * (high - low + 2 * room) / bandwidth)))
        axes.append(np.linspace(low - room, high + room, size))
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    found = FFTKDE(kernel="gaussian", bw=bandwidth).fit(X).evaluate(grid)
    return _on_lines(axes, found.reshape([len(axis) for axis in axes]), Q)


def _statsmodels(X, Q, bandwidth, tol):
    from statsmodels.nonparametric.kernel_density import KDEMultivariate

    d = X.shape[1]
    return KDEMultivariate(X, var_type="c" * d, bw=np.full(d, bandwidth)).pdf(Q)


def _statsmodels_fft(X, Q, bandwidth, tol):
    from statsmodels.nonparametric.kde import KDEUnivariate

    found = KDEUnivariate(X[:, 0])
    found.fit(kernel="gau", bw=bandwidth, fft=True, gridsize=1 << 14, cut=5)
    return _on_lines([found.support], found.density, Q)


def _fastkde(X, Q, bandwidth, tol):
    import fastkde

    found = fastkde.pdf(*X.T)
    axes = [found[name].values for name in found.dims]
    return _on_lines(axes[::-1], found.values.T, Q)  # Its last variable comes first.


def _figtree(X, Q, bandwidth, tol):
    """Its epsilon is relative to the sum of all weights, not to each sum."""
    from pyfigtree import figtree

    n, d = X.shape
    sums = figtree(X, Q, np.ones(n), bandwidth=bandwidth * 2**0.5, epsilon=tol)
    return np.asarray(sums).ravel() / n * np.exp(-d * np.log(bandwidth * np.sqrt(2 * np.pi)))


def _on_lines(axes, values, Q):
    from scipy.interpolate import RegularGridInterpolator

    return RegularGridInterpolator(axes, values, bounds_error=False, fill_value=0.0)(Q)


CONTENDERS = {
    "mercer": Contender(_mercer, is_log=True),
    "mercer, tol": Contender(_mercer_within, is_log=True),
    "scikit-learn": Contender(_sklearn, is_log=True),
    "scikit-learn, rtol": Contender(_sklearn_within, is_log=True),
    "SciPy": Contender(_scipy),
    "KDEpy tree, eps": Contender(_kdepy_tree),
    "KDEpy FFT": Contender(_kdepy_fft, most_columns=3),
    "statsmodels": Contender(_statsmodels),
    "statsmodels FFT": Contender(_statsmodels_fft, most_columns=1),
    "FIGTree, epsilon": Contender(_figtree),
    "fastKDE": Contender(_fastkde, most_columns=3, own_width=True),
}
