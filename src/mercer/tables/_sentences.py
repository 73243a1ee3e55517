"""Words of the sentences that users read: one line each, whatever a cell or a name holds."""

from collections.abc import Sequence
from typing import Any

from mercer._system import words
from mercer._system.words import quoted


class ColumnNotFoundError(LookupError):
    """A table has no column of that name."""


class MissingPackageError(ImportError, ValueError):
    """The table is of a kind that is read or written by a package that is not installed."""


def listed(values: Sequence[Any], *, most: int = 3) -> str:
    """Write the first few values in quotes, and how many more there are."""
    return words.listed([quoted(value) for value in values], most=most)
