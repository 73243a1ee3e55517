"""Large tables: whether `mercer compare` keeps its budget, and the memory of `mercer predict`.

    python benchmarks/bench_large.py compare [nsl_kdd_20 electricity wide long] [--budget 2m]
    python benchmarks/bench_large.py predict [--rows 1000000 4000000] [--format csv]

`compare` runs the command on the named tables: those of the folder MERCER_TABLES, and two that are
generated, "wide" (10 000 rows of 1 000 columns) and "long" (250 000 rows of 21). It prints the
seconds by the clock, the rounds of the leaders, how many rows they are made of and who was left
out.  `predict` fits a logistic regression on few rows and predicts files of more and more rows; it
prints the seconds and the most memory that the process had at a time.  Nothing else should run.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

TABLES = ("nsl_kdd_20", "electricity", "wide", "long")
# Runs a command of mercer, and prints the most memory that it had at a time.
MEASURED = """
import resource, sys
from mercer.cli import main
code = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def run(*words):
    """Run a command of mercer; return the most memory that it had at a time, in MB."""
    command = [sys.executable, "-c", MEASURED, *map(str, words)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return int(done.stderr.split()[-1]) / 1e3


def wide(n_rows=10_000, n_columns=1_000, seed=0):
    """Return a table of two classes, which depend on few of many columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    score = X[:, :20].sum(axis=1) / 4 + X[:, 20] * X[:, 21] + rng.normal(size=n_rows)
    frame = pd.DataFrame(X.round(4), columns=[f"x{i}" for i in range(n_columns)])
    return pd.concat([frame, pd.Series(np.where(score > 0, "yes", "no"), name="y")], axis=1)


def long(n_rows=250_000, seed=0):
    """Return a table of three classes with 20 columns of numbers and one of categories."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 20)).astype(np.float32)
    job = rng.choice(list("abcdef"), n_rows)
    score = X[:, :6].sum(axis=1) / 2 + X[:, 6] * X[:, 7] + np.sin(3 * X[:, 8]) + (job == "a")
    score += rng.normal(size=n_rows)
    frame = pd.DataFrame(X.round(4), columns=[f"x{i}" for i in range(20)])
    return frame.assign(job=job, y=np.array(["low", "middle", "high"])[np.digitize(score, [-1, 1])])


def path_and_target(name, folder):
    """Return the file of a table and its target; a generated one is written to the folder."""
    if name in ("wide", "long"):
        path = folder / f"{name}.csv"
        (wide() if name == "wide" else long()).to_csv(path, index=False)
        return path, "y"
    tables = Path(os.environ["MERCER_TABLES"])
    listed = json.loads((tables / "tables.json").read_text())
    entry = listed[name]
    return tables / entry["file"], entry["target"]


def compare(options):
    """Print what `mercer compare` does with each table in the time that it is given."""
    print("| table | rows | columns | seconds | rounds | rows in a round | leaders | left out |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.tables:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            path, target = path_and_target(name, folder)
            start = time.perf_counter()
            run("compare", path, "-t", target, "--budget", options.budget, "-o", folder / "out")
            seconds = time.perf_counter() - start
            found = json.loads((folder / "out" / "comparison.json").read_text())
        question, splits = found["question"], found["splits"]
        n_columns = sum(column["used"] for column in question["columns"])
        in_round = round(splits["train_rows"] + splits["test_rows"])
        out = [one["name"] for one in found["models"] if one["note"] or one["error"]]
        print(
            f"| {name} | {question['rows']} | {n_columns} | {seconds:.0f} | {found['rounds']} | "
            f"{in_round} | {', '.join(found['leaders'])} | {', '.join(out) or '–'} |",
            flush=True,
        )


def predict(options):
    """Print the seconds and the memory of predictions for files of more and more rows."""
    print(f"| rows | {options.format} | seconds | most memory |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        long(5_000).to_csv(folder / "few.csv", index=False)
        model = folder / "model.skops"
        run("fit", folder / "few.csv", "-t", "y", "-m", "logistic", "-o", model)
        for n_rows in options.rows:
            path = folder / f"new.{options.format}"
            write_in_parts(path, n_rows)
            size = path.stat().st_size
            start = time.perf_counter()
            most = run("predict", model, path, "-o", folder / f"out.{options.format}")
            seconds = time.perf_counter() - start
            print(f"| {n_rows} | {size / 1e6:.0f} MB | {seconds:.0f} | {most:.0f} MB |", flush=True)
            path.unlink()


def write_in_parts(path, n_rows):
    """Write a table of so many rows without having all of them in memory."""
    from mercer.tables import table_writer

    with table_writer(path) as write:
        for k, start in enumerate(range(0, n_rows, 100_000)):
            write(long(min(100_000, n_rows - start), seed=k))


def main():
    """Read the options and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(required=True)
    part = parts.add_parser("compare")
    part.add_argument("tables", nargs="*", default=TABLES)
    part.add_argument("--budget", default="2m")
    part.set_defaults(measure=compare)
    part = parts.add_parser("predict")
    part.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 4_000_000, 16_000_000])
    part.add_argument("--format", choices=["csv", "parquet"], default="csv")
    part.set_defaults(measure=predict)
    options = parser.parse_args()
    options.measure(options)


if __name__ == "__main__":
    main()
