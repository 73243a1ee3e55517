"""Categories of columns that have very many → how often each class was among their rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer.tables.preparing._dummies import columns_of, found_among, names_of


class ClassShares(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Turn a category into the share that each class has of its training rows.

    A category with few rows is drawn towards all rows, as in the posterior mean of a share:

    .. math:: (n_{kc} + m \, p_c) / (n_k + m), \qquad m = p (1 - p) / \tau^2 - 1

    with :math:`n_{kc}` of the :math:`n_k` rows of category k in class c, :math:`p_c` the share of
    the class, and :math:`\tau^2` the variance between categories beyond that of counting, summed
    over classes as :math:`p (1 - p)` is.  Where there is none, all categories are 0: the column
    tells nothing.  In `fit_transform`, the shares of a row are those of the other folds, so that no
    row sees its own class.  A category that `fit` did not see counts as all rows do, and a missing
    value as a category.  Of two classes there is one number, of more one for each class; together
    they have the variance of one standardised number.

    Parameters
    ----------
    n_folds : int, default=5
        Folds of `fit_transform`.
    random_state : int, default=0
        Seed of the folds.
    """

    def __init__(self, *, n_folds: int = 5, random_state: int = 0) -> None:
        self.n_folds = n_folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "ClassShares":
        """Learn the shares; without classes there are no numbers."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """Learn the shares, and return for each row those of the folds that it is not in."""
        columns = list(columns_of(self, X, reset=True))
        n_rows = len(columns[0])
        labels = np.zeros(n_rows, dtype=np.intp)
        n_classes = 1
        if y is not None:
            classes, labels = np.unique(np.asarray(y), return_inverse=True)
            n_classes = len(classes)
        self.n_numbers_ = {1: 0, 2: 1}.get(n_classes, n_classes)
        self.categories_ = [names_of(column) for column in columns]
        folds = np.random.default_rng(self.random_state).permutation(n_rows) % self.n_folds
        blocks, self.shares_ = [], []
        for column in columns:
            codes, n_levels = column.codes.astype(np.intp), len(column.categories) + 1
            tables = np.zeros((self.n_folds, n_levels, n_classes))
            np.add.at(tables, (folds, codes, labels), 1.0)
            total = tables.sum(axis=0)
            apart = np.stack([_deviations(total - table) for table in tables])[folds, codes]
            apart = apart[:, n_classes - self.n_numbers_ :]
            spread = np.sqrt(apart.var(axis=0).sum()) if apart.size else 0.0
            scale = 1 / spread if spread > 0 else 0.0
            blocks.append(apart * scale)
            self.shares_.append(_deviations(total)[:, n_classes - self.n_numbers_ :] * scale)
        return np.hstack(blocks)

    def transform(self, X: Any) -> FloatArray:
        """Return the numbers of rows that were not in `fit`."""
        check_is_fitted(self)
        return self._shares_of(list(columns_of(self, X, reset=False)))

    def _shares_of(self, columns: Sequence[pd.Categorical]) -> FloatArray:
        blocks = []
        for column, known, shares in zip(columns, self.categories_, self.shares_, strict=True):
            is_known, places = found_among(known, names_of(column))
            by_name = np.where(is_known[:, None], shares[places], 0.0)
            blocks.append(np.vstack([by_name, shares[-1:]])[column.codes])
        return np.hstack(blocks)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the numbers after their column."""
        features = super().get_feature_names_out(input_features)
        names = [f"{one}_share{k}" for one in features for k in range(self.n_numbers_)]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags


def _deviations(counts: FloatArray) -> FloatArray:
    """Return how far the share of each class lies from that of all rows, drawn towards it.

    ``counts`` has a row for each category and a column for each class.
    """
    sizes = counts.sum(axis=1, keepdims=True)
    n = sizes.sum()
    if not n:
        return np.zeros_like(counts)
    p = counts.sum(axis=0) / n
    apart = counts - sizes * p  # n_k (p_kc − p_c)
    n_seen = np.count_nonzero(sizes)
    within = float(np.sum(p * (1 - p)))
    # Between categories the weighted squares sum up to (seen − 1) p(1 − p) + τ² (n − Σ n_k²/n).
    between = float((apart**2 / np.maximum(sizes, 1.0)).sum())
    room = float(n - (sizes**2).sum() / n)
    variance = (between - (n_seen - 1) * within) / room if room > 0 else 0.0
    if variance <= 0:
        return np.zeros_like(counts)
    strength = max(within / variance - 1, 0.0)
    drawn: FloatArray = apart / np.maximum(sizes + strength, 1.0)
    return drawn
