"""Kernel sums against their peers and against the machine: one command, one table.

    python benchmarks/bench_sums.py [--threads 1|all] [--n 20000] [--quick] [--kernel laplacian]

Every contender computes Σⱼ wⱼ exp(−‖xᵢ − yⱼ‖²/2b²), w = 1, or with --kernel laplacian
Σⱼ wⱼ exp(−Σₖ|xᵢₖ − yⱼₖ|/b), for the same points in one process;
its error is checked against extended precision.  Rates are billions of pairs per second, the
best of repeated runs.  A contender that is too slow for all rows gets fewer of them.

The limit is what the machine could do if it did nothing but the exponentials and the matrix
product, one after the other, each at the fastest rate that anything in this process reached.
Of absolute differences, which no matrix product gives, it is two additions a feature at half the
rate of floating-point operations: a product adds and multiplies in one instruction.

Peers that are not installed are left out: pip install torch==2.13.0 jax pykeops.
"""

import argparse
import os
import subprocess
import sys
import time
from functools import partial

DIMENSIONS = (2, 16, 64, 256)
PRECISIONS = ("float32", "float64")
TARGET_SECONDS = 1.0  # a run that takes longer gets no more rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--threads", choices=["1", "all"], help="default: both, one after the other"
    )
    parser.add_argument("--n", type=int, default=20_000, help="rows of X and of Y")
    parser.add_argument("--quick", action="store_true", help="no KeOps, SciPy and KernelDensity")
    parser.add_argument("--kernel", choices=["gaussian", "laplacian"], default="gaussian")
    options = parser.parse_args()
    if options.threads is None:
        for threads in ("1", "all"):
            subprocess.run([sys.executable, *sys.argv, "--threads", threads], check=True)  # noqa: S603
        return
    if options.threads == "1":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        os.environ.update(
            dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        )
    os.environ.setdefault("CXXFLAGS", "-march=native -ffast-math")  # for KeOps
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    Bench(options).run()


class Bench:
    def __init__(self, options):
        self.n = options.n
        self.kernel = options.kernel
        self.contenders = _contenders(options.quick, options.kernel)

    def run(self):
        cores = len(os.sched_getaffinity(0))
        print(f"\n{cores} core(s), n = m = {self.n:,}; billions of pairs per second, error")
        for precision in PRECISIONS:
            self.peers(precision)
        print("\nMercer alone: time relative to the plain sum with one bandwidth")
        titles = ("10 groups", "8 widths", "log", "log, 10 groups", "10 columns", "X with itself")
        print(" " * 12 + "d " + " ".join(f"{title:>14}" for title in titles))
        for precision in PRECISIONS:
            for d in DIMENSIONS:
                ratios = " ".join(f"{ratio:13.2f}×" for ratio in self.features(d, precision))
                print(f"{precision:8} {d:4d} {ratios}", flush=True)

    def peers(self, precision):
        """Print one table: every contender's rate and error, our share of the limit, ratios."""
        exps, flops = _peaks(precision)
        print(f"\n{precision}: {exps / 1e9:.2f}·10⁹ exponentials/s, {flops / 1e9:.0f} GFLOP/s")
        names = " ".join(f"{name:>13}" for name in self.contenders)
        print(f"   d   limit {names}  of limit  to best peer  to JAX")
        for d in DIMENSIONS:
            X, Y, w, b = _data(self.n, d, precision)
            b *= 1 if self.kernel == "gaussian" else 4 * d**0.5  # kernel values of the same size
            truth = _truth(X[:32], Y, w, b, self.kernel)
            found = {k: _measure(make, X, Y, w, b, truth) for k, make in self.contenders.items()}
            rates = {name: rate for name, (rate, _) in found.items() if rate == rate}
            ours = rates.pop("mercer")
            jax = rates.pop("JAX", float("nan"))
            limit = 1 / (1 / exps + (2 if self.kernel == "gaussian" else 4) * d / flops)
            cells = " ".join(f"{rate / 1e9:7.3f} {error:5.0e}" for rate, error in found.values())
            print(f"{d:4d} {limit / 1e9:7.3f} {cells}", end="")
            print(f"{100 * ours / limit:8.0f} %{ours / max(rates.values()):13.2f}×", end="")
            print(f"{ours / jax:7.2f}×", flush=True)

    def features(self, d, precision):
        """Return the times of what else a sum can do, relative to the plain sum."""
        import numpy as np

        from mercer.sums import kernel_sum, log_kernel_sum

        X, Y, w, b = _data(self.n, d, precision)
        rng = np.random.default_rng(0)
        groups, columns = rng.integers(0, 10, len(Y)), rng.random((len(Y), 10)).astype(precision)
        options = {"kernel": self.kernel, "bandwidth": b}
        ladder = 4 * b / (2**0.5 if self.kernel == "gaussian" else 2.0) ** np.arange(8)
        runs = [
            lambda: kernel_sum(X, Y, weights=w, **options),
            lambda: kernel_sum(X, Y, weights=w, groups=groups, **options),
            lambda: kernel_sum(X, Y, weights=w, kernel=self.kernel, bandwidth=ladder),
            lambda: log_kernel_sum(X, Y, weights=w, **options),
            lambda: log_kernel_sum(X, Y, weights=w, groups=groups, **options),
            lambda: kernel_sum(X, Y, weights=columns, **options),
            lambda: kernel_sum(X, weights=w, **options),
        ]
        best = [np.inf] * len(runs)
        for _ in range(3 if d > 64 else 5):  # in turn, so that all meet the same machine
            for i, run in enumerate(runs):
                best[i] = min(best[i], _seconds(run))
        return [seconds / best[0] for seconds in best[1:]]


