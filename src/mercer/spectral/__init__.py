"""Linear algebra with one sign and one ridge convention: eigenproblems, deflation, selection.

Arrays in, arrays out: nothing here knows what a kernel, a graph or a class is.
"""

from mercer.samples import stratified_rows
from mercer.spectral._cholesky import partial_cholesky, pivoted_cholesky
from mercer.spectral._deflation import PenaltyPath, Whitened, whiten
from mercer.spectral._eigen import (
    fix_signs,
    generalized_eigh,
    principal_axes,
    rotate_ties,
    sparse_eigh,
)
from mercer.spectral._landmarks import LandmarkMap
from mercer.spectral._ridge import (
    RidgeBasis,
    RidgeFactor,
    RidgeSolution,
    decompose_features,
    decompose_kernel,
    factor_kernel,
)
from mercer.spectral._selection import GreedyPath, greedy_selection

__all__ = [
    "GreedyPath",
    "LandmarkMap",
    "PenaltyPath",
    "RidgeBasis",
    "RidgeFactor",
    "RidgeSolution",
    "Whitened",
    "decompose_features",
    "decompose_kernel",
    "factor_kernel",
    "fix_signs",
    "generalized_eigh",
    "greedy_selection",
    "partial_cholesky",
    "pivoted_cholesky",
    "principal_axes",
    "rotate_ties",
    "sparse_eigh",
    "stratified_rows",
    "whiten",
]
