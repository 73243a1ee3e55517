"""``mercer compare``: which model suits a table, and which differences are noise."""

import math
import shlex
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli._checks import Strict, ask_about
from mercer.cli._compare_scores import (
    Better,
    Results,
    Rope,
    TestShare,
    compare_results,
    refuse_for_results,
    refuse_without_results,
)
from mercer.cli._deciding import (
    Costs,
    Recall,
    check_rule,
    describe_decisions,
    read_rule,
    without_few_rows,
)
from mercer.cli._metrics import Metric, metrics_reason, read_metrics
from mercer.cli._output import (
    Device,
    check_folder,
    on_the_cpu,
    parse_seconds,
    print_json,
    print_notes,
    resolve_device,
    status,
)
from mercer.cli._reading import Delimiter, Exclude, Kinds, Reading, Sheet, column_kinds
from mercer.cli._rows import Rows, familiarity_of_tested, with_at_most, with_sample_note
from mercer.cli._splitting import Groups, Splitting, TestTable, Time

if TYPE_CHECKING:
    from mercer.comparison import RoundsComparison
    from mercer.tables import LabelledTable, Table

_BUDGET, _BUDGET_BUNDLED = "2m", "40s"
_SHARE_FOR_ROUNDS = 0.9  # The rest of the budget is for starting, writing, the map and the page.
_SHARE_FOR_WRITING = 0.02  # This share of the budget is kept back from the map.
_MOST_JOBS = 8  # No more are started by default: every process has its own copy of the table.
_ROUNDS_TO_AIM_AT = 10  # In so many rounds every row is tested once.
# With fewer rows in a class there would be fewer folds than this, as every fold tests each class.
_MIN_CLASS_ROWS = 5
_SETS_COVERAGE = 0.9  # of the sets by which rows are decided, or too close to call
_UNFINISHED = "unfinished"  # the folder, among the results, of the rounds until they are over
_BUNDLED, _BUNDLED_TARGET = "breast cancer", "diagnosis"


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
        str | None,
        typer.Option(
            help="Names with commas between, such as fisher,svc,forest; default: all but "
            "laplacian-svc and roweis-saul. lightgbm, xgboost, catboost and tabpfn too, where "
            "they are installed, and yours: my.py:model."
        ),
    ] = None,
    metric: Metric = None,
    costs: Costs = None,
    recall: Recall = None,
    budget: Annotated[
        str | None, typer.Option(help="Time, such as 90s, 10m or 1h.", show_default=_BUDGET)
    ] = None,
    rows: Rows = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; default: one for every core, at most 8.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, whose workers do the work.")
    ] = None,
    groups: Groups = None,
    time_column: Time = None,
    test: TestTable = None,
    strict: Strict = False,
    exclude: Exclude = None,
    kind: Kinds = None,
    sheet: Sheet = None,
    delimiter: Delimiter = None,
    results: Results = None,
    better: Better = None,
    test_share: TestShare = None,
    rope: Rope = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of splits and models.")] = 0,
    device: Device = "cpu",
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path(
        "mercer-comparison"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Compare models on your own table: which predict the target best, and which alike.

    Every model sees the same splits, with all preparation inside them. More time gives more
    splits and narrower intervals, and more rows to laplacian, parzen, ise, laplacian-svc and svc,
    which see a sample of a long table. Ctrl-C keeps the rounds that are finished, and the same
    command goes on with them.
    A model of yours is a scikit-learn classifier or pipeline in a Python file, or a function that
    returns one. A pipeline is given the columns of the table, a classifier alone numbers.
    With --groups, --time or --test whole groups, later rows or the rows of a file are tested.
    With --costs or --recall every model answers by that rule, chosen on training rows alone.

    With --from it judges scores that are there already, and fits nothing.

    Example: [bold]mercer compare people.csv --target income[/bold]
    """
    from joblib import cpu_count

    from mercer import comparison as comparing
    from mercer import views
    from mercer._system.cluster import connected
    from mercer._system.files import one_at_a_time
    from mercer.cli._compare_print import print_places, print_ranking, show_progress
    from mercer.cli._fit import how_to_fit
    from mercer.models import (
        compile_models,
        describe_model,
        exact_rows_within,
        find_sets,
        make_models,
        max_rows_within,
    )
    from mercer.report import write_comparison_report

    if results is not None:
        refuse_for_results(
            {
                "a table": table, "--target": target, "--models": models, "--costs": costs,
                "--recall": recall, "--budget": budget, "--rows": rows, "--jobs": jobs,
                "--scheduler": scheduler, "--exclude": exclude, "--kind": kind,
                "--groups": groups, "--time": time_column, "--test": test,
                "--strict": strict or None,
            }
        )  # fmt: skip
        asked = {"metric": metric, "better": better, "test_share": test_share, "rope": rope}
        compare_results(
            results, Reading(sheet, delimiter), asked, seed=seed, output=output, as_json=as_json
        )
        return
    refuse_without_results({"--better": better, "--test-share": test_share, "--rope": rope})
    start = time.perf_counter()
    if jobs is not None and scheduler is not None:
        raise ValueError("Give --jobs or --scheduler, not both.")
    if scheduler is not None:
        with connected(scheduler):  # what is wrong with it is said before any work is done
            pass
    check_rule(costs, recall)
    metrics = read_metrics(metric, costs)
    seconds = parse_seconds(budget or (_BUDGET_BUNDLED if table is None else _BUDGET))
    check_folder(output)
    unfinished = output / _UNFINISHED
    place = resolve_device(device)
    # An unknown name is refused before the table is read.
    known = {name: describe_model(name) for name in _model_names(models)}
    splitting = Splitting(groups, time_column, test)
    kinds = splitting.kinds(column_kinds(exclude, kind, target), target)
    reading = Reading(sheet, delimiter, kinds)
    with status("reading the table …") as say:
        whole, data = _read(table, target, reading)
        data = with_at_most(data, rows, least=_MIN_CLASS_ROWS, seed=seed)
        split = splitting.read(whole, data, reading)
        data = split.data
        say("checking the table …")
        checks = ask_about(whole, split, splitting, settled=kinds, seed=seed, is_strict=strict)
        rule = read_rule(costs, recall, data)
        if metrics is not None:
            reason = metrics_reason(metrics)
        elif costs is not None:
            metrics, reason = ["cost"], f"Scored by the mean cost of a row, by the table {costs}."
        else:
            judge, reason = comparing.choose_metric(data.y)
            metrics = [judge]
        options: Any = {
            "balanced": metrics[0] == "balanced" and costs is None,
            "max_rows": max_rows_within(seconds),
            "device": place,
        }
        exact_rows = exact_rows_within(seconds)
        pipelines = make_models(
            known, data, random_state=seed, exact_rows=exact_rows, **options, **rule.options
        )
        say("getting ready, with some ten seconds more to compile the first time …")
        compile_models(pipelines, data)
    print_notes(on_the_cpu(pipelines, place))
    spent = time.perf_counter() - start
    try:
        with show_progress() as show:
            comparison = comparing.compare_in_rounds(
                pipelines,
                data.X,
                data.y,
                budget=max(0.5 * seconds, _SHARE_FOR_ROUNDS * seconds - spent),
                metric=metrics,
                costs=rule.costs,
                floor=next((name for name in known if known[name].kind == "floor"), None),
                n_jobs=None if scheduler else jobs or min(_MOST_JOBS, cpu_count()),
                scheduler=scheduler,
                **split.options,
                random_state=seed,
                find_sets=partial(find_sets, coverage=_SETS_COVERAGE),
                on_progress=show,
                sample=rows is None,
                checkpoint=unfinished,
            )
    except KeyboardInterrupt:
        more = "; the same command goes on from there" if unfinished.exists() else ""
        print(f"mercer: stopped before the first round was finished{more}", file=sys.stderr)
        raise typer.Exit(130) from None
    given = {
        "": table, "--target": target, "--models": models, "--metric": metric,
        "--costs": costs, "--recall": recall, "--rows": rows, "--jobs": jobs,
        "--scheduler": scheduler, "--groups": groups, "--time": time_column, "--test": test,
        "--seed": seed or None, "-o": output,
        "--device": None if device == "cpu" else device,
    }  # fmt: skip
    comparison, too_few = without_few_rows(comparison)
    path = str(output / "table.csv") if table is None else table
    # What was asked for is kept and printed first; all else is made from time that is left.
    why = "the comparison was stopped" if comparison.interrupted else "it was not finished"
    points, the_map, importances = views.without_last_parts(why)
    rivals = [name for name in comparison.scores if known[name].kind != "floor"]
    hard = comparing.hard_rows_with_contents(
        comparison, rivals or list(comparison.scores), split.rows, split.frame
    )
    record = comparing.record_comparison(
        comparison,
        comparing.QuestionRecord.of(
            whole.name, with_sample_note(data, comparison.n_samples), is_bundled=table is None
        ),
        models={name: (model.label, model.kind) for name, model in known.items()},
        hard_rows=hard,
        split_source=split.source,
        checks=checks,
        metric_reason=reason,
        budget_seconds=seconds,
        longer_command=longer_command(given, comparison, seconds, reading.words()),
        decision=describe_decisions(comparison, rule, too_few),
        **how_to_fit(
            comparison.leader, path, data, seed=seed, reading=reading, rule=rule, **options
        ),
        the_map=the_map,
        importances=importances,
        seed=seed,
        sets_coverage=_SETS_COVERAGE,
        familiarity=None if split.test else familiarity_of_tested(data.X, comparison, seed),
    )
    files: Any = {
        "rows": split.rows,
        "hard_rows": hard,
        "table": whole.frame if table is None else None,
    }
    comparing.write_comparison(output, record, comparison, points=points, **files)
    if not comparison.interrupted:
        shutil.rmtree(unfinished, ignore_errors=True)
    if not as_json:
        print_ranking(record)
    if not comparison.interrupted:
        left = (1 - _SHARE_FOR_WRITING) * seconds - (time.perf_counter() - start)
        leaders = views.Leaders.of(comparison, pipelines, record.leaders, split.test)
        with status("drawing a map, and asking which columns count …"):
            points, the_map, importances = views.last_parts_within(
                data, leaders, seed, left, seconds
            )
        record = replace(record, map=the_map, importances=importances)
        if not comparing.add_last_parts(output, record, points):
            comparing.write_comparison(output, record, comparison, points=points, **files)
    with one_at_a_time(output):
        page = write_comparison_report(output)
    if as_json:
        print_json({**record.to_json(), "folder": str(output), "report": str(page)})
    else:
        print_places(record, output, page)
    if comparison.interrupted:
        print(
            "mercer: stopped; the rounds that were finished are kept, and the same command goes on "
            "with them",
            file=sys.stderr,
        )
        raise typer.Exit(130)


def _model_names(models: str | None) -> list[str]:
    from mercer.models import check_model, describe_model, list_models

    if models is None:
        return [name for name in list_models() if describe_model(name).by_default]
    names = list(dict.fromkeys(name.strip() for name in models.split(",") if name.strip()))
    for name in names:
        check_model(name)
    if len(names) < 2:
        raise ValueError(f"--models needs two names or more, such as fisher,svc; got {models!r}.")
    return names


def _read(table: str | None, target: str | None, reading: Reading) -> "tuple[Table, LabelledTable]":
    """Return the table, or one that comes with scikit-learn, and its rows that have a class."""
    from mercer.tables import split_target

    if table is None:
        if target not in (None, _BUNDLED_TARGET):
            raise ValueError(
                f"Without a table the target is {_BUNDLED_TARGET!r}, of the {_BUNDLED} data: "
                "give the table before --target."
            )
        rows, target = _load_bundled(), _BUNDLED_TARGET
    elif target is None:
        raise ValueError(f"Say which column of {table} to predict: --target NAME.")
    else:
        rows = reading.read(table)
    return rows, split_target(rows, target, kinds=reading.kinds, min_class_rows=_MIN_CLASS_ROWS)


def _load_bundled() -> "Table":
    """Return scikit-learn's breast cancer data with the names of columns and classes."""
    from sklearn.datasets import load_breast_cancer

    from mercer.tables import Table

    bunch = load_breast_cancer(as_frame=True)
    classes = bunch.target_names[bunch.target.to_numpy()]
    return Table(bunch.data.assign(**{_BUNDLED_TARGET: classes}), _BUNDLED)


def longer_command(
    options: Mapping[str, object],
    comparison: "RoundsComparison",
    budget: float,
    more: Sequence[str] = (),
) -> str | None:
    """Return the command with time enough for ten rounds, where there were too few; else None."""
    if not comparison.has_few_rounds or comparison.interrupted or comparison.is_complete:
        return None
    seconds = budget * _ROUNDS_TO_AIM_AT / len(comparison.rounds)
    time = f"{math.ceil(seconds / 60)}m" if seconds > 90 else f"{math.ceil(seconds)}s"
    given = {**options, "--budget": time}
    words = [[name, str(value)] for name, value in given.items() if value is not None]
    plain = (word for pair in words for word in pair if word)
    return shlex.join(["mercer", "compare", *plain, *more])
