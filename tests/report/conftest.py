"""Results folders as the runner writes them, with everything that a page may meet."""

import json

import numpy as np
import pandas as pd
import pytest

KEY = ["study", "table", "row", "column", "reading", "protocol"]
CELLS = [
    *KEY, "published", "published_spread", "published_dimension", "measured", "spread",
    "dimension", "n", "mark", "counts", "reason", "seconds",
]  # fmt: skip
NASTY = "<script>alert(1)</script>"


def _cell(key, published, measured, mark, *, counts=True, reason="", n=3):
    """A line of cells.csv: published and measured are (value, spread, dimension)."""
    return (*key, *published, *measured, n if measured[0] is not None else 0, mark, counts, reason,
            1.25 if measured[0] is not None else 0.0)  # fmt: skip


NOTHING = (None, None, None)


def _laplacian_cells():
    rng = np.random.default_rng(0)
    cells = []
    rows = ["Banana", "Thyroid", "Image", "Twonorm", "Wine", "Iris", NASTY]
    for r, row in enumerate(rows):
        for c, column in enumerate(["Laplacian", "SVM", "Parzen (ours)"]):
            key = ("laplacian", "VI", row, column)
            published = (80.0 + 2 * r + c + 0.4, 0.5 + 0.1 * c, None) if c < 2 else NOTHING
            base = 80.0 + 2 * r + c
            paper = (base + rng.normal(), 0.6, None)
            gap = abs(paper[0] - published[0]) if c < 2 else 0
            mark = "ours" if c == 2 else "reached" if gap <= published[1] + 0.05 else (
                "better" if paper[0] > published[0] else "short"
            )  # fmt: skip
            reason = "The split is not the paper's." if mark == "short" and r % 2 else ""
            cells += [
                _cell((*key, "", "paper"), published, paper, mark, counts=c < 2, reason=reason),
                _cell((*key, "", "honest"), published, (base - 0.5, 0.7, None), "honest",
                      counts=False),
            ]  # fmt: skip
    return cells


def _lsva_cells():
    cells = []
    for row, published, found in [("Soy", 8.8, (8.46, 12.3)), ("Liver", 30.1, (36.0, 35.5))]:
        key = ("faces", "2", row, "KDA")
        for reading, value in zip(("683 rows", "307 rows"), found, strict=True):
            near = value == min(found, key=lambda one: abs(one - published))
            mark = "reached" if abs(value - published) < 0.9 else "short"
            cells.append(
                _cell((*key, reading, "paper"), (published, None, 5), (value, 0.8, 4), mark,
                      counts=near, reason="" if mark == "reached" else "No kernel is stated.")
            )  # fmt: skip
    for mark, row, why in [
        ("not available", "FERET", "FERET may not be passed on."),
        ("no data", "MNIST", "no data set mnist on this machine"),
        ("not run", "Yale", ""),
        ("failed", "ORL", "ValueError: a < b & c"),
    ]:
        key = ("faces", "2", row, "KDA", "", "paper")
        cells.append(_cell(key, (4.5, None, 39), NOTHING, mark, reason=why))
    cells.append(
        _cell(("faces", "count", "Banana", "nodes", "", "either"), (12, None, None),
              (15.2, None, None), "differs", reason="ε is not stated.", n=1)
    )  # fmt: skip
    return cells


def _panels():
    rng = np.random.default_rng(1)
    grid = rng.normal(size=(12, 20))
    grid[0, 0] = np.nan
    spiral = np.linspace(0, 6, 200)
    return [
        {
            "title": f"Points & {NASTY}", "x_label": "x", "y_label": "y", "equal": True,
            "layers": [
                {"kind": "raster", "z": np.where(np.isnan(grid), None, grid).tolist(),
                 "extent": [-2, 2, -1, 1], "scale": "shade", "label": "density"},
                *({"kind": "points", "x": rng.normal(size=30).tolist(),
                   "y": rng.normal(size=30).tolist(), "label": f"class {c}", "colour": c,
                   "marker": "circle", "names": [f"row {i}" for i in range(30)]}
                  for c in range(3)),
            ],
        },
        {
            "title": "Lines", "x_label": "dimension", "y_label": "error, %", "equal": False,
            "layers": [
                {"kind": "line", "x": list(range(12)), "y": [*range(20, 9, -1), None],
                 "label": "LDA", "colour": 0, "spread": [1.0] * 12, "dashed": False,
                 "arrow": False},
                {"kind": "line", "x": list(range(12)), "y": [15 - 0.3 * k for k in range(12)],
                 "label": "LSVA", "colour": 1, "spread": None, "dashed": True, "arrow": False},
                {"kind": "line", "x": [1, 6], "y": [12, 18], "label": "", "colour": 3,
                 "spread": None, "dashed": False, "arrow": True},
            ],
        },
        {
            "title": "Bars", "x_label": "", "y_label": "weight", "equal": False,
            "layers": [
                {"kind": "bars", "y": [1.0, -2.0, 3.5], "x": None, "label": "before",
                 "names": ["breast cancer", "flare solar", "thyroid"], "colour": 0},
                {"kind": "bars", "y": [2.0, None, 1.5], "x": None, "label": "after",
                 "names": ["breast cancer", "flare solar", "thyroid"], "colour": 1},
            ],
        },
        {
            "title": "Classes", "x_label": "", "y_label": "", "equal": True,
            "layers": [{"kind": "raster", "z": [[0, 1], [2, 1]], "extent": [0, 2, 0, 2],
                        "scale": "classes", "label": ""}],
        },
        {
            "title": "A thousand points", "x_label": "", "y_label": "", "equal": True,
            "layers": [{"kind": "points", "x": np.cos(spiral * 5).repeat(5).tolist(),
                        "y": spiral.repeat(5).tolist(), "label": "", "colour": 4,
                        "marker": "ring", "names": None}],
        },
    ]  # fmt: skip


