"""The results folder of ``mercer compare``: written whole, and read with care."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from mercer._system.environment import machine, versions
from mercer._system.files import moved_in_whole, sweep, written_whole
from mercer._system.formulas import write_delimited
from mercer._system.results import check_folder, read_json, read_table
from mercer.comparison._details import (
    confusion_counts,
    curves_of,
    far_counts,
    hard_rows,
    set_counts,
)
from mercer.comparison._record import (
    CheckRecord,
    ComparisonRecord,
    DecisionRecord,
    FarRowsRecord,
    HardRowRecord,
    HardRowsRecord,
    ImportancesRecord,
    MapRecord,
    MetricScoreRecord,
    ModelRecord,
    ModelThresholdsRecord,
    OtherMetricRecord,
    PairRecord,
    QuestionRecord,
    RareClassRecord,
    SetsRecord,
    ThresholdRecord,
)
from mercer.comparison._result import RoundsComparison
from mercer.comparison._splits_record import SplitsRecord
from mercer.comparison._thresholds import rare_class_tables
from mercer.comparison.engine._metrics import LOWER_IS_BETTER

_COMMAND = "mercer compare"
_RECORD = "comparison.json"  # moved last: where it is, all else is
_PAGE = "report.html"  # of the results before: it goes with them
_POINTS = ("row", "x", "y", "class", "held_out")
_FAR = 0.05  # Rows with a familiarity below this lie far out.
_MOST_HARD = 100  # So many of the rows that every model gets wrong are listed on the page,
_MOST_CELLS = 30  # with so many of their cells at most,
_LONGEST_CELL = 60  # of so many characters.
_MOST_RARE = 3  # So many rare classes are shown with thresholds.
_MOST_LEADERS = 4  # So many models get curves, and columns of probabilities.


@dataclass(frozen=True)
class ComparisonFolder:
    """What a results folder of ``mercer compare`` holds.

    Attributes
    ----------
    record : ComparisonRecord
        ``comparison.json``: the question, the ranking, the tests and the answer.
    curves : mapping
        ``curves.json``: confusion matrices, and curves of the leaders.
    scores : DataFrame
        ``scores.csv``: a line per model and split, a column per measure.
    points : DataFrame
        ``map.csv``: row, x, y, class and held_out.
    """

    record: ComparisonRecord
    curves: Mapping[str, Any]
    scores: pd.DataFrame
    points: pd.DataFrame


def record_comparison(
    comparison: RoundsComparison,
    question: QuestionRecord,
    *,
    models: Mapping[str, tuple[str, str]],
    hard_rows: pd.DataFrame,
    metric_reason: str,
    budget_seconds: float,
    longer_command: str | None,
    fit_command: str | None,
    python: str,
    the_map: MapRecord,
    importances: ImportancesRecord,
    seed: int,
    decision: DecisionRecord | None = None,
    sets_coverage: float | None = None,
    familiarity: npt.NDArray[np.float64] | None = None,
    split_source: str = "",
    checks: tuple[CheckRecord, ...] = (),
) -> ComparisonRecord:
    """Return what is kept of a comparison.

    ``models`` are the label and the kind (mercer, peer or floor) of every model, and ``hard_rows``
    what :func:`hard_rows_with_contents` gives; ``split_source`` is the column of groups or times,
    or the test file, and ``checks`` what was asked about the table.  ``decision`` is the rule that
    answers follow, if there is one, and ``sets_coverage`` that of the comparison's sets;
    ``familiarity`` is the share of other rows that lie farther out than each sample.
    """
    leaders = _leaders(comparison, models)
    return ComparisonRecord(
        question=question,
        checks=checks,
        metric=comparison.metric,
        metric_reason=metric_reason,
        lower_is_better=comparison.metric in LOWER_IS_BETTER,
        positive_class=str(comparison.positive) if len(comparison.classes) == 2 else None,
        confidence_level=comparison.confidence_level,
        budget_seconds=budget_seconds,
        seconds=round(comparison.seconds, 2),
        interrupted=comparison.interrupted,
        rounds=len(comparison.rounds),
        splits=SplitsRecord(
            kind=comparison.split_kind,
            source=split_source,
            folds=comparison.n_folds,
            train_rows=comparison.n_train,
            test_rows=comparison.n_test,
        ),
        models=_model_records(comparison, models),
        pairs=_pair_records(comparison),
        answer=comparison.answer,
        too_few_rounds=comparison.has_few_rounds,
        longer_command=longer_command,
        other_metrics=tuple(map(_other_metric_record, comparison.also_by.values())),
        leader=comparison.leader,
        leaders=leaders,
        decision=decision,
        rare_classes=_rare_class_records(comparison, leaders),
        hard_rows=_hard_rows_record(comparison, hard_rows, question),
        far_rows=_far_rows_record(comparison, familiarity),
        sets=_sets_record(comparison, sets_coverage),
        map=the_map,
        importances=importances,
        fit_command=fit_command,
        python=python,
        versions=versions(),
        machine=machine(),
        seed=seed,
    )


def hard_rows_with_contents(
    comparison: RoundsComparison,
    names: Sequence[str],
    rows: npt.NDArray[np.intp],
    table: pd.DataFrame,
) -> pd.DataFrame:
    """Return the rows that all of these models get wrong, with what stands in them.

    ``rows`` is the number of each sample in the user's ``table``, counted from 1.
    """
    found = hard_rows(comparison, names, rows)
    contents = table.iloc[found["row"].to_numpy() - 1].reset_index(drop=True)
    taken = {one: f"{one} (of the table)" for one in found.columns if one in contents.columns}
    return pd.concat([found, contents.rename(columns=taken)], axis=1)


def _hard_rows_record(
    comparison: RoundsComparison, hard: pd.DataFrame, question: QuestionRecord
) -> HardRowsRecord:
    """Return how many rows every model gets wrong, and the first of them with some cells."""
    own = [one.name for one in fields(HardRowRecord) if one.name != "cells"]
    used = {column.name for column in question.columns if column.used}
    shown = [one for one in hard.columns[len(own) :] if str(one) in used][:_MOST_CELLS]
    first = hard.iloc[:_MOST_HARD]
    cells = [[_cell(value) for value in line] for line in first[shown].itertuples(index=False)]
    return HardRowsRecord(
        count=len(hard),
        tested=len(np.unique(comparison.predictions.index.get_level_values("sample"))),
        columns=tuple(map(str, shown)),
        rows=tuple(
            HardRowRecord(**line, cells=tuple(row))
            for line, row in zip(_without_nan(first[own]), cells, strict=True)
        ),
    )


def _cell(value: Any) -> str:
    """Return a cell as text, not too long for a page."""
    if pd.isna(value):
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


def _far_rows_record(
    comparison: RoundsComparison, familiarity: npt.NDArray[np.float64] | None
) -> FarRowsRecord | None:
    """Return how often the leader is right on rows that lie far out."""
    if familiarity is None:
        return None
    leader = comparison.leader
    counts = far_counts(comparison, leader, familiarity, _FAR)
    return FarRowsRecord(model=leader, level=_FAR, **counts)


def _sets_record(comparison: RoundsComparison, coverage: float | None) -> SetsRecord | None:
    """Return how many rows the best of the models with sets decides alone."""
    best = next((name for name in comparison.summary.index if name in comparison.sets), None)
    if best is None or coverage is None:
        return None
    return SetsRecord(model=str(best), coverage=coverage, **set_counts(comparison, best))


def _rare_class_records(
    comparison: RoundsComparison, leaders: tuple[str, ...]
) -> tuple[RareClassRecord, ...]:
    """Return what it takes the leaders to find rare classes: the rarest, where there are many."""
    truth = comparison.predictions["y_true"].astype(str)
    tables = rare_class_tables(comparison, leaders)
    return tuple(
        RareClassRecord(
            name=label,
            rows=int((truth == label).sum()),
            tested=len(truth),
            models=tuple(
                ModelThresholdsRecord(
                    model=name, lines=tuple(ThresholdRecord(**line) for line in _without_nan(table))
                )
                for name, table in by_model.items()
            ),
        )
        for label, by_model in list(tables.items())[:_MOST_RARE]
    )


def _model_records(
    comparison: RoundsComparison, models: Mapping[str, tuple[str, str]]
) -> tuple[ModelRecord, ...]:
    """Return the ranking, those that failed or were left out at its end."""
    table = comparison.summary.rename(columns={"n_bytes": "bytes"})
    lines = _without_nan(table.rename_axis("name").reset_index())
    for line in lines:
        line["label"], line["kind"] = models[line["name"]]
        for count in ("bytes", "n_rows_fitted"):
            line[count] = None if line[count] is None else int(line[count])
    return tuple(ModelRecord(**line) for line in lines)


def _other_metric_record(comparison: RoundsComparison) -> OtherMetricRecord:
    """Return what the rounds say by the metric of this comparison."""
    kept = [one.name for one in fields(MetricScoreRecord) if one.name != "name"]
    scored = comparison.summary.loc[list(comparison.scores), kept]
    scored = scored.reindex(comparison.summary.index.intersection(scored.index, sort=False))
    lines = _without_nan(scored.rename_axis("name").reset_index())
    return OtherMetricRecord(
        metric=comparison.metric,
        lower_is_better=comparison.metric in LOWER_IS_BETTER,
        answer=comparison.finding,
        models=tuple(MetricScoreRecord(**line) for line in lines),
        pairs=_pair_records(comparison),
    )


def _pair_records(comparison: RoundsComparison) -> tuple[PairRecord, ...]:
    table = comparison.pairs.drop(columns=["test", "statistic"])
    lines = _without_nan(table.rename(columns={"pvalue_holm": "corrected"}))
    return tuple(PairRecord(**line) for line in lines)


def _without_nan(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as JSON has them, with None for NaN."""
    lines: list[dict[str, Any]] = json.loads(table.to_json(orient="records", double_precision=15))
    return lines


