"""scikit-learn's checks for settings other than the defaults."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from mercer import ISEClassifier, LaplacianClassifier, LaplacianFeatureMap, ParzenClassifier

VARIANTS = {
    "laplacian auto": LaplacianClassifier(rule="auto"),
    "laplacian append without density": LaplacianClassifier(rule="append", density=None),
    "laplacian exact mercer": LaplacianClassifier(loo="exact", rule="append", density="mercer"),
    "laplacian nodes": LaplacianClassifier(bandwidth="silverman", n_nodes=15),
    "laplacian per class": LaplacianClassifier(bandwidth="silverman", per_class=True),
    "laplacian city-block": LaplacianClassifier(kernel="laplacian"),
    "ise append": ISEClassifier(rule="append"),
    "ise auto": ISEClassifier(rule="auto"),
    "ise per class": ISEClassifier(bandwidth="silverman", per_class=True),
    "ise cauchy": ISEClassifier(kernel="cauchy"),
    # At the width that leave-one-out finds for scikit-learn's rows, some are support vectors of two
    # machines and score exactly −1 in both: whether shares and their logarithms are then in the
    # same order in float32 is up to the last bit.  At this width no two scores are near each other.
    "ise margin": ISEClassifier(weighting="margin", bandwidth=1.0),
    "ise cauchy_schwarz": ISEClassifier(weighting="cauchy_schwarz", bandwidth=0.3, C=0.2),
    "parzen per class": ParzenClassifier(bandwidth="silverman", per_class=True),
    "map without density": LaplacianFeatureMap(density=None),
}
CHECKS = [
    pytest.param(estimator, check, id=f"{name}-{getattr(check, 'func', check).__name__}")
    for name, variant in VARIANTS.items()
    for estimator, check in estimator_checks_generator(variant)
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_contract(estimator, check):
    check(estimator)
