"""Points with classes: a still picture for everybody, and the data for an interactive one.

Without the page's script, and on paper, there is an SVG of all points, or of a part of them where
they are many.  The script replaces it with a canvas that shows all points, tells which row the
pointer is at, hides classes and zooms.
"""

import json
from base64 import b64encode
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from numpy.typing import NDArray

from mercer._system.words import listed
from mercer.report._document import page_count
from mercer.report.charts._figures import draw_panel
from mercer.report.charts._glyphs import COLOURS, SHAPES, glyph, is_outline
from mercer.report.charts._scales import domain_of, padded
from mercer.report.charts._svg import element

_MOST_STILL = 3000  # points of the still picture; more would make the page slow to open
_STEPS = 65535  # into which the script's data divide each axis: two bytes a coordinate
_MOST_NAMED = 1500  # points of a class up to which each tells its row when it is pointed at
_HELD_OUT, _MARKED, _BEYOND = 1, 2, 4  # bits of a point's flags
_FAR_SHARE = 0.02  # of the rows of a class, at most, may be taken for lying far out
_FAR_MARGIN = 0.05  # of what is shown: room at the edge for rows that lie far out
_LEAST_CLASS = 5  # rows of a class below which none of its rows is taken for lying far out
_ROWS_IN_SENTENCE = 5  # that lie far out and are named


@dataclass(frozen=True)
class ClassKey:
    """A class in the legend."""

    name: str
    rows: str
    colour: int
    swatch: Markup


@dataclass(frozen=True)
class Scatter:
    """A scatter as the template needs it.

    `points` is the base64 of row numbers (4 bytes each), x, y and class (2 each) and flags (1), all
    rows of one before the next.
    """

    title: str
    still: Markup
    n: int
    points: str
    classes: Sequence[ClassKey]
    names: str  # JSON: names of the classes
    glyphs: str  # JSON: path, outline and colour of each class
    extent: str  # JSON: left, right, bottom, top
    is_split: bool  # some rows were held out, and some not
    n_marked: int  # points that have a ring
    notes: Sequence[str]


def make_scatter(
    frame: pd.DataFrame,
    classes: Sequence[str],
    *,
    title: str,
    marked: Collection[int] = (),
) -> Scatter:
    """Arrange the points of a scatter.

    The columns of `frame` are row, x, y, class and held_out; `marked` rows get a ring.
    """
    known = np.isfinite(frame[["x", "y"]].to_numpy(dtype=np.float64)).all(axis=1)
    n_without_place = int((~known).sum())
    # In a random order, so that no class hides another; rows held out come on top.
    order = np.random.default_rng(0).permutation(np.flatnonzero(known))
    held_out = frame["held_out"].to_numpy(dtype=bool)
    order = order[np.argsort(held_out[order], kind="stable")]
    frame = frame.iloc[order]
    place = {name: k for k, name in enumerate(classes)}
    kinds = np.array([place[name] for name in frame["class"]], dtype=np.uint16)
    flags = _HELD_OUT * frame["held_out"].to_numpy(dtype=np.uint8)
    flags |= _MARKED * frame["row"].isin(list(marked)).to_numpy(dtype=np.uint8)
    limits = [_limits(frame[name].to_numpy(dtype=np.float64), kinds) for name in ("x", "y")]
    is_beyond = np.zeros(len(frame), dtype=bool)
    for name, (low, high) in zip(("x", "y"), limits, strict=True):
        is_beyond |= ~frame[name].between(low, high).to_numpy()
        frame = frame.assign(**{name: frame[name].clip(low, high)})
    across, up = (padded(domain_of([ends]), 0.04) for ends in limits)
    is_split = bool(frame["held_out"].any() and not frame["held_out"].all())
    shown = _still_rows(kinds, len(classes))
    notes = []
    if n_without_place:
        have = "row has" if n_without_place == 1 else "rows have"
        notes.append(f"{page_count(n_without_place)} {have} no place on it.")
    flags |= (_BEYOND * is_beyond).astype(np.uint8)
    if is_beyond.any():
        notes.append(_describe_far_rows(frame["row"][is_beyond].tolist()))
    if len(shown) < len(frame):
        notes.append(
            f"Printed, or without its script, the page shows {page_count(len(shown))} of these "
            f"{page_count(len(frame))} points: the same share of every class."
        )
    sizes = np.bincount(kinds, minlength=len(classes))
    n = len(frame)
    radius = 3.6 if n <= 300 else 2.8 if n <= 2000 else 2.2 if n <= 10_000 else 1.7
    return Scatter(
        title=title,
        still=_still(frame.iloc[shown], kinds[shown], flags[shown], classes, title),
        n=n,
        points=b64encode(_pack_points(frame, kinds, flags, across, up)).decode("ascii"),
        classes=[
            ClassKey(name, page_count(sizes[k]), k % COLOURS, _swatch(k))
            for k, name in enumerate(classes)
        ],
        names=json.dumps(list(classes)),
        glyphs=json.dumps([_glyph(k, radius) for k in range(len(classes))]),
        extent=json.dumps([*across, *up]),
        is_split=is_split,
        n_marked=int(((flags & _MARKED) > 0).sum()),
        notes=notes,
    )


