"""The documentation holds together: pages, links, names, commands and files that it mentions.

Nothing here needs Sphinx; CONTRIBUTING.md has the command that builds the site.
"""

import importlib
import inspect
import re
import tomllib
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest
import typer

import mercer
from pages.private import private
from pages.reading import PAGES as PAGES_READ
from pages.reading import blocks, included, sections, spans
from test_public_api import PACKAGES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BUILT = ("_build", "auto_examples", "api/generated", "api/backreferences")  # by Sphinx
PAGES = sorted(
    name.removesuffix(path.suffix)
    for path in [*DOCS.rglob("*.md"), *DOCS.rglob("*.rst")]
    if not (name := path.relative_to(DOCS).as_posix()).startswith((*BUILT, "_templates"))
)
TOP = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
TEXTS = [*sorted(DOCS.glob("*.md")), *(ROOT / name for name in TOP)]


def _source(page):
    (path,) = [path for suffix in (".md", ".rst") if (path := DOCS / (page + suffix)).exists()]
    return path


def _without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


@cache
def _anchors(path):
    """Return the anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", _without_code(path.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


def _toctree(page):
    """Return the pages that a page's tables of contents name, patterns in full."""
    text, folder = _source(page).read_text(encoding="utf-8"), page.rpartition("/")[0]
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.M | re.S)
    blocks += re.findall(r"^\.\. toctree::\n((?:   .*\n|\n)*)", text, re.M)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    entries = [re.sub(r".*<(.*)>", r"\1", line) for line in lines if line and line[0] != ":"]
    for entry in entries:
        pattern = f"{folder}/{entry}" if folder else entry
        if pattern.startswith("auto_examples/"):
            continue
        found = [other for other in PAGES if fnmatch(other, pattern)]
        assert found, f"{page} has {entry!r} in its table of contents: there is no such page"
        yield from found


def test_every_page_is_in_a_table_of_contents():
    listed = [child for page in PAGES for child in _toctree(page)]
    assert sorted(listed) == sorted(set(PAGES) - {"index"}), "each once, the start page never"


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    text = _without_code(path.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(<?([^)>]+)>?\)", text):
        if re.match(r"https?:", target):
            continue
        name, _, anchor = target.partition("#")
        goal = (path.parent / name).resolve() if name else path
        assert goal.exists(), f"{path.name} links to {target}: there is no such file"
        if anchor:
            assert anchor in _anchors(goal), f"{path.name} links to {target}: no such heading"


INCLUDES = [
    block for path in PAGES_READ for block in blocks(path) if block.language.startswith("{include}")
]


@pytest.mark.parametrize("block", INCLUDES, ids=str)
def test_what_a_page_includes_is_there(block):
    """Sphinx says so too, but is not asked in every run."""
    path, part = included(block)
    links = re.findall(r"\]\(<?([^)>]+)>?\)", _without_code(part))
    prefix = re.search(r"^:relative-docs: (.*)$", block.text, re.M)
    for target in links:
        inside = prefix and target.startswith(prefix[1])
        assert inside or re.match(r"https?:", target), f"{path.name}: {target} leads nowhere there"


def test_what_is_included_stands_once():
    """The first command and the table of pages are written in README.md alone."""
    shown = [included(block)[1] for block in INCLUDES]
    assert len(shown) >= 3
    for path in PAGES_READ:
        text = path.read_text(encoding="utf-8")
        for part in shown:
            lines = [line for line in part.splitlines() if len(line) > 60]
            copies = [line for line in lines if line in text]
            assert not copies or path.name == "README.md", f"{path.name} repeats {copies[0]!r}"


def test_extras_are_installed_from_a_clone():
    """Mercer is in no package index: by its name alone, pip would not find it."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    sources = sorted((ROOT / "src").rglob("*.py"))
    for path in [*TEXTS, *sources, *(ROOT / "examples").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"pip install [^\n&`]*\bmercer\b", text), path.name
        for names in re.findall(r"""pip install [^\n]*?"\.\[([\w,]+)\]\"""", text):
            assert set(names.split(",")) <= extras.keys(), f"{path.name}: {names}"
        for name in re.findall(r"how_to_install\(['\"](\w+)['\"]\)", text):
            assert name in extras, f"{path.name}: {name}"


