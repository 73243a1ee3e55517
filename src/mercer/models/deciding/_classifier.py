"""``DecidingClassifier``: a classifier whose answers follow costs, or find a class for sure."""

import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, to_numpy
from mercer._memory import by_slabs
from mercer._sklearn import HasMethods, Interval, fit_context, take_rows_of_any
from mercer._system.words import quoted
from mercer.models._device import OnDevice
from mercer.models._folds import left_out_values
from mercer.models._wrappers import (
    CappedClassifier,
    DelegatingClassifier,
    check_classes,
    check_indexable,
    keep_features,
)
from mercer.models.deciding._correction import Correction, fit_correction
from mercer.models.deciding._rules import (
    at_threshold,
    choose_threshold,
    least_cost,
    raw_threshold,
    rows_needed,
    shares_of_class,
)
from mercer.models.deciding._sentences import (
    PLAIN_SENTENCE,
    check_costs,
    check_recall,
    costs_sentence,
    recall_sentence,
    too_few_rows,
)
from mercer.spectral import stratified_rows

# Up to so many rows of a class its recall is promised by leave-one-out in closed form.  Kernel and
# scales were chosen with the same rows, which flatters a little: less than the promise keeps
# back for few rows, but perhaps more than it keeps back for many.  The number is a judgement.
_MOST_LOO_ROWS = 300
_TABLES = 6  # An answer holds this many arrays of (rows, classes) at once.


class TooFewRowsWarning(UserWarning):
    """A class has too few rows for the recall that was asked for."""


