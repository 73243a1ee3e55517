"""How much each class counts: priors, and factors on the rows of a class."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, FloatArray

__all__ = ["check_class_weight", "check_priors", "log_priors"]


def check_priors(priors: Any, in_class: FloatArray) -> FloatArray:
    """Return class priors that add up to 1: given ones, equal ones, or the classes' shares.

    Parameters
    ----------
    priors : array-like of shape (C,), "uniform" or None
        A class of prior 0 is never chosen.
    in_class : NumPy array of shape (C,)
        The weight of each class.
    """
    if priors is None:
        return np.asarray(in_class / in_class.sum())
    if isinstance(priors, str):  # "uniform": the constraints allow no other
        return np.full(in_class.size, 1 / in_class.size)
    try:
        values = np.asarray(priors, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"priors must be numbers, got {priors!r}.") from None
    if values.shape != in_class.shape:
        raise ValueError(
            f"priors must have one entry for each of the {in_class.size} classes, got shape "
            f"{values.shape}."
        )
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise ValueError(f"priors must be finite and not negative, got {values.tolist()}.")
    if abs(values.sum() - 1) > 1e-6:
        raise ValueError(f"priors must add up to 1, got {values.sum():g}.")
    return np.asarray(values / values.sum())


def check_class_weight(
    class_weight: Any, classes: NDArray[Any], in_class: FloatArray
) -> FloatArray:
    """Return the factor of each class: ones, N/(C·N_c) for "balanced", or from a dictionary."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):  # "balanced"
        return np.asarray(in_class.sum() / (len(classes) * in_class))
    unknown = [key for key in class_weight if key not in classes]
    if unknown:
        raise ValueError(f"class_weight names {unknown[0]!r}, which is not among the classes.")
    factors = np.array([float(class_weight.get(c, 1.0)) for c in classes.tolist()])
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        raise ValueError("class_weight must be positive for every class.")
    return factors


def log_priors(priors: Array) -> Array:
    """Return logarithms; a class with prior zero is never chosen."""
    with np.errstate(divide="ignore"):
        return array_namespace(priors).log(priors)
