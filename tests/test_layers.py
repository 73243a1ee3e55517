"""The import table of the design (docs/architecture.md): who may import whom."""

import ast
import re
from pathlib import Path

import pytest

import mercer

ROOT = Path(mercer.__file__).parent

# Data flow down this table; a package imports only those in its row, and what is open to all.
_OPEN = {"_arrays", "_linalg", "_memory", "_sklearn", "_system"}
_ENGINE = {"kernels", "samples", "sums", "bandwidth", "information", "graphs", "spectral"}
_ESTIMATORS = {"classifiers", "discriminants", "projections"}
_ALL_ABOVE = _ENGINE | _ESTIMATORS | {"density", "comparison", "datasets", "tables", "plots"}
MAY_IMPORT: dict[str, set[str]] = {
    **{name: set() for name in _OPEN},
    "kernels": set(),
    "samples": set(),
    "sums": {"kernels", "samples"},
    "bandwidth": {"kernels", "samples", "sums"},
    "information": {"kernels", "samples", "sums", "bandwidth"},
    "graphs": {"kernels", "samples", "sums"},
    "spectral": {"samples"},
    "density": {"kernels", "samples", "sums", "bandwidth"},
    "classifiers": _ENGINE,
    "discriminants": _ENGINE,
    "projections": _ENGINE,
    "comparison": set(),
    "datasets": set(),
    "tables": set(),
    "explanations": {"kernels", "samples", "sums", "tables"},
    "models": {"samples", "spectral", "tables", *_ESTIMATORS},
    "views": {
        "spectral",
        "information",
        "comparison",
        "tables",
        "density",
        "discriminants",
        "projections",
        "explanations",
    },
    "checks": {"comparison", "tables"},
    "plots": set(),
    "studies": _ALL_ABOVE,
    "report": {"comparison", "studies", "views", "explanations"},
    "cli": _ALL_ABOVE | {"explanations", "models", "views", "checks", "studies", "report"},
    "__main__": {"cli"},
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
        parts = path.relative_to(ROOT).parts
        assert path.name.startswith("_") or parts[0].startswith("_"), f"{path} is public"


def test_no_package_imports_a_private_module_of_another():
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(
                "mercer."
            ):
                continue
            _, package, *modules = node.module.split(".")
            inside = [m for m in modules if m.startswith("_")] + (
                [a.name for a in node.names if a.name.startswith("_")]
            )
            assert package == _package(path) or not inside, f"{path} imports {node.module}"


def test_only_samples_and_sums_know_dask():
    for path in FILES:
        if _package(path) not in ("samples", "sums", "_system"):
            text = path.read_text(encoding="utf-8")
            assert "is_dask_array" not in text, path
            assert "is_in_blocks" not in text, path
            assert not re.search(r"^\s*(import|from) dask\b", text, re.MULTILINE), path
