"""Graphs of rows of any scale, offset and tie, against extended precision.

A squared distance is a sum of squares of differences that are rounded once: it is right to
(d + 4)·eps, above 1e-300. Who is a neighbour may change only where two rows tie to 1e-12 of
their squared distance. Weights of rows are judged by what is left of their equations (backward
error), which no conditioning can excuse.
"""

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from mercer.graphs import (
    heat_affinity,
    heat_width,
    label_product,
    laplacian,
    neighbor_graph,
    neighbor_radii,
    perturb_edges,
    radius_edges,
    reconstruction_weights,
    symmetrize,
    uniform_weights,
)
from oracles import sums as oracle
from torture.cases import Refusal, agree, answered, labels, law, log_ratios, points

EPS = np.finfo(float).eps
TINY = 1e-300  # squares below that have lost digits
ROWS = points(n=(1, 14), d=(1, 2, 5, 17, 40), dtypes=("float64", "float64", "float32"))
WAYS = st.sampled_from(["knn", "class_knn", "class", "radius"])


def stored(graph):
    """Where entries are stored, zeros included."""
    mask = np.zeros(graph.shape, bool)
    mask[np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr)), graph.indices] = True
    return mask


def may_refuse(squares, k=None):
    """Whether a square of a distance overflows, or all, to the k nearest, have lost digits."""
    near = squares if k is None else np.sort(squares, axis=1)[:, : k + 1]  # a row itself may be one
    return bool(near.max() < 1e-299 or (squares > 1e306).any())


@law(7_000, points=ROWS, way=WAYS, k=st.integers(1, 15), ratio=log_ratios(-3, 3))
def test_neighbours(points, way, k, ratio):
    X, y = points.rows(), labels("mixed", points.n, 2, points.seed)
    radius = float(10.0 ** (points.scale + ratio))
    squares = oracle.squared_distances(X, X)
    options = {"neighborhood": way, "n_neighbors": k, "radius": radius}
    out = answered(neighbor_graph, X, y, **options, names=("X",))
    if isinstance(out, Refusal):
        assert may_refuse(squares, k), out
        return out
    mask, dense = stored(out), out.toarray()
    agree(dense[mask], squares[mask], rtol=(points.d + 4) * EPS, atol=TINY)
    others = ~np.eye(points.n, dtype=bool)
    if way in ("class", "class_knn"):
        others &= y[:, None] == y
    if way == "class":
        assert (mask == others).all()
    elif way == "radius":
        bound = np.longdouble(radius) ** 2
        assert not (mask & (squares > bound * (1 + 1e-12) + TINY)).any()
        assert not (others & ~mask & (squares < bound * (1 - 1e-12) - TINY)).any()
        assert not (mask & ~others).any()
    else:
        assert not (mask & ~others).any()
        assert (mask.sum(axis=1) == np.minimum(k, others.sum(axis=1))).all()
        farthest = np.where(mask, squares, -1).max(axis=1)
        missed = np.where(others & ~mask, squares, np.inf).min(axis=1)
        assert (farthest <= missed * (1 + 1e-12) + TINY).all()
    return out


@law(4_000, points=ROWS, k=st.integers(1, 15))
def test_graphs_by_radii(points, k):
    Y, X = points.rows(), points.rows(3, stream=1)
    squares = oracle.squared_distances(X, Y)
    own = oracle.squared_distances(Y, Y)

    def edges():
        radii, new = neighbor_radii(Y, Y, k), neighbor_radii(X, Y, k)
        return radius_edges(X, Y, new, radii), new, radii

    out = answered(edges, names=("X",))
    if isinstance(out, Refusal):
        assert may_refuse(squares, k - 1) or may_refuse(own, k - 1), out
        return out
    graph, new, radii = out
    last = min(k, points.n) - 1
    agree(new, np.sort(squares, axis=1)[:, last], rtol=(points.d + 4) * EPS, atol=TINY)
    agree(radii, np.sort(own, axis=1)[:, last], rtol=(points.d + 4) * EPS, atol=TINY)
    mask, reach = stored(graph), np.maximum(new[:, None], radii)
    assert not (mask & (squares > reach * (1 + 1e-10) + TINY)).any()
    assert not (~mask & (squares < reach * (1 - 1e-10) - TINY)).any()
    agree(graph.toarray()[mask], squares[mask], rtol=(points.d + 4) * EPS, atol=TINY)
    return out


