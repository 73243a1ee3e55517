"""What both discriminants share: from discriminants of rows to classes, and checks of classes."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import Array, FloatArray, like, take_rows
from mercer._memory import by_slabs, explain_full_device
from mercer.discriminants._choice import Candidates, column_shares, describe_choice
from mercer.discriminants._trial import Trial
from mercer.kernels import KernelExpansion, KernelFunction
from mercer.samples import (
    SetClassifier,
    check_new_rows,
    check_priors,
    log_normalise,
    on_dask,
    validate_training,
    warn_of_scales,
)
from mercer.sums import combine_kernel

KERNEL_NAMES = {"auto", "exponential", "laplacian", "linear", "poly", "rbf"}
# In these kernels a wide column drowns the others.
_ONE_WIDTH = ("auto", "rbf", "exponential", "laplacian")


@on_dask(transform=lambda m: (m._n_features_out, np.float64))
class FisherDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SetClassifier):
    """Classify and project by discriminants Σⱼ αⱼ k(x, xⱼ).

    A subclass sets ``classes_``, ``dual_coef_`` (n_terms, C − 1), ``X_fit_`` (n_terms, d), the
    kernel by `_set_kernel`, and by `_set_rule` the rule that turns discriminants into scores,
    ``_rule_coef`` (C − 1, C) and ``_rule_intercept`` (C,), and ``_codes`` (n_terms,), the numbers
    of the classes of the terms, as a NumPy array.  All other arrays are of the library of the rows,
    and on their device; ``classes_`` is on the device of y.
    """

    classes_: Array
    dual_coef_: Array
    X_fit_: Any
    n_components: int | None
    priors: Any
    rule: str
    temperature_: float
    loo_proba_: Array
    loo_rows_: NDArray[np.int64]
    _kernel: KernelFunction
    _rule_coef: Array
    _rule_intercept: Array

    def _combine(self, X: Array, coef: Array) -> Array:
        """Return Σⱼ k(x, xⱼ) coefⱼ at validated rows."""
        return combine_kernel(self._kernel, X, self.X_fit_, coef)

    def _expansion(self) -> KernelExpansion | None:
        """Return the kernels and coefficients of the scores; None for a precomputed kernel."""
        if self.kernel_ == "precomputed":
            return None
        coef = self.dual_coef_ @ self._rule_coef
        return KernelExpansion(self._kernel, self.X_fit_, coef, self._rule_intercept)

    @property
    def _fitted(self) -> Array:
        return self.dual_coef_

    def _scores(self, X: Array) -> Array:
        """Return log posteriors up to a constant of each row."""
        return self._combine(X, self.dual_coef_ @ self._rule_coef) + self._rule_intercept

    def transform(self, X: Any) -> Array:
        """Return the discriminants of each row, strongest first: eq. (21) of the paper.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        check_is_fitted(self)
        X, coef = check_new_rows(self, X, self._fitted), self.dual_coef_[:, : self._n_features_out]
        with explain_full_device(f"the discriminants of {X.shape[0]} rows"):
            return by_slabs(lambda rows: self._combine(rows, coef), X, 16 * coef.shape[1])

    @property
    def _n_features_out(self) -> int:
        """Number of columns that `transform` returns."""
        most = int(self.dual_coef_.shape[1])
        return most if self.n_components is None else min(self.n_components, most)

    def _set_kernel(
        self,
        kernel: KernelFunction,
        candidates: Candidates,
        trials: list[Trial],
        X: Array,
        counts: FloatArray,
    ) -> None:
        """Set the attributes that tell which kernel there is, and what it makes of the columns.

        `counts` says how many rows each row of X stands for, up to a factor.
        """
        self._kernel = kernel
        self.kernel_ = kernel.kernel
        self.gamma_ = kernel.gamma if kernel.uses_gamma else None
        float64 = array_namespace(X).float64
        self.column_scales_ = (
            None if kernel.scales is None else like(kernel.scales, X, dtype=float64)
        )
        self.column_shares_ = column_shares(kernel, X, counts)
        self.choice_ = describe_choice(candidates, trials)

    def _resolve_priors(self, in_class: FloatArray) -> FloatArray:
        """Return the priors of classes with these weights, or equal ones for the nearest mean."""
        if self.rule == "nearest_mean":
            if not (self.priors is None or isinstance(self.priors, str)):
                raise ValueError(
                    "rule='nearest_mean' has no priors: leave priors at None, or take "
                    "rule='gaussian'."
                )
            return check_priors("uniform", in_class)
        return check_priors(self.priors, in_class)

    def _set_rule(self, coef: Array, intercept: Array, temperature: float) -> None:
        """Set the rule that turns discriminants into scores, and its temperature."""
        self.temperature_ = temperature
        self._rule_coef, self._rule_intercept = (A / self.temperature_ for A in (coef, intercept))

    def _set_left_out(self, scores: Array, rows: NDArray[np.int64], of_row: Array) -> None:
        """Set what rows of the fit would have been answered, had they been left out.

        `scores` are scores of the rule before the temperature, of rows without their copies;
        `rows` are row numbers of the table, and `of_row` says which score is that of each.
        """
        logs = log_normalise(scores / self.temperature_)
        shares = array_namespace(logs).exp(logs)
        self.loo_proba_ = take_rows(shares, of_row)
        self.loo_rows_ = rows

    def _check_components(self, n_classes: int) -> None:
        """Raise ValueError for more components than there are discriminants."""
        if self.n_components is not None and self.n_components > n_classes - 1:
            raise ValueError(
                f"n_components={self.n_components} is more than the {n_classes - 1} discriminants "
                f"that {n_classes} classes have."
            )


def validate_rows(
    model: FisherDiscriminant, X: Any, y: Any, *, double: bool, reset: bool = True
) -> tuple[Array, Array]:
    """Return dense rows as floats, and labels, as scikit-learn validates them."""
    in_blocks = hasattr(model, "partial_fit")
    instead = ", or give partial_fit blocks of rows" if in_blocks else ""
    X, y = validate_training(model, X, y, double=double, span=True, reset=reset, instead=instead)
    check_classification_targets(y)
    if reset and getattr(model, "kernel", None) in _ONE_WIDTH:
        warn_of_scales(model, X)
    return X, y
