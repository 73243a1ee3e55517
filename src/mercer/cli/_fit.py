"""``mercer fit``: a table → a fitted model in a file."""

import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from mercer._system.words import count_of, grouped, percent
from mercer.cli._deciding import NO_RULE, Costs, Recall, Rule, check_rule, decision_text, read_rule
from mercer.cli._output import (
    Device,
    check_output,
    class_shares_text,
    console,
    on_the_cpu,
    one_line,
    print_json,
    print_notes,
    resolve_device,
    status,
)
from mercer.cli._reading import Delimiter, Exclude, Kinds, Reading, Sheet, column_kinds

if TYPE_CHECKING:
    from mercer.models import DecidingClassifier, ModelScore
    from mercer.tables import LabelledTable

_COLUMNS_TO_NAME = 5  # so many of the columns that count most are printed


def fit(
    table: Annotated[str, typer.Argument(help="CSV, TSV, parquet, Excel or .npz; - is stdin.")],
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.")],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            help="auto, fisher, laplacian, parzen, ise, laplacian-svc, roweis-saul, logistic, svc, "
            "knn, forest, boosting or dummy; auto takes the best of fisher, boosting and logistic "
            "in 3 folds.",
        ),
    ] = "auto",
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Rare classes count as much as frequent ones.")
    ] = False,
    costs: Costs = None,
    recall: Recall = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File for the model; ends with .skops.")
    ] = Path("model.skops"),
    max_rows: Annotated[
        int,
        typer.Option(
            min=10_000,
            help="Rows that laplacian, parzen, ise, laplacian-svc and svc see at most.",
        ),
    ] = 10_000,
    keep_rows: Annotated[
        bool,
        typer.Option(
            "--rows/--no-rows",
            help="Whether up to 1 000 training rows go into the file, where they can be read; "
            "they say how familiar new rows are.",
        ),
    ] = True,
    exclude: Exclude = None,
    kind: Kinds = None,
    sheet: Sheet = None,
    delimiter: Delimiter = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of folds and models.")] = 0,
    device: Device = "cpu",
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Fit a model on a table and save it, with what it needs to read new tables.

    It is judged first, by 3 folds: on rows that it was fitted without.
    Then it is fitted on all rows.  Folds are made of 10 000 rows at most.
    Answers follow costs, or find a class for sure, where --costs or --recall says so.

    Example: [bold]mercer fit people.csv --target income -o income.skops[/bold]
    """
    from mercer.models import (
        ModelCard,
        TooFewRowsWarning,
        TrainingSample,
        choose_model,
        decider_of,
        describe_model,
        make_model,
        on_device,
        save_model,
        score_model,
        within,
    )
    from mercer.tables import split_target
    from mercer.views import shares_by_column

    # What cannot be done is refused before anything takes time.
    if model != "auto" and not describe_model(model).is_saved:
        raise ValueError(
            f"Model {model} cannot be kept in a model file, which holds only types that are safe "
            "to open: fit it in Python by mercer.models.make_model."
        )
    check_rule(costs, recall, balanced=balanced)
    check_output(output, (".skops",))
    place = resolve_device(device)
    reading = Reading(sheet, delimiter, column_kinds(exclude, kind, target))
    with status(f"reading {table} …"):
        data = split_target(reading.read(table), target, kinds=reading.kinds)
        rule = read_rule(costs, recall, data)
    options: Any = {"balanced": balanced, "random_state": seed, **rule.options}
    with status("scoring …") as show:
        if model == "auto":
            scores = choose_model(
                data, **options, device=place, on_progress=lambda name: show(f"scoring {name} …")
            )
        else:
            scores = [score_model(model, data, **options, device=place)]
        best = scores[0]
        show(f"fitting {best.model} on all rows …")
        pipeline = make_model(best.model, data, **options, max_rows=max_rows)
        if place is not None:
            pipeline = on_device(pipeline, place)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", TooFewRowsWarning)
            pipeline.fit(data.X, data.y)
    decider = decider_of(pipeline)
    n_fitted = getattr(pipeline[-1], "n_rows_fitted_", len(data.y))
    card = ModelCard.describe(
        best.model,
        data,
        n_rows_fitted=n_fitted,
        balanced=balanced,
        scores=best.figures(),
        decision=decider.decision_ if decider is not None else "",
    )
    rows = TrainingSample.draw(data, random_state=seed) if keep_rows else None
    save_model(output, pipeline, card, rows=rows)

    notes = [*data.notes, *on_the_cpu([score.model for score in scores], place)]
    notes += [str(one.message) for one in caught if issubclass(one.category, TooFewRowsWarning)]
    if as_json:
        print_json(
            {
                "output": str(output),
                "model": best.model,
                "n_rows_fitted": n_fitted,
                "scores": {score.model: score.figures() for score in scores},
                "notes": notes,
                "kernel": getattr(within(pipeline[-1]), "choice_", None),
                "columns": [
                    vars(one) for one in shares_by_column(pipeline[0], within(pipeline[-1]))
                ],
                "decision": _decision_json(decider),
                "card": card.to_dict(),
            }
        )
        return
    print_notes(notes)
    _print(table, data, scores, balanced, n_fitted, output, pipeline)


def _decision_json(decider: "DecidingClassifier | None") -> dict[str, Any] | None:
    """Return the rule by which a model answers, or None where the most probable class does."""
    if decider is None:
        return None
    return {
        "sentence": decider.decision_,
        "recall": decider.recall,
        "confidence": decider.confidence if decider.recall else None,
        "promised_recall": decider.promised_recall_,
        "costs": None if decider.costs_ is None else decider.costs_.tolist(),
        "threshold": decider.threshold_,
        "n_left_out": decider.n_left_out_,
    }


def _print(
    table: str,
    data: "LabelledTable",
    scores: "list[ModelScore]",
    balanced: bool,
    n_fitted: int,
    output: Path,
    pipeline: Any,
) -> None:
    import numpy as np

    from mercer.models import decider_of, describe_model, within
    from mercer.views import shares_by_column

    used = [column for column in data.columns if column.used]
    unused = [column for column in data.columns if not column.used]
    classes, counts = np.unique(data.y, return_counts=True)
    say = _speaker(console())
    read = f"{count_of(len(data.y), 'row')}, {count_of(len(used), 'column')} used"
    say("read", f"{table}: {read}, {grouped(len(unused))} not")
    for column in unused:
        say("", f"not used: {column.name} ({column.kind}: {column.reason})")
    shares = class_shares_text(dict(zip(classes.tolist(), counts.tolist(), strict=True)))
    say("predict", f"{data.target}: {shares}")
    key = "balanced_accuracy" if balanced else "accuracy"
    for score in scores:
        rows = f"{score.n_splits} folds of {count_of(score.n_rows, 'row')}"
        say(
            "scored",
            f"{score.model}: {key.replace('_', ' ')} {percent(getattr(score, key))} ({rows})",
        )
        if score.decision:
            say("", f"{score.model}: {decision_text(score.decision)}")
    best = scores[0]
    floor = 1 / len(classes) if balanced else best.floor
    say("", f"one class always: {percent(floor)}")
    if not best.decision and getattr(best, key) <= floor and best.model != "dummy":
        advice = "" if balanced else "; where classes are unlike in size, try --balanced"
        say("", f"this is no better than that{advice}")
    if len(scores) > 1:
        say("", "the best is taken; its score is a little too high, as it was chosen by it")
    label = describe_model(best.model).label
    say(
        "fitted", f"{best.model} ({label}) on {grouped(n_fitted)} of {count_of(len(data.y), 'row')}"
    )
    model = within(pipeline[-1])
    if hasattr(model, "choice_"):
        say("", model.choice_)
    columns = shares_by_column(pipeline[0], model)
    if columns and columns[0].scale is not None:
        most = ", ".join(f"{one.name} {percent(one.share)}" for one in columns[:_COLUMNS_TO_NAME])
        say("columns", f"that count most, by their share in the distance of rows: {most}")
    decider = decider_of(pipeline)
    if decider is not None:
        say("decides", decider.decision_)
    say("wrote", f"{output}: mercer predict {output} NEW.csv")


def _speaker(screen: Console) -> Any:
    def say(what: str, text: str) -> None:
        screen.print(f"[bold]{what:8}[/]{escape(one_line(text))}", soft_wrap=True)

    return say


def how_to_fit(
    name: str,
    path: str,
    data: "LabelledTable",
    *,
    balanced: bool,
    seed: int,
    max_rows: int,
    device: str | None,
    reading: Reading,
    rule: Rule = NO_RULE,
) -> dict[str, Any]:
    """Return the command and the lines of Python that fit a model on all rows of a file.

    There is no command for a model that no file can hold.  They say how many rows it sees at most
    only where these are more than usual.
    """
    from mercer.models import describe_model

    model = describe_model(name)
    sees_more = model.max_rows is not None and model.max_rows < min(max_rows, len(data.y))
    options: Any = {
        "balanced": balanced, "seed": seed, "max_rows": max_rows if sees_more else None,
        "reading": reading, "rule": rule,
    }  # fmt: skip
    names = (name, path, data.target)
    device = device if model.uses_device else None
    return {
        "fit_command": fit_command(*names, **options, device=device) if model.is_saved else None,
        "python": fit_lines(*names, **options),
    }


def fit_command(
    name: str,
    path: str,
    target: str,
    *,
    balanced: bool,
    seed: int,
    max_rows: int | None,
    device: str | None,
    reading: Reading,
    rule: Rule = NO_RULE,
) -> str:
    """Return the command that fits a model on all rows; ``max_rows`` is None for the usual."""
    options = ["--balanced"] if balanced else []
    options += ["--seed", str(seed)] if seed else []
    options += ["--max-rows", str(max_rows)] if max_rows else []
    options += ["--device", device] if device else []
    options += [*rule.words(), *reading.words()]
    model = ["--target", target, "--model", name]
    return shlex.join(["mercer", "fit", path, *model, *options, "-o", f"{name}.skops"])


def fit_lines(
    name: str,
    path: str,
    target: str,
    *,
    balanced: bool,
    seed: int,
    max_rows: int | None,
    reading: Reading,
    rule: Rule = NO_RULE,
) -> str:
    """Return the lines of Python that fit a model on all rows."""
    options = ", balanced=True" if balanced else ""
    options += f", random_state={seed}" if seed else ""
    options += f", max_rows={max_rows}" if max_rows else ""
    options += rule.python()
    costs = rule.path is not None
    return "\n".join(
        [
            *(["import numpy as np", ""] if costs else []),
            "from mercer.models import make_model",
            f"from mercer.tables import {'cost_table, ' if costs else ''}read_table, split_target",
            "",
            reading.line(path, target),
            f"model = make_model({name!r}, data{options}).fit(data.X, data.y)",
        ]
    )
