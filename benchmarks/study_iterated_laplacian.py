"""Is (I − W)ᵀ(I − W) of locally linear embedding half the square of a graph's Laplacian?

    MERCER_DATA=/path/to/data python benchmarks/study_iterated_laplacian.py

The Roweis-Saul paper remarks, after Belkin and Niyogi, that (I − W)ᵀ(I − W) ≈ ½ L² "under certain
conditions".  For rings, a swiss roll, digits and faces, on the nearest neighbours and, for faces,
on the graph of classes: how far the weights of W are from 1/K, the factor c with which c L² comes
nearest to (I − W)ᵀ(I − W), what is left then, ‖(I − W)ᵀ(I − W) − c L²‖ / ‖(I − W)ᵀ(I − W)‖
(Frobenius), and which share of the span of ten directions the two have in common: those of the
least values but zero, of which each connected part of a graph has one.  L is D − A, or
I − D^(−½) A D^(−½), of the graph with an edge wherever W has one.  A table in Markdown.
"""

import argparse

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_digits, make_swiss_roll

from mercer.datasets import load_dataset
from mercer.graphs import (
    binary_affinity,
    laplacian,
    neighbor_graph,
    reconstruction_weights,
    symmetrize,
)

SMALLEST = 10


def ring(n, noise=0.0):
    angle = 2 * np.pi * np.arange(n) / n
    radius = 1 + noise * np.random.default_rng(0).normal(size=n)
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def faces(name, n_first):
    """The first images of each person, as in the paper's experiments."""
    X, y = load_dataset(name, return_X_y=True)
    rows = np.concatenate([np.flatnonzero(y == person)[:n_first] for person in np.unique(y)])
    return np.asarray(X, dtype=float)[rows], y[rows]


def fit_square(M, L):
    """The factor c of c L² nearest to M, and the norm of what is left over that of M."""
    square = L @ L
    factor = np.sum(M * square) / np.sum(square * square)
    return factor, np.linalg.norm(M - factor * square) / np.linalg.norm(M)


def shared_span(M, L, n_zero):
    """The share of the directions of least value of M that lie in the span of those of L."""
    U, V = (np.linalg.eigh(A)[1][:, n_zero : n_zero + SMALLEST] for A in (M, L))
    return np.sum((U.T @ V) ** 2) / SMALLEST


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    orl, people = faces("orl", 4)
    yale, persons = faces("yale", 5)
    digits, _ = load_digits(return_X_y=True)
    roll, _ = make_swiss_roll(1000, random_state=0)
    problems = {
        "ring of 200, 2 neighbours": (ring(200), None, 2),
        "ring of 200, 4 neighbours": (ring(200), None, 4),
        "the same, radius ± 5 %": (ring(200, 0.05), None, 4),
        "swiss roll, 1000, 10 neighbours": (roll, None, 10),
        "digits, first 1000, 10 neighbours": (digits[:1000], None, 10),
        "ORL, first 4 each, 4 neighbours": (orl, None, 4),
        "ORL, same class": (orl, people, 3),
        "Yale, first 5 each, 4 neighbours": (yale, None, 4),
        "Yale, same class": (yale, persons, 4),
    }
    print("| rows and graph | weights off 1/K, % | D − A: c | left, % | shared, % "
          "| normalised: c | left, % | shared, % |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for name, (X, y, k) in problems.items():
        way = "knn" if y is None else "class_knn"
        graph = neighbor_graph(X, y, neighborhood=way, n_neighbors=k)
        W = reconstruction_weights(X, graph)
        off = 100 * np.linalg.norm(W.data - 1 / k) / np.linalg.norm(np.full(W.nnz, 1 / k))
        rest = np.eye(len(X)) - W.toarray()
        M = rest.T @ rest
        A = symmetrize(binary_affinity(graph))
        n_parts, _ = connected_components(A)
        cells = []
        for normalized in (False, True):
            L = laplacian(A, normalized=normalized).toarray()
            factor, left = fit_square(M, L)
            cells += [
                f"{factor:.3g}",
                f"{100 * left:.0f}",
                f"{100 * shared_span(M, L, n_parts):.0f}",
            ]
        print(f"| {name} | {off:.0f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
