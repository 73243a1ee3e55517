"""What a study is: tables, methods and published numbers as data, nothing that runs by itself."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike, NDArray

from mercer._system.words import did_you_mean, listed
from mercer.studies._panels import Panel

if TYPE_CHECKING:
    import pandas as pd

    from mercer.studies._task import Task

Protocol = Literal["paper", "honest", "either"]

# A published cell: a number, its spread, the dimension that the paper names beside it.
_NUMBER = r"-?\d+(?:\.\d+)?"
_CELL = re.compile(rf"(?P<value>{_NUMBER})(?:±(?P<spread>{_NUMBER}))?(?:\((?P<dimension>\d+)\))?")


@dataclass(frozen=True)
class Published:
    """A number that a paper prints.

    Parameters
    ----------
    value : float
        In the unit of its table.
    spread : float or None
        What stands behind ±.
    dimension : int or None
        The number of dimensions that the paper names beside it.
    decimals : int or None
        How many decimals of `value` are printed: 90.00 has two.  None means as many as Python
        needs, and none for a whole number.  Numbers are equal however they are printed.
    cut_off : bool, default=False
        Whether the digits that follow were cut off instead of rounded: 229 of 240 as 95.41.
    """

    value: float
    spread: float | None = None
    dimension: int | None = None
    decimals: int | None = field(default=None, compare=False)
    cut_off: bool = field(default=False, compare=False)

    @property
    def half_digit(self) -> float:
        """Half of the last printed digit: by so much a printed number is rounded at most."""
        decimals = self.decimals
        if decimals is None:
            exponent = Decimal(repr(self.value)).normalize().as_tuple().exponent
            decimals = max(0, -exponent) if isinstance(exponent, int) else 0
        return 0.5 * 10.0**-decimals

    def rounds(self, exact: float, slack: float = 0.0) -> bool:
        """Tell whether a number within `slack` of `exact` can be printed as this one."""
        above = (2 if self.cut_off else 1) * self.half_digit
        gap = exact - self.value
        return -slack - self.half_digit - 1e-9 <= gap <= slack + above + 1e-9


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one job found.

    Parameters
    ----------
    values : array-like or mapping from column to array-like
        One number, one for every replicate in the job, or an array of replicates and dimensions,
        or of replicates, choices and dimensions, of which the best choice and dimension over all
        jobs are taken later; a mapping where the method fills several columns of its table, or
        has several variants.
    predictions : mapping from name to array, default={}
        Predicted classes (and ``"rows"``, ``"truth"`` where they help), to be kept.
    details : mapping from name to number or text, default={}
        What was chosen on the way: a width, a ridge, a count of nodes.
    """

    values: ArrayLike | Mapping[str, ArrayLike]
    predictions: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    details: Mapping[str, float | int | str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a table: as a rule a data set.

    Parameters
    ----------
    label : str
        As the paper prints it; unique in its table.
    dataset : str or None, default=None
        Its name in :mod:`mercer.datasets`; None for data that a job draws itself.
    replications : int, default=1
        How many jobs of a full run fill a cell: partitions, splits, folds, draws.
    quick : int, default=1
        The same for a quick run.
    options : mapping, default={}
        Whatever jobs of this row need to know: JSON values only.
    missing : str, default=""
        Why this row cannot be measured here: data or details are not public, or not in the folder
        of data sets.  Its published numbers are shown with it.
    """

    label: str
    dataset: str | None = None
    replications: int = 1
    quick: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    missing: str = ""


@dataclass(frozen=True, kw_only=True)
class Method:
    """What fills a column of a table: one way to read what the paper did.

    Parameters
    ----------
    columns : tuple of str
        The columns that it fills, by the names of the published ones where it stands for those;
        as a rule one.
    run : callable
        ``run(task) -> Outcome``: a function at the top level of its file.
    reading : str, default=""
        Which reading of the paper this is, where a column has several.
    variants : tuple of str, default=()
        What else can be read in several ways, where one job has the numbers for all of them: its
        outcome in the paper's protocol is a mapping from variant to values.  The honest protocol
        has the first one.  Only for methods that fill one column.
    protocols : tuple of {"paper", "honest", "either"}
        "paper": as printed, with its optimism; "honest": everything chosen on training rows
        alone; "either": nothing is chosen, so that the two are the same.
    options, quick : mapping, default={}
        What the function needs to know; `quick` replaces some of it in a quick run.
    rows : tuple of str or None, default=None
        The labels of the rows where it runs; None means all.
    replications, quick_replications : int or None, default=None
        At most so many jobs per row, where the row's own number is too many.
    independent : bool, default=True
        Whether the replicates of a row are independent draws, so that their mean has a standard
        error of spread / √n.  Test parts that overlap after one fit are not, nor are folds.
    """

    columns: tuple[str, ...]
    run: Callable[["Task"], Outcome]
    reading: str = ""
    variants: tuple[str, ...] = ()
    protocols: tuple[Protocol, ...] = ("either",)
    options: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    rows: tuple[str, ...] | None = None
    replications: int | None = None
    quick_replications: int | None = None
    independent: bool = True

    def fields(self, protocol: Protocol) -> tuple[str, ...]:
        """Return what the outcome of a job has values for: the columns, or the variants."""
        return self.variants if self.variants and protocol == "paper" else self.columns

    def readings(self, protocol: Protocol) -> dict[str, str]:
        """Return the readings that a job has numbers for, each with its field if it has one."""
        if not self.variants:
            return {self.reading: ""}
        named = {", ".join(filter(None, (self.reading, one))): one for one in self.variants}
        return named if protocol == "paper" else {next(iter(named)): ""}


@dataclass(frozen=True, kw_only=True)
class Table:
    """A published table: rows, the methods that fill its columns, and the numbers printed.

    Parameters
    ----------
    key : str
        Its number in the paper: "VI", "I–III"; or a word for one of our own.
    title : str
        One line on what it shows.
    unit : str
        "% correct", "% error", "rows", "".
    better : {"higher", "lower"} or None
        Which way is better; None where neither is.
    rows : tuple of Row
    methods : tuple of Method
    published : mapping from (row label, column) to Published
        As made by :func:`read_published`.
    reasons : mapping from (row label or "*", column or "*") to str, default={}
        Why a published number is not reached, where that is known; shown only where it is not.
    misprints : mapping from (row label, column) to str, default={}
        Published numbers that the paper itself contradicts, and how: they are not judged, and the
        reason is always shown.
    one_draw : bool, default=False
        Whether the published numbers are those of one random draw, and the measured ones means
        over many: they are not judged either, but said to lie somewhere among the draws.
    note : str, default=""
        What a reader must know: the protocol in words, misprints.

    Raises
    ------
    ValueError
        Where two rows have one label, a published number or a reason is for a row or a column
        that is not there, or a misprint for a number that is not published: it would be lost
        without a word.
    """

    key: str
    title: str
    unit: str
    better: Literal["higher", "lower"] | None
    rows: tuple[Row, ...]
    methods: tuple[Method, ...]
    published: Mapping[tuple[str, str], Published] = field(default_factory=dict)
    reasons: Mapping[tuple[str, str], str] = field(default_factory=dict)
    misprints: Mapping[tuple[str, str], str] = field(default_factory=dict)
    one_draw: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        labels = [row.label for row in self.rows]
        if repeated := {label for label in labels if labels.count(label) > 1}:
            raise ValueError(f"Table {self.key} has two rows {min(repeated)!r}.")
        for cell in self.published:
            _check_row(cell[0], labels, f"Table {self.key}", f"its published number {cell}")
        for cell in self.reasons:
            what = f"its reason for {cell}"
            _check_row(cell[0], ["*", *labels], f"Table {self.key}", what)
            if cell[1] not in ("*", *self.columns):
                raise ValueError(f"Table {self.key} has no column {cell[1]!r}, which {what} names.")
        for cell in self.misprints:
            if cell not in self.published:
                raise ValueError(
                    f"Table {self.key} has no published number {cell} to be a misprint."
                )

    @property
    def columns(self) -> list[str]:
        """The columns in order: the published ones first, then ours."""
        published = [column for _, column in self.published]
        ours = [column for method in self.methods for column in method.columns]
        return list(dict.fromkeys([*published, *ours]))


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of a paper, redrawn: either by a job of its own or from a table's results.

    Parameters
    ----------
    key, title, caption : str
    run : callable or None
        ``run(task) -> list of Panel``: fits what it needs and returns what is to be drawn.
    dataset : str or None, default=None
        The data set that `run` loads.
    table : str, default=""
        Instead of `run`: the key of the table whose results are drawn.
    draw : callable or None
        ``draw(cells) -> list of Panel`` for the rows of that table in ``cells.csv``.
    options : mapping, default={}
        What `run` needs to know.
    """

    key: str
    title: str
    caption: str = ""
    run: Callable[["Task"], Sequence[Panel]] | None = None
    dataset: str | None = None
    table: str = ""
    draw: Callable[["pd.DataFrame"], Sequence[Panel]] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a paper says in words, judged in words by what was measured.

    Parameters
    ----------
    said : str
        The claim, as near to the paper's words as one sentence allows.
    where : str
        Where it stands: "section V", "Table VII".
    judge : callable
        ``judge(cells) -> str`` for the rows of the study in ``cells.csv``: one sentence that says
        whether the claim holds, with the numbers; an empty one where too little was measured.
    """

    said: str
    where: str
    judge: Callable[["pd.DataFrame"], str]


@dataclass(frozen=True, kw_only=True)
class Study:
    """A paper's experiments.

    Parameters
    ----------
    name : str
        What the command line calls it.
    title, reference : str
        The title of the paper, and how to cite it.
    tables : tuple of Table
    figures : tuple of Figure, default=()
    missing : mapping from what to why, default={}
        What of the paper is not measured here: not public, not in the folder of data sets, or
        not to be measured at all.
    protocol : mapping from "paper" and "honest" to str, default={}
        The two protocols in words.
    claims : tuple of Claim, default=()
        What the paper says beside its tables.
    """

    name: str
    title: str
    reference: str
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    protocol: Mapping[str, str] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()

    def __post_init__(self) -> None:
        labels = [row.label for table in self.tables for row in table.rows]
        for method in (method for table in self.tables for method in table.methods):
            for label in method.rows or ():  # of any table: tables may share their methods
                what = f"its method for {', '.join(method.columns)}"
                _check_row(label, labels, f"Study {self.name}", what)
        keys = [table.key for table in self.tables]
        for figure in self.figures:
            if figure.table and figure.table not in keys:
                raise ValueError(
                    f"Study {self.name} has no table {figure.table!r}, which its figure "
                    f"{figure.key} draws."
                )


def _check_row(label: str, labels: Sequence[str], where: str, what: str) -> None:
    """Raise if no row has this label: what belongs to it would be lost silently."""
    if label not in labels:
        hint = did_you_mean(label, labels, f"its rows are {listed(labels)}.")
        raise ValueError(f"{where} has no row {label!r}, which {what} names: {hint}")


def read_published(text: str, *, cut_off: bool = False) -> Mapping[tuple[str, str], Published]:
    """Read a table of published numbers.

    Cells are separated by ``|``: the first line has the columns, every other one begins with the
    label of its row.  A cell is a number, perhaps with ``±`` and its spread, perhaps with a
    number of dimensions in brackets; ``–`` or nothing is a cell that the paper leaves out.

    Parameters
    ----------
    text : str
        The table.
    cut_off : bool, default=False
        Whether the paper cuts digits off instead of rounding.

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
    Published(value=89.2, spread=0.7, dimension=None, decimals=1, cut_off=False)
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
                f"Published row {label!r} has {len(parts)} cells for {len(columns)} columns."
            )
        for column, part in zip(columns, parts, strict=True):
            if (label, column) in cells:
                raise ValueError(f"Published cell {column!r} of row {label!r} comes twice.")
            if part in ("", "–", "-"):
                continue
            match = _CELL.fullmatch(re.sub(r"\s", "", part))
            if match is None:
                raise ValueError(f"Published cell {part!r} of row {label!r} is not a number.")
            spread, dimension = match["spread"], match["dimension"]
            cells[label, column] = Published(
                float(match["value"]),
                None if spread is None else float(spread),
                None if dimension is None else int(dimension),
                decimals=len(match["value"].partition(".")[2]),
                cut_off=cut_off,
            )
    return cells


def _split(line: str) -> list[str]:
    return [part.strip() for part in line.split("|")]
