"""Quadratic information measures: entropies, divergences, cuts and dependence of Parzen estimates.

With Gaussian windows, integrals of products of Parzen estimates are exact double sums of a
kernel; and these are inner products of means in the feature space of that kernel:

================================  ======================  =====================
measure                           of densities            of means
================================  ======================  =====================
information_potential             ∫p²                     ‖m‖²
renyi_quadratic_entropy           −log ∫p²                −log ‖m‖²
cross_information_potential       ∫pq                     m₁ᵀm₂
integrated_squared_error          ∫(p − q)²               ‖m₁ − m₂‖²
information_cut                   ∫pq / √(∫p² ∫q²)        cos ∠(m₁, m₂)
cauchy_schwarz_divergence         −log of the cut         −log cos ∠(m₁, m₂)
laplacian_information_cut         ∫pq/f / √(…)            the same, rows weighted by f^(−1/2)
================================  ======================  =====================

Each is one function of a printed equation, computed in logs without the kernel matrix; the
``log_`` forms stay finite where densities in many columns, or far apart, do not.  NumPy arrays
and Dask arrays give a float; torch tensors a scalar that can be differentiated with respect to the
rows.

The dependence of two sets of columns is the squared error, or the divergence, between their joint
density and the product of both: :func:`euclidean_mutual_information`, which is
:func:`hilbert_schmidt_independence` but for a factor, and
:func:`cauchy_schwarz_mutual_information`.  :func:`renyi_entropy` is the entropy of any order.
:func:`two_sample_test` asks whether a divergence is larger than chance, without a bandwidth if
need be, :func:`k_sample_test` does so for three samples and more, and :func:`independence_test`
asks whether a dependence is.

>>> import numpy as np
>>> from mercer.information import cauchy_schwarz_divergence
>>> X = np.random.default_rng(0).normal(size=(500, 3))
>>> round(cauchy_schwarz_divergence(X[:250], X[250:], bandwidth="silverman"), 3)
0.073
>>> round(cauchy_schwarz_divergence(X[:250], X[250:] + 1, bandwidth="silverman"), 3)
0.713
"""

from mercer.information._dependence import (
    cauchy_schwarz_mutual_information,
    euclidean_mutual_information,
    hilbert_schmidt_independence,
)
from mercer.information._divergences import (
    cauchy_schwarz_divergence,
    cross_information_potential,
    information_cut,
    integrated_squared_error,
    log_cross_information_potential,
    log_information_cut,
    log_integrated_squared_error,
)
from mercer.information._entropy import renyi_entropy
from mercer.information._independence import IndependenceTestResult, independence_test
from mercer.information._independence import pairwise_independence as pairwise_independence
from mercer.information._k_sample import KSampleTestResult, k_sample_test
from mercer.information._laplacian_cut import (
    laplacian_information_cut,
    log_laplacian_information_cut,
)
from mercer.information._potential import (
    information_potential,
    log_information_potential,
    renyi_quadratic_entropy,
)
from mercer.information._two_sample import TwoSampleTestResult, two_sample_test

__all__ = [
    "IndependenceTestResult",
    "KSampleTestResult",
    "TwoSampleTestResult",
    "cauchy_schwarz_divergence",
    "cauchy_schwarz_mutual_information",
    "cross_information_potential",
    "euclidean_mutual_information",
    "hilbert_schmidt_independence",
    "independence_test",
    "information_cut",
    "information_potential",
    "integrated_squared_error",
    "k_sample_test",
    "laplacian_information_cut",
    "log_cross_information_potential",
    "log_information_cut",
    "log_information_potential",
    "log_integrated_squared_error",
    "log_laplacian_information_cut",
    "renyi_entropy",
    "renyi_quadratic_entropy",
    "two_sample_test",
]
# Other packages of Mercer import these names as well; they are private and change without notice.
_FOR_MERCER = ("pairwise_independence",)
