"""What is known of a column: how it is read, whether it is used, and why not."""

from dataclasses import dataclass

__all__ = ["USABLE", "Column"]

USABLE = ("number", "category", "date")


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Only text, numbers, booleans and tuples of text: ``dataclasses.asdict`` gives JSON.

    Parameters
    ----------
    name : str
        Its name.
    kind : {"number", "category", "date", "text", "identifier", "constant", "empty"}
        What its values are.
    used : bool
        Whether a model sees it; only numbers, categories and dates are used.
    reason : str
        Why it is not used, or what is particular about how it is read; often empty.
    n_missing : int
        Rows without a value.
    n_unique : int
        How many different values there are.
    examples : tuple of str
        Up to three values: of numbers and dates the least, the middle and the largest, else the
        most frequent.
    style : str
        How text is turned into numbers or dates, so that a new file is read in the same way.
    categories : tuple of str
        Of a category, all values in alphabetical order; else empty.
    """

    name: str
    kind: str
    used: bool
    reason: str
    n_missing: int
    n_unique: int
    examples: tuple[str, ...] = ()
    style: str = ""
    categories: tuple[str, ...] = ()
