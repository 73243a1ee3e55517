"""Width of the kernel from a sample: leave-one-out with a few landmarks."""

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.discriminants._coding import Coding
from mercer.discriminants._kernels import KernelFunction
from mercer.discriminants._tuning import Tuned, ridge_path, tune
from mercer.spectral import (
    LandmarkMap,
    RidgeBasis,
    decompose_features,
    stratified_rows,
)

__all__ = ["landmark_basis", "ridge_scale_path", "tune_width"]

Array = NDArray[np.float64]

# Rows and landmarks that the width is tuned on.
_ROWS = 6000
_LANDMARKS = 400
# Share of a class of n rows in a sample: n to this power.
_ROW_POWER = 0.75
_LANDMARK_POWER = 0.5


def landmark_basis(
    K_rows: Array, K_landmarks: Array, p: Array, penalty: str
) -> tuple[RidgeBasis, LandmarkMap | None]:
    """Diagonalise regression on the kernels with landmarks, under either penalty."""
    if penalty == "coef":
        return decompose_features(K_rows, p), None
    span = LandmarkMap(K_landmarks)
    return decompose_features(span.features(K_rows), p), span


def ridge_scale_path(basis: RidgeBasis, K_landmarks: Array, penalty: str) -> Array:
    """Return ridges to try: relative to the kernel's diagonal, or to the features' variances."""
    scale = np.mean(np.diag(K_landmarks)) if penalty == "rkhs" else basis.values.sum()
    return ridge_path(float(scale))


def tune_width(
    kernel: KernelFunction,
    X: Array,
    coding: Coding,
    log_priors: Array,
    scoring: str,
    penalty: str,
    rng: np.random.RandomState,
) -> Tuned:
    """Choose gamma by leave-one-out on at most 6 000 rows with at most 400 landmarks.

    The squared error decides: with few landmarks the score favours kernels that are too wide for
    the many nodes or landmarks of the fit itself.
    """
    rows = stratified_rows(coding.labels, _ROWS, _ROW_POWER, rng)
    sample = coding.take(rows)
    picks = stratified_rows(sample.labels, _LANDMARKS, _LANDMARK_POWER, rng)
    X = X[rows]
    across, among = kernel.base(X, X[picks]), kernel.base(X[picks], X[picks])
    unit = kernel.gamma_unit(across, sample.counts, sample.counts[picks])

    def decompose(gamma: float) -> tuple[RidgeBasis, Array]:
        at_gamma = kernel.with_gamma(gamma)
        K = at_gamma.profile(among)
        basis, _ = landmark_basis(at_gamma.profile(across), K, sample.weights, penalty)
        return basis, ridge_scale_path(basis, K, penalty)

    # Matrices of this size gain little from more threads, and where another process holds a
    # core they wait for each other: ten times slower was seen.
    with threadpool_limits(1, user_api="blas"):
        return tune(decompose, (unit, "loo"), sample, log_priors, scoring, by_error=True)
