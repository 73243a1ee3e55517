"""A preconditioner for kernel matrices that do not fit: a few columns, and blocks of neighbours.

A kernel matrix of unit diagonal with a ridge is taken to be

    M = FFᵀ + blockdiag(K − FFᵀ + ridge)

What all rows share is in F, a Nyström approximation from some rows; what a row shares with its
neighbours only is in the blocks (the "partially independent conditional" of Gaussian processes:
E. Snelson and Z. Ghahramani, 2007).  With W = blockdiag(…)^(−½) and G = WF,

    M⁻¹ = Wᵀ (I − G (I + GᵀG)⁻¹ Gᵀ) W.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from mercer._arrays import Array, like, take_rows, to_numpy
from mercer._linalg import add_to_diagonal, cholesky, solve_triangular
from mercer._memory import row_slabs, working_memory
from mercer.spectral._conjugate import NotPositiveError

# Kernels are computed so many at a time, 256 MiB of them, or a quarter of the working memory.
_NUMBERS_AT_ONCE = 2**25
# Nyström columns are drawn in this many rounds, each by what the rounds before left unexplained.
_ROUNDS = 8
# Rounding of single precision, relative to a unit diagonal, that must not make a block negative.
_SLACK = 1e-6
# Below this share of the diagonal, on average, what is unexplained is rounding.
_EXPLAINED = 1e-5


@dataclass(frozen=True)
class NystromBlocks:
    """M⁻¹ in parts, kept in float32 but for the smallest.

    Attributes
    ----------
    order : int array of shape (n_blocks · size,)
        Which row stands where; n_rows where none does.
    whiten : array of shape (n_blocks, size, size)
        W, lower triangles.
    shared : array of shape (n_blocks · size, rank)
        G.
    core : float64 array of shape (rank, rank)
        The lower Cholesky factor of I + GᵀG.
    n_rows : int
    """

    order: Array
    whiten: Array
    shared: Array
    core: Array
    n_rows: int

    @classmethod
    def of(
        cls,
        entries: Callable[[Array, Array], Array],
        diagonal: Array,
        ridge: Array,
        blocks: list[NDArray[np.intp]],
        rank: int,
        rng: np.random.RandomState,
    ) -> "NystromBlocks":
        """Build the preconditioner of K + diag(ridge).

        Parameters
        ----------
        entries : callable
            Returns the entries of K at some rows and some columns, both given as int arrays of the
            library of `diagonal`, in any float type.
        diagonal : float64 array of shape (n_rows,)
            The diagonal of K.
        ridge : float64 array of shape (n_rows,)
            With which the diagonal is one.
        blocks : list of ndarrays of int
            Rows that are near to each other, of sizes that differ by one at most.
        rank : int
            Columns of F.
        rng : RandomState
            For the draws of columns.
        """
        xp: Any = array_namespace(diagonal)
        n_rows, size = diagonal.shape[0], max(map(len, blocks))
        order = np.full((len(blocks), size), n_rows)
        for place, rows in zip(order, blocks, strict=True):
            place[: len(rows)] = rows
        layout = _Layout.of(order, n_rows, diagonal)
        F = _nystrom_factor(entries, diagonal, layout, rank, rng)
        rank = F.shape[1]
        whiten = xp.zeros((len(blocks), size, size), dtype=xp.float32, device=device(diagonal))
        core = xp.eye(rank, dtype=xp.float64, device=device(diagonal))
        for b, rows in enumerate(blocks):
            n, start = len(rows), b * size
            at = layout.rows[start : start + n]
            here = xp.astype(F[start : start + n, :], xp.float64)
            left = xp.astype(entries(at, at), xp.float64) - here @ here.T
            inverse = _inverse_factor(left, xp.take(ridge, at) + _SLACK)
            whiten[b, :n, :n] = inverse
            # What is kept is rounded, and the core is that of the rounded numbers: M is positive.
            F[start : start + n, :] = xp.astype(whiten[b, :n, :n], xp.float64) @ here
            here = xp.astype(F[start : start + n, :], xp.float64)
            core += here.T @ here
        return cls(layout.order, whiten, F, _root(core, 1e-12), n_rows)

    def solve(self, B: Array) -> Array:
        """Return M⁻¹B in float64; B is (n_rows, n_columns).

        Parts are widened piece by piece: in float32 the products would lose what is left of
        directions that all rows share.
        """
        xp: Any = array_namespace(B)
        size, n_columns = self.whiten.shape[1], B.shape[1]
        V = xp.take(xp.concat([B, xp.zeros_like(B[:1, :])]), self.order, axis=0)
        V = xp.reshape(V, (-1, size, n_columns))
        inner = xp.zeros((self.core.shape[0], n_columns), dtype=B.dtype, device=device(B))
        for blocks, W, G in self._pieces():
            V[blocks, :, :] = W @ V[blocks, :, :]
            inner += G.T @ xp.reshape(V[blocks, :, :], (-1, n_columns))
        inner = solve_triangular(self.core, inner, lower=True)
        inner = solve_triangular(self.core, inner, lower=True, transposed=True)
        for blocks, W, G in self._pieces():
            V[blocks, :, :] -= xp.reshape(G @ inner, (-1, size, n_columns))
            V[blocks, :, :] = xp.matrix_transpose(W) @ V[blocks, :, :]
        out = xp.zeros((self.n_rows + 1, n_columns), dtype=B.dtype, device=device(B))
        out[self.order, :] = xp.reshape(V, (-1, n_columns))
        return out[: self.n_rows, :]

    def inverse_diagonal(self) -> Array:
        """Return the diagonal of M⁻¹ in float64."""
        xp: Any = array_namespace(self.whiten)
        size, found = self.whiten.shape[1], []
        for _, W, G in self._pieces():
            half = solve_triangular(self.core, G.T, lower=True).T
            half = xp.matrix_transpose(W) @ xp.reshape(half, (-1, size, G.shape[1]))
            own = xp.sum(W**2, axis=1) - xp.sum(half**2, axis=2)
            found.append(xp.reshape(own, (-1,)))
        out = xp.zeros(self.n_rows + 1, dtype=xp.float64, device=device(self.whiten))
        out[self.order] = xp.concat(found)
        # The diagonal of M is one but for rounding: (M⁻¹)ᵢᵢ ≥ 1/Mᵢᵢ.
        return xp.maximum(out[: self.n_rows], xp.ones_like(out[:1]))

    def _pieces(self) -> Iterator[tuple[slice, Array, Array]]:
        """Yield some blocks, and their W and G in float64."""
        xp: Any = array_namespace(self.whiten)
        n_blocks, size, _ = self.whiten.shape
        numbers = size * (size + 2 * self.core.shape[0])
        for start, stop in row_slabs(n_blocks, numbers, _numbers_at_once()):
            G = self.shared[start * size : stop * size, :]
            W = self.whiten[start:stop, :, :]
            yield slice(start, stop), xp.astype(W, xp.float64), xp.astype(G, xp.float64)


@dataclass(frozen=True)
class _Layout:
    """Where rows stand in blocks that are filled up to one size.

    Attributes
    ----------
    order : int array of shape (n_places,)
        The row at each place; n_rows where none is.
    rows : int array of shape (n_places,)
        The same, with the first row where none is.
    is_row : bool array of shape (n_places, 1)
        Whether there is one.
    place : ndarray of int of shape (n_rows,)
        The place of each row.
    """

    order: Array
    rows: Array
    is_row: Array
    place: NDArray[np.intp]

    @classmethod
    def of(cls, order: NDArray[np.intp], n_rows: int, like_this: Array) -> "_Layout":
        xp: Any = array_namespace(like_this)
        flat = order.ravel()
        is_row = flat < n_rows
        place = np.empty(n_rows, dtype=np.intp)
        place[flat[is_row]] = np.flatnonzero(is_row)
        order, rows = (
            like(A, like_this, dtype=xp.int64) for A in (flat, np.where(is_row, flat, 0))
        )
        return cls(order, rows, like(is_row, like_this, dtype=xp.bool)[:, None], place)


def _nystrom_factor(
    entries: Callable[[Array, Array], Array],
    diagonal: Array,
    layout: _Layout,
    rank: int,
    rng: np.random.RandomState,
) -> Array:
    """Return F in float32, (n_places, rank), with zeros where there is no row.

    Randomly pivoted Cholesky by rounds: rows are drawn in proportion to what is unexplained of
    them, a round at a time.
    """
    xp: Any = array_namespace(diagonal)
    n_places = layout.rows.shape[0]
    F = xp.zeros((n_places, rank), dtype=xp.float32, device=device(diagonal))
    left, taken = np.array(to_numpy(diagonal)), 0
    total, per_round = left.sum(), -(-rank // _ROUNDS)
    while taken < rank and left.sum() > _EXPLAINED * total:
        drawn = _draw(left, min(per_round, rank - taken), rng)
        columns = like(drawn, diagonal, dtype=xp.int64)
        known64 = xp.astype(take_rows(F, layout.place[drawn])[:, :taken], xp.float64)
        among = xp.astype(entries(columns, columns), xp.float64)
        root = _root(among - known64 @ known64.T, _SLACK * float(among.max()))
        new, explained = slice(taken, taken + len(drawn)), []
        for start, stop in row_slabs(n_places, 2 * len(drawn) + taken, _numbers_at_once()):
            here = slice(start, stop)
            # In float64: what is left of a kernel that is nearly explained is divided by its root.
            fresh = xp.astype(entries(layout.rows[here], columns), xp.float64)
            fresh = fresh - xp.astype(F[here, :taken], xp.float64) @ known64.T
            fresh = solve_triangular(root, fresh.T, lower=True).T
            fresh = xp.where(layout.is_row[here], fresh, 0.0)
            F[here, new] = fresh
            explained.append(xp.sum(fresh**2, axis=1))
        left -= to_numpy(xp.concat(explained))[layout.place]
        left[drawn] = 0.0
        left = np.maximum(left, 0.0)
        taken = new.stop
    return F if taken == rank else F[:, :taken]


def _numbers_at_once() -> int:
    """Return how many numbers of float64 are computed at a time."""
    return min(_NUMBERS_AT_ONCE, working_memory() // 32)


def _draw(shares: NDArray[np.float64], size: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw different rows with probabilities in proportion to the shares.

    The smallest of exponential variables of these rates: NumPy's `choice` takes seconds for
    millions of rows.
    """
    positive = np.flatnonzero(shares > 0)
    times = rng.standard_exponential(len(positive)) / shares[positive]
    size = min(size, len(positive))
    return np.sort(positive[np.argpartition(times, size - 1)[:size]])


