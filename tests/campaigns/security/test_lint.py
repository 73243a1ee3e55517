"""What reads files never runs them: names that must not occur in the source, held by its syntax.

Ruff's rules S (bandit) are on for the source and find most of these by themselves; this test adds
what they do not know, and sees that nobody switches them off by a comment.
"""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import mercer

ROOT = Path(mercer.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# Names that are never called, whatever module they come from.
CALLS = {
    "eval", "exec", "compile", "__import__", "execfile", "system", "popen", "spawn",
    "read_pickle", "unpickle", "import_string", "literal_eval", "fromstring_unsafe", "extractall",
    "mktemp", "render_template_string", "from_string", "run_path", "run_module", "input",
}  # fmt: skip
# Modules that are never imported.
MODULES = {
    "pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "yaml", "subprocess", "pty",
    "telnetlib", "ftplib", "urllib.request", "requests", "code", "runpy", "imp", "ctypes",
    "xml.sax", "xml.dom", "lxml",
}  # fmt: skip
# Of these, what loads.
LOADERS = {"joblib", "torch", "numba", "cupy", "pickle", "marshal"}
# Where a rule does not hold, and why.
ALLOWED = {
    ("studies/_catalogue.py", "exec_module"): "a study is a Python file that the user names",
    ("comparison/engine/_fit.py", "pickle"): "the size of a fitted model: written, never read",
    (
        "sums/cpu/_compile.py",
        "pickle",
    ): "compiled code of the user's own cache, trusted as programs are",
    ("sums/cpu/_compile.py", "pickle.loads"): "the same, as Numba does by itself",
    ("models/_from_file.py", "exec"): "a Python file that the user names with --models",
    ("models/_from_file.py", "compile"): "the same",
    ("comparison/engine/_checkpoint.py", "marshal"): "a function's code for a digest, never read",
    ("_system/workers.py", "pickle"): "the error of what cannot be sent to a process, to catch it",
}
NOQA = {
    "S101": "a type checker's assert",
    "S102": "models/_from_file.py runs a Python file that the user names, as Python would",
    "S704": "report/charts/_svg.py escapes all parts itself",
    "S301": "sums/cpu/_compile.py reads compiled code, which is trusted as programs are",
    "S314": "report/charts/_figures.py reads markup that it made itself",
}


def findings(text):
    """Return what is wrong with a source, as words."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [one.name for one in node.names if _is_banned(one.name)]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
            found += [name for name in names[:1] if _is_banned(name)]
            found += [name for name in names[1:] if name in MODULES and not _is_banned(names[0])]
            if node.module.split(".")[0] in LOADERS:
                found += [f"{node.module}.load" for one in node.names if one.name == "load"]
            if node.module == "os":
                found += [one.name for one in node.names if one.name in CALLS]
        elif isinstance(node, ast.Call):
            found += _of_call(node)
    return found


def _is_banned(name):
    return any(name == one or name.startswith(one + ".") for one in MODULES)


def _of_call(node):
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    owner = getattr(getattr(function, "value", None), "id", "")
    if name in CALLS and (owner, name) not in (("re", "compile"), ("platform", "system")):
        yield name
    if name == "exec_module":
        yield name
    if name in ("load", "loads") and owner in LOADERS:
        yield f"{owner}.{name}"
    for option in node.keywords:
        is_false = isinstance(option.value, ast.Constant) and option.value.value is False
        if option.arg == "shell" and not is_false:
            yield "shell="
        if option.arg == "allow_pickle" and not is_false:
            yield "allow_pickle="
        if option.arg == "autoescape" and is_false:
            yield "autoescape=False"
        if option.arg == "trusted" and isinstance(option.value, ast.Constant):
            yield "trusted="
    is_array_load = name == "load" and owner in ("np", "numpy")
    if is_array_load and "allow_pickle" not in [option.arg for option in node.keywords]:
        yield "np.load without allow_pickle=False"


def test_the_source_runs_nothing_that_it_reads():
    assert len(FILES) > 200
    found = {
        (path.relative_to(ROOT).as_posix(), word)
        for path in FILES
        for word in findings(path.read_text(encoding="utf-8"))
    }
    assert found == set(ALLOWED)


BAD = {
    "eval(text)": "eval",
    "builtins.exec(text)": "exec",
    "import pickle": "pickle",
    "pickle.loads(content)": "pickle.loads",
    "from pickle import loads": "pickle",
    "import xml.dom.minidom": "xml.dom.minidom",
    "from urllib import request": "urllib.request",
    "from os import system": "system",
    "os.system(text)": "system",
    "run(text, shell=True)": "shell=",
    "run(text, shell=flag)": "shell=",
    "np.load(path, allow_pickle=True)": "allow_pickle=",
    "np.load(path)": "np.load without allow_pickle=False",
    "torch.load(path)": "torch.load",
    "from joblib import load": "joblib.load",
    "joblib.load(path)": "joblib.load",
    "pd.read_pickle(path)": "read_pickle",
    "archive.extractall(folder)": "extractall",
    "Environment(autoescape=False)": "autoescape=False",
    "environment.from_string(text)": "from_string",
    "skops.io.load(path, trusted=True)": "trusted=",
    "spec.loader.exec_module(module)": "exec_module",
    "tempfile.mktemp()": "mktemp",
    "compile(text, '', 'exec')": "compile",
}
GOOD = [
    "re.compile(text)", "np.load(path, allow_pickle=False)", "json.loads(text)", "model.load(x)",
    "import numpy.lib.format", "run(text, shell=False)", "Environment(autoescape=True)",
    "skops.io.loads(data, trusted=list(TRUSTED))", "from urllib import parse",
]  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_the_rules_find_what_is_bad(text):
    assert BAD[text] in findings(text)


@pytest.mark.parametrize("text", GOOD)
def test_the_rules_let_pass_what_is_good(text):
    assert findings(text) == []


def test_the_rules_of_ruff_are_on_and_nobody_silences_them():
    project = ROOT.parents[1] / "pyproject.toml"
    if not project.is_file():
        pytest.skip("this is an installed package, without its project file")
    rules = tomllib.loads(project.read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    assert "S" in rules["select"]
    assert not [rule for rule in rules["ignore"] if rule.startswith("S")]
    assert not [place for place in rules["per-file-ignores"] if place.startswith("src")]
    for path in FILES:
        for codes in re.findall(r"# noqa: ?([A-Z0-9, ]+)", path.read_text(encoding="utf-8")):
            silenced = {code for code in codes.replace(" ", "").split(",") if code[:1] == "S"}
            unknown = {code for code in silenced if not code.startswith("SIM")} - set(NOQA)
            assert not unknown, f"{path} silences {unknown}"
        text = path.read_text(encoding="utf-8")
        assert "# noqa\n" not in text
        assert "ruff: noqa" not in text


def test_templates_trust_no_text():
    """The filter "safe" is for our own words alone, and no attribute runs anything."""
    for path in sorted((ROOT / "report" / "templates").iterdir()):
        text = path.read_text(encoding="utf-8")
        for part in re.findall(r"[^\n]*\|\s*safe\b[^\n]*", text):
            assert re.search(r"'[^'{]*'\|safe", part), f"{path}: {part}"
        assert "autoescape false" not in text
        assert not re.search(
            r"\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval)\b", text
        )
        if path.suffix == ".html":
            assert not re.search(r"<[^>]*\s(on\w+|srcdoc)\s*=", text)
            assert not re.search(r"<(script|link|img|iframe)[^>]*(src|href)=\"(?!data:)", text)
            for quoted in re.findall(r"\s[\w-]+=\{\{", text):
                raise AssertionError(f"{path}: an attribute without quotation marks: {quoted}")
