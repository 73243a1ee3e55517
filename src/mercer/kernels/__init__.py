r"""What a kernel is: a function of the distance, with everything known about it.

A kernel here is unnormalised (1 at distance zero) and has one width, its *bandwidth* b:

==============  ============================  ===============  ==================
name            k(x, y), r = ‖x − y‖          Mercer kernel    finite integral
==============  ============================  ===============  ==================
gaussian        exp(−r² / 2b²)                yes              yes
exponential     exp(−r / b)                   yes              yes
laplacian       exp(−Σ\|xₖ − yₖ\| / b)        yes              yes
epanechnikov    max(0, 1 − r² / b²)           no               yes
cauchy          1 / (1 + r² / b²)             yes              in one dimension
==============  ============================  ===============  ==================

The names are scikit-learn's: ``exponential`` is that of its ``KernelDensity``, with the Euclidean
distance, ``laplacian`` that of its ``laplacian_kernel``, with the city-block distance.

The package is also the only place that converts between widths.  A Gaussian Parzen window
of width h overlaps with another one as a Gaussian of width √2·h: that is the *Mercer width*.

Kernel machines know kernels by the names of scikit-learn's SVC, some of which are not
functions of the distance: those are in `_functions`.

>>> from mercer.kernels import get_kernel, mercer_width
>>> gaussian = get_kernel("gaussian")
>>> float(gaussian.profile(4.0, bandwidth=2.0))
0.6065306597126334
>>> mercer_width(1.0)
1.4142135623730951
"""

from mercer.kernels._expansions import KernelExpansion as KernelExpansion
from mercer.kernels._expansions import WindowSums as WindowSums
from mercer.kernels._expansions import kernel_function as kernel_function
from mercer.kernels._functions import KernelFunction as KernelFunction
from mercer.kernels._functions import resolve_gamma as resolve_gamma
from mercer.kernels._functions import squared_distances as squared_distances
from mercer.kernels._kernels import (
    KERNELS,
    Kernel,
    cross_width,
    gamma_from_width,
    get_kernel,
    mercer_width,
    parzen_bandwidth,
    width_from_gamma,
)
from mercer.kernels._kernels import overlap_width as overlap_width

__all__ = [
    "KERNELS",
    "Kernel",
    "cross_width",
    "gamma_from_width",
    "get_kernel",
    "mercer_width",
    "parzen_bandwidth",
    "width_from_gamma",
]
# Other packages of Mercer import these names as well; they are private and change without notice.
_FOR_MERCER = (
    "KernelExpansion",
    "KernelFunction",
    "WindowSums",
    "kernel_function",
    "overlap_width",
    "resolve_gamma",
    "squared_distances",
)
