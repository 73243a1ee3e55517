"""The training rows that speak most for and against an answer: the terms of its kernel sums."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from mercer._arrays import FloatArray, to_numpy
from mercer._memory import row_slabs, working_memory
from mercer.explanations._setting import Setting
from mercer.kernels import KernelExpansion, WindowSums, squared_distances


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """For each row that is explained, training rows with what they contribute, largest first.

    Parameters
    ----------
    terms : ndarray of int of shape (n_rows, n_terms)
        Their places among the rows that the classifier has kept, for :func:`readable_rows`; −1
        where there are fewer.
    row_numbers : ndarray of int of shape (n_rows, n_terms) or None
        Their places among the rows that were given to `fit`, from 0; None if these are not known.
    classes : ndarray of shape (n_rows, n_terms) or None
        Their classes; None if these are not known.
    contributions : ndarray of shape (n_rows, n_terms)
        What each adds to the score, or takes from it; zero where there are fewer.
    shares : ndarray of shape (n_rows, n_terms)
        The same as shares of what all training rows on this side contribute.
    similarities : ndarray of shape (n_rows, n_terms)
        The kernel of the two rows: 1 for the same row, 0 for one that is far away.
    """

    terms: NDArray[np.intp]
    row_numbers: NDArray[np.intp] | None
    classes: NDArray[Any] | None
    contributions: FloatArray
    shares: FloatArray
    similarities: FloatArray


def speaking_rows(
    setting: Setting,
    Z: FloatArray,
    predicted: NDArray[np.intp],
    against: NDArray[np.intp],
    n_rows: int,
) -> tuple[TrainingRows, TrainingRows] | None:
    """Return the training rows that speak for each answer, and those that speak against it.

    Parameters
    ----------
    setting : Setting
    Z : ndarray of shape (n, n_numbers)
    predicted, against : ndarray of int of shape (n,)
        Classes: a row speaks for the first if it adds to its score less that of the second.
    n_rows : int
        How many on either side.

    Returns
    -------
    tuple of two TrainingRows, or None where the classifier is no sum of kernels of training rows
    """
    expansion = setting.expansion
    if expansion is None or n_rows < 1:
        return None
    terms = np.asarray(to_numpy(expansion.rows), dtype=np.float64)
    codes = getattr(setting.fitted, "_codes", None)
    codes = None if codes is None else to_numpy(codes).astype(np.intp)
    most = min(n_rows, len(terms))
    sides = [_Side.empty(len(Z), most) for _ in range(2)]
    for start, stop in row_slabs(len(Z), 8 * 10 * len(terms), working_memory() // 2):
        rows = slice(start, stop)
        of = predicted[rows], against[rows]
        if isinstance(expansion, KernelExpansion):
            similar, added = _of_expansion(expansion, Z[rows], terms, *of)
        elif codes is not None:
            shares = setting.probabilities(Z[rows])
            similar, added = _of_windows(expansion, Z[rows], terms, codes, shares, *of)
        for sign, side in zip((1.0, -1.0), sides, strict=True):
            side.fill(rows, sign * added, similar)
    support = getattr(setting.fitted, "support_", None)
    if support is not None and setting.fitted is not setting.model and not _sees_all(setting):
        support = None
    support = None if support is None else to_numpy(support)
    names = None if codes is None else setting.classes[codes]
    found = [
        TrainingRows(
            side.terms,
            None if support is None else np.where(side.terms < 0, -1, support[side.terms]),
            None if names is None else names[side.terms],
            sign * side.added,
            side.added / np.maximum(side.total, np.finfo(float).tiny)[:, None],
            side.similar,
        )
        for sign, side in zip((1.0, -1.0), sides, strict=True)
    ]
    return found[0], found[1]


def _sees_all(setting: Setting) -> bool:
    """Whether the innermost classifier was fitted on all rows that its wrappers were given."""
    return not hasattr(setting.model, "n_rows_fitted_")


def _of_expansion(
    expansion: KernelExpansion,
    Z: FloatArray,
    terms: FloatArray,
    predicted: NDArray[np.intp],
    against: NDArray[np.intp],
) -> tuple[FloatArray, FloatArray]:
    """Return kernels with all terms, and what these add to the difference of the scores."""
    coef = to_numpy(expansion.coef)
    K = to_numpy(expansion.kernel.matrix(Z, terms))
    return K, K * (coef[:, predicted] - coef[:, against]).T


def _of_windows(
    sums: WindowSums,
    Z: FloatArray,
    terms: FloatArray,
    codes: NDArray[np.intp],
    shares: FloatArray,
    predicted: NDArray[np.intp],
    against: NDArray[np.intp],
) -> tuple[FloatArray, FloatArray]:
    """Return windows at all terms, and the share of each in the probability of its class.

    A class's probability is shared out over its rows as its sum of windows is; rows of the
    class that is spoken against count as negative, and those of other classes not at all.
    """
    if sums.kernel.metric == "cityblock":
        squared = cdist(Z, terms, "cityblock") ** 2
    else:
        squared = squared_distances(Z, terms)
    logs = sums.log_terms(squared, codes)
    similar = np.exp(logs)
    with np.errstate(divide="ignore"):
        logs += np.log(to_numpy(sums.weights))
    added = np.zeros_like(logs)
    for of, sign in ((predicted, 1.0), (against, -1.0)):
        own = codes == of[:, None]
        inside = np.where(own, logs, -np.inf)
        top = inside.max(axis=1, keepdims=True)
        parts = np.exp(inside - np.where(np.isfinite(top), top, 0.0))
        total = np.maximum(parts.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        added += sign * parts / total * np.take_along_axis(shares, of[:, None], axis=1)
    return similar, added


@dataclass(frozen=True, eq=False)
class _Side:
    """The terms with the greatest positive contributions, and what all positive ones add up to."""

    terms: NDArray[np.intp]
    added: FloatArray
    similar: FloatArray
    total: FloatArray

    @classmethod
    def empty(cls, n: int, most: int) -> "_Side":
        return cls(np.full((n, most), -1), np.zeros((n, most)), np.zeros((n, most)), np.zeros(n))

    def fill(self, rows: slice, added: FloatArray, similar: FloatArray) -> None:
        """Set the greatest positive ones of some rows."""
        most = self.terms.shape[1]
        some = np.argpartition(-added, most - 1, axis=1)[:, :most]
        order = np.argsort(-np.take_along_axis(added, some, axis=1), axis=1, kind="stable")
        top = np.take_along_axis(some, order, axis=1)
        values = np.take_along_axis(added, top, axis=1)
        is_there = values > 0
        self.terms[rows] = np.where(is_there, top, -1)
        self.added[rows] = np.where(is_there, values, 0.0)
        self.total[rows] = np.maximum(added, 0.0).sum(axis=1)
        self.similar[rows] = np.where(is_there, np.take_along_axis(similar, top, axis=1), 0.0)


def readable_rows(model: Any, terms: Any) -> pd.DataFrame:
    """Return training rows that a classifier has kept, with the values that the user's table had.

    A model file holds no table: the values are worked out backwards from the numbers that the
    classifier sees.  A number that was clipped is shown as the limit, a rare category as
    "(infrequent)".

    Parameters
    ----------
    model : pipeline or classifier
        Fitted; it must keep training rows, as Mercer's classifiers do.
    terms : array-like of int
        Places among the rows that it has kept, as in :class:`TrainingRows`.

    Returns
    -------
    pandas.DataFrame
        A row for each place, with the columns of the user's table.

    Raises
    ------
    ValueError
        Where the classifier keeps no training rows, or there is no such place.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelFisherDiscriminant
    >>> from mercer.explanations import readable_rows
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = KernelFisherDiscriminant(kernel="rbf").fit(X, y)
    >>> readable_rows(model, [0]).iloc[0, 0]
    np.float64(5.1)
    """
    setting = Setting.of(model)
    kept = setting.training_rows
    if kept is None:
        raise ValueError(f"{type(setting.fitted).__name__} keeps no training rows.")
    places = np.atleast_1d(np.asarray(terms, dtype=np.intp)).ravel()
    if len(places) and not (places.min() >= 0 and places.max() < len(kept)):
        raise ValueError(f"terms must lie between 0 and {len(kept) - 1}, the rows that are kept.")
    return setting.decode(kept[places])
