"""Pictures are drawn in memory, and no test leaves a figure behind."""

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture
def plt():
    """pyplot, with no figures before and after."""
    from matplotlib import pyplot

    pyplot.close("all")
    yield pyplot
    pyplot.close("all")


@pytest.fixture
def ax(plt):
    _, axes = plt.subplots()
    return axes
