"""What Mercer costs before it computes: imports, the first call in a process, one row of a table.

    python benchmarks/bench_startup.py

Each figure is the median of five new processes; the first call without a cache, of one;
a call of few points, of a thousand.  Commands and the row are timed by the processor, all else by
the clock.  The row is one of a made-up table of 600 rows and 15 columns: 8 numbers, two of them
with a sign of money or of percent, 5 categories and 2 dates; figures are medians of 300 times.
"""

import argparse
import os
import resource
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


MODEL = """
import sys
import numpy as np, pandas as pd
from mercer.models import ModelCard, TrainingSample, make_model, save_model
from mercer.tables import read_table, split_target
rng = np.random.default_rng(0)
n = 600
codes = rng.integers(0, 2, n)
frame = pd.DataFrame({f"n{k}": rng.normal(codes * (k < 3), 1, n) for k in range(6)})
frame["price"] = [f"${one:,.2f}" for one in rng.lognormal(8 + codes / 2, 1, n)]
frame["share"] = [f"{one:.1f}%" for one in rng.uniform(0, 30, n)]
for k in range(5):
    frame[f"c{k}"] = rng.choice(list("abcdefgh"[: k + 2]), n)
frame["day"] = (np.datetime64("2024-01-01") + rng.integers(0, 600, n)).astype(str)
frame["time"] = (np.datetime64("2024-01-01T00:00") + rng.integers(0, 10**6, n)).astype(str)
frame[:4].to_csv("new.csv", index=False)
frame.assign(y=np.where(codes, "yes", "no")).to_csv("table.csv", index=False)
data = split_target(read_table("table.csv"), "y")
for name in ("fisher", "logistic"):
    model = make_model(name, data).fit(data.X, data.y)
    rows = TrainingSample.draw(data, random_state=0)
    save_model(f"{name}.skops", model, ModelCard.describe(name, data), rows=rows)
"""
ONE_ROW = """
import sys, time
import numpy, pandas
from mercer.models import load_model
from mercer.tables import match_columns, read_table
model, card = load_model(sys.argv[1])
record = read_table("new.csv").frame.iloc[0].to_dict()
frame = pandas.DataFrame([record])
matched = match_columns(frame, card.columns).frame
steps = {
    "match": lambda: match_columns(frame, card.columns),
    "predict": lambda: model.predict_proba(matched),
    "all": lambda: model.predict_proba(
        match_columns(pandas.DataFrame([record]), card.columns).frame
    ),
}
found = []
for step in steps.values():
    step()
    times = []
    for _ in range(300):
        start = time.process_time()
        step()
        times.append(time.process_time() - start)
    found.append(f"{1e3 * numpy.median(times):.1f}")
print(*found)
"""


def seconds(code: str, **environment: str) -> float:
    command = [sys.executable, "-c", code]
    env = {**os.environ, **environment}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=env)  # noqa: S603
    return float(run.stdout)


def processor_seconds(*command: str, folder: str) -> float:
    """Return the median processor time of a command, of five processes."""
    found = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = [sys.executable, "-m", "mercer", *command]
        subprocess.run(run, capture_output=True, check=True, cwd=folder)  # noqa: S603
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(found)


def print_tables() -> None:
    """Print what commands cost, and one row in a process that has loaded a model."""
    with tempfile.TemporaryDirectory() as folder:
        in_folder = {"capture_output": True, "text": True, "check": True, "cwd": folder}
        subprocess.run([sys.executable, "-c", MODEL], **in_folder)  # noqa: S603
        took = processor_seconds("info", "fisher.skops", folder=folder)
        print(f"mercer info: {took:.1f} s of processor time")
        for name in ("fisher", "logistic"):
            file = f"{name}.skops"
            took = processor_seconds("predict", file, "new.csv", folder=folder)
            print(f"mercer predict, four rows, {name}: {took:.1f} s of processor time")
            run = subprocess.run([sys.executable, "-c", ONE_ROW, file], **in_folder)  # noqa: S603
            match, predict, together = run.stdout.split()
            print(f"one row, {name}: {together} ms; to match {match}, to predict {predict}")


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
    print_tables()


if __name__ == "__main__":
    main()
