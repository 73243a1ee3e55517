"""Which code a job runs: a digest of a function and of all that it reaches in a few files."""

import ast
import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

# Names that are imported from here are followed to their files: experiments share their parts.
_FOLLOWED = "mercer.studies.experiments."


@cache
def code_digest(function: Callable[..., Any]) -> str:
    """Return a digest that changes when what the function computes may change.

    It covers the function and every function, class and constant that it names, directly or
    through others, in its own file and in those of :mod:`mercer.studies.experiments`; comments,
    layout and docstrings do not count.  Other files are covered by the version of the package.
    """
    module = inspect.getmodule(function)
    source = inspect.getsource(module) if module else inspect.getsource(function)
    files = {"": _File.of(source)}  # The name of a user's file need not be one to import.
    reached: dict[tuple[str, str], list[str]] = {}
    waiting = [("", function.__name__)]
    while waiting:
        place, name = waiting.pop()
        file = files[place]
        if name in file.imported:
            place, name = file.imported[name]
            if place not in files:
                files[place] = _File.of(inspect.getsource(import_module(place)))
            waiting.append((place, name))
        elif (place, name) not in reached and name in file.parts:
            statements = file.parts[name]
            named = [node.id for one in statements for node in ast.walk(one)
                     if isinstance(node, ast.Name)]  # fmt: skip
            waiting += [(place, one) for one in named]
            reached[place, name] = [_text(one) for one in statements]
    text = [one for key in sorted(reached) for one in reached[key]]
    return hashlib.sha256("\n".join(text).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class _File:
    """The statements that bind each name of a file, and from where others are imported."""

    parts: dict[str, list[ast.stmt]]
    imported: dict[str, tuple[str, str]]

    @classmethod
    def of(cls, source: str) -> "_File":
        """Read a source."""
        found = cls({}, {})
        for statement in ast.parse(source).body:
            for name in _defines(statement):
                found.parts.setdefault(name, []).append(statement)
            if isinstance(statement, ast.ImportFrom):
                place = statement.module or ""
                names = statement.names if place.startswith(_FOLLOWED) else []
                found.imported.update({n.asname or n.name: (place, n.name) for n in names})
        return found


def _defines(statement: ast.stmt) -> list[str]:
    """Return the names that a statement at the top of a file binds, imports aside."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        return [node.id for target in statement.targets for node in ast.walk(target)
                if isinstance(node, ast.Name)]  # fmt: skip
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    return []


def _text(statement: ast.stmt) -> str:
    """Return the statement without docstrings and places."""
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            node.body = node.body[1:]
    return ast.dump(statement)
