"""Every command of the pages is run: quick ones here, long ones by `make pages`.

Commands of ``mercer`` run in a folder with the tables that pages speak of. Scripts under
``benchmarks/`` and ``examples/`` take too long for a test: here their options are parsed as they
are called; `test_reruns.py` reruns some and compares their figures with the page.
"""

import argparse
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib

import pytest

from mercer.cli import main
from mercer.studies import list_studies
from pages.command_page import PAGE, command_page
from pages.reading import PAGES, ROOT, blocks, blocks_of, script_calls, typed
from pages.stand_ins import write_files

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SCRIPTS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "benchmarks").glob("*.py")
    if not path.name.startswith("_")
)

# In this order: a command may need what one before it wrote.
RUN = (
    "mercer --version",
    "mercer datasets",
    "mercer fit people.csv --target income -o income.skops",
    "mercer predict income.skops new.csv -o predictions.csv",
    "mercer predict income.skops new.csv --json",
    "mercer explain income.skops new.csv -o reasons.html",
    "mercer info income.skops",
    "mercer fit people.csv --target income --recall high=0.9 -o wish.skops",
    "mercer fit people.csv --target income --costs costs.csv -o costs.skops",
    "mercer project people.csv --target income -o map.csv",
    "mercer measure january.csv february.csv",
    "mercer density people.csv --columns age,hours",
    "mercer measure last-year.csv this-year.csv",
    "mercer compare --from results.csv --metric accuracy",
    "mercer reproduce neighbours.py",
)
LATER = {  # run by `make pages`
    "mercer demo": "some seconds",
    "mercer compare people.csv --target income": "up to two minutes, its time budget",
    "mercer datasets --folder DIR": "needs the folder of data sets",
    "mercer reproduce --quick --data DIR": "minutes, and the folder of data sets",
    ".venv/bin/python -m sphinx -W -b html docs docs/_build/html": "needs Sphinx; a minute",
    "python3 -m venv .venv && .venv/bin/pip install --quiet . && .venv/bin/mercer compare": (
        "a new environment, a network, minutes"
    ),
}
ELSEWHERE = {  # run by another command, or piece by piece by other tests
    'python3 -m venv .venv && .venv/bin/pip install --quiet -e ".[test]" '
    "&& .venv/bin/python -m pytest -q -n auto": "is the command that runs this",
    "python3 -m venv .venv": "begins the first command of README.md",
    ".venv/bin/pip install .": "is in the first command of README.md",
    '.venv/bin/pip install -e ".[test,dev]"': "is in the command that runs this, with more extras",
    '.venv/bin/pip install -e ".[docs]"': "an extra of pyproject.toml, and a network",
    ".venv/bin/pre-commit install": "writes into the repository",
    ".venv/bin/python -m pytest": "is the command that runs this",
    "mercer reproduce laplacian fisher --data DIR": "an hour; docs/reproduction.md is its page",
    "mercer compare people.csv --target income --scheduler tcp://10.0.0.1:8786": (
        "tests/campaigns/cluster/test_scheduler.py"
    ),
    "mercer reproduce laplacian --scheduler tcp://10.0.0.1:8786": (
        "tests/campaigns/cluster/test_scheduler.py"
    ),
}


def _lines():
    """Return the lines of all shell blocks, without comments."""
    lines = (line for block in blocks_of("bash") for line in block.text.splitlines())
    return {line.partition(" #")[0].strip() for line in lines} - {""}


def test_every_command_is_run_somewhere():
    known = {*RUN, *LATER, *ELSEWHERE}
    scripts = {line for line in _lines() if any(script_calls(f"`{line}`"))}
    targets = {line for line in _lines() if line.startswith("make ")}  # long commands themselves
    assert _lines() - scripts - targets <= known, "commands that nothing runs"
    mentioned = {line.partition(" #")[0].strip() for path in PAGES for line in typed(_read(path))}
    assert known <= mentioned, "commands that no page has"


