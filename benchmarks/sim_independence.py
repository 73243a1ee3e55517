"""How often tests of independence reject: level, power beside peers, and what they cost.

    python benchmarks/sim_independence.py [--runs 150] [--rows 100] [--mgc] [--seconds-only]

Level 5 %, 199 permutations.  For independent sides there are four times as many runs.  "literal" is
the test of HSIC with kernels as wide as the median distance, by the matrices of all pairs; hyppo's
tests run where hyppo is installed, MGC where it is asked for: it takes seconds for each test.
"""

import argparse
import time
import warnings

import numpy as np
from scipy.spatial.distance import pdist, squareform

from mercer.information import independence_test

PERMUTATIONS = 199


def independent(rng, n):
    return rng.normal(size=(n, 1)), rng.normal(size=(n, 1))


def far_rows(rng, n):
    """Independent, with rows far out on one side and 0/1 on the other."""
    return rng.standard_cauchy(size=(n, 1)), rng.integers(0, 2, size=(n, 1)).astype(float)


def linear(rng, n):
    x = rng.normal(size=(n, 1))
    return x, 0.3 * x + rng.normal(size=(n, 1))


def quadratic(rng, n):
    x = rng.uniform(-1, 1, size=(n, 1))
    return x, x**2 + 0.7 * rng.normal(size=(n, 1))


def sine(rng, n):
    """Two periods."""
    x = rng.uniform(-1, 1, size=(n, 1))
    return x, np.sin(2 * np.pi * x) + 1.5 * rng.normal(size=(n, 1))


def fast_sine(rng, n):
    """Four periods."""
    x = rng.uniform(-1, 1, size=(n, 1))
    return x, np.sin(4 * np.pi * x) + 1.1 * rng.normal(size=(n, 1))


def circle(rng, n):
    t = rng.uniform(0, 2 * np.pi, size=(n, 1))
    return np.cos(t) + 0.3 * rng.normal(size=(n, 1)), np.sin(t) + 0.3 * rng.normal(size=(n, 1))


def two_parabolas(rng, n):
    x = rng.uniform(-1, 1, size=(n, 1))
    y = (x**2 + 0.25 * rng.uniform(size=(n, 1))) * rng.choice([-1, 1], size=(n, 1))
    return x, y + 0.45 * rng.normal(size=(n, 1))


def multiplicative(rng, n):
    x = rng.normal(size=(n, 1))
    return x, (x + 0.7 * rng.choice([-1, 1], size=(n, 1))) * rng.normal(size=(n, 1))


def heavy_tails(rng, n):
    x = rng.standard_cauchy(size=(n, 1))
    return x, 0.2 * x + rng.standard_cauchy(size=(n, 1))


def category(rng, n):
    """0/1 beside a mixture whose spread it sets."""
    y = rng.integers(0, 2, size=(n, 1))
    return rng.normal(size=(n, 1)) * np.where(y, 1.0, 2.0), y.astype(float)


def ten_columns_linear(rng, n):
    x, y = rng.normal(size=(2, n, 10))
    y[:, :2] += x[:, :2] * [0.6, 0.4]
    return x, y


def five_columns_quadratic(rng, n):
    x, y = rng.normal(size=(2, n, 5))
    y[:, 0] += 0.7 * x[:, 0] ** 2
    return x, y


NULLS = [independent, far_rows]
PATTERNS = [
    linear,
    quadratic,
    sine,
    fast_sine,
    circle,
    two_parabolas,
    multiplicative,
    heavy_tails,
    category,
    ten_columns_linear,
    five_columns_quadratic,
]


def ours(X, Y, seed, **options):
    test = independence_test(X, Y, n_permutations=PERMUTATIONS, random_state=seed, **options)
    return test.pvalue


def literal(X, Y, seed):
    rng, matrices = np.random.default_rng(seed), []
    for A in (X, Y):
        distances = pdist(A)
        width = np.median(distances[distances > 0])
        K = np.exp(-(squareform(distances) ** 2) / (2 * width**2))
        matrices.append(K - K.mean(0) - K.mean(1)[:, None] + K.mean())
    K, L = matrices
    values = [np.sum(K * L)]
    for _ in range(PERMUTATIONS):
        order = rng.permutation(len(X))
        values.append(np.sum(K * L[np.ix_(order, order)]))
    return np.mean(np.array(values) >= values[0])


def by_hyppo(name):
    from hyppo import independence

    options = {} if name == "MGC" else {"auto": False}

    def test(X, Y, seed):
        np.random.seed(seed)  # noqa: NPY002 (hyppo draws from it)
        found = getattr(independence, name)()
        return found.test(X, Y, reps=PERMUTATIONS, workers=1, random_state=seed, **options)[1]

    return test


def all_tests(with_mgc):
    tests = {
        "hsic": ours,
        "cauchy_schwarz": lambda *given: ours(*given, measure="cauchy_schwarz"),
        "literal": literal,
    }
    try:
        import hyppo  # noqa: F401
    except ImportError:
        print("hyppo is not installed: its tests are left out")
        return tests
    names = ["Dcorr", "Hsic", *(["MGC"] if with_mgc else [])]
    return tests | {f"hyppo {name}": by_hyppo(name) for name in names}


def rejections(pattern, test, n_rows, runs):
    """Share of runs, in per cent, in which a test rejects, and the seconds of one."""
    start, count = time.perf_counter(), 0
    for seed in range(runs):
        X, Y = pattern(np.random.default_rng(seed), n_rows)
        count += test(X, Y, seed) <= 0.05
    return 100 * count / runs, (time.perf_counter() - start) / runs


def print_power(n_rows, runs, with_mgc):
    tests = all_tests(with_mgc)
    seconds = dict.fromkeys(tests, 0.0)
    print(f"per cent of {runs} runs that reject, {n_rows} rows")
    print(f"{'':<24}" + "".join(f"{name:>16}" for name in tests))
    for pattern in (*NULLS, *PATTERNS):
        n_runs = 4 * runs if pattern in NULLS else runs
        row = []
        for name, test in tests.items():
            share, taken = rejections(pattern, test, n_rows, n_runs)
            seconds[name] = taken
            row.append(share)
        name = pattern.__name__.replace("_", " ")
        print(f"{name:<24}" + "".join(f"{share:16.1f}" for share in row), flush=True)
    print(f"{'seconds, last row':<24}" + "".join(f"{seconds[name]:16.3f}" for name in tests))


def print_seconds():
    print("seconds of one test with 999 permutations, independent sides")
    for n_rows in (1000, 10_000, 100_000):
        for d in (1, 10):
            X, Y = np.random.default_rng(0).normal(size=(2, n_rows, d))
            start = time.perf_counter()
            independence_test(X, Y, random_state=0)
            print(
                f"{n_rows} rows, {d} + {d} columns: {time.perf_counter() - start:.2f}", flush=True
            )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=150)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--mgc", action="store_true", help="run MGC as well")
    parser.add_argument("--seconds-only", action="store_true", help="measure times only")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if not args.seconds_only:
        print_power(args.rows, args.runs, args.mgc)
    print_seconds()


if __name__ == "__main__":
    main()
