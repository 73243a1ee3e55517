"""Kernel Fisher discriminants: classify and project by Σⱼ αⱼ k(x, xⱼ).

Two estimators, the strongest general classifiers here:

- :class:`KernelFisherDiscriminant` expands on all rows and chooses kernel, scales of the columns,
  width and ridge by leave-one-out in closed form; for tables of up to some ten thousand rows.
- :class:`SparseKernelFisherDiscriminant` expands on a few significant nodes, and passes once over
  a table of any length.

Both are a least-squares regression on the classes (``_coding``), which gives discriminants and,
with Gaussians on its outputs (``_gaussian``), classes::

    rows ──► few rows ──► kernels, widths, scales by leave-one-out (_choice, _scales)
     │                        │
     │                        ├─► all rows ──► their ridge, leave-one-out ────┐      (exact)
     │                        │                                               ├─► discriminants
     └────────────────────────┴─► nodes ──► moments of all rows ──► path ─────┘      (sparse)   rule

Rows may be torch tensors, through scikit-learn's array API dispatch: then everything heavy is
torch's, on their device.  Labels, samples and arrays of one entry for each class
stay with NumPy.

The linear algebra is in :mod:`mercer.spectral`; sums of kernels are :mod:`mercer.sums`.
"""

from mercer.discriminants._exact import KernelFisherDiscriminant
from mercer.discriminants._sparse import SparseKernelFisherDiscriminant

__all__ = ["KernelFisherDiscriminant", "SparseKernelFisherDiscriminant"]
