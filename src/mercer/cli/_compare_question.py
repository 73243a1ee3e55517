"""The question of ``mercer compare``: a table and its target, the models, the metric, the time."""

import math
import warnings
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._system.vocabulary import METRICS, MODELS_QUICK_FIRST
from mercer.cli._fit import fit_command, fit_lines

if TYPE_CHECKING:
    import pandas as pd

    from mercer.comparison import ComparisonRecord, MapRecord, RoundsComparison
    from mercer.tables import LabelledTable

_MIN_CLASS_ROWS = 5  # every class is in the test part of one in five splits or more
# Methods whose cost grows with the square of the rows see this many in two minutes; more time
# gives more rows, less time never fewer than the least.
_ROWS_IN_TWO_MINUTES, _LEAST_ROWS = 10_000, 5_000
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
    seed : int
        Of splits and models.
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
    seed: int = 0
    device: str | None = None
    bundled: "pd.DataFrame | None" = None

    @property
    def floor(self) -> str | None:
        """Name of the model that any other must beat, if it is among them."""
        from mercer.models import describe_model

        return next((n for n in self.models if describe_model(n).kind == "floor"), None)

    @property
    def rows(self) -> Any:
        """The number of each sample in the user's table, counted from 1."""
        return np.asarray(self.data.X.index, dtype=np.intp) + 1

    def how_to_fit(self, name: str) -> dict[str, str]:
        """Return the command and the lines of Python that fit a model on all rows."""
        from mercer.models import describe_model

        model = describe_model(name)
        most = min(self.max_rows, len(self.data.y))
        sees_more = model.max_rows is not None and model.max_rows < most
        options: Any = {
            "balanced": self.metric == "balanced",
            "seed": self.seed,
            "max_rows": self.max_rows if sees_more else None,
        }
        names = (name, self.path, self.data.target)
        device = self.device if model.kind == "mercer" else None
        return {
            "fit_command": fit_command(*names, **options, device=device),
            "python": fit_lines(*names, **options),
        }


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
        describe_model(name)  # an unknown name is refused before the table is read
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
        seed=seed,
        device=device,
        bundled=bundled,
    )


def compile_models(question: Question) -> None:
    """Fit Mercer's models on a few rows, so that no process has to compile them for itself."""
    from sklearn.base import clone

    from mercer.models import describe_model

    X, y = question.data.X, question.data.y
    rows = np.concatenate([np.flatnonzero(y == name)[:20] for name in np.unique(y)[:5]])
    for name, model in question.models.items():
        if describe_model(name).kind == "mercer":
            with warnings.catch_warnings(), suppress(ValueError, np.linalg.LinAlgError):
                warnings.simplefilter("ignore")
                clone(model).fit(X.iloc[rows], y[rows]).predict(X.iloc[rows])


def describe(
    question: Question,
    comparison: "RoundsComparison",
    *,
    the_map: "MapRecord",
    budget: float,
    longer_command: str | None = None,
) -> "ComparisonRecord":
    """Return what is kept of a comparison and shown."""
    from mercer.comparison import ClassRecord, ColumnRecord, QuestionRecord, record_comparison
    from mercer.models import describe_model

    data = question.data
    classes, counts = np.unique(data.y, return_counts=True)
    known = {name: describe_model(name) for name in question.models}
    return record_comparison(
        comparison,
        QuestionRecord(
            table=question.table,
            is_bundled=question.bundled is not None,
            target=data.target,
            rows=len(data.y),
            columns=tuple(ColumnRecord(**asdict(column)) for column in data.columns),
            classes=tuple(
                ClassRecord(name=str(name), rows=int(n))
                for name, n in zip(classes, counts, strict=True)
            ),
            notes=tuple(data.notes),
        ),
        models={name: (model.label, model.kind) for name, model in known.items()},
        rows=question.rows,
        metric_reason=question.reason,
        budget_seconds=budget,
        longer_command=longer_command,
        **question.how_to_fit(comparison.leader),
        the_map=the_map,
        seed=question.seed,
    )


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