@cache
def _reference():
    """Return the full names that the API reference lists."""
    names = []
    for path in sorted((DOCS / "api").glob("*.rst")):
        module = directive = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"\.\. (\w+)::\s*(\S*)", line):
                directive = found[1]
                module = found[2] if directive == "currentmodule" else module
            elif directive == "autosummary" and re.fullmatch(r"   \w+", line):
                names.append(f"{module}.{line.strip()}")
    return names


def _public(package):
    names = importlib.import_module(package).__all__
    return {f"{package}.{name}" for name in names} - {"mercer.__version__"}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_in_the_reference(package):
    exported = {name.rpartition(".")[2] for name in _public("mercer")}  # listed as mercer.X
    wanted = {
        name if (short := name.rpartition(".")[2]) not in exported else f"mercer.{short}"
        for name in _public(package)
    }
    assert wanted <= set(_reference())


def test_the_reference_lists_public_names_once():
    assert set(_reference()) <= set().union(*map(_public, PACKAGES))
    assert len(_reference()) == len(set(_reference()))


def _docstrings(package):
    """Yield the docstrings of a package, of its public names and of their methods."""
    module = importlib.import_module(package)
    yield package, module
    for name in module.__all__:
        thing = getattr(module, name)
        yield name, thing
        for key, method in vars(thing).items() if inspect.isclass(thing) else ():
            if inspect.isfunction(method):
                yield f"{name}.{key}", method


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_have_no_substitutions(package):
    """What stands between bars is a substitution to Sphinx, which no page defines."""
    for name, thing in _docstrings(package):
        text = re.sub(r"\.\. math::.*?(?=\n\S|\Z)", "", inspect.getdoc(thing) or "", flags=re.S)
        text = re.sub(r"`[^`]*`", "", text)
        assert not re.findall(r"(?<![\w|\\])\|[^\s|](?:[^|\n]*[^\s|])?\|(?![\w|])", text), name


def _shell(text):
    """Return what a page would have one type: lines of shell blocks, and code spans."""
    blocks = re.findall(r"^```(?:bash|sh|console)\n(.*?)^```", text, re.M | re.S)
    return [
        *(line for block in blocks for line in block.splitlines()),
        *re.findall(r"`([^`\n]+)`", _without_code(text)),
    ]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_commands_exist_with_their_options(path):
    commands = typer.main.get_command(private("cli.app")).commands
    for line in _shell(path.read_text(encoding="utf-8")):
        for name, rest in re.findall(r"(?:^|[\s/])mercer ([a-z]\S*)([^#&|]*)", line):
            assert name in commands, f"{path.name} has `mercer {name}`: there is no such command"
            options = commands[name].params
            known = {text for one in options for text in (*one.opts, *one.secondary_opts)}
            used = set(re.findall(r"(?<=\s)--?[a-z][\w-]*", rest))
            assert used <= known | {"--help"}, f"{path.name}: `{line}`"


def test_the_version_to_cite_is_this_one():
    assert f"{{{mercer.__version__}}}" in (DOCS / "cite.md").read_text(encoding="utf-8")
    assert f"version: {mercer.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def _table_of_changes():
    (table,) = [
        section.text
        for section in sections(DOCS / "architecture.md")
        if section.title == "To change something"
    ]
    return table


def test_the_table_of_changes_names_what_its_files_have():
    """A name in front of ``in`` or ``of`` and a file is one that the file has."""
    found = re.findall(
        r"(?:`(\w+)`(?:,| and) )?`(\w+)` (?:in|of) `([\w/]+\.py)`", _table_of_changes()
    )
    assert len(found) > 15
    for *names, file in found:
        text = (ROOT / "src" / "mercer" / file).read_text(encoding="utf-8")
        for name in filter(None, names):
            assert re.search(rf"\b{name}\b", text), f"architecture.md seeks {name} in {file}"


def test_the_table_of_changes_names_files_that_exist():
    """It is what a newcomer begins with, and files move."""
    table = _table_of_changes()
    named = [span for span in spans(table) if re.search(r"/|\.(py|md|toml)$", span)]
    assert len(named) > 50
    outside = ("docs/", "tests/", "benchmarks/", "src/", "CONTRIBUTING")
    for name in named:
        folder = ROOT if name.startswith(outside) else ROOT / "src" / "mercer"
        assert (folder / name).exists(), f"architecture.md sends people to {name}"


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_files_exist(path):
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"(?<![:/])\b(?:src|tests|benchmarks|examples|docs)/[\w/.-]*\w/?", text):
        assert (ROOT / name).exists() or name.startswith("docs/_build"), f"{path.name}: {name}"
