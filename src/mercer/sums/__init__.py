"""Σⱼ wⱼ k(xᵢ, yⱼ), for every i, without the n × m kernel matrix.

Everything in Mercer is this sum: densities, entropies, divergences and class scores differ in
weights, groups and what is done with the result.

A public call is checked and stated as a `Problem`, and `compute` gives that to the first backend
in one list that owns the rows and does not refuse.  ``docs/architecture.md`` draws this way, file
by file, under "The engine".

A problem also says what is left out: `left_out_log_sums` is the sum of leave-one-out over weights
which are themselves sums, and goes the same way.

`explain_kernel_sum` tells which way a sum would take (`_explain`); `landmark_kernel_sum` estimates
sums from some rows, with their errors (`_landmarks`); `use_devices` has several GPUs share sums
(`_devices`).

Ideas that the backends share stand apart from them: how distances keep their digits, and a ladder
of bandwidths needs few exponentials (`_geometry`); how partial results merge (`_problem`).

For Mercer's own estimators there are sums by group, of rows in memory or in blocks (`_groups`,
`_products`, `_combinations`), and a search for nearest rows by the same tiles (`_nearest`); their
names are listed apart and not public.

>>> import numpy as np
>>> from mercer.sums import kernel_sum
>>> grid = np.arange(5.0).reshape(-1, 1)
>>> kernel_sum(grid, bandwidth=[1.0, 0.5]).round(3)
array([[1.753, 2.36 , 2.484, 2.36 , 1.753],
       [1.136, 1.271, 1.271, 1.271, 1.136]])
"""

from mercer.sums._api import expect_left_out_sums as expect_left_out_sums
from mercer.sums._api import kernel_sum, left_out_log_sums, log_kernel_sum
from mercer.sums._combinations import combine_kernel as combine_kernel
from mercer.sums._combinations import kernel_products as kernel_products
from mercer.sums._devices import use_devices
from mercer.sums._diagonals import diagonal_shares as diagonal_shares
from mercer.sums._differences import weighted_differences as weighted_differences
from mercer.sums._explain import SumPlan, explain_kernel_sum
from mercer.sums._groups import group_products as group_products
from mercer.sums._groups import group_slabs as group_slabs
from mercer.sums._groups import group_sums as group_sums
from mercer.sums._groups import own_group_sums as own_group_sums
from mercer.sums._landmarks import landmark_kernel_sum
from mercer.sums._nearest import nearest_columns as nearest_columns
from mercer.sums._nearest import pairs_in_reach as pairs_in_reach
from mercer.sums._problem import Removal
from mercer.sums._products import Products as Products

__all__ = [
    "Removal",
    "SumPlan",
    "explain_kernel_sum",
    "kernel_sum",
    "landmark_kernel_sum",
    "left_out_log_sums",
    "log_kernel_sum",
    "use_devices",
]
# Other packages of Mercer import these names as well; they are private and change without notice.
_FOR_MERCER = (
    "Products",
    "combine_kernel",
    "diagonal_shares",
    "expect_left_out_sums",
    "group_products",
    "group_slabs",
    "group_sums",
    "kernel_products",
    "nearest_columns",
    "own_group_sums",
    "pairs_in_reach",
    "weighted_differences",
)