def _root(A: Array, slack: float) -> Array:
    """Return the lower Cholesky factor of a matrix that is positive but for rounding.

    `slack` is added to its diagonal, and more until that is enough.
    """
    if A.shape[0] == 0:
        return A
    A = (A + A.T) / 2
    for _ in range(6):
        factor = cholesky(add_to_diagonal(A, slack), lower=True)
        if factor is not None:
            return factor
        slack *= 10
    raise NotPositiveError("The kernel matrix is not positive semi-definite.")


def _inverse_factor(left: Array, ridge: Array) -> Array:
    """Return the inverse of the lower Cholesky factor of a block with its ridge, in float64."""
    xp = array_namespace(left)
    left = add_to_diagonal((left + left.T) / 2, ridge)
    factor = cholesky(left, lower=True)
    factor = _root(left, _SLACK) if factor is None else factor
    one = xp.eye(left.shape[0], dtype=left.dtype, device=device(left))
    return solve_triangular(factor, one, lower=True)


def split_in_neighbours(X: Array, size: int, rng: np.random.RandomState) -> list[NDArray[np.intp]]:
    """Cut rows into blocks of near ones, of at most `size` rows each.

    Halves along the direction in which rows vary most, again and again.
    """
    xp: Any = array_namespace(X)
    n_blocks = 1
    while -(-X.shape[0] // n_blocks) > size:
        n_blocks *= 2
    blocks = [xp.arange(X.shape[0], device=device(X))]
    while len(blocks) < n_blocks:
        halves = []
        for rows in blocks:
            part = xp.take(X, rows, axis=0)
            part = part - xp.mean(part, axis=0)
            part = part / (xp.max(xp.abs(part)) + 1e-30)  # Squares stay in range.
            axis = like(rng.standard_normal(part.shape[1]), part)
            for _ in range(4):  # the power method; any direction will do
                axis = part.T @ (part @ axis)
                axis = axis / (xp.linalg.vector_norm(axis) + 1e-30)
            sorted_rows = xp.take(rows, xp.argsort(part @ axis, stable=True), axis=0)
            half = -(-rows.shape[0] // 2)
            halves += [sorted_rows[:half], sorted_rows[half:]]
        blocks = halves
    return [to_numpy(rows) for rows in blocks if rows.shape[0]]
