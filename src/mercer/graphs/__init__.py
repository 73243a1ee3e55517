"""Rows → neighbourhood → sparse affinity → Laplacian.

Each step is one function, and what passes between them is a sparse matrix of n × n:

    neighbor_graph       who is whose neighbour: squared distances, one row per point
        │                (k nearest, within a radius, same class, k nearest of the class)
        ├─ heat_affinity, binary_affinity ─ symmetrize ─ laplacian
        │                                   (or, and, mean)
        └─ reconstruction_weights, uniform_weights          rows that add up to one

A graph that new rows can join is made of ``neighbor_radii`` and ``radius_edges`` instead.
Class labels may pull at either kind of weights (``perturb_edges``; ``label_product`` applies the
dense perturbation that was printed in one of the papers without storing it).

>>> import numpy as np
>>> from mercer.graphs import heat_affinity, laplacian, neighbor_graph, symmetrize
>>> X = np.array([[0.0], [1.0], [3.0]])
>>> W = symmetrize(heat_affinity(neighbor_graph(X, n_neighbors=1), width=1.0), "or")
>>> W.toarray().round(2)
array([[0.  , 0.61, 0.  ],
       [0.61, 0.  , 0.14],
       [0.  , 0.14, 0.  ]])
>>> laplacian(W).sum(axis=1).round(12).tolist()
[0.0, 0.0, 0.0]
"""

from mercer.graphs._affinity import (
    binary_affinity,
    heat_affinity,
    heat_width,
    laplacian,
    symmetrize,
)
from mercer.graphs._extension import neighbor_radii, radius_edges
from mercer.graphs._labels import label_product, perturb_edges
from mercer.graphs._neighbors import neighbor_graph
from mercer.graphs._reconstruction import new_row_weights as new_row_weights
from mercer.graphs._reconstruction import reconstruction_weights, uniform_weights

__all__ = [
    "binary_affinity",
    "heat_affinity",
    "heat_width",
    "label_product",
    "laplacian",
    "neighbor_graph",
    "neighbor_radii",
    "perturb_edges",
    "radius_edges",
    "reconstruction_weights",
    "symmetrize",
    "uniform_weights",
]
# Other packages of Mercer import this name as well; it is private and changes without notice.
_FOR_MERCER = ("new_row_weights",)
