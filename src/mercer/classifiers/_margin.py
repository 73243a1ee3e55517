"""Weights of the support vector machine: the least ISE under its constraints."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from mercer._arrays import FloatArray
from mercer._memory import working_memory
from mercer.classifiers._cauchy_schwarz import log_kernel_matrix
from mercer.kernels import Kernel, gamma_from_width

# libsvm may take at least this many steps; if it needs more, classes overlap and C is too large.
_STEPS = 10**6
# With few rows a step is quick: so many numbers may be looked at in all, in a second or two.
_LOOKS = 10**9
# Products lose the digits of near rows if a row is more than this many widths from the centre.
_FAR = 1e3
# The tolerance of the optimality conditions is small, as the equivalence holds at the optimum only.
_TOLERANCE = 1e-8


def margin_weights(
    X: NDArray[Any],
    is_positive: NDArray[np.bool_],
    weights: FloatArray,
    kernel: Kernel,
    width: float,
    C: float,
) -> tuple[FloatArray, float]:
    """Return signed duals α of an SVM, one for each row, and its intercept b*, [2] (5)–(16).

    They have equal sums Ω on both sides (9), so that w* = Σ α_i Φ(x_i) = Ω (m₁ − m₂) (50).
    """
    # libsvm computes distances from inner products.  About the centre these keep their digits,
    # unless some rows are far beyond the others.
    Z = np.asarray(X, dtype=np.float64) / width
    Z, form = Z - Z.mean(axis=0), "rbf"
    far = bool(np.abs(Z).max() > _FAR)
    if kernel.name != "gaussian" or (far and 4 * 8 * len(Z) ** 2 <= working_memory()):
        option = f"weighting='margin' with kernel={kernel.name!r}"
        Z = np.exp(log_kernel_matrix(X, kernel, width, option, "kernel='gaussian'"))
        form = "precomputed"
    steps = max(_STEPS, 100 * len(Z), min(10 * _STEPS, _LOOKS // len(Z)))
    options = {"gamma": gamma_from_width(1.0), "tol": _TOLERANCE, "max_iter": steps}
    machine = SVC(C=C, kernel=form, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(Z, is_positive, sample_weight=weights)
    if machine.fit_status_ != 0:
        raise ValueError(
            f"weighting='margin' did not converge in {steps} steps: lower C={C:g}, or "
            f"sample_weight, which is up to {weights.max():.2g}."
        )
    signed = np.zeros(X.shape[0])
    signed[machine.support_] = machine.dual_coef_[0]
    return signed, float(machine.intercept_[0])
