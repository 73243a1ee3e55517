"""What maps without labels share: coordinates of the rows, and of new ones among them."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, refuse_tensor
from mercer._memory import by_slabs
from mercer.samples import check_new_rows, check_size


class NeighborEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An embedding whose `transform` places new rows among the neighbours that they have.

    A subclass has `fit`, which keeps `X_fit_` and `embedding_`, and two methods: `_extend` returns
    the coordinates of some rows, `_bytes_per_row` how much memory each of them takes meanwhile.
    """

    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """Embed the training rows and return their coordinates, `embedding_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : Ignored
            Not used: it is there for pipelines.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates of the rows.
        """
        embedding: FloatArray = self.fit(X).embedding_
        return embedding

    def transform(self, X: Any) -> FloatArray:
        """Return the coordinates of rows, old or new.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        check_is_fitted(self)
        refuse_tensor(X, self)
        X = check_new_rows(self, X, None)
        check_size(X)
        out: FloatArray = by_slabs(
            lambda rows: self._extend(rows.astype(np.float64, copy=False)),
            X,
            self._bytes_per_row(),
        )
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # They are made dense, if that fits the memory budget.
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])
