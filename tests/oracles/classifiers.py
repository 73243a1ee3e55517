"""The classifiers as the papers write them: windows with their normalisers and whole matrices.

LC is the Laplacian classifier's paper, EQ the one on equivalences.  Extended precision has the
range that logarithms would need (down to 1e-4932), so that every formula stays as it is printed.
Weights of rows are repetitions: repeat the rows before calling.
"""

from functools import cached_property
from itertools import combinations

import numpy as np

LONG = np.longdouble


def windows(X, Y, width, kernel="gaussian"):
    """LC eq. (9): W_width(x, y) for all pairs, (n, m); other kernels are 1 at distance 0."""
    if kernel == "gaussian":
        return window_of(squared_distances(X, Y), width, np.shape(X)[1])
    X, Y = np.asarray(X).astype(LONG), np.asarray(Y).astype(LONG)
    city_block = np.stack([abs(x - Y).sum(axis=1) for x in X])
    r2 = squared_distances(X, Y) / LONG(width) ** 2
    return {
        "exponential": np.exp(-np.sqrt(r2)),
        "laplacian": np.exp(-city_block / LONG(width)),
        "cauchy": 1 / (1 + r2),
    }[kernel]


def mercer_width(h, kernel="gaussian"):
    """√2·h of EQ eq. (21); other kernels are summed as they are, EQ eq. (62)."""
    return np.sqrt(LONG(2)) * h if kernel == "gaussian" else h


def squared_distances(X, Y):
    X, Y = np.asarray(X).astype(LONG), np.asarray(Y).astype(LONG)
    return np.stack([((x - Y) ** 2).sum(axis=1) for x in X])


def window_of(d2, width, d):
    width = LONG(width)
    return np.exp(-d2 / (2 * width**2)) / (2 * LONG(np.pi) * width**2) ** (LONG(d) / 2)


