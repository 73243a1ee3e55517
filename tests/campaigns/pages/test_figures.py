"""Every measured figure of the pages stands near the command that prints it.

A section that has figures (times, sizes, shares, factors) names a script, a study or a command, or
a section above it does. What is chosen and not measured, a limit or a level, is listed here.
Figures that one page repeats from another must agree with it.
"""

import re

import numpy as np
import pytest

from pages.reading import PAGES, ROOT, Section, blocks, sections, spans, typed

LANGUAGES = {"python", "bash", "text", "bibtex"}
UNITS = (
    "s|ms|µs|ns|seconds?|minutes?|hours?|days?|kB|MB|GB|TB|MiB|GiB|%|×|points?|times|TFLOP/s|TB/s"
)
FIGURE = re.compile(rf"\d[\d.,·⁰¹²³⁴-⁹]*[ ]?(?:{UNITS})(?!\w)|^\|(?:.*\d\.\d){{2}}.*$", re.M)
COMMAND = re.compile(
    r"(?:benchmarks|examples)/\w+\.py|mercer (?:reproduce|compare|measure)|study_\w+\.py"
    r"|python -c|pytest|make \w"
)
# A link to a section of this page counts as its commands.
BENCHMARKS = re.compile(r"\]\(benchmarks\.md#([\w-]+)\)")
NOT_MEASURED = {
    "CHANGELOG.md": ["1e100 times below"],
    "classifiers.md": ["is 25 times half the range"],
    "cluster.md": [
        "16 GB for 10⁹ rows",  # 16 bytes a row
    ],
    "commands.md": ["hold 50, 90 and 99 % of the mass"],
    "comparison.md": ["cannot reach 5 %"],
    "discriminants.md": ["at least 99 % of iris"],
    "models.md": ["more than 1 GiB"],
    "SECURITY.md": [
        "1 GiB after decompression",
        "16 MiB a line",
        "1 GiB unpacked",
        "256 MiB",
        "2 GiB for a page",
    ],
    "tables.md": [
        "at least 95 %",
        "more than 95 %",
        "The 95 % are",
        "Below 95 %",
        "1 GiB after",
        "16 MiB",
    ],
    "weights.md": ["1e100 times below"],
}
# Made by a command (reproduction.md) or from figures of the same page by formulas (cluster.md).
MADE = {"reproduction.md": None, "cluster.md": "What the formulas say of 100 workers and 10⁹ rows"}


def _read(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_blocks_say_what_they_are(path):
    for block in blocks(path):
        directive = block.language.startswith("{")
        assert directive or block.language in LANGUAGES, f"{block} has no known language"
        if block.language == "text" and FIGURE.search(block.text):
            assert {"printed by", "output"} & set(block.markers), f"{block}: who printed it?"
    plain = re.sub(r"^```.*?^```$", "", _read(path), flags=re.M | re.S)
    indented = re.findall(r"(?:^|\n)\n((?: {4}|\t)\S.*)", plain)
    assert not indented, f"{path.name} has a block without a language: {indented[0]}"


def _names_a_command(section):
    return any(COMMAND.search(line) for line in typed(section.text)) or bool(
        BENCHMARKS.search(section.text)
    )


def uncovered(page, all_sections):
    """Yield (title, figure) for figures without a command in their section or above it."""
    for section in all_sections:
        above = [parent for parent in section.parents if parent.level > 1]
        if any(_names_a_command(place) for place in (section, *above)):
            continue
        if page in MADE and MADE[page] in (None, section.title):
            continue
        text = re.sub(r"<!--.*?-->|doi:\S+|`[^`\n]*`|\]\([^)]*\)", "", section.text)
        for phrase in NOT_MEASURED.get(page, ()):
            text = text.replace(phrase, "")
        for figure in FIGURE.findall(text):
            yield section.title, figure


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_figures_stand_near_their_command(path):
    assert list(uncovered(path.name, sections(path))) == []
    for phrase in NOT_MEASURED.get(path.name, ()):
        assert phrase in _read(path), f"{path.name} no longer says {phrase!r}"


def test_a_figure_without_a_command_is_seen():
    alone = Section("Speed", 2, "It takes 0.3 s.", ())
    assert list(uncovered("page.md", [alone])) == [("Speed", "0.3 s")]
    named = Section("Speed", 2, "It takes 0.3 s (`python benchmarks/bench_sums.py`).", ())
    assert list(uncovered("page.md", [named])) == []
    below = Section("Small", 3, "It takes 0.1 s.", (named,))
    assert list(uncovered("page.md", [below])) == []


def _anchor(title):
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _numbers(text):
    """Return the numbers of a text as written, thousands joined; .847 counts as 84.7 too."""
    joined = re.sub(r"(?<=\d)[ ,](?=\d{3}(?!\d))", "", text)
    return re.findall(r"\d*\.?\d+", joined)


def _printed_there(number, text):
    """Tell whether a number, or one that is rounded to it, is in a text."""
    step = 10.0 ** -len(number.partition(".")[2])
    values = [float(found) for found in _numbers(text)]
    values += [100 * value for value in values if value < 1]
    return bool(np.isclose(values, float(number), rtol=0, atol=0.5 * step + 1e-9).any())


def _below(path, anchor):
    parts = [
        s.text
        for s in sections(path)
        if not anchor or anchor in [_anchor(place.title) for place in (s, *s.parents)]
    ]
    assert parts, f"{path.name} has no section {anchor}"
    return "\n".join(parts)


ROWS = [
    line
    for line in _read(ROOT / "docs" / "which_method.md").splitlines()
    if line.startswith("|") and "](" in line
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:40])
def test_evidence_is_on_the_page_that_it_links(row):
    said = row.split("|")[3]
    links = re.findall(r"\]\((\w+\.md)#?([\w-]*)\)", said)
    if not links:
        return
    source = "\n".join(_below(ROOT / "docs" / page, anchor) for page, anchor in links)
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)", "", said)
    missing = [n for n in _numbers(prose) if "." in n and not _printed_there(n, source)]
    assert not missing, f"{missing} of this row are not on the page"
    if _numbers(prose):
        assert any(COMMAND.search(span) for span in spans(said)), "the row names no command"


