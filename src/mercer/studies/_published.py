"""Published numbers from text that looks as they are printed."""

import re
from collections.abc import Mapping

from mercer.studies._model import Published

__all__ = ["read_published"]

_NUMBER = r"-?\d+(?:\.\d+)?"
_CELL = re.compile(rf"(?P<value>{_NUMBER})(?:±(?P<spread>{_NUMBER}))?(?:\((?P<dimension>\d+)\))?")


def read_published(text: str) -> Mapping[tuple[str, str], Published]:
    """Read a table of published numbers.

    Cells are separated by ``|``: the first line has the columns, every other one begins with the
    label of its row.  A cell is a number, perhaps with ``±`` and its spread, perhaps with a
    number of dimensions in brackets; ``–`` or nothing is a cell that the paper leaves out.

    Parameters
    ----------
    text : str
        The table.

    Returns
    -------
    mapping from (row, column) to Published
        The cells that are printed.

    Examples
    --------
    >>> from mercer.studies import read_published
    >>> cells = read_published('''
    ...             | Laplacian  | SVM
    ...     Banana  | 89.4 ± 0.5 | 89.2 ± 0.7
    ...     Thyroid | 95.7 ± 2.2 | –
    ... ''')
    >>> cells["Banana", "SVM"]
    Published(value=89.2, spread=0.7, dimension=None)
    >>> ("Thyroid", "SVM") in cells
    False
    """
    head, *body = [line for line in text.splitlines() if line.strip()]
    columns = _split(head)[1:]
    cells = {}
    for line in body:
        label, *parts = _split(line)
        if len(parts) != len(columns):
            raise ValueError(
                f"published row {label!r} has {len(parts)} cells for {len(columns)} columns"
            )
        for column, part in zip(columns, parts, strict=True):
            if (label, column) in cells:
                raise ValueError(f"published cell {column!r} of row {label!r} comes twice")
            if part in ("", "–", "-"):
                continue
            match = _CELL.fullmatch(re.sub(r"\s", "", part))
            if match is None:
                raise ValueError(f"published cell {part!r} of row {label!r} is not a number")
            spread, dimension = match["spread"], match["dimension"]
            cells[label, column] = Published(
                float(match["value"]),
                None if spread is None else float(spread),
                None if dimension is None else int(dimension),
            )
    return cells


def _split(line: str) -> list[str]:
    return [part.strip() for part in line.split("|")]
