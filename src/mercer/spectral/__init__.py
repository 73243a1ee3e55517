"""Linear algebra with one sign and one ridge convention: eigenproblems, deflation, selection.

Arrays in, arrays out: nothing here knows what a kernel, a graph or a class is.
"""

from mercer.samples import stratified_rows
from mercer.spectral._cholesky import partial_cholesky, pivoted_cholesky
from mercer.spectral._conjugate import NotPositiveError as NotPositiveError
from mercer.spectral._conjugate import Solution as Solution
from mercer.spectral._conjugate import conjugate_gradients as conjugate_gradients
from mercer.spectral._deflation import PenaltyPath, Whitened, whiten
from mercer.spectral._eigen import (
    fix_signs,
    generalized_eigh,
    principal_axes,
    rotate_ties,
    sparse_eigh,
)
from mercer.spectral._eigen import gram_eigh as gram_eigh
from mercer.spectral._eigen import kernel_principal_axes as kernel_principal_axes
from mercer.spectral._landmarks import LandmarkMap
from mercer.spectral._nystrom import NystromBlocks as NystromBlocks
from mercer.spectral._nystrom import split_in_neighbours as split_in_neighbours
from mercer.spectral._panels import PanelFactor as PanelFactor
from mercer.spectral._panels import most_panel_rows as most_panel_rows
from mercer.spectral._ridge import RidgeAnswer as RidgeAnswer
from mercer.spectral._ridge import (
    RidgeBasis,
    RidgeFactor,
    RidgeSolution,
    decompose_features,
    decompose_kernel,
    factor_kernel,
)
from mercer.spectral._selection import GreedyPath, greedy_selection
from mercer.spectral._selection import StopRule as StopRule

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
# Other packages of Mercer import these names as well; they are private and change without notice.
_FOR_MERCER = (
    "NotPositiveError",
    "NystromBlocks",
    "PanelFactor",
    "RidgeAnswer",
    "Solution",
    "StopRule",
    "conjugate_gradients",
    "gram_eigh",
    "kernel_principal_axes",
    "most_panel_rows",
    "split_in_neighbours",
)