def _data(n, d, precision):
    """Normal points, those of Y whitened exactly, so that gaussian_kde sums the same kernel."""
    import numpy as np

    rng = np.random.default_rng(d)
    X, Y = rng.normal(size=(2, n, d))
    Y -= Y.mean(axis=0)
    Y = np.linalg.solve(np.linalg.cholesky(np.cov(Y.T).reshape(d, d)), Y.T).T
    X, Y, w = (np.ascontiguousarray(A, precision) for A in (X, Y, np.ones(n)))
    return X, Y, w, 0.4 * d**0.5


def _truth(X, Y, w, b, kernel):
    import numpy as np

    X, Y, w = (A.astype(np.longdouble) for A in (X, Y, w))
    if kernel == "laplacian":
        return np.array([w @ np.exp(-np.abs(x - Y).sum(axis=1) / b) for x in X])
    return np.array([w @ np.exp(-((x - Y) ** 2).sum(axis=1) / (2 * b * b)) for x in X])


def _measure(make, X, Y, w, b, truth):
    """Return the best rate over repeated runs, and the relative error."""
    import numpy as np

    try:
        run = make(Y, w, b)
        error = float(np.max(np.abs(np.asarray(run(X[:64]))[: len(truth)] / truth - 1)))
        rows, seconds = 64, 0.0
        while True:
            part = X[:rows]
            run(part)  # compiles for this shape, if the contender does that
            seconds = max(_seconds(run, part), 1e-6)
            if rows == len(X) or seconds > TARGET_SECONDS:
                break
            rows = min(len(X), 4 * rows)
        repeats = int(np.clip(2 * TARGET_SECONDS / seconds, 2, 7))
        best = min(seconds, *(_seconds(run, part) for _ in range(repeats)))
        return rows * len(Y) / best, error
    except Exception as failure:  # a peer that fails is a cell without a number, not a crash
        print(f"{make}: {type(failure).__name__}: {failure}", file=sys.stderr)
        return float("nan"), float("nan")


def _seconds(run, *arguments):
    start = time.perf_counter()
    run(*arguments)
    return time.perf_counter() - start


def _contenders(quick, kernel):
    found = {"mercer": partial(_mercer, kernel=kernel)}
    peers = (
        _LAPLACIAN
        if kernel == "laplacian"
        else (
            ("torch", _torch, "torch", False),
            ("JAX", _jax, "jax", False),
            ("rbf_kernel", _rbf_kernel, "sklearn", False),
            ("KeOps", _keops, "pykeops", True),
            ("gaussian_kde", _gaussian_kde, "scipy", True),
            ("KernelDensity", _kernel_density, "sklearn", True),
        )
    )
    for name, make, module, is_slow in peers:
        if not (quick and is_slow):
            try:
                __import__(module)
                found[name] = make
            except ImportError:
                print(f"{module} is not installed: {name} is left out", file=sys.stderr)
    return found


def _mercer(Y, w, b, kernel):
    from mercer.sums import kernel_sum

    return lambda X: kernel_sum(X, Y, weights=w, kernel=kernel, bandwidth=b)


