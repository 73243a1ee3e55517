"""A sample of the pages' figures, printed anew: `make pages`.

Cheap commands whose figures come from seeds print them again to the last digit, but for
what another processor, NumPy or SciPy changes. Times are not compared here, they are no tests.
"""

import os
import re
import shlex
import subprocess
import sys

import pytest

from pages.reading import ROOT, blocks, sections, typed

# Command, page, sections, allowed difference.
RERUNS = [
    ("python benchmarks/sim_false_positives.py", "comparison.md",
     ["How honest is each test?"], 0.3),
    ("python benchmarks/sim_rounds.py", "comparison.md",
     ["In rounds, until the time is used"], 0.3),
    ("python benchmarks/sim_two_sample.py", "information.md", ["The two-sample test"], 0.4),
    ("python benchmarks/sim_measure.py", "models.md", ["Two tables: the same?"], 0.5),
    ("python examples/plot_imbalanced_gaussians.py", "classifiers.md", ["Rare classes"], 0.2),
    ("python benchmarks/study_classifier_options.py", "classifiers.md",
     ["Probabilities", "Large tables"], 0.01),
]  # fmt: skip
NEEDS_DATA = ("study_classifier_options",)


def run(command, **options):
    """Run a command of the pages in the repository and return what it prints."""
    words = [sys.executable if word == "python" else word for word in shlex.split(command)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "Agg"}
    return subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, check=True, **options
    ).stdout


def shown(page, title):
    """Return the figures of a section: cells of its tables, or those in its text if it has none."""
    (section,) = [s for s in sections(ROOT / "docs" / page) if s.title == title]
    cells = [
        cell
        for line in section.text.splitlines()
        if line.startswith("|")
        for cell in line.strip("|").split("|")[1:]
    ]
    found = [re.fullmatch(r"\s*(\d+\.\d+)(?: %)?\s*", cell) for cell in cells]
    numbers = [float(match[1]) for match in found if match]
    return numbers or [float(text) for text in re.findall(r"\d+\.\d+(?= %)", section.text)]


def unmatched(figures, printed, allowed):
    """Return the figures for which nothing as near as is allowed was printed, each once."""
    left, lost = sorted(printed), []
    for figure in sorted(figures):
        nearest = min(left, key=lambda value: abs(value - figure), default=float("inf"))
        if abs(nearest - figure) <= allowed + 1e-9:
            left.remove(nearest)
        else:
            lost.append(figure)
    return lost


@pytest.mark.parametrize(
    ("command", "page", "titles", "allowed"), RERUNS, ids=lambda v: str(v)[:50]
)
@pytest.mark.timeout(1500)
def test_figures_are_printed_again(command, page, titles, allowed, long):
    figures = [figure for title in titles for figure in shown(page, title)]
    assert figures, "the sections have no figures"
    for title in titles:
        lines = typed(_section_text(page, title))
        assert any(command.removeprefix("python ") in line for line in lines)
    if not long:
        pytest.skip("minutes: make pages")
    if any(name in command for name in NEEDS_DATA) and not os.environ.get("MERCER_DATA"):
        pytest.skip("MERCER_DATA names no folder of data sets")
    printed = [float(text) for text in re.findall(r"\d+\.\d+", run(command))]
    assert unmatched(figures, printed, allowed) == []


def _section_text(page, title):
    (section,) = [s for s in sections(ROOT / "docs" / page) if s.title == title]
    return section.text


def test_a_changed_figure_is_seen():
    assert unmatched([1.5, 2.5], [2.4, 1.5, 7.0], 0.2) == []
    assert unmatched([1.5, 1.5], [1.5, 2.5], 0.2) == [1.5]


@pytest.mark.timeout(900)
def test_first_command_prints_what_the_pages_show(long, tmp_path):
    """Scores of `mercer compare` as in the README; times and sizes are the machine's.

    The budget is longer than on the page, so that a busy machine gets through its rounds too.
    """
    (block,) = [b for b in blocks(ROOT / "README.md") if "printed by" in b.markers]
    page = dict(re.findall(r"^(\w+) +(0\.\d+) ", block.text, re.M))
    assert len(page) == 10
    if not long:
        pytest.skip("half a minute: make pages")
    program = "import sys; from mercer.cli import main; sys.exit(main())"
    out = run(
        f"python -c {shlex.quote(program)} compare --budget 10m -o {shlex.quote(str(tmp_path))}"
    )
    measured = dict(re.findall(r"^(\w+) +(0\.\d+) ", out, re.M))
    assert {n: float(v) for n, v in measured.items()} == {
        n: pytest.approx(float(v), abs=0.01) for n, v in page.items()
    }
