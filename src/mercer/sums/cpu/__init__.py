"""Sums over NumPy arrays: tiles of distances in registers, added up by compiled loops.

A problem becomes columns, sorted and packed in panels (`_columns`); tasks of rows go to a pool of
threads (`_threads`); each computes tiles of squared distances (`_tiles`, `_simd`) and adds them up
(`_loops`, `_left_out_loops`) with an exponential of our own (`_exp2`).  Numba compiles them at
their first call, and `_compile` keeps the code on disk.
"""

from mercer.sums.cpu._run import owns, refuses, run

__all__ = ["owns", "refuses", "run"]
