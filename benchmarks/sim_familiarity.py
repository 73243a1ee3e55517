"""How familiar rows are to a model: are ranks uniform, are odd rows found, what does it cost?

    python benchmarks/sim_familiarity.py --tables /path/to/tables      (or MERCER_TABLES)

For each table, as `mercer fit` and `mercer predict` do it: of the rows at random, at most 1 000 are
known and up to 1 000 others are new.  Printed is the share of new rows with a familiarity of 0 and
below 0.01 and 0.05: as they are; with the cells of each column dealt to other rows; with one
column of numbers moved by five interquartile ranges; and with one in units a thousand
times smaller.  Then seconds and bytes.
"""

import argparse
import io
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from mercer.models import Familiarity, ModelCard, TrainingSample
from mercer.models.files._rows import members_of
from mercer.tables import read_table, split_target

_KNOWN, _NEW = 1000, 1000
_CHANGES = ("same", "dealt", "moved", "thousandfold")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", default=os.environ.get("MERCER_TABLES", "."))
    parser.add_argument("--draws", type=int, default=5, help="Draws of rows for each table.")
    parser.add_argument("--only", nargs="*", help="Names of tables; default: all.")
    parser.add_argument("--lines", action="store_true", help="Print a line for each table.")
    options = parser.parse_args()
    lines = []
    entries = json.loads(Path(options.tables, "tables.json").read_text(encoding="utf-8"))
    for name in options.only or entries:
        data = load(options.tables, entries[name])
        for draw in range(options.draws):
            lines += study(name, data, draw)
    report(pd.DataFrame(lines), options.lines)


def load(folder, entry):
    """Return the rows of a table as a user's, without columns that would not be used."""
    table = read_table(str(Path(folder, entry["file"])))
    left = [*entry["ids"], *entry["leaks"], *entry.get("left_out", ())]
    kinds = {name: "excluded" for name in left if name in table.frame}
    return split_target(table, entry["target"], kinds=kinds)


def study(name, data, seed):
    """Return one line for each change of the new rows."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(data.y))
    n_new = min(_NEW, len(order) // 3)
    new, rest = data.X.iloc[order[:n_new]], order[n_new:]
    part = split_part(data, rest)
    start = time.process_time()
    sample = TrainingSample.draw(part, max_rows=_KNOWN, random_state=seed)
    known = Familiarity(sample.X)
    built = time.process_time() - start
    known.rank(new[:4])
    start = time.process_time()
    known.rank(new[:1])
    one = time.process_time() - start
    start = time.process_time()
    known.rank(new)
    each = (time.process_time() - start) / n_new
    n_bytes = packed_size(members_of(sample, ModelCard.describe("dummy", part)))
    common = {"table": name, "rows": len(data.y), "columns": data.X.shape[1], "built": built,
              "one": one, "each": each, "bytes": n_bytes}  # fmt: skip
    lines = []
    for change in _CHANGES:
        changed = changed_rows(change, new, sample.X, rng)
        if changed is not None:
            ranks = known.rank(changed)
            shares = {"0": (ranks == 0).mean()}
            shares |= {str(level): (ranks < level).mean() for level in (0.01, 0.05)}
            lines.append({**common, "change": change, **shares})
    return lines


def split_part(data, rows):
    from dataclasses import replace

    rows = np.sort(rows)
    return replace(data, X=data.X.iloc[rows], y=data.y[rows])


def changed_rows(change, new, known, rng):
    """Return the new rows, changed; None where a table has no column for it."""
    if change == "same":
        return new
    if change == "dealt":
        columns = {k: column.iloc[rng.permutation(len(new))].array for k, column in new.items()}
        return pd.DataFrame(columns, index=new.index)
    numbers = [k for k in new if new[k].dtype.kind == "f" and known[k].nunique() > 2]
    if not numbers:
        return None
    name = numbers[rng.integers(len(numbers))]
    low, high = np.nanquantile(known[name], [0.25, 0.75])
    unit = high - low or np.nanstd(known[name])
    values = new[name] + 5 * unit if change == "moved" else 1000 * new[name]
    return new.assign(**{name: values})


def packed_size(members):
    """Return the bytes that members add to a model file."""
    import zipfile

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return len(stream.getvalue())


def report(lines, every):
    shares = ["0", "0.01", "0.05"]
    by_table = lines.groupby(["change", "table"], sort=False)[shares].mean()
    if every:
        print((100 * by_table).round(1).to_string(), "\n")
    print("new rows in per cent with a familiarity of 0, below 0.01 and below 0.05; mean of tables")
    means = 100 * by_table.groupby("change", sort=False).mean()
    spread = 100 * by_table.groupby("change", sort=False).agg(["min", "max"])
    for change in means.index:
        texts = [f"{means.loc[change, k]:5.1f} ({spread.loc[change, k]['min']:.1f} to "
                 f"{spread.loc[change, k]['max']:.1f})" for k in shares]  # fmt: skip
        n = by_table.loc[change].shape[0]
        print(f"{change:13} {n:3} tables  " + "  ".join(texts))
    costs = lines.groupby("table")[["built", "one", "each", "bytes"]].median()
    print(
        "\nprocessor seconds to make ready, for one row, for each of many rows; bytes in the file"
    )
    print(f"median  {costs.built.median():.3f}  {costs.one.median():.4f}  "
          f"{costs.each.median():.6f}  {costs.bytes.median():.0f}")  # fmt: skip
    print(f"largest {costs.built.max():.3f}  {costs.one.max():.4f}  {costs.each.max():.6f}  "
          f"{costs.bytes.max():.0f}")  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
