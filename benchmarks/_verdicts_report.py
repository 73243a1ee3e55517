"""What each tool says of the draws of sim_verdicts.py, and the tables of how often it is wrong."""

from functools import partial

import numpy as np
from scipy import stats
from sim_verdicts import KINDS, PAIRS, POINTS

from mercer.comparison import corrected_t_test, kfold_paired_t_test, mcnemar_test

LEVEL = 0.05

# Rules: from a draw to the one that is said to be better, 1 for A, -1 for B, 0 for nobody.


def _scores(draw, key, n_splits):
    a, b, tested = (np.array(one[:n_splits], dtype=float) for one in draw[key])
    return a / tested, b / tested


def mercer_rule(draw, n_rounds=20):
    a, b = _scores(draw, "tens", n_rounds)
    n = int(np.sum(draw["rows"]))
    result = corrected_t_test(a, b, n_train=0.9 * n, n_test=0.1 * n)
    if np.isnan(result.interval[0]) and result.favours and n_rounds >= 10:
        # No spread: the rows, if one is right wherever the other is, as `mercer compare` does it.
        only_b, _, only_a = np.sum(draw["rows"], axis=1)
        if min(only_a, only_b) == 0:
            truth = np.ones(only_a + only_b)
            rows = mcnemar_test(truth, truth * (only_a > 0), truth * (only_b > 0), method="exact")
            return int(rows.significant) * (1 if only_a else -1)
    return int(result.significant) * int(np.sign(result.effect))


def plain_t_rule(draw):
    result = kfold_paired_t_test(*_scores(draw, "tens", 10))
    return int(result.significant) * int(np.sign(result.effect))


def mcnemar_rule(draw):
    only_b, _, only_a = np.sum(draw["rows"], axis=1)
    truth = np.ones(only_a + only_b + 1)
    a = np.concatenate([np.ones(only_a), np.zeros(only_b), [1]])
    b = np.concatenate([np.zeros(only_a), np.ones(only_b), [1]])
    result = mcnemar_test(truth, a, b)
    return int(result.significant) * int(np.sign(result.effect))


def autorank_rule(draw, n_splits=10):
    """Autorank 1.3 for two columns, by its defaults."""
    a, b = _scores(draw, "tens", n_splits)
    return autorank_for_two(a, b)


def autorank_for_two(a, b, alpha=LEVEL):
    """Return 1 where autorank says that A is better, -1 for B, and 0 for no difference."""
    is_normal = min(stats.shapiro(one).pvalue for one in (a, b)) >= alpha / 2
    if is_normal:
        pvalue = stats.ttest_rel(a, b).pvalue
        return int(pvalue < alpha) * int(np.sign(np.mean(a) - np.mean(b)))
    larger = int(np.argmax([np.median(a), np.median(b)]))
    one, other = (a, b) if larger == 0 else (b, a)
    pvalue = stats.wilcoxon(one, other, alternative="greater").pvalue
    return int(pvalue < alpha) * (1 if larger == 0 else -1)


def tabarena_rule(draw):
    """Wilcoxon's test of the better mean with the other, by SciPy's defaults."""
    a, b = _scores(draw, "thirds", 30)
    if not np.any(a - b):
        return 0
    pvalue = stats.wilcoxon(a, b).pvalue
    return int(pvalue < LEVEL) * int(np.sign(np.mean(a) - np.mean(b)))


def higher_mean_rule(draw):
    a, b = _scores(draw, "tens", 10)
    return int(np.sign(np.round(np.mean(a) - np.mean(b), 12)))


def no_overlap_rule(draw):
    a, b = _scores(draw, "tens", 10)
    gap = np.mean(a) - np.mean(b)
    return int(abs(gap) > np.std(a, ddof=1) + np.std(b, ddof=1)) * int(np.sign(gap))


RULES = {
    "Mercer, 20 rounds": mercer_rule,
    "Mercer, 10 rounds": partial(mercer_rule, n_rounds=10),
    "Mercer, 5 rounds": partial(mercer_rule, n_rounds=5),
    "autorank, 10 folds": autorank_rule,
    "autorank, Mercer's 20 splits": partial(autorank_rule, n_splits=20),
    "Wilcoxon, TabArena's 30 splits": tabarena_rule,
    "plain t, 10 folds": plain_t_rule,
    "McNemar, rows of 10 folds": mcnemar_rule,
    "higher mean, 10 folds": higher_mean_rule,
    "means ± sd do not overlap": no_overlap_rule,
}


def print_report(known, draws):
    """Print the truth, the means over all pairs, and every cell."""
    cells = [(*pair, p) for pair in PAIRS for p in POINTS if (*pair, p) in draws]
    truth = {cell: known["-".join(map(str, cell))] for cell in cells}
    verdicts = {
        (rule, cell): np.array([judge(draw) for draw in draws[cell]])
        for rule, judge in RULES.items()
        for cell in cells
    }
    _print_truth(truth, draws)
    _print_summary(verdicts, cells)
    for points in POINTS:
        chosen = [cell for cell in cells if cell[2] == points]
        what = "False positives" if points == 0 else f"A found better, by {points} points"
        print(f"\n{what}, by pair and rows\n")
        _print_table(
            ["rule", *(f"{name} {n}" for name, n, _ in chosen)],
            [
                [rule, *(f"{_share(verdicts[rule, cell], points):.1%}" for cell in chosen)]
                for rule in RULES
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


def _print_summary(verdicts, cells):
    """Means over pairs and sizes; of the level the worst cell as well."""
    print("\nMeans over all pairs and sizes; the level also where it is worst\n")
    lines = []
    for rule in RULES:
        shares = {
            points: [_share(verdicts[rule, c], points) for c in cells if c[2] == points]
            for points in POINTS
        }
        wrong = [np.mean(verdicts[rule, c] < 0) for c in cells if c[2] > 0]
        lines.append(
            [
                rule, _percent(np.mean(shares[0])), _percent(max(shares[0])),
                *(_percent(np.mean(shares[points])) for points in POINTS[1:]),
                _percent(np.mean(wrong)),
            ]
        )  # fmt: skip
    heads = ["level", "worst level", *(f"power, {p}" for p in POINTS[1:]), "the worse one"]
    _print_table(["rule", *heads], lines)


def _share(verdicts, points):
    return float(np.mean(verdicts != 0) if points == 0 else np.mean(verdicts > 0))


def _percent(share):
    return f"{share:.1%}"


def _print_table(heads, lines):
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for line in lines:
        print("| " + " | ".join(line) + " |")
