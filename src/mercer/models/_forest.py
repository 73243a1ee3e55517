"""A random forest that weighs classes whatever they are called."""

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.multiclass import check_classification_targets

__all__ = ["NamedForest"]


class NamedForest(RandomForestClassifier):
    """A random forest that is fitted on the numbers of the classes and answers by their names.

    With ``class_weight="balanced"`` scikit-learn's forest looks the text "1" up as the number 1
    and fails where classes are whole numbers as text, as the classes of a table are.
    ``"balanced_subsample"`` does not fail, but finds rare classes less often.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "NamedForest":
        """Fit the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        super().fit(X, codes, sample_weight)
        self.classes_ = classes
        return self
