"""How often two-sample tests reject: their level, their power, and what they cost.

    python benchmarks/sim_two_sample.py [--runs 500] [--parts power]
    python benchmarks/sim_two_sample.py --parts peers samples many time

power
    Samples of 60 and 60 rows, 99 permutations, level 5 %: the test without a width (fuse), the
    tests of one width, and the best of ten single widths in each row, which nobody knows before.
    Where both samples come from one distribution there are four times as many runs: with
    2000, a level of 5 % is printed as 4.0 to 6.0 in 95 cases of 100.
peers
    The same samples: hyppo's MMD and Energy, the formulas of alibi-detect (median width, unbiased
    MMD²) and of MMD-FUSE as its authors print it (N_k not centred), and Compress Then Test of
    goodpoints at the median width.  What is not installed is left out.
samples
    Three samples of 40 rows, the third as the second sample above: the tests of several samples,
    the two-sample test of each pair with Holm's correction, and the F test of each column with
    Bonferroni's.
many
    Where rows go through blocks and landmarks: the power on 1000 and 1000 rows of every path.
time
    Seconds by number of rows, up to a million in each sample.
"""

import argparse
import time
import warnings
from functools import partial
from importlib.util import find_spec
from unittest import mock

import numpy as np
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.special import logsumexp
from sklearn.feature_selection import f_classif

from mercer.information import _blocks, k_sample_test, two_sample_test

COLUMNS = [
    ("ise", "median"),
    ("ise", "silverman"),
    ("cauchy_schwarz", "median"),
    ("cauchy_schwarz", "silverman"),
]
LADDER = np.arange(-6, 4) / 2  # of 2: the ten widths of the test without a width


def two_bumps(Z, rng):
    """The first column keeps its mean, and about its variance."""
    bumps = np.sign(Z[:, :1]) * 0.9 + 0.43 * rng.normal(size=(len(Z), 1))
    return np.concatenate([bumps, Z[:, 1:]], axis=1)


def correlated(Z, rng):
    """The first two columns are correlated by 0.7."""
    second = 0.7 * Z[:, :1] + np.sqrt(1 - 0.7**2) * Z[:, 1:2]
    return np.concatenate([Z[:, :1], second, Z[:, 2:]], axis=1)


SECOND_SAMPLES = {
    "same": lambda Z, rng: Z,
    "shift 0.6": lambda Z, rng: Z + 0.6 / np.sqrt(Z.shape[1]),
    "scale": lambda Z, rng: Z * (1 + 0.5 / np.sqrt(Z.shape[1])),
    "two bumps": two_bumps,
    "correlated": correlated,
}


def draw(change, d, seed, n=60):
    rng = np.random.default_rng([seed, d])
    return rng.normal(size=(n, d)), change(rng.normal(size=(n, d)), rng)


def rejects(X, Y, seed, **options):
    return two_sample_test(X, Y, n_permutations=99, random_state=seed, **options).significant


def rejects_at(X, Y, seed, exponent):
    """Whether the test of one Gaussian width rejects: the median distance times 2**exponent."""
    h = np.median(pdist(np.concatenate([X, Y]))) / np.sqrt(2) * 2.0**exponent
    return rejects(X, Y, seed, bandwidth=h)


def permuted_rejects(statistic, n, m, seed):
    """Whether a statistic of a labelling, +1/n and −1/m, is large among 99 permutations."""
    rng = np.random.default_rng(seed)
    label = np.repeat([True, False], [n, m])
    labels = np.stack([label, *(rng.permutation(label) for _ in range(99))])
    values = statistic(labels)
    return np.mean(values >= values[0] - 1e-12) <= 0.05


def unbiased(K, labels):
    """MMD² of each labelling, without the pairs of a row with itself."""
    K = K - np.diag(np.diag(K))
    a, b = labels.astype(float), (~labels).astype(float)
    n, m = a[0].sum(), b[0].sum()
    xx, yy, xy = ((p @ K * q).sum(1) for p, q in ((a, a), (b, b), (a, b)))
    return xx / (n * (n - 1)) + yy / (m * (m - 1)) - 2 * xy / (n * m)


def alibi_formula(X, Y, seed):
    """Gaussian kernel, σ² half the median of the squared distances across; permutations."""
    Z = np.concatenate([X, Y])
    variance = np.median(cdist(X, Y, "sqeuclidean")) / 2
    K = np.exp(-squareform(pdist(Z, "sqeuclidean")) / (2 * variance))
    return permuted_rejects(partial(unbiased, K), len(X), len(Y), seed)


