"""Pictures of fitted estimators, as scikit-learn's ``Display`` classes.

A display is made by a class method (``from_estimator``, …), which computes, and then draws by
``plot`` with matplotlib (the extra ``plot``, imported only there); ``plot`` can be called again for
other axes.  Displays read the public fitted attributes and import none of the estimators.
"""

from mercer.plots._basis_images import BasisImageDisplay
from mercer.plots._decision_regions import DecisionRegionDisplay
from mercer.plots._density import DensityDisplay
from mercer.plots._embedding import EmbeddingDisplay
from mercer.plots._leave_one_out_path import LeaveOneOutPathDisplay
from mercer.plots._leave_one_out_surface import LeaveOneOutSurfaceDisplay
from mercer.plots._significance_vectors import SignificanceDisplay

__all__ = [
    "BasisImageDisplay",
    "DecisionRegionDisplay",
    "DensityDisplay",
    "EmbeddingDisplay",
    "LeaveOneOutPathDisplay",
    "LeaveOneOutSurfaceDisplay",
    "SignificanceDisplay",
]
