"""The documentation site: ``python -m sphinx -W -b html docs docs/_build/html``.

Guide pages are Markdown, readable on GitHub as they are.  The gallery runs the files of
``examples/``; one that needs data or a package that is not here is shown without its figures
(``-D plot_gallery=0`` runs none).  The reference comes from docstrings.
"""

import importlib.util
import os
import re
import sys
from pathlib import Path

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util.nodes import make_refnode

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "src"))
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")])
)  # for processes that an example starts

import mercer  # noqa: E402

project = "Mercer"
author = "The Mercer developers"
copyright = author  # noqa: A001
release = version = mercer.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "literal"
smartquotes = False  # "loo" must stay what one can type
extlinks = {"doi": ("https://doi.org/%s", "doi:%s")}

# Guide pages.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

# The reference.
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the class template lists them
numpydoc_xref_param_type = False

# What the theme shows.
html_theme = "pydata_sphinx_theme"
html_title = "Mercer"
html_static_path = ["_static"]
html_css_files = ["mercer.css"]
html_logo = "_static/mercer.svg"
html_favicon = "_static/mercer.svg"
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"
html_theme_options = {
    "logo": {"text": "Mercer"},
    "header_links_before_dropdown": 7,
    "navbar_persistent": [],
    "navbar_end": ["search-button", "theme-switcher"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    # Pages of the reference have none: their formulas need the width.
    "secondary_sidebar_items": {page: ["page-toc"] for page in ("*", "api/*", "auto_examples/*")},
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}
html_sidebars = {page: [] for page in ("index", "getting_started", "which_method")}

# The gallery.
_NEEDS_DATA = {"plot_faces", "plot_maps_newthyroid"}  # in the folder MERCER_DATA
_NEEDS_TORCH = {"plot_learn_projection"}


def _can_run(example: str) -> bool:
    if example in _NEEDS_DATA:
        return "MERCER_DATA" in os.environ
    if example in _NEEDS_TORCH:
        return importlib.util.find_spec("torch") is not None
    return True


_EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("plot_*.py"))
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": "|".join(rf"{name}\.py$" for name in _EXAMPLES if _can_run(name)),
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "backreferences_dir": "api/backreferences",
    "doc_module": ("mercer",),
    "default_thumb_file": str(HERE / "_static" / "thumbnail.png"),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "thumbnail_size": (400, 250),
}


def _mathml(node, **options):
    """Return MathML, of the spellings that docutils reads otherwise than TeX does, too."""
    tex = node.astext().replace(r"\dots", "…").replace("…", r"\ldots ")
    tex = re.sub(r"(\\[dt]?frac)\s*(\w)\s*(\w)", r"\1{\2}{\3}", tex)  # \frac12 is a half
    tex = re.sub(r"(\\(?:bar|hat|tilde) \w)", r"{\1{}}", tex)  # an index belongs beside the accent
    return tex2mathml(tex, **options)


def _write_math(self, node):
    """Write MathML, which browsers draw themselves: no script and nothing from elsewhere."""
    self.body.append(_mathml(node))
    raise SkipNode


def _write_displayed_math(self, node):
    self.body.append('<div class="formula">')
    self.body.append(_mathml(node, as_block=True))
    self.body.append("</div>\n")
    raise SkipNode


def _link_examples_to_gallery(app, docname, source):
    """Let a guide page's links to files of ``examples/`` lead to the gallery."""
    if not docname.startswith("auto_examples"):
        text = re.sub(r"(?<=\]\()\.\./examples/(\w+)\.py(?=\))", r"auto_examples/\1.rst", source[0])
        source[0] = re.sub(r"(?<=\]\()\.\./examples/?(?=\))", "auto_examples/index.rst", text)


def _skip_foreign_members(app, what, name, member, skip, options):
    """Leave out what scikit-learn and the standard library have brought to our classes."""
    if isinstance(member, property):
        member = member.fget
    module = getattr(member, "__module__", None) or ""
    if callable(member) and not module.startswith("mercer"):
        return True
    return None


def _tidy_docstring(app, what, name, obj, options, lines):
    """Join lines that end in a backslash; keep a_ in a shape from being read as a link."""
    text = re.sub(r"\\\n *", "", "\n".join(lines))
    text = re.sub(r"shape \([^)]*\)", lambda shape: re.sub(r"_\b", r"\\_", shape[0]), text)
    lines[:] = text.split("\n")


def _documented_as(app) -> dict[str, str]:
    """Return short name → full name of everything in the reference that has only one."""
    found: dict[str, set[str]] = {}
    for name, entry in app.env.domains["py"].objects.items():
        if not entry.aliased and entry.objtype in {"class", "function", "exception", "data"}:
            found.setdefault(name.rpartition(".")[2], set()).add(name)
    return {short: names.pop() for short, names in found.items() if len(names) == 1}


def _find_by_short_name(app, env, node, content):
    """Resolve ``mercer.classifiers.X``, ``mercer.X`` and plain ``X`` to where X is documented."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or ("." in target and not target.startswith("mercer.")):
        return None
    full = _documented_as(app).get(target.rpartition(".")[2])
    if full is None:
        return None
    entry = env.domains["py"].objects[full]
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, full)


def setup(app):
    """Connect the functions above."""
    app.add_html_math_renderer("mathml", (_write_math, None), (_write_displayed_math, None))
    app.connect("source-read", _link_examples_to_gallery)
    app.connect("autodoc-process-docstring", _tidy_docstring, priority=400)  # before numpydoc
    app.connect("autodoc-skip-member", _skip_foreign_members)
    app.connect("missing-reference", _find_by_short_name)
