"""What a model file says about the model: in words and numbers, nothing to run."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from mercer import __version__
from mercer._system.words import count_of, listed, percent
from mercer.tables import Column, LabelledTable

FORMAT = 2  # This is the version of the card and of the file around it.


@dataclass(frozen=True, repr=False)
class ModelCard:
    """What a model is, what it was trained on and how well it did.

    Parameters
    ----------
    model : str
        Its name in the catalogue.
    target : str
        The column that it predicts.
    classes : tuple of str
        What it may answer, in the order of its probabilities.
    columns : tuple of Column
        Every column of the training table but the target, used or not.
    n_rows : int
        How many rows of the training table have a class.
    n_rows_fitted : int
        How many of them the model was fitted on: all, or a sample.
    balanced : bool
        Whether rare classes count as much as frequent ones.
    scores : dict of str to number or None
        How it scored on rows left out; empty where nobody looked.
    trained : str
        When, in UTC.
    mercer, sklearn : str
        Versions that trained it.
    format : int
        Version of the file format.
    decision : str
        How the answer follows from the probabilities; empty where it is the most probable class.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.models import ModelCard
    >>> from mercer.tables import split_target
    >>> fruit = ["fig", "fig", "kiwi", "kiwi"]
    >>> frame = pd.DataFrame({"size": [1.5, 1.7, 4.2, 4.4], "fruit": fruit})
    >>> card = ModelCard.describe("parzen", split_target(frame, "fruit"))
    >>> card.classes, ModelCard.from_dict(card.to_dict()) == card
    (('fig', 'kiwi'), True)
    """

    model: str
    target: str
    classes: tuple[str, ...]
    columns: tuple[Column, ...]
    n_rows: int
    n_rows_fitted: int
    balanced: bool
    scores: Mapping[str, float | None]
    trained: str
    mercer: str
    sklearn: str
    format: int = FORMAT
    decision: str = ""

    def __repr__(self) -> str:
        """Return in a line what the model is; `to_dict` has it all."""
        used = sum(column.used for column in self.columns)
        accuracy = self.scores.get("accuracy")
        scored = "" if accuracy is None else f", {percent(accuracy)} right on rows left out"
        classes = listed(self.classes, most=5)
        return (
            f"<ModelCard: {self.model} predicts {self.target!r} ({classes}) from "
            f"{count_of(used, 'column')}; {count_of(self.n_rows_fitted, 'row')}{scored}; "
            f"{self.trained}>"
        )

    @classmethod
    def describe(
        cls,
        model: str,
        data: LabelledTable,
        *,
        n_rows_fitted: int | None = None,
        balanced: bool = False,
        scores: Mapping[str, float | None] | None = None,
        decision: str = "",
    ) -> "ModelCard":
        """Return the card of a model that is trained on a table, here and now.

        Parameters
        ----------
        model : str
            Its name.
        data : LabelledTable
            What it is trained on.
        n_rows_fitted : int, optional
            How many of its rows were used; by default all.
        balanced : bool, default=False
            As passed to :func:`make_model`.
        scores : dict of str to number or None, optional
            How it scored.
        decision : str, default=""
            The attribute ``decision_`` of a :class:`DecidingClassifier` in it.

        Returns
        -------
        ModelCard
        """
        return cls(
            model=model,
            target=data.target,
            classes=tuple(np.unique(data.y).tolist()),
            columns=data.columns,
            n_rows=len(data.y),
            n_rows_fitted=len(data.y) if n_rows_fitted is None else n_rows_fitted,
            balanced=balanced,
            scores=dict(scores or {}),
            trained=datetime.now(UTC).isoformat(timespec="seconds"),
            mercer=__version__,
            sklearn=version("scikit-learn"),
            decision=decision,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the card as JSON would have it.

        Returns
        -------
        dict
        """
        found: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return found

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "ModelCard":
        """Return the card that :meth:`to_dict` gave.

        Parameters
        ----------
        found : dict
            From JSON, by whomever written.

        Returns
        -------
        ModelCard

        Raises
        ------
        ValueError
            Where something is missing, unknown or of another type.
        """
        try:
            columns = tuple(_column(one) for one in found["columns"])
            classes = tuple(found["classes"])
            card = cls(**{**found, "columns": columns, "classes": classes})
        except (KeyError, TypeError) as error:
            raise ValueError(f"the card is incomplete ({error})") from error
        _check_types(card, {"classes": tuple, "columns": tuple, "scores": dict})
        if not all(isinstance(name, str) for name in classes):
            raise ValueError("the card names a class that is not text")
        return card


def _column(found: Mapping[str, Any]) -> Column:
    texts = {key: tuple(found[key]) for key in ("examples", "categories")}
    column = Column(**{**found, **texts})
    _check_types(column, {"examples": tuple, "categories": tuple})
    if not all(isinstance(text, str) for many in texts.values() for text in many):
        raise ValueError("the card names a category that is not text")
    return column


def _check_types(found: Any, others: dict[str, type]) -> None:
    """Raise if a field is not of the declared type: text, a whole number or a truth value."""
    plain = {str: str, int: int, bool: bool}
    for field in dataclasses.fields(found):
        wanted = others.get(field.name) or plain[field.type]  # type: ignore[index]
        value = getattr(found, field.name)
        if type(value) is not wanted:
            raise ValueError(f"the card's {field.name} is a {type(value).__name__}")
