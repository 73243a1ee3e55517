"""Classes as least-squares targets: what makes Fisher's criterion a regression.

With row weights p that add up to one and class shares π, the C − 1 columns of targets have mean
zero, unit variance and no correlation, so that regression on them gives all discriminants:
with S_t the total scatter, α R the ridge and U the columns √π_c (m_c − m),

    (S_t + αR)⁻¹ U   and   (S_w + αR)⁻¹ U = (S_t + αR)⁻¹ U (I − Θ)⁻¹,   Θ = Uᵀ(S_t + αR)⁻¹U.
"""

from dataclasses import dataclass, replace

import numpy as np
from array_api_compat import array_namespace, is_numpy_array
from numpy.typing import NDArray

from mercer._arrays import Array, like, to_numpy
from mercer.samples import Sample

_LEAST = 1e-100  # The unexplained share of the targets is at least this.


@dataclass(frozen=True)
class Coding:
    """Rows and classes as weights and targets of the regression.

    Labels and weights are made and sampled as NumPy arrays; `like` puts them on the rows' device.

    Attributes
    ----------
    labels : ndarray of int of shape (n_rows,)
        Class of each row, 0 … C − 1.
    counts : ndarray of shape (n_rows,)
        Sample weights: how many rows each row stands for.
    removed : ndarray of shape (n_rows,)
        Share of a row's weight that leave-one-out takes away: 1, or 1/m for one of m copies.
    rule_weights : ndarray of shape (n_rows,)
        Weights in the threshold and in the leave-one-out score; they add up to one.
    weights : ndarray of shape (n_rows,)
        Weights p in the scatter; they add up to one.
    shares : ndarray of shape (C,)
        Weight of each class in the scatter.
    scores : ndarray of shape (C, C − 1)
        Targets of each class.
    scale : float
        The paper's N is this times the scatter under p.
    total : float
        What the weights of all rows added up to, before they were made to add up to one.
    """

    labels: Array
    counts: Array
    removed: Array
    rule_weights: Array
    weights: Array
    shares: Array
    scores: Array
    scale: float
    total: float

    @property
    def targets(self) -> Array:
        """Targets of each row, of shape (n_rows, C − 1)."""
        return array_namespace(self.scores).take(self.scores, self.labels, axis=0)

    @property
    def observations(self) -> Array:
        """Number of rows that leave-one-out counts each row as, of shape (n_rows,)."""
        return 1.0 / self.removed

    def like(self, X: Array) -> "Coding":
        """Return the coding as arrays of X's library, on X's device."""
        if is_numpy_array(X):
            return self
        xp = array_namespace(X)
        names = ("counts", "removed", "rule_weights", "weights", "shares", "scores")
        moved = {name: like(getattr(self, name), X, dtype=xp.float64) for name in names}
        return replace(self, labels=like(self.labels, X, dtype=xp.int64), **moved)

    def part(self, rows: NDArray[np.intp]) -> "Coding":
        """Return the coding of some rows with the weights that they have here."""
        return replace(
            self,
            labels=self.labels[rows],
            counts=self.counts[rows],
            removed=self.removed[rows],
            rule_weights=self.rule_weights[rows],
            weights=self.weights[rows],
        )

    def stands_for(self, in_class: Array) -> Array:
        """Return how many rows each one stands for where classes have these weights in all.

        Of a sample, in which classes have other shares, the mean row stands for one.
        """
        has = class_sums(self.labels, self.counts, len(in_class))
        if np.array_equal(has, in_class):
            return self.counts
        factor = np.divide(in_class, has, out=np.zeros_like(has), where=has > 0)
        each = self.counts * factor[self.labels]
        return each * (self.counts.sum() / each.sum())

    def take(self, rows: NDArray[np.intp]) -> "Coding":
        """Return the coding of a sample in which every class keeps its weight and targets."""
        return replace(
            self.part(rows),
            rule_weights=_rescale_classes(self.rule_weights, self.labels, rows),
            weights=_rescale_classes(self.weights, self.labels, rows),
        )


@dataclass(frozen=True)
class Discriminants:
    """Discriminants of a regression on the targets.

    Attributes
    ----------
    rotation : array of shape (C − 1, C − 1)
        Regression coefficients times this are the discriminants, strongest first.
    inverse : array of shape (C − 1, C − 1)
        The inverse of the rotation.
    eigenvalues : array of shape (C − 1,)
        The criterion J of each: between-class over regularised within-class scatter.
    """

    rotation: Array
    inverse: Array
    eigenvalues: Array


