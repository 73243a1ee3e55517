"""A map of the classes in two dimensions, for the page of ``mercer compare``: drawn last."""

import os
import time
import warnings
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

import numpy as np

from mercer._system.processes import end_with_parent, start_process

if TYPE_CHECKING:
    import pandas as pd

    from mercer.comparison import MapRecord
    from mercer.tables import LabelledTable

_MOST_ROWS = 1000  # a page can show them all, and three quarters are fitted in seconds
_OTHER_WAY = "mercer project draws one"
_LEAST_SECONDS = 1.0  # no map is drawn in less: its process takes as long to start


def draw_map(data: "LabelledTable", seed: int) -> "tuple[pd.DataFrame, MapRecord]":
    """Return row, x, y, class and held_out of at most 1 000 rows, and what the map is.

    By the kernel Fisher discriminant; linear discriminants where that fails.
    """
    return _draw(_some_rows(data, seed), seed)


def _some_rows(data: "LabelledTable", seed: int) -> "LabelledTable":
    from mercer.spectral import stratified_rows

    _, labels = np.unique(data.y, return_inverse=True)
    rows = stratified_rows(labels, _MOST_ROWS, 1.0, np.random.RandomState(seed))
    return replace(data, X=data.X.iloc[rows], y=data.y[rows])


def _draw(part: "LabelledTable", seed: int) -> "tuple[pd.DataFrame, MapRecord]":
    from threadpoolctl import threadpool_limits

    from mercer.comparison import MapRecord
    from mercer.views import project_table

    method = "fisher"
    with threadpool_limits(1):  # as all fits of a comparison
        try:
            table = project_table(part, method, random_state=seed)
        except (ValueError, np.linalg.LinAlgError):
            method = "lda"
            table = project_table(part, method, random_state=seed)
    return table.frame, MapRecord(method=method, notes=table.notes)


def draw_map_within(
    data: "LabelledTable", seed: int, seconds: float
) -> "tuple[pd.DataFrame, MapRecord]":
    """Return the map if it can be had in so many seconds, or none with a sentence.

    It is drawn in a process of its own, which can be ended.
    """
    if seconds < _LEAST_SECONDS:
        return no_map("the rounds took all the time there was")
    until = time.perf_counter() + seconds
    process, here = start_process(_serve, (_some_rows(data, seed), seed))
    try:
        if not here.poll(max(0.0, until - time.perf_counter())):
            return no_map(f"it takes more than the {seconds:.0f} s that the rounds left")
        found = here.recv()
    except (EOFError, OSError):
        return no_map("its process ended early, for want of memory as a rule")
    except KeyboardInterrupt:
        return no_map("it was stopped")
    finally:
        process.kill()
        process.join()
        here.close()
    return no_map(found) if isinstance(found, str) else found


def no_map(reason: str) -> "tuple[pd.DataFrame, MapRecord]":
    """Return a map without rows, and the sentence that says why."""
    import pandas as pd

    from mercer.comparison import MapRecord

    empty = pd.DataFrame(columns=["row", "x", "y", "class", "held_out"])
    return empty, MapRecord(notes=(f"The map is left out: {reason}; {_OTHER_WAY}.",))


def _serve(connection: Connection) -> None:
    """Send the map, or why there is none.

    Standard error is closed: without memory, libraries would fill it with tracebacks.
    """
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    end_with_parent()
    # Sent from here, where the memory that an error held on to is free again.
    connection.send(_map_or_reason(connection))


def _map_or_reason(connection: Connection) -> "tuple[pd.DataFrame, MapRecord] | str":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _draw(*connection.recv())
        except (ImportError, MemoryError, OSError, SystemError) as error:
            # This process loads all libraries again; one that finds no room says "not found".
            why = _named_error(_first_cause(error))
            return f"its process could not go on, for want of memory as a rule ({why})"
        except Exception as error:  # the comparison is what was asked for, and it is there
            return _named_error(error)


def _first_cause(error: BaseException) -> BaseException:
    before = error.__cause__ or error.__context__
    return error if before is None else _first_cause(before)


def _named_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ").splitlines()[0]
