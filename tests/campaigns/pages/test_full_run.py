"""docs/reproduction.md: every published number, marks as the legend says, and reasons."""

import re
from collections import Counter
from typing import NamedTuple

from mercer.studies import list_studies, load_study
from pages.reading import ROOT

PAGE = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
NUMBER = r"-?\d+(?:\.\d+)?"
EXPLAINED = "▽≠≈†"
SIGNS = {"reached": "✓", "near": "≈", "better": "▲", "short": "▽", "differs": "≠", "one draw": "•",
         "misprint": "†", "not available": "not available"}  # fmt: skip


class Cell(NamedTuple):
    """A published number of the page and what stands behind its arrow."""

    study: str
    table: str
    row: str
    column: str
    published: str
    measured: str
    lower_is_better: bool

    @property
    def mark(self):
        found = re.search("[✓≈▲▽≠•†]|not available|misprint", self.measured)[0]
        return {"misprint": "†"}.get(found, found)


def split_cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def plain(text):
    """Take the escapes off a text of the page."""
    return re.sub(r"\\(.)", r"\1", text)


def read_page():
    """Return the cells with a published number, and for each table the cells that reasons name."""
    titles = {load_study(name).title: name for name in list_studies()}
    cells, named, study, table, head = [], {}, "", "", []
    for line in PAGE.splitlines():
        if line.startswith("## "):
            study = titles[plain(line[3:])]
        elif line.startswith("### "):
            table, head = plain(line[4:]).partition(":")[0], []
        elif line.startswith("| ") and not head:
            head = [plain(cell) for cell in split_cells(line)]
        elif line.startswith("| ") and study:
            row, *others = split_cells(line)
            for column, cell in zip(head[1:], others, strict=True):
                if "→" in cell:
                    published, measured = map(str.strip, cell.split("→"))
                    lower = "lower is better" in head[0]
                    cells.append(Cell(study, table, plain(row), column, published, measured, lower))
        elif study and line[:4] in [f"- {sign} " for sign in EXPLAINED]:
            named.setdefault((study, table, line[2]), []).append(plain(line))
    return cells, named


CELLS, NAMED = read_page()


def test_the_page_has_every_published_number_and_its_spread():
    expected = Counter()
    for name in list_studies():
        for table in load_study(name).tables:
            for (row, column), one in table.published.items():
                expected[name, row, column, one.value, one.spread] += 1
    found = Counter()
    for cell in CELLS:
        value, spread = re.fullmatch(rf"({NUMBER})(?: ± ({NUMBER}))?", cell.published).groups()
        spread = spread and float(spread)
        found[cell.study, cell.row, cell.column, float(value), spread] += 1
    assert found == expected


def test_the_counts_are_those_of_the_marks():
    head, _, *rows = re.search(r"(?:^\|.*\n)+", PAGE, re.MULTILINE)[0].splitlines()
    columns = split_cells(head)
    for row in rows:
        name, *counts = split_cells(row)
        said = dict(zip(columns[1:], (int(count or 0) for count in counts), strict=True))
        marks = Counter(cell.mark for cell in CELLS if cell.study == name)
        assert {mark: count for mark in SIGNS if (count := said.get(mark, 0))} == {
            mark: marks[sign] for mark, sign in SIGNS.items() if marks[sign]
        }
        assert said["all"] == marks.total()


def test_every_number_that_is_not_reached_has_a_sentence_and_no_other():
    expected = Counter(
        (cell.study, cell.table, cell.mark, f"{cell.row}, {cell.column}")
        for cell in CELLS
        if cell.mark in EXPLAINED
    )
    found = Counter()
    for place, reasons in NAMED.items():
        for reason in reasons:
            sentence, _, names = reason.removesuffix(")").rpartition(". (")
            assert len(sentence.split()) >= 5
            found.update((*place, name) for name in names.split("; "))
    assert found == expected


def test_marks_are_what_the_legend_says():
    """Within the published spread, or the measured one, and half a printed digit, or not."""
    judged = [cell for cell in CELLS if cell.mark in "✓≈▲▽≠"]
    assert len(judged) > 300
    for cell in judged:
        printed, spread = re.fullmatch(rf"({NUMBER})(?: ± ({NUMBER}))?", cell.published).groups()
        measured, own = re.match(rf"({NUMBER})(?: ± ({NUMBER}))?", cell.measured).groups()
        half = 0.5 * 10.0 ** -len(printed.partition(".")[2])
        rounding = 0.5 * 10.0 ** -len(measured.partition(".")[2]) * (1 if spread else 2)
        cut_off = half if (cell.study, cell.table) == ("roweis-saul", "Table 2") else 0.0
        allowed = float(spread or own or 0) + half
        gap = float(measured) - float(printed)
        if cell.mark in "✓≈":
            assert abs(gap) <= allowed + rounding + cut_off, cell
        else:
            assert abs(gap) >= allowed - rounding, cell
        if cell.mark in "▲▽":
            assert (cell.mark == "▲") == ((gap < 0) == cell.lower_is_better), cell
