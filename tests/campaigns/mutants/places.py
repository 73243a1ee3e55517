"""Where a name of the code is defined, and where in its definition a fragment of code stands.

Names are written ``package.name`` or ``package.Class.method``; the package of the files that are in
no package is ``mercer``.  A file may move within its package: what asks for a name still finds it.
"""

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path

ROOT = Path(__file__).parents[3]
_SOURCES = ROOT / "src" / "mercer"
_LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


def find_file(name: str, beside: str | None = None, sources: Path = _SOURCES) -> Path:
    """Return the one file of a package that defines a name.

    Parameters
    ----------
    name : str
        The package and what its file calls the thing: "sums.arrange_columns".
    beside : str or None
        Another name that the file defines, where several files of the package define the first.
    sources : Path
        The folder of the packages.
    """
    package, _, local = name.partition(".")
    wanted = [local] if beside is None else [local, beside]
    texts = {file: file.read_text(encoding="utf-8") for file in _files(sources, package)}
    found = [file for file in texts if all(definitions(texts[file], one) for one in wanted)]
    if len(found) != 1:
        where = ", ".join(file.relative_to(sources).as_posix() for file in found) or "no file"
        raise ValueError(
            f"{package} must define {' beside '.join(wanted)} in one file, and does in {where}."
        )
    return found[0]


def _files(sources: Path, package: str) -> list[Path]:
    """Return the files of a package, or those that are in none."""
    if package != "mercer":
        return sorted((sources / package).rglob("*.py"))
    private = (folder for folder in sources.glob("_*") if folder.is_dir())
    return sorted([*sources.glob("*.py"), *(f for one in private for f in one.rglob("*.py"))])


def definitions(text: str, name: str) -> list[range]:
    """Return the lines of each definition of a name, of ``Class.method`` too, in a source text."""
    return _definitions(text).get(name, []) if name.rpartition(".")[2] in text else []


@cache
def _definitions(text: str) -> dict[str, list[range]]:
    found: dict[str, list[range]] = {}
    for name, node in _named(ast.parse(text).body, ""):
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        found.setdefault(name, []).append(range(first, node.end_lineno + 1))
    return found


def _named(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.stmt]]:
    """Yield what a body defines, also under a condition, and what its classes define."""
    for node in body:
        match node:
            case ast.FunctionDef(name=name):
                if not any(ast.unparse(one).endswith("overload") for one in node.decorator_list):
                    yield prefix + name, node
            case ast.ClassDef(name=name):
                yield prefix + name, node
                yield from _named(node.body, f"{prefix}{name}.")
            case ast.Assign(targets=targets):
                for one in targets:
                    yield from ((prefix + name, node) for name in _names(one))
            case ast.AnnAssign(target=target):
                yield from ((prefix + name, node) for name in _names(target))
            case ast.If() | ast.Try():
                yield from _named([*node.body, *node.orelse], prefix)


def _names(target: ast.expr) -> list[str]:
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return [part.id for part in parts if isinstance(part, ast.Name)]


def replace(text: str, name: str, old: str, new: str) -> str:
    """Return a source text in which a fragment of the definition of a name is another one.

    Fragments are compared token by token: blanks, line breaks, comments and the comma before a
    bracket that closes do not count.
    """
    places = definitions(text, name)
    if len(places) != 1:
        raise ValueError(f"{name} is defined {len(places)} times.")
    inside = [token for token in _tokens(text) if token.start[0] in places[0]]
    words, wanted = [token.string for token in inside], [token.string for token in _tokens(old)]
    starts = [k for k in range(len(words)) if words[k : k + len(wanted)] == wanted]
    if len(starts) != 1:
        raise ValueError(f"{name} has the fragment {old!r} {len(starts)} times.")
    first, last = inside[starts[0]], inside[starts[0] + len(wanted) - 1]
    lines = list(accumulate(map(len, io.StringIO(text)), initial=0))
    start, stop = (lines[row - 1] + column for row, column in (first.start, last.end))
    changed = text[:start] + new + text[stop:]
    if ast.dump(ast.parse(changed)) == _dump(text):
        raise ValueError(f"{name} is the same with {new!r} for {old!r}.")
    return changed


@cache
def _dump(text: str) -> str:
    return ast.dump(ast.parse(text))


@cache
def _tokens(text: str) -> list[tokenize.TokenInfo]:
    """Return the tokens of a text that are code, without commas before a closing bracket."""
    every = tokenize.generate_tokens(io.StringIO(text).readline)
    code = [token for token in every if token.type not in _LAYOUT]
    following = [*(token.string for token in code[1:]), ""]
    pairs = zip(code, following, strict=True)
    return [one for one, after in pairs if one.string != "," or after not in (")", "]", "}")]
