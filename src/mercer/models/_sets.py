"""Prediction sets of a whole pipeline: scikit-learn's own knows no such method."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline


def has_sets(pipeline: Any) -> bool:
    """Tell whether a pipeline, fitted or not, answers by prediction sets.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline or classifier
        As :func:`make_model` or :func:`load_model` returns it, or any other.

    Returns
    -------
    bool
        Whether its classifier has a method ``predict_set``, with the parameters that it has.

    Examples
    --------
    >>> from mercer import KernelFisherDiscriminant
    >>> from mercer.models import has_sets
    >>> has_sets(KernelFisherDiscriminant())
    True
    """
    return hasattr(_classifier(pipeline), "predict_set")


def predict_set(pipeline: Any, X: Any, coverage: float = 0.9) -> NDArray[np.bool_]:
    """Return the classes that may be right, by a fitted pipeline whose classifier has sets.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline or classifier
        Fitted.
    X : array-like of shape (n_samples, n_features)
        Rows, as ``predict`` takes them.
    coverage : float, default=0.9
        Share of new rows whose set holds the true class, between 0 and 1.

    Returns
    -------
    ndarray of bool of shape (n_samples, n_classes)
        Which classes, in the order of ``classes_``, are in the set of each row; the predicted
        class always is.

    Raises
    ------
    ValueError
        Where the classifier has no sets, or the coverage is not a share.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import KernelFisherDiscriminant
    >>> from mercer.models import predict_set
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), KernelFisherDiscriminant(kernel="rbf"))
    >>> predict_set(model.fit(X[::2], y[::2]), X[[1, 133]], coverage=0.98).tolist()
    [[True, False, False], [False, True, True]]
    """
    model = _classifier(pipeline)
    if not has_sets(model):
        raise ValueError(
            f"{type(model).__name__} has no prediction sets: they need the scores of training rows "
            "that were left out, which Mercer's kernel classifiers keep."
        )
    if isinstance(pipeline, Pipeline) and len(pipeline.steps) > 1:
        X = pipeline[:-1].transform(X)
    found: NDArray[np.bool_] = model.predict_set(X, coverage)
    return found


def find_sets(pipeline: Any, X: Any, coverage: float) -> NDArray[np.bool_] | None:
    """Return what `predict_set` does, and None where a pipeline has no sets."""
    return predict_set(pipeline, X, coverage) if has_sets(pipeline) else None


def _classifier(pipeline: Any) -> Any:
    """Return the last step of a pipeline, or a classifier itself."""
    return pipeline.steps[-1][1] if isinstance(pipeline, Pipeline) else pipeline
