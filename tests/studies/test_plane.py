"""Layers for two classes in the plane."""

import numpy as np

from mercer.studies.experiments._plane import grid, regions, scatter


class Above:
    """Class 1 above the line y = 5, for x beyond 0."""

    def predict(self, X):
        return ((X[:, 1] > 5) & (X[:, 0] > 0)).astype(int)


X = np.array([[-1.0, 0.0], [3.0, 0.0], [3.0, 10.0], [-1.0, 10.0]])


def test_regions_lie_where_they_belong():
    raster = regions(Above(), X, size=20)
    left, right, bottom, top = raster.extent
    assert left < -1 < 3 < right
    assert bottom < 0 < 10 < top
    z = np.asarray(raster.z)
    assert z.shape == (20, 20)
    assert (z[:10] == 0).all()  # the first rows are the lowest
    assert (z[10:, -10:] == 1).all()
    assert (z[:, 0] == 0).all()


def test_grid_goes_from_the_lowest_row_up():
    points, extent = grid(X, size=3)
    assert points[0].tolist() == [extent[0], extent[2]]
    assert points[2].tolist() == [extent[1], extent[2]]
    assert points[-1].tolist() == [extent[1], extent[3]]


def test_markers_by_class_and_colours_by_prediction():
    y, predicted = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    layers = scatter(X, y, ("low", "high"), predicted)
    assert [(p.label, p.marker, p.colour, len(p.x)) for p in layers] == [
        ("low", "circle", 0, 1),
        ("low, taken for high", "circle", 1, 1),
        ("high", "square", 1, 2),
    ]
    plain = scatter(X, y, ("low", "high"))
    assert [(p.label, p.colour) for p in plain] == [("low", 0), ("high", 1)]
    assert plain[1].x.tolist() == [3.0, -1.0]
