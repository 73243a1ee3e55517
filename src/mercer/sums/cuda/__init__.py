"""Sums over float32 tensors on a CUDA device: one fused Triton kernel.

`_run` takes a problem in segments, has its rows and columns cut into float16 parts and laid out for
the matrix units (`_layout`, `_pack_kernels`), and launches one kernel that multiplies, takes
exponentials and adds up (`_kernels`).  With the row at hand left out it is another kernel
(`_left_out`, `_left_out_kernels`), and with columns of weights a third (`_columns`,
`_column_kernels`).  What a fit will need is compiled as soon as it begins (`_ahead`, `_launch`).
torch computes what this backend refuses, and gradients.  Triton is imported when the first tensor
on a device comes.
"""

from mercer.sums.cuda._run import OWNS, refuses, run

__all__ = ["OWNS", "refuses", "run"]
