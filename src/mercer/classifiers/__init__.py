"""Classifiers from Parzen windows: a class is a mean vector in a kernel's feature space.

The three differ in how they measure a point against the class vectors: Parzen's rule by the
inner product, the Laplacian classifier by the angle, the ISE classifier by the distance.  All take
their bandwidth by leave-one-out unless told otherwise, and none stores a kernel matrix.

One estimator is one file.  What they share: class vectors, their norms and products, and the rules
as pure functions of class sums (`_class_vectors`); the same with each row left out
(`_leave_one_out`); the race of bandwidths on growing parts of a large sample (`_race`); and the
choice that follows (`_selection`).  `mercer.samples` checks input and answers new rows.
"""

from mercer.classifiers._ise import ISEClassifier
from mercer.classifiers._laplacian import LaplacianClassifier
from mercer.classifiers._nearest_angle import NearestAngleClassifier
from mercer.classifiers._parzen import ParzenClassifier

__all__ = [
    "ISEClassifier",
    "LaplacianClassifier",
    "NearestAngleClassifier",
    "ParzenClassifier",
]
