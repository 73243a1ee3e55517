"""Projections: transformers that map rows to a few discriminant coordinates."""

from mercer.projections._eigenmaps import LaplacianEigenmaps
from mercer.projections._laplacian_feature_map import LaplacianFeatureMap
from mercer.projections._laplacian_svc import LaplacianSVC
from mercer.projections._lle import LocallyLinearEmbedding
from mercer.projections._lpp import LocalityPreservingProjection
from mercer.projections._lsva import LaplacianSupportVectorAnalysis
from mercer.projections._pipelines import (
    eigenfaces,
    fisherfaces,
    laplacianfaces,
    roweis_saul_classifier,
)
from mercer.projections._roweis_saul import RoweisSaulProjection

__all__ = [
    "LaplacianEigenmaps",
    "LaplacianFeatureMap",
    "LaplacianSVC",
    "LaplacianSupportVectorAnalysis",
    "LocalityPreservingProjection",
    "LocallyLinearEmbedding",
    "RoweisSaulProjection",
    "eigenfaces",
    "fisherfaces",
    "laplacianfaces",
    "roweis_saul_classifier",
]
