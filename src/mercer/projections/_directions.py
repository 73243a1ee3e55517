"""The loop of Laplacian support vector analysis: solve, project, deflate ([1] Algorithms 1, 2).

Written on the factors of :mod:`mercer.spectral._deflation`: rows G = FR, where a support vector
machine with duals c has v = Gᵀc and w = Rv.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mercer._arrays import FloatArray
from mercer.projections._svm import Loss, solve_svm, uses_libsvm
from mercer.spectral import Whitened

ClassOrder = Literal["cycle", "largest", "random"]

# If the outputs of a support vector machine differ by less than this (the margin is 1), they are
# noise of the solver, and the best direction is w = 0.
_FLAT = 1e-3


@dataclass(frozen=True)
class Directions:
    """Directions found, in their order: k for n rows in r coordinates."""

    W: FloatArray  # (r, k): orthonormal columns w̃, in the coordinates F
    duals: FloatArray  # (n, k): the paper's Ã, w̃ₖ = P·Φᵀα̃ₖ with P the deflation before step k
    # (k, k): T, unit upper triangular; the paper reads out Z·T, where Z are the projections.
    shear: FloatArray
    classes: NDArray[np.intp]  # (k,): the class that each direction sets apart
    lengths: FloatArray  # (k,): ‖w‖ before it was divided by


def find_directions(
    space: Whitened,
    codes: NDArray[np.intp],
    L: csr_array,
    *,
    weight: float,
    n_components: int,
    C: float,
    loss: Loss,
    order: ClassOrder,
    rng: np.random.Generator,
    tol: float,
) -> Directions:
    """Find up to `n_components` directions; `space` is changed by it.

    In its coordinates the penalty I + weight·FᵀLF is the plain norm, with L the Laplacian over all
    rows.  A row without a label has the code −1.
    """
    # If every row has a label this is a slice, so that nothing is copied.
    labelled = slice(None) if (codes >= 0).all() else np.flatnonzero(codes >= 0)
    n, r = space.G.shape
    rows = space.G[labelled]
    M = rows @ rows.T if loss == "hinge" and uses_libsvm(*rows.shape) else None
    W = np.zeros((r, 0))
    Z, duals = np.zeros((n, 0)), np.zeros((n, 0))
    chosen: list[int] = []
    lengths: list[float] = []
    counts = np.bincount(codes[labelled])
    remaining = [1] if len(counts) == 2 else list(range(len(counts)))  # two classes: one problem
    for problem in _turns(remaining, counts, order, rng):
        if len(chosen) == n_components:
            break
        signs = np.where(codes[labelled] == problem, 1.0, -1.0)
        rows = space.G[labelled]
        c, _ = solve_svm(rows, signs, C=C, loss=loss, M=M, tol=tol)
        v = rows.T @ c
        output = space.G @ v  # M c of the paper, on every row
        if np.ptp(output[labelled]) < _FLAT:
            # A class whose best direction is w = 0 has none in any smaller space either.
            remaining.remove(problem)
            continue
        w, s = space.direction(v, W)
        alpha = -weight * (L @ output)  # [1] eq. (18) without the inverse of B
        alpha[labelled] += c
        W = np.column_stack([W, w])
        Z = np.column_stack([Z, output / s])
        duals = np.column_stack([duals, alpha / s])
        chosen.append(problem)
        lengths.append(s)
        lost = space.deflate(w)[labelled]
        if M is not None:
            M -= np.outer(lost, lost)
    shear = np.triu(Z.T @ duals, 1) + np.eye(len(chosen))
    return Directions(W, duals, shear, np.array(chosen, dtype=np.intp), np.array(lengths))


def _turns(
    remaining: list[int], counts: NDArray[np.intp], order: ClassOrder, rng: np.random.Generator
) -> Iterator[int]:
    """Yield the class to separate next: each once, then by `order`, as long as any remains."""
    yield from list(remaining)
    while remaining:
        if order == "cycle":
            yield from list(remaining)
        elif order == "largest":
            yield max(remaining, key=lambda c: int(counts[c]))
        else:
            yield int(rng.choice(remaining))
