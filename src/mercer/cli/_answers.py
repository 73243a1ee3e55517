"""What a model answers for the rows of a table, part after part, and what is said of all rows."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mercer._system.words import count_of, percent
from mercer.cli._sets import NamedSets, SetCounts

if TYPE_CHECKING:
    import pandas as pd

    from mercer.models import ModelCard, TrainingSample
    from mercer.tables import TableInParts


class Answers:
    """The answers to the rows of a table; iterating computes them, some rows at a time.

    Parameters
    ----------
    pipeline, card, rows
        What :func:`mercer.models.load_model_parts` returned.
    table : TableInParts
        The rows.
    keep : sequence of str
        Columns of the table to put first.
    coverage : float or None
        Of the sets, if there are to be any.
    sets_as_lists : bool
        Whether a set is a list of names, instead of text.
    explain : callable or None
        From typed rows to the reasons for their answers.

    Attributes
    ----------
    counts : Counter
        Rows by the class that was answered, of all parts so far.
    """

    def __init__(
        self,
        pipeline: Any,
        card: "ModelCard",
        rows: "TrainingSample | None",
        table: "TableInParts",
        *,
        keep: Sequence[str] = (),
        coverage: float | None = None,
        sets_as_lists: bool = False,
        explain: "Callable[[pd.DataFrame], list[str]] | None" = None,
    ) -> None:
        from mercer.models import Familiarity, FamiliarityNotes
        from mercer.tables import ColumnMatcher

        self._pipeline = pipeline
        self._card = card
        self._table = table
        self._keep = list(dict.fromkeys(keep))
        self._explain = explain
        self._coverage = coverage
        self._sets_as_lists = sets_as_lists
        for name in self._keep:
            if name not in table.names:
                raise LookupError(f"There is no column {name!r} in {table.name} to keep.")
        asked = {column.name for column in card.columns}
        # Columns that have a use here are not among those that a note calls unused.
        used_here = {card.target, *keep} - asked
        names = [name for name in table.names if name not in used_here]
        self._matcher = ColumnMatcher(card.columns, table.name, names)
        self._familiarity = None if rows is None else Familiarity(rows.X)
        self._far = None if self._familiarity is None else FamiliarityNotes(self._familiarity)
        self._sets = None if coverage is None else SetCounts(coverage)
        self.counts: Counter[str] = Counter()
        self._n_known = self._n_right = 0
        self._classes_known: set[str] = set()

    def __iter__(self) -> "Iterator[pd.DataFrame]":
        for part in self._table:
            yield self._answers(part.frame)

    def _answers(self, given: "pd.DataFrame") -> "pd.DataFrame":
        import pandas as pd

        X = self._matcher.match(given)
        if self._table.is_whole:
            self._matcher.notes()  # raises where a column is not what it should be
        predicted = pd.Series(self._pipeline.predict(X), index=X.index, dtype=object)
        answers = pd.DataFrame({"predicted": predicted})
        self.counts.update(predicted)
        known = self._known_classes(given)
        if known is not None:
            self._n_known += len(known)
            self._n_right += int((predicted[known.index] == known).sum())
            self._classes_known |= set(known.unique()) if len(self._classes_known) < 2 else set()
        if self._coverage is not None and self._sets is not None:
            sets = NamedSets.of(self._pipeline, self._card, X, self._coverage)
            answers["set"] = sets.names if self._sets_as_lists else sets.texts()
            self._sets.add(sets, known)
        if hasattr(self._pipeline, "predict_proba"):
            shares = self._pipeline.predict_proba(X)
            for i, name in enumerate(self._card.classes):
                answers[f"p({name})"] = shares[:, i]
        if self._familiarity is not None and self._far is not None:
            ranks = self._familiarity.rank(X)
            answers["familiarity"] = ranks.round(3)  # Of 1 000 rows, one is not rounded to none.
            self._far.add(X, ranks)
        if self._explain is not None:
            answers["reasons"] = self._explain(X)
        return self._with_kept(given, answers)

    def _known_classes(self, given: "pd.DataFrame") -> "pd.Series[Any] | None":
        """Return the classes of the rows that have one where the table has the target too."""
        import pandas as pd

        from mercer.tables import as_text

        if self._card.target not in given:
            return None
        texts = as_text(given[self._card.target])
        return pd.Series(texts, index=given.index, dtype=object).dropna()

    def _with_kept(self, given: "pd.DataFrame", answers: "pd.DataFrame") -> "pd.DataFrame":
        import pandas as pd

        for name in self._keep:
            if name in answers:
                raise ValueError(
                    f"Column {name!r} cannot be kept: the answers have one of that name."
                )
        return pd.concat([given[self._keep], answers], axis=1)

    def notes(self) -> list[str]:
        """Return what is to be said of all rows."""
        notes = [*self._table.notes, *self._matcher.notes()]
        is_known = len(self._classes_known) > 1  # else a share of right answers says nothing
        if is_known:
            share = percent(self._n_right / self._n_known)
            rows = count_of(self._n_known, "row")
            notes.append(
                f"Column {self._card.target!r} is there: {share} of {rows} are predicted right."
            )
        if self._far is not None:
            notes += self._far.sentences()
        if self._sets is not None:
            notes += self._sets.sentences(is_known=is_known)
        return notes
