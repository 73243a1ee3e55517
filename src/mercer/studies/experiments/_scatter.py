"""Layers of panels for two classes in the plane: their points, and the regions of a classifier."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mercer.studies._panels import Points, Raster

__all__ = ["MARKERS", "Extent", "grid", "regions", "scatter"]

MARKERS: tuple[Literal["circle"], Literal["square"]] = ("circle", "square")
Extent = tuple[float, float, float, float]

_Array = NDArray[Any]


def scatter(
    Z: _Array, y: _Array, names: tuple[str, str], predicted: _Array | None = None
) -> list[Points]:
    """Return the points of classes 0 and 1: markers by class, colours by prediction if given."""
    colours = y if predicted is None else predicted
    layers = []
    for c, name in enumerate(names):
        for colour in np.unique(colours[y == c]).tolist():
            rows = (y == c) & (colours == colour)
            label = name if colour == c else f"{name}, taken for {names[colour]}"
            layers.append(
                Points(x=Z[rows, 0], y=Z[rows, 1], label=label, colour=colour, marker=MARKERS[c])
            )
    return layers


def grid(X: _Array, size: int = 60) -> tuple[_Array, Extent]:
    """Return size² points over the rows and a margin, the lowest first, and their extent."""
    margin = 0.05 * np.ptp(X, axis=0)
    low, high = X.min(axis=0) - margin, X.max(axis=0) + margin
    sides = [np.linspace(a, b, size) for a, b in zip(low, high, strict=True)]
    points = np.column_stack([side.ravel() for side in np.meshgrid(*sides)])
    return points, (float(low[0]), float(high[0]), float(low[1]), float(high[1]))


def regions(model: Any, X: _Array, size: int = 60) -> Raster:
    """Return the classes that a fitted model gives to the plane around the rows."""
    points, extent = grid(X, size)
    classes = np.asarray(model.predict(points)).reshape(size, size)
    return Raster(z=classes, extent=extent, scale="classes", label="class given")
