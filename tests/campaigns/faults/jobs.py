"""Tiny jobs that faults happen to: what each is asked, what it writes, and what its answer is."""

import json
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree

import numpy as np
import pandas as pd

STUDY = dedent(
    '''
    import time

    import numpy as np
    from mercer import ParzenClassifier
    from mercer.studies import (
        Figure, Method, Outcome, Panel, Points, Row, Study, Table, read_published,
    )


    def parzen(task):
        data = task.load()
        order = task.rng().permutation(len(data.y))
        train, test = order[::2], order[1::2]
        time.sleep(task.options.get("sleep", 0.0))
        model = ParzenClassifier(bandwidth=task.options["width"]).fit(data.X[train], data.y[train])
        return Outcome(values=100 * np.mean(model.predict(data.X[test]) == data.y[test]))


    def picture(task):
        data = task.load()
        return [Panel(title="Iris", layers=[Points(x=data.X[:, 0], y=data.X[:, 1])])]


    STUDY = Study(
        name="tiny",
        title="A tiny study",
        reference="Nobody (2026)",
        protocol={"paper": "as printed"},
        tables=(
            Table(
                key="1",
                title="Windows",
                unit="% correct",
                better="higher",
                rows=(Row(label="Iris", dataset="iris", replications=REPLICATIONS, quick=2),),
                methods=(
                    Method(columns=("narrow",), run=parzen, protocols=("paper",),
                           options={"width": 0.2, "sleep": SLEEP}),
                    Method(columns=("wide",), run=parzen, protocols=("paper",),
                           options={"width": 2.0, "sleep": SLEEP}),
                ),
                published=read_published("""
                         | narrow     | wide
                    Iris | 94.0 ± 2.0 | 90
                """),
            ),
        ),
        figures=(Figure(key="1", title="Iris", run=picture, dataset="iris"),),
    )
    '''
)
_TIMES = {"seconds", "fit_seconds", "predict_seconds", "budget_seconds", "started", "finished"}


def write_inputs(folder: Path, *, seed: int = 0, replications: int = 3, sleep: float = 0) -> None:
    """Write a table, new rows for it and a study; other seeds give other answers."""
    rng = np.random.default_rng(seed)
    kind = rng.permutation(np.repeat(["a", "b"], 30))
    table = pd.DataFrame({"x": rng.normal(size=60) + 2 * (kind == "b"), "y": rng.normal(size=60)})
    folder.mkdir(parents=True, exist_ok=True)
    table.assign(kind=kind).to_csv(folder / "table.csv", index=False)
    table.iloc[:9].to_csv(folder / "new.csv", index=False)
    text = STUDY.replace("REPLICATIONS", str(replications)).replace("SLEEP", str(sleep))
    (folder / "study.py").write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Job:
    """A command line, or a function, with where its results lie and how to read them.

    ``answer`` returns what must not depend on any fault, and fails on a file that is not whole.
    ``words`` are those of which an error has to name one.  Files that are ``separate`` may be old
    and new side by side; the answer is then a list with an item for each.
    """

    name: str
    run: Callable[[], int]
    output: str
    answer: Callable[[Path], object]
    words: tuple[str, ...]
    needs: tuple[str, ...] = ()
    separate: bool = False


def _command(*arguments: str) -> Callable[[], int]:
    def run() -> int:
        from mercer.cli import main

        return main(arguments)

    return run


def _report() -> int:
    """Write all pages of results that are there, telling of errors as the command line does."""
    from mercer.report import write_comparison_report, write_markdown, write_report

    try:
        write_comparison_report("compared", "pages-compared.html")
        write_report("reproduced", "pages-reproduced.html")
        write_markdown("reproduced", "pages.md")
    except (OSError, ValueError, MemoryError) as error:
        print(f"mercer: {error}", file=sys.stderr)
        return 2
    return 0


def _kernel_sum() -> int:
    """Add up the kernels of more rows than fit in memory as a matrix (1.2 GB)."""
    from mercer.sums import kernel_sum

    X = np.random.default_rng(0).normal(size=(12_000, 3))
    try:
        sums = kernel_sum(X[:600], X, bandwidth=0.5)
    except MemoryError as error:
        print(f"mercer: {error}", file=sys.stderr)
        return 2
    Path("sums.json").write_text(json.dumps(sums.tolist()))
    return 0


