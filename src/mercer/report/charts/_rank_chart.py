"""Average ranks on a line, with brackets around those that no test tells apart."""

from collections.abc import Collection, Sequence

from markupsafe import Markup

from mercer.report.charts._glyphs import glyph
from mercer.report.charts._scales import Linear
from mercer.report.charts._svg import element, text_width

_ROW = 22.0
_WIDTH = 460.0


def groups_alike(
    names: Sequence[str], different: Collection[frozenset[str]]
) -> list[tuple[int, int]]:
    """Return the longest stretches of a ranking without a pair that differs, as first and last.

    Stretches of one are left out, and so is every stretch within another.
    """
    groups: list[tuple[int, int]] = []
    for first in range(len(names)):
        last = first
        while last + 1 < len(names) and not any(
            frozenset((names[k], names[last + 1])) in different for k in range(first, last + 1)
        ):
            last += 1
        if last > first and not (groups and groups[-1][1] >= last):
            groups.append((first, last))
    return groups


def draw_ranks(
    ranks: Sequence[tuple[str, float]], groups: Sequence[tuple[int, int]], title: str
) -> Markup:
    """Draw names and average ranks, best first; a bracket joins each group."""
    names = [name if len(name) <= 34 else name[:33] + "…" for name, _ in ranks]
    left = 18 + max(text_width(name, 12) for name in names)
    right = 14 + 9.0 * len(groups)
    x = Linear((1.0, float(len(ranks))), (left, _WIDTH - right - 40))
    top = 26.0
    bottom = top + _ROW * len(ranks)
    parts = []
    for tick in range(1, len(ranks) + 1):
        across = float(x(tick))
        parts.append(element("path", class_="grid", d=f"M{across:.1f} {top - 6}V{bottom - 4:.1f}"))
        parts.append(
            element("text", str(tick), x=across, y=top - 11, text_anchor="middle", class_="tick")
        )
    for k, (name, (_, rank)) in enumerate(zip(names, ranks, strict=True)):
        y = top + _ROW * (k + 0.5)
        across = float(x(rank))
        parts += [
            element("text", name, x=left - 14, y=y + 4, text_anchor="end", class_="name"),
            element("path", class_="points k0", d=glyph("circle", across, y, 4.5)),
            element("text", f"{rank:.2f}", x=across + 9, y=y + 4, class_="value"),
        ]
    for k, (first, last) in enumerate(groups):
        across = _WIDTH - right + 9 * k + 8
        start, stop = top + _ROW * (first + 0.2), top + _ROW * (last + 0.8)
        together = ", ".join(name for name, _ in ranks[first : last + 1])
        parts.append(
            element(
                "path",
                element("title", f"not told apart: {together}"),
                class_="bracket",
                d=f"M{across - 4:.1f} {start:.1f}h4V{stop:.1f}h-4",
            )
        )
    said = "; ".join(f"{name} {rank:.2f}" for name, rank in ranks)
    return element(
        "svg",
        element("desc", f"Average ranks, 1 is best: {said}."),
        *parts,
        viewBox=f"0 0 {_WIDTH:.0f} {bottom + 2:.0f}",
        role="img",
        aria_label=title,
        class_="chart ranks",
    )
