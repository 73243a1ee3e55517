"""What the results say: scores, means, wins and what failed, in Markdown.  For study_tables.py."""

import json

import numpy as np
import pandas as pd
from _tables_methods import METHODS, asked_methods
from _tables_problems import FLATTERING, Place, entries

from mercer.comparison import compare_over_datasets

ENUMERATIONS = ["car", "nursery", "tic_tac_toe", "kr_vs_kp", "jungle_chess"]
FICTIONAL = ["telco_churn", "churn5000"]

SCORES = ["accuracy", "balanced_accuracy", "log_loss", "brier", "calibration_error", "auc"]
FLAT = 0.2  # points of accuracy within which nobody wins


def print_report(options):
    results = _read_results(options.out)
    methods = [name for name in asked_methods(options) if name in set(results["method"])]
    extra = sorted(set(results["method"]) - set(METHODS)) if not options.methods else []
    methods += extra
    focus = options.focus if options.focus in methods else methods[0]
    results = results[results["method"].isin(methods)]
    kinds = _kinds(results["problem"].unique(), Place(options.tables, ""))
    wide = _wide(results, "accuracy", methods) * 100
    for title in ("tables, random splits", "tables, blocked splits", "numeric sets"):
        names = [name for name in wide.index if name in kinds[title]]
        _print_scores(f"Accuracy (%): {title}", wide.loc[names])
    for score in [*SCORES, "fit_seconds", "predict_seconds"]:
        factor = 100 if score in ("accuracy", "balanced_accuracy", "auc") else 1
        _print_means(score, _wide(results, score, methods) * factor, kinds)
    for title in kinds:
        names = [name for name in wide.index if name in kinds[title]]
        _print_verdicts(title, wide.loc[names], focus)
    _print_troubles(results)


def _read_results(folder):
    rows = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("[!.]*.json"))
    ]
    if not rows:
        raise SystemExit(f"There are no results in {folder}.")
    table = pd.DataFrame(rows)
    for column in (*SCORES, "fit_seconds", "predict_seconds", "n_train", "n_train_used", "error"):
        if column not in table:
            table[column] = np.nan
    return table


def _kinds(problems, place):
    """Return the groups of problems that means are taken over."""
    tables = sorted(name for name in problems if "/" not in name)
    honest = [name for name in tables if name not in FLATTERING]
    in_order = sorted(entries(place)) or tables  # halves do not depend on what is done
    return {
        "tables, random splits": tables,
        "without the five flattering": honest,
        "nor enumerations, nor fictional": [
            name for name in honest if name not in (*ENUMERATIONS, *FICTIONAL)
        ],
        "design half of the tables": [name for name in tables if name in in_order[::2]],
        "fresh half of the tables": [name for name in tables if name in in_order[1::2]],
        "tables, blocked splits": [name for name in problems if name.endswith("/blocked")],
        "numeric sets": [name for name in problems if name.startswith("numeric/")],
    }


def _wide(results, score, methods):
    """Return problem × method: means over the splits that every method of the problem has."""
    table = results.pivot_table(index=["problem", "split"], columns="method", values=score)
    if table.empty:
        return pd.DataFrame(np.nan, index=results["problem"].unique(), columns=methods)
    rows = {}
    for problem, part in table.groupby("problem"):
        part = part.dropna(axis=1, how="all")
        rows[problem] = part.dropna().mean()
    return pd.DataFrame(rows).T.reindex(columns=methods)


def _cell(value, best, decimals):
    if np.isnan(value):
        return "–"
    text = f"{value:.{decimals}f}"
    return f"**{text}**" if text == f"{best:.{decimals}f}" else text


def _print_row(name, values, best, decimals):
    cells = [_cell(value, best, decimals) for value in values]
    print(f"| {name} | {' | '.join(cells)} |")


def _print_head(title, columns):
    print(f"\n| {title} | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")


def _print_scores(title, wide):
    if wide.empty:
        return
    _print_head(title, wide.columns)
    for name, row in wide.iterrows():
        _print_row(name, row, row.max(), 2)


def _print_means(score, wide, kinds):
    """Print the means over the problems that every method has, the best in bold."""
    wide = wide.dropna(axis=1, how="all")
    if wide.shape[1] == 0:
        return
    decimals = 4 if score in ("log_loss", "brier", "calibration_error") else 2
    _print_head(f"mean {score.replace('_', ' ')} (problems)", wide.columns)
    for title, names in kinds.items():
        complete = wide[wide.index.isin(names)].dropna()
        if len(complete):
            means = complete.mean()
            best = means.max() if score in ("accuracy", "balanced_accuracy", "auc") else means.min()
            _print_row(f"{title} ({len(complete)} of {len(names)})", means, best, decimals)


def _print_verdicts(title, wide, focus):
    """Print how often one method wins against each peer, and what the tests say."""
    lines = []
    for peer in wide.columns.drop(focus):
        pair = wide[[focus, peer]].dropna()
        if len(pair) == 0:
            continue
        difference = pair[focus] - pair[peer]
        wins, losses = int((difference > FLAT).sum()), int((difference < -FLAT).sum())
        verdict = "–"
        if len(pair) >= 2:
            found = compare_over_datasets(pair / 100, rope=FLAT / 100, random_state=0).pairs.iloc[0]
            verdict = f"{found['verdict']}, p = {found['pvalue_holm']:.3g}"
        lines.append(
            f"| {peer} | {wins} | {losses} | {len(pair) - wins - losses} | "
            f"{difference.mean():+.2f} | {difference.median():+.2f} | {verdict} |"
        )
    if lines:
        columns = ["wins", "losses", "ties", "mean difference", "median", "Wilcoxon"]
        _print_head(f"{focus} against, {title}", columns)
        print("\n".join(lines))


def _print_troubles(results):
    """Print what failed and which methods saw fewer rows than there were."""
    failed = results[results["error"].notna()]
    for (method, error), rows in failed.groupby(["method", "error"]):
        print(f"\n{method} failed ({error}): {', '.join(sorted(set(rows['problem'])))}.")
    capped = results[results["n_train_used"] < results["n_train"]]
    for method, rows in capped.groupby("method"):
        most = int(rows["n_train_used"].max())
        names = ", ".join(sorted(set(rows["problem"])))
        print(f"\n{method} saw at most {most} training rows of {names}.")
