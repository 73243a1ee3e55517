"""Sums over Dask arrays: pairs of blocks through the other backends, merged by the laws.

What users pass is cut alike, and checked as its blocks are loaded (`_checks`).  A pair of blocks
is a problem in memory, and no task sees more than one; partial results are merged in a tree for
each block of X (`_run`), or for each piece of rows that are left out in turn (`_left_out`).
`_groups` has the sums by group that estimators ask for.
"""

from mercer.sums.dask._checks import check_blocks
from mercer.sums.dask._run import OWNS, refuses, run

__all__ = ["OWNS", "check_blocks", "refuses", "run"]