def fuse_as_printed(X, Y, seed):
    """MMD-FUSE with N_k = Σk²/(n (n − 1)) and λ = √(n (n − 1)), ten even widths of each kernel."""
    Z, n = np.concatenate([X, Y]), min(len(X), len(Y))
    kernels = []
    for metric in ("cityblock", "euclidean"):
        r = pdist(Z, metric)
        low, high = np.quantile(r, [0.05, 0.95])
        for width in np.linspace(low / 2, 2 * high, 10):
            s = squareform(r) / width
            kernels.append(
                np.exp(-s * np.sqrt(2)) if metric == "cityblock" else np.exp(-(s**2) / 2)
            )

    def statistic(labels):
        logs = []
        for K in kernels:
            squares = (K**2).sum() - len(K)
            logs.append(n * (n - 1) * unbiased(K, labels) / np.sqrt(squares))
        return logsumexp(logs, axis=0)

    return permuted_rejects(statistic, len(X), len(Y), seed)


def hyppo_rejects(X, Y, seed, name):
    from hyppo import ksample

    return getattr(ksample, name)().test(X, Y, random_state=seed)[1] <= 0.05


def compress_then_test(X, Y, seed, g=2, s=8):
    from goodpoints.ctt import ctt

    width = np.median(pdist(np.concatenate([X, Y])[:1000])) * np.sqrt(2)  # exp(−r²/width²)
    result = ctt(X, Y, g, B=99, s=s, lam=width, null_seed=seed, statistic_seed=seed)
    return bool(result.rejects)


def peers():
    found = {"alibi formula": alibi_formula, "fuse as printed": fuse_as_printed}
    if find_spec("hyppo"):
        found["hyppo MMD"] = partial(hyppo_rejects, name="MMD")
        found["hyppo Energy"] = partial(hyppo_rejects, name="Energy")
    if find_spec("goodpoints"):
        found["CTT"] = compress_then_test
    return found


def table(tests, runs, oracle=()):
    """Print the share of runs in which each test rejects; the best of those in `oracle` is one."""
    shown = [*tests, *(["best width"] if oracle else [])]
    print(f"{'d':<4}{'second sample':<15}" + "  ".join(f"{name:>14}" for name in shown))
    for d in (1, 2, 10, 50):
        for name, change in SECOND_SAMPLES.items():
            if name == "correlated" and d == 1:
                continue
            n_runs = 4 * runs if name == "same" else runs
            samples = [draw(change, d, seed) for seed in range(n_runs)]
            shares = [share(test, samples) for test in tests.values()]
            if oracle and name != "same":
                shares.append(max(share(test, samples) for test in oracle))
            cells = "  ".join(f"{value:>14.1f}" for value in shares)
            print(f"{d:<4}{name:<15}{cells}", flush=True)


def share(test, samples):
    """Share of pairs of samples, in per cent, that a test rejects."""
    return 100 * np.mean([test(X, Y, seed) for seed, (X, Y) in enumerate(samples)])


def power(runs):
    tests = {"fuse": rejects}
    for statistic, width in COLUMNS:
        name = f"{statistic.replace('cauchy_schwarz', 'cs')} {width}"
        tests[name] = partial(rejects, statistic=statistic, bandwidth=width)
    table(tests, runs, [partial(rejects_at, exponent=exponent) for exponent in LADDER])


def k_sample_rejects(Z, y, seed, statistic):
    return k_sample_test(
        Z, y, statistic=statistic, n_permutations=99, random_state=seed
    ).significant


