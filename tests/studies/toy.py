"""A small study in one file, on data that come with scikit-learn, and what a run of it found."""

from pathlib import Path
from textwrap import dedent

import numpy as np
import pandas as pd
import pytest

SOURCE = '''
import time

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from mercer.studies import (
    Claim, Figure, Line, Method, Outcome, Panel, Points, Row, Study, Table, read_published,
)

STEP = 2


def halves(task):
    data = task.load()
    order = task.rng().permutation(len(data.y))
    return data, order[::STEP], order[1::STEP]


def nearest(task):
    data, train, test = halves(task)
    time.sleep(task.options.get("sleep", 0))
    model = KNeighborsClassifier(task.options["k"]).fit(data.X[train], data.y[train])
    found = model.predict(data.X[test])
    return Outcome(
        values=100 * np.mean(found == data.y[test]),
        predictions={"rows": test, "predicted": found.astype(np.uint8)},
        details={"k": task.options["k"]},
    )


def by_dimension(task):
    data, train, test = halves(task)
    curve = []
    for d in range(1, data.X.shape[1] + 1):
        model = KNeighborsClassifier(1).fit(data.X[train, :d], data.y[train])
        curve.append(100 * model.score(data.X[test, :d], data.y[test]))
    return Outcome(values=[curve])


def two_columns(task):
    return Outcome(values={"rows": [150.0, 150.0], "seed": task.seed % 10})


def threads(task):
    from threadpoolctl import threadpool_info

    return Outcome(values=max(library["num_threads"] for library in threadpool_info()))


def broken(task):
    raise RuntimeError("this method is broken")


def picture(task):
    data = task.load()
    return [
        Panel(
            title="Iris",
            layers=[
                Points(x=data.X[data.y == c, 0], y=data.X[data.y == c, 1], colour=c, label=name)
                for c, name in enumerate(data.target_names)
            ],
        )
    ]


def from_table(cells):
    return [Panel(title="Rates", layers=[Line(x=range(len(cells)), y=cells["measured"])])]


def rise(cells):
    rates = cells.query("column == '1-NN'").set_index("row")["measured"].dropna()
    return f"{'Wine' if rates['Wine'] > rates['Iris'] else 'Iris'} is easier."


STUDY = Study(
    name="toy",
    title="Neighbours",
    reference="Nobody (2026)",
    protocol={"paper": "as printed", "honest": "halves"},
    missing={"Table 9": "lost in a fire"},
    tables=(
        Table(
            key="1",
            title="Nearest neighbours",
            unit="% correct",
            better="higher",
            rows=(
                Row(label="Iris", dataset="iris", replications=REPLICATIONS, quick=2),
                Row(label="Wine", dataset="wine", replications=REPLICATIONS, quick=2),
                Row(label="Absent", dataset="usps", replications=3),
                Row(label="Lost", missing="nobody has it"),
            ),
            methods=(
                Method(columns=("1-NN",), run=nearest, options={"k": 1, "sleep": SLEEP}),
                Method(columns=("5-NN",), run=nearest, options={"k": 5}, protocols=("paper",)),
                Method(
                    columns=("5-NN",), run=nearest, options={"k": 7}, reading="seven",
                    protocols=("paper", "honest"),
                ),
                Method(columns=("best",), run=by_dimension, protocols=("paper",), rows=("Iris",)),
                Method(columns=("rows", "seed"), run=two_columns, rows=("Iris",), replications=2),
                Method(columns=("threads",), run=threads, rows=("Wine",)),
            ),
            published=read_published("""
                       | 1-NN       | 5-NN | best    | never
                Iris   | 94.0 ± 2.0 | 50.0 | 94 (3)  | 12
                Wine   | 90 ± 1     | –    | –       | –
                Absent | 1          | 2    | –       | –
                Lost   | 1          | –    | –       | –
            """),
            reasons={("*", "1-NN"): "wine wants scaling", ("Iris", "never"): "nobody knows how"},
            note="A toy.",
        ),
    ),
    claims=(
        Claim(said="Wine is easier than iris.", where="section 3", judge=rise),
        Claim(said="There is a third.", where="section 4", judge=lambda cells: ""),
        Claim(said="It ends.", where="section 5", judge=lambda cells: cells["none"]),
    ),
    figures=(
        Figure(key="1", title="Iris", run=picture, dataset="iris"),
        Figure(key="2", title="Rates", table="1", draw=from_table),
        Figure(key="3", title="Letters", run=picture, dataset="letter"),
    ),
)
'''


@pytest.fixture(autouse=True)
def no_data_folder(request, monkeypatch):
    """Without the mark `data`, a test sees only what comes with scikit-learn."""
    if "data" not in request.keywords:
        monkeypatch.delenv("MERCER_DATA", raising=False)


@pytest.fixture
def toy(tmp_path):
    """Write the study and return its path: ``toy(replications=…, sleep=…, change=(old, new))``."""

    def write(replications=4, sleep=0, change=("", ""), name="toy_study.py"):
        text = dedent(SOURCE).replace("REPLICATIONS", str(replications))
        path = tmp_path / name
        path.write_text(text.replace("SLEEP", str(sleep)).replace(*change), encoding="utf-8")
        return str(path)

    return write


def content(folder):
    """All that a run found: everything but times."""
    files = sorted((Path(folder) / "jobs").rglob("*.npz"))
    arrays = {}
    for file in files:
        with np.load(file, allow_pickle=False) as stored:
            arrays[file.name] = {k: stored[k].tolist() for k in stored.files if k != "note"}
    cells = pd.read_csv(Path(folder) / "cells.csv").drop(columns="seconds")
    texts = {
        str(file.relative_to(folder)): file.read_text()
        for file in [Path(folder) / "scores.csv", *Path(folder).glob("figures/*.json")]
    }
    return arrays, cells.to_csv(), texts
