"""How often the two-sample test rejects: its level, its power, and what it costs.

    python benchmarks/sim_two_sample.py [--runs 500]

Samples of 60 and 60 rows, 99 permutations, level 5 %.  Where both samples come from one
distribution there are four times as many runs: with 2000, a level of 5 % is
printed as 4.0 to 6.0 in 95 cases of 100.
"""

import argparse
import time
import warnings

import numpy as np

from mercer.information import two_sample_test

COLUMNS = [
    ("ise", "median"),
    ("ise", "silverman"),
    ("cauchy_schwarz", "median"),
    ("cauchy_schwarz", "silverman"),
]
SECOND_SAMPLES = {
    "same": lambda Z: Z,
    "shift 0.6": lambda Z: Z + 0.6 / np.sqrt(Z.shape[1]),
    "scale": lambda Z: Z * (1 + 0.5 / np.sqrt(Z.shape[1])),
}


def rejections(change, d, statistic, bandwidth, runs, n=60):
    """Share of runs, in per cent, in which the test rejects."""
    count = 0
    for seed in range(runs):
        rng = np.random.default_rng([seed, d])
        X, Y = rng.normal(size=(n, d)), change(rng.normal(size=(n, d)))
        options = {"statistic": statistic, "bandwidth": bandwidth}
        result = two_sample_test(X, Y, n_permutations=99, random_state=seed, **options)
        count += result.significant
    return 100 * count / runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    runs = parser.parse_args().runs
    warnings.simplefilter("ignore", UserWarning)  # narrow windows are what is looked at
    print("d   second sample  " + "  ".join(f"{s} {b}" for s, b in COLUMNS))
    for d in (1, 2, 10, 50):
        for name, change in SECOND_SAMPLES.items():
            n_runs = 4 * runs if name == "same" else runs
            found = [rejections(change, d, *column, n_runs) for column in COLUMNS]
            print(f"{d:<3} {name:<14} " + "  ".join(f"{value:5.1f}" for value in found), flush=True)
    for n in (1000, 5000):
        for dtype in (np.float64, np.float32):
            Z = np.random.default_rng(0).normal(size=(n, 16)).astype(dtype)
            start = time.perf_counter()
            two_sample_test(Z[: n // 2], Z[n // 2 :], random_state=0)
            seconds = time.perf_counter() - start
            print(f"{n} rows, d = 16, 999 permutations, {dtype.__name__}: {seconds:.2f} s")


if __name__ == "__main__":
    main()
