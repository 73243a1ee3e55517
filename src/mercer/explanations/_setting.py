"""A fitted pipeline or classifier, taken apart: its columns, its scores, its training rows."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, refuse_tensor, to_numpy
from mercer.kernels import KernelExpansion, WindowSums
from mercer.samples import refuse_dask
from mercer.tables import (
    FeatureClipper,
    SoftRankScaler,
    decode_rows,
    is_preprocessor,
    source_columns,
)

# Each column of what they return is made of the same column of what they are given.
_BY_COLUMN = (
    FeatureClipper,
    MaxAbsScaler,
    MinMaxScaler,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SoftRankScaler,
    StandardScaler,
)
# Beyond this, scores are no finite numbers: a window of bounded support reaches no row.
_LARGEST_SCORE = 1e100
# Scores are log odds if they say so to this, where no probability is below the other.
_SAME_ODDS, _LEAST_SHARE = 1e-4, 1e-6


@dataclass(frozen=True, eq=False)
class Setting:
    """What explanations need of a fitted classifier, behind its preprocessing.

    Attributes
    ----------
    columns : tuple of str
        The user's columns.
    groups : ndarray of int of shape (n_numbers,)
        For each number that the classifier sees, the column that it is made of.
    classes : ndarray of shape (n_classes,)
        The classes.
    model : classifier
        What sees the numbers.
    encode, decode : callable
        From a user's rows to these numbers, and back to a frame.
    fitted : estimator
        The innermost classifier: wrappers that pick rows, parameters or a device are off.
    """

    columns: tuple[str, ...]
    groups: NDArray[np.intp]
    classes: NDArray[Any]
    model: Any
    encode: Callable[[Any], FloatArray]
    decode: Callable[[FloatArray], pd.DataFrame]
    fitted: Any

    @classmethod
    def of(cls, model: Any) -> "Setting":
        """Take apart a fitted classifier, or a pipeline that ends with one."""
        if not hasattr(model, "predict") or not hasattr(model, "fit"):
            raise ValueError(f"model must be a fitted classifier; got {type(model).__name__}.")
        check_is_fitted(model)
        model = getattr(model, "best_estimator_", model)  # of a search
        steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
        before = [step for step in steps[:-1] if not _is_nothing(step)]
        if len(before) == 1 and is_preprocessor(before[0]):
            return cls._of_table(before[0], steps[-1])
        if all(isinstance(step, _BY_COLUMN) for step in before):
            return cls._of_scalers(before, steps[-1], _names(model))
        # What comes before mixes columns, so that the pipeline is a classifier of what it is given.
        return cls._of_columns(model, _names(model))

    @classmethod
    def _of_table(cls, table: ColumnTransformer, model: Any) -> "Setting":
        sources = source_columns(table)
        given = getattr(table, "feature_names_in_", sources)  # in the order of the table
        columns = tuple(name for name in dict.fromkeys(given) if name in sources)
        groups = np.array([columns.index(name) for name in sources], dtype=np.intp)

        def encode(X: Any) -> FloatArray:
            return np.asarray(table.transform(X), dtype=np.float64)

        def decode(Z: FloatArray) -> pd.DataFrame:
            return decode_rows(table, Z)

        return cls(columns, groups, _classes(model), model, encode, decode, _innermost(model))

    @classmethod
    def _of_scalers(cls, scalers: list[Any], model: Any, names: tuple[str, ...]) -> "Setting":
        def encode(X: Any) -> FloatArray:
            X = _rows(X, len(names))
            for scaler in scalers:
                X = scaler.transform(X)
            return np.asarray(X, dtype=np.float64)

        def decode(Z: FloatArray) -> pd.DataFrame:
            for scaler in reversed(scalers):
                Z = Z if isinstance(scaler, FeatureClipper) else scaler.inverse_transform(Z)
            return pd.DataFrame(np.asarray(Z), columns=list(names))

        groups = np.arange(len(names))
        return cls(names, groups, _classes(model), model, encode, decode, _innermost(model))

    @classmethod
    def _of_columns(cls, model: Any, names: tuple[str, ...]) -> "Setting":
        """Take columns of any kind: a number says which of the values seen so far it stands for."""
        values = [_Values() for _ in names]

        def encode(X: Any) -> FloatArray:
            frame = pd.DataFrame(_rows(X, len(names), any_kind=True))
            columns = (frame.iloc[:, k] for k in range(len(names)))
            found = [seen.numbers(column) for seen, column in zip(values, columns, strict=True)]
            return np.column_stack(found).astype(np.float64)

        def decode(Z: FloatArray) -> pd.DataFrame:
            columns = [seen.take(numbers) for seen, numbers in zip(values, Z.T, strict=True)]
            return pd.concat(columns, axis=1).set_axis(list(names), axis=1)

        groups = np.arange(len(names))
        return cls(names, groups, _classes(model), _OfNumbers(model, decode), encode, decode, None)

    @property
    def expansion(self) -> KernelExpansion | WindowSums | None:
        """The kernels that the innermost classifier is made of, if it is made of kernels."""
        make = getattr(self.fitted, "_expansion", None)
        return None if make is None else make()

    @property
    def training_rows(self) -> FloatArray | None:
        """The training rows that the classifier has kept, as numbers."""
        rows = getattr(self.fitted, "X_fit_", None)
        if rows is None:
            return None
        refuse_dask(rows, "An explanation", "the training rows are in blocks", "fit rows in memory")
        return np.asarray(to_numpy(rows), dtype=np.float64)

    @property
    def has_scores(self) -> bool:
        """Whether scores are the classifier's own, and not its probabilities."""
        return hasattr(self.model, "decision_function")

    def unit_of(self, Z: FloatArray, scores: FloatArray) -> str:
        """Return what differences of the scores of these rows are."""
        if not self.has_scores:
            return "probability"
        if not hasattr(self.model, "predict_proba"):
            return "score"
        shares = self.probabilities(Z)
        told = (shares > _LEAST_SHARE).all(axis=1)
        logs = np.log(shares[told])
        rest = (logs - logs[:, :1]) - (scores[told] - scores[told, :1])
        is_log = np.abs(rest).max(initial=0.0) < _SAME_ODDS
        return "log odds" if hasattr(self.fitted, "_log_odds") or is_log else "score"

    def scores(self, Z: FloatArray) -> FloatArray:
        """Return a score of each class: log odds, what else it decides by, or probabilities."""
        if not self.has_scores:
            return self.probabilities(Z)
        found = np.asarray(to_numpy(self.model.decision_function(self.as_fitted(Z))), np.float64)
        if found.ndim == 1:
            found = np.column_stack([-found / 2, found / 2])
        if hasattr(self.fitted, "_log_odds"):  # Scores of some have no temperature.
            found = np.asarray(to_numpy(self.fitted._log_odds(found)), np.float64)
        if not np.abs(found).max(initial=0.0) < _LARGEST_SCORE:
            raise ValueError(
                f"{type(self.fitted).__name__} has scores that are not finite here, because no "
                "window reaches some row: take a kernel that reaches everywhere, as 'gaussian'."
            )
        return found

    def probabilities(self, Z: FloatArray) -> FloatArray:
        """Return the probabilities of the classes, or 1 for the predicted one."""
        Z = self.as_fitted(Z)
        if hasattr(self.model, "predict_proba"):
            return np.asarray(to_numpy(self.model.predict_proba(Z)), np.float64)
        answers = to_numpy(self.model.predict(Z))
        return np.asarray(answers[:, None] == self.classes, dtype=np.float64)

    def predict(self, Z: FloatArray) -> NDArray[np.intp]:
        """Return the number of the predicted class of each row."""
        answers = to_numpy(self.model.predict(self.as_fitted(Z)))
        is_class = answers[:, None] == self.classes
        if not is_class.any(axis=1).all():
            raise ValueError(
                f"{type(self.model).__name__} predicts {str(answers[~is_class.any(axis=1)][0])!r}, "
                "which is none of its classes_."
            )
        return np.asarray(is_class.argmax(axis=1), dtype=np.intp)

    def as_fitted(self, Z: FloatArray) -> Any:
        """Return rows as the classifier wants them: a frame if it knows names of columns."""
        names = getattr(self.model, "feature_names_in_", None)
        return Z if names is None else pd.DataFrame(Z, columns=names)


