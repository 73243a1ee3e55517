"""Factorisations of matrices of any scale and rank, judged by what they leave over.

Eigenvectors and factors of an ill-conditioned matrix are not determined, their equations are: a
result is right if it solves a problem within some n·eps of the one that was posed (backward error),
at every scale from 1e-150 to 1e150. Scaling a matrix by a power of two must change nothing but
the scale.
"""

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from mercer.spectral import (
    LandmarkMap,
    decompose_features,
    decompose_kernel,
    fix_signs,
    generalized_eigh,
    greedy_selection,
    partial_cholesky,
    pivoted_cholesky,
    principal_axes,
    rotate_ties,
    sparse_eigh,
    stratified_rows,
    whiten,
)
from torture.cases import Refusal, agree, answered, labels, law, points

EPS = np.finfo(float).eps
ROWS = points(n=(1, 10), d=(1, 2, 4, 12), scale=75)  # their Gram matrices reach 1e±150
wide = np.longdouble


def gram(points):
    """Return rows, and their exact enough Gram matrix."""
    X = points.rows()
    G = X @ X.T
    return X, (G + G.T) / 2


def size(M):
    return float(np.abs(np.asarray(M, wide)).max(initial=0))


def close(out, expected, scale, factor=64.0):
    """Assert that matrices agree to rounding of numbers of this size."""
    agree(out, expected, atol=factor * EPS * max(out.shape, default=1) * scale)


@law(3_000, points=ROWS, which=st.sampled_from(["smallest", "largest"]), k=st.integers(1, 12),
     ridge=st.sampled_from([None, 0.0, 1e-9, 1.0]))  # fmt: skip
def test_eigenpairs(points, which, k, ridge):
    X = points.rows()
    A = X.T @ X
    B = (
        None
        if ridge is None
        else np.cov(X, rowvar=False, bias=True).reshape(A.shape)
        + (np.eye(points.d) * size(A) * (0 if ridge == 0 else 1e-6))
    )
    out = answered(
        generalized_eigh, A, B, n_components=k, which=which, ridge=ridge or 0.0,
        names=("constraint",),
    )  # fmt: skip
    if isinstance(out, Refusal):
        assert ridge is not None, out
        assert np.linalg.cond(B + 1e-300) > 1e8 or size(B) == 0
        return out
    values, V = out
    m = min(k, points.d)
    assert values.shape == (m,)
    assert V.shape == (points.d, m)
    assert np.isfinite(values).all()
    assert np.isfinite(V).all()
    order = np.diff(values) if which == "smallest" else -np.diff(values)
    assert (order >= -64 * EPS * points.d * size(values)).all()
    if B is None:
        close(V.T @ V, np.eye(m), 1.0)
        close(A @ V, V * values, size(A))
    elif np.linalg.cond(B) < 1e6:
        rho = (ridge or 0) * np.trace(B) / points.d
        B = B + rho * np.eye(points.d)
        loose = 64 * EPS * points.d * np.linalg.cond(B)
        agree(V.T @ B @ V, np.eye(m), atol=loose)
        agree(A @ V, B @ V * values, atol=loose * (size(A) + size(B) * size(values)) * size(V))
    return out


@law(3_000, points=ROWS)
def test_pivoted_cholesky(points):
    _, K = gram(points)
    if points.seed % 7 == 3:
        K = K - 2 * np.diag(np.diag(K))  # indefinite
    out = answered(pivoted_cholesky, K, names=("kernel matrix",))
    if isinstance(out, Refusal):
        assert points.seed % 7 == 3 or not np.diag(K).any(), out
        return out
    assert out.shape[1] <= points.n
    close(out @ out.T, K, size(K))
    return out


@law(2_000, points=ROWS, m=st.integers(1, 12))
def test_partial_cholesky(points, m):
    _, K = gram(points)
    out = answered(
        partial_cholesky, K.diagonal(), lambda i: K[:, i], m, np.random.default_rng(0),
        names=("kernel matrix",),
    )  # fmt: skip
    if isinstance(out, Refusal):
        assert not K.any(), out
        return out
    F, pivots = out
    assert np.isfinite(F).all()
    assert len(set(pivots)) == len(pivots) <= m
    # Small pivots amplify rounding, up to the share 1e-11 at which the drawing stops.
    agree((F @ F.T)[pivots], K[pivots], atol=1e-4 * size(K))
    left = K.diagonal() - (F**2).sum(axis=1)
    assert (left >= -1e-4 * size(K)).all()
    return F


@law(2_000, points=ROWS, k=st.sampled_from([None, 1, 3, 0.5, 0.99]))
def test_principal_axes(points, k):
    X = points.rows()
    X = X - X.mean(axis=0)
    U, lengths, axes = principal_axes(X, k)
    r = len(lengths)
    assert U.shape == (points.n, r)
    assert axes.shape == (r, points.d)
    assert np.isfinite(U).all()
    close(axes @ axes.T, np.eye(r), 1.0)
    assert (np.diff(lengths) <= 0).all()
    if k is None:
        close((U * lengths) @ axes, X, size(X))
    return U


