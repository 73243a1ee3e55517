"""Σⱼ wⱼ k(xᵢ, yⱼ), for every i, without the n × m kernel matrix.

Everything in Mercer is this sum: densities, entropies, divergences and class scores differ in
weights, groups and what is done with the result.

From a call to its answer::

    kernel_sum, log_kernel_sum          what users call             _api, _validation
        │   weights and groups become ordered segments              _arrange
        ▼
    Problem                             what is to be computed      _problem
        │   the first backend that owns the array                   _dispatch
        ├── torch tensors: tiles of torch operations                _torch
        ├── NumPy arrays, within a tolerance: transforms, and       _fast, _fast_plan,
        │   direct sums of what they can not tell                   _fast_transform, _fast_grid,
        │                                                           _near
        ├── NumPy arrays: compiled tiles                            _cpu, _columns, _loops,
        │                                                           _tiles, _simd, _exp2
        └── (tests) the literal double loop                         _reference

`explain_kernel_sum` tells the way that would be taken (`_explain`, `_plan`).
`landmark_kernel_sum` estimates sums from some rows, with their errors (`_landmarks`).
Dask arrays go another way: pairs of blocks through all of this, merged (`_dask`,
`_dask_left_out`).

`left_out_log_sums` is the one sum of another form: that of leave-one-out over weights which are
themselves sums (`_left_out`, `_left_out_loops`).

Ideas that the backends share stand apart from them: how distances keep their digits
(`_geometry`), how a ladder of bandwidths needs few exponentials (`_ladder`), how partial
results merge (`_reductions`), how many threads there are (`_threads`).

>>> import numpy as np
>>> from mercer.sums import kernel_sum
>>> grid = np.arange(5.0).reshape(-1, 1)
>>> kernel_sum(grid, bandwidth=[1.0, 0.5]).round(3)
array([[1.753, 2.36 , 2.484, 2.36 , 1.753],
       [1.136, 1.271, 1.271, 1.271, 1.136]])
"""

from mercer.sums._api import kernel_sum, log_kernel_sum
from mercer.sums._combinations import combine_kernel as combine_kernel
from mercer.sums._explain import SumPlan, explain_kernel_sum
from mercer.sums._groups import group_products as group_products
from mercer.sums._groups import group_slabs as group_slabs
from mercer.sums._groups import group_sums as group_sums
from mercer.sums._groups import own_group_sums as own_group_sums
from mercer.sums._landmarks import landmark_kernel_sum
from mercer.sums._left_out import left_out_log_sums
from mercer.sums._problem import Removal
from mercer.sums._products import Products as Products

# Names in the form "x as x" are for Mercer's own estimators.
__all__ = [
    "Removal",
    "SumPlan",
    "explain_kernel_sum",
    "kernel_sum",
    "landmark_kernel_sum",
    "left_out_log_sums",
    "log_kernel_sum",
]