def test_readme_repeats_the_benchmarks():
    readme = {section.title: section.text for section in sections(ROOT / "README.md")}
    page = ROOT / "docs" / "benchmarks.md"
    (one_core, *_) = [b for b in blocks(page) if "--threads 1" in b.markers.get("printed by", "")]
    printed = {}
    for line in one_core.text.partition("float64:")[0].splitlines():
        if re.match(r" +\d+ ", line):
            cells = re.findall(r"[\d.e-]+(?= |$)|nan", line)
            d, limit, *rates = cells[:12]
            printed[d] = {"limit": limit, **dict(zip(("mercer", "torch", "jax", "rbf", "keops"),
                                                     rates[::2], strict=False))}  # fmt: skip
    for line in readme["How fast"].splitlines():
        if found := re.match(r"\| (\d+) \|", line):
            row = printed[found[1]]
            shown = _numbers(line.partition("|")[2].partition("|")[2])
            order = [row[key] for key in ("mercer", "jax", "torch", "rbf", "keops", "limit")]
            for number, full in zip(shown, order, strict=True):
                assert _printed_there(number, full), line
    said = " ".join(readme["How fast"].split())
    for sentence, anchor in (
        (r"at d = 16 take ([\d.]+) s in float32", "sums"),
        (r"([\d.]+) times as fast as torch's tiles", "sums"),
        (r"`LaplacianClassifier` on a million rows ([\d.]+) s", "estimators"),
        (r"`SparseKernelFisherDiscriminant` ([\d.]+) s", "estimators"),
        (r"within 1e-9 take ([\d.]+) s", "linear-time"),
    ):
        number = re.search(sentence, said)[1]
        assert _printed_there(number, _below(page, anchor)), f"{number}: {anchor}"


@pytest.mark.parametrize(
    ("page", "title"), [("classifiers.md", "How good")], ids=["classifiers.md"]
)
def test_tables_of_the_papers_are_in_the_full_run(page, title):
    run = _read(ROOT / "docs" / "reproduction.md")
    (section,) = [s for s in sections(ROOT / "docs" / page) if s.title == title]
    cells = re.findall(r"\d+\.\d ± \d+\.\d", section.text)
    assert cells
    assert [cell for cell in cells if cell not in run] == []


def test_formulas_of_the_cluster_give_the_table():
    """Evaluate the formulas of cluster.md for its table of 100 workers, within a tenth."""
    page = _read(ROOT / "docs" / "cluster.md")
    pairs, rows = (float(x) * 10**int("⁰¹²³⁴⁵⁶⁷⁸⁹".index(e)) for x, e in
                   re.findall(r"(\d\.\d+)·10(.) (?:pairs|rows) a CPU second", page))  # fmt: skip
    low, high = map(float, re.search(r"took (\d\.\d) to (\d\.\d) ms of CPU", page).groups())
    task, workers, d = (low + high) / 2000, 100, 8

    def laplacian(n, B):
        tasks = 2 * (B**2 * (1 + 1 / 7) + 4 * B)
        return tasks, (1 + 1 / 3) * n**2 / (pairs * workers) + task * tasks, 16 * d * n * B

    said = {row[0]: row for row in _table(page, "What the formulas say")}
    fisher, billion, hundred, ten, subset = list(said.values())
    assert _printed_there("8", fisher[3])
    assert 1e9 / (rows * workers) == pytest.approx(8, rel=0.1)
    assert 23_000 * task == pytest.approx(
        float(re.search(r"\+ (\d+) s of tasks", fisher[3])[1]), rel=0.1
    )
    for row, (n, B) in zip(
        (billion, hundred, ten), ((1e9, 1000), (1e8, 100), (1e7, 100)), strict=True
    ):
        tasks, seconds, moved = laplacian(n, B)
        assert tasks == pytest.approx(_quantity(row[1]), rel=0.1)
        assert seconds == pytest.approx(_quantity(row[3].split(" or ")[-1]), rel=0.1)
        assert moved == pytest.approx(
            max(map(_quantity, re.findall(r"[\d.]+ [TG]B", row[2]))), rel=0.1
        )
    assert 1e9 * 1e5 / (pairs * workers) == pytest.approx(_quantity(subset[3]), rel=0.1)


def _table(page, title):
    text = page.partition(f"### {title}")[2]
    lines = [line for line in text.partition("\n## ")[0].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _quantity(text):
    """Return a number with its unit in seconds, bytes or units."""
    number, unit = re.search(r"([\d .]*\d)\s*(days?|minutes|TB|GB|million)?", text).groups()
    scale = {"day": 86400, "days": 86400, "minutes": 60, "TB": 1e12, "GB": 1e9, "million": 1e6}
    return float(number.replace(" ", "")) * scale.get(unit, 1)
