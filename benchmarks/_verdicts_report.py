"""What each tool says of the draws of sim_verdicts.py, and the tables of how often it is wrong."""

from functools import partial

import numpy as np
from scipy import stats
from sim_verdicts import KINDS, PAIRS, POINTS

from mercer.comparison import mcnemar_test

LEVEL = 0.05


class Draws:
    """The draws of a cell as arrays, a row for each draw."""

    def __init__(self, draws):
        self.n = int(np.sum(draws[0]["rows"]))
        self.tens, self.thirds = (
            np.array([self._scores(draw[key]) for draw in draws]) for key in ("tens", "thirds")
        )
        self.counts = np.array([draw["rows"] for draw in draws], dtype=float)
        has_apart = all("apart" in draw for draw in draws)
        self.apart = np.array([draw["apart"] for draw in draws], dtype=float) if has_apart else None

    @staticmethod
    def _scores(lists):
        a, b, tested = np.array(lists, dtype=float)
        return a / tested, b / tested


# Rules: from draws to the one that is said to be better, 1 for A, -1 for B, 0 for nobody.


def corrected_t_rule(draws, n_rounds=20):
    """Nadeau and Bengio's t, and where there is no spread signs or rows, as Mercer does it."""
    gaps = draws.tens[:, 0, :n_rounds] - draws.tens[:, 1, :n_rounds]
    verdicts = t_verdicts(gaps, 1 / 9)
    if n_rounds >= 10:
        for k in np.flatnonzero(np.ptp(gaps, axis=1) < 1e-12):
            verdicts[k] = without_spread(gaps[k], draws.counts[k])
    return verdicts


def t_verdicts(gaps, overlap):
    n = gaps.shape[1]
    means, spread = gaps.mean(axis=1), np.ptp(gaps, axis=1)
    half = stats.t.ppf(1 - LEVEL / 2, n - 1) * np.sqrt((1 / n + overlap) * gaps.var(axis=1, ddof=1))
    is_found = np.where(spread > 1e-12, np.abs(means) > half, (means != 0) & (2 * 0.5**n < LEVEL))
    return is_found * np.sign(np.round(means, 12)).astype(int)


def without_spread(gaps, counts):
    """The rows, each counted once, if one is right wherever the other is; else the signs."""
    only_b, _, only_a = counts.sum(axis=1).astype(int)
    way = int(np.sign(np.round(gaps[0], 12)))
    if way and min(only_a, only_b) == 0 and only_a + only_b:
        truth = np.ones(only_a + only_b)
        result = mcnemar_test(truth, truth * (only_a > 0), truth * (only_b > 0), method="exact")
        return int(result.significant) * way
    return int(2 * 0.5 ** len(gaps) < LEVEL) * way


def rows_rule(draws, n_rounds=20):
    """The corrected test of rows, from counts of rows by who is right in each repetition."""
    signs, n_train = np.array([-1.0, 0.0, 1.0]), 0.9 * draws.n
    n = draws.n
    if n_rounds == 20:
        values = np.add.outer(signs, signs) / 2
        means, squares = ((draws.counts * values**p).sum(axis=(1, 2)) / n for p in (1, 2))
    elif n_rounds == 10:
        means, squares = ((draws.counts.sum(axis=2) * signs**p).sum(axis=1) / n for p in (1, 2))
    else:  # in a part of a repetition, every row that is tested is tested once
        if draws.apart is None:
            return None
        n = n * n_rounds // 10
        gaps = draws.tens[:, 0, :n_rounds] - draws.tens[:, 1, :n_rounds]
        means, squares = gaps.mean(axis=1), draws.apart[:, :n_rounds].sum(axis=1) / n
    variance = (squares - means**2) * n / (n - 1)
    half = stats.t.ppf(1 - LEVEL / 2, n - 1) * np.sqrt((1 / n + 1 / n_train) * variance)
    return (np.abs(means) > half + 1e-12) * np.sign(np.round(means, 12)).astype(int)


def plain_t_rule(draws):
    return t_verdicts(draws.tens[:, 0, :10] - draws.tens[:, 1, :10], 0.0)


def mcnemar_rule(draws):
    """The corrected χ² of the rows of ten folds, or the exact test of fewer than 25."""
    only_b, _, only_a = draws.counts.sum(axis=2).T
    differ = only_a + only_b
    chi2 = np.maximum(np.abs(only_a - only_b) - 1, 0) ** 2 / np.maximum(differ, 1)
    exact = 2 * stats.binom.cdf(np.minimum(only_a, only_b), differ, 0.5)
    pvalues = np.where(differ < 25, exact, stats.chi2.sf(chi2, 1))
    return (pvalues < LEVEL) * np.sign(only_a - only_b).astype(int)


def autorank_rule(draws, n_splits=10):
    return np.array([autorank_for_two(*one[:, :n_splits]) for one in draws.tens])


def autorank_for_two(a, b, alpha=LEVEL):
    """Return 1 where autorank 1.3 says that A is better, -1 for B, and 0 for no difference."""
    is_normal = all(np.ptp(one) == 0 or stats.shapiro(one).pvalue >= alpha / 2 for one in (a, b))
    if is_normal:
        way = int(np.sign(np.round(np.mean(a) - np.mean(b), 12)))
        return way * int(bool(way) and stats.ttest_rel(a, b).pvalue < alpha)
    larger = int(np.argmax([np.median(a), np.median(b)]))
    one, other = (a, b) if larger == 0 else (b, a)
    if not np.any(one - other):
        return 0
    return int(signed_rank_pvalue(one - other) < alpha) * (1 if larger == 0 else -1)


