"""A kernel sum as a frozen statement: what is to be computed, not how.

Everything that users may write (weights, groups, both or neither) has been brought to one
form here.  The rows of Y are taken in `order` and cut into segments at `bounds`; each
segment gives one number for each row of X and each bandwidth:

    out[b, i, s] = Σ_{j in segment s} weights[j] · k_b(X[i], Y[order[j]])

or its logarithm.  With weights of shape (m, c) there is one segment and c columns take the place
of segments.
"""

from dataclasses import dataclass

from mercer._arrays import Array
from mercer.kernels import Kernel
from mercer.sums._box import Box


@dataclass(frozen=True)
class Problem:
    """One kernel sum over one pair of arrays.

    Parameters
    ----------
    X, Y : arrays of shape (n, d) and (m, d)
        Of one library, device and precision (float32 or float64), finite.
    order : integer array of shape (m',) or None
        The rows of Y in the order of summation; None is all of them as they stand.
    weights : array of shape (m',) or (m', c), or None
        In the order of summation.
    bounds : tuple of int
        Segment s is bounds[s] … bounds[s + 1] of that order.
    kernel : Kernel
    bandwidths : tuple of float
        Widths of the kernel, the widest first.
    log : bool
        Whether logarithms of the sums are wanted.
    self_sum : bool
        Whether Y is X: a row then meets itself at distance exactly zero.
    exclude_self : bool
        Whether that meeting is left out.
    method : {"auto", "direct", "fast"}
    tol : float or None
        Relative error that an approximation may make.
    precision : {"high", "fast"}
    box : Box or None
        What holds all rows of X and Y, where it is known.
    """

    X: Array
    Y: Array
    order: Array | None
    weights: Array | None
    bounds: tuple[int, ...]
    kernel: Kernel
    bandwidths: tuple[float, ...]
    log: bool
    self_sum: bool
    exclude_self: bool
    method: str
    tol: float | None
    precision: str
    box: Box | None = None

    @property
    def n_columns(self) -> int:
        """Length of the order of summation."""
        return self.bounds[-1]

    @property
    def weights_are_columns(self) -> bool:
        """Whether weights are (m', c)."""
        return self.weights is not None and self.weights.ndim == 2

    @property
    def n_outputs(self) -> int:
        """Numbers wanted for each row of X and each bandwidth."""
        if self.weights is not None and self.weights.ndim == 2:
            return int(self.weights.shape[1])
        return len(self.bounds) - 1
