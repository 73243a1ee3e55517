"""BasisImageDisplay: directions as images."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mercer.plots import BasisImageDisplay
from mercer.projections import LaplacianEigenmaps, laplacianfaces


@pytest.fixture(scope="module")
def model():
    return laplacianfaces(n_components=12).fit(*load_digits(return_X_y=True))


def test_images_are_the_directions(model, plt):
    display = BasisImageDisplay.from_estimator(model, image_shape=(8, 8), n_images=11)
    assert len(display.images_) == 11
    components = model["projection"].components_
    for image, values in zip(display.images_, components, strict=False):
        np.testing.assert_allclose(image.get_array(), values.reshape(8, 8))
        low, high = image.get_clim()
        assert low == -high  # zero is grey
    assert [ax.get_title() for ax in display.axes_] == [str(i) for i in range(1, 12)]
    assert sum(ax.axison for ax in display.figure_.axes) == 11


def test_axes_may_be_given(model, plt):
    _, axes = plt.subplots(1, 3)
    components = model["projection"].components_[:3]
    display = BasisImageDisplay(
        components=components, image_shape=(8, 8), titles=["$a", "b", "c"]
    ).plot(axes=axes)
    assert display.axes_ == list(axes)
    assert axes[0].get_title() == "$a"
    with pytest.raises(ValueError, match="as many axes"):
        display.plot(axes=axes[:2])


def test_bad_input_has_a_sentence(model):
    with pytest.raises(ValueError, match="no images of 7 × 8"):
        BasisImageDisplay.from_estimator(model, image_shape=(7, 8))
    maps = LaplacianEigenmaps().fit(load_digits().data[:50])
    with pytest.raises(ValueError, match="no linear directions"):
        BasisImageDisplay.from_estimator(maps, image_shape=(8, 8))