def _limits(values: NDArray[np.float64], kinds: NDArray[np.uint16]) -> tuple[float, float]:
    """Return the ends of an axis: those of all values except the few that lie far from the others.

    At most two rows in a hundred of a class, or one, are taken for lying far out, and only where
    they are farther from the others than these span. So a whole class that lies apart is shown in
    its place, and a few mistaken rows do not press all others together.
    """
    lows, highs = [], []
    for k in np.unique(kinds):
        own = np.sort(values[kinds == k])
        n_far = max(1, round(_FAR_SHARE * len(own))) if len(own) >= _LEAST_CLASS else 0
        lows.append(own[n_far])
        highs.append(own[-1 - n_far])
    low, high = min(lows, default=0.0), max(highs, default=0.0)
    # Where nearly all values are the same, every other one is shown.
    reach = high - low if high > low else np.inf
    near = values[(values >= low - reach) & (values <= high + reach)]
    if len(near) == len(values):
        return domain_of([values])
    room = _FAR_MARGIN * (near.max() - near.min())
    return (
        float(near.min() - room * (values.min() < near.min())),
        float(near.max() + room * (values.max() > near.max())),
    )


def _describe_far_rows(rows: Sequence[float]) -> str:
    """Say which rows lie far outside, and are drawn at the edge of the picture."""
    some = listed([f"{row:.0f}" for row in sorted(rows)[:_ROWS_IN_SENTENCE]])
    if len(rows) == 1:
        return f"One row lies far outside and is drawn at the edge: row {some}."
    which = f"rows {some}" if len(rows) <= _ROWS_IN_SENTENCE else f"among them rows {some}"
    return f"{page_count(len(rows))} rows lie far outside and are drawn at the edge: {which}."


def _shape(k: int) -> str:
    """Return the shape of a class: with its colour, no two of the first hundred look the same."""
    return SHAPES[(k + k // COLOURS) % len(SHAPES)]


def _glyph(k: int, radius: float) -> dict[str, object]:
    shape = _shape(k)
    return {"d": glyph(shape, 0, 0, radius), "outline": is_outline(shape), "colour": k % COLOURS}


def _swatch(k: int) -> Markup:
    outline = " outline" if is_outline(_shape(k)) else ""
    inside = element("path", class_=f"points{outline}", d=glyph(_shape(k), 7, 7, 4))
    return element(
        "svg", inside, class_=f"dot k{k % COLOURS}", viewBox="0 0 14 14", aria_hidden="true"
    )


def _still_rows(kinds: NDArray[np.uint16], n_classes: int) -> NDArray[np.intp]:
    """Return which points are drawn in the still picture: the same share of every class."""
    if len(kinds) <= _MOST_STILL:
        return np.arange(len(kinds))
    ratio = _MOST_STILL / len(kinds)
    parts = []
    for k in range(n_classes):
        own = np.flatnonzero(kinds == k)
        # spread over rows that were held out and rows that were not
        kept = np.linspace(0, len(own) - 1, round(ratio * len(own)) or min(1, len(own)))
        parts.append(own[kept.round().astype(np.intp)])
    return np.sort(np.concatenate(parts))


def _pack_points(
    frame: pd.DataFrame,
    kinds: NDArray[np.uint16],
    flags: NDArray[np.uint8],
    across: tuple[float, float],
    up: tuple[float, float],
) -> bytes:
    """Return the points as bytes for the script: coordinates as steps along the axes."""
    parts = [frame["row"].to_numpy(dtype="<u4").tobytes()]
    for values, (low, high) in ((frame["x"], across), (frame["y"], up)):
        steps = (values.to_numpy(dtype=np.float64) - low) / (high - low) * _STEPS
        parts.append(np.rint(steps).astype("<u2").tobytes())
    return b"".join([*parts, kinds.astype("<u2").tobytes(), flags.tobytes()])


def _still(
    frame: pd.DataFrame,
    kinds: NDArray[np.uint16],
    flags: NDArray[np.uint8],
    classes: Sequence[str],
    title: str,
) -> Markup:
    """Draw points class by class: rows that were not held out paler, where some were."""
    is_held_out, is_marked = (flags & _HELD_OUT) > 0, (flags & _MARKED) > 0
    layers = []
    for faint in (True, False) if is_held_out.any() else (False,):
        for k, name in enumerate(classes):
            own = frame[(kinds == k) & (is_held_out != faint if is_held_out.any() else True)]
            if len(own):
                layers.append(
                    {**_layer(own, name), "marker": _shape(k), "colour": k, "faint": faint}
                )
    if is_marked.any():
        label = "wrong for every model"
        layers.append({**_layer(frame[is_marked], label), "marker": "ring", "colour": 7})
    return draw_panel({"title": title, "x_label": "x", "y_label": "y", "layers": layers})


def _layer(frame: pd.DataFrame, label: str) -> dict[str, Any]:
    layer = {"kind": "points", "label": label, "x": frame["x"].tolist(), "y": frame["y"].tolist()}
    if len(frame) <= _MOST_NAMED:
        layer["names"] = [f"row {row:.0f}, {label}" for row in frame["row"]]
    return layer