@law(3_000, points=ROWS, alpha=st.sampled_from([1e-12, 1e-3, 1.0, 1e12]), features=st.booleans())
def test_ridge_bases(points, alpha, features):
    X, K = gram(points)
    n = points.n
    rng = np.random.default_rng(points.seed)
    p = rng.uniform(0.1, 1, size=n)
    p /= p.sum()
    T = rng.normal(size=(n, 2))
    T = T - p @ T
    basis = answered(
        decompose_features if features else decompose_kernel, X if features else K, p,
        names=("kernel matrix",),
    )  # fmt: skip
    assert not isinstance(basis, Refusal), basis
    unit = size(K) or 1.0
    coefficients = basis.coefficients(T, alpha * unit)
    assert np.isfinite(coefficients).all()
    rows = (X if features else K).astype(wide)
    f = rows @ coefficients
    f = f - p @ f
    # The gradient in the coefficients: Σ pᵢ xᵢ (fᵢ − Tᵢ) + α c = 0, about the weighted mean.
    centred = rows - p @ rows
    c = coefficients.astype(wide)
    penalty = alpha * unit * (c if features else K @ c)
    gradient = centred.T @ (p[:, None] * (f - T)) + penalty
    # What rounding leaves: of A + α, whose size is that of the rows squared, times the solution.
    top = size(rows) * (size(rows) * float(np.abs(c).sum()) + size(T)) + size(penalty)
    # Directions below 1e-7 of the longest are taken for rounding, and left out.
    lost = 1e-7 * size(rows) * size(T)
    agree(gradient, np.zeros_like(gradient), atol=n * (1e-12 * top + lost) + 1e-300)
    left, complements = basis.residuals(T, np.array([alpha * unit]))
    agree(left[0], T - f, atol=1e-6 + 1e-13 * n * size(rows) * float(np.abs(c).sum()))
    assert ((complements > -1e-12) & (complements < 1 + 1e-12)).all()
    return basis


@law(2_000, points=ROWS, steps=st.integers(1, 12))
def test_greedy_selection(points, steps):
    X, G = gram(points)
    G = G + np.eye(points.n) * (1e-6 * size(G) or 1.0)
    U = X[:, :2]
    path = greedy_selection(lambda j: G[:, j], G.diagonal(), U, steps)
    assert len(set(path.order.tolist())) == len(path.order) <= steps
    unit = (size(U) ** 2 / size(G)) or 1.0
    for i in range(len(path.order)):
        s = path.order[: i + 1]
        exact = np.trace(U[s].T @ np.linalg.solve(G[np.ix_(s, s)], U[s]))
        agree(path.criterion[i], exact, atol=1e-6 * max(unit, abs(exact)))
    return path


@law(1_500, points=ROWS, weight=st.sampled_from([0.0, 1e-6, 1.0, 1e6]))
def test_whitening_and_deflation(points, weight):
    X = points.rows()
    F = X / (size(X) or 1.0)
    L = np.diag(np.arange(points.n, dtype=float)) / max(points.n, 1)
    S = F.T @ L @ F
    w = whiten(F, S, weight)
    A = np.eye(points.d) + weight * S
    close(w.R.T @ A @ w.R, np.eye(points.d), np.linalg.cond(A))
    close(w.G, F @ w.R, max(size(F), 1.0))
    v = np.ones(points.d)
    direction, _ = w.direction(v, np.zeros((points.d, 0)))
    w.deflate(direction)
    agree(np.linalg.norm(direction), 1.0, rtol=1e-12)
    agree(w.R.T @ direction, np.zeros(points.d), atol=1e-10)
    return w


@law(1_500, points=ROWS, k=st.integers(1, 6))
def test_signs_ties_and_sparse_pairs(points, k):
    X, G = gram(points)
    V = fix_signs(X)
    assert (np.abs(V) == np.abs(X)).all()
    assert (V[np.abs(V).argmax(axis=0), np.arange(points.d)] >= 0).all()
    S = G / (np.abs(G).sum(axis=1).max() or 1.0)
    values, vectors = sparse_eigh(csr_array(S), min(k, points.n))
    close(S @ vectors, vectors * values, 1.0)
    zeros = np.zeros(points.n)
    mixed = rotate_ties(zeros, np.eye(points.n), S, tol=0.0)
    close(mixed.T @ mixed, np.eye(points.n), 1.0)
    off = mixed.T @ S @ mixed
    close(off - np.diag(np.diag(off)), np.zeros_like(S), 1.0)
    return values


@law(1_500, points=points(n=(1, 30), d=(2,), scale=75), size_=st.integers(1, 30),
     power=st.sampled_from([0.0, 0.5, 1.0]), n_classes=st.integers(1, 6))  # fmt: skip
def test_landmarks(points, size_, power, n_classes):
    groups = labels("lonely" if points.seed % 2 else "mixed", points.n, n_classes, points.seed)
    rows = stratified_rows(groups, size_, power, np.random.RandomState(0))
    assert (np.diff(rows) > 0).all()
    if size_ >= points.n:
        assert len(rows) == points.n
    elif size_ >= len(set(groups)):
        assert len(rows) == size_
        assert set(groups[rows]) == set(groups)
    _X, K = gram(points)
    out = answered(LandmarkMap, K[np.ix_(rows, rows)], names=("kernel matrix",))
    if isinstance(out, Refusal):
        assert size(K[np.ix_(rows, rows)]) == 0, out
        return out
    Phi = out.features(K[np.ix_(rows, rows)])
    assert np.isfinite(Phi).all()
    agree(Phi @ Phi.T, K[np.ix_(rows, rows)], atol=1e-2 * size(K))
    return out
