"""The parts of the runner by themselves: published text, marks, code digests, time left, panels."""

import inspect
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.studies import (
    Job,
    Line,
    Outcome,
    Panel,
    Published,
    Raster,
    list_studies,
    load_study,
    plan_jobs,
    read_published,
)
from mercer.studies._code import code_digest
from mercer.studies._collect import (
    _choose_one_reading,
    _choose_readings,
    count_at_or_below,
    mark_of,
)
from mercer.studies._model import Method, Row, Table
from mercer.studies._runner import Clock
from mercer.studies._store import read_outcome, write_outcome
from mercer.studies.experiments import _faces, _holdout

numbers = st.decimals(0, 100, places=2).map(float)


@given(numbers, st.none() | numbers, st.none() | st.integers(1, 99))
def test_published_numbers_survive_their_text(value, spread, dimension):
    cell = f"{value}" + (f" ± {spread}" if spread is not None else "")
    cell += f" ({dimension})" if dimension is not None else ""
    cells = read_published(f" | a | b\nRow one | – | {cell}\n")
    assert cells == {("Row one", "b"): Published(value, spread, dimension)}
    assert cells["Row one", "b"].decimals == len(f"{value}".partition(".")[2])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("| a\nx | 1 | 2", "'x' has 2 cells for 1"), ("| a\nx | one", "'one' of row 'x'")],
)
def test_published_text_with_a_slip_is_refused(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_published(text)


@pytest.mark.parametrize(
    ("text", "half"), [("62", 0.5), ("90.00", 0.005), ("89.4 ± 0.55 (3)", 0.05), ("-0", 0.5)]
)
def test_half_of_the_last_digit_is_that_of_the_text(text, half):
    assert read_published(f" | a\nx | {text}")["x", "a"].half_digit == half


@pytest.mark.parametrize(
    ("value", "half"), [(62.0, 0.5), (90, 0.5), (89.4, 0.05), (0.25, 0.005), (1e-7, 5e-8)]
)
def test_half_of_the_last_digit_without_a_text_is_that_of_python(value, half):
    assert Published(value).half_digit == pytest.approx(half)


def test_a_misprint_is_of_a_published_number():
    def table(misprints):
        return Table(
            key="1", title="", unit="", better=None, rows=(Row(label="x"), Row(label="y")),
            methods=(Method(columns=("a",), run=print),),
            published=read_published(" | a\nx | 1"), misprints=misprints,
        )  # fmt: skip

    assert table({("x", "a"): "2 elsewhere"}).misprints
    for cell in (("y", "a"), ("x", "b"), ("*", "a")):
        with pytest.raises(ValueError, match=r"no published number .* to be a misprint"):
            table({cell: "2 elsewhere"})


def mark(published, measured, spread=None, better="higher", protocol="paper", draws=1):
    return mark_of(published, measured, spread, better, protocol=protocol, draws=draws)


def test_means_that_are_many_standard_errors_apart_are_only_near():
    printed = Published(89.4, 0.5, decimals=1)
    # √(0.6² + 0.5²)/10 = 0.0781; three of them and half a digit are 0.284.
    assert mark(printed, 89.12, 0.6, draws=100) == "reached"
    assert mark(printed, 89.11, 0.6, draws=100) == "near"
    assert mark(printed, 89.69, 0.6, draws=100) == "near"
    assert mark(printed, 89.11, 0.6, draws=100, better=None) == "near"
    assert mark(printed, 89.11, 0.6) == "reached"  # the replicates are not independent
    assert mark(printed, 88.8, 0.6, draws=100) == "short"
    assert mark(Published(89.4, decimals=1), 89.11, 0.6, draws=100) == "reached"
    assert mark(printed, 89.11, 0.6, draws=100, protocol="honest") == "honest"


spreads = st.floats(0, 5)


@given(st.floats(80, 100), spreads, spreads, st.integers(2, 200), st.integers(2, 200))
def test_near_is_part_of_what_was_reached_and_grows_with_the_draws(value, printed, own, n, m):
    published = Published(90.0, printed, decimals=1)
    few, many = (mark(published, value, own, draws=draws) for draws in sorted((n, m)))
    plain = mark(published, value, own)
    assert {few, many} <= {"reached", "near"} if plain == "reached" else {few, many} == {plain}
    assert few != "near" or many == "near"


def test_draws_at_or_below_are_rounded_as_the_paper_rounds():
    draws = np.array([1.0, 1.54, 1.56, 2.0])
    assert count_at_or_below(draws, Published(1.5, decimals=1)) == 2
    assert count_at_or_below(draws, Published(2.0, decimals=0)) == 4
    assert count_at_or_below(draws, Published(0.4)) == 0


def judged_cells(*lines):
    """Return cells of one column, each (row, reading, published, measured, mark)."""
    names = ["row", "reading", "published", "measured", "mark"]
    cells = pd.DataFrame(lines, columns=names)
    return cells.assign(study="s", table="1", column="a", protocol="paper")


def test_one_reading_stands_for_a_column():
    cells = judged_cells(
        ("x", "few", 90.0, 90.0, "reached"),
        ("x", "b", 90.0, 85.0, "short"),
        ("y", "b", 80.0, 80.0, "reached"),
        ("x", "c", 90.0, 90.1, "reached"),
        ("y", "c", 80.0, 78.0, "near"),
        ("x", "d", 90.0, 90.2, "reached"),
        ("y", "d", 80.0, 75.0, "short"),
        ("x", "c", 90.0, 70.0, "honest"),
        ("z", "d", 70.0, 70.0, "misprint"),
        ("z", "d", 70.0, None, "failed"),
    )
    # "few" has one row; b, c and d have two and reach one; c is nearest, 1.05 on average.
    assert _choose_one_reading(cells)["one_reading"].tolist() == [
        False, False, False, True, True, False, False, False, False, False,
    ]  # fmt: skip
    more = pd.concat(
        [cells, judged_cells(("z", "d", 1.0, 9.0, "short"))], ignore_index=True
    )  # a row more goes before a nearer mean
    assert _choose_one_reading(more)["one_reading"].to_numpy().nonzero()[0].tolist() == [5, 6, 10]
    reached = cells.assign(mark=cells["mark"].replace("near", "short"))
    reached.loc[6, "mark"] = "reached"  # reaching two goes before a nearer mean
    assert _choose_one_reading(reached)["one_reading"].to_numpy().nonzero()[0].tolist() == [5, 6]


def test_one_reading_is_the_one_of_most_rows_whatever_few_rows_reach():
    cells = judged_cells(
        ("x", "few", 90.0, 90.0, "reached"),
        ("x", "all", 90.0, 85.0, "short"),
        ("y", "all", 80.0, 85.0, "better"),
    )
    assert _choose_one_reading(cells)["one_reading"].tolist() == [False, True, True]


def test_one_reading_of_nothing_judged_is_none():
    cells = judged_cells(("x", "", 1.0, 1.0, "one draw"), ("x", "", None, 1.0, "ours"))
    assert not _choose_one_reading(cells)["one_reading"].any()
    assert not _choose_one_reading(cells.iloc[:0])["one_reading"].any()


def test_marks_at_their_borders():
    printed = Published(90.0, 0.5, decimals=1)
    assert mark(printed, 89.46) == "reached"  # half of the last printed digit is nobody's fault
    assert mark(printed, 89.44) == "short"
    assert mark(printed, 90.56) == "better"
    assert mark(printed, 90.56, better="lower") == "short"
    assert mark(printed, 89.44, better="lower") == "better"
    assert mark(printed, 89.44, better=None) == "differs"
    assert mark(printed, 80.0, spread=20.0) == "short"  # the printed spread goes first
    assert mark(Published(90.0, decimals=1), 88.0, spread=2.0) == "reached"
    assert mark(Published(90.0, decimals=1), 88.0, spread=1.9) == "short"
    assert mark(Published(90.0, decimals=1), 90.04) == "reached"
    assert mark(Published(90.0, decimals=1), 90.06) == "better"
    assert mark(Published(90.0), 90.4) == "reached"
    assert mark(Published(90.0), 90.6) == "better"
    assert mark(Published(90.0, decimals=2), 90.006) == "better"
    assert mark(None, 1.0) == "ours"
    assert mark(printed, 90.0, protocol="honest") == "honest"


CODE = '''
LEVEL = {level}
OTHER = {other}


def helper(x):
    """{words}"""
    return x + LEVEL


def run(x):
    {comment}
    return helper(x)


def elsewhere():
    return OTHER
'''


def digest_of(tmp_path, name, **parts):
    import importlib.util

    values = {"level": 1, "other": 1, "words": "Help.", "comment": "# nothing", **parts}
    path = tmp_path / f"{name}.py"
    path.write_text(CODE.format(**values), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"code_{name}", path)
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return code_digest(module.run)


def test_code_digest_follows_what_the_function_reaches(tmp_path):
    first = digest_of(tmp_path, "a")
    assert digest_of(tmp_path, "b") == first
    assert digest_of(tmp_path, "c", comment="# a remark") == first
    assert digest_of(tmp_path, "d", words="Do help.") == first
    assert digest_of(tmp_path, "e", other=2) == first
    assert digest_of(tmp_path, "f", level=2) != first
    assert digest_of(tmp_path, "g", comment="x = 2 * x") != first


def test_code_digest_follows_what_experiments_share(monkeypatch):
    """The faces are judged by a function of another file of the experiments."""
    read = inspect.getsource

    def digest(old, new):
        def changed(what):
            return read(what).replace(old, new) if what is _holdout else read(what)

        with monkeypatch.context() as patch:
            patch.setattr(inspect, "getsource", changed)
            return code_digest.__wrapped__(_faces.plain)

    assert digest("", "") == code_digest(_faces.plain)
    assert digest("values=100 *", "values=99 *") != code_digest(_faces.plain)
    assert digest("from the job's seed", "by chance") == code_digest(_faces.plain)


def job(row, replication=0):
    return Job(
        source="s", kind="table", part=0, row=row, method=0, protocol="paper",
        replication=replication, seed=0, options={}, file="",
    )  # fmt: skip


def test_time_left_knows_that_jobs_differ():
    jobs = [job(row, k) for k in range(10) for row in (0, 1)]
    clock = Clock(jobs, workers=2)
    assert clock.seconds_left() is None
    clock.finish(jobs[0], 1.0)
    assert clock.seconds_left() == pytest.approx((9 * 1 + 10 * 1) / 2)  # the other is unknown yet
    clock.finish(jobs[1], 100.0)
    assert clock.seconds_left() == pytest.approx((9 * 1 + 9 * 100) / 2)


def test_panels_become_json_and_numbers_keep_six_digits():
    panel = Panel(
        title="t",
        layers=[
            Line(x=np.array([0.123456789, np.nan]), y=[1, 2]),
            Raster(z=np.arange(4.0).reshape(2, 2), extent=(0, 1, 0, 1)),
        ],
    )
    plain = json.loads(json.dumps(panel.as_json(), allow_nan=False))
    line, raster = plain["layers"]
    assert line["x"] == [0.123457, None]
    assert line["y"] == [1, 2]
    assert (line["kind"], raster["kind"]) == ("line", "raster")
    assert raster["z"] == [[0.0, 1.0], [2.0, 3.0]]


def test_outcomes_come_back(tmp_path):
    outcome = Outcome(
        values={"a": 1.5, "b": [[1, 2], [3, 4]]},
        predictions={"predicted": np.array([1, 2], dtype=np.uint8)},
        details={"width": 0.5, "rule": "σ"},
    )
    write_outcome(tmp_path / "x" / "o.npz", outcome, ("a", "b"), 2.0)
    stored = read_outcome(tmp_path / "x" / "o.npz")
    assert stored.values["a"].tolist() == [[1.5]]
    assert stored.values["b"].tolist() == [[1, 2], [3, 4]]
    assert stored.details == {"width": 0.5, "rule": "σ"}
    assert stored.seconds == 2.0
    assert read_outcome(tmp_path / "none.npz") is None
    with np.load(tmp_path / "x" / "o.npz", allow_pickle=False) as file:
        assert file.files == ["values_0", "values_1", "predictions_predicted", "note"]


def test_objects_in_an_outcome_are_refused(tmp_path):
    outcome = Outcome(values=1.0, predictions={"predicted": np.array([{}, None])})
    with pytest.raises(ValueError, match="returned predictions_predicted as objects"):
        write_outcome(tmp_path / "o.npz", outcome, ("a",), 0.0)
    assert not list(tmp_path.iterdir())


def test_a_job_that_forgets_a_column_is_told_so(tmp_path):
    with pytest.raises(ValueError, match=r"\('a', 'b'\)"):
        write_outcome(tmp_path / "o.npz", Outcome(values={"a": 1}), ("a", "b"), 0.0)


def test_unknown_studies_and_files_get_a_sentence(tmp_path):
    with pytest.raises(LookupError, match=r"'nothing'.*laplacian"):
        load_study("nothing")
    with pytest.raises(FileNotFoundError, match=r"gone\.py"):
        load_study(str(tmp_path / "gone.py"))
    (tmp_path / "empty.py").write_text("X = 1\n")
    with pytest.raises(ValueError, match=r"empty\.py does not define STUDY"):
        load_study(str(tmp_path / "empty.py"))


FINDING = """
import sys
from mercer.studies import list_studies, load_study

def forget_papers():
    found = [name for name in sys.modules if ".papers._" in name]
    for name in list(sys.modules):
        if ".papers._" in name or ".experiments._" in name:
            del sys.modules[name]
    return found

names = list_studies()
print(forget_papers())
for name in names:
    load_study(name)
    print(forget_papers())
"""


def test_finding_one_study_imports_one_study():
    command = [sys.executable, "-c", FINDING]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    expected = [[f"mercer.studies.papers._{name.replace('-', '_')}"] for name in list_studies()]
    assert printed.splitlines() == [str(modules) for modules in [[], *expected]]


@pytest.mark.parametrize("name", list_studies())
def test_a_study_has_the_name_of_its_file(name):
    assert load_study(name).name == name


@pytest.mark.parametrize("name", list_studies())
@pytest.mark.parametrize("quick", [True, False])
def test_every_study_can_be_planned(name, quick):
    plan = plan_jobs((name,), quick=quick)
    files = [job.file for job in plan.jobs]
    assert len(set(files)) == len(files)
    study = plan.studies[name]
    everywhere = {row.label for table in study.tables for row in table.rows}
    for table in study.tables:
        labels = [row.label for row in table.rows]
        assert len(set(labels)) == len(labels)
        assert {row for row, _ in table.published} <= set(labels)
        columns = {column for method in table.methods for column in method.columns}
        rest = {row for row, column in table.published if column not in columns}
        assert not rest, f"no method fills a published column of Table {table.key}: {rest}"
        known = set(labels) | {"*"}
        assert {row for row, _ in table.reasons} <= known
        for method in table.methods:
            assert set(method.rows or ()) <= everywhere


def test_an_honest_number_never_stands_for_the_published_one():
    """However near it is: the nearest reading of the paper's own protocol does."""
    keys = dict.fromkeys(("study", "table", "row", "column"), "same")
    protocols, measured = ["honest", "paper", "paper"], [90.0, 95.0, 80.0]
    cells = pd.DataFrame({**keys, "protocol": protocols, "published": 90.0, "measured": measured})
    cells["mark"] = "short"
    assert _choose_readings(cells)["counts"].tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("marks", "counts"),
    [
        (["short", "near", "reached"], [False, False, True]),
        (["short", "near", "better"], [False, True, False]),
        (["reached", "near", "reached"], [True, False, False]),
    ],
)
def test_a_reading_that_reaches_the_number_counts_before_a_nearer_one(marks, counts):
    """One split has no spread to lie within, and may be nearer than many splits that have one."""
    keys = dict.fromkeys(("study", "table", "row", "column"), "same")
    cells = pd.DataFrame({**keys, "protocol": "paper", "published": 90.0, "mark": marks})
    cells["measured"] = [90.4, 91.0, 92.0]
    assert _choose_readings(cells)["counts"].tolist() == counts


