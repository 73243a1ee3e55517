"""What Mercer costs before it computes: imports, and the first call in a process.

    python benchmarks/bench_startup.py

Each figure is the median of five new processes; the first call without a cache, of one;
a call of few points, of a thousand.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

IMPORT = """
import time, sklearn.utils
start = time.perf_counter()
import mercer, mercer.sums, mercer.kernels, mercer.datasets
print(time.perf_counter() - start)
"""
FURTHER_CALLS = """
import time, numpy
from mercer.sums import kernel_sum
X = numpy.random.default_rng(0).random((30, 2))
kernel_sum(X, bandwidth=1.0)
times = []
for _ in range(1000):
    start = time.perf_counter()
    kernel_sum(X, bandwidth=1.0)
    times.append(time.perf_counter() - start)
print(numpy.median(times))
"""
FIRST_CALL = """
import time, numpy
from mercer.sums import kernel_sum
X = numpy.random.default_rng(0).random((100, 2))
start = time.perf_counter()
kernel_sum(X, bandwidth=1.0)
print(time.perf_counter() - start)
"""


def seconds(code: str, **environment: str) -> float:
    command = [sys.executable, "-c", code]
    env = {**os.environ, **environment}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=env)  # noqa: S603
    return float(run.stdout)


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    seconds(FIRST_CALL)  # fills the cache on disk
    imports = statistics.median(seconds(IMPORT) for _ in range(5))
    warm = statistics.median(seconds(FIRST_CALL) for _ in range(5))
    with tempfile.TemporaryDirectory() as folder:
        cold = seconds(FIRST_CALL, NUMBA_CACHE_DIR=folder)
    print(f"import mercer and its packages, after scikit-learn: {imports:.2f} s")
    print(f"first call, compiled code on disk: {warm:.2f} s")
    print(f"first call, to be compiled: {cold:.1f} s")
    print(f"a call of 30 points: {1e3 * seconds(FURTHER_CALLS):.2f} ms")


if __name__ == "__main__":
    main()
