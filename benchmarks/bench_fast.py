"""Gaussian sums in linear time, against direct sums and against peers: error beside time.

    python benchmarks/bench_fast.py million      n = m = 10⁶, d = 2, at 1e-9: the aim is 2 s
    python benchmarks/bench_fast.py growth       10⁵ … 10⁷ rows
    python benchmarks/bench_fast.py tolerances   d = 1, 2, 3 and tolerances
    python benchmarks/bench_fast.py tails        heavy tails, clusters, tiny and huge bandwidths
    python benchmarks/bench_fast.py crossover    from how many rows on it pays
    python benchmarks/bench_fast.py peers        FIGTree, KDEpy, scikit-learn's trees
    python benchmarks/bench_fast.py landmarks    any d: landmark sums against samples of rows
    python benchmarks/bench_fast.py classifier [--rows 10000000]
    python benchmarks/bench_fast.py calibrate    the constants of mercer.sums.fast._plan

Errors are relative, the largest over some 400 rows: random ones, those with the smallest sums, and
some of every size between; the truth is the direct sum.  Times are the best of three where a run
takes less than ten seconds.

Peers that are not installed are left out: pip install finufft pyfigtree KDEpy.
"""

import argparse
import re
import sys
import time
from pathlib import Path

import numpy as np

from mercer.sums import explain_kernel_sum, kernel_sum, landmark_kernel_sum


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=list(PARTS))
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the classifier")
    options = parser.parse_args()
    kernel_sum(np.zeros((600, 2)), bandwidth=1.0)  # loads compiled code
    kernel_sum(np.random.default_rng(0).random((600, 2)), bandwidth=1.0, method="fast", tol=1e-3)
    PARTS[options.what](options)


def timed(run, once=False):
    """Return the result and the best time."""
    best = np.inf
    for _ in range(1 if once else 3):
        start = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - start)
        if best > 10:
            break
    return result, best


