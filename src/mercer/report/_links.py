"""Text with its addresses made into links."""

import re

from markupsafe import Markup, escape

from mercer.report._svg import element

__all__ = ["anchor", "linked"]

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
