"""Products of two sets of columns under many pairings of their rows.

If X and Y are independent, every order of the rows of Y is as likely as the one that was seen.  A
permutation test may draw orders at random, or take all orders of a group of permutations that is
chosen without a look at the data: both are exact.

For many rows the group is cyclic: rows are dealt at random onto circles of m places, and all
circles turn together.  The sums over the rows at all m turns are correlations, which a Fourier
transform computes together, at about the price of four of them alone.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, rfft

from mercer._arrays import FloatArray
from mercer._memory import row_slabs, working_memory

_MOST_PARTS = 4  # Rows in more parts turn so little that pairings are much alike,
_MOST_PARTS_OF_MANY = 8  # which is better than no p-value that many tests together would let stand.
_FEW_ROWS_PERMUTATIONS = 1999
_PAIRINGS_OF_TEST = 20  # With fewer for each test, none is significant at 5 % after correction.


@dataclass(frozen=True)
class Orders:
    """Pairings that are drawn, again and again the same: the first is the one as given."""

    n_rows: int
    n_pairings: int
    seed: int

    def __len__(self) -> int:
        return self.n_pairings

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        """Yield for each pairing the rows of Y that the rows of X meet."""
        random = np.random.RandomState(self.seed)
        yield np.arange(self.n_rows)
        for _ in range(self.n_pairings - 1):
            yield random.permutation(self.n_rows)

    def products(self, A: FloatArray, B: FloatArray) -> tuple[FloatArray]:
        """Return AᵀB for each pairing of their rows: (pairings, columns of A, columns of B)."""
        out = np.empty((len(self), A.shape[1], B.shape[1]))
        for product, order in zip(out, self, strict=True):
            np.matmul(A.T, B[order], out=product)
        return (out,)


@dataclass(frozen=True)
class Turns:
    """All turns of rows on circles of `n_places`; rows that no circle has room for stay.

    Attributes
    ----------
    n_places : int
        Places on a circle: how many turns there are, the one as given among them.
    rows : NDArray of int
        Rows, or some of them, in the order in which they are dealt, the first places of all circles
        first.
    """

    n_places: int
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return self.n_places

    def products(self, A: FloatArray, B: FloatArray) -> tuple[FloatArray]:
        """Return AᵀB for each pairing of their rows: (pairings, columns of A, columns of B)."""
        m = self.n_places
        n_circles = len(self.rows) // m
        dealt, left = np.split(self.rows, [m * n_circles])
        circles = dealt.reshape(m, n_circles)
        width = A.shape[1] + B.shape[1]
        spectrum = np.zeros((m // 2 + 1, A.shape[1], B.shape[1]), dtype=np.complex128)
        for start, stop in row_slabs(n_circles, 24 * m * width, working_memory() // 4):
            places = circles[:, start:stop]
            spectrum_a = rfft(A[places], axis=0)  # (frequencies, circles, columns)
            spectrum_b = rfft(B[places], axis=0)
            spectrum += np.conj(spectrum_a).transpose(0, 2, 1) @ spectrum_b
        out: FloatArray = irfft(spectrum, n=m, axis=0, overwrite_x=True)
        return (out + A[left].T @ B[left],)


@dataclass(frozen=True)
class PartedTurns:
    """Parts of the rows turn, each by itself: as many pairings as there are tuples of turns.

    They are many, and alike in parts: p-values are exact, as with other pairings, but those that
    are not small vary as if there were about as many pairings as turns.
    """

    parts: tuple[Turns, ...]

    def __len__(self) -> int:
        return math.prod(map(len, self.parts))

    def products(self, A: FloatArray, B: FloatArray) -> tuple[FloatArray, ...]:
        """Return AᵀB of each part of the rows for each of its turns; a pairing has their sum."""
        return tuple(part.products(A, B)[0] for part in self.parts)


Pairings = Orders | Turns | PartedTurns


def squared_sizes(products: Sequence[FloatArray]) -> FloatArray:
    """Return ‖AᵀB‖² for each pairing, from its products in one part or several."""
    flat = [part.reshape(len(part), -1) for part in products]
    total = np.zeros([len(part) for part in flat])
    for i, one in enumerate(flat):
        total += _along(np.einsum("ij,ij->i", one, one), len(flat), i)
        for j in range(i):
            total += _along(2 * flat[j] @ one.T, len(flat), j, i)
    return total.ravel()


def _along(values: FloatArray, n_axes: int, *axes: int) -> FloatArray:
    """Return values with their axes at these places among n_axes, the others of length 1."""
    shape = [1] * n_axes
    for axis, size in zip(axes, values.shape, strict=True):
        shape[axis] = size
    return values.reshape(shape)


def draw_many_pairings(
    n_rows: int, n_permutations: int, random: np.random.RandomState, n_tests: int = 1
) -> Pairings:
    """Return at least n_permutations pairings, which may be more than there are rows.

    From very few rows there are fewer, in orders that are drawn, or in turns of many parts where
    orders would be too few to correct p-values for the number of tests.
    """
    if n_rows > n_permutations:
        return draw_pairings(n_rows, n_permutations, random)
    n_orders = min(n_permutations, _FEW_ROWS_PERMUTATIONS)
    are_enough = n_orders + 1 >= _PAIRINGS_OF_TEST * n_tests
    for n_parts in range(2, 1 + (_MOST_PARTS if are_enough else _MOST_PARTS_OF_MANY)):
        n_turns = math.ceil((n_permutations + 1) ** (1 / n_parts))
        if n_rows >= n_parts * n_turns:
            parts = np.array_split(random.permutation(n_rows), n_parts)
            return PartedTurns(tuple(Turns(n_turns, part) for part in parts))
    return draw_pairings(n_rows, n_orders, random)


def draw_pairings(
    n_rows: int, n_permutations: int, random: np.random.RandomState
) -> Orders | Turns:
    """Return at least n_permutations pairings and the one as given, which is the first."""
    n_pairings = n_permutations + 1
    if n_rows < n_pairings:
        return Orders(n_rows, n_pairings, int(random.randint(2**31 - 1)))
    # A few places more may leave fewer rows without a circle.
    sizes = np.arange(n_pairings, min(n_pairings * 5 // 4, n_rows) + 1)
    n_places = int(sizes[np.argmin(n_rows % sizes)])
    return Turns(n_places, random.permutation(n_rows))
