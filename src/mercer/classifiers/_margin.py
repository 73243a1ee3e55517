"""Weights of the support vector machine: the least ISE under its constraints."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from mercer.kernels import gamma_from_width

Vector = NDArray[np.float64]
_TOLERANCE = 1e-8  # of the optimality conditions: the equivalence is exact only at the optimum


def margin_weights(
    X: NDArray[Any], is_positive: NDArray[np.bool_], weights: Vector, width: float, C: float
) -> tuple[Vector, float]:
    """Return signed duals α of an SVM, one for each row, and its intercept b*, [2] (5)–(16).

    They have equal sums Ω on both sides (9), so that w* = Σ α_i Φ(x_i) = Ω (m₁ − m₂) (50).
    """
    # libsvm takes distances from inner products: about the centre, they keep their digits.
    Z = np.asarray(X, dtype=np.float64)
    Z = (Z - Z.mean(axis=0)) / width
    machine = SVC(C=C, kernel="rbf", gamma=gamma_from_width(1.0), tol=_TOLERANCE)
    machine.fit(Z, is_positive, sample_weight=weights)
    signed = np.zeros(X.shape[0])
    signed[machine.support_] = machine.dual_coef_[0]
    return signed, float(machine.intercept_[0])
