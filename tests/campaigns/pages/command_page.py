"""The page with all options of all commands, written from the commands themselves.

`make options` writes docs/commands.md again; `test_commands.py` looks whether it would change it.
"""

import inspect
import re
import types
from pathlib import Path
from typing import Annotated, Literal, Union, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo

from mercer.cli._app import app

PAGE = Path(__file__).parents[3] / "docs" / "commands.md"
_TAKES = {str: "text", int: "whole number", float: "number", Path: "path"}


def command_page():
    """Return the text of the page, whose beginning is kept."""
    beginning = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    commands = [command.callback for command in app.registered_commands]
    return "\n".join([beginning, *(_section(one.__name__, one) for one in commands)])


def _section(name, callback):
    """Return what the page says of one command."""
    hints = get_type_hints(callback, include_extras=True)
    arguments, options = [], []
    for parameter in inspect.signature(callback).parameters.values():
        kind, info = get_args(hints[parameter.name])
        if get_origin(hints[parameter.name]) is not Annotated:
            raise TypeError(f"{name}: {parameter.name} has no description")
        is_argument = isinstance(info, ArgumentInfo)
        row = _row(parameter, kind, info, is_argument)
        (arguments if is_argument else options).append(row)
    first, _, rest = inspect.cleandoc(callback.__doc__).partition("\n")
    used = " ".join(["mercer", name, *(row[0].strip("*") for row in arguments)])
    lines = [f"## {name}", "", f"`{used}`: {_plain(first)}", "", _paragraphs(rest)]
    if not arguments and not options:
        return "\n".join(lines) + "\n"
    lines += ["", "| | takes | default | |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(cell.strip() for cell in row)} |" for row in [*arguments, *options]]
    return "\n".join(lines) + "\n"


def _row(parameter, kind, info, is_argument):
    """Return name, type, default and meaning of one argument or option."""
    takes, is_many = _takes(kind)
    if info.metavar:
        takes = f"`{info.metavar}`"
    if is_argument:
        name = f"**{parameter.name.upper()}**"
    else:
        # Behind Annotated, typer keeps the first name of an option where its default would be.
        given = [info.default, *(info.param_decls or ())] if isinstance(info.default, str) else []
        given = given or ["--" + parameter.name.replace("_", "-")]
        name = ", ".join(f"`{one}`" for one in given)
    if info.min is not None:
        takes += f" from {info.min}"
    if is_many and "repeated" not in info.help:
        takes += ", may be repeated"
    default = parameter.default
    if default is inspect.Parameter.empty:
        shown = "must be given"
    elif isinstance(default, bool):
        shown = ("on" if default else "") if kind is bool else str(default)
    else:
        shown = "" if default is None else f"`{default}`"
    return name, takes, shown, _plain(info.help or "").replace("|", "\\|")


def _takes(kind):
    """Return what an option takes, in words, and whether it may be given several times."""
    if get_origin(kind) in (Union, types.UnionType):
        (kind,) = (one for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is list:
        return _takes(get_args(kind)[0])[0], True
    if get_origin(kind) is Literal:
        return " or ".join(f"`{one}`" for one in get_args(kind)), False
    return _TAKES.get(kind, ""), False


def _plain(text):
    """Return a text of the command line as Markdown."""
    plain, *examples = re.split(r"\[bold\](.*?)\[/(?:bold)?\]", text)
    plain = re.sub(r"(?<![\w-])(--[a-z][a-z-]*)(?![\w-])", r"`\1`", plain)
    return plain + "".join(f"`{part}`" if i % 2 == 0 else part for i, part in enumerate(examples))


def _paragraphs(text):
    """Return the rest of a docstring, each of its paragraphs in one line."""
    blocks = [" ".join(block.split()) for block in text.strip().split("\n\n")]
    return "\n\n".join(_plain(block) for block in blocks if block)


if __name__ == "__main__":
    PAGE.write_text(command_page(), encoding="utf-8")
    print(f"{PAGE} written")
