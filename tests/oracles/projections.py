"""Graphs and projections as they are written down: loops, dense matrices, pseudo-inverses."""

import numpy as np
from scipy import linalg
from scipy.optimize import minimize
from sklearn.svm import SVC


def squared_distances(X, Y=None):
    Y = X if Y is None else Y
    return np.array([[((x - y) ** 2).sum() for y in Y] for x in X])


def knn_edges(X, k, y=None):
    """Directed edges (n, n) of booleans: k nearest others, of the same class where y is given."""
    D = squared_distances(X)
    E = np.zeros(D.shape, bool)
    for i in range(len(X)):
        others = [j for j in range(len(X)) if j != i and (y is None or y[j] == y[i])]
        others.sort(key=lambda j: D[i, j])
        E[i, others[:k]] = True
    return E


def heat_or_graph(X, k, width, weights=None):
    """Symmetric heat weights of the "or" graph; a row of weight two has its edges twice."""
    times = knn_edges(X, k) * (np.ones(len(X)) if weights is None else weights)[:, np.newaxis]
    return np.maximum(times, times.T) * np.exp(-squared_distances(X) / (2 * width**2))


def laplacian(W):
    return np.diag(W.sum(axis=1)) - W


def normalized_laplacian(W, weights=None):
    """The matrix of ½ Σ W_ij (f_i/√d_i − f_j/√d_j)², edge by edge; d is the degree of one copy."""
    n = len(W)
    degree = W.sum(axis=1) / (np.ones(n) if weights is None else weights)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if W[i, j] > 0:
                difference = np.zeros(n)
                difference[i], difference[j] = degree[i] ** -0.5, -(degree[j] ** -0.5)
                L += 0.5 * W[i, j] * np.outer(difference, difference)
    return L


def reconstruction(X, E, reg):
    """Weights of locally linear embedding, row by row, by the Lagrange conditions."""
    n = len(X)
    W = np.zeros((n, n))
    for i in range(n):
        neighbours = np.flatnonzero(E[i])
        k = len(neighbours)
        if k == 0:
            W[i, i] = 1
            continue
        Z = X[neighbours] - X[i]
        G = Z @ Z.T + reg * np.trace(Z @ Z.T) * np.eye(k)
        system = np.block([[G, -np.ones((k, 1))], [np.ones((1, k)), np.zeros((1, 1))]])
        W[i, neighbours] = np.linalg.solve(system, np.append(np.zeros(k), 1.0))[:k]
    return W


# Support vector machines --------------------------------------------------------------------


def hinge_duals(K, signs, C):
    """Signed duals of the hinge machine on a kernel matrix, with one price or one for each row.

    libsvm keeps kernels in single precision, so only its guess of what is bound is used; the rest
    is solved for, and the optimality conditions are asserted.
    """
    C = C * np.ones(len(signs))
    svc = SVC(kernel="precomputed", C=1.0, tol=1e-10).fit(K, signs, sample_weight=C)
    mu = np.zeros(len(signs))
    mu[svc.support_] = np.abs(svc.dual_coef_[0])
    c = np.where(mu > C * (1 - 1e-6), C * signs, 0.0)
    free = (mu > C * 1e-6) & (mu < C * (1 - 1e-6))
    k = free.sum()
    system = np.block(
        [[K[np.ix_(free, free)], np.ones((k, 1))], [np.ones((1, k)), np.zeros((1, 1))]]
    )
    right = np.append(signs[free] - (K @ c)[free], -c.sum())
    solution = np.linalg.lstsq(system, right, rcond=None)[0]
    c[free] = solution[:k]
    b = solution[k] if k else svc.intercept_[0]  # all bound: any b in an interval will do
    margin = signs * (K @ c + b)
    assert np.abs(margin[free] - 1).max(initial=0) < 1e-9
    assert margin[mu < C * 1e-6].min(initial=1) > 1 - 1e-9
    assert margin[mu > C * (1 - 1e-6)].max(initial=1) < 1 + 1e-9
    assert abs(c.sum()) < 1e-9 * C.max()
    return c


