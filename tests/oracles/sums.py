"""Kernel sums as they are written down, in extended precision, with the whole matrix."""

import numpy as np

LOG_PROFILES = {
    "gaussian": lambda d2, b: -d2 / (2 * b * b),
    "exponential": lambda d2, b: -np.sqrt(d2) / b,
    "laplacian": lambda d2, b: -np.sqrt(d2) / b,  # of city-block distances
    "epanechnikov": lambda d2, b: np.log(np.maximum(1 - d2 / (b * b), 0)),
    "cauchy": lambda d2, b: -np.log1p(d2 / (b * b)),
}


def squared_distances(X, Y, kernel="gaussian"):
    """All ‖x − y‖² in extended precision, or (Σ|xₖ − yₖ|)²; row by row to bound memory."""
    X, Y = np.asarray(X).astype(np.longdouble), np.asarray(Y).astype(np.longdouble)
    if kernel == "laplacian":
        return np.stack([np.abs(x - Y).sum(axis=1) ** 2 for x in X])
    return np.stack([((x - Y) ** 2).sum(axis=1) for x in X])


def log_kernel_sum(X, Y=None, *, weights=None, groups=None, kernel="gaussian", bandwidth,
                   exclude_self=False):  # fmt: skip
    """log Σⱼ wⱼ k(xᵢ, yⱼ) for one bandwidth; (n,), (n, c) or (n, G)."""
    logs = _log_kernel(X, Y, kernel, bandwidth, exclude_self)
    W = _weight_columns(logs.shape[1], weights, groups)
    with np.errstate(divide="ignore"):
        terms = logs[:, :, None] + np.log(W)[None]
    top = terms.max(axis=1, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        out = top[:, 0] + np.log(np.exp(terms - top).sum(axis=1))
    return out[:, 0] if groups is None and np.ndim(weights) < 2 else out


def kernel_sum(X, Y=None, *, weights=None, groups=None, kernel="gaussian", bandwidth,
               exclude_self=False):  # fmt: skip
    """Σⱼ wⱼ k(xᵢ, yⱼ) for one bandwidth; (n,), (n, c) or (n, G)."""
    K = np.exp(_log_kernel(X, Y, kernel, bandwidth, exclude_self))
    out = K @ _weight_columns(K.shape[1], weights, groups)
    return out[:, 0] if groups is None and np.ndim(weights) < 2 else out


def _log_kernel(X, Y, kernel, bandwidth, exclude_self):
    with np.errstate(divide="ignore"):
        d2 = squared_distances(X, X if Y is None else Y, kernel)
        logs = LOG_PROFILES[kernel](d2, np.longdouble(bandwidth))
    if exclude_self:
        np.fill_diagonal(logs, -np.inf)
    return logs


def _weight_columns(m, weights, groups):
    w = np.ones(m) if weights is None else np.asarray(weights)
    w = w.astype(np.longdouble)
    if groups is None:
        return w.reshape(m, -1)
    W = np.zeros((m, max(groups) + 1), np.longdouble)
    W[np.arange(m), groups] = w
    return W