def _read(path):
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the tables and the study that pages speak of."""
    folder = tmp_path_factory.mktemp("pages")
    write_files(folder)
    (study,) = [b for b in blocks(ROOT / "docs" / "reproduce.md") if "example" in b.markers]
    code = study.text.replace("replications=100", "replications=2")
    (folder / study.markers["example"]).write_text(code, encoding="utf-8")
    return folder


@pytest.mark.parametrize("command", RUN)
def test_command_runs(command, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.delenv("MERCER_DATA", raising=False)
    words = shlex.split(command)
    assert main(words[1:]) == 0, capsys.readouterr().err
    if "-o" in words:
        assert (folder / words[words.index("-o") + 1]).stat().st_size


@pytest.mark.parametrize("command", LATER)
@pytest.mark.timeout(3000)
def test_long_command_runs(command, long, folder, tmp_path):
    if not long:
        pytest.skip(f"{LATER[command]}: make pages")
    data = os.environ.get("MERCER_DATA")
    if "DIR" in command and not data:
        pytest.skip("MERCER_DATA names no folder of data sets")
    environment, where = os.environ | {"PYTHONPATH": str(ROOT / "src")}, folder
    line = command.replace("DIR", shlex.quote(str(data)))
    if "sphinx" in command:
        pytest.importorskip("sphinx", reason="Sphinx is not installed")
        where = ROOT
        line = line.replace("docs/_build/html", shlex.quote(str(tmp_path))) + " -D plot_gallery=0"
        line = line.replace(".venv/bin/python", shlex.quote(sys.executable))
    elif "venv" in command:
        where = tmp_path / "clone"
        environment.pop("PYTHONPATH")
        shutil.copytree(ROOT, where, ignore=shutil.ignore_patterns(".git", ".venv", "_build"))
    else:
        program = shlex.quote("import sys; from mercer.cli import main; sys.exit(main())")
        line = re.sub(r"^mercer", f"{shlex.quote(sys.executable)} -c {program}", line)
    done = subprocess.run(
        ["bash", "-c", line], cwd=where, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]


EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.timeout(1200)
def test_example_runs(name, long, tmp_path):
    """Each example of the gallery, as `python examples/NAME` and as Sphinx would run it."""
    code = _read(ROOT / "examples" / name)
    compile(code, name, "exec")
    if not long:
        pytest.skip("some seconds to a minute: make pages")
    if "import torch" in code:
        pytest.importorskip("torch", reason="torch is not installed")
    bundled = ("iris", "wine", "wdbc", "digits8x8")
    wanted = set(re.findall(r'load_dataset\("(\w+)"', code)) - set(bundled)
    if wanted and not os.environ.get("MERCER_DATA"):
        pytest.skip("MERCER_DATA names no folder of data sets")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name)],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


class _Parsed(Exception):  # noqa: N818
    """The options of a script were understood."""


def _parse(script, arguments, monkeypatch):
    """Run a script up to the point where it has parsed its options."""
    real = argparse.ArgumentParser.parse_args

    def parse_args(self, *rest, **options):
        real(self, *rest, **options)
        raise _Parsed

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_args)
    monkeypatch.setattr(sys, "argv", [script, *arguments])
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    before = dict(os.environ)
    try:
        runpy.run_path(str(ROOT / script), run_name="__main__")
    finally:
        os.environ.clear()
        os.environ.update(before)


CALLS = sorted({(script, *rest) for path in PAGES for script, rest in script_calls(_read(path))})


@pytest.mark.parametrize("call", [c for c in CALLS if c[0].startswith("benchmarks")], ids=" ".join)
def test_scripts_take_the_options_of_the_pages(call, monkeypatch, capsys):
    script, *arguments = call
    assert (ROOT / script).exists()
    _skip_without_dask(script)
    try:
        with pytest.raises(_Parsed):
            _parse(script, arguments, monkeypatch)
    except SystemExit:
        pytest.fail(capsys.readouterr().err)


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_explain_themselves(script, monkeypatch, capsys):
    _skip_without_dask(script)
    with pytest.raises(SystemExit) as caught:
        _parse(script, ["--help"], monkeypatch)
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("usage: ")
    assert script in _read(ROOT / "CONTRIBUTING.md"), "the table of scripts lacks it"


def _skip_without_dask(script):
    if script.endswith("bench_dask.py"):
        pytest.importorskip("distributed", reason="dask is not installed")


def test_the_page_of_all_options_is_that_of_the_commands():
    assert _read(PAGE) == command_page(), "make options writes it again"


def test_the_quick_lane_names_tests_that_are_there():
    makefile = _read(ROOT / "Makefile").replace("\\\n", "")
    paths = re.search(r"^QUICK = (.*)$", makefile, re.M)[1].split()
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_extras_markers_targets_and_studies_exist():
    extras = set(PROJECT["project"]["optional-dependencies"])
    markers = {
        line.partition(":")[0] for line in PROJECT["tool"]["pytest"]["ini_options"]["markers"]
    }
    targets = set(re.findall(r"^(\w[\w-]*):", _read(ROOT / "Makefile"), re.M))
    studies = {*list_studies(), "neighbours.py", "my_study.py"}
    for path in PAGES:
        for line in typed(_read(path)):
            wanted = [
                name
                for names in re.findall(r"(?:mercer|\.)\[([\w,]+)\]", line)
                for name in names.split(",")
            ]
            assert set(wanted) <= extras, f"{path.name}: {line}"
            assert set(re.findall(r"pytest .*-m (\w+)", line)) <= markers, f"{path.name}: {line}"
            assert set(re.findall(r"^make (\S+)", line)) <= targets, f"{path.name}: {line}"
            if named := re.match(r"mercer reproduce((?: [a-z]\S*)*)", line):
                assert set(named[1].split()) <= studies, f"{path.name}: {line}"
