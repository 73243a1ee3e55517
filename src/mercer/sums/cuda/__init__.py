"""Sums over float32 tensors on a CUDA device: one fused Triton kernel.

Rows and columns are cut into float16 parts and laid out for the matrix units (`_layout`,
`_pack_kernels`); one kernel multiplies, takes exponentials and adds up (`_kernels`,
`_left_out_kernels`).  Triton is imported when a tensor on a device has come.
"""

from mercer.sums.cuda._run import owns, refuses, run

__all__ = ["owns", "refuses", "run"]
