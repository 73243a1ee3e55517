"""Templates become text, addresses links, and a text a file that is there whole or not at all."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from mercer._system.files import sweep, written_whole
from mercer._system.words import duration, grouped, p_number, p_remark, p_value, percent, size
from mercer.report.charts._svg import element


def render_template(name: str, **content: object) -> str:
    """Fill a template; in one of HTML, everything that is not markup already is escaped."""
    return _environment().get_template(name).render(**content)


@cache
def _environment() -> Environment:
    """Return the environment of the templates; kept, because it compiles each of them once."""
    environment = Environment(
        loader=PackageLoader("mercer.report"),
        autoescape=select_autoescape((), ("md",), default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        digest=_digest,
        linked=linked,
        page_count=page_count,
        duration=duration,
        percent=percent,
        p_number=p_number,
        p_remark=p_remark,
        p_value=p_value,
        size=size,
    )
    return environment


def _digest(script: str) -> str:
    """Return the digest by which the page's security policy allows this script and no other."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"


def page_count(number: float | None) -> str:
    """Write a whole number with narrow spaces between thousands, at which no line breaks."""
    return grouped(number).replace(" ", "\u202f")


def write_whole(path: Path, text: str) -> Path:
    """Write a text to a temporary file and move it to its place, so that it appears whole."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} to.")
    sweep(path.parent, path.name)
    with written_whole(path) as beside:
        beside.write_text(text, encoding="utf-8", errors="replace")  # lone surrogates become "?"
    return path


_ADDRESS = re.compile(
    r"https?://[^\s<>\"]+[^\s<>\".,;)]|\bdoi:\s?(10\.\d+/[^\s<>\",;]*[^\s<>\",;.)])"
)


def linked(text: str) -> Markup:
    """Escape a text and turn its web addresses and DOIs into links."""
    parts = []
    end = 0
    for match in _ADDRESS.finditer(text):
        parts.append(escape(text[end : match.start()]))
        address = f"https://doi.org/{match[1]}" if match[1] else match[0]
        parts.append(element("a", match[0], href=address, rel="noopener"))
        end = match.end()
    return Markup().join([*parts, escape(text[end:])])


def anchor(name: str) -> str:
    """Return a name as lower-case letters, digits and dashes, to be part of an id."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
