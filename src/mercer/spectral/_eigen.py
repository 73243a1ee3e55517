"""Symmetric eigenproblems with one sign, one order and one ridge convention."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array
from scipy import linalg
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from mercer._arrays import FloatArray
from mercer._linalg import (
    add_to_diagonal,
    cholesky,
    eigh,
    lapack_threads,
    one_thread,
    solve_triangular,
)

_INDEFINITE = (
    "The constraint matrix of the eigenproblem is not positive definite: reduce the dimension "
    "first or add a ridge."
)

# Below this many rows a dense decomposition is as quick as Lanczos iterations, and exact.
_DENSE_BELOW = 1000
# The polynomial that separates the largest eigenvalues of a sparse matrix is about this large, in
# logarithms, at 1,
_GROWTH = 4.0
# and of no higher degree than this, nor for values that are nearer to an end than this.
_MOST_DEGREE, _LEAST_GAP = 40, 1e-6
_GUARD = 10  # The floor below which values are held down is so many places behind the wanted ones.
_EIGEN_TOL = 1e-12  # Relative to the polynomial's value, the error at which its iterations end.
_SHIFT = (
    1e-12  # What is added to a Gram matrix before it is factored, relative to its mean diagonal.
)
# Up to this many products, singular vectors are computed from the rows, whatever their shape.
_QUICK_SVD = 10**9


def fix_signs(vectors: Any) -> Any:
    """Flip columns so that the entry of greatest size is positive.

    Parameters
    ----------
    vectors : array of shape (n, k)
        Columns of any sign.

    Returns
    -------
    array of shape (n, k)
        The same columns, some of them flipped.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.spectral import fix_signs
    >>> fix_signs(np.array([[0.6, -0.8], [-0.8, -0.6]]))
    array([[-0.6,  0.8],
           [ 0.8,  0.6]])
    """
    xp = array_namespace(vectors)
    columns = xp.arange(vectors.shape[1], device=device(vectors))
    top = vectors[xp.argmax(xp.abs(vectors), axis=0), columns]
    return vectors * xp.where(top < 0, -1.0, 1.0)


def generalized_eigh(
    A: Any,
    B: Any = None,
    *,
    n_components: int | None = None,
    which: Literal["smallest", "largest"] = "smallest",
    ridge: float = 0.0,
) -> tuple[Any, Any]:
    r"""Return eigenpairs of :math:`A v = \lambda (B + \rho I) v` for symmetric A and positive B.

    Parameters
    ----------
    A, B : array of shape (d, d)
        Symmetric; B is the identity when None, and then no ridge is added.  NumPy arrays, or
        tensors: those are decomposed on their device.
    n_components : int, default=None
        How many pairs; all when None.
    which : {"smallest", "largest"}, default="smallest"
        Which end comes first.
    ridge : float, default=0.0
        Relative to the mean of the diagonal of B: ρ = ridge · tr(B)/d.

    Returns
    -------
    values : ndarray of shape (n_components,)
        From the asked end inwards.
    vectors : ndarray of shape (d, n_components)
        Columns with vᵀ(B + ρI)v = 1 and the greatest entry positive.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.spectral import generalized_eigh
    >>> values, V = generalized_eigh(np.diag([3.0, 1.0, 8.0]), np.diag([1.0, 1.0, 4.0]))
    >>> values
    array([1., 2., 3.])
    >>> V.T
    array([[0. , 1. , 0. ],
           [0. , 0. , 0.5],
           [1. , 0. , 0. ]])
    """
    d = A.shape[0]
    count = d if n_components is None else min(n_components, d)
    if B is not None and ridge:
        B = add_to_diagonal(B, ridge * float(array_namespace(B).linalg.trace(B)) / d)
    if not is_numpy_array(A):
        values, vectors = _all_pairs(A, B)
        if which == "largest":
            xp = array_namespace(A)
            values, vectors = xp.flip(values), xp.flip(vectors, axis=1)
        return values[:count], fix_signs(vectors[:, :count])
    subset = [0, count - 1] if which == "smallest" else [d - count, d - 1]
    part = None if count == d else subset
    try:
        with lapack_threads(A):
            values, vectors = linalg.eigh(A, B, subset_by_index=part, check_finite=False)
            if len(values) < count:  # LAPACK misses some of many nearly equal values.
                values, vectors = linalg.eigh(A, B, check_finite=False)
                kept = slice(subset[0], subset[1] + 1)
                values, vectors = values[kept], vectors[:, kept]
    except linalg.LinAlgError as error:
        raise ValueError(_INDEFINITE) from error
    if which == "largest":
        values, vectors = values[::-1], vectors[:, ::-1]
    return values, fix_signs(vectors)


def _all_pairs(A: Any, B: Any) -> tuple[Any, Any]:
    """Return all eigenpairs by a Cholesky factor of B, as torch has no generalized eigh."""
    if B is None:
        return eigh(A)
    L = cholesky(B, lower=True)
    if L is None:
        raise ValueError(_INDEFINITE)
    half = solve_triangular(L, A, lower=True)
    values, vectors = eigh(solve_triangular(L, half.T, lower=True))
    return values, solve_triangular(L, vectors, lower=True, transposed=True)


def sparse_eigh(
    S: csr_array, n_components: int, *, without: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the largest eigenpairs of a sparse symmetric matrix with eigenvalues in [−1, 1].

    Dense below 1000 rows.  Above, Lanczos iterations of a Chebyshev polynomial of the matrix, which
    spreads the largest eigenvalues apart and holds the others down: the same start every time, so
    that the same matrix gives the same vectors.

    Parameters
    ----------
    S : csr_array of shape (n, n)
        Symmetric.
    n_components : int
        How many pairs.
    without : ndarray of shape (n,), default=None
        An eigenvector of value 1, of length 1, that is left out (also where other vectors have the
        same value).  Where the graph of the entries has several parts, it is an eigenvector on each
        of them, and these vectors are known without iterations.

    Returns
    -------
    values : ndarray of shape (n_components,)
        The largest first.
    vectors : ndarray of shape (n, n_components)
        Columns of length 1, the greatest entry of each positive.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array, csr_array, eye_array
    >>> from mercer.spectral import sparse_eigh
    >>> sparse_eigh(csr_array(np.diag([0.5, 1.0, -1.0])), 2)[0]
    array([1. , 0.5])
    """
    n = S.shape[0]
    if n < _DENSE_BELOW or n_components >= n // 2:
        dense = S.toarray()
        if without is not None:
            dense -= 2 * np.outer(without, without)
        return generalized_eigh(dense, n_components=n_components, which="largest")

    known = _known_vectors(S, without, n_components)
    count = n_components - known.shape[1]
    if not count:
        return np.ones(n_components), fix_signs(known)
    left_out = known if without is None else np.column_stack([known, without])
    with one_thread():  # Threads wait for each other longer than a product of this size takes.
        values, vectors = _largest_pairs(S, count, left_out)
    values = np.concatenate([np.ones(known.shape[1]), values])
    return values, fix_signs(np.hstack([known, vectors]))


