"""Every Python block of the pages runs, page by page, and keeps what its comments promise.

The blocks of a page share one namespace, which begins with the names that the page takes as given,
and run in a folder with the files that pages speak of.
"""

import ast
import inspect
import os
import re
import tokenize
from functools import partial
from importlib.util import find_spec
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import mercer.sums
from pages.reading import PAGES, Block, blocks, blocks_as_read, blocks_of
from pages.stand_ins import write_files

PYTHON = [path for path in PAGES if any(block.language == "python" for block in blocks(path))]
SIGNATURES = [block for block in blocks_of("python") if "signature" in block.markers]


def _missing(need):
    """Return why a block can not run here, or None."""
    if need == "data":
        return None if os.environ.get("MERCER_DATA") else "MERCER_DATA names no folder of data sets"
    return None if find_spec(need) else f"{need} is not installed"


@pytest.fixture
def given(tmp_path, monkeypatch):
    """Return names that pages speak of without making them; enter a folder with their files."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # blocks set it, and it must not stay
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X, new = rng.normal(size=(90, 2)) + 3 * y[:, None], rng.normal(size=(60, 2))
    np.savez("name.npz", X=X, y=y)
    return {
        "X": X, "y": y, "Y": new, "X_new": new, "new": new, "estimator": GaussianNB(),
        "X_train": X[::2], "y_train": y[::2], "X_test": X[1::2], "y_test": y[1::2],
    }  # fmt: skip


@pytest.fixture
def tensors(given):
    """The same rows as tensors, where there is torch."""
    if find_spec("torch"):
        import torch

        names = {"X_tensor": "X", "y_tensor": "y", "new_tensor": "new"}
        given |= {name: torch.asarray(given[array]) for name, array in names.items()}


@pytest.fixture
def cluster(given, monkeypatch):
    """A scheduler and tables at the addresses of cluster.md, without either."""
    pytest.importorskip("distributed", reason="dask is not installed")
    import dask.array as da

    tables = {"rows.zarr": da.asarray(given["X"]), "labels.zarr": da.asarray(given["y"])}
    given["X_new"] = da.asarray(given["X_new"])
    monkeypatch.setattr("dask.distributed.Client", lambda address: None)
    monkeypatch.setattr("dask.array.from_zarr", tables.__getitem__)
    monkeypatch.setattr("dask.array.Array.to_zarr", lambda self, name: self.compute())


@pytest.fixture
def long_table(given):
    """Rows enough for sums.md to show a sum in linear time."""
    given["X"], given["Y"] = np.random.default_rng(0).normal(size=(2, 40_000, 2))


SETTINGS = {
    "classifiers.md": "tensors",
    "cluster.md": "cluster",
    "discriminants.md": "tensors",
    "sums.md": "long_table",
}

# How a comment behind a statement begins, and what it promises of the value.
PROMISES = (
    (r"\(\d+, \d*\)", lambda value, words: value.shape == ast.literal_eval(words)),
    (r"<\w+ [^>]*>", lambda value, words: repr(value) == words),
    (r"a tensor\b", lambda value, words: type(value).__name__ == "Tensor"),
    (r"a lazy Dask array\b", lambda value, words: type(value).__module__ == "dask.array.core"),
    (r"a pandas table\b", lambda value, words: isinstance(value, pd.DataFrame)),
)


class _Watch(ast.NodeTransformer):
    """Has statements with a promise behind them hand over their value."""

    def __init__(self, code):
        tokens = tokenize.generate_tokens(StringIO(code).readline)
        self.comments = {
            token.start[0]: token.string.lstrip("# ")
            for token in tokens
            if token.type == tokenize.COMMENT
        }

    def _promise(self, node, value):
        comment = self.comments.get(node.end_lineno, "")
        for number, (pattern, _) in enumerate(PROMISES):
            if words := re.match(pattern, comment):
                arguments = [value, ast.Constant(number), ast.Constant(words[0])]
                return ast.Expr(ast.Call(ast.Name("_promised", ast.Load()), arguments, []))
        return None

    def visit_Expr(self, node):
        return self._promise(node, node.value) or node

    def visit_Assign(self, node):
        promise = self._promise(node, ast.parse(ast.unparse(node.targets[0])).body[0].value)
        return [node, promise] if promise else node


def _promised(value, number, words, kept):
    assert PROMISES[number][1](value, words), f"{words} is promised, {value!r} came"
    kept.append(words)


def _device():
    if not find_spec("torch"):
        return "cuda"
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def run_block(block, names):
    """Run a block with names; return the promises that were kept."""
    kept = []
    names["_promised"] = partial(_promised, kept=kept)
    code = block.text.replace('"cuda"', f'"{_device()}"')
    tree = ast.fix_missing_locations(_Watch(code).visit(ast.parse(code)))
    try:
        exec(compile(tree, str(block), "exec"), names)  # noqa: S102
    except Exception as error:
        error.add_note(f"in the block at {block}")
        raise
    return kept


def without_numbers(text):
    """Return a text with its numbers taken out, for what differs from machine to machine."""
    return re.sub(r"[+-]?\d[\d,.]*(?:e[+-]?\d+)?", "#", text)


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: path.name)
def test_blocks_run(path, given, long, request, capsys):
    if path.name in SETTINGS:
        request.getfixturevalue(SETTINGS[path.name])
    printed, left = "", []
    for block in blocks_as_read(path):
        if block.path != path and not long:
            continue  # It runs on the page that it stands on.
        if "output" in block.markers and printed:
            assert without_numbers(printed) == without_numbers(block.text), str(block)
        if block.language != "python" or "signature" in block.markers:
            continue
        reason = _missing(need) if (need := block.markers.get("needs")) else None
        if "long" in block.markers and not long:
            reason = f"{block.markers['long']}: make pages"
        if reason:
            left.append(f"line {block.line}: {reason}")
        else:
            run_block(block, given)
        printed = capsys.readouterr().out
    if left:
        pytest.skip("; ".join(left))


@pytest.mark.parametrize("block", SIGNATURES, ids=str)
def test_signatures_are_as_shown(block):
    name, rest = re.match(r"(\w+)(\(.*\))\n$", block.text, re.S).groups()
    shown = {}
    exec(f"def shown{rest}: ...", shown)  # noqa: S102
    real = inspect.signature(getattr(mercer.sums, name))
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in real.parameters.values()]
    assert list(inspect.signature(shown["shown"]).parameters.values()) == plain


def _block(code):
    return Block(PYTHON[0], 1, "python", code, {})


def test_promises_of_comments_are_kept_or_seen_to_be_broken():
    names = {"X": np.zeros((3, 2))}
    assert run_block(_block("X          # (3, 2): a comment\nY = X.T  # (2, 3)\n"), names) == [
        "(3, 2)",
        "(2, 3)",
    ]
    for code in ("X  # (2, 3)\n", "Y = X  # (3, 1)\n", "X  # <Dataset iris>\n", "X  # a tensor\n"):
        with pytest.raises(AssertionError, match="is promised"):
            run_block(_block(code), names)
    with pytest.raises(NameError) as caught:
        run_block(_block("nobody\n"), names)
    assert "in the block at" in caught.value.__notes__[0]
