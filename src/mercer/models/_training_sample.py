"""Some training rows that go with a model, as they stood in the table."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer.tables import LabelledTable

MOST_ROWS = 1000


@dataclass(frozen=True, eq=False)
class TrainingSample:
    """Some rows of a training table, typed, with their classes.

    They say how familiar new rows are to a model, whatever model that is, and show what its
    training table looked like.

    Parameters
    ----------
    X : pandas.DataFrame
        The columns that a model uses, as in :class:`mercer.tables.LabelledTable`; the index keeps
        the number of each row in its table, counted from 0.
    y : ndarray of str of shape (n_rows,)
        The class of each row.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.models import TrainingSample
    >>> from mercer.tables import split_target
    >>> fruit = ["fig"] * 3 + ["kiwi"] * 3
    >>> frame = pd.DataFrame({"size": [1.0, 1.1, 1.2, 4.0, 4.1, 4.2], "fruit": fruit})
    >>> rows = TrainingSample.draw(split_target(frame, "fruit"))
    >>> len(rows.X), rows.row_numbers.tolist()
    (6, [1, 2, 3, 4, 5, 6])
    """

    X: pd.DataFrame
    y: NDArray[np.str_]

    @classmethod
    def draw(
        cls, data: LabelledTable, *, max_rows: int = MOST_ROWS, random_state: int = 0
    ) -> "TrainingSample":
        """Draw rows of a table, each as likely as any other.

        Parameters
        ----------
        data : LabelledTable
            What the model is fitted on.
        max_rows : int, default=1000
            How many are drawn where there are more.
        random_state : int, default=0
            Seed.

        Returns
        -------
        TrainingSample
            In the order of the table.
        """
        n_rows = len(data.y)
        places = np.arange(n_rows)
        if n_rows > max_rows:
            rng = np.random.default_rng(random_state)
            places = np.sort(rng.choice(n_rows, max_rows, replace=False))
        return cls(data.X.iloc[places], data.y[places])

    @property
    def row_numbers(self) -> NDArray[np.intp]:
        """The number of each row in the training table, counted from 1."""
        return np.asarray(self.X.index, dtype=np.intp) + 1
