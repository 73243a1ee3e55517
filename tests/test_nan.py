"""A NaN is never made a number: what meets one on the way answers NaN, or says what is wrong.

Rows, weights and bandwidths with NaN are refused at the door (tests/sums/test_bad_input.py).  A NaN
that arises behind it is a fault of Mercer, and must be seen: no clamp may turn it into a 0 or a 1.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from mercer.classifiers import _class_vectors, _parzen
from mercer.comparison import holm_correction
from mercer.discriminants import _path, _tuning
from mercer.graphs import laplacian
from mercer.information import (
    _dependence,
    _divergences,
    _entropy,
    _estimates,
    _independence,
    _joint,
    _laplacian_cut,
    _permutations,
)
from mercer.kernels import KERNELS, squared_distances
from mercer.samples import _in_memory
from mercer.spectral import RidgeBasis, decompose_features
from mercer.sums import Removal, left_out_log_sums
from mercer.sums._geometry import _radius
from mercer.sums._problem import LOG_SUM, SUM, Box, Problem, compute

NAN = float("nan")
pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # NumPy's word


@pytest.fixture(params=["numpy", "torch"])
def array(request):
    """What makes float64 arrays of a library."""
    if request.param == "numpy":
        return lambda values: np.array(values, dtype=np.float64)
    torch = request.getfixturevalue("torch")
    return lambda values: torch.tensor(values, dtype=torch.float64)


def is_nan(values):
    return np.isnan(np.asarray(values))


def pair(array, xx, yy, xy):
    """Two samples with these logarithms of their overlaps."""

    def sample(value):
        return SimpleNamespace(log_self_overlap=lambda: array(value), log_normaliser=0.0)

    return SimpleNamespace(
        x=sample(xx), y=sample(yy), log_cross_overlap=lambda: array(xy), log_normaliser=0.0,
        relative_normalisers=lambda: (0.0, 0.0), kernel=KERNELS["gaussian"],
    )  # fmt: skip


# ------------------------------------------------------------------------------ pure functions


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_kernels(array, kernel):
    d2 = array([NAN, 0.3, 4.0])
    for values in (kernel.profile(d2, 1.0), kernel.log_profile(d2, 1.0)):
        np.testing.assert_array_equal(is_nan(values), [True, False, False])


@pytest.mark.parametrize("law", [SUM, LOG_SUM], ids=["sum", "log"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_reductions(array, law, kernel):
    d2, w = array([[0.1, NAN], [0.1, 0.2]]), array([[1.0], [2.0]])
    np.testing.assert_array_equal(is_nan(law.reduce(kernel, d2, 1.0, w))[:, 0], [True, False])
    light = array([[NAN], [1.0]])
    assert is_nan(law.reduce(kernel, array([[0.1, 0.2]]), 1.0, light)).all()
    a, b = array([NAN, 1.0, 0.0]), array([1.0, NAN, 0.0])
    np.testing.assert_array_equal(is_nan(law.merge(a, b)), [True, True, False])
    scaled = law.scale(a, np.array([3, 3, 3]))
    np.testing.assert_array_equal(is_nan(scaled), [True, False, False])


def test_logarithms(array):
    a = array([[NAN, 1.0, 2.0], [-1.0, 0.0, 1.0]])
    np.testing.assert_array_equal(is_nan(_in_memory.safe_log(a)), [[1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(_in_memory.safe_log(a)[1, :], [-np.inf, -np.inf, 0])
    np.testing.assert_array_equal(is_nan(_in_memory.logsumexp(a)), [True, False])
    np.testing.assert_array_equal(is_nan(_in_memory.log_normalise(a)).all(axis=1), [True, False])
    np.testing.assert_array_equal(is_nan(_in_memory.log_sum_of_others(a))[0, 1:], [True, True])
    np.testing.assert_array_equal(is_nan(_in_memory.logsumexp(a.T, axis=0)), [True, False])
    assert is_nan(_estimates.times_exp(array(1.0), array(NAN)))


@pytest.mark.parametrize("where", ["log_sums", "log_norms", "log_links", "log_weight"])
def test_rules_of_the_laplacian_classifier(array, where):
    given = {
        "log_sums": [[-1.0, -2.0, -0.5]], "log_norms": [[0.1, 0.2, 0.3]],
        "log_links": [[-1.0, -2.0, -1.5]], "log_weight": [0.2],
    }  # fmt: skip
    given[where] = [NAN] if where == "log_weight" else [[NAN, *given[where][0][1:]]]
    arrays = {name: array(values) for name, values in given.items()}
    assert is_nan(_class_vectors.append_scores(**arrays, n_total=10.0))[0, 0]
    if where in ("log_sums", "log_norms"):
        assert is_nan(_class_vectors.cosine_scores(arrays["log_sums"], arrays["log_norms"]))[0, 0]


def test_rules_of_other_classifiers(array):
    sums, norms, cross, counts = [[NAN, 0.2]], [[0.5, 0.6]], [[0.1, 0.2]], [[3.0, 4.0]]
    given = [array(A) for A in (sums, norms, cross, counts)]
    assert is_nan(_class_vectors.ise_gains(*given)).all()
    assert is_nan(_class_vectors.ise_scores(*given)).all()
    sums, norms, counts = given[0], given[1], given[3]
    np.testing.assert_array_equal(
        is_nan(_class_vectors.plane_scores(sums, norms, counts, 1.0, 1e-9)), [[1, 0]]
    )
    spoilt = _class_vectors.plane_scores(norms, norms * NAN, counts, 1.0, 1e-9)
    assert is_nan(spoilt).all()
    log_counts, log_priors = array([0.0, 0.0]), array([-0.7, -0.7])
    for log_sums in ([[NAN, -1.0]], [[NAN, -np.inf]], [[NAN, NAN]]):
        assert is_nan(_parzen._bayes(array(log_sums), log_counts, log_priors))[0, 0]


def test_measures(array):
    overlaps = array([[0.0, NAN, -1.0], [NAN, 0.0, -1.0], [-1.0, -1.0, 0.0]])
    assert is_nan(_laplacian_cut._log_mean_pairwise_cosine(overlaps))
    for given in ((NAN, 0.0, -1.0), (0.0, NAN, -1.0), (0.0, 0.0, NAN)):
        assert is_nan(_divergences._log_cut(pair(array, *given)))
        assert is_nan(_divergences._squared_error(pair(array, *given))[1])


@pytest.mark.parametrize("where", range(3))
def test_dependence(array, where):
    logs = [array(NAN if i == where else -1.0) for i in range(3)]
    potentials = _joint.Potentials(*logs)
    assert is_nan(_dependence._squared_distance(potentials)[1])
    assert is_nan(_dependence._difference_of_pairs(potentials, 9)[1])
    assert is_nan(_dependence._log_ratio(potentials))


@pytest.mark.parametrize("order", [0.5, 1.0, 2.0, float("inf")])
def test_entropies(array, order):
    assert is_nan(_entropy._entropy(array([-1.0, NAN, -2.0]), None, order))


def test_evidence():
    assert is_nan(_independence._log_tails(np.array([[0.1, NAN, 0.3]]))).all()
    assert is_nan(_independence._log_ratios(np.array([[[NAN]]]), np.ones(1), np.ones(1))).all()


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "laplacian"])
def test_sums_within_samples(array, kernel):
    Z, labels = array([[0.0, 1.0], [NAN, 1.0], [2.0, 0.0]]), np.array([[True, True, False]])
    assert is_nan(_permutations._sums_within(Z, labels, KERNELS[kernel], 1.0, 0.0)).all()


def test_distances_and_radii(array):
    X = array([[0.0, NAN], [1.0, 2.0]])
    np.testing.assert_array_equal(is_nan(squared_distances(X, X)), [[1, 1], [1, 1]])
    assert _radius(X, 1.0, array([0.0, 0.0])) == np.inf  # products are not for them


def test_ridges(array):
    basis = RidgeBasis(
        array([[0.8], [-0.6]]), array([NAN]), array([[1.0], [1.0]]), True, array([0.7, 0.7])
    )
    assert is_nan(basis.coefficients(array([[1.0], [-1.0]]), 0.1)).all()
    assert is_nan(_tuning.ridge_path(NAN)).all()
    assert is_nan(_tuning.given_ridge(1.0, NAN)).all()


def test_features_with_nan_are_no_features_of_rank_nought():
    features = np.array([[1.0, NAN], [2.0, 0.0], [0.5, 1.0]])
    try:
        basis = decompose_features(features, np.full(3, 1 / 3))
    except (ValueError, np.linalg.LinAlgError):
        return  # as LAPACK may
    assert is_nan(basis.values).any()


def test_laplacians():
    W = csr_array(np.array([[0.0, NAN, 0.0], [NAN, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    assert np.isnan(laplacian(W, normalized=True).toarray()).any(axis=1)[:2].all()


def test_adjusted_p_values():
    assert is_nan(holm_correction([0.01, NAN])).tolist() == [False, True]


# ----------------------------------------------------------------------------------- the engine


def state(X, Y=None, **options):
    """State a sum of all rows, unchecked."""
    problem = Problem(
        X, X if Y is None else Y, None, None, (0, len(X if Y is None else Y)),
        KERNELS["gaussian"], (1.0,), log=False, self_sum=Y is None, exclude_self=False,
        method="direct", tol=None, precision="high",
    )  # fmt: skip
    return replace(problem, **options)


@pytest.mark.parametrize("log", [False, True], ids=["plain", "log"])
@pytest.mark.parametrize("widths", [(1.0,), (2.0, 2**0.5, 1.0, 0.5**0.5)], ids=["one", "ladder"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_sums_of_nan(array, kernel, widths, log):
    """Of a row, of a row that is summed over, and of a weight."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(4, 3)).tolist(), rng.normal(size=(6, 3)).tolist()
    box = Box(np.full(3, -9.0), np.full(3, 9.0))  # as if all rows were finite
    options = {"kernel": kernel, "bandwidths": widths, "log": log, "box": box}
    plain = np.asarray(compute(state(array(X), array(Y), **options)))
    assert not is_nan(plain).any()
    bad = [list(row) for row in X]
    bad[2][1] = NAN
    found = is_nan(compute(state(array(bad), array(Y), **options)))
    np.testing.assert_array_equal(found[:, :, 0], [[False, False, True, False]] * len(widths))
    bad = [list(row) for row in Y]
    bad[3][0] = NAN
    assert is_nan(compute(state(array(X), array(bad), **options))).all()
    weights = array([1.0, 2.0, NAN, 1.0, 0.5, 3.0])
    assert is_nan(compute(state(array(X), array(Y), weights=weights, **options))).all()
    columns = array([[1.0, 1.0], [2.0, NAN], *[[1.0, 1.0]] * 4])
    found = is_nan(compute(state(array(X), array(Y), weights=columns, **options)))
    np.testing.assert_array_equal(found, np.broadcast_to([False, True], found.shape))


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("where", ["weights", "densities", "amount", "drift_weights"])
def test_sums_without_a_row(array, where, squared):
    rng = np.random.default_rng(0)
    n, widths = 5, (1.0, 0.5**0.5, 0.5, 0.125**0.5)
    X = array(rng.normal(size=(n, 2)).tolist())
    given = {
        "weights": np.ones((4, n)), "densities": np.full((4, n), 3.0), "amount": np.ones(n),
        "drift_weights": np.ones((4, n)),
    }  # fmt: skip
    given[where][..., 1] = NAN
    arrays = {name: array(values.tolist()) for name, values in given.items()}
    removal = Removal(
        arrays["amount"], arrays["densities"], array([1.0] * n), squared, arrays["drift_weights"]
    )
    logs, drifts = left_out_log_sums(
        X, np.zeros(n, int), bandwidths=widths, weights=arrays["weights"], removal=removal
    )
    logs, drifts = is_nan(logs)[:, :, 0], is_nan(drifts)[:, :, 0]
    others = np.arange(n) != 1
    if where == "amount":  # row 1 leaves the others' densities by NaN
        assert logs[:, 1].all()
        assert not logs[:, others].any()
    elif where != "drift_weights":
        assert logs[:, others].all()
    if where in ("densities", "drift_weights"):
        assert drifts[:, others].all()


def test_paths_of_nodes(array):
    A = array([[NAN, 0.0], [0.0, 1.0]])
    try:
        factor = _path._cholesky(A)
    except (ValueError, np.linalg.LinAlgError):
        return
    assert is_nan(factor).any()
