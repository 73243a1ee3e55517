"""What a fitted kernel classifier is made of: weighted kernels of training rows, as plain arrays.

Classifiers hand these over, so that their answers can be taken apart without knowing them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer.kernels._functions import KernelFunction
from mercer.kernels._kernels import Kernel, gamma_from_width

_IN_MACHINES = {"gaussian": "rbf", "exponential": "exponential", "laplacian": "laplacian"}


def kernel_function(kernel: Kernel, width: float) -> KernelFunction | None:
    """Return a kernel of this width as kernel machines know it; None where they have none."""
    name = _IN_MACHINES.get(kernel.name)
    if name is None:
        return None
    return KernelFunction(name, gamma_from_width(width) if name == "rbf" else 1.0 / width)


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """Scores that are sums of kernels: Σⱼ coefⱼ k(x, xⱼ) + intercept.

    Of a classifier with probabilities they are its log odds, up to a number for each row.

    Attributes
    ----------
    kernel : KernelFunction
        With its width and scales.
    rows : array of shape (n_terms, n_features)
        The xⱼ.
    coef : array of shape (n_terms, n_classes)
        A column for the score of each class.
    intercept : array of shape (n_classes,)
        What is added.
    """

    kernel: KernelFunction
    rows: Any
    coef: Any
    intercept: Any


@dataclass(frozen=True, eq=False)
class WindowSums:
    """Sums of windows by class, Σ_{j in c} ωⱼ W(x − xⱼ), of which a classifier makes its scores.

    Attributes
    ----------
    kernel : Kernel
        The window.
    widths : tuple of float
        Its width, one for all classes or one for each.
    rows : array of shape (n_terms, n_features)
        The xⱼ.
    weights : array of shape (n_terms,)
        The ωⱼ, none of them negative.
    """

    kernel: Kernel
    widths: tuple[float, ...]
    rows: Any
    weights: Any

    def log_terms(self, squared_distances: FloatArray, codes: Any) -> FloatArray:
        """Return log W of pairs with rows of these classes, from squared distances: (n, n_terms).

        The normaliser of a width is left out: terms are compared within a class.
        """
        if len(self.widths) == 1:
            return np.asarray(self.kernel.log_profile(squared_distances, self.widths[0]))
        out = squared_distances.copy()
        for c, width in enumerate(self.widths):
            own = codes == c
            out[:, own] = self.kernel.log_profile(squared_distances[:, own], width)
        return out
