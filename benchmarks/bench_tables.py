"""A user's table: how long reading, typing and preparing take; and a table to try commands on.

    python benchmarks/bench_tables.py [--rows 1000000]
    python benchmarks/bench_tables.py --write adult.csv     # only write the adult-like table

The first table is made up like "adult": 45 222 rows, 14 columns of both kinds with gaps, two
classes.  The second has only numbers.  Last, the categories of the first are encoded by
CategoryDummies and by scikit-learn's OneHotEncoder.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder

from mercer.tables import CategoryDummies, make_preprocessor, read_table, split_target


def adult_like(n=45_222, seed=0):
    """Return the table; the class depends on a few columns and on chance."""
    rng = np.random.default_rng(seed)
    education = rng.choice(16, n, p=np.r_[np.full(8, 0.02), 0.32, 0.22, 0.06, 0.05, 0.16, 0.025,
                                          0.0025, 0.0025])  # fmt: skip
    marital = rng.choice(["married", "never", "divorced", "widowed"], n, p=[0.46, 0.35, 0.15, 0.04])
    occupation = rng.integers(0, 14, n)
    age = rng.gamma(6, 6.5, n).clip(17, 90).round()
    hours = rng.normal(40, 12, n).clip(1, 99).round()
    gain = np.where(rng.random(n) < 0.08, rng.lognormal(8.5, 1, n).round(), 0)
    loss = np.where(rng.random(n) < 0.045, rng.normal(1800, 300, n).round(), 0)
    log_odds = (
        -6.6 + 1.8 * (marital == "married") + 0.33 * education + 0.03 * (hours - 40)
        + 4 * (gain > 5000) + 0.8 * (loss > 1700) + 0.075 * np.minimum(age - 17, 35)
        - 0.002 * np.maximum(age - 50, 0) ** 2 + rng.normal(0, 0.7, 14)[occupation]
    )  # fmt: skip
    frame = pd.DataFrame(
        {
            "age": age,
            "workclass": rng.choice(
                ["private", "own", "state", "none"], n, p=[0.7, 0.15, 0.1, 0.05]
            ),
            "weight": rng.integers(12_285, 1_484_705, n),
            "education": [f"level {k}" for k in education],
            "education_years": education + 1,
            "marital": marital,
            "occupation": [f"occupation {k}" for k in occupation],
            "relationship": rng.choice(["husband", "wife", "own", "other"], n),
            "race": rng.choice(list("ABCDE"), n, p=[0.85, 0.1, 0.03, 0.01, 0.01]),
            "sex": rng.choice(["m", "f"], n, p=[0.67, 0.33]),
            "gain": gain,
            "loss": loss,
            "hours": hours,
            "country": [
                f"country {k}" for k in rng.choice(41, n, p=np.r_[0.9, np.full(40, 0.0025)])
            ],
        }
    )
    for name in ("workclass", "occupation", "country", "hours"):
        frame.loc[rng.random(n) < 0.04, name] = np.nan
    rich = rng.random(n) < 1 / (1 + np.exp(-log_odds))
    return frame.assign(income=np.where(rich, ">50K", "<=50K"))


def numbers(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 20)), columns=[f"x{k}" for k in range(20)])
    return frame.assign(y=rng.choice(["a", "b"], n))


def measure(name, frame, target):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        frame.to_csv(path, index=False)
        times = [time.perf_counter()]
        pd.read_csv(path)
        times.append(time.perf_counter())
        table = read_table(path)
        times.append(time.perf_counter())
        data = split_target(table, target)
        times.append(time.perf_counter())
        make_preprocessor(data.columns).fit_transform(data.X)
        times.append(time.perf_counter())
        size = path.stat().st_size / 1e6
    pandas, read, split, prepare = np.diff(times)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{name} ({size:.0f} MB): read {read:.2f} s (pandas alone {pandas:.2f}), split and type "
          f"{split:.2f} s, prepare {prepare:.2f} s; peak {peak:.1f} GB")  # fmt: skip


def compare_encoders(frame, target):
    data = split_target(frame, target)
    X = data.X[[column.name for column in data.columns if column.kind == "category"]]
    theirs = OneHotEncoder(
        min_frequency=5, max_categories=101, handle_unknown="ignore", sparse_output=False
    )
    for encoder in (CategoryDummies(min_frequency=5, max_categories=100), theirs):
        times = []
        for _ in range(3):
            start = time.perf_counter()
            encoder.fit_transform(X)
            times.append(time.perf_counter() - start)
        print(f"{type(encoder).__name__}: {X.shape[1]} columns in {min(times):.3f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the table of numbers")
    parser.add_argument("--write", type=Path, help="write the adult-like table here, and stop")
    options = parser.parse_args()
    if options.write:
        adult_like().to_csv(options.write, index=False)
        return
    measure("adult-like, 45 222 × 14", adult_like(), "income")
    measure(f"numbers, {options.rows} × 20", numbers(options.rows), "y")
    compare_encoders(adult_like(), "income")


if __name__ == "__main__":
    main()
