"""Projections: time against the literal algorithm, and growth with the number of rows.

    MERCER_DATA=/path/to/data python benchmarks/bench_projections.py          # all, some minutes
    python benchmarks/bench_projections.py kernel --rows 1500                 # one part

"kernel" is kernel LSVA with 10 directions: ours, Algorithm 2 of the paper with the exact deflation
and a pseudo-inverse of B in every step, and the same with the linear system I + λLK instead, which
is the best one can do step by step.  "landmarks" is the same with 300 landmarks.  "linear" is
Roweis-Saul and LPP on images of 784 pixels (MNIST, or noise of that size without the data folder).
"faces" is the Roweis-Saul classifier on rows of 4096 columns.  "eigenmaps" is LaplacianEigenmaps,
fit and transform of as many new rows, beside scikit-learn's SpectralEmbedding, which has no
transform and is stopped after --peer-seconds; the residual is the largest ‖Ly − λDy‖ / ‖Dy‖.
"kernel-lpp" is kernel LPP at two sizes.  "neighbours" compares exact and
approximate search.  On a busy machine, OMP_NUM_THREADS=1 and
--cpu measure the time of one processor.
"""

import argparse
import multiprocessing
import os
import resource
import time
import warnings
from collections.abc import Callable

import numpy as np
from scipy import linalg
from sklearn.datasets import make_classification
from sklearn.manifold import SpectralEmbedding
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from mercer.datasets import load_dataset
from mercer.graphs import (
    heat_affinity,
    laplacian,
    neighbor_graph,
    neighbor_radii,
    radius_edges,
    symmetrize,
)
from mercer.projections import (
    LaplacianEigenmaps,
    LaplacianSupportVectorAnalysis,
    LocalityPreservingProjection,
    RoweisSaulProjection,
    roweis_saul_classifier,
)

GAMMA, C, WEIGHT, K = 0.05, 100.0, 1.0, 10
CPU = False


def timed(function: Callable[[], object]) -> tuple[float, object]:
    """Seconds, and the result: by the clock, or with --cpu of the processors together."""
    clock = time.process_time if CPU else time.perf_counter
    start = clock()
    result = function()
    return clock() - start, result


def table(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        n, 20, n_informative=12, n_redundant=0, n_classes=10, n_clusters_per_class=1,
        class_sep=1.5, random_state=0,
    )  # fmt: skip
    return X / X.std(axis=0), y


def literal(X: np.ndarray, y: np.ndarray, n_components: int, *, pinv: bool) -> np.ndarray:
    """Algorithm 2, step by step on n × n matrices; projections of the training rows."""
    n = len(X)
    L = laplacian(symmetrize(heat_affinity(neighbor_graph(X, n_neighbors=K), width=1.0))).toarray()
    Kk = rbf_kernel(X, gamma=GAMMA)
    Z = []
    for k in range(n_components):
        inside = np.eye(n) + WEIGHT * (L @ Kk)
        # (20), or K(I + λLK)⁻¹
        M = Kk @ linalg.pinv(Kk @ inside) @ Kk if pinv else linalg.solve(inside.T, Kk).T
        signs = np.where(y == k % 10, 1.0, -1.0)
        svc = SVC(kernel="precomputed", C=C, tol=1e-5).fit((M + M.T) / 2, signs)
        c = np.zeros(n)
        c[svc.support_] = svc.dual_coef_[0]
        output = M @ c
        alpha = c - WEIGHT * (L @ output)
        z = output / np.sqrt(alpha @ output)
        Kk = Kk - np.outer(z, z)
        Z.append(z)
    return np.column_stack(Z)


def ours(X: np.ndarray, y: np.ndarray, n_components: int, **parameters: object) -> np.ndarray:
    lsva = LaplacianSupportVectorAnalysis(
        n_components=n_components, kernel="rbf", gamma=GAMMA, C=C, laplacian_weight=WEIGHT,
        n_neighbors=K, affinity_width=1.0, random_state=0, **parameters,
    )  # fmt: skip
    lsva.fit(X, y)
    return lsva


def difference(Z: np.ndarray, other: np.ndarray) -> float:
    """Greatest deviation, signs aside, relative to the greatest entry."""
    k = min(Z.shape[1], other.shape[1])
    signs = np.sign((Z[:, :k] * other[:, :k]).sum(axis=0))
    return float(np.abs(Z[:, :k] * signs - other[:, :k]).max() / np.abs(other).max())


