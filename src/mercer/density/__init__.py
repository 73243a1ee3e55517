"""The density of a sample, a mean of windows: Parzen's estimate as an estimator.

:class:`KernelDensity` is a drop-in for scikit-learn's class of that name; its sums are those of
:mod:`mercer.sums`, exact in logarithms however far a point is from all rows.
:class:`DensityOutlierDetector` calls the rows of least density outliers, each judged by the
density of all others.  :class:`ConditionalDensity` is the density of a number, given the columns
beside it.

Three ideas stand apart: coordinates in which windows are round (`_coordinates`), the sample as
windows, each with the width of its group (`_windows`), and mirrors at the ends of a column
(`_bounds`).  How wide windows are when nobody says so is in `_width`.

>>> import numpy as np
>>> from mercer.density import KernelDensity
>>> X = np.random.default_rng(0).normal(size=(200, 2))
>>> KernelDensity().fit(X).score_samples([[0.0, 0.0], [100.0, 0.0]]).round(2)
array([-2.060000e+00, -2.869571e+04])
"""

from mercer.density._conditional import ConditionalDensity
from mercer.density._estimator import KernelDensity
from mercer.density._outliers import DensityOutlierDetector

__all__ = ["ConditionalDensity", "DensityOutlierDetector", "KernelDensity"]
