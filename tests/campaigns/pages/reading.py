"""Pages as a reader sees them: fenced blocks with their markers, sections, commands.

A marker is an HTML comment on the lines right above a block, ``<!-- key: value -->``;
CONTRIBUTING.md lists the keys.
"""

import re
import shlex
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
NAMES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = sorted(
    path
    for path in [*(ROOT / "docs").glob("*.md"), *(ROOT / name for name in NAMES)]
    if path.exists()
)
_FENCE = re.compile(r"^```(.*)$")
_MARKER = re.compile(r"^<!-- (\w[\w ]*?)(?:: (.*?))? -->$")
_HEADING = re.compile(r"^(#+) (.+)$")


def page_id(value):
    """Return the name of a page, for pytest's identifiers."""
    return value.name if isinstance(value, Path) else None


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, its language, its text and the markers above it."""

    path: Path
    line: int
    language: str
    text: str
    markers: dict = field(hash=False)

    def __str__(self):
        return f"{self.path.name}:{self.line}"


@cache
def blocks(path):
    """Return the fenced blocks of a page, in order."""
    found, markers, open_at, language, lines = [], {}, None, "", []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if open_at is not None:
            if line == "```":
                text = "".join(f"{part}\n" for part in lines)
                found.append(Block(path, open_at, language, text, markers))
                open_at, markers, lines = None, {}, []
            else:
                lines.append(line)
        elif fence := _FENCE.match(line):
            open_at, language = number, fence[1]
        elif marker := _MARKER.match(line):
            markers = {**markers, marker[1]: marker[2] or ""}
        else:
            markers = {}
    assert open_at is None, f"{path.name}:{open_at}: the block has no end"
    return tuple(found)


@cache
def included(block):
    """Return the part of another file that a block includes in its page, as (path, text)."""
    path = (block.path.parent / block.language.removeprefix("{include} ")).resolve()
    text = path.read_text(encoding="utf-8")
    marks = re.findall(r'^:(?:start-after|end-before): "(.*)"$', block.text, re.M)
    assert [text.count(mark) for mark in marks] == [1, 1], f"{block}: each marker once"
    part = text.partition(marks[0])[2].partition(marks[1])[0]
    assert part.strip(), f"{block} includes nothing"
    return path, part


def blocks_as_read(path):
    """Return the blocks of a page in order, with those of the parts that it includes."""
    found = []
    for block in blocks(path):
        if block.language.startswith("{include}"):
            source, part = included(block)
            found += [inner for inner in blocks(source) if inner.text in part]
        else:
            found.append(block)
    return found


def blocks_of(language):
    """Return the blocks of all pages in a language."""
    return [block for path in PAGES for block in blocks(path) if block.language == language]


@dataclass(frozen=True)
class Section:
    """A heading, and the text down to the next one."""

    title: str
    level: int
    text: str
    parents: tuple


@cache
def sections(path):
    """Return the sections of a page, each with those that it stands in."""
    found, stack, title, level, lines, fenced = [], [], path.name, 0, [], False

    def close():
        section = Section(title, level, "\n".join(lines), tuple(stack))
        found.append(section)
        return section

    for line in path.read_text(encoding="utf-8").splitlines():
        fenced ^= line.startswith("```")
        if (heading := _HEADING.match(line)) and not fenced:
            stack.append(close())
            title, level, lines = heading[2], len(heading[1]), []
            stack = [section for section in stack if section.level < level]
        else:
            lines.append(line)
    close()
    return tuple(found)


def spans(text):
    """Return the inline code of a text."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose)


def typed(text):
    """Return what a text would have one type: lines of shell blocks, markers, inline code."""
    shell = re.findall(r"^```bash\n(.*?)^```$", text, re.M | re.S)
    lines = [line for block in shell for line in block.splitlines()]
    return [*lines, *re.findall(r"<!-- printed by: (.*?) -->", text), *spans(text)]


def script_calls(text):
    """Yield (script, arguments) for each script of this repository that a text calls."""
    for line in typed(text):
        pattern = r"(?:^|\s)python\s+((?:benchmarks|examples)/\w+\.py)((?:\s+[^\s#|&;]+)*)"
        for script, rest in re.findall(pattern, line):
            yield script, shlex.split(rest)
