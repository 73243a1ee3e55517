"""``mercer compare``: which model suits a table, and which differences are noise."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from mercer.cli._output import (
    Device,
    console,
    on_the_cpu,
    one_line,
    print_json,
    print_notes,
    resolve_device,
    status,
)

if TYPE_CHECKING:
    from mercer.comparison import RoundsProgress

_BUDGET, _BUDGET_BUNDLED = "2m", "40s"
_FOR_ROUNDS = 0.9  # of the budget; the rest is for starting, the map, writing and the page
_FOR_WRITING = 0.02  # of the budget
_MOST_JOBS = 8  # by default: every process has its own copy of the table


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

    from mercer._system.cluster import connected
    from mercer._system.files import one_at_a_time
    from mercer.cli._compare_folder import (
        check_folder,
        describe,
        longer_command,
        write_folder,
    )
    from mercer.cli._compare_map import draw_map_within, no_map
    from mercer.cli._compare_print import print_comparison
    from mercer.cli._compare_question import ask, get_ready, parse_seconds
    from mercer.comparison import compare_in_rounds
    from mercer.report import write_comparison_report

    start = time.perf_counter()
    if jobs is not None and scheduler is not None:
        raise ValueError("Give --jobs or --scheduler, not both.")
    if scheduler is not None:
        with connected(scheduler):  # refuses what would fail later
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
        get_ready(question)
    print_notes(on_the_cpu(question.models, place))
    spent = time.perf_counter() - start
    try:
        with _progress() as show:
            comparison = compare_in_rounds(
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
    if comparison.interrupted:
        points, the_map = no_map("the comparison was stopped")
    else:
        left = (1 - _FOR_WRITING) * seconds - (time.perf_counter() - start)
        with status("drawing a map …"):
            points, the_map = draw_map_within(question.data, seed, left)
    again = longer_command(
        {
            "": table, "--target": target, "--models": models, "--metric": metric, "--jobs": jobs,
            "--scheduler": scheduler, "--seed": seed or None, "-o": output,
            "--device": None if device == "cpu" else device,
        },
        comparison,
        seconds,
    )  # fmt: skip
    content = describe(
        question, comparison, the_map=the_map, budget=seconds, seed=seed, again=again
    )
    write_folder(output, question, comparison, points, content)
    with one_at_a_time(output):
        page = write_comparison_report(output)
    if as_json:
        print_json({**content, "folder": str(output), "report": str(page)})
    else:
        print_comparison(content, output)
        print(one_line(f"The page: {page}"))
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
