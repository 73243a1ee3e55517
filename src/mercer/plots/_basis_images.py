"""Directions in the space of images, drawn as images."""

from math import ceil
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import to_numpy
from mercer.plots._style import pyplot, write


class BasisImageDisplay:
    """Directions of a linear projection of images, drawn as images: eigenfaces and their kin.

    Grey is zero; dark and light are the two signs, on a scale of its own for each image, cut at
    its 99th percentile.

    Parameters
    ----------
    components : array-like of shape (n_components, n_pixels)
        Directions, one in each row.
    image_shape : tuple of int
        Height and width.
    titles : sequence of str or None, default=None
        One for each image; None numbers them.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        One for each image.
    figure_ : matplotlib Figure
        Their figure.
    images_ : list of matplotlib AxesImage
        The images.

    See Also
    --------
    mercer.RoweisSaulProjection, mercer.LocalityPreservingProjection : Have such directions.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer.plots import BasisImageDisplay
    >>> from mercer.projections import laplacianfaces
    >>> X, y = load_digits(return_X_y=True)
    >>> model = laplacianfaces(n_components=6).fit(X, y)
    >>> BasisImageDisplay.from_estimator(model, image_shape=(8, 8))  # doctest: +SKIP
    """

    def __init__(
        self, *, components: Any, image_shape: tuple[int, int], titles: Any = None
    ) -> None:
        self.components = to_numpy(components)
        self.image_shape = tuple(image_shape)
        self.titles = titles
        if self.components.ndim != 2 or self.components.shape[1] != np.prod(self.image_shape):
            raise ValueError(
                f"components of shape {self.components.shape} are not images of "
                f"{self.image_shape[0]} × {self.image_shape[1]} pixels."
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        image_shape: tuple[int, int],
        n_images: int = 10,
        n_columns: int | None = None,
        axes: Any = None,
    ) -> "BasisImageDisplay":
        """Draw the first directions of a fitted projection.

        Parameters
        ----------
        estimator : fitted projection with ``components_``, or pipeline with such a step
            A fitted one.
        image_shape : tuple of int
            Height and width.
        n_images : int, default=10
            At most so many.
        n_columns : int or None, default=None
            How many images stand in a line; up to ten where it is None.
        axes : sequence of matplotlib Axes or None, default=None
            Where to draw, one for each image; new ones are made where it is None.

        Returns
        -------
        BasisImageDisplay
            Drawn.
        """
        check_is_fitted(estimator)
        steps = (
            [step for _, step in estimator.steps] if hasattr(estimator, "steps") else [estimator]
        )
        found = [step for step in steps if hasattr(step, "components_")]
        if not found:
            raise ValueError(f"{type(estimator).__name__} has no linear directions (components_).")
        components = to_numpy(found[0].components_)[:n_images]
        return cls(components=components, image_shape=image_shape).plot(
            n_columns=n_columns, axes=axes
        )

    def plot(self, *, n_columns: int | None = None, axes: Any = None) -> "BasisImageDisplay":
        """Draw.

        Parameters
        ----------
        n_columns : int or None, default=None
            Images in a line; None takes at most ten.
        axes : sequence of matplotlib Axes or None, default=None
            Where to draw, one for each image; None makes a figure.

        Returns
        -------
        self
            Itself, with ``axes_`` and ``figure_``.
        """
        plt = pyplot("BasisImageDisplay")
        count = len(self.components)
        if axes is None:
            columns = n_columns or min(count, 10)
            lines = ceil(count / columns)
            _, grid = plt.subplots(
                lines, columns, figsize=(1.2 * columns, 1.4 * lines), squeeze=False,
                layout="constrained",
            )  # fmt: skip
            for spare in grid.ravel()[count:]:
                spare.set_axis_off()
            axes = grid.ravel()[:count]
        axes = list(np.ravel(axes))
        if len(axes) < count:
            raise ValueError(f"{count} images need as many axes, got {len(axes)}.")
        titles = self.titles or [f"{i + 1}" for i in range(count)]
        self.axes_, self.images_ = axes[:count], []
        for ax, values, title in zip(self.axes_, self.components, titles, strict=False):
            limit = float(np.percentile(np.abs(values), 99)) or 1.0
            image = values.reshape(self.image_shape)
            self.images_.append(ax.imshow(image, cmap="gray", vmin=-limit, vmax=limit))
            ax.set(xticks=[], yticks=[])
            write(ax.title, title)
        self.figure_ = axes[0].figure
        return self