def read_whole(path: Path) -> object:
    """Read a file to its end by its kind; one that is not whole is an error."""
    if path.suffix == ".csv":
        assert path.read_bytes().endswith(b"\n"), path
        return pd.read_csv(path, keep_default_na=False)
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return {name: arrays[name] for name in arrays.files}
    if path.suffix == ".skops":
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None, path
        return None
    if path.suffix == ".svg":
        return ElementTree.parse(path)
    text = path.read_text(encoding="utf-8")
    assert path.suffix in (".html", ".md", ".py"), f"{path} is no file of ours"
    assert text.rstrip().endswith("</html>") if path.suffix == ".html" else text.endswith("\n")
    return None


def _timeless(content: object) -> object:
    """Return JSON without what a clock says."""
    if isinstance(content, dict):
        return {k: _timeless(v) for k, v in content.items() if k not in _TIMES}
    return [_timeless(one) for one in content] if isinstance(content, list) else content


def _frame(path: Path) -> list[dict[str, object]]:
    frame = read_whole(path)
    return frame.drop(columns=[c for c in frame if c in _TIMES]).to_dict("records")


def _predictions(folder: Path) -> object:
    from mercer.models import load_model

    model, card = load_model(folder / "m.skops")
    rows = np.random.default_rng(2).normal(1.0, 1.0, size=(20, 2))
    return model.predict_proba(pd.DataFrame(rows, columns=["x", "y"])).tolist(), card.n_rows


def _compared(folder: Path) -> object:
    place = folder / "compared"
    content = _timeless(read_whole(place / "comparison.json"))
    return {
        **{key: content[key] for key in ("question", "rounds", "answer", "leader", "splits")},
        **{name: _frame(place / f"{name}.csv") for name in ("scores", "predictions", "map")},
        "curves": _timeless(read_whole(place / "curves.json")),
    }


def _reproduced(folder: Path) -> object:
    place = folder / "reproduced"
    content = read_whole(place / "run.json")
    return _frame(place / "cells.csv"), _frame(place / "scores.csv"), content["jobs"]


def _pages(folder: Path) -> object:
    pages = [folder / f"pages{end}" for end in ("-compared.html", "-reproduced.html", ".md")]
    for page in [*pages, *(folder / "pages").iterdir()]:
        read_whole(page)
    return [page.read_text(encoding="utf-8") for page in pages]


JOBS = {
    job.name: job
    for job in (
        Job(
            "fit",
            _command("fit", "table.csv", "-t", "kind", "-m", "parzen", "-o", "m.skops"),
            "m.skops",
            _predictions,
            ("m.skops",),
        ),
        Job(
            "predict",
            _command("predict", "m.skops", "new.csv", "-o", "p.csv"),
            "p.csv",
            lambda folder: _frame(folder / "p.csv"),
            ("p.csv",),
            needs=("m.skops",),
        ),
        Job(
            "print",
            _command("predict", "m.skops", "new.csv"),
            "none",
            lambda folder: None,
            ("Standard output",),
            needs=("m.skops",),
        ),
        Job(
            "project",
            _command("project", "table.csv", "-t", "kind", "--method", "pca", "-o", "e.csv"),
            "e.*",
            lambda folder: (_frame(folder / "e.csv"), read_whole(folder / "e.html")),
            ("e.csv", "e.html"),
        ),
        Job(
            "measure",
            _command("measure", "table.csv", "new.csv", "--json"),
            "none",
            lambda folder: None,
            ("Standard output",),
        ),
        Job(
            "compare",
            _command(
                *("compare", "table.csv", "-t", "kind", "--models", "dummy,logistic,parzen"),
                *("--jobs", "1", "--budget", "5m", "-o", "compared"),
            ),
            "compared",
            _compared,
            ("compared",),
        ),
        Job(
            "reproduce",
            _command("reproduce", "study.py", "--jobs", "1", "-o", "reproduced"),
            "reproduced",
            _reproduced,
            ("reproduced",),
        ),
        Job(
            "report",
            _report,
            "pages*",
            _pages,
            ("pages",),
            needs=("compared", "reproduced"),
            separate=True,
        ),
        Job(
            "kernel_sum",
            _kernel_sum,
            "sums.json",
            lambda folder: read_whole(folder / "sums.json"),
            ("sums.json",),
        ),
    )
}

# Which job makes what others need.
MADE_BY = {"m.skops": "fit", "compared": "compare", "reproduced": "reproduce"}
