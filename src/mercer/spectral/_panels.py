"""The Cholesky factor of a matrix that would not fit in full: half of it, in float32.

It stands in column panels of the lower triangle.  A factor in single precision answers to five or
six digits; conjugate gradients that it steers (`_conjugate`) get the others from products in double
precision, in two or three steps.
"""

from collections.abc import Callable

import numpy as np
from array_api_compat import array_namespace, device

from mercer._arrays import Array
from mercer._linalg import cholesky, solve_triangular

# Columns of a panel: enough for matrix products at full speed.
WIDTH = 1024
# Panels are changed so many rows at a time, so that temporaries are small.
_ROWS_AT_ONCE = 4096


class PanelFactor:
    """L of a positive definite matrix LLᵀ, as panels of its columns from the diagonal downwards.

    Attributes
    ----------
    panels : list of arrays of shapes (n_rows − start, width)
        Panel j begins at row and column j · `WIDTH`.
    """

    def __init__(self, panels: list[Array]) -> None:
        self.panels = panels

    @classmethod
    def of(cls, lower: Callable[[slice], Array], n_rows: int) -> "PanelFactor | None":
        """Factor a matrix; None if it is not positive definite in the precision of its entries.

        Parameters
        ----------
        lower : callable
            Called with a range of columns, it returns the entries of these columns from the first
            row of the range downwards, (n_rows − start, width), in float32 or float64.
        n_rows : int
            Of the matrix.
        """
        panels = [
            lower(slice(start, min(start + WIDTH, n_rows))) for start in range(0, n_rows, WIDTH)
        ]
        for j, panel in enumerate(panels):
            width = panel.shape[1]
            top = cholesky(panel[:width, :], lower=True)
            if top is None or not bool(
                array_namespace(top).all(array_namespace(top).isfinite(top))
            ):
                return None
            panel[:width, :] = top
            if panel.shape[0] == width:
                break
            panel[width:, :] = solve_triangular(top, panel[width:, :].T, lower=True).T
            for k in range(j + 1, len(panels)):
                below = panel[(k - j) * WIDTH :, :]
                across = below[: panels[k].shape[1], :].T
                for start in range(0, below.shape[0], _ROWS_AT_ONCE):
                    rows = slice(start, start + _ROWS_AT_ONCE)
                    panels[k][rows, :] -= below[rows, :] @ across
        return cls(panels)

    def solve(self, B: Array) -> Array:
        """Return (LLᵀ)⁻¹B to the precision of the factor; B is (n_rows, n_columns)."""
        xp = array_namespace(B)
        size = xp.max(xp.abs(B), axis=0)  # Columns may be beyond the range of float32.
        size = xp.where(size > 0, size, xp.ones_like(size))
        X = xp.astype(B / size, self.panels[0].dtype)
        for j, panel in enumerate(self.panels):
            here, below = self._parts(j)
            X[here, :] = solve_triangular(panel[: panel.shape[1], :], X[here, :], lower=True)
            X[below, :] -= panel[panel.shape[1] :, :] @ X[here, :]
        for j in range(len(self.panels) - 1, -1, -1):
            panel, (here, below) = self.panels[j], self._parts(j)
            X[here, :] -= panel[panel.shape[1] :, :].T @ X[below, :]
            top = panel[: panel.shape[1], :]
            X[here, :] = solve_triangular(top, X[here, :], lower=True, transposed=True)
        return xp.astype(X, B.dtype) * size

    def take_inverse_diagonal(self) -> Array:
        """Return the diagonal of (LLᵀ)⁻¹ in float64; the factor is used up.

        L⁻¹ takes the place of L, panel by panel from the last one: as many products as the
        factorisation.
        """
        parts = []
        for j in range(len(self.panels) - 1, -1, -1):
            panel = self.panels[j]
            xp, width = array_namespace(panel), panel.shape[1]
            one = xp.eye(width, dtype=panel.dtype, device=device(panel))
            top = solve_triangular(panel[:width, :], one, lower=True)
            scaled = panel[width:, :] @ top
            inverse = xp.zeros_like(scaled)
            for k in range(j + 1, len(self.panels)):
                start = (k - j) * WIDTH - width
                rows = scaled[start : start + self.panels[k].shape[1], :]
                inverse[start:, :] += self.panels[k] @ rows
            panel[:width, :], panel[width:, :] = top, -inverse
            slabs = range(0, panel.shape[0], _ROWS_AT_ONCE)
            squares = (
                xp.sum(panel[start : start + _ROWS_AT_ONCE, :] ** 2, axis=0, dtype=xp.float64)
                for start in slabs
            )
            parts.append(sum(squares))
        self.panels = []
        return array_namespace(parts[0]).concat(parts[::-1])

    def _parts(self, j: int) -> tuple[slice, slice]:
        """Return the rows of a panel's own columns, and those below them."""
        start = j * WIDTH
        stop = start + self.panels[j].shape[1]
        return slice(start, stop), slice(stop, None)


def most_panel_rows(n_bytes: int, itemsize: int = 4) -> int:
    """Return how many rows a matrix may have whose half fits so many bytes."""
    return int(np.sqrt(2 * n_bytes / itemsize))
