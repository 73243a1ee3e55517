"""Weights at the ends of floating point: a finite answer, or a sentence that names the row."""

import numpy as np
import pytest

import mercer

rng = np.random.default_rng(0)
X = np.r_[rng.normal(0, 1, (6, 2)), rng.normal(4, 1, (6, 2))]
y = np.repeat([0, 1], 6)
CLASSIFIERS = [
    mercer.LaplacianClassifier(),
    mercer.ParzenClassifier(),
    mercer.LaplacianClassifier(kernel="cauchy", rule="append"),
    mercer.LaplacianClassifier(bandwidth=1.0, density_subset=6, random_state=0),
    mercer.ISEClassifier(),
    mercer.ISEClassifier(rule="append"),
    mercer.ISEClassifier(bandwidth=[1.0, 1.3]),
    mercer.NearestAngleClassifier(),
    mercer.KernelFisherDiscriminant(),
    mercer.SparseKernelFisherDiscriminant(random_state=0),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("weight", [1e280, 1e-280])
def test_weights_without_products_are_refused_by_row(model, weight):
    weights = np.ones(12)
    weights[3] = weight
    with pytest.raises(ValueError, match=r"sample_weight contains .*280 in row 3: weights count"):
        model.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_from_1e_49_to_1e49_give_finite_answers(model, dtype):
    weights = 10.0 ** np.linspace(-49, 49, 12)
    model.fit(X.astype(dtype), y, sample_weight=weights)
    assert np.isfinite(model.decision_function(X.astype(dtype))).all()


def test_weights_beyond_float32_are_summed_in_float64():
    weights = np.where(y == 0, 1e60, 2e60)
    single = mercer.ParzenClassifier(bandwidth=1.0).fit(X.astype(np.float32), y, weights)
    double = mercer.ParzenClassifier(bandwidth=1.0).fit(X, y, weights)
    np.testing.assert_array_equal(single.predict(X.astype(np.float32)), double.predict(X))
    append = mercer.LaplacianClassifier(bandwidth=1.0, rule="append")
    append.fit(X.astype(np.float32), y, weights)
    assert np.isfinite(append.decision_function(X.astype(np.float32))).all()
