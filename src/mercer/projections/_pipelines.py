"""Face recognisers as pipelines: a projection, then the nearest neighbour."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer.projections._linear_projection import NO_VARIANCE
from mercer.projections._lpp import LocalityPreservingProjection
from mercer.projections._roweis_saul import RoweisSaulProjection

_KEPT = 0.95  # Share of the variance that fisherfaces keep if there are more rows than columns.


def roweis_saul_classifier(
    *, n_components: int | None = None, metric: str = "euclidean", **parameters: Any
) -> Pipeline:
    """Roweis–Saul projection, then the nearest neighbour.

    Parameters
    ----------
    n_components : int, default=None
        Directions; None is one less than there are classes.
    metric : str or callable, default="euclidean"
        Distance of the nearest neighbour, as in scikit-learn's KNeighborsClassifier.
    **parameters
        Further ones of :class:`RoweisSaulProjection`.

    Returns
    -------
    Pipeline
        Steps "projection" and "classifier".

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer.projections import roweis_saul_classifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = roweis_saul_classifier(n_components=20).fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.9
    True
    """
    return _nearest_neighbor(RoweisSaulProjection(n_components=n_components, **parameters), metric)


def laplacianfaces(
    *,
    n_components: int | None = None,
    pca_components: int | float | None = 0.98,
    unit_length: bool = True,
    metric: str = "euclidean",
    **parameters: Any,
) -> Pipeline:
    """Principal components, locality preserving projection, nearest neighbour (Laplacianfaces).

    Parameters
    ----------
    n_components : int, default=None
        Directions; None is one less than there are classes.
    pca_components : int or float, default=0.98
        Of the first step; He et al. keep 98 % of the variance.
    unit_length : bool, default=True
        Scale the directions to length 1.
    metric : str or callable, default="euclidean"
        Distance of the nearest neighbour.
    **parameters
        Further ones of :class:`LocalityPreservingProjection`.

    Returns
    -------
    Pipeline
        Steps "projection" and "classifier".

    Examples
    --------
    >>> from mercer.projections import laplacianfaces
    >>> list(laplacianfaces(label_weight=0.9).named_steps)
    ['projection', 'classifier']
    """
    projection = LocalityPreservingProjection(
        n_components=n_components,
        pca_components=pca_components,
        unit_length=unit_length,
        **parameters,
    )
    return _nearest_neighbor(projection, metric)


def eigenfaces(*, n_components: int | float | None = 0.98, metric: str = "euclidean") -> Pipeline:
    """Principal components, then the nearest neighbour (eigenfaces).

    Parameters
    ----------
    n_components : int, float or None, default=0.98
        As in scikit-learn's PCA.
    metric : str or callable, default="euclidean"
        Distance of the nearest neighbour.

    Returns
    -------
    Pipeline
        Steps "projection" and "classifier".

    Examples
    --------
    >>> from mercer.projections import eigenfaces
    >>> eigenfaces(n_components=20).named_steps["projection"]
    PCA(n_components=20, svd_solver='full')
    """
    return _nearest_neighbor(PCA(n_components=n_components, svd_solver="full"), metric)


def fisherfaces(
    *,
    n_components: int | None = None,
    pca_components: int | float | str = "auto",
    metric: str = "euclidean",
) -> Pipeline:
    """Principal components, Fisher's discriminant, nearest neighbour (fisherfaces).

    The discriminant is a :class:`RoweisSaulProjection` with class means for
    reconstructions, with directions scaled to length 1.  scikit-learn's LDA scales them to
    unit within-class scatter, which is nearly nothing here and makes distances noise.

    Parameters
    ----------
    n_components : int, default=None
        Directions; None is one less than there are classes, and more are of no use.
    pca_components : int, float or "auto", default="auto"
        Of the first step.  With N rows of C classes, "auto" keeps N − C components where there
        are more columns than that, so that the within-class scatter can be inverted.  Otherwise it
        can be inverted anyway, but along directions of nearly no variance it is noise, which the
        discriminant would prefer: "auto" keeps 95 % of the variance, and at least C − 1
        components.
    metric : str or callable, default="euclidean"
        Distance of the nearest neighbour.

    Returns
    -------
    Pipeline
        Steps "pca", "projection" and "classifier".

    Examples
    --------
    >>> from mercer.projections import fisherfaces
    >>> list(fisherfaces().named_steps)
    ['pca', 'projection', 'classifier']
    """
    fisher = RoweisSaulProjection(
        n_components=n_components,
        neighborhood="class",
        weights="uniform",
        constraint="unit_covariance",
        unit_length=True,
    )
    pipeline = _nearest_neighbor(fisher, metric)
    return Pipeline([("pca", _WithinClassPCA(n_components=pca_components)), *pipeline.steps])


def _nearest_neighbor(projection: Any, metric: str) -> Pipeline:
    classifier = KNeighborsClassifier(n_neighbors=1, metric=metric)
    return Pipeline([("projection", projection), ("classifier", classifier)])


class _WithinClassPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """PCA to a space where the within-class scatter can be inverted and is not noise."""

    def __init__(self, *, n_components: int | float | str = "auto") -> None:
        self.n_components = n_components

    def fit(self, X: Any, y: Any) -> Self:
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        if self.n_components != "auto":
            self.pca_ = PCA(n_components=self.n_components, svd_solver="full").fit(X)
            return self
        if (X[0] == X).all():
            raise ValueError(NO_VARIANCE)  # PCA would divide by zero.
        (n, d), classes = X.shape, len(np.unique(y))
        count = n - classes
        if count >= d:
            share = PCA(svd_solver="full").fit(X).explained_variance_ratio_.cumsum()
            count = max(int(np.searchsorted(share, _KEPT)) + 1, classes - 1)
        self.pca_ = PCA(n_components=max(1, min(count, d)), svd_solver="full").fit(X)
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.pca_.transform(validate_data(self, X, dtype=np.float64, reset=False))

    @property
    def _n_features_out(self) -> int:
        return int(self.pca_.n_components_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