class Sample:
    """Labelled rows and all their windows: of width h (Parzen's) and √2·h (Mercer's)."""

    def __init__(self, P, K, y, density="parzen", classes=None):
        self.P, self.K, self.y, self.density = P, K, np.asarray(y), density
        self.classes = np.unique(y) if classes is None else classes
        self.members = [np.flatnonzero(self.y == c) for c in self.classes]

    @classmethod
    def of(cls, X, y, h, density="parzen", kernel="gaussian"):
        K = windows(X, X, mercer_width(h, kernel), kernel)
        return cls(windows(X, X, h, kernel), K, y, density)

    @classmethod
    def in_logs(cls, X, y, h, density="parzen"):
        """Windows without their normalisers, for samples so wide that these leave the range."""
        d2 = squared_distances(X, X)
        return cls(np.exp(-d2 / (2 * LONG(h) ** 2)), np.exp(-d2 / (4 * LONG(h) ** 2)), y, density)

    def without(self, i):
        """The same sample without row i; its class stays in the list, empty or not."""
        kept = np.delete(np.arange(len(self.y)), i)
        P, K = self.P[np.ix_(kept, kept)], self.K[np.ix_(kept, kept)]
        return Sample(P, K, self.y[kept], self.density, self.classes)

    @cached_property
    def f(self):
        """LC eq. (8): f̂ at every row, the row itself included."""
        if self.density is None:
            return np.ones(len(self.y), LONG)
        return (self.P if self.density == "parzen" else self.K).sum(axis=1) / len(self.y)

    @cached_property
    def inner(self):
        """LC eqs. (11)–(12): ⟨m_i, m_j⟩ of the class means, nan for an empty class."""
        K_f = self.K / np.sqrt(np.outer(self.f, self.f))
        sums = [[K_f[np.ix_(a, b)].sum() for b in self.members] for a in self.members]
        sizes = np.array([len(a) for a in self.members])
        with np.errstate(invalid="ignore"):
            return np.array(sums, LONG) / np.outer(sizes, sizes)

    def cosines(self, P, K):
        """LC eq. (17), the windows of the last line of width √2·σ: (n, classes).

        P and K are the new points' windows with the rows.
        """
        out = np.full((len(K), len(self.classes)), -np.inf, LONG)
        f_x = self.density_at(P, K, own=None)
        norm_x = np.sqrt(self._peak / f_x)  # ‖Φ_f(x)‖
        for c, rows in enumerate(self.members):
            if len(rows):
                a = self.f[rows] ** -LONG(0.5)
                over = f_x ** -LONG(0.5) * (K[:, rows] @ a)
                under = a @ self.K[np.ix_(rows, rows)] @ a
                out[:, c] = over / (norm_x * np.sqrt(under))
        return out

    def gamma(self, K):
        """LC eqs. (18)–(19): (n, classes)."""
        out = np.zeros((len(K), len(self.classes)), LONG)
        for c, rows in enumerate(self.members):
            if len(rows):
                a = self.f[rows] ** -LONG(0.5)
                V = np.sqrt(a @ self.K[np.ix_(rows, rows)] @ a)
                out[:, c] = (K[:, rows] @ a) / V
        return out

    @property
    def _peak(self):
        """W_{√2σ}(x, x)."""
        return self.K[0, 0]

    def density_at(self, P, K, own):
        """f̂ at new points, with their own window of height `own` or without (None)."""
        if self.density is None:
            return np.ones(len(K), LONG)
        W = P if self.density == "parzen" else K
        return (W.sum(axis=1) + (0 if own is None else own)) / len(self.y)

    def information_cut(self):
        """LC eq. (15), without 1/κ; over classes that are there."""
        return cut(self.inner)

    def appended_cuts(self, P, K):
        """The multiway cut with x put in each class, f̂ at its training values: (n, classes).

        f̂(x) includes x's own window.
        """
        peak = (self.P if self.density == "parzen" else self.K)[0, 0]
        f_x = self.density_at(P, K, own=peak)
        sizes = np.array([len(a) for a in self.members])
        out = np.full((len(K), len(sizes)), np.inf, LONG)
        inner = self.inner
        a = self.f ** -LONG(0.5)
        for t in range(len(K)):
            phi = f_x[t] ** -LONG(0.5) * K[t] * a  # ⟨Φ_f(x), Φ_f(x_i)⟩
            to_means = np.array([phi[r].mean() if len(r) else np.nan for r in self.members])
            own = self._peak / f_x[t]
            for c, n in enumerate(sizes):
                if n == 0:
                    continue
                new = inner.copy()  # m'_c = (n m_c + Φ(x))/(n + 1)
                for j in range(len(sizes)):
                    new[c, j] = new[j, c] = (n * inner[c, j] + to_means[j]) / (n + 1)
                new[c, c] = (n**2 * inner[c, c] + 2 * n * to_means[c] + own) / (n + 1) ** 2
                out[t, c] = cut(new)
        return out

    def densities(self, P, priors=None):
        """LC eq. (20) with priors: π_c p̂(x|c); shares of the classes are the paper's."""
        out = np.zeros((len(P), len(self.classes)), LONG)
        for c, rows in enumerate(self.members):
            if len(rows):
                prior = len(rows) / LONG(len(self.y)) if priors is None else LONG(priors[c])
                out[:, c] = prior * P[:, rows].sum(axis=1) / len(rows)
        return out

    def distances(self, K):
        """EQ Fig. 2: ‖Φ(x) − m_c‖², (n, classes); infinite for an empty class."""
        assert self.density is None
        out = np.full((len(K), len(self.classes)), np.inf, LONG)
        for c, rows in enumerate(self.members):
            if len(rows):
                m2 = self.K[np.ix_(rows, rows)].mean()
                out[:, c] = self._peak - 2 * K[:, rows].mean(axis=1) + m2
        return out

    def plane_scores(self, K):
        """4(⟨Φ(x), m_c⟩ − ½‖m_c‖²)/τ², τ² = v(p − v)/p: v is the mean ‖m_c‖², p the peak."""
        here = [c for c, rows in enumerate(self.members) if len(rows)]
        p, v = self._peak, np.mean([self.inner[c, c] for c in here])
        return 2 * (p - self.distances(K)) * p / (v * (p - v))

    def appended_ise(self, K):
        """EQ eqs. (33)–(36): the sum of pairwise ISE of all classes with x in each: (n, classes).

        Also the sum without x.
        """
        assert self.density is None
        sizes = np.array([len(a) for a in self.members])
        inner, peak = self.inner, self._peak
        out = np.full((len(K), len(sizes)), -np.inf, LONG)
        for t in range(len(K)):
            to_means = np.array([K[t, r].mean() if len(r) else np.nan for r in self.members])
            for c, n in enumerate(sizes):
                if n == 0:
                    continue
                new = inner.copy()  # (35)
                for j in range(len(sizes)):
                    new[c, j] = new[j, c] = (n * inner[c, j] + to_means[j]) / (n + 1)
                new[c, c] = (n**2 * inner[c, c] + 2 * n * to_means[c] + peak) / (n + 1) ** 2
                out[t, c] = pairwise_ise(new)
        return out, pairwise_ise(inner)


