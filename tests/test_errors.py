"""Errors are whole sentences: a capital letter or a name at the beginning, a full stop at the end.

In packages that are not listed here, some errors are parts of a longer sentence, which is put
together where they are caught.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

import mercer

ROOT = Path(mercer.__file__).parent
PACKAGES = (
    "bandwidth", "classifiers", "cli", "density", "discriminants", "graphs", "information",
    "kernels", "plots", "report", "samples", "spectral", "sums",
)  # fmt: skip
_PLACE = "\0"  # stands for a part that is filled in: a name, a number, a path


def _message(node):
    """The text of a literal, with a mark for each part that is filled in; None for others."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(p.value if isinstance(p, ast.Constant) else _PLACE for p in node.values)
    return None


def _messages(package):
    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                text = _message(node.exc.args[0])
                if text is not None:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", text


@cache
def _names():
    """The names of all functions and of their parameters."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    parameters = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return parameters | {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def _begins_well(text):
    """Whether it begins with a capital letter, something filled in, an option or a known name."""
    word = text.split(maxsplit=1)[0]
    name = word.split("=")[0].split("[")[0].rstrip(":,;")
    return word[0].isupper() or word[0] == _PLACE or word.startswith("--") or name in _names()


def _ends_well(text):
    return text.endswith((".", "?", _PLACE))


@pytest.mark.parametrize("package", PACKAGES)
def test_errors_are_sentences(package):
    found = list(_messages(package))
    assert found
    assert [one for one in found if not (_begins_well(one[1]) and _ends_well(one[1]))] == []
