"""What do the checks of a table ask about real tables, and how often where there is nothing to ask?

    MERCER_TABLES=folder python benchmarks/study_checks.py [--tables a,b] [--draws 2] [--seed 0]

The folder has the tables, and tables.json with the target of each.  First every table as it is.
Then what should be silent: the same tables with their rows in random order (row-order), with a
column of groups that are dealt out at random (groups), and cut at random into a table and a test
file (drift), so many draws of each.
"""

import argparse
import json
import os
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from mercer.checks import check_rows
from mercer.checks._drift import find_drift
from mercer.checks._order import find_groups, find_row_order
from mercer.checks._sample import Rows
from mercer.tables import Table, describe_columns, read_table, split_target

ROWS_PER_GROUP = 10


def read(folder, names):
    """Give name, table and labelled rows of each."""
    listed = json.loads((folder / "tables.json").read_text())
    for name, about in listed.items():
        if not names or name in names:
            table = read_table(folder / about["file"])
            yield name, table, split_target(table, about["target"], min_class_rows=5)


def in_order(data, table, order):
    """Return rows in another order."""
    frame = table.frame.loc[data.X.index[order]].reset_index(drop=True)
    X = data.X.iloc[order].reset_index(drop=True)
    return Rows(replace(data, X=X, y=data.y[order]), Table(frame))


def with_groups(data, table, groups):
    """Return rows with one more column, of groups."""
    frame = table.frame.loc[data.X.index].assign(batch=[f"g{one}" for one in groups])
    (column,) = describe_columns(frame[["batch"]])
    return Rows(replace(data, columns=(column,)), Table(frame))


def false_alarms(data, table, rng):
    """Say which checks ask about rows that nothing is to be asked about."""
    n = len(data.y)
    order = rng.permutation(n)
    found = {"row-order": bool(find_row_order(in_order(data, table, order), rng))}
    groups = rng.integers(0, max(3, n // ROWS_PER_GROUP), n)
    found["groups"] = bool(find_groups(with_groups(data, table, groups), frozenset(), rng))
    parts = [
        replace(data, X=data.X.iloc[half], y=data.y[half]) for half in np.array_split(order, 2)
    ]
    found["drift"] = bool(find_drift(*parts, "the other half", rng))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", default="")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = Path(os.environ["MERCER_TABLES"])
    names = set(filter(None, options.tables.split(",")))
    rng = np.random.default_rng(options.seed)
    asked, alarms, draws, silent, n_tables, longest = Counter(), Counter(), 0, 0, 0, 0.0
    for name, table, data in read(folder, names):
        start = time.process_time()
        found = check_rows(data, table, random_state=options.seed)
        longest = max(longest, time.process_time() - start)
        print(f"{name}: {len(data.y)} rows, {data.X.shape[1]} columns", flush=True)
        for one in found:
            print(f"    {one}")
        asked.update(one.code for one in found)
        silent += not found
        n_tables += 1
        for _ in range(options.draws):
            alarms.update(code for code, is_one in false_alarms(data, table, rng).items() if is_one)
            draws += 1
    print(f"{n_tables} tables, {silent} without a question; questions: {dict(asked)}")
    print(f"longest: {longest:.1f} s of processor time")
    for code in ("row-order", "groups", "drift"):
        print(f"false alarms of {code}: {alarms[code]} in {draws} draws")


if __name__ == "__main__":
    main()
