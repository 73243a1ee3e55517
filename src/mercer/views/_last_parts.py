"""What ``mercer compare`` makes from time that is left: a map, and the columns that count."""

import time
from typing import Any

import pandas as pd

from mercer._system.words import duration
from mercer._system.workers import NoAnswerError, TookTooLongError, answers_within
from mercer.comparison import ImportancesRecord, MapRecord
from mercer.tables import LabelledTable
from mercer.views._held_out_importances import Leaders, find_importances, rows_to_ask
from mercer.views._table_map import draw_map, rows_of_map

_LEAST_SECONDS = 1.0  # Nothing is begun in less: a process takes as long to start.
_SHARE_TO_ASK = (
    0.85  # of the time: what is found out about columns must be sent back before its end
)
_SHARE_OF_BUDGET = 0.25  # No more of the whole time is spent on columns, even if all of it is left.

# The points of the map, what it is, and which columns count.
LastParts = tuple[pd.DataFrame, MapRecord, ImportancesRecord]


def last_parts_within(
    data: LabelledTable, leaders: Leaders, seed: int, seconds: float, budget: float
) -> LastParts:
    """Return the map and the importances of columns, as far as they can be had in so many seconds.

    Either is made in a process of its own, which can be ended; what is missing is a sentence.
    """
    if seconds < _LEAST_SECONDS:
        return without_last_parts("the rounds took all the time there was")
    to_ask = min(_SHARE_TO_ASK * seconds, _SHARE_OF_BUDGET * budget)
    asked = (*rows_to_ask(leaders, data, seed), seed, time.time() + to_ask)
    try:
        drawn, found = answers_within(
            seconds,
            (draw_map, (rows_of_map(data, seed), seed)),
            (find_importances, asked),
        )
    except KeyboardInterrupt:
        return without_last_parts("it was stopped")
    without = without_last_parts(_why(drawn, seconds)), without_last_parts(_why(found, seconds))
    points, the_map = without[0][:2] if isinstance(drawn, Exception) else drawn
    return points, the_map, without[1][2] if isinstance(found, Exception) else found


def _why(answer: Any, seconds: float) -> str:
    """Say why there is no answer."""
    if isinstance(answer, TookTooLongError):
        return f"it takes more than the {duration(seconds)} that the rounds left"
    return str(answer) if isinstance(answer, NoAnswerError) else ""


def without_last_parts(reason: str) -> LastParts:
    """Return neither, and the sentences that say why."""
    empty = pd.DataFrame(columns=["row", "x", "y", "class", "held_out"])
    no_map = f"The map is left out: {reason}; mercer project draws one."
    unknown = f"Which columns count is left out: {reason}; a longer budget leaves more."
    return empty, MapRecord(notes=(no_map,)), ImportancesRecord(notes=(unknown,))
