"""How often ``mercer measure`` says that two halves of one table differ, at the 5 % level.

python benchmarks/sim_measure.py [--pairs 400]
"""

import argparse

import numpy as np
from bench_tables import adult_like
from rich.progress import track

from mercer.tables import Table
from mercer.views import measure_tables


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=400)
    pairs = parser.parse_args().pairs
    differ, pvalues = 0, []
    for seed in track(range(pairs), description="pairs", transient=True):
        frame = adult_like(200, seed).drop(columns="income")
        first, second = (
            frame[part].reset_index(drop=True) for part in (slice(100), slice(100, None))
        )
        found = measure_tables(
            Table(first, "first"), Table(second, "second"), n_permutations=199, random_state=seed
        )
        differ += found.differs
        pvalues.append(found.pvalue)
    print(
        f"{differ} of {pairs} pairs of 100 rows are said to differ ({100 * differ / pairs:.1f} %)"
    )
    print(f"all columns together: p ≤ 0.05 in {100 * np.mean(np.array(pvalues) <= 0.05):.1f} %")


if __name__ == "__main__":
    main()