@law(4_000, points=ROWS, k=st.integers(1, 6), reg=st.sampled_from([1e-12, 1e-9, 1e-3, 1.0, 1e12]))
def test_reconstruction_weights(points, k, reg):
    X = points.rows()
    out = answered(
        lambda: reconstruction_weights(X, neighbor_graph(X, n_neighbors=k), reg=reg),
        names=("X", "reg"),
    )
    if isinstance(out, Refusal):
        assert may_refuse(oracle.squared_distances(X, X)), out
        return out
    W = out.toarray()
    assert np.isfinite(W).all()
    wide = X.astype(np.longdouble)
    for i in range(points.n):
        j = out.indices[out.indptr[i] : out.indptr[i + 1]]
        w = W[i, j].astype(np.longdouble)
        agree(w.sum(), 1.0, atol=1e-12 * np.abs(w).sum())
        if len(j) < 2:
            continue
        D = wide[j] - wide[i]
        size = np.abs(D).max()
        D = D / size if size else D
        G = D @ D.T
        trace = np.trace(G)
        G = G + np.eye(len(j)) * (reg * trace if trace else reg)
        gradient = G @ w
        # Of the solution before it was divided by its sum: Gw = 1/Σ, the same in every row.
        agree(
            gradient,
            np.full(len(j), gradient.mean()),
            atol=1e-13 * np.abs(G).sum() * np.abs(w).sum(),
        )
    return out


@law(
    4_000,
    points=points(n=(1, 14), d=(1, 5)),
    ratio=log_ratios(-200, 200),
    how=st.sampled_from(["or", "and", "mean"]),
    normalized=st.booleans(),
)
def test_affinities_and_laplacians(points, ratio, how, normalized):
    X = points.rows()
    graph = answered(neighbor_graph, X, n_neighbors=3, names=("X",))
    if isinstance(graph, Refusal):
        assert may_refuse(oracle.squared_distances(X, X)), graph
        return graph
    agree(heat_width(graph.data) ** 2, heat_width(graph.data) ** 2)
    width = float(10.0 ** min(max(points.scale + ratio, -300), 300))
    W = heat_affinity(graph, width=width)
    exact = np.exp(-graph.data.astype(np.longdouble) / np.longdouble(width) ** 2 / 2)
    size = np.minimum(graph.data.astype(np.longdouble) / np.longdouble(width) ** 2, 2000)
    agree(W.data, exact, atol=exact * 8 * EPS * (1 + size) + 2.3e-308)
    S = symmetrize(W, how)
    dense, A = S.toarray(), W.toarray()
    expected = {"or": np.maximum(A, A.T), "and": np.minimum(A, A.T), "mean": (A + A.T) * 0.5}[how]
    agree(dense, expected)
    L = laplacian(S, normalized=normalized).toarray()
    S = dense.astype(np.longdouble)
    degree = S.sum(axis=1)
    root = np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1)), 0)
    D = np.diag(degree)
    exact = np.diag((degree > 0) * 1.0) - root[:, None] * S * root if normalized else D - S
    agree(
        L,
        exact,
        rtol=32 * EPS,
        atol=32 * EPS if normalized else 32 * EPS * degree[:, None] + 1e-320,
    )
    return L


@law(1_500, points=points(n=(1, 10), d=(1, 3)), alpha=st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_labels_in_graphs(points, alpha):
    y = labels("mixed", points.n, 3, points.seed)
    Z = points.rows()
    same = y[:, None] == y
    dense = np.where(same, alpha, 1 - alpha).astype(np.longdouble)
    size = np.abs(dense) @ np.abs(Z.astype(np.longdouble)) + np.abs(Z).sum(
        axis=0, dtype=np.longdouble
    )
    agree(label_product(y, alpha, Z), dense @ Z, atol=16 * EPS * points.n * size)
    mask = np.random.default_rng(points.seed).random((points.n, points.n)) < 0.5
    W = csr_array(mask.astype(float))
    agree(perturb_edges(W, y, alpha).toarray(), np.where(mask, 1 + dense, 0), rtol=4 * EPS)
    agree(np.asarray(uniform_weights(W).sum(axis=1)), np.ones(points.n), rtol=16 * EPS)
