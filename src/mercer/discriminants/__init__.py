"""Kernel Fisher discriminants: classify and project by Σⱼ αⱼ k(x, xⱼ).

Two estimators, the strongest general classifiers here:

- :class:`KernelFisherDiscriminant` expands on all rows and chooses its own width and ridge by
  leave-one-out in closed form; for tables of up to a few thousand rows.
- :class:`SparseKernelFisherDiscriminant` expands on a few significant nodes, and passes once over
  a table of any length.

Both are a least-squares regression on the classes (``_coding``), which gives discriminants and,
with Gaussians on its outputs (``_gaussian``), classes::

    rows ──► kernel ──► eigendecomposition ──► every ridge, leave-one-out ──┐      (exact)
     │                                                                      ├─► discriminants
     └─► sample ──► width, nodes ──► moments of all rows ──► path of fits ──┘      (sparse)   rule

Rows may be torch tensors, through scikit-learn's array API dispatch: then everything heavy is
torch's, on their device.  Labels, samples and arrays of one entry for each class
stay with NumPy.

The linear algebra is in :mod:`mercer.spectral`; sums of kernels are :mod:`mercer.sums`.
"""

from mercer.discriminants._exact import KernelFisherDiscriminant
from mercer.discriminants._sparse import SparseKernelFisherDiscriminant

__all__ = ["KernelFisherDiscriminant", "SparseKernelFisherDiscriminant"]
