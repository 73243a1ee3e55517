"""Integrated squared error of density estimates on the 15 densities of Marron and Wand.

    python benchmarks/study_density.py [--draws 20] [--rows 100 1000 10000] [--outliers]

For every way to estimate, the mean integrated squared error over the draws, divided by that of the
best single width for the same draws (known only to who knows the density); the geometric mean of
these ratios over the 15 densities, and in brackets on how many densities the way is best of all.
KDEpy, which has a rule of Improved Sheather and Jones too, may be installed. With --outliers it
prints instead how many rows of clean samples `DensityOutlierDetector` calls outliers.

Densities: J. S. Marron and M. P. Wand, "Exact mean integrated squared error", Annals of Statistics
20, 1992, table 1. SD-KDE moves each row by half of h² times the gradient of the log density there,
estimated by windows of width h, before the windows of width h are put around the rows.
"""

import argparse
import warnings
from importlib.util import find_spec

import numpy as np
from scipy.stats import norm

from mercer import DensityOutlierDetector, KernelDensity
from mercer.sums import kernel_sum

GRID = np.linspace(-6, 6, 6001)
STEP = GRID[1] - GRID[0]
PEER = "improved Sheather–Jones of KDEpy"
LADDER = 2.0 ** (np.arange(-10, 4) / 2)  # of standard deviations times n^(-1/5)


def mixtures():
    """Return (weights, means, standard deviations) of the components by name."""
    k3, k5 = np.arange(3), np.arange(5)
    eighths, comb = np.arange(8), np.arange(6)
    bumps, claw = np.arange(7), np.arange(-2, 3)
    asymmetric = np.arange(1, 4)
    return {
        "gaussian": ([1], [0], [1]),
        "skewed": ([0.2, 0.2, 0.6], [0, 0.5, 13 / 12], [1, 2 / 3, 5 / 9]),
        "strongly skewed": ([1 / 8] * 8, 3 * ((2 / 3) ** eighths - 1), (2 / 3) ** eighths),
        "kurtotic": ([2 / 3, 1 / 3], [0, 0], [1, 0.1]),
        "outlier": ([0.1, 0.9], [0, 0], [1, 0.1]),
        "bimodal": ([0.5, 0.5], [-1, 1], [2 / 3, 2 / 3]),
        "separated bimodal": ([0.5, 0.5], [-1.5, 1.5], [0.5, 0.5]),
        "skewed bimodal": ([0.75, 0.25], [0, 1.5], [1, 1 / 3]),
        "trimodal": ([0.45, 0.45, 0.1], [-1.2, 1.2, 0], [0.6, 0.6, 0.25]),
        "claw": ([0.5, *[0.1] * 5], [0, *(k5 / 2 - 1)], [1, *[0.1] * 5]),
        "double claw": (
            [0.49, 0.49, *[1 / 350] * 7],
            [-1, 1, *((bumps - 3) / 2)],
            [2 / 3, 2 / 3, *[0.01] * 7],
        ),
        "asymmetric claw": (
            [0.5, *(2.0 ** (1 - claw) / 31)],
            [0, *(claw + 0.5)],
            [1, *(2.0 ** (-claw) / 10)],
        ),
        "asymmetric double claw": (
            [0.46, 0.46, *[1 / 300] * 3, *[7 / 300] * 3],
            [-1, 1, *(-asymmetric / 2), *(asymmetric / 2)],
            [2 / 3, 2 / 3, *[0.01] * 3, *[0.07] * 3],
        ),
        "smooth comb": (
            2.0 ** (5 - comb) / 63,
            (65 - 96 * 0.5**comb) / 21,
            32 / 63 / 2.0**comb,
        ),
        "discrete comb": (
            [2 / 7] * 3 + [1 / 21] * 3,
            [*((12 * k3 - 15) / 7), *((2 * (k3 + 8)) / 7)],
            [2 / 7] * 3 + [1 / 21] * 3,
        ),
    }


def truth(mixture):
    """Return the density on the grid."""
    w, means, deviations = (np.asarray(part, dtype=float) for part in mixture)
    return norm.pdf(GRID[:, None], means, deviations) @ w


def draw(mixture, n, rng):
    """Return n rows."""
    w, means, deviations = (np.asarray(part, dtype=float) for part in mixture)
    which = rng.choice(len(w), size=n, p=w / w.sum())
    return rng.normal(means[which], deviations[which])[:, None]


def error(X, density, h, **options):
    """Return the integrated squared error of windows of width h."""
    model = KernelDensity(bandwidth=h, tol=1e-7, **options).fit(X)
    found = np.exp(model.score_samples(GRID[:, None]))
    return float(((found - density) ** 2).sum() * STEP)


def shifted(X, h):
    """Return the rows half a step of mean shift uphill: x + h²/2 · ∇log f̂(x)."""
    sums = kernel_sum(X, weights=np.column_stack([np.ones(len(X)), X - X.min()]), bandwidth=h)
    means = sums[:, 1:] / sums[:, :1] + X.min()
    return X + (means - X) / 2


