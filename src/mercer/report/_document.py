"""Templates become text, and a text becomes a file that is there whole or not at all."""

import os
import tempfile
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from mercer.report._links import linked
from mercer.report._numbers import duration

__all__ = ["render_template", "write_whole"]


def render_template(name: str, **content: object) -> str:
    """Fill a template; everything that is not markup already is escaped."""
    environment = Environment(
        loader=PackageLoader("mercer.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(linked=linked, duration=duration)
    return environment.get_template(name).render(**content)


def write_whole(path: Path, text: str) -> Path:
    """Write a text beside its place and move it there."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path
