"""DensityDisplay: the curve is the density, and contours hold the mass that they say."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer.plots import DensityDisplay
from mercer.plots._density import mass_thresholds


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(200, 2)) * [1.0, 50.0]


class _Gaussian(BaseEstimator):
    """The standard normal density of two columns, in closed form."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def score_samples(self, X):
        return -0.5 * (np.asarray(X) ** 2).sum(axis=1) - np.log(2 * np.pi)


def _segments(contours):
    """Points of every contour line, by level."""
    return [np.vstack([np.vstack(path.to_polygons(closed_only=False))])
            for path in contours.get_paths()]  # fmt: skip


def test_curve_is_the_density(rows, ax):
    x = rows[:, 1:]
    model = KernelDensity(bandwidth=9.0).fit(x)
    display = DensityDisplay.from_estimator(model, x, ax=ax)
    grid, density = display.line_.get_data()
    np.testing.assert_allclose(density, np.exp(model.score_samples(grid[:, None])))
    assert grid[0] == pytest.approx(x.min() - 27)
    assert np.trapezoid(density, grid) == pytest.approx(1, abs=2e-3)
    assert len(display.points_.get_segments()) == len(x)
    assert display.contours_ is None
    assert display.ax_.get_ylabel() == "density"


def test_contours_hold_the_mass_that_they_say(ax):
    """Of two standard normal columns, a circle of radius √(−2·log(1 − p)) holds the share p."""
    shares = (0.3, 0.5, 0.9)
    display = DensityDisplay.from_estimator(
        _Gaussian().fit(None), np.zeros((1, 2)), shares=shares, limits=[(-6, 6), (-6, 6)], ax=ax
    )
    assert display.held_ == [0.9, 0.5, 0.3]
    for share, points in zip(display.held_, _segments(display.contours_), strict=True):
        radii = np.hypot(*points.T)
        np.testing.assert_allclose(radii, np.sqrt(-2 * np.log1p(-share)), rtol=0.02)
    names = [text.get_text() for text in display.legend_.get_texts()]
    assert names == ["holds 30 %", "holds 50 %", "holds 90 %"]


def test_thresholds_are_literal():
    density = np.array([[4.0, 3.0], [2.0, 1.0]])
    assert mass_thresholds(density, (0.3, 0.5, 0.75)) == {0.3: 4.0, 0.5: 3.0, 0.75: 2.0}
    assert mass_thresholds(np.zeros((2, 2)), (0.5,)) == {0.5: 0.0}


def test_first_column_runs_across(ax):
    """A density that depends on the first column alone has contours that stand upright."""
    model = GaussianMixture(1, random_state=0)
    model.fit(np.random.default_rng(0).normal(size=(400, 2)) * [1.0, 100.0])
    display = DensityDisplay.from_estimator(
        model, np.zeros((1, 2)), limits=[(-4, 4), (-4, 4)], shares=(0.5,), ax=ax
    )
    (points,) = _segments(display.contours_)
    assert np.ptp(points[:, 1]) > 5 * np.ptp(points[points[:, 0] > 0, 0])


@pytest.mark.parametrize("shift", [-1e5, 1e5])
def test_densities_beyond_the_range_of_floats(rows, ax, shift):
    log_density = -0.5 * np.add.outer(np.linspace(-3, 3, 50) ** 2, np.linspace(-3, 3, 50) ** 2)
    grid = [np.linspace(-3, 3, 50)] * 2
    display = DensityDisplay(grid=grid, log_density=log_density + shift, shares=(0.5,)).plot(ax=ax)
    (points,) = _segments(display.contours_)
    np.testing.assert_allclose(np.hypot(*points.T), np.sqrt(2 * np.log(2)), rtol=0.03)


def test_tables_pipelines_and_many_rows(rows, ax):
    frame = pd.DataFrame(np.repeat(rows, 30, axis=0), columns=["$a$", "b"])
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), KernelDensity())
    display = DensityDisplay.from_estimator(model.fit(frame), frame, grid_resolution=20, ax=ax)
    assert display.ax_.get_xlabel() == "$a$"
    assert display.ax_.xaxis.label.get_parse_math() is False
    assert len(display.points_.get_offsets()) == 5000
    low, high = display.ax_.get_ylim()
    assert low < rows[:, 1].min()
    assert rows[:, 1].max() < high


def test_points_of_one_place_have_a_picture(ax):
    X = np.full((5, 2), 3.0)
    display = DensityDisplay.from_estimator(KernelDensity(bandwidth=0.1).fit(X), X, ax=ax)
    assert display.held_ == [0.99, 0.9, 0.5]


def test_bad_input_has_a_sentence(rows):
    model = KernelDensity().fit(rows)
    with pytest.raises(ValueError, match="one or two columns, got X of 3 columns"):
        DensityDisplay.from_estimator(model, np.zeros((4, 3)))
    with pytest.raises(ValueError, match="StandardScaler has no score_samples"):
        DensityDisplay.from_estimator(StandardScaler().fit(rows), rows)
    with pytest.raises(ValueError, match="shares must be numbers between 0 and 1"):
        DensityDisplay.from_estimator(model, rows, shares=(50, 90))
    with pytest.raises(ValueError, match="limits must have a pair"):
        DensityDisplay.from_estimator(model, rows, limits=[(0, 1)])
    with pytest.raises(ValueError, match="X has NaN or infinity"):
        DensityDisplay.from_estimator(model, np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="no rows"):
        DensityDisplay.from_estimator(model, np.zeros((0, 2)))
    with pytest.raises(ValueError, match="log_density has NaN"):
        DensityDisplay(grid=[np.arange(2)], log_density=[0.0, np.nan])
    with pytest.raises(ValueError, match=r"shape \(2,\) is needed"):
        DensityDisplay(grid=[np.arange(2)], log_density=np.zeros(3))
