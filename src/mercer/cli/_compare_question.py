"""The question of ``mercer compare``: a table and its target, the models, the metric, the time."""

import math
import re
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mercer._system.vocabulary import METRICS, MODELS_QUICK_FIRST

if TYPE_CHECKING:
    import pandas as pd

    from mercer.tables import LabelledTable

__all__ = ["Question", "ask", "get_ready", "parse_seconds"]

_MIN_CLASS_ROWS = 5  # every class is in the test part of one in five splits or more
# Methods whose cost grows with the square of the rows see this many in two minutes; more time
# gives more rows, less time never fewer than the least.
_ROWS_IN_TWO_MINUTES, _LEAST_ROWS = 10_000, 5_000
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_BUNDLED, _TARGET = "breast cancer", "diagnosis"


@dataclass(frozen=True, eq=False)
class Question:
    """What is to be answered.

    Parameters
    ----------
    table : str
        What the table is called.
    path : str
        The file to read again, to fit the winner; the bundled table is written there.
    data : LabelledTable
        Its rows.
    models : dict of name to pipeline
    metric, reason : str
        What to judge by, and why.
    max_rows : int
        The most rows that methods of quadratic cost are fitted on.
    device : str or None
        Where Mercer's own models compute; None is NumPy.
    bundled : DataFrame or None
        The table, where none was given.
    """

    table: str
    path: str
    data: "LabelledTable"
    models: dict[str, Any]
    metric: str
    reason: str
    max_rows: int
    device: str | None = None
    bundled: "pd.DataFrame | None" = None

    @property
    def is_balanced(self) -> bool:
        """Whether models give all classes the same weight."""
        return self.metric == "balanced"

    @property
    def floor(self) -> str | None:
        """Name of the model that any other must beat, if it is among them."""
        from mercer.models import describe_model

        return next((n for n in self.models if describe_model(n).kind == "floor"), None)


def ask(
    table: str | None,
    target: str | None,
    *,
    models: str | None,
    metric: str | None,
    seed: int,
    output: Path,
    device: str | None = None,
    seconds: float = 120.0,
) -> Question:
    """Read the table and make the models."""
    from mercer.comparison import choose_metric
    from mercer.models import describe_model, list_models, make_model, on_device
    from mercer.tables import Table, read_table, split_target

    names = list_models() if models is None else _names(models)
    for name in names:
        describe_model(name)  # refuses what there is not
    bundled = None
    if table is None:
        if target not in (None, _TARGET):
            raise ValueError(
                f"Without a table the target is {_TARGET!r}, of the {_BUNDLED} data: "
                "give the table before --target."
            )
        bundled, target = _load_bundled(), _TARGET
        rows = Table(bundled, _BUNDLED)
    else:
        if target is None:
            raise ValueError(f"Say which column of {table} to predict: --target NAME.")
        rows = read_table(table)
    data = split_target(rows, target, min_class_rows=_MIN_CLASS_ROWS)
    if metric is None:
        metric, reason = choose_metric(data.y)
    else:
        reason = f"Scored by {METRICS[metric].words}, as asked for."
    max_rows = max(_LEAST_ROWS, round(_ROWS_IN_TWO_MINUTES * math.sqrt(seconds / 120)))
    options: Any = {
        "balanced": metric == "balanced", "random_state": seed, "max_rows": max_rows
    }  # fmt: skip
    pipelines = {
        name: make_model(name, data, **options)
        for name in sorted(names, key=MODELS_QUICK_FIRST.index)
    }
    if device is not None:
        pipelines = {name: on_device(model, device) for name, model in pipelines.items()}
    return Question(
        table=rows.name,
        path=str(output / "table.csv") if table is None else table,
        data=data,
        models=pipelines,
        metric=metric,
        reason=reason,
        max_rows=max_rows,
        device=device,
        bundled=bundled,
    )


def get_ready(question: Question) -> None:
    """Fit Mercer's models on a few rows, so that no process has to compile them for itself."""
    import numpy as np
    from sklearn.base import clone

    from mercer.models import describe_model

    X, y = question.data.X, question.data.y
    rows = np.concatenate([np.flatnonzero(y == name)[:20] for name in np.unique(y)[:5]])
    for name, model in question.models.items():
        if describe_model(name).kind == "mercer":
            with warnings.catch_warnings(), suppress(ValueError, np.linalg.LinAlgError):
                warnings.simplefilter("ignore")
                clone(model).fit(X.iloc[rows], y[rows]).predict(X.iloc[rows])


def parse_seconds(text: str) -> float:
    """Read a time such as ``90s``, ``2m``, ``1h30m`` or ``45`` (seconds).

    Examples
    --------
    >>> from mercer.cli._compare_question import parse_seconds
    >>> parse_seconds("2m"), parse_seconds("1h30m"), parse_seconds("45")
    (120.0, 5400.0, 45.0)
    """
    number = r"\d+(?:\.\d+)?"
    parts = re.fullmatch(
        rf"(?:({number})h)?(?:({number})m)?(?:({number})s?)?", text.strip().lower().replace(" ", "")
    )
    if parts is None or not any(parts.groups()):
        raise ValueError(f"--budget takes a time such as 90s, 2m or 1h; got {text!r}.")
    found = zip(parts.groups(), _UNITS.values(), strict=True)
    seconds = sum(float(part) * unit for part, unit in found if part)
    if not 1 <= seconds < 1e7:
        raise ValueError(
            f"--budget must be one second or more, and less than 100 days; got {text!r}."
        )
    return seconds


def _names(models: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in models.split(",") if name.strip()))
    if len(names) < 2:
        raise ValueError(f"--models needs two names or more, such as fisher,svc; got {models!r}.")
    return names


def _load_bundled() -> "pd.DataFrame":
    """Return scikit-learn's breast cancer data with the names of columns and classes."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer(as_frame=True)
    frame: pd.DataFrame = bunch.data.assign(
        **{_TARGET: bunch.target_names[bunch.target.to_numpy()]}
    )
    return frame
