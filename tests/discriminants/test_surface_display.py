"""LeaveOneOutSurfaceDisplay: the results as colours, the choice marked where it was made."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from mercer.plots import LeaveOneOutSurfaceDisplay

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("Agg")
X, Y = load_iris(return_X_y=True)


@pytest.fixture
def plt():
    from matplotlib import pyplot

    pyplot.close("all")
    yield pyplot
    pyplot.close("all")


@pytest.mark.parametrize("quantity", ["score", "squared_error"])
@pytest.mark.parametrize("cls", [KernelFisherDiscriminant, SparseKernelFisherDiscriminant])
def test_the_surface_is_that_of_the_results(plt, cls, quantity):
    pipeline = make_pipeline(StandardScaler(), cls()).fit(X, Y)
    model = pipeline[-1]
    display = LeaveOneOutSurfaceDisplay.from_estimator(pipeline, quantity=quantity)
    drawn = display.surface_.get_array()
    np.testing.assert_array_equal(drawn, model.loo_results_[quantity])
    assert display.chosen_.get_xdata()[0] == model.gamma_
    row, column = model.loo_results_["best_index"]
    assert display.chosen_.get_ydata()[0] == model.loo_results_["alpha"][row, column]
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    display.figure_.canvas.draw()


def test_it_draws_on_given_axes_again(plt):
    _, axes = plt.subplots()
    display = LeaveOneOutSurfaceDisplay.from_estimator(
        KernelFisherDiscriminant().fit(X, Y), ax=axes
    )
    assert display.ax_ is axes
    assert display.plot().ax_ is not axes


def test_what_it_cannot_draw_is_refused(plt):
    model = SparseKernelFisherDiscriminant(gamma=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="gamma='loo'"):
        LeaveOneOutSurfaceDisplay.from_estimator(model)
    model = KernelFisherDiscriminant().fit(X, Y)
    with pytest.raises(ValueError, match="quantity must be among"):
        LeaveOneOutSurfaceDisplay.from_estimator(model, quantity="depth")
