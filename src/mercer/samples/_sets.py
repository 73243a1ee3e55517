"""Prediction sets: the classes that suit a row no worse than their own class suited most others.

How badly a class suits a row is measured by the odds against it.  Training rows that were left out
say how large these odds are for classes that are right.

V. Vovk, A. Gammerman, G. Shafer (2005). Algorithmic learning in a random world. Springer.
M. Sadinle, J. Lei, L. Wasserman (2019). Least ambiguous set-valued classifiers with bounded error
levels. Journal of the American Statistical Association 114, 223-234.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import Array, FloatArray, to_numpy
from mercer.samples._answers import ProbabilityClassifier
from mercer.samples._in_memory import log_sum_of_others

# A rank that rounding has put this much above a whole number is that number.
_ROUNDING = 1e-12


def log_odds_against(scores: Array) -> Array:
    """Return log((1 − p) / p) of every class, and −inf for the answer, the class of most score.

    These are the probabilities' odds in logs, so that nothing is rounded to certainty.  The answer
    comes before everything else: a set holds it, and where it is right often enough, nothing else.

    Parameters
    ----------
    scores : array of shape (…, n_classes)
        Logarithms of probabilities up to a constant of each row; −inf is a class that cannot be.
    """
    xp = array_namespace(scores)
    classes = xp.arange(scores.shape[-1], device=getattr(scores, "device", None))
    answer = xp.expand_dims(xp.argmax(scores, axis=-1), axis=-1)
    cannot_be = scores == -float("inf")
    odds = log_sum_of_others(scores) - xp.where(cannot_be, xp.zeros_like(scores), scores)
    odds = xp.where(cannot_be, xp.full_like(scores, float("inf")), odds)
    return xp.where(classes == answer, xp.full_like(scores, -float("inf")), odds)


@dataclass(frozen=True)
class LeftOutScores:
    """How badly the class of each training row suited it when the row was left out.

    Attributes
    ----------
    odds : array of shape (n_rows,)
        The logarithm of the odds against the row's own class; −inf where that was the answer.
    weights : array of shape (n_rows,)
        How many rows each one stands for.
    """

    odds: Array
    weights: Array

    @classmethod
    def of(cls, scores: Array, codes: Array, weights: Array) -> "LeftOutScores":
        """Keep what the scores (n_rows, n_classes) of left-out rows say of their own classes."""
        odds, own = to_numpy(log_odds_against(scores)), to_numpy(codes)
        kept: FloatArray = odds[np.arange(len(own)), own]
        return cls(kept, to_numpy(weights).astype(np.float64))

    def enough(self, coverage: float) -> float:
        """Return the weight of rows with smaller odds at which a class is left out of a set.

        A new row is one more among them: with n rows that is coverage · (n + 1).
        """
        total = float(to_numpy(self.weights).sum()) + 1.0
        return coverage * total * (1.0 - _ROUNDING)

    def most_odds(self, coverage: float) -> float:
        """Return the largest odds of a class in a set; inf where the rows are too few to tell."""
        odds, weights = to_numpy(self.odds), to_numpy(self.weights)
        order = np.argsort(odds)
        found = int(np.searchsorted(np.cumsum(weights[order]), self.enough(coverage)))
        return float(odds[order[found]]) if found < len(order) else float("inf")


class SetClassifier(ProbabilityClassifier):
    """Base of classifiers that answer by sets of classes too.

    Their `fit` keeps `_left_out`, the scores of the training rows that were left out; None where
    none were.
    """

    _left_out: LeftOutScores | None = None

    def _leaves_out_rows(self) -> bool:
        """Tell whether `fit` leaves out rows, with the parameters as they are."""
        return True

    @available_if(lambda model: model._leaves_out_rows())
    def predict_set(self, X: Any, coverage: float = 0.9) -> Array:
        """Return the classes that may be right: sets with the true class as often as asked for.

        A set holds the predicted class, and every class against which the odds are no longer
        than those against the own classes of a share `coverage` of the training rows, each of
        which was left out.  Where the predicted class is right more often than `coverage`, it is
        alone in every set, and sets hold the true class as often as it is right.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        coverage : float, default=0.9
            Share of new rows whose set holds the true class, between 0 and 1.

        Returns
        -------
        array of bool of shape (n_samples, n_classes)
            Which classes, in the order of ``classes_``, are in the set of each row.
        """
        most = self._check_left_out(coverage).most_odds(coverage)
        return self._answer(
            X,
            lambda scores: log_odds_against(self._log_odds(scores)) <= most,
            len(self.classes_),
            np.bool_,
        )

    def _check_left_out(self, coverage: float) -> LeftOutScores:
        """Return what is known of left-out rows; refuse a coverage that is not a share."""
        check_is_fitted(self)
        check_coverage(coverage)
        if self._left_out is None:
            raise ValueError(
                f"This {type(self).__name__} knows nothing of left-out rows, which sets need: fit "
                "it again, with one bandwidth where each class has its own."
            )
        return self._left_out


def check_coverage(coverage: Any) -> None:
    """Raise ValueError unless a coverage is a number between 0 and 1."""
    if not isinstance(coverage, Real) or not 0 < float(coverage) < 1:
        raise ValueError(f"coverage must be a number above 0 and below 1; got {coverage!r}.")