def some_pair_rejects(Z, y, seed):
    """Whether the least of three p-values is small enough for Holm's correction."""
    pairs = [(Z[y == a], Z[y == b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    options = {"n_permutations": 199, "random_state": seed}
    return 3 * min(two_sample_test(*pair, **options).pvalue for pair in pairs) <= 0.05


def some_mean_differs(Z, y, seed):
    return Z.shape[1] * f_classif(Z, y)[1].min() <= 0.05


def samples_of_three(runs, n=40):
    tests = {
        "mmd": partial(k_sample_rejects, statistic="mmd"),
        "laplacian_cut": partial(k_sample_rejects, statistic="laplacian_cut"),
        "pairs, Holm": some_pair_rejects,
        "F, Bonferroni": some_mean_differs,
    }
    y = np.repeat([0, 1, 2], n)
    print(f"{'d':<4}{'third sample':<15}" + "  ".join(f"{name:>14}" for name in tests))
    for d in (2, 10):
        for name, change in SECOND_SAMPLES.items():
            drawn = []
            for seed in range(4 * runs if name == "same" else runs):
                X, Y = draw(change, d, seed, n)
                first = np.random.default_rng([seed, d, 1]).normal(size=(n, d))
                drawn.append(np.concatenate([first, X, Y]))
            shares = [100 * np.mean([test(Z, y, seed) for seed, Z in enumerate(drawn)])
                      for test in tests.values()]  # fmt: skip
            print(f"{d:<4}{name:<15}" + "  ".join(f"{v:>14.1f}" for v in shares), flush=True)


def many(runs, n=1000):
    """Differences that the test of all pairs sees in some half of the runs."""

    def shift(rng):
        return rng.normal(size=(n, 10)), rng.normal(size=(n, 10)) + 0.16 / np.sqrt(10)

    def scale(rng):
        return rng.normal(size=(n, 10)), rng.normal(size=(n, 10)) * (1 + 0.1 / np.sqrt(10))

    def bumps(rng):
        X, Z = rng.normal(size=(2, n, 2))
        return X, np.where(rng.uniform(size=(n, 1)) < 0.4, two_bumps(Z, rng), Z)

    def cluster(rng):
        X, Y = rng.normal(size=(2, n, 5))
        Y[: n // 50] = 1 + 0.15 * Y[: n // 50]
        return X, Y

    print(f"{n} and {n} rows: share of runs that reject, and seconds of one processor for each")
    for make in (shift, scale, bumps, cluster):
        samples = [make(np.random.default_rng(seed)) for seed in range(runs)]
        cells = []
        for name, pairs, landmarks, blocks in (
            ("rows", 10**9, 1, 2 * n), ("blocks", 10**9, 1, 512), ("256 landmarks", 0, 256, 512),
            ("512", 0, 512, 512), ("1024", 0, 1024, 512),
        ):  # fmt: skip
            start = time.process_time()
            with mock.patch.multiple(
                _blocks, _ALL_PAIRS=pairs, _LANDMARKS=landmarks, _BLOCKS=blocks,
                _MOST_BLOCKS=max(1024, blocks),
            ):  # fmt: skip
                value = share(rejects, samples)
            seconds = (time.process_time() - start) / runs
            cells.append(f"{name} {value:.1f} ({seconds:.2f} s)")
        if find_spec("goodpoints"):
            start = time.process_time()
            value = share(partial(compress_then_test, g=4, s=16), samples)
            cells.append(f"CTT {value:.1f} ({(time.process_time() - start) / runs:.2f} s)")
        print(f"{make.__name__:<8}", ", ".join(cells), flush=True)


def timing():
    for n in (1000, 5000):
        for dtype in (np.float64, np.float32):
            Z = np.random.default_rng(0).normal(size=(n, 16)).astype(dtype)
            for width in ("median", None):
                start = time.perf_counter()
                two_sample_test(Z[: n // 2], Z[n // 2 :], bandwidth=width, random_state=0)
                seconds = time.perf_counter() - start
                print(
                    f"{n} rows, d = 16, 999 permutations, {dtype.__name__}, bandwidth={width!r}: "
                    f"{seconds:.2f} s"
                )
    for n in (5000, 10_000, 20_000, 100_000, 1_000_000):
        X, Y = np.random.default_rng(0).normal(size=(2, n, 10))
        start, used = time.perf_counter(), time.process_time()
        result = two_sample_test(X, Y, random_state=0)
        print(
            f"{n} and {n} rows, d = 10, no bandwidth: {time.perf_counter() - start:.2f} s, "
            f"{time.process_time() - used:.2f} s of processors (p = {result.pvalue:.3f})",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument(
        "--parts", nargs="+", default=["power"],
        choices=["power", "peers", "samples", "many", "time"],
    )  # fmt: skip
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # narrow windows and few permutations are what is looked at
    if "power" in given.parts:
        power(given.runs)
    if "peers" in given.parts:
        table(peers(), given.runs)
    if "samples" in given.parts:
        samples_of_three(given.runs)
    if "many" in given.parts:
        many(max(1, given.runs // 10))
    if "time" in given.parts:
        timing()


if __name__ == "__main__":
    main()
