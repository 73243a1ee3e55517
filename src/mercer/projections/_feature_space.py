"""The space of the directions: coordinates F of the rows with K = FFᵀ, and those of new rows.

=============  =================================================  ==========================
form           F                                                  a direction w̃ becomes
=============  =================================================  ==========================
linear         centred rows, or their principal coordinates       a row of ``components_``
               where there are fewer rows than columns
kernel         pivoted Cholesky factor of K                       coefficients of all rows
landmarks      Cholesky factor of a few columns of K              coefficients of these rows
=============  =================================================  ==========================
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from mercer._arrays import FloatArray
from mercer.kernels import KernelFunction
from mercer.spectral import partial_cholesky, pivoted_cholesky, principal_axes


@dataclass(frozen=True)
class FeatureSpace:
    """Coordinates F, n × r, of the training rows.

    In the linear form, a direction in the space of the columns is wᵀ @ axes.  In the form of
    landmarks, `pivots` are the rows from which F was made, and F[pivots] is lower triangular.
    """

    F: FloatArray
    axes: FloatArray | None = None
    pivots: NDArray[np.intp] | None = None

    def landmark_coefficients(self, W: FloatArray) -> FloatArray:
        """Return the landmarks' coefficients of the projections on the columns of W."""
        triangle = self.F[self.pivots]
        out: FloatArray = linalg.solve_triangular(
            triangle, W, lower=True, trans="T", check_finite=False
        )
        return out


def feature_space(
    X: FloatArray,
    kernel: KernelFunction,
    landmarks: int | None,
    rng: np.random.Generator,
) -> FeatureSpace:
    """Choose the form and factor the kernel of the rows."""

    def checked(K: FloatArray) -> FloatArray:
        kernel.check_range(K, least=0.0)  # Small values are harmless, as none is squared here.
        return K

    if kernel.kernel == "linear":
        centred = X - X.mean(axis=0)  # the intercept makes the mean irrelevant
        far = centred[np.abs(centred).max(axis=1).argmax()][np.newaxis]
        checked(kernel.matrix(far, far))
        if X.shape[1] <= X.shape[0]:
            return FeatureSpace(centred, axes=np.eye(X.shape[1]))
        U, lengths, axes = principal_axes(centred)
        return FeatureSpace(U * lengths, axes=axes)
    if landmarks is None:
        return FeatureSpace(pivoted_cholesky(checked(kernel.matrix(X, X))))
    F, pivots = partial_cholesky(
        checked(kernel.diagonal(X)),
        lambda i: checked(kernel.matrix(X, X[i : i + 1]))[:, 0],
        landmarks,
        rng,
    )
    return FeatureSpace(F, pivots=pivots)
