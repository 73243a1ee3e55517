"""A small table of every kind of column, for tests of models and of views."""

import numpy as np
import pandas as pd

CLASSES = ("<script>alert(1)</script>", "=cmd()", "plain")


def mixed_frame(n=150, seed=0):
    """Numbers with gaps, categories, dates, and classes with names that must be harmless."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "count": rng.integers(0, 9, n).astype(float),
            "colour": rng.choice(["red", "green", "blue"], n),
            "when": pd.date_range("2020-01-01", periods=n, freq="17h").strftime("%Y-%m-%d"),
        }
    )
    frame.loc[::9, "count"] = np.nan
    score = frame["size"] + (frame["colour"] == "red") + 0.3 * rng.normal(size=n)
    frame["target"] = np.array(CLASSES)[np.digitize(score, [0.0, 0.8])]
    return frame