def _torch(Y, w, b):
    """Tiles as one would write them, the product formula above d = 4; the best of three sizes."""
    import torch

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    Y, w = torch.from_numpy(Y), torch.from_numpy(w)
    y2 = (Y * Y).sum(1)

    def tile(x, start, stop):
        if x.shape[1] <= 4:
            d2 = (x[:, 0, None] - Y[None, start:stop, 0]).square_()
            for f in range(1, x.shape[1]):
                d2 += (x[:, f, None] - Y[None, start:stop, f]).square_()
        else:
            d2 = torch.addmm(y2[None, start:stop], x, Y[start:stop].T, alpha=-2)
            d2 += (x * x).sum(1)[:, None]
        return d2.mul_(-0.5 / b**2).exp_() @ w[start:stop]

    def run(X, rows, columns):
        X = torch.from_numpy(X)
        out = torch.zeros(len(X), dtype=X.dtype)
        for i in range(0, len(X), rows):
            for j in range(0, len(Y), columns):
                out[i : i + rows] += tile(X[i : i + rows], j, j + columns)
        return out

    import numpy as np

    sample = np.ascontiguousarray(Y[:512].numpy())
    sizes = [(128, 1024), (256, 2048), (512, 8192)]
    for size in sizes:
        run(sample, *size)
    best = min(sizes, key=lambda size: min(_seconds(run, sample, *size) for _ in range(3)))
    return lambda X: run(X, *best)


def _jax(Y, w, b):
    """One jitted function over tiles of rows; the best of three sizes."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    jax.config.update("jax_enable_x64", True)
    Y, w = jnp.asarray(Y), jnp.asarray(w)

    def tile(x, Y, w):
        if x.shape[1] <= 4:
            d2 = sum((x[:, f, None] - Y[None, :, f]) ** 2 for f in range(x.shape[1]))
        else:
            d2 = (x * x).sum(1)[:, None] + (Y * Y).sum(1)[None, :] - 2 * x @ Y.T
        return jnp.exp(d2 * np.asarray(-0.5 / b**2, Y.dtype)) @ w

    def compiled(rows):
        @jax.jit
        def run(X, Y, w):
            padded = jnp.pad(X, ((0, -len(X) % rows), (0, 0)))
            tiles = padded.reshape(-1, rows, X.shape[1])
            return jax.lax.map(lambda x: tile(x, Y, w), tiles).reshape(-1)[: len(X)]

        return lambda X: run(X, Y, w).block_until_ready()

    sample = np.asarray(Y[:512])
    choices = [compiled(rows) for rows in (16, 64, 256)]
    for run in choices:
        run(sample)
    return min(choices, key=lambda run: min(_seconds(run, sample) for _ in range(3)))


def _rbf_kernel(Y, w, b):
    """Chunks of the kernel matrix, as scikit-learn's users write it."""
    import numpy as np
    from sklearn.metrics.pairwise import rbf_kernel

    return lambda X: np.concatenate(
        [rbf_kernel(X[i : i + 256], Y, gamma=0.5 / b**2) @ w for i in range(0, len(X), 256)]
    )


def _keops(Y, w, b):
    import numpy as np
    from pykeops.numpy import Genred

    d = Y.shape[1]
    arguments = [f"x=Vi({d})", f"y=Vj({d})", "w=Vj(1)", "g=Pm(1)"]
    total = Genred("Exp(-g*SqDist(x,y))*w", arguments, reduction_op="Sum", axis=1)
    g = np.array([0.5 / b**2], Y.dtype)
    return lambda X: total(X, Y, w[:, None], g, backend="CPU")[:, 0]


def _gaussian_kde(Y, w, b):
    import numpy as np
    from scipy.stats import gaussian_kde

    kde = gaussian_kde(Y.T, bw_method=b, weights=w)
    normaliser = len(Y) * (2 * np.pi * b * b) ** (Y.shape[1] / 2)
    return lambda X: kde(X.T) * normaliser


def _kernel_density(Y, w, b):
    import numpy as np
    from sklearn.neighbors import KernelDensity

    tree = KernelDensity(bandwidth=b).fit(Y, sample_weight=w)
    log_normaliser = np.log(w.sum(dtype=float)) + 0.5 * Y.shape[1] * np.log(2 * np.pi * b * b)
    return lambda X: np.exp(tree.score_samples(X) + log_normaliser)


