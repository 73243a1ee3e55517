"""Width of the kernel from a sample: leave-one-out with a few landmarks."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import take_rows
from mercer._linalg import one_thread
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

Array = Any

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


def ridge_scale_path(basis: RidgeBasis, K_landmarks: Array, penalty: str) -> NDArray[np.float64]:
    """Return ridges to try: relative to the kernel's diagonal, or to the features' variances."""
    xp = array_namespace(K_landmarks)
    if penalty == "rkhs":
        return ridge_path(float(xp.mean(xp.linalg.diagonal(K_landmarks))))
    return ridge_path(float(xp.sum(basis.values)))


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
    X = take_rows(X, rows)
    landmarks = take_rows(X, picks)
    across, among = kernel.base(X, landmarks), kernel.base(landmarks, landmarks)
    unit = kernel.gamma_unit(across, sample.counts, sample.counts[picks])
    sample = sample.like(X)

    def decompose(gamma: float) -> tuple[RidgeBasis, NDArray[np.float64]]:
        at_gamma = kernel.with_gamma(gamma)
        K = at_gamma.profile(among)
        K_rows = at_gamma.profile(across)
        kernel.check_range(K_rows)
        basis, _ = landmark_basis(K_rows, K, sample.weights, penalty)
        return basis, ridge_scale_path(basis, K, penalty)

    # Matrices of this size gain little from more threads, and where another process holds a
    # core they wait for each other: ten times slower was seen.
    with one_thread():
        return tune(decompose, (unit, "loo"), sample, log_priors, scoring, by_error=True)