def gram_eigh(
    R: csr_array, n_components: int, *, without: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the smallest eigenpairs of RᵀR, for a sparse square R.

    ArpackNoConvergence where many of them are so near to 0 that rounding does not tell them apart.

    Dense below 1000 rows.  Above, Lanczos iterations of the inverse, by a sparse factor: smallest
    eigenvalues that lie together near 0 are far apart in the inverse, and only there.

    Parameters
    ----------
    R : csr_array of shape (n, n)
        Of any kind.
    n_components : int
        How many pairs, less than n.
    without : ndarray of shape (n,)
        A vector of length 1 that R takes to 0, on every part of its graph, and that is left out.
        What it is on the parts gives eigenvectors of value 0, which are known and come first.

    Returns
    -------
    values : ndarray of shape (n_components,)
        The smallest first.
    vectors : ndarray of shape (n, n_components)
        Columns of length 1, the greatest entry of each positive.
    """
    n = R.shape[0]
    known = _known_vectors(R, without, n_components)
    count = n_components - known.shape[1]
    if not count:
        return np.zeros(n_components), fix_signs(known)
    left_out = np.column_stack([known, without])
    gram = csr_array(R.T @ R)
    if n < _DENSE_BELOW or n_components >= n // 2:
        beyond = 2 * float(abs(gram).sum(axis=1).max())  # There is no eigenvalue beyond this one.
        dense = gram.toarray() + beyond * (left_out @ left_out.T)
        _, vectors = generalized_eigh(dense, n_components=count)
    else:
        with one_thread():
            vectors = _smallest_vectors(gram, count, left_out)
    vectors = vectors - left_out @ (left_out.T @ vectors)  # what rounding left of them
    # Values of the product with R lose no digits beside the largest, as those of RᵀR do.
    vectors = linalg.qr(vectors, mode="economic", check_finite=False)[0]
    moved = R @ vectors
    values, mix = generalized_eigh(moved.T @ moved)
    values = np.concatenate([np.zeros(known.shape[1]), np.maximum(values, 0.0)])
    return values, fix_signs(np.hstack([known, vectors @ mix]))


def _smallest_vectors(gram: csr_array, n_components: int, left_out: FloatArray) -> FloatArray:
    """Return eigenvectors of a positive semidefinite matrix, orthogonal to those `left_out`."""
    n = gram.shape[0]
    shift = _SHIFT * float(gram.diagonal().mean())
    factor = splu(
        csc_array(gram + shift * eye_array(n)),
        permc_spec="MMD_AT_PLUS_A",  # It fills a symmetric matrix least.
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )

    def projected(x: FloatArray) -> FloatArray:
        out: FloatArray = x - left_out @ (left_out.T @ x)
        return out

    _, vectors = eigsh(
        LinearOperator(
            (n, n), matvec=lambda x: projected(factor.solve(projected(x.ravel()))), dtype=np.float64
        ),
        n_components,
        which="LA",
        v0=projected(np.random.default_rng(0).normal(size=n)),
        ncv=min(n, max(4 * n_components, 60)),
        tol=_EIGEN_TOL,
        maxiter=1000,
    )
    return np.asarray(vectors, dtype=np.float64)


def _known_vectors(S: csr_array, without: FloatArray | None, most: int) -> FloatArray:
    """Return up to `most` orthonormal eigenvectors of value 1 that are orthogonal to `without`.

    On every part of the graph of S by itself `without` is an eigenvector of value 1; what is
    returned mixes these, so that it is one vector fewer than there are parts.
    """
    n_parts, part = connected_components(S, directed=False)
    if without is None or n_parts == 1:
        return np.empty((S.shape[0], 0))
    lengths = np.sqrt(np.bincount(part, weights=without**2))
    # The reflection that takes the first axis to the lengths takes the others to their complement.
    mirror = lengths / np.linalg.norm(lengths)
    mirror[0] -= 1.0
    mirror /= np.linalg.norm(mirror)
    count = min(most, n_parts - 1)
    basis = np.eye(n_parts, count, k=-1) - 2 * np.outer(mirror, mirror[1 : count + 1])
    known: FloatArray = (without / lengths[part])[:, np.newaxis] * basis[part]
    return known


def _largest_pairs(
    S: csr_array, n_components: int, left_out: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the largest eigenpairs of S, where eigenvectors `left_out` of value 1 count as −1."""
    n = S.shape[0]

    def product(x: FloatArray) -> FloatArray:
        out: FloatArray = S @ x
        return out - 2 * (left_out @ (left_out.T @ x)) if left_out.size else out

    start = np.random.default_rng(0).normal(size=n)
    n_steps = min(n, max(4 * n_components, 60))
    # No estimate is above the eigenvalue of its place.  One of a later place leaves the wanted ones
    # well above the floor: at the floor itself they would be no larger than what lies below it.
    place = min(n_components + _GUARD, n_steps)
    estimate = _lanczos_values(product, start, n_steps)[-place]
    floor = min(max(float(estimate), -1.0 + _LEAST_GAP), 1.0 - _LEAST_GAP)
    ahead = 2 * (1.0 - floor) / (1.0 + floor)  # how far beyond 1 the polynomial's argument goes
    degree = int(np.clip(np.ceil(_GROWTH / np.arccosh(1.0 + ahead)), 1, _MOST_DEGREE))

    def filtered(x: FloatArray) -> FloatArray:
        """Return T(S) x of the Chebyshev polynomial that is within ±1 on [−1, floor]."""
        before, x = x.ravel(), x.ravel()
        scale, shift = 2.0 / (1.0 + floor), (1.0 - floor) / (1.0 + floor)
        x = scale * product(x) + shift * x
        for _ in range(degree - 1):
            before, x = x, 2 * (scale * product(x) + shift * x) - before
        return x

    _, vectors = eigsh(
        LinearOperator((n, n), matvec=filtered, dtype=np.float64),
        n_components,
        which="LA",
        v0=start,
        ncv=n_steps,
        tol=_EIGEN_TOL,
        maxiter=100 * n,
    )
    vectors = linalg.qr(vectors, mode="economic", check_finite=False)[0]
    moved = product(vectors)
    values, mix = generalized_eigh(vectors.T @ moved, which="largest")
    return values, vectors @ mix


def _lanczos_values(
    product: Callable[[FloatArray], FloatArray], start: FloatArray, n_steps: int
) -> FloatArray:
    """Return estimates of eigenvalues from a few steps of Lanczos, rising; none is too large.

    Steps are orthogonal to all before them, so that no value comes twice.
    """
    basis = np.zeros((n_steps, len(start)))
    basis[0] = start / np.linalg.norm(start)
    steps = np.zeros((n_steps, n_steps))
    for k in range(n_steps):
        moved = product(basis[k])
        for _ in range(2):
            share = basis[: k + 1] @ moved
            moved = moved - share @ basis[: k + 1]
            steps[: k + 1, k] += share
        length = float(np.linalg.norm(moved))
        if k + 1 == n_steps or length < 1e-10:
            break
        basis[k + 1] = moved / length
        steps[k + 1, k] = length
    used = steps[: k + 1, : k + 1]
    values = np.linalg.eigvalsh((used + used.T) / 2)
    lacking = np.full(n_steps - len(values), -1.0)
    return np.asarray(np.concatenate([lacking, values]), dtype=np.float64)


def principal_axes(
    X: FloatArray, n_components: int | float | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Principal directions of centred rows: X = (U · lengths) @ axes, columns of U orthonormal.

    With fewer rows than columns the work is done in the space of the rows, d × n² and
    never d³.  Directions without variance are always left out.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows with mean zero.
    n_components : int or float, default=None
        At most this many axes, or (a float below 1) as many as hold this share of the variance;
        all that have any when None.

    Returns
    -------
    U : ndarray of shape (n, r)
        Orthonormal columns.
    lengths : ndarray of shape (r,)
        Falling.
    axes : ndarray of shape (r, d)
        Orthonormal rows, the greatest entry of each positive.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.spectral import principal_axes
    >>> U, lengths, axes = principal_axes(np.array([[3.0, 4.0], [-3.0, -4.0]]))
    >>> (U * lengths).round(9).tolist(), axes.round(9).tolist()
    ([[5.0], [-5.0]], [[0.6, 0.8]])
    """
    n, d = X.shape
    eps = np.finfo(np.float64).eps
    if n > 10 * d and n * d * d > _QUICK_SVD:  # XᵀX is small, and costs half the digits.
        values, vectors = generalized_eigh(X.T @ X, which="largest")
        lengths, axes = np.sqrt(np.maximum(values, 0.0)), vectors.T
        floor = np.sqrt(d * eps)
    else:
        _, lengths, axes = linalg.svd(X, full_matrices=False, check_finite=False)
        axes = fix_signs(axes.T).T
        floor = max(n, d) * eps
    rank = _count_axes(lengths, floor, n_components)
    lengths, axes = lengths[:rank], axes[:rank]
    return X @ axes.T / lengths, lengths, axes


def kernel_principal_axes(
    K: FloatArray, n_components: int | float | None = None, *, least: float
) -> tuple[FloatArray, FloatArray]:
    """Return U and lengths of `principal_axes` of rows that a kernel maps.

    HKH = U · lengths² · Uᵀ, where H takes the mean away.  Axis r is Σᵢ (Uᵢᵣ / lengthsᵣ) φ(xᵢ).
    Axes along which the variance is at most `least` of that along the first are left out: a row's
    coordinate on an axis is a sum that rounding spoils by the inverse of this share.
    """
    by_row = K.mean(axis=0)
    centred = K - by_row - (by_row[:, np.newaxis] - by_row.mean())
    values, U = generalized_eigh((centred + centred.T) / 2, which="largest")
    lengths = np.sqrt(np.maximum(values, 0.0))
    least = max(np.sqrt(least), np.sqrt(len(K) * np.finfo(np.float64).eps))
    rank = _count_axes(lengths, least, n_components)
    return U[:, :rank], lengths[:rank]


def _count_axes(lengths: FloatArray, floor: float, n_components: int | float | None) -> int:
    """Return how many axes are kept: longer than a share `floor` of the first, and as asked for."""
    rank = int((lengths > floor * lengths[0]).sum())
    if rank and isinstance(n_components, float | np.floating) and n_components < 1.0:
        squares = (lengths[:rank] / lengths[0]) ** 2
        share = np.cumsum(squares) / squares.sum()
        return min(rank, int(np.searchsorted(share, n_components)) + 1)
    return rank if n_components is None else min(rank, int(n_components))


def rotate_ties(
    values: FloatArray, vectors: FloatArray, S: FloatArray, *, tol: float
) -> FloatArray:
    """Choose a basis of the eigenvectors of value zero: ordered by vᵀSv, largest first.

    Vectors whose value is at most `tol` may be mixed without changing the problem;
    the mixture returned makes VᵀSV diagonal and falling.  Others stay as they are.

    Parameters
    ----------
    values : ndarray of shape (k,)
        Eigenvalues.
    vectors : ndarray of shape (n, k)
        Their vectors, as columns.
    S : ndarray of shape (n, n)
        Symmetric; it decides the order.
    tol : float
        The largest value that counts as zero.

    Returns
    -------
    ndarray of shape (n, k)
        The vectors, those of value zero mixed and in order.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.spectral import rotate_ties
    >>> rotate_ties(np.zeros(2), np.eye(2), np.diag([1.0, 4.0]), tol=1e-9)
    array([[0., 1.],
           [1., 0.]])
    """
    tied = int((values <= tol).sum())
    if tied < 2:
        return vectors
    null = vectors[:, :tied]
    _, mix = generalized_eigh(null.T @ S @ null, which="largest")
    return np.hstack([fix_signs(null @ mix), vectors[:, tied:]])
