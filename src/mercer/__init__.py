"""Mercer: kernel classification from Parzen windows.

A Parzen window is a Mercer kernel, a class is a mean vector in its feature space,
and everything in this library is a weighted sum of kernels, computed in one place:
:mod:`mercer.sums`.  ``docs/architecture.md`` is the map of the packages.

The estimators are exported here and loaded when first asked for, so that a package which needs
no scikit-learn does not wait for it.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from mercer.classifiers import (
        ISEClassifier,
        LaplacianClassifier,
        NearestAngleClassifier,
        ParzenClassifier,
    )
    from mercer.density import ConditionalDensity, DensityOutlierDetector, KernelDensity
    from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
    from mercer.projections import (
        LaplacianEigenmaps,
        LaplacianFeatureMap,
        LaplacianSupportVectorAnalysis,
        LaplacianSVC,
        LocalityPreservingProjection,
        LocallyLinearEmbedding,
        RoweisSaulProjection,
    )

__version__ = "0.1.0.dev0"

__all__ = [
    "ConditionalDensity",
    "DensityOutlierDetector",
    "ISEClassifier",
    "KernelDensity",
    "KernelFisherDiscriminant",
    "LaplacianClassifier",
    "LaplacianEigenmaps",
    "LaplacianFeatureMap",
    "LaplacianSVC",
    "LaplacianSupportVectorAnalysis",
    "LocalityPreservingProjection",
    "LocallyLinearEmbedding",
    "NearestAngleClassifier",
    "ParzenClassifier",
    "RoweisSaulProjection",
    "SparseKernelFisherDiscriminant",
    "__version__",
]

_PACKAGES = ("classifiers", "density", "discriminants", "projections")


def __getattr__(name: str) -> _Any:
    if name in __all__:
        for package in _PACKAGES:
            module = _import_module(f"mercer.{package}")
            if name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
