"""Width of the kernel from a sample: leave-one-out with a few landmarks."""

import numpy as np
from array_api_compat import array_namespace, is_numpy_array
from numpy.typing import NDArray

from mercer._arrays import Array, FloatArray, like, take_rows
from mercer._linalg import one_thread
from mercer.discriminants._coding import Coding
from mercer.discriminants._tuning import Tuned, ridge_path, tune
from mercer.kernels import KernelFunction
from mercer.spectral import LandmarkMap, RidgeBasis, decompose_features, stratified_rows

# The width is tuned on at most this many rows and landmarks.
_ROWS = 6000
_LANDMARKS = 400
# A class of n rows has a share in proportion to n to this power, among rows and landmarks.
_ROW_POWER = 0.75
_LANDMARK_POWER = 0.5
# The inverse of this base, times the widest rung of a ladder, is within floating point.
_SMALLEST = 1e-302


def gamma_unit(base: Array, row_weights: FloatArray, column_weights: FloatArray) -> float:
    """Return the gamma that makes gamma·base of order one: the middle of the ladder.

    The median is over all ordered pairs, a row with itself included, so that a row of weight
    two counts as two rows.
    """
    size = array_namespace(base).abs(base)
    middle = weighted_median(size, row_weights, column_weights)
    if not middle > _SMALLEST:  # Most pairs coincide, so that the mean is used.
        rows, columns = (w / w.sum() for w in (row_weights, column_weights))
        middle = float(like(rows, base) @ size @ like(columns, base))
    if middle == 0:
        return 1.0
    return 1.0 / max(middle, _SMALLEST)


def weighted_median(values: Array, row_weights: FloatArray, column_weights: FloatArray) -> float:
    """Return the lower median of the entries of a matrix, entry (i, j) counting rᵢ·cⱼ times."""
    xp = array_namespace(values)
    flat = xp.reshape(values, (-1,))
    if np.ptp(row_weights) == 0 and np.ptp(column_weights) == 0:
        middle = (flat.shape[0] - 1) // 2
        if is_numpy_array(flat):
            return float(np.partition(flat, middle)[middle])
        return float(xp.sort(flat)[middle])
    order = xp.argsort(flat, stable=True)
    times = xp.reshape(like(np.outer(row_weights, column_weights), values), (-1,))
    reached = xp.cumulative_sum(xp.take(times, order))
    half = float(reached[-1]) * (0.5 - 1e-12)
    return float(flat[order[int(xp.searchsorted(reached, like(half, reached)))]])


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
    unit = gamma_unit(across, sample.counts, sample.counts[picks])
    sample = sample.like(X)

    def decompose(gamma: float) -> tuple[RidgeBasis, NDArray[np.float64]]:
        at_gamma = kernel.with_gamma(gamma)
        K = at_gamma.profile(among)
        K_rows = at_gamma.profile(across)
        kernel.check_range(K_rows)
        basis, _ = landmark_basis(K_rows, K, sample.weights, penalty)
        return basis, ridge_scale_path(basis, K, penalty)

    # Matrices of this size gain little from more threads, which wait for each other if another
    # process uses a core: that was ten times slower.
    with one_thread():
        return tune(decompose, (unit, "loo"), sample, log_priors, scoring, by_error=True)
