"""The regression on the first s nodes for every s at once: nested Cholesky factors.

With S_t the covariance of the node kernels, R the penalty (K_ss or I), U the class means as
targets and S_t + λR = LLᵀ, the fit on the first s nodes uses the leading block of L, so

    z = L⁻¹ k(x),  q = L⁻¹U:   f_s(x) = Σ_{j ≤ s} z_j q_j,   Θ_s = Σ_{j ≤ s} q_j q_jᵀ.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from mercer._arrays import like, to_numpy
from mercer._linalg import add_to_diagonal, cholesky, eigh, solve_triangular
from mercer.discriminants._coding import contrasts
from mercer.discriminants._gaussian import Rule, rule_from_moments
from mercer.discriminants._moments import Moments

Array = Any  # A float64 array of NumPy, or of torch on any device.

# Before a matrix is factored, 1e-4 times this share of its diagonal is added, and ten times more
# after each failure.
_JITTER = 1e-10
# The threshold follows from the residuals of a fit up to this mean leverage of a row; beyond, they
# are rounding.
MOST_LEVERAGE = 0.99


@dataclass(frozen=True)
class NodePath:
    """The fits on the first 1, 2, …, S nodes.

    Attributes
    ----------
    factor : ndarray of shape (S, S)
        Lower triangular L.
    q : ndarray of shape (S, C − 1)
        L⁻¹U.
    freedom : ndarray of shape (S,)
        Degrees of freedom of each fit: 1 + s − λ tr P_s, with P = L⁻¹ R L⁻ᵀ.
    roughness : ndarray of shape (S, C − 1)
        A such that the penalty of the outputs of a fit, q_sᵀ P_s q_s, is A_sᵀq_s + q_sᵀA_s.
    alpha : float
        λ.
    mean : ndarray of shape (S,)
        Overall mean of the node kernels.
    scores : ndarray of shape (C, C − 1)
        Targets of the classes.
    shares : ndarray of shape (C,)
        Weights of the classes.
    count : float
        Number of rows.
    flattery : float
        How many times larger the errors of left-out rows are than the mean leverage tells.
    of_fitted : bool
        Whether thresholds follow from the outputs of fitted rows as they are.
    """

    factor: Array
    q: Array
    freedom: Array
    roughness: Array
    alpha: float
    mean: Array
    scores: Array
    shares: Array
    count: float
    flattery: float = 1.0
    of_fitted: bool = False

    def __len__(self) -> int:
        return int(self.q.shape[0])

    def head(self, n_nodes: int) -> "NodePath":
        """Return the fits on the first 1, 2, …, n_nodes nodes."""
        return replace(
            self,
            factor=self.factor[:n_nodes, :n_nodes],
            q=self.q[:n_nodes],
            freedom=self.freedom[:n_nodes],
            roughness=self.roughness[:n_nodes, :],
            mean=self.mean[:n_nodes],
        )

    def coefficients(self, n_nodes: int) -> Array:
        """Return the regression coefficients on the first nodes, (n_nodes, C − 1)."""
        block = self.factor[:n_nodes, :n_nodes]
        return solve_triangular(block, self.q[:n_nodes, :], lower=True, transposed=True)

    def explained(self, n_nodes: int) -> Array:
        """Return Θ of the fit on the first nodes, (C − 1, C − 1)."""
        q = self.q[:n_nodes, :]
        return q.T @ q

    def leverage(self, n_nodes: int) -> float:
        """Return the leverage that tells the errors of left-out rows from those of the fit.

        It is degrees of freedom over rows, unless all rows said how much that flatters.
        """
        left = 1.0 - min(float(self.freedom[n_nodes - 1]) / self.count, MOST_LEVERAGE)
        return min(1.0 - left / self.flattery, MOST_LEVERAGE)

    def with_leverage(self, leverage: float) -> "NodePath":
        """Return the path whose fit on all nodes has this leverage."""
        return replace(self, flattery=(1.0 - self.leverage(len(self))) / (1.0 - leverage))

    def rule(self, n_nodes: int, log_priors: Array) -> Rule:
        """Return the threshold on the outputs of the fit on the first nodes.

        Class means of the outputs, and their variances along the discriminants, follow from the
        moments.  They are corrected by the leverage h, because the rows were fitted, as in
        generalised cross-validation: T − f₋ᵢ ≈ (T − f)/(1 − h); or not at all, as in eq. (22) of
        the paper.
        """
        # These are a few numbers for each class, for which NumPy is quick enough.
        h = 0.0 if self.of_fitted else self.leverage(n_nodes)
        theta, axes = np.linalg.eigh(to_numpy(self.explained(n_nodes)))
        penalty = to_numpy(self.q[:n_nodes, :].T @ self.roughness[:n_nodes, :])
        # Along an axis, WᵀS_tW − Σ π_c M_cᵀM_c, where class c has the mean output M_c = s_c Θ
        within = theta - 2.0 * self.alpha * np.sum(axes * (penalty @ axes), axis=0) - theta**2
        kept = (axes * np.maximum(theta - h, 0.0)) @ axes.T / (1.0 - h)
        means = to_numpy(self.scores) @ kept
        return rule_from_moments(means, axes, within / (1.0 - h) ** 2, to_numpy(log_priors))

    def latent(self, K: Array) -> Array:
        """Return z of rows with these node kernels (n_rows, S), about the mean."""
        return solve_triangular(self.factor, (K - self.mean).T, lower=True).T


def solve_path(moments: Moments, R: Array, alpha: float) -> NodePath:
    """Factor the problem for one ridge; the nodes are in the order of their selection."""
    scores = contrasts(moments.shares)
    U = (moments.class_means.T * moments.shares) @ scores
    A = moments.total_scatter() + alpha * R
    factor = _cholesky(A)
    xp = array_namespace(A)
    q = solve_triangular(factor, U, lower=True)
    half = solve_triangular(factor, R, lower=True)
    P = solve_triangular(factor, half.T, lower=True)
    sizes = xp.arange(1, q.shape[0] + 1, dtype=xp.float64, device=device(q))
    freedom = 1.0 + sizes - alpha * xp.cumulative_sum(xp.linalg.diagonal(P))
    # Half of what node i adds to qᵀPq: all of its terms with the nodes before it, half of its own.
    roughness = xp.tril(P, k=-1) @ q + xp.linalg.diagonal(P)[:, None] / 2 * q
    settings = (alpha, moments.mean, scores, moments.shares, moments.count)
    return NodePath(factor, q, freedom, roughness, *settings)


def gcv_path(moments: Moments, R: Array, alphas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the generalised cross-validation error of every ridge.

    One eigendecomposition in the metric R serves all: with eigenvalues τ and the targets'
    coordinates g, the residual is Σ (1 − g²(τ + 2λ)/(τ + λ)²) and the degrees of freedom are
    1 + Σ τ/(τ + λ).
    """
    scores = contrasts(moments.shares)
    U = (moments.class_means.T * moments.shares) @ scores
    xp = array_namespace(U)
    root = _cholesky(R)
    half = solve_triangular(root, moments.total_scatter(), lower=True)
    values, vectors = eigh(solve_triangular(root, half.T, lower=True))
    values = xp.maximum(values, 0.0)
    g = vectors.T @ solve_triangular(root, U, lower=True)
    energy = xp.vecdot(g, g)
    lam = like(alphas, values)[:, None]
    whole = moments.shares @ xp.sum(scores**2, axis=1)
    explained = (values + 2 * lam) / (values + lam) * energy / (values + lam)
    residual = whole - xp.sum(explained, axis=1)
    freedom = 1.0 + xp.sum(values / (values + lam), axis=1)
    left = xp.maximum(1.0 - freedom / moments.count, 1e-3)
    return to_numpy(xp.maximum(residual, 0.0) / left**2)


def _cholesky(A: Array) -> Array:
    """Factor a positive matrix that rounding may have made singular."""
    xp = array_namespace(A)
    diagonal = xp.linalg.diagonal(A)
    diagonal = xp.where(diagonal > 0, diagonal, 1.0)  # a node whose kernel is 0 everywhere
    jitter = _JITTER * 1e-4
    while jitter < 1e-3:
        factor = cholesky(add_to_diagonal(A, jitter * diagonal), lower=True)
        if factor is not None:
            return factor
        jitter *= 10.0
    raise ValueError(
        "The kernel matrix of the nodes is not positive semi-definite: take a Mercer kernel, or "
        "penalty='coef'."
    )
