"""``write_reasons_page``: the reasons for the answers of a model → one HTML page."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mercer._system.words import confidence, fixed, listed, percent, signed
from mercer.explanations import value_text
from mercer.report._document import render_template, write_whole
from mercer.report.charts._figures import draw_panel

if TYPE_CHECKING:
    from mercer.explanations import ExplainedRow, PartialDependence, TableReasons

_PARTS = 8  # so many columns of a row are listed
_CELLS = 6  # so many columns of training rows are shown
_CLASSES = 4  # so many classes have a curve
_WEIGHTS = 30  # so many columns are listed at first
_LOW = 0.05  # Of rows like the training rows, this share is less familiar than this.


@dataclass(frozen=True)
class RowFacts:
    """What a page says of a row beside its answer and the reasons for it.

    Parameters
    ----------
    familiarity : float or None
        The share of training rows that lie farther out; None if that is not known.
    farthest : str
        The column in which it is farthest out.
    actual : str or None
        Its class, where the table has it.
    kept : mapping of str to str
        Columns that identify it, with their cells.
    answer_set : str
        The classes that may be right, in words; empty where the model has no sets.
    """

    familiarity: float | None = None
    farthest: str = ""
    actual: str | None = None
    kept: Mapping[str, str] | None = None
    answer_set: str = ""


def write_reasons_page(
    found: "TableReasons",
    path: str | os.PathLike[str],
    *,
    model: str,
    target: str,
    table: str,
    facts: Sequence[RowFacts] | None = None,
    weighed_on: str = "rows with classes",
    coverage: float | None = None,
    notes: Sequence[str] = (),
) -> Path:
    """Write a page with what :func:`mercer.explanations.explain_table` found.

    The columns that the model goes by, curves of the first of them, and for each row its answer,
    the shares of its columns and the training rows that speak for and against: one HTML file that
    needs nothing else.

    Parameters
    ----------
    found : TableReasons
        What `explain_table` returned.
    path : path-like
        Where the page goes.
    model : str
        What people call the model.
    target : str
        What it predicts.
    table : str
        What the table of the rows is called.
    facts : sequence of RowFacts, optional
        What else is known of each row.
    weighed_on : str, default="rows with classes"
        The rows on which the columns were weighed, in words.
    coverage : float, optional
        How often the sets of classes hold the true one, where there are sets.
    notes : sequence of str
        What else a reader should know.

    Returns
    -------
    Path
        The page.  It appears whole or not at all.

    Raises
    ------
    FileNotFoundError
        If the folder for the page is not there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from mercer.explanations import explain_table
    >>> from mercer.models import make_model
    >>> from mercer.report import write_reasons_page
    >>> from mercer.tables import split_target
    >>> fruit = ["fig"] * 9 + ["kiwi"] * 9
    >>> sizes = [1.0 + i % 9 / 10 + 3 * (i > 8) for i in range(18)]
    >>> data = split_target(pd.DataFrame({"size": sizes, "fruit": fruit}), "fruit")
    >>> model = make_model("logistic", data).fit(data.X, data.y)
    >>> found = explain_table(model, data.X[:2], known=data.X, labelled=(data.X, data.y))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder, "reasons.html")
    ...     write_reasons_page(found, page, model="logistic", target="fruit", table="t.csv").name
    'reasons.html'
    """
    facts = [RowFacts() for _ in found.rows] if facts is None else facts
    page = render_template(
        "reasons.html",
        found=found,
        model=model,
        target=target,
        table=Path(table).name or table,
        rows=list(zip(found.rows, facts, strict=True)),
        weighed_on=weighed_on,
        coverage="" if coverage is None else confidence(coverage),
        notes=list(notes),
        leading=listed([one.column for one in found.columns[:3]]),
        largest_weight=max((max(one.log_loss, 0.0) for one in found.columns), default=0.0) or 1.0,
        curves=[
            _of_numbers(one) if one.values.dtype.kind in "fiuM" else _of_categories(one)
            for one in found.curves
        ],
        scale_of=partial(_scale_of, largest=_largest_share(found.rows)),
        answers=_answers(found.rows),
        n_parts=_PARTS,
        n_weights=_WEIGHTS,
        cells_of=_cells_of,
        familiarity_text=familiarity_text,
        low=_LOW,
        fixed=fixed,
        signed=signed,
    )
    return write_whole(Path(path), page)


def familiarity_text(familiarity: float | None) -> str:
    """Say how familiar a row is; nothing where that is not known."""
    if familiarity is None:
        return ""
    if familiarity == 0:
        return "farther out than any training row"
    some = "only " if familiarity < _LOW else ""
    return f"{some}{percent(familiarity)} of the training rows lie farther out"


def _answers(rows: "Sequence[ExplainedRow]") -> str:
    """Say how often each class is the answer."""
    counts = pd.Series([row.predicted for row in rows]).value_counts()
    if len(rows) == 1:
        return f"“{rows[0].predicted}”"
    texts = [f"{count} {'is' if count == 1 else 'are'} “{name}”" for name, count in counts.items()]
    return listed(texts, most=4)


def _largest_share(rows: "Sequence[ExplainedRow]") -> float:
    return max((abs(part.share) for row in rows for part in row.parts), default=0.0) or 1.0


def _scale_of(row: "ExplainedRow", largest: float) -> float:
    """Return the share that the longest bar of a row stands for.

    Bars of a row that all columns leave alone stay short: a tenth of the largest share of the page
    is the least.
    """
    return max(_largest_share([row]), largest / 10)


def _cells_of(row: "ExplainedRow") -> list[str]:
    """Return the columns whose values are shown beside those of training rows."""
    return [part.column for part in row.parts[:_CELLS]]


def _shown_classes(curve: "PartialDependence") -> list[int]:
    """Return the classes that are drawn: of two, the last; of many, those that change most."""
    n_classes = len(curve.classes)
    if n_classes == 2:
        return [1]
    change = np.ptp(curve.probabilities, axis=0)
    return sorted(np.argsort(-change, kind="stable")[:_CLASSES].tolist())


def _of_numbers(curve: "PartialDependence") -> dict[str, Any]:
    """Draw the probabilities of classes along a column of numbers or dates."""
    is_missing = pd.isna(curve.values)
    values = curve.values[~is_missing]
    x = _in_years(values) if values.dtype.kind == "M" else values.astype(np.float64)
    kept = _in_view(x)
    shown = _shown_classes(curve)
    shares = curve.probabilities[~is_missing][kept]
    layers = [
        {
            "kind": "line",
            "x": x[kept].tolist(),
            "y": shares[:, k].tolist(),
            "colour": place,
            "label": str(curve.classes[k]) if len(curve.classes) > 2 else "",
        }
        for place, k in enumerate(shown)
    ]
    top = 1.0 if shares[:, shown].max(initial=0.0) > 0.5 else 0.5
    panel = {
        "x_label": f"{curve.column} (year)" if values.dtype.kind == "M" else curve.column,
        "y_label": "probability" + (f" of {curve.classes[shown[0]]}" if len(shown) == 1 else ""),
        "layers": layers,
        "domain": [float(x[kept].min()), float(x[kept].max()), 0.0, top],
    }
    missing = [
        f"{curve.classes[k]}: {percent(float(curve.probabilities[is_missing][0, k]))}"
        for k in shown
        if is_missing.any()
    ]
    return {"column": curve.column, "figure": draw_panel(panel), "missing": listed(missing),
            "lines": [], "classes": []}  # fmt: skip


def _in_years(dates: Any) -> Any:
    days = (dates - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
    return 1970 + days / 365.2425


def _in_view(x: Any) -> Any:
    """Return which values are drawn: not an end that is farther out than all others span."""
    kept = np.ones(len(x), dtype=bool)
    if len(x) > 4:
        span = x[-2] - x[1]
        kept[0], kept[-1] = x[1] - x[0] <= span, x[-1] - x[-2] <= span
    return kept


def _of_categories(curve: "PartialDependence") -> dict[str, Any]:
    """Return the probabilities of classes at each category, as lines of a table."""
    shown = _shown_classes(curve)
    lines = [
        (value_text(value), int(count), [float(shares[k]) for k in shown])
        for value, count, shares in zip(
            curve.values, curve.counts, curve.probabilities, strict=True
        )
    ]
    return {"column": curve.column, "figure": "", "missing": "", "lines": lines,
            "classes": [str(curve.classes[k]) for k in shown]}  # fmt: skip