def kernel(args: argparse.Namespace) -> None:
    print("kernel LSVA, 10 directions, seconds")
    for n in args.rows or [750, 1500, 3000]:
        X, y = table(n)
        seconds, model = timed(lambda X=X, y=y: ours(X, y, 10))
        Z = model.transform(X)
        line = f"  n = {n:5d}  ours {seconds:7.2f}"
        for name, pinv in (("system", False), ("pseudo-inverse", True)):
            steps = 10 if n <= 1500 or not pinv else 2
            took, other = timed(lambda X=X, y=y, p=pinv, s=steps: literal(X, y, s, pinv=p))
            took *= 10 / steps
            mark = "" if steps == 10 else f" (from {steps} steps)"
            line += (
                f"  literal, {name}{mark} {took:7.2f} = {took / seconds:5.1f}x"
                f" (differs by {difference(Z, other):.0e})"
            )
        print(line, flush=True)
    n = 1500
    X, y = table(n)
    lsva = LaplacianSupportVectorAnalysis(n_components=10, kernel="rbf", gamma=GAMMA)
    weights = np.geomspace(0.1, 100, 10)
    together, _ = timed(lambda: lsva.fit_path(X, y, weights))
    apart, _ = timed(lambda: [lsva.set_params(laplacian_weight=w).fit(X, y) for w in weights])
    print(f"  n = {n:5d}  path of 10 weights {together:.2f}, one by one {apart:.2f}", flush=True)


def landmarks(args: argparse.Namespace) -> None:
    print("LSVA with 300 landmarks, 10 directions, seconds; error of the nearest neighbour")
    for n in args.rows or [2500, 5000, 10000, 20000]:
        X, y = table(n + 2000)
        line = f"  n = {n:5d}"
        for loss in ("hinge", "squared_hinge"):
            seconds, model = timed(
                lambda X=X[:n], y=y[:n], loss=loss: ours(X, y, 10, loss=loss, landmarks=300)
            )
            nearest = KNeighborsClassifier(1).fit(model.transform(X[:n]), y[:n])
            error = 1 - nearest.score(model.transform(X[n:]), y[n:])
            line += f"  {loss} {seconds:6.2f} ({100 * error:.1f} %)"
        print(line, flush=True)


def images(n: int) -> tuple[np.ndarray, np.ndarray]:
    if os.environ.get("MERCER_DATA"):
        data = load_dataset("mnist")
        return data.X[:n].astype(np.float64), data.y[:n]
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 40)) @ rng.normal(size=(40, 784)), rng.integers(0, 10, n)


def linear(args: argparse.Namespace) -> None:
    print("projections of images, d = 784, seconds")
    models = {
        "Roweis-Saul, class_knn": RoweisSaulProjection(n_components=30),
        "Roweis-Saul, knn": RoweisSaulProjection(n_components=30, neighborhood="knn"),
        "LPP, knn": LocalityPreservingProjection(n_components=30),
        "LPP, knn, PCA 98 %": LocalityPreservingProjection(n_components=30, pca_components=0.98),
    }
    for n in args.rows or [5000, 10000, 20000]:
        X, y = images(n)
        times = {name: timed(lambda m=m, X=X, y=y: m.fit(X, y))[0] for name, m in models.items()}
        print(f"  n = {n:5d}  " + "  ".join(f"{k} {v:.1f}" for k, v in times.items()), flush=True)
    for n in args.rows or [2000, 4000, 8000]:
        X, _ = images(n)
        seconds, maps = timed(lambda X=X: LaplacianEigenmaps(n_components=10).fit(X))
        again, _ = timed(lambda X=X, maps=maps: maps.transform(X[:1000]))
        print(
            f"  n = {n:5d}  LaplacianEigenmaps {seconds:.1f}, 1000 new rows {again:.2f}", flush=True
        )


