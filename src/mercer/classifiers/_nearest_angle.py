"""The class to whose mean a point has the smallest angle, in the space of the features."""

from typing import Any, ClassVar

from array_api_compat import array_namespace

from mercer._arrays import Array
from mercer._sklearn import fit_context
from mercer.samples import ScoreClassifier, check_training


class NearestAngleClassifier(ScoreClassifier):
    r"""Classify by the cosine to class means.

    A class is the mean of its rows, a point goes to the class whose mean vector makes the
    smallest angle with it.  That is the rule of the Laplacian classifier in coordinates that are
    already there: use it after :class:`mercer.LaplacianFeatureMap`.

    .. math:: c^*(x) = \arg\max_c \frac{x \cdot m_c}{\|x\| \, \|m_c\|}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    means_ : ndarray of shape (n_classes, n_features)
        Means of the classes.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    mercer.LaplacianClassifier : The same in the kernel's whole feature space.
    sklearn.neighbors.NearestCentroid : Distances instead of angles.

    Notes
    -----
    Time and memory are linear in the table.  A row or mean of length zero has cosine 0 with
    everything.  This is (16) of [1]_ with an explicit map.

    References
    ----------
    .. [1] R. Jenssen, D. Erdogmus, J. C. Principe and T. Eltoft, "The Laplacian classifier",
       IEEE Transactions on Signal Processing 55(7), 3262–3271, 2007.
       https://doi.org/10.1109/TSP.2007.894391

    Examples
    --------
    >>> from mercer import NearestAngleClassifier
    >>> model = NearestAngleClassifier().fit([[1, 0], [9, 1], [0, 2]], ["east", "east", "north"])
    >>> model.predict([[100, 90], [1, 2]])
    array(['east', 'north'], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "NearestAngleClassifier":
        """Find the class means.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        self
            The fitted estimator.
        """
        sample = check_training(self, X, y, sample_weight, one_width=False).sorted()
        shares = sample.weights / sample.of_own_class(sample.counts)
        xp = array_namespace(sample.X)
        self.means_ = sample.class_sums(shares * xp.astype(sample.X, xp.float64).T).T
        return self

    @property
    def _fitted(self) -> Array:
        return self.means_

    def _scores(self, X: Array) -> Array:
        """Return the cosines to the class means."""
        xp = array_namespace(X)
        return _unit(xp.astype(X, xp.float64)) @ _unit(self.means_).T

    def _bytes_per_row(self, X: Array) -> int:
        return int(8 * (4 * X.shape[1] + 6 * len(self.classes_)))


def _unit(A: Array) -> Array:
    """Divide rows by their lengths, also extreme ones; rows of zeros stay."""
    xp = array_namespace(A)
    largest = xp.max(xp.abs(A), axis=1, keepdims=True)
    A = A / xp.where(largest > 0, largest, 1.0)
    lengths = xp.sqrt(xp.sum(A * A, axis=1, keepdims=True))
    return A / xp.where(lengths > 0, lengths, 1.0)
