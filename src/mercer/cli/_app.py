"""The command line as a whole: commands, exit codes, errors in one sentence."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from mercer import __version__
from mercer.cli._compare import compare
from mercer.cli._datasets import datasets
from mercer.cli._demo import demo
from mercer.cli._fit import fit
from mercer.cli._info import info
from mercer.cli._measure import measure
from mercer.cli._predict import predict
from mercer.cli._project import project
from mercer.cli._reproduce import reproduce

app = typer.Typer(
    help="""Kernel classification from Parzen windows, on your own table and on the papers'.

    Which model predicts a column?  [bold]mercer compare people.csv --target income[/bold]

    Fit one, save it:               [bold]mercer fit people.csv --target income[/bold]

    Use it:                         [bold]mercer predict model.skops new.csv[/bold]

    No table at hand:               [bold]mercer compare[/bold]
    """,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command()(compare)
app.command()(fit)
app.command()(predict)
app.command()(info)
app.command()(project)
app.command()(measure)
app.command()(reproduce)
app.command()(datasets)
app.command()(demo)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"mercer {__version__}")
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0: done; 2: the input is wrong, and one sentence on standard error says what to do;
    130: stopped by Ctrl-C.  What is our own fault keeps its traceback, and exit code 1.
    """
    try:
        app(args=arguments, prog_name="mercer")
    except SystemExit as end:
        return int(end.code or 0)
    except (LookupError, ValueError, OSError) as error:
        print(f"mercer: {error}", file=sys.stderr)
        return 2
    return 0
