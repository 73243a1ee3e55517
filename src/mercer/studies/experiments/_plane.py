"""Samples in the plane that the papers draw, and the layers of panels that draw two classes."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer.studies._panels import Panel, Points, Raster

MARKERS: tuple[Literal["circle"], Literal["square"]] = ("circle", "square")
Extent = tuple[float, float, float, float]

_Sample = tuple[NDArray[np.float64], NDArray[np.int64]]


def two_gaussians(rng: np.random.Generator, rare: int, common: int) -> _Sample:
    """Return unit Gaussians about (0.6, 0.6), class 0, and (2, 2), class 1."""
    X = np.concatenate([rng.normal(0.6, 1, (rare, 2)), rng.normal(2.0, 1, (common, 2))])
    return X, np.repeat([0, 1], [rare, common])


def ring(rng: np.random.Generator, n_ring: int = 63, n_disc: int = 200) -> _Sample:
    """Return a ring, class 1, and then the points of a Gaussian within it, class 0."""
    angle = np.linspace(0, 2 * np.pi, n_ring, endpoint=False)
    radius = rng.normal(2.5, 0.1, n_ring)
    outer = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    X = np.concatenate([outer, rng.normal(0, 0.5, (n_disc, 2))])
    return X, np.repeat([1, 0], [n_ring, n_disc])


def half_moons(
    rng: np.random.Generator, n: int, *, radius: float, noise: float, apart: float = 0.0
) -> _Sample:
    """Return an upper half-moon, class 0, and a lower one, class 1; `n` points of each.

    Noise is the standard deviation of each coordinate, `apart` how much further down the lower
    moon lies than where the two interlock, both in units of the radius.
    """
    angle = rng.uniform(0, np.pi, (2, n))
    upper = np.column_stack([np.cos(angle[0]), np.sin(angle[0])])
    lower = np.column_stack([1 - np.cos(angle[1]), 0.5 - np.sin(angle[1]) - apart])
    X: Any = np.concatenate([upper, lower]) + rng.normal(0, noise, (2 * n, 2))
    return radius * X, np.repeat([0, 1], n)


def scatter(
    Z: Array, y: Array, names: tuple[str, str], predicted: Array | None = None
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


def grid(X: Array, size: int = 60) -> tuple[Array, Extent]:
    """Return size² points over the rows and a margin, the lowest first, and their extent."""
    margin = 0.05 * np.ptp(X, axis=0)
    low, high = X.min(axis=0) - margin, X.max(axis=0) + margin
    sides = [np.linspace(a, b, size) for a, b in zip(low, high, strict=True)]
    points = np.column_stack([side.ravel() for side in np.meshgrid(*sides)])
    return points, (float(low[0]), float(high[0]), float(low[1]), float(high[1]))


def regions(model: Any, X: Array, size: int = 60) -> Raster:
    """Return the classes that a fitted model gives to the plane around the rows."""
    points, extent = grid(X, size)
    classes = np.asarray(model.predict(points)).reshape(size, size)
    return Raster(z=classes, extent=extent, scale="classes", label="class given")


def show_sample(title: str, X: Array, y: Array, names: tuple[str, str], *on_top: Points) -> Panel:
    """Return a panel of two classes, and of further points."""
    return Panel(title=title, layers=[*scatter(X, y, names), *on_top], equal=True)


def show_answers(title: str, model: Any, X: Array, y: Array, names: tuple[str, str]) -> Panel:
    """Return a panel of the regions of a fitted model and of points, in the colours it gives."""
    points = scatter(X, y, names, model.predict(X))
    return Panel(title=title, layers=[regions(model, X), *points], equal=True)
