"""Mercer's classifiers behind the names and parameters of scikit-learn's."""

from typing import Any

import numpy as np
from sklearn import discriminant_analysis
from sklearn.base import BaseEstimator, ClassifierMixin

from mercer import KernelFisherDiscriminant, LaplacianSVC


class LinearDiscriminantAnalysis(discriminant_analysis.LinearDiscriminantAnalysis):
    """Linear discriminant analysis whose answers are those of a kernel Fisher discriminant.

    The kernel is linear and the ridge vanishes.  LDA itself is fitted too, for its checks of
    options that Mercer has not, and for moments of the columns that a test looks at on its way.
    """

    def fit(self, X: Any, y: Any) -> "LinearDiscriminantAnalysis":
        self.ours_ = KernelFisherDiscriminant(
            kernel="linear",
            alpha=1e-13 * float(np.square(X).sum(axis=1).mean()),
            scatter="total",
            priors=self.priors,
            n_components=self.n_components,
            # The rank of a linear kernel is that of the columns: a hundred rows span it.
            n_landmarks=100 if len(X) > 2000 else None,
            random_state=0,
        ).fit(X, y)
        super().fit(X, y)
        self.priors_ = self.ours_.priors_
        return self

    def predict(self, X: Any) -> Any:
        return self.ours_.predict(X)

    def decision_function(self, X: Any) -> Any:
        return self.ours_.decision_function(X)

    def predict_proba(self, X: Any) -> Any:
        return self.ours_.predict_proba(X)

    def predict_log_proba(self, X: Any) -> Any:
        return self.ours_.predict_log_proba(X)

    def transform(self, X: Any) -> Any:
        """Scale as LDA does: scatter 1 within classes, and no axis along which all means agree."""
        values = self.ours_.eigenvalues_[: self.n_components]
        kept = values > 1e-6 * values.max()
        return self.ours_.transform(X)[:, kept] / np.sqrt(values[kept])


def svc(*, C: float = 1.0, tol: float = 1e-3, **parameters: Any) -> LaplacianSVC:
    """Return a Laplacian support vector machine without its Laplacian: a support vector machine."""
    parameters.pop("decision_function_shape", None)  # one versus all, always
    return LaplacianSVC(C=C, tol=tol, laplacian_weight=0, **parameters)


class _Propagation(ClassifierMixin, BaseEstimator):
    """A Laplacian support vector machine behind the parameters of label propagation."""

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float = 20,
        n_neighbors: int = 7,
        alpha: float | None = None,
        max_iter: int = 30,
        tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Any, y: Any) -> "_Propagation":
        kernel = "rbf" if self.kernel == "knn" else self.kernel
        if callable(kernel):  # theirs is a function of two tables, Mercer's one of two rows
            kernel = lambda a, b: self.kernel(a[None], b[None])[0, 0]  # noqa: E731
        self.machine_ = LaplacianSVC(
            kernel=kernel,
            gamma="scale" if self.kernel == "knn" else self.gamma,
            n_neighbors=self.n_neighbors,
            normalized=False,
        ).fit(X, y)
        self.classes_ = self.machine_.classes_
        self.transduction_ = self.machine_.predict(X)
        return self

    def predict(self, X: Any) -> Any:
        return self.machine_.predict(X)


class LabelPropagation(_Propagation):
    pass


class LabelSpreading(_Propagation):
    pass
