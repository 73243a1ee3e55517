"""Classes of which some may be unknown: −1 marks a row without a label."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from mercer.samples import check_two_classes


def encode_labels(
    model: Any, y: NDArray[Any], *, signs: bool = False
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted classes, and the number of each row's class, −1 for rows without a label.

    In arrays of numbers −1 marks such a row; in arrays of objects the number −1 does, beside
    names; arrays of strings have a label in every row.  With `signs`, an array of −1 and 1 only is
    taken as two classes, with a warning, as it would otherwise be one class.

    >>> import numpy as np
    >>> encode_labels(None, np.array(["b", -1, "a", "b"], dtype=object))
    (array(['a', 'b'], dtype=object), array([ 1, -1,  0,  1]))
    """
    if y.dtype.kind == "O":
        unlabelled = np.array([_is_minus_one(value) for value in y], dtype=bool)
    elif y.dtype.kind in "US":
        unlabelled = np.zeros(len(y), dtype=bool)
    else:
        unlabelled = y == -1
    if signs and y.dtype.kind in "iuf" and set(np.unique(y)) == {-1, 1}:
        warnings.warn(
            "y holds −1 and 1 only: they are taken as two classes here, though −1 means unlabelled "
            "otherwise. Code two classes as 0 and 1.",
            UserWarning,
            stacklevel=7,
        )
        unlabelled[:] = False
    known = y[~unlabelled]
    if len(known):
        check_classification_targets(known)
    classes, numbers = np.unique(known, return_inverse=True)
    note = " Note that −1 means unlabelled here: code two classes as 0 and 1, not as −1 and 1."
    check_two_classes(model, classes, note)
    codes = np.full(len(y), -1, dtype=np.intp)
    codes[~unlabelled] = numbers
    return classes, codes


def _is_minus_one(value: object) -> bool:
    return isinstance(value, (int, float, np.number)) and value == -1
