"""Gaussian sums of few features within a tolerance, in time that grows with the rows.

`_run` asks `_plan` which way is quickest at each bandwidth, and takes it: non-uniform Fourier
transforms (`_transform`, `_grid`), a lattice for one feature (`_lattice`), the columns that count
where sums are too small for these (`_near`), or the loops of `mercer.sums.cpu`.
"""

from mercer.sums.fast._run import OWNS, refuses, run

__all__ = ["OWNS", "refuses", "run"]
