"""The option that says by which metrics models are judged."""

from collections.abc import Sequence
from typing import Annotated

import typer

from mercer._system.vocabulary import METRICS
from mercer._system.words import did_you_mean, listed, quoted

_NAMES = tuple(METRICS)

Metric = Annotated[
    str | None,
    typer.Option(
        "--metric",
        help=f"{', '.join(_NAMES[:-1])} or {_NAMES[-1]}; several with commas between: the first "
        "ranks. Default: accuracy, balanced accuracy where a class is rare, or cost with --costs.",
    ),
]


def read_metrics(text: str | None, costs: str | None) -> list[str] | None:
    """Return the metrics that the option names, the one that ranks first; None without it."""
    if text is None:
        return None
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names or [text]:
        if name not in METRICS:
            choices = did_you_mean(name, _NAMES, f"choose {listed(_NAMES, word='or')}.")
            raise ValueError(f"--metric: there is no metric {quoted(name)}; {choices}")
    if "cost" in names and costs is None:
        raise ValueError("Give --costs with --metric cost: a table of what mistakes cost.")
    return names


def metrics_reason(names: Sequence[str]) -> str:
    """Say by what models are judged, as asked for, and what that does to p-values."""
    first, *others = (METRICS[name].words for name in names)
    if not others:
        return f"Scored by {first}, as asked for."
    return (
        f"Ranked by {first} and scored by {listed(others)} too, as asked for; p-values are "
        f"corrected over the pairs by all {len(names)} metrics together."
    )
