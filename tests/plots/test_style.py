"""What all displays share: names as written, classes apart, and pyplot left as it was."""

import builtins

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from mercer import LaplacianClassifier
from mercer.plots import DecisionRegionDisplay, LeaveOneOutPathDisplay, SignificanceDisplay

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))


def _draw(display, y, **options):
    if display is DecisionRegionDisplay:
        model = KNeighborsClassifier(1).fit(X, y)
        return display.from_estimator(model, X, y, grid_resolution=20, **options)
    return display.from_estimator(LaplacianClassifier().fit(X, y), **options)


def _looks(shown):
    """Return the pairs of a colour and a marker in which classes are drawn."""
    return {
        (tuple(points.get_facecolor()[0]), points.get_paths()[0].vertices.tobytes())
        for points in shown.points_
    }


BOTH = [SignificanceDisplay, DecisionRegionDisplay]
ALL = [*BOTH, LeaveOneOutPathDisplay]


@pytest.mark.parametrize("display", BOTH)
@pytest.mark.parametrize("name", ["$x_1^", "_hidden", "$\\bad{$", "a\nb", "", "ü" * 99])
def test_names_are_shown_as_written(display, name, plt):
    shown = _draw(display, np.where(np.arange(60) < 30, name, "zz"))
    names = [text.get_text() for text in shown.legend_.get_texts()]
    expected = {"a\nb": "a b", "ü" * 99: "ü" * 29 + "…"}.get(name, name)
    assert expected in names
    assert "zz" in names
    shown.figure_.canvas.draw()  # mathtext would raise here
    assert not any(text.get_parse_math() for text in shown.legend_.get_texts())


@pytest.mark.parametrize("display", BOTH)
def test_thirty_classes_look_different_and_are_all_named(display, plt):
    shown = _draw(display, np.arange(60) % 30)
    assert len(_looks(shown)) == len(shown.points_) == 30
    names = [text.get_text() for text in shown.legend_.get_texts()]
    assert names[:30] == [str(c) for c in range(30)]


def test_a_legend_of_a_hundred_classes_says_what_it_leaves_out(plt):
    points, y = RNG.normal(size=(200, 2)), np.arange(200) % 100
    model = KNeighborsClassifier(1).fit(points, y)
    shown = DecisionRegionDisplay.from_estimator(model, points, y)
    assert len(shown.legend_.get_texts()) == 60
    assert shown.legend_.get_title().get_text() == "60 of 100"


def test_a_hundred_and_ten_classes_have_looks_of_their_own(plt):
    points, y = RNG.normal(size=(220, 2)), np.arange(220) % 110
    model = KNeighborsClassifier(1).fit(points, y)
    shown = DecisionRegionDisplay.from_estimator(model, points, y, grid_resolution=20)
    assert len(_looks(shown)) == len(shown.points_) == 110


@pytest.mark.parametrize("display", ALL)
def test_legends_cover_no_data(display, plt):
    shown = _draw(display, np.arange(60) % 3)
    shown.figure_.canvas.draw()
    assert shown.legend_.get_window_extent().x0 >= shown.ax_.get_window_extent().x1
    assert shown.legend_.get_window_extent().x1 <= shown.figure_.bbox.x1


@pytest.mark.parametrize("display", ALL)
def test_given_axes_are_used_and_no_figure_is_made(display, plt, ax):
    current, settings = plt.gca(), dict(plt.rcParams)
    shown = _draw(display, np.arange(60) % 2, ax=ax, legend=False)
    assert shown.ax_ is ax
    assert shown.figure_ is ax.figure
    assert shown.legend_ is None
    assert ax.get_legend() is None
    assert len(plt.get_fignums()) == 1
    assert plt.gca() is current
    assert dict(plt.rcParams) == settings


@pytest.mark.parametrize("display", ALL)
def test_one_figure_is_made_where_none_is_given(display, plt):
    shown = _draw(display, np.arange(60) % 2)
    assert plt.get_fignums() == [shown.figure_.number]
    assert shown.ax_.get_xlabel()
    assert shown.ax_.get_ylabel()


@pytest.mark.parametrize("display", ALL)
def test_without_matplotlib_the_error_names_the_extra(display, monkeypatch):
    real = builtins.__import__

    def no_matplotlib(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_matplotlib)
    with pytest.raises(ImportError, match=r'Display needs matplotlib: pip install "\.\[plot\]"'):
        _draw(display, np.arange(60) % 2)


@pytest.mark.parametrize("display", ALL)
def test_an_estimator_that_is_not_fitted_says_so(display):
    from sklearn.exceptions import NotFittedError

    args = (X, np.arange(60) % 2) if display is DecisionRegionDisplay else ()
    with pytest.raises(NotFittedError):
        display.from_estimator(LaplacianClassifier(), *args)
