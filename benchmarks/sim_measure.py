"""How often ``mercer measure`` says that two halves of one table differ, and what its AUC is worth.

Four questions, answered on equal tables and then on shifted ones:

- how often are two halves of one table said to differ, at the 5 % level?
- is the AUC of held-out rows 0.5 on average, and does its interval cover that?  Beside it stands
  what leave-one-out scores would give, with width and ridge fixed and chosen by these scores.
- is the AUC of two shifted normal tables near the best there is, Φ(shift/√2), and is it covered?
- what is said of a shift that is too small to matter, where tables are long?

python benchmarks/sim_measure.py [--pairs 400] [--draws 100]
"""

import argparse

import numpy as np
import pandas as pd
from bench_tables import adult_like
from rich.progress import track
from scipy.stats import norm

from mercer.kernels import KernelFunction
from mercer.spectral import decompose_kernel
from mercer.tables import Table
from mercer.views import measure_tables
from mercer.views._auc import share_of_pairs
from mercer.views._effect import find_witness

RIDGES = np.logspace(-6, 0, 13)
WIDTHS = 2.0 ** np.arange(-3, 4)


def said_to_differ(pairs):
    """Print how often two halves of one table are said to differ, and by which test."""
    differ, practical, shown, pvalues = 0, 0, 0, []
    for seed in track(range(pairs), description="pairs", transient=True):
        frame = adult_like(200, seed).drop(columns="income")
        halves = (frame[part].reset_index(drop=True) for part in (slice(100), slice(100, None)))
        tables = (Table(half, name) for half, name in zip(halves, ("first", "second"), strict=True))
        found = measure_tables(*tables, n_permutations=199, random_state=seed)
        differ += found.differs
        practical += found.is_practical
        shown += not found.effect.low <= 0.5 <= found.effect.high
        pvalues.append(found.pvalue)
    print(
        f"{differ} of {pairs} pairs of 100 rows are said to differ ({100 * differ / pairs:.1f} %), "
        f"{practical} of them practically; {shown} intervals of the AUC miss 0.5"
    )
    print(f"all columns together: p ≤ 0.05 in {100 * np.mean(np.array(pvalues) <= 0.05):.1f} %")


def left_out_aucs(Z, is_second):
    """Return AUCs of leave-one-out scores, (widths, ridges), level taken out as in the library."""
    kernel = KernelFunction("rbf")
    base = kernel.base(Z, Z)
    p = np.where(is_second, 0.5 / is_second.sum(), 0.5 / (~is_second).sum())
    targets = np.where(is_second, 1.0, -1.0)[:, None]
    found = []
    for width in WIDTHS:
        K = kernel.with_gamma(width / np.median(base)).profile(base)
        outputs, _ = decompose_kernel(K, p).leave_one_out(targets, RIDGES, np.ones(len(Z)))
        outputs = outputs + (p / (1 - p))[:, None] * targets
        found.append([share_of_pairs(scores[:, 0], is_second) for scores in outputs])
    return np.array(found)


def equal_tables(draws):
    """Print the AUCs of equal normal tables."""
    print("\nequal normal tables: mean AUC ± its standard error; coverage of 0.5 at 95 %")
    middle = len(WIDTHS) // 2, len(RIDGES) // 2
    for m, n, d in ((30, 30, 1), (100, 100, 1), (100, 100, 10), (30, 300, 3)):
        is_second = np.arange(m + n) >= m
        effects, fixed, chosen = [], [], []
        for seed in track(range(draws), description="draws", transient=True):
            Z = np.random.default_rng([m, n, d, seed]).normal(size=(m + n, d))
            effects.append(find_witness(Z, is_second, [f"x{k}" for k in range(d)], seed).effect)
            aucs = left_out_aucs(Z, is_second)
            fixed.append(aucs[middle])
            chosen.append(aucs.max())
        aucs = [one.auc for one in effects]
        covered = np.mean([one.low <= 0.5 <= one.high for one in effects])
        shown = np.mean([one.low > 0.5 for one in effects])
        print(
            f"{m:4} + {n:3} rows, {d:2} columns: held out {mean(aucs)}, covered "
            f"{100 * covered:.1f} %, above 0.5 in {100 * shown:.1f} %; leave-one-out "
            f"{mean(fixed)}, with width and ridge of the best AUC {mean(chosen)}"
        )


def shifted_tables(draws):
    """Print the AUCs of normal tables of which one column is shifted."""
    print("\nshifted normal tables of 3 columns: mean AUC, coverage of the best one at 95 %")
    for n, shift in ((50, 0.5), (50, 1.5), (200, 0.5), (200, 1.5), (1000, 0.5)):
        best, is_second = norm.cdf(shift / np.sqrt(2)), np.arange(2 * n) >= n
        effects = []
        for seed in track(range(draws), description="draws", transient=True):
            Z = np.random.default_rng([n, seed]).normal(size=(2 * n, 3))
            Z[n:, 0] += shift
            effects.append(find_witness(Z, is_second, ["x0", "x1", "x2"], seed).effect)
        covered = np.mean([one.low <= best <= one.high for one in effects])
        width = np.mean([one.high - one.low for one in effects])
        print(
            f"{n:4} + {n:4} rows, shift {shift}: {mean([one.auc for one in effects])} of "
            f"{best:.3f}, covered {100 * covered:.1f} %, intervals {width:.3f} wide"
        )


def long_tables():
    """Print what is said of 100 000 and 100 000 rows of which one column of three is shifted."""
    rng = np.random.default_rng(0)
    frames = [pd.DataFrame(rng.normal(size=(100_000, 3)), columns=list("abc")) for _ in range(2)]
    frames[1]["a"] += 0.05
    best = norm.cdf(0.05 / np.sqrt(2))
    print(f"\n100 000 + 100 000 rows, shift 0.05 (the best AUC is {best:.3f}):")
    print(measure_tables(Table(frames[0], "first"), Table(frames[1], "second")))


def mean(values):
    """Write a mean with its standard error."""
    return f"{np.mean(values):.3f} ± {np.std(values) / np.sqrt(len(values)):.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--draws", type=int, default=100)
    options = parser.parse_args()
    if options.pairs:
        said_to_differ(options.pairs)
    equal_tables(options.draws)
    shifted_tables(max(1, options.draws // 4))
    long_tables()


if __name__ == "__main__":
    main()
