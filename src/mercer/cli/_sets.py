"""Prediction sets as `mercer predict` writes them: one class, or "too close to call"."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mercer._system.words import confidence, count_of, listed, percent

if TYPE_CHECKING:
    import pandas as pd

    from mercer.models import ModelCard

TOO_CLOSE = "too close to call"


def check_sets_coverage(coverage: float | None) -> None:
    """Raise ValueError for a coverage that is not a share, before anything is read."""
    if coverage is not None and not 0 < coverage < 1:
        raise ValueError(
            f"--coverage takes a share above 0 and below 1, such as 0.9; got {coverage:g}."
        )


def check_has_sets(pipeline: Any, card: "ModelCard") -> None:
    """Raise ValueError where a model has no sets."""
    from mercer.models import has_sets

    if not has_sets(pipeline):
        raise ValueError(
            f"A {card.model} model has no sets, because it keeps no scores of rows that it was "
            "fitted without: leave --coverage out, or fit again with --model fisher, laplacian, "
            "parzen or ise."
        )


@dataclass(frozen=True)
class NamedSets:
    """The sets of some rows.

    Attributes
    ----------
    names : Series of list of str
        The classes of each set, in the order of the model's classes.
    coverage : float
        How often they hold the true class.
    """

    names: "pd.Series[Any]"
    coverage: float

    @classmethod
    def of(
        cls, pipeline: Any, card: "ModelCard", X: "pd.DataFrame", coverage: float
    ) -> "NamedSets":
        """Return the sets of rows by a model."""
        import pandas as pd

        from mercer.models import predict_set

        sets = predict_set(pipeline, X, coverage)
        names = [
            [name for name, is_in in zip(card.classes, row, strict=True) if is_in]
            for row in sets.tolist()
        ]
        return cls(pd.Series(names, index=X.index, dtype=object), coverage)

    def texts(self) -> "pd.Series[Any]":
        """Return each set as a clerk reads it."""
        return self.names.map(set_text)


class SetCounts:
    """Counts rows that are decided, and sets that hold the class where it is known.

    Parameters
    ----------
    coverage : float
        How often the sets hold the true class.
    """

    def __init__(self, coverage: float) -> None:
        self._coverage = coverage
        self._n_rows = self._alone = self._n_known = self._held = 0

    def add(self, sets: NamedSets, known: "pd.Series[Any] | None") -> None:
        """Count some rows, of which `known` has the classes of those that have one."""
        self._n_rows += len(sets.names)
        self._alone += int((sets.names.map(len) == 1).sum())
        if known is not None:
            pairs = zip(sets.names.loc[known.index], known, strict=True)
            self._held += sum(name in names for names, name in pairs)
            self._n_known += len(known)

    def sentences(self, *, is_known: bool) -> list[str]:
        """Say how many rows are decided, and how many sets hold the class where that is known."""
        n_rows, alone = self._n_rows, self._alone
        level = confidence(self._coverage)
        what = "every set is the predicted class alone"
        if alone < n_rows:
            one_class = count_of(alone, "row has one class", "rows have one class")
            several = count_of(n_rows - alone, "row is", "rows are")
            what = f"{one_class} in the set, and {several} {TOO_CLOSE}"
        found = [f"At a coverage of {level}, {what}."]
        if is_known:
            held = percent(self._held / self._n_known)
            found.append(f"{held} of the sets hold the class that the table has.")
        return found


def set_text(names: list[str]) -> str:
    """Write a set as one cell.

    >>> set_text(["yes"]), set_text(["no", "yes"])
    ('yes', 'too close to call: no or yes')
    """
    return names[0] if len(names) == 1 else f"{TOO_CLOSE}: {listed(names, word='or')}"