def _laplacian_torch(Y, w, b):
    """Tiles of torch.cdist."""
    import torch

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    Y, w = torch.from_numpy(Y), torch.from_numpy(w)

    def run(X):
        parts = torch.from_numpy(X).split(256)
        return torch.cat([torch.cdist(x, Y, p=1.0).mul_(-1 / b).exp_() @ w for x in parts])

    return run


def _laplacian_jax(Y, w, b):
    import jax
    import jax.numpy as jnp
    import numpy as np

    jax.config.update("jax_enable_x64", True)
    Y, w = jnp.asarray(Y), jnp.asarray(w)

    def one(x, Y, w):
        return jnp.exp(jnp.abs(x - Y).sum(axis=1) * np.asarray(-1 / b, Y.dtype)) @ w

    rows = jax.jit(lambda X, Y, w: jax.lax.map(lambda x: one(x, Y, w), X))
    return lambda X: rows(X, Y, w).block_until_ready()


def _laplacian_kernel(Y, w, b):
    """Chunks of the kernel matrix, as scikit-learn's users write it."""
    import numpy as np
    from sklearn.metrics.pairwise import laplacian_kernel

    return lambda X: np.concatenate(
        [laplacian_kernel(X[i : i + 256], Y, gamma=1 / b) @ w for i in range(0, len(X), 256)]
    )


def _laplacian_cdist(Y, w, b):
    """Chunks of SciPy's distances."""
    import numpy as np
    from scipy.spatial.distance import cdist

    return lambda X: np.concatenate(
        [np.exp(cdist(X[i : i + 256], Y, "cityblock") / -b) @ w for i in range(0, len(X), 256)]
    )


def _laplacian_keops(Y, w, b):
    import numpy as np
    from pykeops.numpy import Genred

    d = Y.shape[1]
    arguments = [f"x=Vi({d})", f"y=Vj({d})", "w=Vj(1)", "g=Pm(1)"]
    total = Genred("Exp(-g*Sum(Abs(x-y)))*w", arguments, reduction_op="Sum", axis=1)
    g = np.array([1 / b], Y.dtype)
    return lambda X: total(X, Y, w[:, None], g, backend="CPU")[:, 0]


_LAPLACIAN = (
    ("torch.cdist", _laplacian_torch, "torch", False),
    ("JAX", _laplacian_jax, "jax", False),
    ("laplacian_k.", _laplacian_kernel, "sklearn", False),
    ("SciPy cdist", _laplacian_cdist, "scipy", False),
    ("KeOps", _laplacian_keops, "pykeops", True),
)


def _peaks(precision):
    """Exponentials and floating-point operations per second, each the fastest of several ways."""
    exps = max(_rate(run, count) for run, count in _exponentials(precision))
    flops = max(_rate(run, 2 * 2048**3) for run in _products(precision))
    return exps, flops


def _rate(run, count):
    run()
    return max(count / _seconds(run) for _ in range(7))


def _exponentials(precision):
    """Ways to exponentiate, on all cores, numbers that stay in the first-level cache."""
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np
    from numba import njit

    from mercer.sums.cpu._exp2 import exp2

    @njit(nogil=True, fastmath={"contract", "reassoc", "nsz"})
    def add_up(a):
        total = a.dtype.type(0)
        for j in range(a.size):
            total += exp2(a[j])
        return total

    @njit(nogil=True)
    def repeat(a, times):
        total = 0.0
        for i in range(times):
            total += add_up(a[i % 2])
        return total

    cores = len(os.sched_getaffinity(0))
    pool = ThreadPoolExecutor(cores)
    a = -20 * np.random.default_rng(0).random((2, 1024)).astype(precision)
    times = 20_000
    yield lambda: list(pool.map(repeat, [a] * cores, [times] * cores)), cores * times * 1024
    b = np.ascontiguousarray(np.broadcast_to(a.reshape(-1), (8, 2048)))
    yield lambda: np.exp(b, out=np.empty_like(b)), b.size
    if "torch" in sys.modules:
        import torch

        t = torch.from_numpy(b)
        yield lambda: torch.exp(t), b.size


def _products(precision):
    """Ways to multiply two 2048 × 2048 matrices."""
    import numpy as np

    A, B = np.random.default_rng(0).random((2, 2048, 2048)).astype(precision)
    yield lambda: A @ B  # not A @ A.T, of which NumPy computes only a half
    if "torch" in sys.modules:
        import torch

        S, T = torch.from_numpy(A), torch.from_numpy(B)
        yield lambda: S @ T


if __name__ == "__main__":
    main()
