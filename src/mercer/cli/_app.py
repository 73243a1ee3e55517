"""The command line as a whole: commands, exit codes, errors in one sentence."""

import errno
import io
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import typer

from mercer import __version__
from mercer.cli._compare import compare
from mercer.cli._datasets import datasets
from mercer.cli._demo import demo
from mercer.cli._density import density
from mercer.cli._explain import explain
from mercer.cli._fit import fit
from mercer.cli._info import info
from mercer.cli._measure import measure
from mercer.cli._output import one_line, visible
from mercer.cli._predict import predict
from mercer.cli._project import project
from mercer.cli._reproduce import reproduce

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

app = typer.Typer(
    help="""Kernel classification from Parzen windows, on your own table and on the papers'.

    Which model predicts a column?  [bold]mercer compare people.csv --target income[/bold]

    Fit one, save it:               [bold]mercer fit people.csv --target income[/bold]

    Use it:                         [bold]mercer predict model.skops new.csv[/bold]

    No table at hand:               [bold]mercer compare[/bold]
    """,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command()(compare)
app.command()(fit)
app.command()(predict)
app.command()(explain)
app.command()(info)
app.command()(project)
app.command()(measure)
app.command()(density)
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

    0: done; 1: our own fault, with its traceback; 2: the input is wrong, and one sentence on
    standard error says what to do; 130: stopped by Ctrl-C; 143: by a batch system (SIGTERM).
    ``measure --fail-on-difference`` ends with 3 where two tables are practically different, which
    can be told from every fault.

    Parameters
    ----------
    arguments : sequence of str, default=None
        What stands behind the name of the command; that of this process where it is None.

    Returns
    -------
    int
        The exit code.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    _print_any_character()
    # joblib warns where a disk has no room for its locks; the commands start no process by it.
    warnings.filterwarnings("ignore", message=".*joblib will operate in serial mode")
    with _heard_like_ctrl_c(signal.SIGTERM) as was_heard:
        code = _run(arguments)
    return 128 + signal.SIGTERM if was_heard() else code


def _run(arguments: Sequence[str]) -> int:
    try:
        code = app(args=arguments or ["--help"], prog_name="mercer", standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as end:
        # A reader that has seen enough, such as head, is no error.
        return 0 if isinstance(end.__context__, BrokenPipeError) else int(end.code or 0)
    except BrokenPipeError:
        _forget_output()
        return 0
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except (KeyError, IndexError):  # no sentence for users: theirs are errors with a name
        return _admit()
    except OSError as error:
        if error.filename is None and error.errno in _FULL:  # errors of files name them
            _forget_output()
            return _refuse(f"Standard output cannot be written ({error.strerror}).")
        return _refuse(str(error))
    except (LookupError, ValueError) as error:
        return _refuse(str(error))
    except MemoryError as error:
        return _refuse(str(error) or "There is not enough memory: use fewer rows.")
    except Exception as error:
        if hasattr(error, "format_message"):  # an option that is unknown, missing or wrong
            return _refuse(_usage(error))
        return _admit()
    return code if isinstance(code, int) else 0


def _forget_output() -> None:
    """Drop what could not be printed: Python would try again, and fail, when the stream goes.

    Closing the raw file drops what waits to be written; the descriptor of the process stays open.
    """
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if raw is not None:
        raw.close()
    sys.stdout = io.StringIO()


def _print_any_character() -> None:
    """Let no name or class be an error where standard output is not UTF-8, or is closed."""
    sys.stdout, sys.stderr = sys.stdout or io.StringIO(), sys.stderr or io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _admit() -> int:
    """Show what went wrong in Mercer itself."""
    print(visible(traceback.format_exc()), end="", file=sys.stderr)
    print(
        "mercer: This is a fault of Mercer: report the lines above, and the command.",
        file=sys.stderr,
    )
    return 1


def _refuse(sentence: str) -> int:
    with suppress(OSError):  # nobody to tell: the exit code does
        print(f"mercer: {one_line(sentence)}", file=sys.stderr)
    return 2


@contextmanager
def _heard_like_ctrl_c(number: int) -> Iterator[Callable[[], bool]]:
    """Let a signal end a command in the way of Ctrl-C: in order, with what is finished kept."""
    heard = []

    def stop(number: int, frame: object) -> None:
        heard.append(number)
        raise KeyboardInterrupt

    try:
        before = signal.signal(number, stop)
    except ValueError:  # signals are the main thread's
        yield lambda: False
        return
    try:
        yield lambda: bool(heard)
    finally:
        signal.signal(number, before)


def _usage(error: Any) -> str:
    """Return the sentence of an error of typer, and where to look."""
    command = getattr(getattr(error, "ctx", None), "command_path", "mercer")
    what = error.format_message().replace("Value error, ", "").rstrip(".")
    return f"{what}: see {command} --help."
