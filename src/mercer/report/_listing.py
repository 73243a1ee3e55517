"""All lines of ``cells.csv`` for one long table that can be sorted and filtered."""

from typing import Any

import pandas as pd

from mercer.report._marks import mark_named
from mercer.report._numbers import decimals, fixed, known, signed
from mercer.report._tables import table_name

__all__ = ["list_cells"]


def list_cells(cells: pd.DataFrame) -> list[dict[str, Any]]:
    """Return every line of the cells with its numbers written."""
    lines = []
    for record in cells.to_dict("records"):
        published, measured, seconds = record["published"], record["measured"], record["seconds"]
        printed = decimals([published, record["published_spread"]])
        places = min(max(printed, 1), 3)
        both = known(published) and known(measured)
        lines.append(
            {
                **{name: record[name] for name in ("study", "row", "column", "reading")},
                "protocol": record["protocol"],
                "table": table_name(record["table"]),
                "published": _with_spread(published, record["published_spread"], printed),
                "measured": _with_spread(measured, record["spread"], places),
                "difference": signed(measured - published, places) if both else "",
                "mark": mark_named(record["mark"]),
                "n": f"{record['n']:.0f}" if known(record["n"]) and record["n"] else "",
                "seconds": fixed(seconds, 1) if known(seconds) and seconds else "",
            }
        )
    return lines


def _with_spread(value: float, spread: float, places: int) -> str:
    if not known(value):
        return ""
    return fixed(value, places) + (f" ± {fixed(spread, places)}" if known(spread) else "")