def check_count(name: str, count: Any, least: int) -> None:
    """Raise ValueError unless a parameter is a whole number, and not too small."""
    if isinstance(count, bool) or not isinstance(count, Integral) or count < least:
        raise ValueError(f"{name} must be a whole number, {least} or more; got {count!r}.")


def _is_nothing(step: Any) -> bool:
    return step is None or step == "passthrough"


def _innermost(model: Any) -> Any:
    """Return the classifier within Mercer's own wrappers, which answer by it."""
    while type(model).__module__.startswith("mercer.") and hasattr(model, "estimator_"):
        model = model.estimator_
    return model


def _classes(model: Any) -> NDArray[Any]:
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise ValueError(f"{type(model).__name__} is no fitted classifier: it has no classes_.")
    classes = np.asarray(to_numpy(classes))
    if len(classes) < 2:
        raise ValueError("A classifier of one class always answers the same: there is no reason.")
    return classes


def _names(model: Any) -> tuple[str, ...]:
    """Return names of the columns that a classifier is given."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return tuple(map(str, names))
    n_columns = getattr(model, "n_features_in_", None)
    if n_columns is None:
        raise NotFittedError(
            f"{type(model).__name__} does not say how many columns it was fitted on."
        )
    return tuple(f"x{k}" for k in range(n_columns))


def _rows(X: Any, n_columns: int, *, any_kind: bool = False) -> Any:
    """Return rows of numbers as an array, or rows of any kind as they are."""
    refuse_tensor(X, _Explanation())
    refuse_dask(
        X, "An explanation", "rows are explained one by one", "take some, X[rows].compute()"
    )
    try:
        rows = (
            X
            if any_kind and hasattr(X, "columns")
            else np.asarray(X, dtype=None if any_kind else np.float64)
        )
    except (TypeError, ValueError):
        raise ValueError("X must be a table of numbers, rows by columns.") from None
    if rows.ndim != 2 or rows.shape[1] != n_columns:
        raise ValueError(f"X must have {n_columns} columns, one row for each; got {rows.shape}.")
    return rows


class _Explanation:
    """Names what refuses a tensor."""


class _Values:
    """The values of a column that have been seen, one after the other."""

    def __init__(self) -> None:
        self._seen: list[pd.Series] = []
        self._count = 0

    def numbers(self, column: pd.Series) -> NDArray[np.intp]:
        """Keep the values of a column, and return the number of each."""
        self._seen.append(column.reset_index(drop=True))
        self._count += len(column)
        return np.arange(self._count - len(column), self._count)

    def take(self, numbers: FloatArray) -> pd.Series:
        """Return the values with these numbers."""
        every = self._seen[0] if len(self._seen) == 1 else pd.concat(self._seen, ignore_index=True)
        return every.iloc[numbers.astype(np.intp)].reset_index(drop=True)


class _OfNumbers:
    """A classifier of a frame, as one of the numbers of its values."""

    def __init__(self, model: Any, decode: Callable[[FloatArray], pd.DataFrame]) -> None:
        self.classes_ = model.classes_
        for name in ("predict", "predict_proba", "decision_function"):
            if hasattr(model, name):
                setattr(self, name, self._on_frames(getattr(model, name), decode, model))

    @staticmethod
    def _on_frames(
        method: Callable[[Any], Any], decode: Callable[[FloatArray], pd.DataFrame], model: Any
    ) -> Callable[[FloatArray], Any]:
        has_names = hasattr(model, "feature_names_in_")

        def answer(Z: FloatArray) -> Any:
            frame = decode(Z)
            return method(frame if has_names else frame.to_numpy())

        return answer
