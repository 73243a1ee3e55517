"""Templates become text, addresses links, and a text a file that is there whole or not at all."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from mercer._system.files import sweep, written_whole
from mercer._system.words import duration, grouped, p_number, p_value, percent
from mercer.report.charts._svg import element

__all__ = ["anchor", "linked", "page_count", "render_template", "write_whole"]


def render_template(name: str, **content: object) -> str:
    """Fill a template; everything that is not markup already is escaped."""
    return _environment().get_template(name).render(**content)


@cache
def _environment() -> Environment:
    """Return the place of the templates; kept, as each is compiled when it is first filled."""
    environment = Environment(
        loader=PackageLoader("mercer.report"),
        autoescape=True,
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
        p_value=p_value,
    )
    return environment


def _digest(script: str) -> str:
    """Name a script as a page's policy does, which lets no other run."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"


def page_count(number: float) -> str:
    """Write a whole number with narrow spaces between thousands, at which no line breaks."""
    return grouped(number).replace(" ", "\u202f")


def write_whole(path: Path, text: str) -> Path:
    """Write a text beside its place and move it there."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
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
    """Return a name as part of an id."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
