"""How wide windows are: what users write as `bandwidth` and `metric`, resolved."""

from math import sqrt
from numbers import Real
from typing import Any

from mercer._arrays import Array, FloatArray
from mercer.bandwidth import improved_sheather_jones_bandwidth, resolve_bandwidth
from mercer.density._coordinates import (
    Coordinates,
    given_coordinates,
    robust_deviations,
    standard_coordinates,
)
from mercer.kernels import Kernel
from mercer.samples import count_rows, in_memory

METRICS = ("euclidean", "seuclidean", "mahalanobis")
# scikit-learn's rules look at the numbers of rows and columns only.
_OF_SCIKIT_LEARN = {
    "scott": lambda d, n: n ** (-1 / (d + 4)),
    "silverman": lambda d, n: (n * (d + 2) / 4) ** (-1 / (d + 4)),
}
NAMES = (
    "normal-reference", *_OF_SCIKIT_LEARN, "improved-sheather-jones", "likelihood-cv",
    "least-squares-cv",
)  # fmt: skip
# The standard deviation along a column of a window of bandwidth 1 in d dimensions.
_DEVIATIONS = {
    "gaussian": lambda d: 1.0,
    "exponential": lambda d: sqrt(d + 1),
    "laplacian": lambda d: sqrt(2),
    "epanechnikov": lambda d: 1 / sqrt(d + 4),
    "cauchy": lambda d: 1.0,  # It has none.
}


def resolve_windows(
    bandwidth: Any, metric: str, kernel: Kernel, X: Array, weights: Any
) -> tuple[float | FloatArray, Coordinates | None, float]:
    """Return `bandwidth_`, the coordinates in which windows are round, and their width there.

    Coordinates are None where they are the columns themselves.
    """
    if not isinstance(bandwidth, (Real, str)):
        if metric != "euclidean":
            raise ValueError(
                f"metric={metric!r} goes with a bandwidth that is a number or a name: widths of "
                "columns, or a matrix, say themselves how columns are measured."
            )
        given = given_coordinates(bandwidth, X)
        factor = given.factor
        return (factor if factor.ndim == 1 else factor @ factor.T), given, 1.0
    if metric == "euclidean" and bandwidth == "normal-reference":
        widths = robust_deviations(X, weights) * _reference(kernel, X, weights)
        if len(widths) == 1:
            return float(widths[0]), None, float(widths[0])
        return widths, given_coordinates(widths, X), 1.0
    is_plain = metric == "euclidean"
    coordinates = None if is_plain else standard_coordinates(metric, X, weights)
    if isinstance(bandwidth, Real):
        h = float(bandwidth)
    elif bandwidth == "normal-reference":
        h = _reference(kernel, X, weights)
    elif bandwidth in _OF_SCIKIT_LEARN:
        h = _OF_SCIKIT_LEARN[bandwidth](X.shape[1], count_rows(X, weights))
    elif bandwidth == "improved-sheather-jones":
        rows, w = in_memory(X if coordinates is None else coordinates.of(X)), in_memory(weights)
        h = improved_sheather_jones_bandwidth(rows, sample_weight=w) / _DEVIATIONS[kernel.name](1)
    else:
        Z = X if coordinates is None else coordinates.of(X)
        h = resolve_bandwidth(bandwidth, Z, weights, kernel=kernel)
    return h, coordinates, h


def _reference(kernel: Kernel, X: Array, weights: Any) -> float:
    """Return the width that is best for a Gaussian density whose columns have deviation 1.

    A window of another form gets the same standard deviation as the Gaussian one, so that it
    smooths as much.
    """
    d, n = X.shape[1], count_rows(X, weights)
    return float(_OF_SCIKIT_LEARN["silverman"](d, n) / _DEVIATIONS[kernel.name](d))