def _leaders(
    comparison: RoundsComparison, models: Mapping[str, tuple[str, str]]
) -> tuple[str, ...]:
    """Return the best model and those that cannot be told from it."""
    table = comparison.summary
    alike = table.index[table["against_best"].isin(["best", "not told apart"])]
    return tuple(str(name) for name in alike if models[name][1] != "floor")[:_MOST_LEADERS]


def write_comparison(
    folder: Path,
    record: ComparisonRecord,
    comparison: RoundsComparison,
    *,
    rows: npt.NDArray[np.intp],
    hard_rows: pd.DataFrame,
    points: pd.DataFrame,
    table: pd.DataFrame | None = None,
) -> None:
    """Write everything, then move it to its place together: on failure what was there stays.

    ``hard_rows`` are those of the record with all their cells, ``points`` is the map, and
    ``table`` is written too where the user gave none.
    """
    tables = {
        "scores.csv": _scores(comparison),
        "predictions.csv": _predictions(comparison, record.leaders, rows),
        "hard-rows.csv": hard_rows,
        "map.csv": points,
    }
    if table is not None:
        tables["table.csv"] = table
    _write_folder(folder, record, tables, _curves(comparison, record.leaders))


def write_scores(folder: Path, record: ComparisonRecord, scores: pd.DataFrame) -> None:
    """Write what is kept of scores from elsewhere, in the files that a comparison has."""
    curves: dict[str, Any] = {"classes": [], "confusion": {}, "leaders": {}}
    tables = {"scores.csv": scores, "map.csv": pd.DataFrame(columns=_POINTS)}
    _write_folder(folder, record, tables, curves)


