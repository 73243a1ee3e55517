"""The classifiers' formulas as printed, in exact arithmetic: mpmath with 60 digits.

Its exponents have no bounds, so that no window underflows and no formula needs a logarithm. Rows
of weight ω are ω repetitions. LC is the Laplacian classifier's paper, EQ the one on equivalences.
"""

import mpmath
import numpy as np

_MP = mpmath.mp.clone()
_MP.dps = 60
mpf = _MP.mpf


class Exact:
    """Rows as whole numbers in units of 2^−k: whatever is added or multiplied is exact."""

    def __init__(self, *tables):
        ratios = [[float(a).as_integer_ratio() for a in np.ravel(A)] for A in tables]
        common = max(below for part in ratios for _, below in part)
        self.unit = mpf(1) / common
        self.tables = [
            np.array([above * (common // below) for above, below in part], object).reshape(A.shape)
            for part, A in zip(ratios, tables, strict=True)
        ]

    def kernels(self, a, b, width):
        """W(x, y) of LC eq. (9) without its normaliser, which is common to all."""
        X, Y = self.tables[a], self.tables[b]
        factor = -((self.unit / width) ** 2) / 2
        d2 = ((X[:, None, :] - Y) ** 2).sum(axis=2)
        return [[_MP.exp(factor * int(entry)) for entry in row] for row in d2]


class Classes:
    """Training rows with classes 0 … C − 1 and weights, and new rows."""

    def __init__(self, X, y, weights, new, h):
        self.rows = Exact(np.asarray(X), np.asarray(new))
        self.weights = [mpf(float(w)) for w in weights]
        self.members = [np.flatnonzero(np.asarray(y) == c) for c in np.unique(y)]
        self.counts = [sum(self.weights[i] for i in rows) for rows in self.members]
        self.h = mpf(float(h))
        self.mercer = _MP.sqrt(2) * self.h

    def among(self):
        """Return the kernels of width √2·h of the rows with each other."""
        return self.rows.kernels(0, 0, self.mercer)

    def at_new(self, width=None):
        """Return the kernels of the new rows with the rows."""
        return self.rows.kernels(1, 0, self.mercer if width is None else width)

    def parzen(self):
        """LC eq. (20): π_c p̂(x|c) with the classes' shares as priors."""
        K = self.at_new(self.h)
        return [[sum(self.weights[i] * k[i] for i in rows) for rows in self.members] for k in K]

    def cosine(self, density="parzen"):
        """LC eqs (16)–(19): γ_c(x)."""
        among = self.among()
        beta = self._beta(among, density)
        V = [
            _MP.sqrt(sum(beta[i] * among[i][j] * beta[j] for i in rows for j in rows))
            for rows in self.members
        ]
        K = self.at_new()
        return [
            [sum(beta[i] * k[i] for i in rows) / v for rows, v in zip(self.members, V, strict=True)]
            for k in K
        ]

    def appended_cuts(self):
        """LC eq. (15): the multiway cut with x put in each class, f̂ as it was; and without x.

        f̂(x) includes x's own window.
        """
        among = self.among()
        beta, C = self._beta(among, "parzen"), range(len(self.members))
        inner = [
            [
                sum(
                    beta[i] * among[i][j] * beta[j]
                    for i in self.members[a]
                    for j in self.members[b]
                )
                for b in C
            ]
            for a in C
        ]
        out = []
        for k in self.at_new():
            f = 1 + sum(w * k[i] ** 2 for i, w in enumerate(self.weights))
            own = 1 / _MP.sqrt(f)
            sums = [sum(beta[i] * k[i] for i in rows) * own for rows in self.members]
            cuts = []
            for c in C:
                new = [row[:] for row in inner]
                for j in C:
                    new[c][j] = new[j][c] = inner[c][j] + sums[j]
                new[c][c] = inner[c][c] + 2 * sums[c] + own**2
                cuts.append(_cut(new))
            out.append(cuts)
        return out, _cut(inner)

    def plane(self):
        """EQ eqs (39)–(42): ⟨Φ(x), m_c⟩ − ½‖m_c‖²."""
        inner, to_means = self._means()
        return [[sums[c] - inner[c][c] / 2 for c in range(len(self.members))] for sums in to_means]

    def appended_ise(self):
        """EQ eqs (33)–(36): by how much the sum of pairwise ISE grows with x in each class."""
        C, (inner, sums) = range(len(self.members)), self._means()
        before = _pairwise_ise(inner)
        out = []
        for to_means in sums:
            gains = []
            for c in C:
                n = self.counts[c]
                new = [row[:] for row in inner]
                for j in C:
                    new[c][j] = new[j][c] = (n * inner[c][j] + to_means[j]) / (n + 1)
                new[c][c] = (n**2 * inner[c][c] + 2 * n * to_means[c] + 1) / (n + 1) ** 2
                gains.append(_pairwise_ise(new) - before)
            out.append(gains)
        return out

    def _means(self):
        """⟨m_a, m_b⟩ of all classes, and ⟨Φ(x), m_c⟩ of the new rows."""
        C = range(len(self.members))
        shares = [None] * len(self.weights)
        for rows, n in zip(self.members, self.counts, strict=True):
            for i in rows:
                shares[i] = self.weights[i] / n
        among = self.among()
        inner = [
            [
                sum(
                    shares[i] * among[i][j] * shares[j]
                    for i in self.members[a]
                    for j in self.members[b]
                )
                for b in C
            ]
            for a in C
        ]
        sums = [
            [sum(shares[i] * k[i] for i in rows) for rows in self.members] for k in self.at_new()
        ]
        return inner, sums

    def angles(self):
        """LC eq. (16) without a kernel: cosines to the class means; what the means lose.

        The second is how much larger the terms of a mean are than the mean itself.
        """
        weights = Exact(np.array([float(w) for w in self.weights]))
        X, new = self.rows.tables
        w = weights.tables[0]
        sums = [(w[rows, None] * X[rows]).sum(axis=0) for rows in self.members]
        sizes = [(w[rows, None] * abs(X[rows])).sum(axis=0) for rows in self.members]
        lengths = [_length(s) for s in sums]
        cosines = [
            [
                mpf(int((x * m).sum())) / (_length(x) * v) if v and x.any() else mpf(0)
                for m, v in zip(sums, lengths, strict=True)
            ]
            for x in new
        ]
        # A mean that vanishes, of rows that do not, has no direction: rounding gives it any.
        lost = [
            float(_length(a) / v) if v else float("inf") if any(a) else 0.0
            for a, v in zip(sizes, lengths, strict=True)
        ]
        return cosines, lost

    def _beta(self, among, density):
        """Weights ω f̂^(−1/2) of LC eq. (13), f̂ of windows of width h: the squared kernel."""
        power = 2 if density == "parzen" else 1
        f = [
            sum(w * among[i][j] ** power for j, w in enumerate(self.weights))
            for i in range(len(self.weights))
        ]
        if density is None:
            f = [mpf(1)] * len(self.weights)
        return [w / _MP.sqrt(value) for w, value in zip(self.weights, f, strict=True)]


def log(value):
    """Natural logarithm as a float; −inf of 0."""
    return float(_MP.log(value)) if value > 0 else -np.inf


def _length(v):
    return _MP.sqrt(int((v * v).sum()))


def _cut(inner):
    C = range(len(inner))
    pairs = ((a, b) for a in C for b in C if a < b)
    return sum(inner[a][b] / _MP.sqrt(inner[a][a] * inner[b][b]) for a, b in pairs)


def _pairwise_ise(inner):
    C = range(len(inner))
    return sum(inner[a][a] - 2 * inner[a][b] + inner[b][b] for a in C for b in C if a < b)


def fisher_scores(X, y, new, gamma, alpha):
    """Scores of the kernel Fisher discriminant of two classes 0 and 1, by solving and refitting.

    The regression of docs/discriminants.md with p = 1/(2·N_c) and targets −1 and 1, once with all
    rows and once without each; then Gaussians of one variance about the class means.  A row leaves
    with its copies, unless rows of both classes lie at its place.
    """
    rows = Exact(np.asarray(X), np.asarray(new))
    width = 1 / _MP.sqrt(2 * mpf(gamma))
    K, at_new = rows.kernels(0, 0, width), rows.kernels(1, 0, width)
    n, sizes = len(y), np.bincount(y)
    p = [mpf(1) / (2 * int(sizes[c])) for c in y]
    targets = [mpf(2 * int(c) - 1) for c in y]
    ridge = mpf(alpha) / 2
    a, b = _regress(K, range(n), p, targets, ridge)
    fitted = [sum(k * v for k, v in zip(row, a, strict=True)) + b for row in K]
    outputs = []
    for i in range(n):
        there = [j for j in range(n) if np.array_equal(X[j], X[i])]
        gone = there if len({int(y[j]) for j in there}) == 1 else [i]
        rest = [j for j in range(n) if j not in gone]
        c, level = _regress(K, rest, p, targets, ridge)
        left_out = sum(K[i][j] * v for j, v in zip(rest, c, strict=True)) + level
        share = sum(p[j] for j in gone)
        outputs.append(left_out + share / (1 - share) * targets[i])
    means = []
    for c in (0, 1):
        members = [i for i in range(n) if y[i] == c]
        direction = sum(fitted[i] for i in members) / len(members)
        mean = sum(outputs[i] for i in members) / len(members)
        along = mean / direction if direction else mpf(0)
        means.append(min(max(along, mpf(0)), mpf(1)) * direction)
    variance = sum((f - means[c]) ** 2 for f, c in zip(outputs, y, strict=True)) / n
    variance = max(variance, mpf(1e-6))
    at = [sum(k * v for k, v in zip(row, a, strict=True)) + b for row in at_new]
    return [
        [
            _MP.log(mpf(int(s)) / n) + (f * m - m**2 / 2) / variance
            for m, s in zip(means, sizes, strict=True)
        ]
        for f in at
    ]


def _regress(K, rows, p, targets, ridge):
    """Return a and b of min Σ pᵢ(Tᵢ − (Ka)ᵢ − b)² + ridge·aᵀKa."""
    m = len(rows)
    A, right = _MP.zeros(m + 1), _MP.zeros(m + 1, 1)
    for s, i in enumerate(rows):
        for t, j in enumerate(rows):
            A[s, t] = K[i][j]
        A[s, s] += ridge / p[i]
        A[s, m] = A[m, s] = 1
        right[s] = targets[i]
    solution = _MP.lu_solve(A, right)
    return [solution[i] for i in range(m)], solution[m]