def robust(X):
    """Return Silverman's rule with 0.9 times the lesser of standard deviation and quartiles."""
    low, high = np.quantile(X, [0.25, 0.75])
    return 0.9 * min(X.std(ddof=1), (high - low) / 1.349) * len(X) ** -0.2


def of_kdepy(X):
    """Return KDEpy's width of Improved Sheather and Jones.

    KDEpy 1.1.12 multiplies by the range of the rows what is a share of its grid, and the grid goes
    beyond the rows by half their range or by 6, whichever is more.
    """
    from KDEpy.bw_selection import improved_sheather_jones

    return float(improved_sheather_jones(X))


def by_name(name):
    """Return a function from rows to KernelDensity's width of that name."""
    return lambda X: KernelDensity(bandwidth=name).fit(X).bandwidth_


def rules():
    """Return functions from rows to a width."""
    found = {"normal-reference": by_name("normal-reference"), "Silverman, 0.9": robust}
    names = ("improved-sheather-jones", "likelihood-cv", "least-squares-cv")
    found |= {name: by_name(name) for name in names}
    if find_spec("KDEpy"):
        found[PEER] = of_kdepy
    return found


def own_width(X, widths):
    """Return the width of SD-KDE by its own least-squares cross-validation.

    A row is left out of the sum at its place, but not of the gradient that moved the others.
    """
    gains, n = [], len(X)
    for h in widths:
        Z = shifted(X, h)
        own = np.exp(-((X - Z) ** 2).sum(axis=1) / (2 * h**2))
        left_out = (kernel_sum(X, Z, bandwidth=h) - own).mean() / ((n - 1) * h * np.sqrt(2 * np.pi))
        square = kernel_sum(Z, bandwidth=np.sqrt(2) * h).mean() / (n * h * np.sqrt(4 * np.pi))
        gains.append(2 * left_out - square)
    return float(widths[int(np.argmax(gains))])


def errors(X, density):
    """Return the error of every way, and that of the best single width."""
    found, widths = {}, X.std(ddof=1) * len(X) ** -0.2 * LADDER
    for name, rule in rules().items():
        h = float(rule(X))
        found[name] = error(X, density, h)
        if name == PEER:
            continue
        found[f"{name}, adaptive"] = error(X, density, h, adaptive=True)
        found[f"{name}, SD-KDE"] = error(X, density, h, debiased=True)
    h = own_width(X, widths)
    found["its own least-squares-cv, SD-KDE"] = error(shifted(X, h), density, h)
    found["best width"] = min(error(X, density, h) for h in widths)
    found["best width, adaptive"] = min(error(X, density, h, adaptive=True) for h in widths)
    found["best width, SD-KDE"] = min(error(X, density, h, debiased=True) for h in widths)
    return found


def study(n, draws):
    """Return the mean errors, (ways, densities), and the names of the ways."""
    columns, names = [], []
    for number, mixture in enumerate(mixtures().values()):
        density, table = truth(mixture), []
        for seed in range(draws):
            X = draw(mixture, n, np.random.default_rng([seed, n, number]))
            one = errors(X, density)
            names = list(one)
            table.append(list(one.values()))
        columns.append(np.mean(table, axis=0))
    return np.transpose(columns), names


def print_study(sizes, draws):
    results = {n: study(n, draws) for n in sizes}
    names = results[sizes[0]][1]
    print("| width | " + " | ".join(f"n = {n}" for n in sizes) + " |")
    print("|---" * (1 + len(sizes)) + "|")
    for i, name in enumerate(names):
        cells = []
        for table, _ in results.values():
            ratio = np.exp(np.log(table[i] / table[names.index("best width")]).mean())
            known = [k for k, other in enumerate(names) if not other.startswith("best")]
            wins = int((table[i] <= table[known].min(axis=0)).sum())
            cells.append(f"{ratio:.2f}" + ("" if name.startswith("best") else f" ({wins})"))
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def print_outliers(draws):
    samples = {
        "normal": lambda rng, shape: rng.normal(size=shape),
        "uniform": lambda rng, shape: rng.uniform(size=shape),
        "exponential": lambda rng, shape: rng.exponential(size=shape),
        "Student's t, 3": lambda rng, shape: rng.standard_t(3, size=shape),
    }
    columns = (1, 2, 5, 20)
    print("| clean sample of 500 rows | " + " | ".join(f"d = {d}" for d in columns) + " |")
    print("|---" * (1 + len(columns)) + "|")
    for name, make in samples.items():
        cells = []
        for d in columns:
            shares = []
            for seed in range(draws):
                X = make(np.random.default_rng([seed, d]), (500, d))
                shares.append(np.mean(DensityOutlierDetector().fit_predict(X) == -1))
            cells.append(f"{100 * np.mean(shares):.1f} %")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 1000, 10000])
    parser.add_argument("--outliers", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # of ties that have no best width
    if options.outliers:
        print_outliers(options.draws)
    else:
        print_study(options.rows, options.draws)


if __name__ == "__main__":
    main()