def squared_hinge_duals(K, signs, C):
    """The same for the squared hinge: the dual is a plain quadratic over the cone c·y ≥ 0."""
    Q = K + np.eye(len(K)) / (2 * C * np.ones(len(K)))

    # KKT by an active set: rows with c·y < 0 are let go until none is left.
    active = np.ones(len(signs), bool)
    for _ in range(1000):
        k = active.sum()
        system = np.block(
            [[Q[np.ix_(active, active)], np.ones((k, 1))], [np.ones((1, k)), np.zeros((1, 1))]]
        )
        solution = np.linalg.solve(system, np.append(signs[active], 0.0))
        c = np.zeros(len(signs))
        c[active] = solution[:k]
        margins = signs * (K @ c + solution[k])
        wrong = (active & (c * signs < -1e-12)) | (~active & (margins < 1 - 1e-12))
        if not wrong.any():
            return c
        active = active ^ wrong
    raise AssertionError("the active set cycles")


def squared_error_duals(K, signs, C):
    """The same for squared errors: f + b + c/2C = y and Σ c = 0, as one system."""
    n = len(K)
    Q, ones = K + np.diag(0.5 / (C * np.ones(n))), np.ones((n, 1))
    system = np.block([[Q, ones], [ones.T, np.zeros((1, 1))]])
    return np.linalg.solve(system, np.append(signs, 0.0))[:n]


DUALS = {
    "hinge": hinge_duals,
    "squared_hinge": squared_hinge_duals,
    "squared_error": squared_error_duals,
}


def smallest_objective(G, signs, C, power):
    """Least value of ½‖v‖² + C·Σ max(0, 1 − y(Gv + b))^power, by a general minimiser (power 2)."""

    def objective(p):
        error = np.maximum(0, 1 - signs * (G @ p[:-1] + p[-1]))
        return 0.5 * p[:-1] @ p[:-1] + C * (error**power).sum()

    return minimize(objective, np.zeros(G.shape[1] + 1), method="BFGS", tol=1e-10).fun


# Laplacian support vector analysis -----------------------------------------------------------


def lsva(X, problems, L, weight, C, loss="hinge"):
    """Algorithm 1: orthonormal columns (d, k), by d × d projections.

    `problems` are vectors of −1, 1 and 0 (no label), one per direction.
    """
    d = X.shape[1]
    P, W = np.eye(d), []
    for signs in problems:
        labelled = signs != 0
        A = np.eye(d) + weight * P @ X.T @ L @ X @ P  # (2)
        Y = X[labelled] @ P
        c = DUALS[loss](Y @ np.linalg.solve(A, Y.T), signs[labelled], C)  # (4), (7)
        w = np.linalg.solve(A, Y.T @ c)  # (5)
        w /= np.linalg.norm(w)
        W.append(w)
        P = P @ (np.eye(d) - np.outer(w, w))
    return np.column_stack(W)


def kernel_lsva(K, problems, L, weight, C, loss="hinge", new=None):
    """Algorithm 2 with the exact deflation: (Ã, Z, Z of new rows).

    M takes a pseudo-inverse of B.  α = B⁻¹Kc has many solutions after the first step, all with the
    same w; with B = K(I + λLK), the one taken cancels K.  `new` holds k(x, xᵢ) of new rows.
    """
    n = len(K)
    Kk, Kx = K.copy(), None if new is None else new.copy()
    duals, Z, Zx = [], [], []
    for signs in problems:
        labelled = signs != 0
        B = Kk @ (np.eye(n) + weight * L @ Kk)  # (15)
        inverse = linalg.pinv(B, rtol=1e-11)
        M = Kk @ inverse @ Kk  # (20)
        c = np.zeros(n)
        c[labelled] = DUALS[loss](M[np.ix_(labelled, labelled)], signs[labelled], C)
        alpha = np.linalg.solve(np.eye(n) + weight * L @ Kk, c)  # (18); see above
        alpha /= np.sqrt(alpha @ Kk @ alpha)  # (11)
        z = Kk @ alpha
        duals.append(alpha)
        Z.append(z)
        if new is not None:
            zx = Kx @ alpha
            Zx.append(zx)
            Kx = Kx - np.outer(zx, z)
        Kk = Kk - np.outer(z, z)
    return np.column_stack(duals), np.column_stack(Z), np.column_stack(Zx) if Zx else None


def laplacian_svm(K, signs, L, weight, C, loss, new):
    """Outputs at new rows, from all k(x, xᵢ) of theirs, up to the intercept.

    `signs` is −1, 1 or 0 (no label); C has a price for each row.
    """
    labelled = signs != 0
    solved = np.linalg.inv(np.eye(len(K)) + weight * L @ K)
    c = np.zeros(len(K))
    M = (K @ solved)[np.ix_(labelled, labelled)]
    c[labelled] = DUALS[loss]((M + M.T) / 2, signs[labelled], C[labelled])
    return new @ solved @ c


