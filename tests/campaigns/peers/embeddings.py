"""Spectral embedding by Mercer's eigenmaps, graphs and eigenproblems."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

from mercer import LaplacianEigenmaps
from mercer.graphs import laplacian
from mercer.kernels import width_from_gamma
from mercer.spectral import fix_signs, generalized_eigh


def spectral_embedding(
    adjacency: Any,
    *,
    n_components: int = 8,
    eigen_solver: Any = None,
    random_state: Any = None,
    eigen_tol: Any = "auto",
    norm_laplacian: bool = True,
    drop_first: bool = True,
) -> Any:
    """Embed the nodes of a graph, which has no loops, by the smallest vectors of its Laplacian."""
    weights = np.array(adjacency.toarray() if hasattr(adjacency, "toarray") else adjacency, float)
    np.fill_diagonal(weights, 0.0)
    L = laplacian(csr_array(weights), normalized=norm_laplacian).toarray()
    _, vectors = generalized_eigh(L, n_components=n_components + drop_first)
    if norm_laplacian:
        vectors = vectors / np.sqrt(weights.sum(axis=1))[:, np.newaxis]
    return fix_signs(vectors)[:, int(drop_first) :]


class SpectralEmbedding(BaseEstimator):
    """Mercer's eigenmaps behind the parameters of scikit-learn's estimator."""

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: Any = "nearest_neighbors",
        gamma: float | None = None,
        random_state: Any = None,
        eigen_solver: Any = None,
        eigen_tol: Any = "auto",
        n_neighbors: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.gamma = gamma
        self.random_state = random_state
        self.eigen_solver = eigen_solver
        self.eigen_tol = eigen_tol
        self.n_neighbors = n_neighbors

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        if self.affinity == "precomputed":
            self.affinity_matrix_ = X
            self.embedding_ = spectral_embedding(X, n_components=self.n_components)
            return self.embedding_
        if self.affinity == "rbf":
            gamma = 1.0 / X.shape[1] if self.gamma is None else self.gamma
            graph = {
                "neighborhood": "radius",
                "radius": 1e6,  # wider than the data: all rows are neighbours
                "affinity_width": width_from_gamma(gamma),
            }
        elif self.affinity == "nearest_neighbors":
            k = max(len(X) // 10, 1) if self.n_neighbors is None else self.n_neighbors
            graph = {"n_neighbors": k, "affinity": "binary"}
        else:
            raise ValueError(f"Mercer has no affinity {self.affinity!r}.")
        self.maps_ = LaplacianEigenmaps(n_components=self.n_components, **graph)
        self.embedding_ = self.maps_.fit_transform(X)
        return self.embedding_

    def fit(self, X: Any, y: Any = None) -> "SpectralEmbedding":
        self.fit_transform(X)
        return self
