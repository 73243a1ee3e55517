"""Reasons for single answers: the shares of the columns, and the training rows that speak."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mercer._arrays import FloatArray
from mercer.explanations._background import Background
from mercer.explanations._setting import Setting, check_count
from mercer.explanations._shares import shares_of_rows
from mercer.explanations._training_rows import TrainingRows, speaking_rows


@dataclass(frozen=True, eq=False)
class RowReasons:
    """Why each of some rows got its answer.

    Every row is explained by one number, the score of the class that was predicted less that of
    the runner-up: a positive share speaks for the answer, a negative one against it.

    Parameters
    ----------
    columns : tuple of str
        The columns of the user's table that the classifier sees.
    predicted : ndarray of shape (n_rows,)
        The class that was predicted.
    against : ndarray of shape (n_rows,)
        The runner-up: of the other classes, the one with the highest score.
    scores : ndarray of shape (n_rows,)
        The score of the first less that of the second.
    base : ndarray of shape (n_rows,)
        The same on average over the rows of the background: what the row's columns start from.
    shares : ndarray of shape (n_rows, n_columns)
        Shapley values of the columns, which add up to ``scores − base`` in every row.
    standard_errors : ndarray of shape (n_rows, n_columns)
        Of the shares, because the background is drawn and, where shares are not exact, the walks;
        zero where neither is, NaN where a background of one row cannot tell.
    exact : bool
        Whether the shares are in closed form; else they come from walks in random order.
    unit : {"log odds", "score", "probability"}
        What scores are: logarithms of odds, other scores of the classifier, or, where it has
        none, probabilities.
    background : {"given", "training", "explained"}
        Where the rows of the background are from.
    n_background : int
        How many they are.
    supporting, opposing : TrainingRows or None
        The training rows that speak most for and against each answer; None where the classifier is
        no sum of kernels of training rows.
    """

    columns: tuple[str, ...]
    predicted: NDArray[Any]
    against: NDArray[Any]
    scores: FloatArray
    base: FloatArray
    shares: FloatArray
    standard_errors: FloatArray
    exact: bool
    unit: str
    background: str
    n_background: int
    supporting: TrainingRows | None = None
    opposing: TrainingRows | None = None


def explain_rows(
    model: Any,
    X: Any,
    *,
    background: Any = None,
    n_background: int = 100,
    n_rows: int = 5,
    random_state: Any = 0,
) -> RowReasons:
    r"""Return what speaks for and against the answer to each row.

    The share of a column is its Shapley value in a game whose players are the columns of the user's
    table: where a column plays, it has the value of the row, elsewhere that of a row of the
    background, over which the game is averaged (the "interventional" game of SHAP).  For sums of
    kernels that are products over columns ("rbf" and "laplacian" of the kernel Fisher discriminant,
    also with learned scales, and the plane of the ISE classifier) and for linear scores the shares
    are exact:

    .. math::

        \phi_g = \int_0^1 \sum_j a_j \, (u_{gj} - w_{gj}) \prod_{l \ne g}
        \bigl(t\,u_{lj} + (1 - t)\,w_{lj}\bigr) \, dt

    with the factors u of the row and w of the background row in the kernel with training row j; the
    integrand is a polynomial.  Of any other score, by walks from each row of the background to the
    row, in random orders and their reverses.

    Parameters
    ----------
    model : pipeline or classifier
        Fitted: what :func:`mercer.models.load_model` returns, or any classifier of scikit-learn's
        kind.
    X : DataFrame or array-like of shape (n_rows, n_columns)
        Rows, as `predict` takes them.
    background : DataFrame or array-like, default=None
        Rows to compare with.  None takes training rows that the classifier has kept, each of the
        different ones once, or where it keeps none the rows of X.
    n_background : int, default=100
        How many of these are drawn at most.
    n_rows : int, default=5
        How many training rows on either side.
    random_state : int, RandomState or None, default=0
        For the background and the walks.

    Returns
    -------
    RowReasons
        Shares, standard errors and training rows.

    Raises
    ------
    ValueError
        Where the model is no fitted classifier of two classes or more, or X does not fit it.

    Notes
    -----
    Cost of the exact shares of a row: some 2 · n_terms · n_background · n_columns² products.  Of
    sampled ones: predictions of 6 · n_background · n_columns rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelFisherDiscriminant
    >>> from mercer.explanations import explain_rows
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelFisherDiscriminant(kernel="rbf").fit(X, y)
    >>> reasons = explain_rows(model, X[:2])
    >>> reasons.exact, reasons.shares.shape
    (True, (2, 4))
    >>> bool(abs(reasons.base + reasons.shares.sum(axis=1) - reasons.scores).max() < 1e-6)
    True
    """
    setting = Setting.of(model)
    check_count("n_background", n_background, 1)
    check_count("n_rows", n_rows, 0)
    rng = check_random_state(random_state)
    Z = setting.encode(X)
    drawn = Background.draw(setting, Z, background, n_background, rng)
    scores, predicted = setting.scores(Z), setting.predict(Z)
    others = scores.copy()
    others[np.arange(len(Z)), predicted] = -np.inf
    against = others.argmax(axis=1)
    margins = scores[np.arange(len(Z)), predicted] - scores[np.arange(len(Z)), against]
    at_background = setting.scores(drawn.rows)

    shares = shares_of_rows(setting, Z, drawn, predicted, against, rng)
    sides = speaking_rows(setting, Z, predicted, against, n_rows)
    return RowReasons(
        columns=setting.columns,
        predicted=setting.classes[predicted],
        against=setting.classes[against],
        scores=margins,
        base=(at_background[:, predicted] - at_background[:, against]).mean(axis=0),
        shares=shares.values,
        standard_errors=shares.standard_errors,
        exact=shares.exact,
        unit=setting.unit_of(drawn.rows, at_background),
        background=drawn.source,
        n_background=len(drawn.rows),
        supporting=None if sides is None else sides[0],
        opposing=None if sides is None else sides[1],
    )
