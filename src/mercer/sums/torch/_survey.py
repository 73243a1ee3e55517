"""What checks and arrangement must know of tensors, in one look.

Every number that comes from a device waits for all that the device was given to do.  So the ends
of coordinates and weights, and the rows by group, are computed there first, and come at once.
"""

from dataclasses import dataclass

import numpy as np

from mercer._arrays import Array, to_numpy
from mercer.sums._problem import Box, ByGroup

_GROUPS = 256  # Up to this many groups are counted in the same look.


@dataclass(frozen=True)
class Survey:
    """What is known of the tensors of a sum.

    Parameters
    ----------
    box : Box
        Of all rows.
    weight_ends : tuple of float or None
        The least and the largest weight, NaN if one is; None without weights.
    group_ends : tuple of int or None
        The least and the largest group number; None without groups.
    by_group : ByGroup or None
        The rows by group, where the numbers are valid and not too many.
    """

    box: Box
    weight_ends: tuple[float, float] | None
    group_ends: tuple[int, int] | None
    by_group: ByGroup | None


def survey(rows: tuple[Array, ...], weights: Array | None, groups: Array | None) -> Survey:
    """Look once at tensors of one device; each has at least one row, groups are int64."""
    import torch

    found = [end for A in rows for end in torch.aminmax(A.detach(), dim=0)]
    n_ends, d = len(found), rows[0].shape[1]
    if weights is not None:
        found.append(torch.stack(torch.aminmax(weights.detach())))
    order = None
    if groups is not None:
        # Small keys take a quarter of the passes of a radix sort; what they cut off is seen below.
        keys, order = torch.sort(groups.clamp(-1, _GROUPS).to(torch.int16), stable=True)
        numbers = torch.arange(_GROUPS + 1, dtype=torch.int16, device=groups.device)
        starts = torch.searchsorted(keys, numbers)
        ends = torch.stack(torch.aminmax(groups))
        found.append(
            torch.cat([ends, starts]).to(torch.float64)
        )  # exact below 2**53, as all valid ones are
    numbers = to_numpy(torch.cat([part.reshape(-1) for part in found]))

    box, rest = Box.around(numbers[: n_ends * d].reshape(n_ends, d)), numbers[n_ends * d :]
    weight_ends, group_ends, by_group = None, None, None
    if weights is not None:
        weight_ends, rest = (float(rest[0]), float(rest[1])), rest[2:]
    if order is not None:
        low, high = group_ends = int(rest[0]), int(rest[1])
        if 0 <= low <= high < _GROUPS:
            starts_of = rest[2:].astype(np.int64)
            by_group = ByGroup(order, (starts_of[1:] - starts_of[:-1])[: high + 1])
    return Survey(box, weight_ends, group_ends, by_group)
