"""What was found between two tables: figures, a verdict, and sentences that say it."""

from dataclasses import dataclass

from mercer._system.vocabulary import DIFFERENCES, USUAL_BOUND
from mercer._system.words import confidence, fixed, interval, p_value, score
from mercer.views._column_difference import ColumnDifference
from mercer.views._effect import TableEffect


def check_bound(bound: float) -> None:
    """Raise ValueError if the bound is not an AUC from 0.5 to below 1."""
    if not 0.5 <= bound < 1:
        raise ValueError(f"The bound must be an AUC, 0.5 or more and less than 1; got {bound}.")


@dataclass(frozen=True)
class TypicalRow:
    """A row that tells which table it is of.

    Parameters
    ----------
    table : str
        What its table is called.
    row : int
        Its number in the table, from 1.
    chance : float
        That it is of this table and not of the other, by a discriminant that has not seen it.
    cells : dict of str to str
        Its cells in the columns with the largest shares.
    """

    table: str
    row: int
    chance: float
    cells: dict[str, str]


@dataclass(frozen=True)
class TableDifference:
    """What :func:`measure_tables` found; ``str(result)`` says it in two sentences.

    Parameters
    ----------
    names : tuple of two str
        What the tables are called.
    n_rows : tuple of two int
        Their rows.
    pvalue : float
        Of all columns together, by permutations.
    squared_error : float
        Integrated squared error of the two densities, in units of the kernel's peak; the bandwidth
        is that of the median distance.
    expected_squared_error : float
        Its median where rows are dealt at random.
    divergence : float
        Cauchy–Schwarz divergence of the two densities, at the same bandwidth.
    columns : tuple of ColumnDifference
        Those that differ most first.
    level : float
        Probability that equal tables are said to differ.
    notes : tuple of str
        What else a reader should know.
    effect : TableEffect or None, default=None
        How well the tables can be told apart; None where one has fewer than five rows.
    bound : float, default=0.6
        An AUC up to this one does not matter in practice.
    typical : tuple of TypicalRow, default=()
        The rows of the first table that are most unlike the second's, and those of the second;
        none where the tables cannot be told apart.
    """

    names: tuple[str, str]
    n_rows: tuple[int, int]
    pvalue: float
    squared_error: float
    expected_squared_error: float
    divergence: float
    columns: tuple[ColumnDifference, ...]
    level: float
    notes: tuple[str, ...]
    effect: TableEffect | None = None
    bound: float = USUAL_BOUND
    typical: tuple[TypicalRow, ...] = ()

    @property
    def differing(self) -> tuple[ColumnDifference, ...]:
        """The columns that differ by more than chance, each on its own."""
        return tuple(one for one in self.columns if one.corrected <= self.level / 2)

    @property
    def differs(self) -> bool:
        """Whether a test finds that they differ: of all columns together, or of one by itself."""
        return self.pvalue <= self.level / 2 or bool(self.differing)

    @property
    def by_share(self) -> tuple[ColumnDifference, ...]:
        """The columns, those first that have most to do with how the tables are told apart."""
        return tuple(sorted(self.columns, key=lambda one: -(one.share or 0.0)))

    @property
    def is_practical(self) -> bool:
        """Whether they are shown to differ in practice: the interval lies above the bound."""
        return self.effect is not None and self.effect.low > self.bound

    @property
    def verdict(self) -> str:
        """How they differ, in the words of ``mercer measure``.

        ======================================  ===========  ==============================
        verdict                                 test         interval of the AUC
        ======================================  ===========  ==============================
        practically different                   any          above the bound
        different, perhaps in practice          differs      on both sides of the bound
        different, but no practical difference  differs      under the bound
        not shown to differ                     does not     under the bound
        too few rows to tell                    does not     on both sides of the bound
        ======================================  ===========  ==============================
        """
        if self.is_practical:
            name = "practically different"
        elif self.effect is None or self.effect.high > self.bound:
            name = "different, perhaps in practice" if self.differs else "too few rows to tell"
        elif self.differs:
            name = "different, but no practical difference"
        else:
            name = "not shown to differ"
        return DIFFERENCES[name].name

    @property
    def effect_sentence(self) -> str:
        """What the effect is, in one sentence; empty where there is none."""
        if self.effect is None:
            return ""
        effect, bound = self.effect, fixed(self.bound, 2)
        side = "reaches above"
        if self.is_practical:
            side = "lies above"
        elif effect.high <= self.bound:
            side = "lies under"
        return (
            f"{self.verdict.capitalize()}: the interval {side} the bound of {bound} (AUC "
            f"{score(effect.auc, 2)}, {confidence(effect.confidence)} interval "
            f"{interval(effect.low, effect.high, 2)}; 0.50 is what guessing has)."
        )

    @property
    def test_sentence(self) -> str:
        """Whether they differ by more than chance, in one sentence."""
        together = f"all columns together: {p_value(self.pvalue)}"
        who = f"{self.names[0]} and {self.names[1]}"
        if not self.differs and self.is_practical:
            return (
                f"The tests of columns, of all together and of each, found no difference between "
                f"{who} ({together}), but rows that were held out can be told apart."
            )
        if not self.differs:
            return (
                f"No difference was found between {who} ({together}): they may well be from one "
                "distribution."
            )
        if not self.differing:
            return f"{who} differ ({together}), though no column does so clearly by itself."
        n, most = len(self.differing), self.differing[0].name
        return (
            f"{who} differ ({together}); by itself, {n} of {len(self.columns)} columns "
            f"{'does' if n == 1 else 'do'}, most of all {most!r}."
        )

    def __str__(self) -> str:
        return f"{self.test_sentence} {self.effect_sentence}".rstrip()
