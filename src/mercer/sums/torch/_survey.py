"""What checks and arrangement must know of tensors, in one look.

Every number that comes from a device waits for all that the device was given to do.  So the ends
of coordinates and weights, and the rows by group, are computed there first, and come at once.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from mercer._arrays import Array, to_numpy
from mercer.sums._problem import Box, ByGroup, Middle

_GROUPS = 256  # Up to this many groups are counted in the same look.


@dataclass(frozen=True)
class Survey:
    """What is known of the tensors of a sum.

    Parameters
    ----------
    box : Box
        Of all rows.
    middle : Middle or None
        Its middle, of rows that Triton sums.
    weight_ends : tuple of float or None
        The least and the largest weight, NaN if one is; None without weights.
    group_ends : tuple of int or None
        The least and the largest group number; None without groups.
    by_group : ByGroup or None
        The rows by group, where the numbers are valid and not too many.
    """

    box: Box
    middle: Middle | None
    weight_ends: tuple[float, float] | None
    group_ends: tuple[int, int] | None
    by_group: ByGroup | None


def survey(rows: tuple[Array, ...], weights: Array | None, groups: Array | None) -> Survey:
    """Look once at tensors of one device; each has at least one row, groups are int64."""
    import torch

    d, by_triton = rows[0].shape[1], is_for_triton(rows)
    if by_triton:
        from mercer.sums.cuda._survey import read_look, start_looking

        look = start_looking(rows, weights)
        found = [look]
    else:
        found = [end for A in rows for end in torch.aminmax(A.detach(), dim=0)]
        if weights is not None:
            found.append(torch.stack(torch.aminmax(weights.detach())))
    order = None
    if groups is not None:
        # Small keys take a quarter of the passes of a radix sort; what they cut off is seen below.
        keys, order = torch.sort(groups.clamp(-1, _GROUPS).to(torch.int16), stable=True)
        starts = torch.searchsorted(keys, _group_numbers(groups.device))
        ends = torch.aminmax(groups)
        # These are exact below 2**53, as all valid numbers are.
        found.append(torch.cat([ends.min[None], ends.max[None], starts]).to(torch.float64))
    numbers = to_numpy(torch.cat([part.reshape(-1) for part in found]) if found[1:] else found[0])

    middle, weight_ends, group_ends, by_group = None, None, None, None
    if by_triton:
        box, middle, weight_ends = read_look(look, numbers, d)
        rest = numbers[look.shape[0] :]
    else:
        n_ends = 2 * len(rows)
        box, rest = Box.around(numbers[: n_ends * d].reshape(n_ends, d)), numbers[n_ends * d :]
        if weights is not None:
            weight_ends, rest = (float(rest[0]), float(rest[1])), rest[2:]
    if order is not None:
        low, high = group_ends = int(rest[0]), int(rest[1])
        if 0 <= low <= high < _GROUPS:
            starts_of = rest[2:].astype(np.int64)
            by_group = ByGroup(order, (starts_of[1:] - starts_of[:-1])[: high + 1])
    return Survey(box, middle, None if weights is None else weight_ends, group_ends, by_group)


def is_for_triton(rows: tuple[Array, ...]) -> bool:
    """Tell whether Triton sums these tensors, X or X and Y, and looks at them."""
    if not rows[0].is_cuda:
        return False
    from mercer.sums.cuda._survey import is_worth_it

    return is_worth_it(rows)


@cache
def _group_numbers(device: Any) -> Array:
    import torch

    return torch.arange(_GROUPS + 1, dtype=torch.int16, device=device)
