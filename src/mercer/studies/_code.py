"""Which code a job runs: a digest of a function and of all in its file that it reaches."""

import ast
import hashlib
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def code_digest(function: Callable[..., Any]) -> str:
    """Return a digest that changes when what the function computes may change.

    It covers the function and every function, class and constant of its file that it names,
    directly or through others; comments, layout and docstrings do not count.  Other files are
    covered by the version of the package.
    """
    module = inspect.getmodule(function)
    tree = ast.parse(inspect.getsource(module) if module else inspect.getsource(function))
    parts: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in _defines(statement):
            parts.setdefault(name, []).append(statement)
    reached, waiting = set(), [function.__name__]
    while waiting:
        name = waiting.pop()
        if name in reached or name not in parts:
            continue
        reached.add(name)
        for statement in parts[name]:
            waiting += [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
    text = [_text(statement) for name in sorted(reached) for statement in parts[name]]
    return hashlib.sha256("\n".join(text).encode()).hexdigest()[:16]


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