def present(inner):
    return [i for i in range(len(inner)) if not np.isnan(inner[i, i])]


def cut(inner):
    """Sum of cosines over pairs of classes, LC eq. (15)."""
    pairs = combinations(present(inner), 2)
    cosines = (inner[i, j] / np.sqrt(inner[i, i] * inner[j, j]) for i, j in pairs)
    return sum(cosines, start=LONG(0))


def pairwise_ise(inner):
    """Sum of ‖m_i − m_j‖² over pairs of classes, EQ eq. (28)."""
    pairs = combinations(present(inner), 2)
    return sum((inner[i, i] - 2 * inner[i, j] + inner[j, j] for i, j in pairs), start=LONG(0))


def log(values):
    """Natural logarithms as float64; −inf of 0."""
    with np.errstate(divide="ignore"):
        return np.log(values).astype(np.float64)


def log_sum(logs):
    """log Σ exp over the last axis."""
    top = logs.max(axis=-1, keepdims=True)
    return top[..., 0] + np.log(np.exp(logs - top).sum(axis=-1))


def log_densities(log_P, y):
    """LC eq. (20) in logs, without the windows' normaliser: (n, classes)."""
    return np.stack([log_sum(log_P[:, y == c]) for c in np.unique(y)], axis=1)


def log_gamma(sample, log_K):
    """LC eq. (18) in logs: (n, classes)."""
    columns = []
    for rows in sample.members:
        a = sample.f[rows] ** -LONG(0.5)
        log_V = 0.5 * np.log(a @ sample.K[np.ix_(rows, rows)] @ a)
        columns.append(log_sum(log_K[:, rows] + np.log(a)) - log_V)
    return np.stack(columns, axis=1)


def feature_map(X, h, n_components, density="parzen"):
    """LC eq. (22) by a dense eigendecomposition: (coordinates, eigenvalues, eigenvectors)."""
    sample = Sample.of(X, np.zeros(len(X)), h, density)
    K_f = (sample.K / np.sqrt(np.outer(sample.f, sample.f))).astype(np.float64)
    values, vectors = np.linalg.eigh(K_f)
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    return np.sqrt(values) * vectors, values, vectors


def extended_map(X, new, h, n_components, density="parzen"):
    """Nyström's formula: z_m(x) = λ_m^(−1/2) Σ_l e_ml K_f(x, x_l), f̂ at x over the rows alone."""
    _, values, vectors = feature_map(X, h, n_components, density)
    sample = Sample.of(X, np.zeros(len(X)), h, density)
    P, K = windows(new, X, h), windows(new, X, np.sqrt(LONG(2)) * h)
    f_x = sample.density_at(P, K, own=None)
    return ((K / np.sqrt(np.outer(f_x, sample.f))) @ vectors / np.sqrt(values)).astype(np.float64)
