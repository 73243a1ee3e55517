"""Which backend computes a problem: the first that owns the array and does not refuse.

A backend is a module that says three things: ``OWNS``, the kinds of arrays that it is for
(`kind_of`); ``refuses(problem)``, a reason that a user can read or None; and ``run(problem)``.
They are imported when a sum needs them, so that ``import mercer`` stays light.

The first two make problems of problems, which come here again: rows in blocks become pairs of
blocks in memory; weights and groups in memory become segments, which all others take.
"""

from importlib import import_module
from typing import Any

from mercer.samples import kind_of
from mercer.sums._problem import Problem

# In the order of preference.
_BACKENDS = (
    "mercer.sums.dask",
    "mercer.sums._in_memory",
    "mercer.sums.cuda",
    "mercer.sums.torch",
    "mercer.sums.fast",
    "mercer.sums.cpu",
)


def compute(problem: Problem) -> Any:
    """Return the sums as (bandwidths, rows of X, outputs), in float64.

    Of left-out sums, a pair: the logarithms, and the drifts, or None where nothing is removed.
    """
    reasons, kind = [], kind_of(problem.X)
    for name in _BACKENDS:
        backend = import_module(name)
        if kind not in backend.OWNS:
            continue
        reason = backend.refuses(problem)
        if reason is None:
            return backend.run(problem)
        if reason:  # an empty reason is not for users: the next backend is simply the better one
            reasons.append(reason)
    raise ValueError(
        "; ".join(reasons) + "."
        if reasons
        else f"no backend computes sums over {type(problem.X).__name__}."
    )
