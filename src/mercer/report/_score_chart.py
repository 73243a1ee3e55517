"""Scores with their intervals, best first: a line per model, a tick per split."""

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from mercer.report._glyphs import glyph
from mercer.report._numbers import known
from mercer.report._ranking import ModelLine
from mercer.report._scales import Linear, domain_of, padded, tick_labels, ticks
from mercer.report._svg import coordinate, element, text_width

__all__ = ["draw_scores"]

_WIDTH, _ROW, _TOP = 400.0, 26.0, 26.0
_VALUE = 44.0  # room for the number at the end of a line


def draw_scores(
    lines: Sequence[ModelLine],
    splits: Mapping[str, NDArray[np.float64]],
    title: str,
    *,
    lower_is_better: bool,
) -> Markup:
    """Draw mean, interval and the score on every split of the models that were scored.

    A floor that lies far off would push all others together: it gets an arrow at the edge.
    """
    names = [line.name if len(line.name) <= 24 else line.name[:23] + "…" for line in lines]
    left = 14 + max(text_width(name, 12) for name in names)
    right = _WIDTH - _VALUE
    x = Linear(_domain(lines, splits), (left, right))
    bottom = _TOP + _ROW * len(lines)
    parts = []
    values = ticks(*x.domain)
    for value, text in zip(values, tick_labels(values), strict=True):
        across = float(x(value))
        parts.append(element("path", class_="grid", d=f"M{across:.1f} {_TOP - 6}V{bottom:.1f}"))
        parts.append(
            element("text", text, x=across, y=_TOP - 11, text_anchor="middle", class_="tick")
        )
    for k, (name, line) in enumerate(zip(names, lines, strict=True)):
        y = _TOP + _ROW * (k + 0.5)
        parts.append(element("text", name, x=left - 10, y=y + 4, text_anchor="end", class_="name"))
        parts += _line(line, splits.get(line.name, np.empty(0)), x, y)
        parts.append(element("text", line.score, x=right + 8, y=y + 4, class_="value"))
    best = "lower is better" if lower_is_better else "higher is better"
    said = "; ".join(f"{line.name} {line.score} ({line.interval})" for line in lines)
    return element(
        "svg",
        element("desc", f"{title}, {best}: {said}."),
        *parts,
        viewBox=f"0 0 {_WIDTH:.0f} {bottom + 4:.0f}",
        role="img",
        aria_label=title,
        class_="chart scores",
    )


def _domain(
    lines: Sequence[ModelLine], splits: Mapping[str, NDArray[np.float64]]
) -> tuple[float, float]:
    """Return what the models span; the floor too unless it lies more than as far off again."""
    spans = {}
    for line in lines:
        numbers = [line.numbers[key] for key in ("score", "low", "high")]
        own = splits.get(line.name, np.empty(0))
        spans[line.name] = domain_of([np.array(numbers, dtype=np.float64), own])
    models = [spans[line.name] for line in lines if line.kind != "floor"]
    low, high = domain_of(models or list(spans.values()))
    for line in lines:
        if line.kind == "floor" and low - (high - low) <= spans[line.name][0] <= high:
            low = min(low, spans[line.name][0])
    return padded((low, high), 0.03)


def _line(line: ModelLine, scores: NDArray[np.float64], x: Linear, y: float) -> list[Markup]:
    score, low, high = (line.numbers[key] for key in ("score", "low", "high"))
    if not known(score):
        return []
    ends = x.lengths
    across = float(x(score))
    worse = line.mark.name == "worse"
    style = "k7" if worse else "k0"
    hint = element("title", f"{line.name}: {line.score}, {line.interval}; {line.mark.name}")
    if not ends[0] <= across <= ends[1]:
        at, way = (ends[0], 1) if across < ends[0] else (ends[1], -1)
        d = f"M{coordinate(at + 9 * way)} {y - 4:.1f}L{coordinate(at)} {y:.1f}l{9 * way} 4"
        return [element("g", hint, element("path", class_="line off-scale", d=d), class_=style)]
    parts = [hint]
    inside = scores[np.isfinite(scores)]
    if len(inside):
        d = "".join(f"M{coordinate(at)} {y - 6:.1f}v12" for at in x(inside))
        parts.append(element("path", class_="splits", d=d))
    if known(low) and known(high):
        start, stop = np.clip(x([low, high]), *ends)
        d = f"M{coordinate(start)} {y:.1f}H{coordinate(stop)}"
        parts.append(element("path", class_="line interval", d=d))
    d = glyph("circle", across, y, 4.5)
    parts.append(element("path", class_="points outline" if worse else "points", d=d))
    return [element("g", *parts, class_=style)]
