"""Things of the code that no package exports, by their names and without their files."""

import importlib

from mutants.places import find_file
from pages.reading import ROOT


def private(name, beside=None):
    """Return "package.name" from wherever the package defines it; see `find_file` for beside."""
    path = find_file(name, beside).relative_to(ROOT / "src").with_suffix("")
    module = importlib.import_module(".".join(path.parts).removesuffix(".__init__"))
    return getattr(module, name.partition(".")[2])