class DecidingClassifier(DelegatingClassifier):
    r"""Answer by what mistakes cost, or so that a class is not missed.

    The most probable class is the best answer only where all mistakes are equally bad.  With
    ``costs`` the answer is the class of the least expected cost.  With ``recall`` a class becomes
    the answer from a lower probability on: the highest at which so many of its rows are found,
    new ones too, with the confidence asked for, and so with the fewest false alarms.  That
    probability is chosen on rows left out: in closed form where the classifier has ``loo_proba_``,
    as `KernelFisherDiscriminant` has, else by folds.

    Parameters
    ----------
    estimator : classifier
        With `predict_proba`.
    costs : array-like of shape (n_classes, n_classes), default=None
        What it costs to answer the class of the column where that of the row is true, both in the
        order of the sorted classes.  In a DataFrame both are found by their names.  Only
        differences within a row count, and being right must be the cheapest.
    recall : dict of one class to a number between 0 and 1, default=None
        Which share of the rows of that class are to be found, such as ``{"malignant": 0.98}``.
    confidence : float, default=0.95
        The probability, over draws of the training rows, that the recall is kept.
    n_splits : int, default=3
        Folds, where the classifier has no ``loo_proba_``, or the class of `recall` more than 300
        rows; fewer where the largest class has fewer rows.
    max_rows : int, default=10000
        The most rows that the folds are made of; classes keep their shares.
    random_state : int, RandomState or None, default=None
        For the rows and the folds.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on all rows.
    decision_ : str
        One sentence that says how the answer follows from the probabilities.
    costs_ : ndarray of shape (n_classes, n_classes) or None
        As used.
    threshold_ : float or None
        With `recall`: p(c) / (p(c) + p(the most probable other class)) from which on class c is the
        answer, for two classes its probability; never more than 1/2.  With `costs` and two
        classes: the probability from which on the second is; None where none tells them apart.
    promised_recall_ : float or None
        The recall that the threshold promises, with the confidence asked for.  Less than `recall`
        where the class has too few rows.
    slope_, offsets_ : float and ndarray of shape (n_classes,), or None
        With `costs`: expected costs are those of probabilities in proportion to
        exp(slope·ln p + offset), which give the classes of left-out rows the best odds.
    n_left_out_ : int or None
        Left-out rows by which the rule was chosen; with `recall` those of the class.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    Warns
    -----
    TooFewRowsWarning
        Where the class has fewer rows than the promise takes: at 95 % confidence 149 for a recall
        of 0.98, 29 for 0.9.  Then the threshold is that at which all left-out rows are found.

    See Also
    --------
    sklearn.model_selection.TunedThresholdClassifierCV : Two classes, a metric as large as it gets
        on folds, and no promise.

    Notes
    -----
    `predict_proba` stays that of the classifier.  With `costs` it should be calibrated, and not
    balanced, as the answer follows from it.  The promise holds for rows drawn like those of the
    fit, and takes left-out rows of a class for independent ones.  Leave-one-out in closed form
    flatters a little, as it chose the kernel too, so that it makes promises of up to 300 rows of a
    class only, where that is less than what few rows take.  Folds leave out more than one
    row, so that shares are a little lower and the threshold with them: the recall is higher, and
    so are false alarms.  See docs/decisions.md for what was measured.

    References
    ----------
    .. [1] C. Elkan (2001). The foundations of cost-sensitive learning. IJCAI, 973-978.
    .. [2] S. S. Wilks (1941). Determination of sample sizes for setting tolerance limits. The
       Annals of Mathematical Statistics 12, 91-96. https://doi.org/10.1214/aoms/1177731788

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer.models import DecidingClassifier
    >>> bunch = load_breast_cancer()
    >>> X, y = bunch.data, bunch.target_names[bunch.target]
    >>> halves = X[::2], y[::2]
    >>> plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(*halves)
    >>> wish = DecidingClassifier(plain, recall={"malignant": 0.95}, random_state=0).fit(*halves)
    >>> found = [model.predict(X[1::2])[y[1::2] == "malignant"] for model in (plain, wish)]
    >>> [round(float((answers == "malignant").mean()), 3) for answers in found]
    [0.909, 0.955]
    >>> print(wish.decision_.partition(";")[0])
    The answer is 'malignant' from a probability of 0.27 on
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict_proba"])],
        "costs": ["array-like", None],
        "recall": [dict, None],
        "confidence": [Interval(Real, 0, 1, closed="neither")],
        "n_splits": [Interval(Integral, 2, None, closed="left")],
        "max_rows": [Interval(Integral, 4, None, closed="left")],
        "random_state": ["random_state"],
    }

    costs_: FloatArray | None
    threshold_: float | None
    promised_recall_: float | None
    slope_: float | None
    offsets_: FloatArray | None
    n_left_out_: int | None

    def __init__(
        self,
        estimator: Any,
        *,
        costs: Any = None,
        recall: Mapping[Any, float] | None = None,
        confidence: float = 0.95,
        n_splits: int = 3,
        max_rows: int = 10_000,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.recall = recall
        self.confidence = confidence
        self.n_splits = n_splits
        self.max_rows = max_rows
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> "DecidingClassifier":
        """Fit the classifier, and choose the rule on rows left out.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples,)
            Rows of any kind that the estimator takes: numbers, texts, a DataFrame.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        self
            The fitted estimator.
        """
        X = check_indexable(X, self)
        y = check_classes(X, y, self)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if self.costs is not None and self.recall is not None:
            raise ValueError("Give costs or recall, not both: each of them is a rule.")
        self.costs_ = None if self.costs is None else check_costs(self.costs, self.classes_)
        if self.recall is not None:  # what is wrong with it is said before anything is fitted
            check_recall(self.recall, self.classes_)
        self.estimator_ = clone(self.estimator).fit(X, y)
        keep_features(self, self.estimator_)
        self.threshold_ = self.promised_recall_ = self.n_left_out_ = None
        self.slope_ = self.offsets_ = None
        self.decision_ = PLAIN_SENTENCE
        if self.recall is not None:
            c, _ = check_recall(self.recall, self.classes_)
            may_use_own = int(np.count_nonzero(labels == c)) <= _MOST_LOO_ROWS
            self._keep_recall(*self._left_out(X, labels, may_use_own=may_use_own))
        elif self.costs_ is not None:
            self._weigh_costs(self.costs_, *self._left_out(X, labels), labels)
        self._forget_left_out()
        return self

    def _keep_recall(self, proba: FloatArray, truth: NDArray[np.intp]) -> None:
        """Choose the threshold that keeps the recall, on rows that were left out."""
        c, wanted = check_recall(self.recall or {}, self.classes_)
        shares = shares_of_class(proba[truth == c], c)
        if not len(shares):
            raise ValueError(
                f"recall: no row of class {quoted(self.classes_[c])} could be left out, so that "
                "no threshold can be chosen."
            )
        found = choose_threshold(shares, wanted, self.confidence)
        self.threshold_, self.promised_recall_ = found.threshold, found.promised
        self.n_left_out_ = found.n_rows
        names = [str(name) for name in self.classes_.tolist()]
        self.decision_ = recall_sentence(names, c, wanted, self.confidence, found)
        n_needed = rows_needed(wanted, self.confidence)
        if found.n_rows < n_needed:
            warnings.warn(
                too_few_rows(names[c], found.n_rows, n_needed, wanted, self.confidence),
                TooFewRowsWarning,
                stacklevel=4,
            )

    def _weigh_costs(
        self,
        costs: FloatArray,
        proba: FloatArray,
        truth: NDArray[np.intp],
        labels: NDArray[np.intp],
    ) -> None:
        """Learn from rows that were left out how far probabilities can be believed."""
        n_classes = len(self.classes_)
        judged = np.bincount(truth, minlength=n_classes)
        weights = np.bincount(labels, minlength=n_classes) / np.maximum(judged, 1)
        weights *= len(truth) / len(labels)
        found = fit_correction(proba, truth, weights[truth])
        self.slope_, self.offsets_, self.n_left_out_ = found.slope, found.offsets, len(truth)
        if n_classes == 2:
            self.threshold_ = raw_threshold(costs, found.slope, found.offsets)
        names = [str(name) for name in self.classes_.tolist()]
        self.decision_ = costs_sentence(names, costs, self.threshold_)

    def _left_out(
        self, X: Any, labels: NDArray[np.intp], *, may_use_own: bool = True
    ) -> tuple[FloatArray, NDArray[np.intp]]:
        """Return probabilities of rows that were left out, and their classes.

        They are those that the classifier knows itself, if it may be asked, or those by folds.
        """
        inner = _scoring(self.estimator_)
        if may_use_own and hasattr(inner, "loo_proba_"):
            return np.asarray(to_numpy(inner.loo_proba_)), labels[to_numpy(inner.loo_rows_)]
        rng = check_random_state(self.random_state)
        rows = stratified_rows(labels, self.max_rows, 1.0, rng)
        some, truth = take_rows_of_any(X, rows), labels[rows]
        seed = int(rng.randint(2**31 - 1))
        options = (self.classes_, self.n_splits, seed)
        proba = left_out_values(self.estimator, some, truth, *options, _probabilities)
        return np.maximum(proba, 0.0), truth  # a class that a fold has not seen is impossible

    def _forget_left_out(self) -> None:
        """Let go of what only the choice of the rule needed, which a model file need not hold."""
        inner = _scoring(self.estimator_)
        for name in ("loo_proba_", "loo_rows_"):
            vars(inner).pop(name, None)

    def _answer(self, method: str, X: Any, **options: Any) -> NDArray[Any]:
        check_is_fitted(self)
        X = check_indexable(X, self)
        if method != "predict" or (self.costs_ is None and self.recall is None):
            return np.asarray(getattr(self.estimator_, method)(X, **options))
        each = 8 * len(self.classes_) * _TABLES
        return np.asarray(by_slabs(self._decide, X, each, take=take_rows_of_any))

    def decide(self, proba: Any) -> NDArray[Any]:
        """Return the classes that the rule answers for rows of these probabilities.

        Parameters
        ----------
        proba : array-like of shape (n_samples, n_classes)
            As `predict_proba` returns them.

        Returns
        -------
        ndarray of shape (n_samples,)
            A class for each row.
        """
        check_is_fitted(self)
        shares = np.asarray(proba, dtype=np.float64)
        if shares.ndim != 2 or shares.shape[1] != len(self.classes_):
            raise ValueError(
                f"proba must have a column for each of the {len(self.classes_)} classes, got shape "
                f"{shares.shape}."
            )
        if self.recall is not None and self.threshold_ is not None:
            c, _ = check_recall(self.recall, self.classes_)
            codes = at_threshold(shares, c, self.threshold_)
        elif self.costs_ is not None and self.slope_ is not None and self.offsets_ is not None:
            codes = least_cost(Correction(self.slope_, self.offsets_).apply(shares), self.costs_)
        else:
            codes = np.argmax(shares, axis=1)
        return np.asarray(self.classes_[codes])

    def _decide(self, X: Any) -> NDArray[Any]:
        """Return the classes of rows by the rule."""
        return self.decide(self.estimator_.predict_proba(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def _probabilities(model: Any, X: Any) -> FloatArray:
    return np.asarray(model.predict_proba(X))


def _scoring(fitted: Any) -> Any:
    """Return the classifier that may know of rows left out: itself, or that of a device."""
    return fitted.estimator_ if isinstance(fitted, OnDevice) else fitted


def decider_of(pipeline: Pipeline) -> DecidingClassifier | None:
    """Return what decides in a fitted pipeline, or None where the most probable class does."""
    model = pipeline[-1]
    if isinstance(model, CappedClassifier):
        model = model.estimator_
    return model if isinstance(model, DecidingClassifier) else None
