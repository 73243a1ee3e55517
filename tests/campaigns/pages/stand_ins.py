"""Small tables under the names that the pages give them."""

import numpy as np
import pandas as pd


def people(n, seed):
    """Return a table of people with two classes, gaps and both kinds of columns."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    hours = rng.normal(38, 9, n).round(1)
    work = rng.choice(["private", "state", "self"], n)
    income = np.where(age + hours + rng.normal(0, 12, n) > 88, "high", "low")
    frame = pd.DataFrame({"age": age, "hours": hours, "work": work, "income": income})
    return frame.mask(rng.random(frame.shape) < 0.02)


def write_files(folder):
    """Write the files that pages speak of into a folder."""
    people(80, 0).to_csv(folder / "people.csv", index=False)
    people(30, 1).drop(columns="income").to_csv(folder / "new.csv", index=False)
    (folder / "costs.csv").write_text("truth,high,low\nhigh,0,20\nlow,1,0\n", encoding="utf-8")
    rng = np.random.default_rng(5)
    means = {"svc": 0.9, "forest": 0.88, "knn": 0.8}
    scores = {name: mean + 0.02 * rng.normal(size=10) for name, mean in means.items()}
    pd.DataFrame(scores).to_csv(folder / "results.csv", index=False)
    for seed, name in enumerate(["january", "february", "last-year", "this-year"]):
        people(60, 10 + seed).to_csv(folder / f"{name}.csv", index=False)
