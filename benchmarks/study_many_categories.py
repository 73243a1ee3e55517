"""What a column of very many categories is worth to a model, by how it becomes numbers.

    python benchmarks/study_many_categories.py

Generated tables of 600 rows with three numbers and a column of categories, each of which has an
effect of its own on the classes.  Accuracy in 3 folds, mean of 3 tables: without the column, with
0/1 columns of its 100 most frequent categories, with shares of the classes beside them (what
`make_preprocessor` does above 100 categories), and with scikit-learn's TargetEncoder instead.
"""

import argparse
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder

from mercer.discriminants import KernelFisherDiscriminant
from mercer.tables import CategoryDummies, SoftRankScaler
from mercer.tables.preparing._class_shares import ClassShares

NUMBERS = ["a", "b", "c"]
TABLES: dict[str, dict[str, Any]] = {
    "200 categories, alike in size": {},
    "200 categories, a few large": {"power": 1.0},
    "200 categories without effect": {"effect": 0.0},
}
WAYS = ("none", "dummies", "shares", "target encoder")


def made_up(
    seed: int, n_levels: int = 200, power: float = 0.0, effect: float = 1.5
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table and its classes."""
    rng = np.random.default_rng(seed)
    weights = np.arange(1.0, n_levels + 1) ** -power
    levels = rng.choice(n_levels, 600, p=weights / weights.sum())
    X = rng.normal(size=(600, 3))
    scores = rng.normal(0, effect, (n_levels, 2))[levels]
    scores[:, 0] += X[:, 0] + X[:, 1] * X[:, 2]
    scores += rng.gumbel(size=scores.shape)
    frame = pd.DataFrame(X, columns=NUMBERS)
    frame["level"] = pd.Categorical([f"L{level:04d}" for level in levels])
    return frame, np.array([f"c{k}" for k in scores.argmax(axis=1)])


def preprocessor(way: str, scaler: Any) -> ColumnTransformer:
    """Return what makes numbers of such a table."""
    height = 0.5 if isinstance(scaler, SoftRankScaler) else 1.0
    encoder = Pipeline([("encode", TargetEncoder()), ("scale", StandardScaler())])
    parts = [("number", scaler, NUMBERS)]
    if way != "none":
        parts.append(("category", CategoryDummies(height=height), ["level"]))
    if way in ("shares", "target encoder"):
        parts.append(("share", ClassShares() if way == "shares" else encoder, ["level"]))
    return ColumnTransformer(parts, sparse_threshold=0.0)


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    models = {
        "fisher": (SoftRankScaler(), KernelFisherDiscriminant(random_state=0)),
        "logistic": (StandardScaler(), LogisticRegression(max_iter=1000)),
        "boosting": ("passthrough", HistGradientBoostingClassifier(random_state=0)),
    }
    warnings.simplefilter("ignore")
    print(f"{'':31}{'':10}" + "".join(f"{way:>16}" for way in WAYS))
    for title, options in TABLES.items():
        for name, (scaler, model) in models.items():
            found = []
            for way in WAYS:
                pipeline = Pipeline([("table", preprocessor(way, scaler)), ("model", model)])
                folds = StratifiedKFold(3, shuffle=True, random_state=0)
                scores = [
                    cross_val_score(pipeline, *made_up(seed, **options), cv=folds).mean()
                    for seed in range(3)
                ]
                found.append(f"{100 * np.mean(scores):16.1f}")
            print(f"{title:31}{name:10}" + "".join(found), flush=True)


if __name__ == "__main__":
    main()
