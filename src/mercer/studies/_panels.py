"""What a figure shows, as data: panels of points, lines, bars and maps, drawn by the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike


@dataclass(frozen=True, kw_only=True)
class Points:
    """Points of one series.

    Parameters
    ----------
    x, y : array-like of shape (n,)
    label : str, default=""
        What the legend calls them.
    colour : int, default=0
        Which colour of the palette: as a rule the number of the class.
    marker : {"circle", "square", "cross", "triangle", "ring"}
    names : sequence of str or None
        What is shown when a point is pointed at.
    """

    x: ArrayLike
    y: ArrayLike
    label: str = ""
    colour: int = 0
    marker: Literal["circle", "square", "cross", "triangle", "ring"] = "circle"
    names: Sequence[str] | None = None
    kind: Literal["points"] = "points"


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line through points in their order, with an optional band of ± `spread`."""

    x: ArrayLike
    y: ArrayLike
    label: str = ""
    colour: int = 0
    spread: ArrayLike | None = None
    dashed: bool = False
    arrow: bool = False
    kind: Literal["line"] = "line"


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Bars at 0, 1, … or at `x`, with `names` below them."""

    y: ArrayLike
    x: ArrayLike | None = None
    names: Sequence[str] | None = None
    label: str = ""
    colour: int = 0
    kind: Literal["bars"] = "bars"


@dataclass(frozen=True, kw_only=True)
class Raster:
    """A map of values on a regular grid.

    Parameters
    ----------
    z : array-like of shape (down, across)
        The first row is the lowest one, as y goes up.
    extent : tuple of float
        Left, right, bottom and top.
    scale : {"shade", "classes"}
        Shades of one colour from least to most, or the colours of classes 0, 1, ….
    """

    z: ArrayLike
    extent: tuple[float, float, float, float]
    scale: Literal["shade", "classes"] = "shade"
    label: str = ""
    kind: Literal["raster"] = "raster"


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One set of axes and the layers on it, the first one lowest."""

    title: str
    layers: Sequence[Points | Line | Bars | Raster]
    x_label: str = ""
    y_label: str = ""
    equal: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the panel as JSON values, numbers rounded to six digits."""
        layers = [
            {key: _as_json(value) for key, value in vars(layer).items()} for layer in self.layers
        ]
        return {**vars(self), "layers": layers}


def _as_json(value: Any) -> Any:
    """Return a field of a layer as JSON values; arrays of numbers become rounded lists."""
    import numpy as np

    if value is None or isinstance(value, str | bool | int | float):
        return value
    array = np.asarray(value)
    if array.dtype.kind == "f":
        return _six_digits(array)
    return array.tolist()


def _six_digits(array: Any) -> Any:
    """Round numbers to six digits; what is not finite becomes null."""
    if array.ndim:
        return [_six_digits(part) for part in array]
    number = float(array)
    return float(f"{number:.6g}") if number == number and abs(number) != float("inf") else None
