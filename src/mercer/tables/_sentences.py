"""Words of the sentences that users read: one line each, whatever a cell or a name holds."""

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = [
    "ColumnNotFoundError",
    "MissingPackageError",
    "counted",
    "did_you_mean",
    "listed",
    "quoted",
]

_LONGEST = 40  # characters of a cell or name that are shown


class ColumnNotFoundError(LookupError):
    """A table has no column of that name."""


class MissingPackageError(ImportError, ValueError):
    """The table is of a kind that is read or written by a package that is not installed."""


def quoted(value: Any) -> str:
    """Show a cell or a name in quotes: shortened, with line breaks and escapes spelled out."""
    text = str(value)
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


def listed(values: Sequence[Any], *, most: int = 3) -> str:
    """Show the first few values, and how many more there are."""
    shown = ", ".join(quoted(value) for value in values[:most])
    return shown if len(values) <= most else f"{shown} and {len(values) - most} more"


def counted(n: int, one: str, many: str | None = None) -> str:
    """Say ``1 row``, ``12 rows``, ``45 000 rows``."""
    return f"{n:,}".replace(",", " ") + " " + (one if n == 1 else many or one + "s")


def did_you_mean(asked: str, names: Iterable[str], otherwise: str) -> str:
    """Suggest the names nearest to the one that was asked for, or say something else."""
    by_fold = {name.casefold().strip(): name for name in names if name}
    like = difflib.get_close_matches(asked.casefold().strip(), by_fold, n=3, cutoff=0.6)
    if not like:
        return otherwise
    return f"did you mean {' or '.join(quoted(by_fold[key]) for key in like)}?"
