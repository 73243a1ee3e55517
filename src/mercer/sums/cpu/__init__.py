"""Sums over NumPy arrays: tiles of distances in registers, added up by compiled loops.

`_run` takes a problem in segments, chooses how distances are computed, and lays out its columns,
sorted and packed in panels.  Tasks of rows go to a pool of threads (`_threads`); each computes
tiles of squared distances (`_loops`, `_simd`) and adds them up with an exponential of our own
(`_exp2`).  Sums with the row at hand left out go the same way with loops of their own
(`_left_out_loops`), and so do searches for nearest rows (`_near`, `_near_loops`).  A lattice for
sums of one feature has loops too (`_lattice_loops`), and so have shares of columns in a sum of
products (`_share_loops`).  Numba compiles the loops at their first call,
and `_compile` keeps the code on disk.
"""

from mercer.sums.cpu._run import OWNS, refuses, run

__all__ = ["OWNS", "refuses", "run"]