def error(sums, X, Y, bandwidth):
    """Return the largest relative error over rows of every size."""
    n = len(X)
    by_size = np.argsort(sums)
    rows = np.unique(
        np.concatenate([np.random.default_rng(1).integers(0, n, 130), by_size[:130],
                        by_size[:: max(1, n // 130)]])
    )  # fmt: skip
    truth = kernel_sum(X[rows], X if Y is None else Y, bandwidth=bandwidth, method="direct")
    counted = truth > 0
    return float(np.abs(sums[rows][counted] / truth[counted] - 1).max())


def row(name, X, Y, bandwidth, tol, method="fast"):
    """Compute one sum and print a line about it."""
    plan = explain_kernel_sum(X, Y, bandwidth=bandwidth, tol=tol, method=method)
    options = {"bandwidth": bandwidth, "tol": tol, "method": method}
    sums, seconds = timed(lambda: kernel_sum(X, Y, **options))
    print(
        f"{name:34} {seconds:8.3f} s  predicted {plan.seconds:8.3f}  "
        f"direct {plan.direct_seconds:9.2f}  {plan.method:6} {plan.n_modes:11,} modes  "
        f"redone {plan.redone:6.1%}  error {error(sums, X, Y, bandwidth):.0e}",
        flush=True,
    )


def normal(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def million(options):
    X, Y = normal(10**6, 2), normal(10**6, 2, 1)
    for bandwidth in (0.3, 0.1, 0.03):
        row(f"n = m = 10⁶, b = {bandwidth}, tol 1e-9", X, Y, bandwidth, 1e-9)


def growth(options):
    for n in (10**5, 10**6, 10**7):
        X, Y = normal(n, 2), normal(n, 2, 1)
        row(f"n = m = {n:,}, b = 0.1, tol 1e-6", X, Y, 0.1, 1e-6)


def tolerances(options):
    for d in (1, 2, 3):
        X, Y = normal(10**6, d), normal(10**6, d, 1)
        for tol in (1e-3, 1e-6, 1e-9) if d == 3 else (1e-3, 1e-6, 1e-9, 1e-12):
            row(f"d = {d}, b = 0.2, tol {tol:.0e}", X, Y, 0.2, tol)


def tails(options):
    rng, n = np.random.default_rng(0), 300_000
    clusters = 1000 * rng.integers(0, 4, (n, 1)) + rng.normal(size=(n, 2))
    clouds = {
        "Student t, 1.5 degrees": rng.standard_t(1.5, (n, 2)),
        "lognormal, σ = 2": rng.lognormal(0, 2, (n, 2)),
        "clusters 1000 σ apart": clusters,
    }
    for name, X in clouds.items():
        row(name + ", b = 0.1", X, None, 0.1, 1e-6, "auto")
    X = normal(n, 2)
    for bandwidth in (1e-5, 1e-3, 1e2):
        row(f"normal, b = {bandwidth:g}", X, None, bandwidth, 1e-6, "auto")
    row("normal, d = 3, b = 0.01", normal(50_000, 3), None, 0.01, 1e-9, "auto")


def crossover(options):
    for d in (1, 2, 3):
        for n in (2000, 5000, 10_000, 20_000, 50_000):
            X, Y = normal(n, d), normal(n, d, 1)
            _, direct = timed(lambda X=X, Y=Y: kernel_sum(X, Y, bandwidth=0.2))
            _, fast = timed(
                lambda X=X, Y=Y: kernel_sum(X, Y, bandwidth=0.2, tol=1e-6, method="fast")
            )
            chosen = explain_kernel_sum(X, Y, bandwidth=0.2, tol=1e-6).method
            print(
                f"d = {d}, n = m = {n:6,}: direct {direct:7.4f} s, fast {fast:7.4f} s; "
                f"auto takes {chosen}",
                flush=True,
            )


def peers(options):
    """Everyone at 10⁵ rows and d = 2; those who take minutes get fewer rows, and say so."""
    n, bandwidth = 10**5, 0.2
    X, Y = normal(n, 2), normal(n, 2, 1)
    contenders = {
        "mercer, tol 1e-3": (lambda X: kernel_sum(X, Y, bandwidth=bandwidth, tol=1e-3), n),
        "mercer, tol 1e-9": (lambda X: kernel_sum(X, Y, bandwidth=bandwidth, tol=1e-9), n),
        "mercer, every term": (lambda X: kernel_sum(X, Y, bandwidth=bandwidth), n),
        "FIGTree, epsilon 1e-3": (_figtree(Y, bandwidth, 1e-3), n),
        "FIGTree, epsilon 1e-6": (_figtree(Y, bandwidth, 1e-6), n),
        "KDEpy FFTKDE, 256² + interpolation": (_kdepy(Y, bandwidth, 256), n),
        "KDEpy FFTKDE, 1024² + interpolation": (_kdepy(Y, bandwidth, 1024), n),
        "scikit-learn trees, rtol 1e-3": (_trees(Y, bandwidth, 1e-3), 1000),
        "scikit-learn trees, exact": (_trees(Y, bandwidth, 0), 1000),
    }
    print("n = m = 100,000, d = 2, b = 0.2; error: largest, and at the median row")
    for name, (run, rows) in contenders.items():
        if run is None:
            print(f"{name:36} is not installed")
            continue
        sums, seconds = timed(lambda run=run, rows=rows: run(X[:rows]))
        check = slice(0, min(rows, 2000))
        errors = np.abs(sums[check] / kernel_sum(X[check], Y, bandwidth=bandwidth) - 1)
        scaled = f" (from {rows:,} rows)" if rows < n else ""
        print(
            f"{name:36} {seconds * n / rows:9.3f} s  error {errors.max():.0e} "
            f"{np.median(errors):.0e}{scaled}",
            flush=True,
        )


def _figtree(Y, bandwidth, epsilon):
    try:
        from pyfigtree import figtree
    except ImportError:
        return None
    options = {"bandwidth": bandwidth * 2**0.5, "epsilon": epsilon}
    return lambda X: figtree(Y, X, np.ones(len(Y)), **options)


def _kdepy(Y, bandwidth, points):
    """A density on a grid, read off between its points by cubic splines."""
    try:
        from KDEpy import FFTKDE
    except ImportError:
        return None
    from scipy.interpolate import RectBivariateSpline

    def run(X):
        edges = np.abs(np.concatenate([X, Y])).max() + 4 * bandwidth
        axis = np.linspace(-edges, edges, points)
        grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
        density = FFTKDE(kernel="gaussian", bw=bandwidth).fit(Y).evaluate(grid)
        spline = RectBivariateSpline(axis, axis, density.reshape(points, points))
        return spline.ev(X[:, 0], X[:, 1]) * len(Y) * 2 * np.pi * bandwidth**2

    return run


def _trees(Y, bandwidth, rtol):
    from sklearn.neighbors import KernelDensity

    tree = KernelDensity(bandwidth=bandwidth, rtol=rtol).fit(Y)
    scale = len(Y) * 2 * np.pi * bandwidth**2
    return lambda X: np.exp(tree.score_samples(X)) * scale


def landmarks(options):
    n, m = 2000, 200_000
    print(f"n = {n:,}, m = {m:,}, 256 landmarks and 4096 rows; relative errors at the median row")
    for d in (2, 8, 32):
        X, Y = normal(n, d), normal(m, d, 1)
        for wide in (0.25, 0.5, 1.0, 2.0):
            bandwidth = wide * d**0.5
            truth, direct = timed(lambda X=X, Y=Y, b=bandwidth: kernel_sum(X, Y, bandwidth=b))
            (sums, errors), seconds = timed(
                lambda X=X, Y=Y, b=bandwidth: landmark_kernel_sum(X, Y, bandwidth=b, random_state=0)
            )
            drawn = np.random.default_rng(2).choice(m, 4352, replace=False)
            plain = kernel_sum(X, Y[drawn], bandwidth=bandwidth) * m / 4352
            covered = np.mean(np.abs(sums - truth) <= 2.13 * errors)
            print(
                f"d = {d:2}, b = {bandwidth:5.2f}: {seconds:6.3f} s, direct {direct:6.3f} s; "
                f"error {np.median(np.abs(sums / truth - 1)):.0e}, "
                f"estimated {np.median(errors / truth):.0e}, covers {covered:.1%}; "
                f"a sample of rows {np.median(np.abs(plain / truth - 1)):.0e}",
                flush=True,
            )


def classifier(options):
    from mercer import LaplacianClassifier

    rng = np.random.default_rng(0)
    for apart in (2.0, 8.0):
        y = rng.integers(0, 2, options.rows)
        X = rng.normal(size=(options.rows, 2)) + apart * y[:, None] * np.array([1.0, 0.0])
        model, fit = timed(
            lambda X=X, y=y: LaplacianClassifier(bandwidth=0.05, tol=1e-3).fit(X, y), once=True
        )
        found, predict = timed(lambda model=model, X=X: model.predict(X), once=True)
        status = Path("/proc/self/status").read_text()
        peak = int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) / 2**20
        print(
            f"{options.rows:,} rows, classes {apart:g} σ apart: fit {fit:.1f} s, predict "
            f"{predict:.1f} s, accuracy {np.mean(found == y):.4f}, peak {peak:.2f} GiB",
            flush=True,
        )


def calibrate(options):
    """Print the constants from what they stand for, in core-seconds."""
    from scipy.fft import irfft, rfft

    from mercer._memory import thread_count
    from mercer.sums.cpu._lattice_loops import gather, spread
    from mercer.sums.fast._grid import Grid, GridBox, reach_of
    from mercer.sums.fast._near import COLUMN_LEAF, _Leaves

    threads = thread_count()
    for dtype in (np.float32, np.float64):
        X = normal(20_000, 2).astype(dtype)
        _, seconds = timed(lambda X=X: kernel_sum(X, X[::-1], bandwidth=0.1))
        print(f"_PAIR {np.dtype(dtype)}: {threads * seconds / len(X) ** 2:.1e}")
    one, eight = (
        timed(lambda b=b: kernel_sum(X, X[::-1], bandwidth=0.8 / 2 ** (np.arange(b) / 2)))[1]
        for b in (1, 8)
    )
    print(f"_RUNG: {(eight / one - 1) / 7:.2f}")
    import finufft

    n = 10**6
    for d, count in ((1, 2**10), (2, 2**9), (3, 2**6), (3, 2**7)):
        box = GridBox(np.full(d, -5.0), np.full(d, 5.0))
        phases = Grid.around(box, 0.1, reach_of(1e-16)).phases(normal(n, d))
        plan = finufft.Plan(2, (count,) * d, eps=1e-14, isign=1, nthreads=threads)
        few = [phase[:1].copy() for phase in phases]
        modes = np.ones((count,) * d, complex)
        plan.setpts(*few)
        _, grid = timed(lambda plan=plan, modes=modes: plan.execute(modes))
        plan.setpts(*phases)
        _, sort = timed(lambda plan=plan, phases=phases: plan.setpts(*phases))
        _, all_points = timed(lambda plan=plan, modes=modes: plan.execute(modes))
        print(
            f"d = {d}, {count}^{d} modes: a point {threads * (sort + all_points - grid) / n:.1e}, "
            f"a grid point {threads * grid / (2 * count) ** d:.1e}"
        )
    points, weights, out = normal(n, 1)[:, 0], np.ones(n), np.empty(n)
    values = np.zeros(4096)
    _, carry = timed(lambda: spread(points, weights, 0, n, -10.0, 200.0, values))
    _, read = timed(lambda: gather(points, 0, n, -10.0, 200.0, values, out))
    values = np.ones(2**20)
    _, convolve = timed(lambda: irfft(rfft(values) * rfft(values), values.size))
    print(f"_LATTICE_POINT: {carry / n:.1e} and {read / n:.1e}, with what is arranged twice that")
    print(f"_LATTICE_GRID: {convolve / values.size:.1e}")
    Y = normal(n, 2)
    _, seconds = timed(lambda: _Leaves.of(Y, COLUMN_LEAF))
    print(f"_TREE: {seconds / n:.1e}")


PARTS = {
    part.__name__: part
    for part in (million, growth, tolerances, tails, crossover, peers, landmarks, classifier,
                 calibrate)
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
