"""Sums over torch tensors: tiles of torch operations, on the CPU or a CUDA device.

Weights and groups are sorted on the tensors' device (`_arrange`).  A problem is cut into tiles
whose distances fit the memory budget (`_tiles`); each is reduced and merged, forwards and backwards
(`_run`), or with the row at hand left out (`_left_out`).  torch itself is imported when the first
tensor comes.
"""

from mercer.sums.torch._run import OWNS, refuses, run

__all__ = ["OWNS", "refuses", "run"]
