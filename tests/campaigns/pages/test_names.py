"""Names in the pages are those of the code: identifiers, keywords, values of parameters."""

import ast
import importlib
import inspect
import re
from functools import cache

import pytest
import sklearn
from scipy.stats import wilcoxon
from sklearn.base import BaseEstimator
from sklearn.neighbors import KernelDensity
from sklearn.svm import SVC

from pages.reading import PAGES, ROOT, spans
from test_public_api import PACKAGES

# Of other libraries, of machines, of examples.
FOREIGN = """
    CHANGELOG CONTRIBUTING MyKernel NUMBA_DISABLE_JIT SECURITY SpectralEmbedding TRITON_CACHE_DIR
    ZeroDivisionError
    CorrelatedTTest MetricsSummaryDisplay all_results bash bibtex binomtest breast_cancer
    check_estimator chromium cochrans_q combined_ftest_5x2cv cross_val_score crossover driver
    eval_metric example example_tabarena_v0pt1_local fast ffast fit_time friedmanchisquare
    gaussian_kde ida_ imbalanced isotonic kneighbors_graph leaderboard lite lowest march math
    metric_error native neg_ paired_ttest_5x2cv paired_ttest_kfold_cv path plot_gallery
    posthoc_nemenyi_friedman pytest reports resolution results_per_split score_test test_data
    test_score
    test_check_param_validation test_docstring test_estimators_get_feature_names_out_error
    test_fit_docstring_attributes ttest_rel ulimit ward
"""


@cache
def _words(*folders):
    """Return every word of the code in these folders, and the names of all files and folders."""
    words = set(FOREIGN.split()) | {path.stem for path in ROOT.glob("*.*")}
    for folder in ("src", "tests", "benchmarks", "examples", "docs"):
        for path in (ROOT / folder).rglob("*.*"):
            if "__pycache__" in path.parts:
                continue
            words |= {path.name, path.stem, path.parent.name}
            if folder in folders and path.suffix in (".py", ".toml"):
                words |= set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    return words


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_words_in_code_exist(path):
    for_authors = path.name in (
        "CONTRIBUTING.md",
        "SECURITY.md",
        "extend.md",
        "found.md",
        "reliability.md",
    )
    known = _words("src", "tests", "benchmarks") if for_authors else _words("src")
    commands = ("mercer ", "python", "pip ", "make ", "git ")
    for span in spans(path.read_text(encoding="utf-8")):
        if not span.startswith(commands):
            words = set(re.findall(r"(?<![\w.])[A-Za-z_]\w{3,}", span))
            assert words <= known, f"`{span}`: {words - known}"


def test_only_the_map_names_private_files():
    """So that a file that moves changes one page."""
    private = {path.name for path in (ROOT / "src").rglob("_*.py")} - {"__init__.py"}
    for path in PAGES:
        named = set(re.findall(r"(?<!\w)_\w+\.py", path.read_text(encoding="utf-8")))
        assert path.name == "architecture.md" or not named & private, f"{path.name}: {named}"


@cache
def _callables():
    """Return public classes and functions by name, and those of others that pages call."""
    found = {thing.__name__: thing for thing in (KernelDensity, SVC, sklearn.set_config, wilcoxon)}
    for package in PACKAGES:
        module = importlib.import_module(package)
        found |= {name: getattr(module, name) for name in module.__all__}
    return {
        name: thing
        for name, thing in found.items()
        if callable(thing) and not (inspect.isclass(thing) and issubclass(thing, Exception))
    }


@cache
def _takers():
    """Return, for each keyword of our classes, their methods and our functions, who takes it."""
    takers = {}
    for thing in _callables().values():
        methods = vars(thing).values() if inspect.isclass(thing) else ()
        for function in (thing, *filter(inspect.isfunction, methods)):
            for keyword in inspect.signature(function).parameters:
                takers.setdefault(keyword, []).append(thing)
    return takers


def _accepts(thing, keyword, value):
    """Tell whether a value is among the strings that an estimator lists, if it lists any."""
    rules = getattr(thing, "_parameter_constraints", {}).get(keyword, [])
    listed = [rule.options for rule in rules if hasattr(rule, "options")]
    return not listed or any(value in options for options in listed)


def check_span(span):
    """Hold a call, or a keyword with its value, to the code."""
    try:
        call = ast.parse(span.replace("…", "..."), mode="eval").body
    except SyntaxError:
        call = None
    if isinstance(call, ast.Call) and call.keywords:
        name = ast.unparse(call.func).rpartition(".")[2]
        thing = _callables()[name]
        parameters = inspect.signature(thing).parameters
        for keyword in call.keywords:
            assert keyword.arg in parameters, f"{name} does not take {keyword.arg}="
            if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
                assert _accepts(thing, keyword.arg, keyword.value.value), span
    elif found := re.fullmatch(r'([a-z_]\w*)=(?:"([\w-]+)"|[^"=]*)', span):
        keyword, value = found.groups()
        takers = _takers().get(keyword, ())
        assert takers, f"nothing takes {keyword}="
        if value and all(inspect.isclass(t) and issubclass(t, BaseEstimator) for t in takers):
            assert any(_accepts(taker, keyword, value) for taker in takers), span


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_keywords_and_their_values_exist(path):
    for span in spans(path.read_text(encoding="utf-8")):
        check_span(span)


def test_wrong_keywords_and_values_are_seen():
    for span in ('LaplacianClassifier(rules="auto")', 'LaplacianClassifier(rule="angle")'):
        with pytest.raises(AssertionError):
            check_span(span)
    for span in ("bandwith=0.7", 'weighting="angle"'):
        with pytest.raises(AssertionError):
            check_span(span)
