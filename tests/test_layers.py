"""The import table of the design (docs/architecture.md): who may import whom."""

import ast
from pathlib import Path

import pytest

import mercer

ROOT = Path(mercer.__file__).parent

# Data flow down this table; a package imports only those in its row, and what is open to all.
_OPEN = {
    "_arrays", "_blocks", "_cluster", "_dask", "_dask_estimators", "_environment", "_extras",
    "_files", "_formulas",
    "_linalg", "_memory", "_npy", "_processes", "_rows", "_scales", "_sklearn", "_weights",
}  # fmt: skip
_ENGINE = {"kernels", "sums", "bandwidth", "information", "graphs", "spectral"}
_ESTIMATORS = {"classifiers", "discriminants", "projections"}
_ALL_ABOVE = _ENGINE | _ESTIMATORS | {"comparison", "datasets", "tables", "plots"}
MAY_IMPORT: dict[str, set[str]] = {
    **{name: set() for name in _OPEN},
    "kernels": set(),
    "sums": {"kernels"},
    "bandwidth": {"kernels", "sums"},
    "information": {"kernels", "sums", "bandwidth"},
    "graphs": {"kernels", "sums"},
    "spectral": set(),
    "classifiers": _ENGINE,
    "discriminants": _ENGINE,
    "projections": _ENGINE,
    "comparison": set(),
    "datasets": set(),
    "tables": set(),
    "models": {"spectral", "information", "tables"} | _ESTIMATORS,
    "plots": set(),
    "studies": _ALL_ABOVE,
    "report": {"comparison"},
    "cli": _ALL_ABOVE | {"models", "studies", "report"},
}


def _imports(path: Path) -> set[str]:
    """Mercer packages that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    inside = (name.split(".") for name in found if name.split(".")[0] == "mercer")
    return {parts[1] for parts in inside if len(parts) > 1}


def _package(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_table(path):
    package = _package(path)
    assert package in MAY_IMPORT, f"{package} is not in the table of docs/architecture.md"
    allowed = MAY_IMPORT[package] | {package, "__version__"} | _OPEN
    assert _imports(path) <= allowed


def test_only_one_door_to_private_names_of_scikit_learn():
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
                names = [*node.module.split("."), *(alias.name for alias in node.names)]
                private = [name for name in names if name.startswith("_")]
                assert not private or path.name == "_sklearn.py", f"{path} imports {private}"


def test_modules_are_private():
    for path in FILES:
        assert path.name.startswith("_"), f"{path} is public: every module is private"
