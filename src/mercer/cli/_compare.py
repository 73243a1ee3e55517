"""``mercer compare``: which model suits a table, and which differences are noise."""

import math
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from mercer.cli._output import (
    Device,
    check_folder,
    console,
    on_the_cpu,
    parse_seconds,
    print_json,
    print_notes,
    resolve_device,
    status,
)

if TYPE_CHECKING:
    from mercer.comparison import RoundsComparison, RoundsProgress

_BUDGET, _BUDGET_BUNDLED = "2m", "40s"
_FOR_ROUNDS = 0.9  # of the budget; the rest is for starting, writing, the map and the page
_FOR_WRITING = 0.02  # of the budget
_MOST_JOBS = 8  # by default: every process has its own copy of the table
_ROUNDS_TO_AIM_AT = 10  # every row is tested once


def compare(
    table: Annotated[
        str | None,
        typer.Argument(
            help="CSV, TSV, parquet, Excel or .npz, compressed or not; none: a bundled data set."
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column to predict.")
    ] = None,
    models: Annotated[
        str | None, typer.Option(help="Names with commas between, such as fisher,svc,forest.")
    ] = None,
    metric: Annotated[
        Literal["accuracy", "balanced", "f1", "auc", "average-precision", "log-loss"] | None,
        typer.Option(help="Default: accuracy, or balanced accuracy where a class is rare."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="Time, such as 90s, 10m or 1h.", show_default=_BUDGET)
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; default: one for every core.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, whose workers do the work.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of splits and models.")] = 0,
    device: Device = "cpu",
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path(
        "mercer-comparison"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Compare models on your own table: which predict the target best, and which alike.

    Every model sees the same splits, with all preparation inside them. More time gives more
    splits and narrower intervals, and more rows to laplacian, parzen, ise and svc, which see a
    sample of a long table. Ctrl-C keeps the rounds that are finished.

    Example: [bold]mercer compare people.csv --target income[/bold]
    """
    from joblib import cpu_count

    from mercer import comparison as comparing
    from mercer._system.cluster import connected
    from mercer._system.files import one_at_a_time
    from mercer.cli import _map
    from mercer.cli._compare_print import print_places, print_ranking
    from mercer.cli._compare_question import ask, compile_models, describe
    from mercer.report import write_comparison_report

    start = time.perf_counter()
    if jobs is not None and scheduler is not None:
        raise ValueError("Give --jobs or --scheduler, not both.")
    if scheduler is not None:
        with connected(scheduler):  # what is wrong with it is said before any work is done
            pass
    seconds = parse_seconds(budget or (_BUDGET_BUNDLED if table is None else _BUDGET))
    check_folder(output)
    place = resolve_device(device)
    with status("reading the table …") as say:
        question = ask(
            table,
            target,
            models=models,
            metric=metric,
            seconds=seconds,
            seed=seed,
            device=place,
            output=output,
        )
        say("getting ready, with some ten seconds more to compile the first time …")
        compile_models(question)
    print_notes(on_the_cpu(question.models, place))
    spent = time.perf_counter() - start
    try:
        with _progress() as show:
            comparison = comparing.compare_in_rounds(
                question.models,
                question.data.X,
                question.data.y,
                budget=max(0.5 * seconds, _FOR_ROUNDS * seconds - spent),
                metric=question.metric,
                floor=question.floor,
                n_jobs=None if scheduler else jobs or min(_MOST_JOBS, cpu_count()),
                scheduler=scheduler,
                random_state=seed,
                on_progress=show,
            )
    except KeyboardInterrupt:
        print("mercer: stopped before the first round was finished", file=sys.stderr)
        raise typer.Exit(130) from None
    given = {
        "": table, "--target": target, "--models": models, "--metric": metric, "--jobs": jobs,
        "--scheduler": scheduler, "--seed": seed or None, "-o": output,
        "--device": None if device == "cpu" else device,
    }  # fmt: skip
    # What was asked for is kept and printed before the map is drawn, from time that is left.
    why = "the comparison was stopped" if comparison.interrupted else "it was not finished"
    points, the_map = _map.no_map(why)
    record = describe(
        question, comparison, the_map=the_map, budget=seconds,
        longer_command=longer_command(given, comparison, seconds),
    )  # fmt: skip
    files: Any = {"rows": question.rows, "table": question.bundled}
    comparing.write_comparison(output, record, comparison, points=points, **files)
    if not as_json:
        print_ranking(record)
    if not comparison.interrupted:
        left = (1 - _FOR_WRITING) * seconds - (time.perf_counter() - start)
        with status("drawing a map …"):
            points, the_map = _map.draw_map_within(question.data, seed, left)
        record = replace(record, map=the_map)
        if not comparing.add_map(output, record, points):
            comparing.write_comparison(output, record, comparison, points=points, **files)
    with one_at_a_time(output):
        page = write_comparison_report(output)
    if as_json:
        print_json({**record.to_json(), "folder": str(output), "report": str(page)})
    else:
        print_places(record, output, page)
    if comparison.interrupted:
        print("mercer: stopped; the rounds that were finished are kept", file=sys.stderr)
        raise typer.Exit(130)


@contextmanager
def _progress() -> "Iterator[Callable[[RoundsProgress], None]]":
    """Show the time that is used, on standard error and to people only."""
    screen = console(stderr=True)
    screen.quiet = not screen.is_terminal  # before 14.3, rich ends a hidden bar with a line
    columns = (BarColumn(30), TextColumn("{task.description}"))
    with Bar(*columns, console=screen, disable=screen.quiet, transient=True) as bar:
        task = bar.add_task("getting ready", total=None)

        def show(progress: "RoundsProgress") -> None:
            rounds = f"{progress.rounds} of up to {progress.max_rounds} rounds"
            used = max(progress.seconds / progress.budget, progress.rounds / progress.max_rounds)
            bar.update(
                task,
                total=1.0,
                completed=min(used, 1.0),
                description=f"{rounds}, {progress.seconds:.0f} s, {escape(progress.estimator)}",
            )

        yield show


def longer_command(
    options: Mapping[str, object], comparison: "RoundsComparison", budget: float
) -> str | None:
    """Return the command with time enough for ten rounds, where there were too few; else None."""
    if not comparison.has_few_rounds or comparison.interrupted:
        return None
    seconds = budget * _ROUNDS_TO_AIM_AT / len(comparison.rounds)
    time = f"{math.ceil(seconds / 60)}m" if seconds > 90 else f"{math.ceil(seconds)}s"
    given = {**options, "--budget": time}
    words = [[name, str(value)] for name, value in given.items() if value is not None]
    return shlex.join(["mercer", "compare", *(word for pair in words for word in pair if word)])
