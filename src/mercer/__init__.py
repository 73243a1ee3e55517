"""Mercer: kernel classification from Parzen windows.

A Parzen window is a Mercer kernel, a class is a mean vector in its feature space,
and everything in this library is a weighted sum of kernels, computed in one place:
:mod:`mercer.sums`.  ``docs/architecture.md`` is the map of the packages.
"""

from mercer.classifiers import (
    ISEClassifier,
    LaplacianClassifier,
    NearestAngleClassifier,
    ParzenClassifier,
)
from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from mercer.projections import (
    LaplacianEigenmaps,
    LaplacianFeatureMap,
    LaplacianSupportVectorAnalysis,
    LaplacianSVC,
    LocalityPreservingProjection,
    RoweisSaulProjection,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "ISEClassifier",
    "KernelFisherDiscriminant",
    "LaplacianClassifier",
    "LaplacianEigenmaps",
    "LaplacianFeatureMap",
    "LaplacianSVC",
    "LaplacianSupportVectorAnalysis",
    "LocalityPreservingProjection",
    "NearestAngleClassifier",
    "ParzenClassifier",
    "RoweisSaulProjection",
    "SparseKernelFisherDiscriminant",
    "__version__",
]
