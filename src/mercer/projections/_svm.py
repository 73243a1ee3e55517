"""Binary machines with a free intercept, of three losses, solved to many digits.

Rows are given by coordinates G (n × r), where the penalty is ½‖v‖².  Every solver returns signed
dual coefficients c, with v = Gᵀc, and the intercept b.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.svm import SVC

from mercer._arrays import FloatArray
from mercer.projections._interior import interior_point

Loss = Literal["hinge", "squared_hinge", "squared_error"]

_LARGEST_LIBSVM = 5000  # With more rows than this, libsvm's kernel matrix would be too large.
_SMALL = 5e6  # With n·r² below this, the interior-point method takes milliseconds.
_SCREENED = 5000  # With more rows than this, rows far from the margin are left out at first.
_NEAR = 1.5  # Rows up to this margin are not left out.
# Interior points cannot resolve smaller prices of rows, relative to the largest or 1.
_LIGHTEST = 1e-9
_MAX_NEWTON = 100
_SLACK = 1e-6  # the tolerance of margins and, times C, of duals


def solve_each(
    G: FloatArray, signs: FloatArray, *, C: FloatArray, loss: Loss, tol: float
) -> tuple[FloatArray, FloatArray]:
    """Return duals, n × k, and intercepts of k machines on the same rows: signs is n × k."""
    if loss == "squared_error" and G.shape[1] > 0:
        _, b, c = _minimum_on(G, signs, C)  # one factor for all
        return c, b
    M = G @ G.T if loss == "hinge" and uses_libsvm(*G.shape) else None
    solved = [solve_svm(G, one, C=C, loss=loss, M=M, tol=tol) for one in signs.T]
    return np.column_stack([c for c, _ in solved]), np.array([b for _, b in solved])


def solve_svm(
    G: FloatArray,
    signs: FloatArray,
    *,
    C: float | FloatArray,
    loss: Loss,
    M: FloatArray | None,
    tol: float,
) -> tuple[FloatArray, float]:
    """Return signed duals c and intercept b of ½‖v‖² + Σ C·loss(1 − y(g·v + b)).

    The loss of e is max(0, e), max(0, e)² or e².  C is the price of an error, of all rows or of
    each.  M is GGᵀ where the caller has it, and `tol` is for libsvm.
    """
    C = np.full(len(signs), C, dtype=np.float64)
    if G.shape[1] == 0:  # All rows are the same, so that the heavier class is the answer.
        return np.zeros(len(signs)), 1.0 if signs @ (C / C.max()) > 0 else -1.0
    if loss == "squared_error":
        _, b, c = _minimum_on(G, signs, C)
        return c, float(b)
    if loss == "squared_hinge":
        return _squared_hinge(G, signs, C)
    if uses_libsvm(*G.shape):
        mu, b = _libsvm(G @ G.T if M is None else M, signs, C, tol)
        side = np.where(mu <= 0, -1, np.where(mu >= C, 1, 0)).astype(np.int8)
    else:
        # Rows of a tiny price get a larger one here, as only their bound is wanted.
        clear = np.maximum(C, _LIGHTEST * min(1.0, C.max()))
        mu, b, side = (_screened if len(G) > _SCREENED else interior_point)(G, signs, clear)
        mu = np.minimum(mu, C)
    return _polish(G, signs, C, mu, b, side)


def uses_libsvm(n: int, r: int) -> bool:
    """Tell whether libsvm solves the hinge: with many coordinates, and not too many rows.

    With few coordinates classes overlap, and libsvm may take minutes at large C; with many they
    come apart, and it takes milliseconds.  Small problems are as quick by either.
    """
    return 4 * r > n and n <= _LARGEST_LIBSVM and n * r * r > _SMALL


def _libsvm(
    M: FloatArray, signs: FloatArray, C: FloatArray, tol: float
) -> tuple[FloatArray, float]:
    svc = SVC(kernel="precomputed", C=1.0, tol=tol).fit(M, signs, sample_weight=C)
    mu = np.zeros(len(signs))
    mu[svc.support_] = np.abs(svc.dual_coef_[0])
    return mu, float(svc.intercept_[0])


def _screened(
    G: FloatArray, signs: FloatArray, C: FloatArray
) -> tuple[FloatArray, float, NDArray[np.int8]]:
    """Solve by interior points on the rows near the margin, and check the others.

    The squared hinge, which is quicker, tells about where the margin will be.  Rows well beyond it
    have no dual; if one turns out to be within the margin, it is added and all is solved again.
    """
    c, b = _squared_hinge(G, signs, C)
    near = signs * (G @ (G.T @ c) + b) < _NEAR
    while True:
        if len(np.unique(signs[near])) < 2:
            near[:] = True
        some, b, sides = interior_point(G[near], signs[near], C[near])
        outside = signs * (G @ (G[near].T @ (signs[near] * some)) + b) < 1.0
        if not (outside & ~near).any():
            break
        near |= outside
    mu, side = np.zeros(len(signs)), np.full(len(signs), -1, dtype=np.int8)
    mu[near], side[near] = some, sides
    return mu, b, side


def _polish(
    G: FloatArray,
    signs: FloatArray,
    C: FloatArray,
    mu: FloatArray,
    b: float,
    side: NDArray[np.int8],
) -> tuple[FloatArray, float]:
    """Solve the optimality conditions exactly for the free duals, if the bounds allow it.

    A solver's answer is right to its tolerance; which duals are free (`side` 0) is a discrete
    question, and once that is right the rest is one linear system.
    """
    free = np.flatnonzero(side == 0)
    fixed = signs * np.where(side > 0, C, 0.0)
    E, k = G[free], len(free)
    system = np.ones((k + 1, k + 1))
    system[:k, :k] = E @ E.T
    system[k, k] = 0.0
    right = np.append(signs[free] - E @ (G.T @ fixed), -fixed.sum())
    solution, *_ = linalg.lstsq(system, right, lapack_driver="gelsy", check_finite=False)
    exact, intercept = fixed.copy(), float(solution[k]) if k else b
    exact[free] = solution[:k]
    margin = signs * (G @ (G.T @ exact) + intercept)
    duals = signs * exact
    is_optimal = (
        np.all((duals > -_SLACK * C) & (duals < (1 + _SLACK) * C))
        and np.all(margin[side < 0] > 1 - _SLACK)
        and np.all(margin[side > 0] < 1 + _SLACK)
        and np.all(np.abs(margin[free] - 1) < _SLACK)
        and abs(exact.sum()) < _SLACK * C.max()
    )
    return (exact, intercept) if is_optimal else (signs * mu, b)


def _squared_hinge(G: FloatArray, signs: FloatArray, C: FloatArray) -> tuple[FloatArray, float]:
    """Minimise ½‖v‖² + Σ C·max(0, 1 − y(g·v + b))² by Newton's method; the last step is exact.

    For a given set of rows that err, the objective is quadratic; its minimum is one linear
    system, in the rows that err or in the coordinates, whichever are fewer (Chapelle 2007).
    """
    v, b = np.zeros(G.shape[1]), 0.0
    erring = np.ones(len(signs), dtype=bool)
    for _ in range(_MAX_NEWTON):
        new_v, new_b, _ = _minimum_on(G[erring], signs[erring], C[erring])
        length = _line_search(G, signs, C, (v, b), (new_v - v, new_b - b))
        v, b = v + length * (new_v - v), b + length * (new_b - b)
        still = signs * (G @ v + b) < 1
        if length == 1.0 and np.array_equal(still, erring):
            break
        if not still.any():  # No row errs, so that only v = 0 could be better, which it is not.
            break
        erring = still
    c: FloatArray = 2 * C * signs * np.maximum(0.0, 1 - signs * (G @ v + b))
    return c, float(b)


def _minimum_on(G: FloatArray, y: FloatArray, C: FloatArray) -> tuple[FloatArray, Any, FloatArray]:
    """Return v, b and duals of a ridge regression: the minimum of ½‖v‖² + Σ C·(y − g·v − b)².

    y may have several columns; v, b and the duals c = 2C·(y − g·v − b) then have as many.
    """
    highest = C.max()
    shares = C / highest
    root = np.sqrt(shares)
    mean, level = shares @ G / shares.sum(), shares @ y / shares.sum()
    X, t = root[:, np.newaxis] * (G - mean), (root * (y - level).T).T
    n, r = X.shape
    if n <= r:  # The duals are solved for: residuals of rows that are met would have no digits.
        scaled = _solve_positive(X @ X.T + np.eye(n) / (2 * highest), t)
        scaled -= np.multiply.outer(root, root @ scaled) / (root @ root)  # Duals add up to 0.
        v = X.T @ scaled
    else:
        v = _solve_positive(X.T @ X + np.eye(r) / (2 * highest), X.T @ t)
        scaled = 2 * highest * (t - X @ v)
    return v, level - mean @ v, (root * scaled.T).T


def _solve_positive(A: FloatArray, b: FloatArray) -> FloatArray:
    """Solve Ax = b; if A is singular up to rounding, return the shortest solution."""
    try:
        factor = linalg.cho_factor(A, check_finite=False)
    except linalg.LinAlgError:
        return np.asarray(linalg.lstsq(A, b, check_finite=False)[0])
    return np.asarray(linalg.cho_solve(factor, b, check_finite=False))


def _line_search(
    G: FloatArray,
    y: FloatArray,
    C: FloatArray,
    start: tuple[FloatArray, float],
    step: tuple[FloatArray, float],
) -> float:
    """Return the minimum along a step by bisection: the derivative is rising."""
    f, df = G @ start[0] + start[1], G @ step[0] + step[1]

    def slope(t: float) -> float:
        error = np.maximum(0.0, 1 - y * (f + t * df))
        return float(step[0] @ (start[0] + t * step[0]) - 2 * C * (y * df) @ error)

    if slope(1.0) <= 0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return 0.5 * (low + high)