def signed_rank_pvalue(gaps):
    """Wilcoxon's one-sided p-value by SciPy's defaults; of few ties and zeros it tries all signs.

    SciPy does that too, in a tenth of a second for every draw.
    """
    if len(gaps) > 13 or (np.all(gaps) and len(np.unique(np.abs(gaps))) == len(gaps)):
        return stats.wilcoxon(gaps, alternative="greater").pvalue
    kept = gaps[gaps != 0]
    ranks = stats.rankdata(np.abs(kept))
    signs = (np.arange(2 ** len(kept))[:, None] >> np.arange(len(kept))) & 1
    return np.mean(signs @ ranks >= ranks[kept > 0].sum() - 1e-9)


def tabarena_rule(draws):
    """Wilcoxon's test of the better mean with the other, by SciPy's defaults."""
    a, b = draws.thirds[:, 0], draws.thirds[:, 1]
    ways = np.sign(np.round((a - b).mean(axis=1), 12)).astype(int)
    is_found = [bool(np.any(x - y)) and stats.wilcoxon(x, y).pvalue < LEVEL
                for x, y in zip(a, b, strict=True)]  # fmt: skip
    return ways * np.array(is_found)


def higher_mean_rule(draws):
    a, b = draws.tens[:, 0, :10], draws.tens[:, 1, :10]
    return np.sign(np.round((a - b).mean(axis=1), 12)).astype(int)


def no_overlap_rule(draws):
    a, b = draws.tens[:, 0, :10], draws.tens[:, 1, :10]
    room = a.std(axis=1, ddof=1) + b.std(axis=1, ddof=1)
    return higher_mean_rule(draws) * (np.abs((a - b).mean(axis=1)) > room)


RULES = {
    "corrected t, 20 rounds": corrected_t_rule,
    "corrected t, 10 rounds": partial(corrected_t_rule, n_rounds=10),
    "corrected t, 5 rounds": partial(corrected_t_rule, n_rounds=5),
    "corrected rows, 20 rounds (Mercer)": rows_rule,
    "corrected rows, 10 rounds": partial(rows_rule, n_rounds=10),
    "corrected rows, 5 rounds": partial(rows_rule, n_rounds=5),
    "autorank, 10 folds": autorank_rule,
    "autorank, the 20 rounds": partial(autorank_rule, n_splits=20),
    "Wilcoxon, TabArena's 30 splits": tabarena_rule,
    "plain t, 10 folds": plain_t_rule,
    "McNemar, rows of 10 folds": mcnemar_rule,
    "higher mean, 10 folds": higher_mean_rule,
    "means ± sd do not overlap, 10 folds": no_overlap_rule,
}


def print_report(known, draws):
    """Print the truth, the means over all pairs, and every cell."""
    cells = [(*pair, p) for pair in PAIRS for p in POINTS if (*pair, p) in draws]
    truth = {cell: known["-".join(map(str, cell))] for cell in cells}
    arrays = {cell: Draws(draws[cell]) for cell in cells}
    verdicts = {(name, c): rule(arrays[c]) for name, rule in RULES.items() for c in cells}
    rules = [name for name in RULES if all(verdicts[name, c] is not None for c in cells)]
    _print_truth(truth, draws)
    _print_summary(rules, verdicts, cells)
    for points in POINTS:
        what = "False positives" if points == 0 else f"A found better, by {points} points"
        print(f"\n{what}, by pair, means over the numbers of rows\n")
        _print_table(
            ["rule", *KINDS],
            [
                [rule, *(f"{_mean(rule, verdicts, cells, points, name):.1%}" for name in KINDS)]
                for rule in rules
            ],
        )


def _print_truth(truth, draws):
    print("True differences in points of accuracy, and draws\n")
    _print_table(
        ["pair", "rows", *(f"{points} wanted" for points in POINTS)],
        [
            [f"{name}: {KINDS[name].words}", str(n)]
            + [_truth(truth[name, n, p], draws[name, n, p]) if (name, n, p) in draws else "–"
               for p in POINTS]
            for name, n in PAIRS
        ],
    )  # fmt: skip


def _truth(found, draws):
    said = f"{100 * found['difference']:.2f} ± {100 * found['error']:.2f}"
    return f"{said if found['error'] else '0, exactly'} ({len(draws)})"


def _print_summary(rules, verdicts, cells):
    print("\nMeans over all pairs and numbers of rows; the level also of the worst pair\n")
    lines = []
    for rule in rules:
        levels = [_mean(rule, verdicts, cells, 0, name) for name in KINDS]
        wrong = [np.mean(verdicts[rule, c] < 0) for c in cells if c[2] > 0]
        numbers = [np.mean(levels), max(levels)]
        numbers += [_mean(rule, verdicts, cells, points) for points in POINTS[1:]]
        lines.append([rule, *(f"{one:.1%}" for one in [*numbers, np.mean(wrong)])])
    heads = ["level", "worst", *(f"power, {p}" for p in POINTS[1:]), "the worse one"]
    _print_table(["rule", *heads], lines)


def _mean(rule, verdicts, cells, points, name=None):
    """The share of verdicts, or of those for A, that is the better one, in some cells."""
    chosen = [c for c in cells if c[2] == points and name in (None, c[0])]
    found = [verdicts[rule, c] for c in chosen]
    return np.mean([np.mean(one != 0 if points == 0 else one > 0) for one in found])


def _print_table(heads, lines):
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for line in lines:
        print("| " + " | ".join(line) + " |")