def _studies():
    def row(label, **more):
        return {"label": label, "dataset": None, "missing": "", "skipped": "", **more}

    laplacian = {
        "name": "laplacian", "title": "The Laplacian classifier",
        "reference": "R. Jenssen and others (2007). A paper. doi:10.1109/TSP.2007.894391.",
        "protocol": {"paper": "One width for all splits.", "honest": "A width for every split."},
        "missing": {"Table VIII": "its data were never public"},
        "tables": [{
            "key": "VI", "title": "Recognition rates", "unit": "% correct", "better": "higher",
            "note": "Row labels as printed.", "columns": ["Laplacian", "SVM", "Parzen (ours)"],
            "rows": [row(label, dataset=label.lower()) for label in
                     ["Banana", "Thyroid", "Image", "Twonorm", "Wine", "Iris"]] + [row(NASTY)],
        }],
        "figures": [
            {"key": "Fig. 1", "title": "What it looks like", "caption": "One draw.",
             "file": "figures/laplacian-1.json", "skipped": ""},
            {"key": "Fig. 2", "title": "What it does not", "caption": "", "file": None,
             "skipped": "the data set faces was not found"},
        ],
    }  # fmt: skip
    faces = {
        "name": "faces-roweis-saul", "title": "Faces", "reference": "A paper.", "protocol": {},
        "missing": {}, "figures": [],
        "tables": [
            {"key": "2", "title": "Errors", "unit": "% error", "better": "lower", "note": "",
             "columns": ["KDA"],
             "rows": [row("Soy"), row("Liver"), row("FERET", missing="FERET may not be passed on."),
                      row("MNIST", skipped="no data set mnist on this machine"), row("Yale"),
                      row("ORL"), row("Nothing at all")]},
            {"key": "count", "title": "Nodes", "unit": "nodes", "better": None, "note": "",
             "columns": ["nodes"], "rows": [row("Banana")]},
        ],
    }  # fmt: skip
    return [laplacian, faces]


RUN = {
    "mercer": "0.1.0", "mode": "quick", "protocol": "both", "studies": ["laplacian", "faces"],
    "started": "2026-01-02T03:04:05+00:00", "finished": "2026-01-02T03:14:05+00:00",
    "seconds": 1100.5, "workers": 2, "jobs": {"done": 60, "of": 63, "failed": 1, "skipped": 2},
    "versions": {"python": "3.11.2", "numpy": "2.4.0"},
    "machine": {"system": "Linux", "processor": "a processor", "cores": 2, "memory_gb": 8.0},
}  # fmt: skip


def write_folder(folder, *, run=RUN, studies=None, cells=None, panels=None, failures=True):
    """Write a results folder; None means the example's own."""
    studies = _studies() if studies is None else studies
    if cells is None:
        found = _lsva_cells()
        found = [("faces-roweis-saul", *cell[1:]) for cell in found]
        cells = pd.DataFrame(_laplacian_cells() + found, columns=CELLS)
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    (folder / "studies.json").write_text(json.dumps(studies), encoding="utf-8")
    cells.to_csv(folder / "cells.csv", index=False)
    timings = cells.loc[cells["measured"].notna(), KEY].assign(replication=0, seconds=1.25)
    timings.to_csv(folder / "timings.csv", index=False)
    if failures:
        lines = cells.loc[cells["mark"] == "failed", KEY].assign(replication=0, error="a < b & c")
        lines.to_csv(folder / "failures.csv", index=False)
    (folder / "figures").mkdir(exist_ok=True)
    for study in studies:
        for figure in study["figures"]:
            if figure["file"]:
                text = json.dumps({"panels": _panels() if panels is None else panels})
                (folder / figure["file"]).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def nasty():
    """A label that must never become markup."""
    return NASTY


@pytest.fixture
def make_folder(tmp_path):
    """Write a results folder: what is not given is the example's own."""

    def make(**parts):
        return write_folder(tmp_path, **parts)

    return make


@pytest.fixture
def folder(tmp_path):
    return write_folder(tmp_path)


@pytest.fixture(scope="session")
def page(tmp_path_factory):
    """The page of the example, written once."""
    from mercer.report import write_report

    return write_report(write_folder(tmp_path_factory.mktemp("results")))