def test_digits_may_be_rounded_or_cut_off():
    rounded, cut = (
        read_published("| a\nx | 95.41", cut_off=cut)["x", "a"] for cut in (False, True)
    )
    right = 100 * 229 / 240  # 95.41666…
    assert (rounded.rounds(right), cut.rounds(right)) == (False, True)
    assert mark_of(cut, right, None, "higher", protocol="either") == "reached"
    assert not cut.rounds(95.4201)
    assert not cut.rounds(95.4049)
    assert cut.rounds(95.4049 - 1, slack=1.0) is False
    assert rounded.rounds(95.4149)
    assert not rounded.rounds(95.4151)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("Wine   | 90", "Wime   | 90"),
            r"no row 'Wime', which its published .* did you mean 'Wine'\?",
        ),
        (('("Iris", "never"):', '("Isir", "never"):'), r"no row 'Isir', which its reason .* Iris"),
        (('("*", "1-NN"):', '("*", "1-MM"):'), "no column '1-MM', which its reason for"),
        (('rows=("Wine",)', 'rows=("Whine",)'), "no row 'Whine', which its method for threads"),
        (('label="Wine"', 'label="Iris"'), "Table 1 has two rows 'Iris'"),
        (("Wine   | 90", "Iris   | 90"), "Published cell '1-NN' of row 'Iris' comes twice"),
        (('table="1"', 'table="I"'), "Study toy has no table 'I', which its figure 2 draws"),
    ],
)
def test_a_label_that_matches_nothing_is_an_error(toy, change, message):
    assert load_study(toy()).name == "toy"
    with pytest.raises(ValueError, match=message):
        load_study(toy(change=change, name="mistaken.py"))
