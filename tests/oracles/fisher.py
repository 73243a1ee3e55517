"""Kernel Fisher discriminants as the paper prints them: loops, inverses, refitting.

Y. Xu, J.-y. Yang, J. Yang (2004). A reformative kernel Fisher discriminant analysis. Pattern
Recognition 37, 1299-1302.
"""

import numpy as np


def within_matrix(K, y, scatter):
    """N of eq. (6) for the rows of K as candidates; scaled by class, by the total or not."""
    N = np.zeros((len(K), len(K)))
    for label in np.unique(y):
        Ki = K[:, y == label]
        size = Ki.shape[1]
        part = Ki @ (np.eye(size) - np.full((size, size), 1 / size)) @ Ki.T
        N += part / {"class": size, "total": len(y), "sum": 1}[scatter]
    return N


def class_means(K, y):
    """M₁ (the second label, scikit-learn's positive class) and M₂ of eq. (5)."""
    second, first = np.unique(y)[::-1]
    return K[:, y == second].mean(axis=1), K[:, y == first].mean(axis=1)


def two_class_alpha(K, y, mu, scatter):
    """α = (N + μI)⁻¹(M₁ − M₂), eq. (10)."""
    M1, M2 = class_means(K, y)
    N = within_matrix(K, y, scatter)
    return np.linalg.solve(N + mu * np.eye(len(N)), M1 - M2)


def criterion(K, y, alpha, mu, scatter):
    """J of eq. (11)."""
    M1, M2 = class_means(K, y)
    N = within_matrix(K, y, scatter)
    return (alpha @ (M1 - M2)) ** 2 / (alpha @ N @ alpha + mu * alpha @ alpha)


def select_nodes(K, y, mu, n_nodes, scatter):
    """The recursion of section 3.2, eqs (13)–(20), one candidate at a time.

    Returns the nodes in order and J after each.
    """
    n_rows = len(K)
    size = {label: np.sum(y == label) for label in np.unique(y)}
    weight = {c: {"class": 1 / m, "total": 1 / n_rows, "sum": 1.0}[scatter]
              for c, m in size.items()}  # fmt: skip
    second, first = np.unique(y)[::-1]
    nodes, path = [], []
    inverse = np.zeros((0, 0))
    difference = np.zeros(0)
    for _ in range(n_nodes):
        base = difference @ inverse @ difference
        best = None
        for x in range(n_rows):
            if x in nodes:
                continue
            a, b = K[x, y == second].mean(), K[x, y == first].mean()  # (13)
            gamma, u = mu, np.zeros(len(nodes))
            for label, m in size.items():
                centring = np.eye(m) - np.full((m, m), 1 / m)
                k_new = K[x, y == label]  # (14)
                gamma += weight[label] * k_new @ centring @ k_new  # (17)
                if nodes:
                    K_old = K[np.ix_(nodes, np.flatnonzero(y == label))]
                    u += weight[label] * K_old @ centring @ k_new  # (18)
            z = inverse @ u
            rho = gamma - u @ z
            J = base + (difference @ z - (a - b)) ** 2 / rho  # (20)
            if best is None or best[0] < J:
                best = (J, x, z, rho, a - b)
        J, x, z, rho, d = best
        inverse = np.block(
            [[inverse + np.outer(z, z) / rho, -z[:, None] / rho], [-z[None] / rho, 1 / rho]]
        )  # (19)
        difference = np.append(difference, d)
        nodes.append(x)
        path.append(J)
    return np.array(nodes), np.array(path)


def trace_criterion(K, y, nodes, ridge, scatter):
    """tr(Uᵀ(S + ridge)⁻¹U) over all classes, S within the classes or about the overall mean."""
    Z = K[nodes].T
    mean = Z.mean(axis=0)
    S, B = np.zeros((len(nodes), len(nodes))), np.zeros((len(nodes), len(nodes)))
    for label in np.unique(y):
        members = Z[y == label]
        d = members.mean(axis=0) - mean
        B += len(members) / len(y) * np.outer(d, d)
        centre = members.mean(axis=0) if scatter == "within" else mean
        S += (members - centre).T @ (members - centre) / len(y)
    return np.trace(np.linalg.solve(S + ridge, B))


def ridge_regression(K, targets, weights, alpha):
    """Return a and b of min Σ pᵢ‖Tᵢ − (Ka)ᵢ − b‖² + α aᵀKa by its normal equations."""
    n_rows = len(K)
    # Stationary: p(T − Ka − b) = αa, and the intercept is free: Σ a = 0.
    A = np.zeros((n_rows + 1, n_rows + 1))
    A[:n_rows, :n_rows] = K + alpha * np.diag(1 / weights)
    A[:n_rows, -1] = A[-1, :n_rows] = 1
    solution = np.linalg.solve(A, np.vstack([targets, np.zeros((1, targets.shape[1]))]))
    return solution[:-1], solution[-1]


def left_out_outputs(K, targets, weights, alpha):
    """Refit without each row in turn, everything else as it was; return its output there."""
    out = np.empty_like(targets)
    for i in range(len(K)):
        rest = np.flatnonzero(np.arange(len(K)) != i)
        a, b = ridge_regression(K[np.ix_(rest, rest)], targets[rest], weights[rest], alpha)
        out[i] = K[i, rest] @ a + b
    return out


def row_deleted_outputs(K, targets, weights, alpha):
    """Delete each row in turn from the regression on all kernels, its own too; penalty α aᵀa."""
    out = np.empty_like(targets)
    for i in range(len(K)):
        rest = np.flatnonzero(np.arange(len(K)) != i)
        p = weights[rest] / weights[rest].sum()
        mean, level = p @ K[rest], p @ targets[rest]
        D, T = K[rest] - mean, targets[rest] - level
        A = (D.T * weights[rest]) @ D + alpha * np.eye(len(K))
        a = np.linalg.solve(A, (D.T * weights[rest]) @ T)
        out[i] = (K[i] - mean) @ a + level
    return out


def total_variance(X):
    """σ² of section 4: the mean squared distance of the rows from their mean."""
    mean = sum(X) / len(X)
    return sum(((x - mean) ** 2).sum() for x in X) / len(X)


def select_until(K, y, mu, epsilon, scatter):
    """Section 3.2 with its stop rule: nodes are added until |J_s − J_{s−1}| < ε."""
    count = 1
    while True:
        nodes, path = select_nodes(K, y, mu, count, scatter)
        if count == len(K) or (count > 1 and abs(path[-1] - path[-2]) < epsilon):
            return nodes
        count += 1


def nearer_mean(K, y, alpha, K_new):
    """The class whose mean f, eq. (22) with its missing α, is nearer to f of a new row, eq. (21).

    K and K_new hold the kernels of the nodes (rows) with training rows and with new ones.
    """
    second, first = np.unique(y)[::-1]
    f1 = np.mean([alpha @ K[:, j] for j in np.flatnonzero(y == second)])
    f2 = np.mean([alpha @ K[:, j] for j in np.flatnonzero(y == first)])
    new = [alpha @ k for k in K_new.T]
    return np.array([second if abs(f - f1) < abs(f - f2) else first for f in new])
