"""Whether the numbers of a column were rounded, and to what."""

import numpy as np

from mercer._arrays import FloatArray

_OFF = 1e-3  # Gaps are multiples of the least one but for this share of it.


def rounding_step(x: FloatArray, n_rows: float | None = None) -> float:
    """Return the step to which a column is rounded, or 0 where it is not.

    It is where some values are the same and all others lie whole steps apart.  Copies of rows,
    as a bootstrap draws them, have gaps of any size.  `n_rows` counts the rows with the copies that
    weights stand for.
    """
    values = np.unique(x)
    if len(values) < 2 or len(values) >= (len(x) if n_rows is None else n_rows):
        return 0.0
    gaps = np.diff(values)
    step = float(gaps.min())
    if not np.isfinite(gaps).all() or step <= 4 * np.spacing(np.abs(values).max()):
        return 0.0
    multiples = gaps / step
    return step if (np.abs(multiples - np.round(multiples)) <= _OFF).all() else 0.0