def _write_folder(
    folder: Path,
    record: ComparisonRecord,
    tables: Mapping[str, pd.DataFrame],
    curves: Mapping[str, Any],
) -> None:
    with _errors_naming(folder):
        sweep(folder.absolute())
        with moved_in_whole(folder.absolute(), _RECORD, outdated=[_PAGE]) as place:
            for name, table in tables.items():
                _write_csv(place / name, table)
            _write_json(place / "curves.json", curves)
            _write_json(place / _RECORD, record.to_json())


def add_last_parts(folder: Path, record: ComparisonRecord, points: pd.DataFrame) -> bool:
    """Write what was found after the ranking: the map, and the record that has all of it.

    Returns False, and writes nothing, where another run has replaced the results meanwhile.
    """
    ours = _without_last_parts(json.loads(_as_text(record.to_json())))

    def is_there() -> bool:
        try:
            there = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return False
        return isinstance(there, dict) and _without_last_parts(there) == ours

    answers = []

    def is_still_there() -> bool:
        answers.append(is_there())
        return answers[-1]

    with _errors_naming(folder):
        if not is_there():
            return False
        with moved_in_whole(folder.absolute(), _RECORD, [_PAGE], is_still_there) as place:
            _write_csv(place / "map.csv", points)
            _write_json(place / _RECORD, record.to_json())
    return answers[-1]


