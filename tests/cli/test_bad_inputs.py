"""Bad input at the command line: one sentence that says what to do, exit code 2, nothing else.

Some inputs look bad and are not; they are at the end, with exit code 0.
"""

import functools
import gzip
import io
import json
import os
import pathlib
import pickle
import subprocess
import sys
import types
import zipfile
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import mercer.comparison
from mercer.cli import main
from mercer.comparison import ImportancesRecord, compare_in_rounds
from mercer.tables import read_table
from mercer.views import draw_map

EVIL = "<script>alert(1)</script>"
FORMULA = "=cmd()"


def csv_of(values, *, names=("x", "kind"), classes=("a", "b")):
    """Two columns: the values, and the first half of them of one class, the rest of the other."""
    half = len(values) / 2
    rows = [f"{value},{classes[int(i >= half)]}" for i, value in enumerate(values)]
    return "\n".join([",".join(names), *rows]) + "\n"


GOOD = csv_of([round(0.37 * i + 3 * (i % 4), 2) for i in range(40)])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An own folder with a table, which is the place of every test."""
    monkeypatch.chdir(tmp_path)
    pathlib.Path("good.csv").write_text(GOOD)
    return tmp_path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model file of the table."""
    place = tmp_path_factory.mktemp("model")
    (place / "good.csv").write_text(GOOD)
    path = place / "m.skops"
    table = str(place / "good.csv")
    assert main(["fit", table, "-t", "kind", "-m", "logistic", "-o", str(path)]) == 0
    return path


@pytest.fixture
def refused(folder, capsys):
    """Run a command that must fail, see that it fails well, and return its sentence."""

    def run(*arguments, words=()):
        before = set(folder.rglob("*"))
        code = main([str(one) for one in arguments])
        captured = capsys.readouterr()
        assert code == 2, captured.err
        assert captured.out == ""
        # What `mercer compare` asks about a table comes before it does anything.
        lines = captured.err.splitlines(keepends=True)
        said = "".join(line for line in lines if not line.startswith("check: "))
        assert said.startswith("mercer: ")
        assert said.endswith((".\n", "?\n"))
        assert said.count("\n") == 1
        for word in words:
            assert word in said
        written = set(folder.rglob("*")) - before
        if arguments[0] == "compare":  # Fits that are finished stay: the same command goes on.
            kept = {path for path in written if path.name == "unfinished"}
            written -= {one for path in kept for one in (path, path.parent, *path.rglob("*"))}
        assert not written  # not even a part
        return said

    return run


@pytest.fixture
def accepted(capsys):
    """Run a command that must succeed, and return what it printed."""

    def run(*arguments):
        code = main([str(one) for one in arguments])
        captured = capsys.readouterr()
        assert code == 0, captured.err
        assert "Traceback" not in captured.err
        assert "Warning" not in captured.err
        return captured

    return run


@pytest.fixture
def quick(monkeypatch):
    """Compare and draw the map in this process, for two rounds."""

    def two_rounds(*args, **options):
        return compare_in_rounds(*args, **{**options, "n_jobs": None, "max_rounds": 2})

    monkeypatch.setattr(mercer.comparison, "compare_in_rounds", two_rounds)
    monkeypatch.setattr(
        "mercer.views.last_parts_within",
        lambda data, leaders, seed, *_: (*draw_map(data, seed), ImportancesRecord()),
    )
    return ["--models", "dummy,logistic", "--budget", "10m"]


@pytest.fixture
def bounds(monkeypatch):
    """Lower the bounds of reading."""

    def lower(**options):
        monkeypatch.setattr(mercer.tables, "read_table", functools.partial(read_table, **options))

    return lower