def encode(sample: Sample, class_weight: Array, scatter: str) -> Coding:
    """Return the coding of a sample."""
    return encode_rows(sample.codes, sample.weights, sample.unit, class_weight, scatter)


def encode_rows(
    labels: NDArray[np.intp],
    sample_weight: Array,
    leaving: Array,
    class_weight: Array,
    scatter: str,
) -> Coding:
    """Build the coding of positively weighted rows.

    Parameters
    ----------
    labels : ndarray of int of shape (n_rows,)
        Class of each row; every class has a row.
    sample_weight : ndarray of shape (n_rows,)
        Positive.
    leaving : ndarray of shape (n_rows,)
        What of each row's weight leave-one-out takes away.
    class_weight : ndarray of shape (C,)
        Factors on the rows of each class.
    scatter : {"class", "total", "sum"}
        Divide the scatter of each class by its own weight, the sum of all by the total weight, or
        do not divide.
    """
    n_classes = len(class_weight)
    rule = sample_weight * class_weight[labels]
    total = rule.sum()
    in_class = class_sums(labels, rule, n_classes)
    if scatter == "class":
        weights, scale = rule / in_class[labels] / n_classes, float(n_classes)
    else:
        weights, scale = rule / total, float(total) if scatter == "sum" else 1.0
    shares = class_sums(labels, weights, n_classes)
    scores = contrasts(shares)
    parts = (rule / total, weights, shares, scores, scale, float(total))
    return Coding(labels, sample_weight, leaving / sample_weight, *parts)


def weight_of_others(share: Array) -> Array:
    """Return 1 − share of the weight, at least eps: the rest beside nearly all is rounding."""
    xp = array_namespace(share)
    return xp.maximum(1.0 - share, np.finfo(float).eps)


def class_sums(labels: NDArray[np.intp], weights: Array, n_classes: int) -> Array:
    """Return the sum of the weights in each class."""
    return np.asarray(np.bincount(labels, weights=weights, minlength=n_classes), dtype=np.float64)


def contrasts(shares: Array) -> Array:
    """Return the (C, C − 1) targets: Σ_c π_c s_c = 0 and Σ_c π_c s_c s_cᵀ = I.

    With two classes the second has the positive target.  A class with share zero gets zeros.
    """
    root = np.sqrt(to_numpy(shares))
    normal = root.copy()
    normal[0] += 1.0
    mirror = np.eye(len(root)) - np.outer(normal, normal) / (1.0 + root[0])
    # The mirror sends √π to minus the first axis; its other columns are orthogonal to √π.
    columns = mirror[:, 1:]
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
    return like(columns * inverse[:, None], shares)


def rotate(unexplained: Array, shares: Array, scale: float) -> Discriminants:
    """Turn a regression on the targets into discriminants, scaled as the paper's α.

    Parameters
    ----------
    unexplained : array of shape (C − 1, C − 1)
        I − Θ: targetsᵀ · p · (targets − fit).
    shares : ndarray of shape (C,)
        Weight of each class.
    scale : float
        The paper's N over the normalised scatter.
    """
    small, shares = to_numpy(unexplained), to_numpy(shares)  # small enough for NumPy
    rest, vectors = np.linalg.eigh((small + small.T) / 2)  # ascending: strongest first
    rest = np.clip(rest, _LEAST, 1.0)
    eigenvalues = (1.0 - rest) / rest
    # Two classes: the paper's M = d dᵀ is the between-class scatter over π₁π₂, eq. (2).
    factor = 1.0 / np.prod(shares) if len(shares) == 2 else 1.0
    signs = np.where(vectors[np.argmax(np.abs(vectors), axis=0), range(len(rest))] < 0, -1.0, 1.0)
    lengths = signs * np.sqrt(factor) / (rest * scale)
    rotation, inverse = vectors * lengths, (vectors / lengths).T  # eq. (10)
    parts = (rotation, inverse, eigenvalues * factor / scale)
    return Discriminants(*(like(part, unexplained) for part in parts))


def _rescale_classes(weights: Array, labels: NDArray[np.intp], rows: NDArray[np.intp]) -> Array:
    """Return the weights of some rows, rescaled so that each class keeps its total weight."""
    had = np.bincount(labels, weights=weights)
    has = np.bincount(labels[rows], weights=weights[rows], minlength=len(had))
    factor = np.divide(had, has, out=np.ones_like(had), where=has > 0)
    return np.asarray(weights[rows] * factor[labels[rows]])