def _without_last_parts(content: Mapping[str, Any]) -> dict[str, Any]:
    return {**content, "map": None, "importances": None}


@contextmanager
def _errors_naming(folder: Path) -> Iterator[None]:
    """Name the folder in errors of files in it."""
    try:
        yield
    except OSError as error:
        first = error.__cause__ if isinstance(error.__cause__, OSError) else error
        raise type(error)(
            f"The results cannot be written to {folder} ({first.strerror or first}): free some "
            "space or choose another folder with -o."
        ) from error


def _write_csv(path: Path, frame: pd.DataFrame) -> None:
    with written_whole(path) as beside, beside.open("wb") as stream:
        write_delimited(frame, stream)


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(_as_text(content), encoding="utf-8")


def _as_text(content: Mapping[str, Any]) -> str:
    """Return JSON; bytes of a path that are not text become question marks."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _scores(comparison: RoundsComparison) -> pd.DataFrame:
    scores = comparison.metrics.rename_axis(["model", "split"]).reset_index()
    scores.insert(2, "score", scores[comparison.metric])
    return scores


def _predictions(
    comparison: RoundsComparison, leaders: Sequence[str], rows: npt.NDArray[np.intp]
) -> pd.DataFrame:
    frame = comparison.predictions.reset_index()
    frame.insert(1, "row", rows[frame.pop("sample")])
    frame = frame.rename(columns={"y_true": "truth"})
    for name in leaders:
        if comparison.has_probabilities[name] and name in comparison.outputs:
            for c, label in enumerate(comparison.classes):
                values = comparison.outputs[name][:, c].astype(float)
                frame[f"p:{name}:{label}"] = values.round(6)
    return frame


def _curves(comparison: RoundsComparison, leaders: Sequence[str]) -> dict[str, Any]:
    return {
        "classes": [str(label) for label in comparison.classes],
        "confusion": {name: confusion_counts(comparison, name) for name in comparison.scores},
        "leaders": {name: curves_of(comparison, name) for name in leaders},
    }


def read_comparison(folder: str | os.PathLike[str]) -> ComparisonFolder:
    """Read the results folder of ``mercer compare``.

    A folder may come from somebody else: what is not as the command writes it is refused.

    Parameters
    ----------
    folder : path-like
        What ``mercer compare`` wrote.

    Returns
    -------
    ComparisonFolder
        The record, the curves, the scores and the points of the map.

    Raises
    ------
    FileNotFoundError, ValueError
        If the folder is not there, or a file in it is missing or not what it should be.

    Examples
    --------
    >>> from mercer.comparison import read_comparison
    >>> read_comparison("mercer-comparison").record.answer  # doctest: +SKIP
    'knn and logistic are not told apart; all are better than dummy (p < 0.001).'
    """
    folder = Path(folder)
    check_folder(folder)
    path = folder / _RECORD
    if not path.is_file():
        raise FileNotFoundError(
            f"{folder} is not a results folder of `{_COMMAND}`: {_RECORD} is missing."
        )
    content = read_json(folder, _RECORD, dict, _COMMAND)
    try:
        record = ComparisonRecord.from_json(content)
    except ValueError as error:
        raise ValueError(f"{path} is not what `{_COMMAND}` writes: {error}.") from error
    curves = read_json(folder, "curves.json", dict, _COMMAND)
    for key in ("classes", "confusion", "leaders"):
        if key not in curves:
            raise ValueError(f"{folder / 'curves.json'} has no {key!r}.")
    points = read_table(folder, "map.csv", _POINTS, ("row", "x", "y"))
    points["held_out"] = points["held_out"].str.lower().isin(["true", "1"])
    return ComparisonFolder(record, curves, _read_scores(folder), points)


def _read_scores(folder: Path) -> pd.DataFrame:
    name, keys = "scores.csv", ("model", "split", "score")
    header = read_table(folder, name, keys, ())
    return read_table(folder, name, keys, [one for one in header.columns if one != "model"])
