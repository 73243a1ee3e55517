"""Reasons against SHAP's exact values and permutation importance, for docs/explanations.md.

    MERCER_TABLES=/path/to/tables python benchmarks/study_reasons.py agreement [TABLE …]
    python benchmarks/study_reasons.py time

`agreement`: for each small table and model, fitted on 70 % of the rows, reasons for the same test
rows against the same background of training rows, by `explain_rows` and by the exact explainer of
the package shap (which must be installed; it asks for all subsets of the columns).  Of all shares:
the largest difference, as a share of the largest share; Spearman's correlation within rows, on
average; for sampled shares, the root mean square of differences in standard errors.  And Spearman's
correlation over columns of mean absolute shares with permutation importance (log-loss on all test
rows).  Times are processor time.

`time`: processor time a row of exact and of sampled shares, for two numbers of training rows and of
columns, and of finding the training rows that speak for and against.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.model_selection import train_test_split

from mercer.explanations import column_importances, explain_rows
from mercer.models import make_model
from mercer.tables import read_table, split_target

TABLES = ("abalone", "breast_w", "car", "cmc", "tic_tac_toe", "titanic")
MODELS = ("fisher", "ise", "logistic", "parzen", "laplacian", "boosting")
SIZES = ((1000, 10), (1000, 30), (3000, 10), (3000, 30))


def load(name):
    """Return a table without its identifiers and without columns that give the class away."""
    folder = Path(os.environ["MERCER_TABLES"])
    entry = json.loads((folder / "tables.json").read_text(encoding="utf-8"))[name]
    dropped = [*entry["ids"], *entry["leaks"], *entry.get("left_out", ())]
    table = read_table(folder / entry["file"])
    frame = table.frame.drop(columns=[c for c in dropped if c in table.frame])
    return split_target(frame, entry["target"])


def values_by_shap(model, rows, background, predicted, against):
    """Return SHAP's exact values of each row, with the columns of the table as players."""
    import shap

    # shap computes with numbers: each value of a column has one, and stands in a row of this frame.
    both = pd.concat([rows, background], ignore_index=True)
    codes = np.arange(len(both))[:, None] * np.ones(both.shape[1])
    classes = list(model[-1].classes_)
    found = []
    for i, names in enumerate(zip(predicted, against, strict=True)):
        one, other = map(classes.index, names)

        def score(Z, one=one, other=other):
            places = np.asarray(Z, dtype=int)
            columns = {name: both[name].take(places[:, k]).array for k, name in enumerate(both)}
            scores = model.decision_function(pd.DataFrame(columns))
            if scores.ndim == 1:
                return scores if one == 1 else -scores
            return scores[:, one] - scores[:, other]

        masker = shap.maskers.Independent(codes[len(rows) :], max_samples=len(background))
        explainer = shap.ExactExplainer(score, masker)
        found.append(explainer(codes[i : i + 1], silent=True).values[0])
    return np.array(found)


def agreement(name, model_name, n_rows, n_background):
    """Print one line of the table."""
    data = load(name)
    train, test = train_test_split(
        np.arange(len(data.y)), test_size=0.3, stratify=data.y, random_state=0
    )
    model = make_model(model_name, data).fit(data.X.iloc[train], data.y[train])
    rng = np.random.RandomState(0)
    background = data.X.iloc[rng.choice(train, n_background, replace=False)]
    rows = data.X.iloc[rng.choice(test, n_rows, replace=False)]
    start = time.process_time()
    reasons = explain_rows(model, rows, background=background)
    ours = time.process_time() - start
    start = time.process_time()
    theirs = values_by_shap(model, rows, background, reasons.predicted, reasons.against)
    seconds = time.process_time() - start
    theirs = theirs[:, [list(data.X.columns).index(c) for c in reasons.columns]]
    off = reasons.shares - theirs
    ranks = np.mean([spearmanr(a, b)[0] for a, b in zip(reasons.shares, theirs, strict=True)])
    in_errors = "–"
    if not reasons.exact:
        in_errors = f"{np.sqrt(np.mean((off / reasons.standard_errors) ** 2)):.2f}"
    spread = explain_rows(model, data.X.iloc[test[:200]], background=background, n_rows=0)
    lost = column_importances(model, data.X.iloc[test], data.y[test])
    with_lost = spearmanr(np.abs(spread.shares).mean(axis=0), lost.log_loss)[0]
    print(
        f"| {name} | {len(reasons.columns)} | {model_name} | {'yes' if reasons.exact else 'no'} | "
        f"{np.abs(off).max() / np.abs(theirs).max():.1e} | {ranks:.3f} | {in_errors} | "
        f"{with_lost:.2f} | {1000 * ours / n_rows:.0f} | {1000 * seconds / n_rows:.0f} |",
        flush=True,
    )


def agreements(names, models, n_rows, n_background):
    print(
        "| table | columns | model | exact | largest difference | rank correlation | in errors | "
        "with importance | ms a row | ms a row, shap |"
    )
    print("|---|--:|---|---|--:|--:|--:|--:|--:|--:|")
    for name in names:
        for model in models:
            agreement(name, model, n_rows, n_background)


def table(n_rows, n_columns, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows) > 0, "yes", "no")
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(n_columns)]).assign(y=y)
    return split_target(frame, "y")


def times(models, n_rows):
    print("| model | training rows | columns | exact | ms a row | of it, similar rows |")
    print("|---|--:|--:|---|--:|--:|")
    for size, n_columns in SIZES:
        data = table(size, n_columns)
        for name in models:
            model = make_model(name, data).fit(data.X, data.y)
            explain_rows(model, data.X[:1])  # so that nothing is compiled below
            rows, found = data.X[:n_rows], []
            for similar in (5, 0):
                start = time.process_time()
                reasons = explain_rows(model, rows, n_rows=similar)
                found.append(1000 * (time.process_time() - start) / n_rows)
            exact = "yes" if reasons.exact else "no"
            print(
                f"| {name} | {size} | {n_columns} | {exact} | {found[0]:.1f} | "
                f"{max(found[0] - found[1], 0.0):.1f} |",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("agreement", "time"))
    parser.add_argument("tables", nargs="*", default=TABLES, metavar="TABLE")
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--background", type=int, default=50)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.what == "agreement":
        import shap  # noqa: F401 - so that no line has the time that this takes
    if options.what == "agreement":
        agreements(options.tables, options.models, options.rows, options.background)
    else:
        times(options.models, options.rows)


if __name__ == "__main__":
    main()