def faces(args: argparse.Namespace) -> None:
    rng = np.random.default_rng(0)
    for n in args.rows or [160]:
        X = rng.normal(size=(n, 30)) @ rng.normal(size=(30, 4096)) + rng.normal(size=(n, 4096))
        y = np.arange(n) % (n // 4)
        seconds, _ = timed(lambda X=X, y=y: roweis_saul_classifier().fit(X, y))
        print(f"roweis_saul_classifier, {n} faces of 4096 pixels: {seconds:.2f} s", flush=True)


def neighbours(args: argparse.Namespace) -> None:
    print("10 neighbours, d = 20, seconds")
    for n in args.rows or [10000, 30000]:
        X, _ = table(n)
        exact, graph = timed(lambda X=X: neighbor_graph(X, algorithm="exact"))
        near, other = timed(lambda X=X: neighbor_graph(X, algorithm="approximate", random_state=0))
        again, _ = timed(lambda X=X: neighbor_graph(X, algorithm="approximate", random_state=0))
        both = (graph != 0).multiply(other != 0).nnz / graph.nnz
        print(
            f"  n = {n:5d}  exact {exact:.1f}  approximate {near:.1f}, again {again:.1f}"
            f"  found {100 * both:.1f} %",
            flush=True,
        )


def blobs(n: int, d: int) -> np.ndarray:
    X, _ = make_classification(
        n, d, n_informative=12, n_redundant=0, n_classes=10, n_clusters_per_class=1,
        class_sep=1.5, random_state=0,
    )  # fmt: skip
    return X / X.std(axis=0)


def residual(maps: LaplacianEigenmaps, X: np.ndarray) -> float:
    """Largest ‖Ly − λDy‖ / ‖Dy‖, with the graph made anew from its definition."""
    radii = neighbor_radii(X, X, maps.n_neighbors + 1)
    W = radius_edges(X, X, radii, radii)
    W.data = np.exp(-0.5 * W.data / maps.affinity_width_**2)
    degree = np.asarray(W.sum(axis=1)).reshape(-1, 1)
    Y, scaled = maps.embedding_, degree * maps.embedding_
    error = scaled - W @ Y - scaled * maps.eigenvalues_
    return float((np.linalg.norm(error, axis=0) / np.linalg.norm(scaled, axis=0)).max())


def peer(X: np.ndarray, n_components: int) -> None:
    SpectralEmbedding(
        n_components, affinity="nearest_neighbors", n_neighbors=10, random_state=0, n_jobs=2
    ).fit(X)


def seconds_within(limit: float, function: Callable[..., None], *arguments: object) -> str:
    """Seconds of a call in a process of its own, or that it was stopped."""
    process = multiprocessing.get_context("spawn").Process(target=function, args=arguments)
    start = time.perf_counter()
    process.start()
    process.join(limit)
    if process.is_alive():
        process.terminate()
        process.join()
        return f"stopped after {limit:.0f}"
    took = time.perf_counter() - start
    return f"{took:.1f}" if process.exitcode == 0 else "failed"


def eigenmaps(args: argparse.Namespace) -> None:
    print(f"eigenmaps, d = {args.columns}, 10 neighbours, 10 coordinates, seconds")
    LaplacianEigenmaps().fit_transform(blobs(2100, args.columns))  # compiles
    for n in args.rows or [8000, 20000]:
        X = blobs(2 * n, args.columns)
        X, new = X[:n], X[n:]
        fit, maps = timed(lambda X=X: LaplacianEigenmaps(n_components=10).fit(X))
        extend, _ = timed(lambda new=new, maps=maps: maps.transform(new))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"  n = {n:6d}  ours: fit {fit:.1f}, transform of {n} new rows {extend:.1f}, residual "
            f"{residual(maps, X):.0e}, {memory:.0f} MiB at most",
            flush=True,
        )
        if args.peer_seconds:
            took = seconds_within(args.peer_seconds, peer, X, 10)
            print(f"  {'':10s}  SpectralEmbedding: fit {took}, no transform", flush=True)


def kernel_lpp(args: argparse.Namespace) -> None:
    print("kernel LPP, rbf, 10 directions, pca_components=0.99, seconds")
    for n in args.rows or [1000, 2000]:
        X, y = table(2 * n)
        lpp = LocalityPreservingProjection(
            n_components=10, kernel="rbf", gamma=GAMMA, pca_components=0.99
        )
        fit, _ = timed(lambda X=X, y=y, lpp=lpp, n=n: lpp.fit(X[:n], y[:n]))
        extend, _ = timed(lambda X=X, lpp=lpp, n=n: lpp.transform(X[n:]))
        print(f"  n = {n:5d}  fit {fit:.2f}, transform of {n} new rows {extend:.2f}", flush=True)


def main() -> None:
    named = (kernel, landmarks, linear, faces, neighbours, eigenmaps, kernel_lpp)
    parts = {f.__name__.replace("_", "-"): f for f in named}

    def part(name: str) -> str:
        if name not in parts:
            raise argparse.ArgumentTypeError(f"no part is called {name}")
        return name

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", type=part, nargs="*", help=", ".join(parts))
    parser.add_argument("--rows", type=int, nargs="*", help="numbers of rows instead of the usual")
    parser.add_argument("--columns", type=int, default=16, help="of eigenmaps")
    parser.add_argument("--peer-seconds", type=float, default=600, help="of eigenmaps; 0: no peer")
    parser.add_argument("--cpu", action="store_true", help="processor time, on a busy machine")
    args = parser.parse_args()
    global CPU
    CPU = args.cpu
    warnings.simplefilter("ignore")
    for name in args.parts or parts:
        parts[name](args)


if __name__ == "__main__":
    main()