def laplacian_rls(K, signs, L, gamma_A, gamma_I):
    """Coefficients of Belkin et al. (2006), eq. (8): 0 is the sign of a row without a label."""
    n, labelled = len(K), int((signs != 0).sum())
    J = np.diag((signs != 0).astype(float))
    penalty = gamma_A * labelled * np.eye(n) + gamma_I * labelled / n**2 * L @ K
    return np.linalg.solve(J @ K + penalty, signs)


def one_versus_all(y, order):
    """Vectors of −1, 1, and 0 where y is −1, for a list of classes."""
    y = np.asarray(y)
    return [np.where(y == -1, 0.0, np.where(y == c, 1.0, -1.0)) for c in order]


def quadratic_map(X):
    """φ with ⟨φ(x), φ(y)⟩ = (x·y + 1)²."""
    n, d = X.shape
    columns = [np.ones(n)]
    columns += [np.sqrt(2) * X[:, i] for i in range(d)]
    columns += [X[:, i] ** 2 for i in range(d)]
    columns += [np.sqrt(2) * X[:, i] * X[:, j] for i in range(d) for j in range(i)]
    return np.column_stack(columns)


# Linear projections ---------------------------------------------------------------------------


def generalized(A, B, k):
    """Directions (d, k) of the smallest values of A against B, B-orthonormal."""
    return linalg.eigh(A, B)[1][:, :k]


def lpp(X, W, k):
    Xc = X - X.mean(axis=0)
    D = np.diag(W.sum(axis=1))
    return generalized(Xc.T @ (D - W) @ Xc, Xc.T @ D @ Xc, k)


def roweis_saul(X, W, k, unit_covariance=False):
    Xc = X - X.mean(axis=0)
    M = (np.eye(len(X)) - W).T @ (np.eye(len(X)) - W)
    return generalized(Xc.T @ M @ Xc, Xc.T @ Xc if unit_covariance else np.eye(X.shape[1]), k)


def within_scatter(X, y):
    S = np.zeros((X.shape[1], X.shape[1]))
    for c in np.unique(y):
        Z = X[y == c] - X[y == c].mean(axis=0)
        S += Z.T @ Z
    return S


def eigenmaps(X, k, width, n_components):
    """Eigenvectors of the "or" graph with loops, of unit weighted variance, and their values."""
    W = heat_or_graph(X, k, width)
    np.fill_diagonal(W, 1.0)
    D = W.sum(axis=1)
    values, vectors = linalg.eigh(np.diag(D) - W, np.diag(D))
    chosen = slice(1, n_components + 1)
    return vectors[:, chosen] * np.sqrt(D.sum()), values[chosen]


def align_signs(Z, target):
    """Flip columns of Z towards those of the target."""
    return Z * np.sign((Z * target).sum(axis=0))


def kernel_deflation(K, M, c, L, weight):
    """Take one step of the analysis in n × n matrices: (K, M, α̃, z) after the direction of c.

    With M the deflated kernel and c the dual coefficients of a direction,

        α̃ = (c − λL(Mc))/s,   s² = αᵀMc,   z = Mc/s,
        K ← K − zzᵀ,           M ← M − qqᵀ/(α̃ᵀq),   q = Mα̃.
    """
    output = M @ c
    alpha = c - weight * (L @ output)
    s = np.sqrt(alpha @ output)
    alpha, z = alpha / s, output / s
    q = M @ alpha
    return K - np.outer(z, z), M - np.outer(q, q) / (alpha @ q), alpha, z


def orthogonal_npe(X, W, n_components):
    """Directions of least error per variance, each orthogonal to those before: one at a time."""
    Xc = X - X.mean(axis=0)
    R = Xc - W @ Xc
    A, B = R.T @ R, Xc.T @ Xc
    V = np.zeros((X.shape[1], 0))
    for _ in range(n_components):
        Q = linalg.null_space(V.T) if V.shape[1] else np.eye(X.shape[1])
        u = linalg.eigh(Q.T @ A @ Q, Q.T @ B @ Q)[1][:, 0]
        V = np.column_stack([V, Q @ u / np.linalg.norm(Q @ u)])
    return V