def write(name, content):
    path = pathlib.Path(name)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def zipped(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return stream.getvalue()


TABLES = {
    "empty": ("", ["t.csv is empty", "column names"]),
    "blank lines": ("\n \n\n", ["t.csv is empty"]),
    "header only": ("x,kind\n", ["t.csv has only its header line", "it needs rows"]),
    "one class": ("x,kind\n1,a\n2,a\n3,a\n", ["same class 'a'", "'kind'", "another target"]),
    "no class": ("x,kind\n1,\n2,NA\n3,?\n", ["No row has a value", "'kind'", "another target"]),
    "one name twice": ("x,x,kind\n1,2,a\n", ["2 columns named 'x'", "columns 1, 2"]),
    "names alike but for spaces": ("x , x,kind\n1,2,a\n", ["2 columns named 'x'"]),
    "100 000 columns": (
        ",".join(f"c{i}" for i in range(100_000)) + "\n",
        ["100 000 columns", "10000", "keep those that matter"],
    ),
    "a long line": (
        b"x,kind\n" + b"1" * (1 << 24) + b",a\n",
        ["a line of more than 16 MiB (line 2)"],
    ),
    "a long name": (b"x" * (1 << 24) + b",kind\n1,a\n", ["more than 16 MiB (line 1)"]),
    "one long cell of many lines": (
        b'x,kind\n1,"' + b"a\n" * (1 << 23 | 1) + b'"\n',
        ["a cell of more than 16 MiB"],
    ),
    "binary junk": (np.random.default_rng(0).bytes(5000), ["is binary, not text", "CSV"]),
    "junk without NUL": (bytes([0x81, *range(1, 256)]), ["neither UTF-8", "save it again"]),
    "NUL bytes": (GOOD.replace("b\n", "b\0\n"), ["a NUL byte in line 22"]),
    "UTF-16 without its mark": (GOOD.encode("utf-16-le"), ["binary"]),
    "a pickle": (pickle.dumps(["a" * 100]), ["a pickle", "save it as parquet or CSV"]),
    "a PDF": (b"%PDF-1.7\n\n", ["a PDF document", "export"]),
    "truncated gzip": (gzip.compress(GOOD.encode())[:-20], ["damaged or incomplete archive"]),
    "two tables in an archive": (zipped(a=GOOD, b=GOOD), ["2 files ('a' and 'b')", "exactly one"]),
    "damaged parquet": (b"PAR1" + bytes(50) + b"PAR1", ["parquet", "write it again"]),
    "more cells": ("x,kind\n1,a\n2,b,3\n", ["3 cells in line 3", "the header has 2"]),
    "fewer cells": ("x,y,kind\n1,2,a\n2,b\n", ["2 cells in line 3", "the header has 3"]),
    "a quotation mark not closed": ('x,kind\n1,"a\n2,b\n3,a\n', ["never closed", "close it"]),
    "all infinite": (csv_of(["inf"] * 18), ["'x' (empty: all its values are infinite)"]),
    "integers of 400 digits": (csv_of([10**400 + i for i in range(20)]), ["'x'", "infinite"]),
    "all columns dropped": (
        csv_of([f"{i},7" for i in range(40)], names=("id", "c", "kind")),
        ["'id' (identifier: it numbers the rows)", "'c' (constant: ", "add one"],
    ),
    "nothing but the target": ("kind\n" + "a\nb\n" * 5, ["it has none but the target"]),
    "a quantity": (
        csv_of(range(50)).replace(",a", ".5,a").replace("x,kind", "kind,x"),
        ["50 different numbers", "quantity (regression)", "such as low and high"],
    ),
    "names": (
        csv_of([f"n{i}" for i in range(50)], names=("kind", "x")),
        ["look like names", "another target"],
    ),
    "two rows": ("x,kind\n1,a\n2,b\n", ["Fewer than two classes", "2 rows", "add rows"]),
    "every class once": (
        "x,kind\n" + "".join(f"{i}.5,c{i}\n" for i in range(15)),
        ["too small: 'c0', 'c1', 'c10' and 12 more", "add rows"],
    ),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables(kind, refused):
    content, words = TABLES[kind]
    path = write("t.csv", content)
    said = refused("fit", path, "-t", "kind", "-m", "logistic", words=["t.csv", *words])
    if len(content) < 1000:  # all commands read in the same way
        assert refused("project", path, "-t", "kind") == said
        assert refused("compare", path, "-t", "kind").partition(" have ")[0] in said


def test_missing_target_is_suggested(refused):
    for command in ("fit", "compare", "project"):
        refused(command, "good.csv", "-t", "Knid", words=["'Knid' in good.csv", "mean 'kind'?"])
        refused(command, "good.csv", "-t", "age", words=["its columns are 'x' and 'kind'"])
    refused("compare", "good.csv", words=["--target NAME", "good.csv"])
    refused("fit", "good.csv", words=["--target", "mercer fit --help"])


def test_zip_bombs(refused, bounds):
    bounds(max_bytes=1 << 20)
    bomb = GOOD.encode() + b"1,a\n" * (1 << 20)
    contents = {"plain": bomb, "gzip": gzip.compress(bomb), "zip": zipped(a=bomb)}
    for name, content in contents.items():
        path = write(f"{name}.csv", content)
        words = [f"{name}.csv", "larger than 1 MiB", "a part of the rows"]
        refused("fit", path, "-t", "kind", words=words)


def test_places_that_are_no_file(refused, folder):
    (folder / "data").mkdir()
    for command in (["fit", "-t", "kind"], ["compare", "-t", "kind"], ["measure", "good.csv"]):
        refused(*command, "data", words=["data is a folder", "name the file"])
        refused(*command, "god.csv", words=["no file god.csv", "did you mean 'good.csv'?"])
    refused("info", "data", words=["data is a folder"])


def test_file_that_may_not_be_read(refused, model, monkeypatch):
    def closed(self, *args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(pathlib.Path, "open", closed)
    refused("fit", "good.csv", "-t", "kind", words=["good.csv may not be read", "permissions"])
    refused("info", model, words=["m.skops cannot be read (Permission denied)"])


def test_places_that_cannot_be_written(refused, model, folder, monkeypatch):
    (folder / "d.skops").mkdir()
    (folder / "d.csv").mkdir()
    fit, project = ["fit", "good.csv", "-t", "kind"], ["project", "good.csv", "-t", "kind"]
    predict = ["predict", model, "good.csv"]
    compare = ["compare", "good.csv", "-t", "kind"]
    refused(*fit, "-o", "no/m.skops", words=["no folder no", "make it first"])
    refused(*fit, "-o", "d.skops", words=["d.skops is not a plain file", "another name"])
    refused(*fit, "-o", "m.pkl", words=["m.pkl", ".skops"])
    refused(*project, "-o", "no/e.csv", words=["no folder no", "make it first"])
    refused(*predict, "-o", "no/p.csv", words=["no folder no", "make it first"])
    refused(*predict, "-o", "d.csv", words=["d.csv is not a plain file"])
    refused(*predict, "-o", "p.xlsx", words=["p.xlsx", ".csv, .tsv or .parquet"])
    refused(*compare, "-o", "good.csv", words=["good.csv is a file", "-o"])
    refused(*compare, "-o", "good.csv/deep/er", words=["good.csv is a file", "-o"])
    words = ["d.skops is not a plain file"]  # before the table is read
    refused("fit", "none.csv", "-t", "kind", "-o", "d.skops", words=words)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    for command in ([*fit, "-o", "m.skops"], [*project, "-o", "e.csv"], [*compare, "-o", "r"]):
        refused(*command, words=["Nothing can be written", "-o"])


@contextmanager
def small_disk(n_bytes):
    """No file can grow beyond a size, as where the disk is full."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_full_disk(refused, model, quick, monkeypatch):
    with small_disk(500):
        fit = ["fit", "good.csv", "-t", "kind", "-m", "logistic"]
        refused(*fit, "-o", "m.skops", words=["m.skops cannot be written"])
        refused("predict", model, "good.csv", "-o", "p.csv", words=["p.csv", "free some space"])
        project = ["project", "good.csv", "-t", "kind", "--method", "pca"]
        refused(*project, "-o", "e.csv", words=["e.csv", "free some space"])

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mercer.comparison._folder.write_delimited", full)
    said = refused("compare", "good.csv", "-t", "kind", *quick, "-o", "results")
    assert "written to results (No space left on device): free some space" in said


def test_a_full_disk_keeps_the_model_that_is_there(model, refused, folder):
    (folder / "m.skops").write_bytes(model.read_bytes())
    with small_disk(500):
        refused("fit", "good.csv", "-t", "kind", "-m", "dummy", "-o", "m.skops")
    assert (folder / "m.skops").read_bytes() == model.read_bytes()


@pytest.mark.parametrize("ending", ["parquet", "xlsx"])
def test_missing_packages(refused, monkeypatch, ending):
    for module in ("openpyxl", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    content = zipped(xl__workbook_xml="") if ending == "xlsx" else b"PAR1PAR1"
    path = write(f"t.{ending}", content.replace(b"workbook_xml", b"workbook.xml"))
    words = [f"t.{ending}", 'pip install ".[tables]" in a clone of Mercer', "CSV"]
    refused("fit", path, "-t", "kind", words=words)


def test_missing_package_for_the_output(refused, model, monkeypatch):
    def without(module):
        raise ImportError(module)

    nothing = types.SimpleNamespace(import_module=without)
    monkeypatch.setattr("mercer.tables.reading._binary.importlib", nothing)
    words = ["parquet needs pyarrow", "pip install", "use CSV"]
    refused("predict", model, "good.csv", "-o", "p.parquet", words=words)


def test_model_files(refused, model):
    import skops.io
    from sklearn.linear_model import LogisticRegression

    whole = model.read_bytes()
    changed = bytearray(whole)
    changed[500] ^= 255
    files = {
        "a pickle": (pickle.dumps({"a": 1}), ["pickle", "never opened"]),
        "a pickle of old": (pickle.dumps({"a": 1}, 0), ["is not a model file"]),
        "empty": (b"", ["is empty", "mercer fit"]),
        "truncated": (whole[: len(whole) // 2], ["is damaged", "copy it again"]),
        "changed": (bytes(changed), ["is damaged", "copy it again"]),
        "foreign": (skops.io.dumps(LogisticRegression()), ["not by Mercer", "mercer fit"]),
        "an archive": (zipped(a="1"), ["is not a model file"]),
        "a table": (GOOD, ["is not a model file"]),
    }
    for content, words in files.values():
        path = write("m.skops", content)
        refused("predict", path, "good.csv", words=["m.skops", *words])
        refused("info", path, words=["m.skops", *words])
    refused("predict", "none.skops", "good.csv", words=["no file none.skops", "mercer fit"])


def test_a_model_is_no_table(refused, model):
    for command in (["predict", model], ["measure", "good.csv"], ["fit", "-t", "kind"]):
        refused(*command, model, words=["is a model, not a table", "has the rows"])


def test_a_model_that_unpacks_to_too_much(refused, monkeypatch):
    monkeypatch.setattr("mercer.models.files._archive._MAX_JSON", 1 << 20)
    path = write("m.skops", zipped(**{"mercer.json": b" " * (1 << 22)}))
    refused("info", path, words=["m.skops unpacks to more", "refused"])


NEW = {
    "a column is missing": ("y,z\n1,2\n", ["Column 'x'", "is missing", "add it"]),
    "a column is called otherwise": ("X,z\n1,2\n", ["'x'", "missing", "did you mean 'X'?"]),
    "words for numbers": (
        "x\n1\n" + "old\n" * 6,
        ["Column 'x'", "'old' in row 2", "repair it"],
    ),
    "no rows": ("x\n", ["only its header line"]),
}


@pytest.mark.parametrize("kind", NEW)
def test_new_tables(refused, model, kind):
    content, words = NEW[kind]
    refused("predict", model, write("new.csv", content), words=["new.csv", *words])


def test_columns_to_keep(refused, model):
    path = write("new.csv", "x,predicted\n1,2\n")
    words = ["'predicted' cannot be kept"]
    refused("predict", model, path, "--keep", "predicted", words=words)
    refused("predict", model, path, "--keep", "id", words=["no column 'id' in new.csv"])


OPTIONS = {
    "model of compare": (["compare", "--models", "dummy,oracle"], ["'oracle'", "fisher"]),
    "one model": (["compare", "--models", "fisher"], ["--models", "two names"]),
    "no model": (["compare", "--models", ","], ["--models", "two names"]),
    "model of fit": (["fit", "-m", "fischer"], ["'fischer'", "fisher"]),
    "method": (["project", "--method", "umap"], ["'umap'", "fisher"]),
    "metric": (["compare", "--metric", "r2"], ["--metric", "'r2'", "accuracy"]),
    "budget in words": (["compare", "--budget", "soon"], ["--budget", "90s", "'soon'"]),
    "no budget": (["compare", "--budget", "0s"], ["--budget", "one second or more"]),
    "negative budget": (["compare", "--budget=-3m"], ["--budget", "'-3m'"]),
    "jobs": (["compare", "--jobs", "0"], ["--jobs", "mercer compare --help"]),
    "seed": (["fit", "--seed", "-1"], ["--seed", "mercer fit --help"]),
    "seed in words": (["fit", "--seed", "luck"], ["--seed", "mercer fit --help"]),
    "unknown option": (["fit", "--target-column", "x"], ["--target-column", "--help"]),
    "one argument more": (["fit", "more.csv"], ["more.csv", "mercer fit --help"]),
    "unknown command": (["guess"], ["'guess'", "mercer --help"]),
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_options(refused, kind):
    (command, *options), words = OPTIONS[kind]
    refused(command, "good.csv", "-t", "kind", *options, words=words)


def test_more_classes_than_rows_allow(refused, quick):
    write("t.csv", csv_of(range(8), classes=("a", "b")))
    words = ["t.csv", "5 rows or more", "add rows"]
    refused("compare", "t.csv", "-t", "kind", *quick, words=words)


def test_tables_to_measure(refused):
    write("other.csv", "y,z\n1,2\n3,4\n")
    write("one.csv", "x,kind\n1,a\n")
    for letter in "pq":
        write(f"{letter}.csv", "x\n" + "".join(f"{letter}{i}\n" for i in range(50)))
    words = ["good.csv and other.csv", "no column in common"]
    refused("measure", "good.csv", "other.csv", words=words)
    refused("measure", "one.csv", "good.csv", words=["one.csv has fewer than two rows"])
    refused("measure", "p.csv", "q.csv", words=["p.csv and q.csv", "all are identifiers"])


def test_line_breaks_in_names_stay_in_one_line(refused):
    write("t.csv", '"x\ny","kind\x1b[31m"\n1,a\n2,b\n')
    said = refused("fit", "t.csv", "-t", "kindly", words=["kind"])
    assert "\x1b" not in said


def test_whatever_is_said_is_one_line(refused, monkeypatch):
    def long(path, **options):
        raise ValueError("First.\nSecond,\x1b[31m\tthird.")

    monkeypatch.setattr(mercer.tables, "read_table", long)
    assert refused("fit", "t.csv", "-t", "x") == "mercer: First. Second, [31m third.\n"


@pytest.mark.parametrize("error", [TypeError, KeyError, IndexError])
def test_our_own_fault_is_exit_code_1(capsys, monkeypatch, error):
    def broken(path):
        raise error("this should not happen")

    monkeypatch.setattr(mercer.tables, "read_table", broken)
    assert main(["fit", "good.csv", "-t", "kind"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" in captured.err
    assert captured.err.splitlines()[-1].startswith("mercer: This is a fault of Mercer: report")


# Input that only looks bad.

FINE = {
    "dates": (csv_of([f"2020-01-{i + 1:02d}" for i in range(20)]), "accuracy 9"),
    "infinities": (csv_of([*range(10), "inf", *range(30, 38), "-inf"]), "accuracy "),
    "integers of 30 digits": (csv_of([10**29 * i + 7 for i in range(20)]), "accuracy 100"),
    "mixed types": (csv_of(["7", "red", "2020-01-01", "7.5"] * 5), "accuracy "),
    "UTF-16": (GOOD.encode("utf-16"), "40 rows"),
    "Windows-1252": (GOOD.replace("a\n", "é\n").encode("cp1252"), "é (50.0 %)"),
    "semicolons and decimal commas": (
        csv_of([f"{i}_5" for i in range(20)]).replace(",", ";").replace("_", ","),
        "20 rows, 1 column used",
    ),
    "gzip": (gzip.compress(GOOD.encode()), "40 rows, 1 column used"),
    "lines of Windows, and no last one": (GOOD.replace("\n", "\r\n").rstrip(), "40 rows"),
}


@pytest.mark.parametrize("kind", FINE)
def test_fine_tables(accepted, kind):
    content, words = FINE[kind]
    path = write("t.csv", content)
    fit = ["fit", path, "-t", "kind", "-m", "logistic", "-o", "m.skops"]
    assert words in accepted(*fit).out
    assert "rows are predicted right" in accepted("predict", "m.skops", path, "-o", "p.csv").err
    assert len(pd.read_csv("p.csv")) == len(read_table(path).frame)


@pytest.mark.parametrize(
    ("column", "target"),
    [
        ("größe 😀", "Класс"),
        ("x", "my target"),
        ("predicted", "p(a)"),
        ("row", "class"),
        ("truth", "split"),
        ("__proto__", "constructor"),
        (FORMULA, EVIL),
        ("[bold]x[/]", "[/red]"),
    ],
)
def test_odd_names(accepted, quick, column, target):
    values = [3 * (i >= 20) + i % 7 for i in range(40)]
    path = write("t.csv", csv_of(values, names=(column, target), classes=("😀", "[b]")))
    printed = accepted("fit", path, "-t", target, "-m", "logistic", "-o", "m.skops")
    assert target in printed.out
    assert "😀 (50.0 %), [b] (50.0 %)" in printed.out or "[b] (50.0 %), 😀" in printed.out
    assert column in accepted("info", "m.skops").out
    found = json.loads(accepted("predict", "m.skops", path, "--json").out)
    assert found["target"] == target
    accepted("project", path, "-t", target, "--method", "lda", "-o", "e.csv")
    printed = accepted("compare", path, "-t", target, *quick, "-o", "results")
    assert target in printed.out
    content = json.loads(pathlib.Path("results/comparison.json").read_text(encoding="utf-8"))
    assert content["question"]["target"] == target


def test_names_and_classes_are_escaped_in_every_page(accepted, quick, folder):
    values = [3 * (i >= 20) + i % 7 for i in range(40)]
    text = csv_of(values, names=(EVIL, "<img src=x>"), classes=(EVIL, "</title>"))
    path = write("t.csv", text)
    accepted("compare", path, "-t", "<img src=x>", *quick, "-o", "results")
    accepted("project", path, "-t", "<img src=x>", "--method", "lda", "-o", "e.csv")
    pages = sorted(folder.rglob("*.html"))
    assert [page.name for page in pages] == ["e.html", "report.html"]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "alert(1)" in text
        assert EVIL not in text
        assert "<img src=x>" not in text
        assert text.count("</title>") == text.count("<title")  # of the page, of marks in it


def test_formulas_are_written_as_text_and_come_back(accepted, folder, quick):
    jobs = [FORMULA, "+1+1", "@SUM(A1)", "-2-3"]
    values = [f"{3 * (i >= 20) + i % 7},{jobs[i % 4]}" for i in range(40)]
    path = write("t.csv", csv_of(values, names=("x", "job", "kind"), classes=(FORMULA, "+b")))
    accepted("fit", path, "-t", "kind", "-m", "logistic", "-o", "m.skops")
    accepted("predict", "m.skops", path, "--keep", "job", "-o", "p.csv")
    accepted("project", path, "-t", "kind", "--method", "lda", "-o", "e.csv")
    accepted("compare", path, "-t", "kind", *quick, "-o", "results")
    files = ["p.csv", "e.csv", "results/predictions.csv", "results/map.csv", "results/scores.csv"]
    for name in files:
        for cell in pd.read_csv(name, dtype=str).to_numpy().ravel():
            assert not str(cell).startswith(("=", "+", "@", "-2-3"))
    assert set(read_table("p.csv").frame["job"]) == set(jobs)
    assert set(read_table("e.csv").frame["class"]) == {FORMULA, "+b"}


def test_decimal_commas_do_not_make_tables_differ(accepted):
    values = [f"{i % 20}.25,{0.5 * i}" for i in range(200)]
    text = csv_of(values, names=("x", "y", "kind"))
    write("a.csv", text)
    write("b.csv", text.replace(",", ";").replace(".", ","))
    found = json.loads(accepted("measure", "a.csv", "b.csv", "--json").out)
    assert not found["differs"]
    assert {(one["name"], one["difference"]) for one in found["columns"]} == {
        ("x", 0), ("y", 0), ("kind", 0)
    }  # fmt: skip


def test_no_better_than_one_class_is_said(accepted):
    rng = np.random.default_rng(0)
    rows = [f"{x:.3f},{'rare' if i % 25 == 0 else 'usual'}" for i, x in enumerate(rng.random(200))]
    path = write("t.csv", "\n".join(["x,kind", *rows]))
    fit = ["fit", path, "-t", "kind", "-m", "logistic", "-o", "m.skops"]
    assert "this is no better than that" in accepted(*fit).out
    assert "try --balanced" in accepted(*fit).out
    assert "try --balanced" not in accepted(*fit, "--balanced").out


# What is printed, and to whom.


def process(*arguments, **options):
    code = "import sys; from mercer.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    source = str(pathlib.Path(mercer.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source, **options.pop("env", {})}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, **options
    )


@pytest.mark.parametrize("command", ["--version", "datasets"])
def test_the_reader_of_a_pipe_may_leave(command):
    with process(command) as run:
        run.stdout.close()
        assert run.stderr.read() == b""
    assert run.returncode == 0


def test_standard_output_that_is_not_utf8(monkeypatch, capsys):
    values = [i / 4 for i in range(40)]
    write("t.csv", csv_of(values, names=("größe 😀", "kind"), classes=("é", "≥")))
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["fit", "t.csv", "-t", "kind", "-m", "logistic", "-o", "m.skops"]) == 0
    assert rb"\xe9 (50.0 %)" in stream.buffer.getvalue()
    assert capsys.readouterr().err == ""


def test_the_reader_may_leave_before_the_last_words(model, monkeypatch):
    class Gone(io.StringIO):
        def flush(self):
            raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(sys, "stdout", Gone())
    assert main(["info", str(model), "--json"]) == 0


@pytest.mark.skipif(os.name != "posix", reason="names are bytes on POSIX only")
def test_path_that_is_no_text(accepted, quick):
    path = os.fsdecode(b"bad\xff.csv")
    write(path, GOOD)
    accepted("fit", path, "-t", "kind", "-m", "logistic", "-o", "m.skops")
    accepted("project", path, "-t", "kind", "--method", "lda", "-o", "e.csv")
    accepted("compare", path, "-t", "kind", *quick, "-o", "results")
