"""Whatever is passed either works, as the oracle says, or is refused in one clear sentence."""

import numpy as np
import pytest

from mercer import sums
from oracles import sums as oracle

X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 6.0]])
Y = np.array([[0.5, 1.0], [2.0, 2.0], [5.0, 3.0], [1.0, 1.0]])
HERE = {"bandwidth": 1.5}


@pytest.fixture(params=["kernel_sum", "log_kernel_sum"])
def function(request):
    return getattr(sums, request.param)


def refusal(function, *args, error=ValueError, **options):
    """Return the message, which must be one sentence."""
    with pytest.raises(error) as caught:
        function(*args, **{**HERE, **options})
    assert type(caught.value) is error
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert ". " not in message
    return message


def with_entry(A, row, column, value):
    A = A.copy()
    A[row, column] = value
    return A


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, object])
def test_non_finite_rows_are_refused_with_their_place(function, value, dtype):
    what = "NaN" if np.isnan(value) else "infinity"
    bad = with_entry(X, 2, 1, value).astype(dtype)
    assert refusal(function, bad) == f"X contains {what} in row 2, column 1."
    bad = with_entry(Y, 3, 0, value).astype(dtype)
    assert refusal(function, X, bad) == f"Y contains {what} in row 3, column 0."


def test_non_finite_row_is_named_in_a_long_array(function):
    long = np.zeros((9_000_000, 2), np.float32)  # more than one slab of the check
    long[8_999_999, 1] = np.nan
    assert "NaN in row 8999999, column 1" in refusal(function, X, long)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_non_finite_weights_are_refused_with_their_place(function, value):
    what = "NaN" if np.isnan(value) else "infinity"
    weights = np.array([1.0, value, 1.0, 1.0])
    assert refusal(function, X, Y, weights=weights) == f"weights contains {what} in row 1."
    columns = with_entry(np.ones((4, 3)), 1, 2, value)
    message = refusal(function, X, Y, weights=columns)
    assert message == f"weights contains {what} in row 1, column 2."


def test_no_rows_to_sum_over(backend):
    none = np.empty((0, 2))
    assert not backend.kernel_sum(X, none, **HERE).any()
    logs = backend.log_kernel_sum(X, none, **HERE)
    np.testing.assert_array_equal(logs, np.full(3, -np.inf))


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({}, (3,)),
        ({"bandwidth": [1.0, 2.0]}, (2, 3)),
        ({"weights": np.ones((0, 4))}, (3, 4)),
        ({"weights": np.ones(0), "bandwidth": [1.0, 2.0]}, (2, 3)),
        ({"groups": np.array([], int)}, (3, 0)),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shape_without_rows_to_sum_over(backend, options, shape, dtype):
    for name in ("kernel_sum", "log_kernel_sum"):
        out = getattr(backend, name)(
            X.astype(dtype), np.empty((0, 2), dtype), **{**HERE, **options}
        )
        assert out.shape == shape
        assert out.dtype == dtype


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({}, (0,)),
        ({"bandwidth": [1.0, 2.0]}, (2, 0)),
        ({"weights": np.ones((4, 2))}, (0, 2)),
        ({"groups": np.array([0, 2, 2, 0])}, (0, 3)),
    ],
)
def test_no_rows_at_which_to_sum(backend, options, shape):
    for name in ("kernel_sum", "log_kernel_sum"):
        out = getattr(backend, name)(np.empty((0, 2)), Y, **{**HERE, **options})
        assert out.shape == shape


def test_no_rows_at_all(backend):
    assert backend.kernel_sum(np.empty((0, 2)), **HERE).shape == (0,)
    assert backend.log_kernel_sum(np.empty((0, 2)), exclude_self=True, **HERE).shape == (0,)


def test_one_row_without_itself_has_no_term(backend):
    assert backend.kernel_sum(X[:1], exclude_self=True, **HERE) == 0
    assert backend.log_kernel_sum(X[:1], exclude_self=True, **HERE) == -np.inf


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ((np.empty((3, 0)),), "X has no columns."),
        ((X, np.empty((3, 0))), "Y has no columns."),
        ((X, np.ones((3, 5))), "X has 2 columns and Y has 5: they must agree."),
        ((np.ones((2, 3, 4)),), "X must be a matrix, got 3 dimensions."),
        ((X, np.float64(1.0)), "Y must be a matrix, got 0 dimensions."),
        ((3.0,), "X must be a matrix, got 0 dimensions."),
        ((None,), "X must"),
        ((X[0],), "X must be a matrix with one row for each point, got a vector of length 2"),
        (([],), "X must be a matrix with one row for each point, got a vector of length 0"),
        ((X, [1.0, 2.0]), r"Y.reshape(-1, 1)"),
        (([[1.0, 2.0], [3.0]],), "X has rows of different lengths."),
        ((np.array([[b"1", b"2"]]),), "X must hold real numbers, got |S1."),
        (([["a", "b"]],), "X must hold real numbers, got <U1."),
        ((np.array([["1", "2"]]),), "X must hold real numbers, got <U1."),
        ((X + 1j,), "X must hold real numbers, got complex128."),
        ((np.array([["2020-01-01"]], "M8[D]"),), "X must hold real numbers, got datetime64"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(function, args, sentence):
    assert sentence in refusal(function, *args)


@pytest.mark.parametrize("value", ["x", "7", 1j, [1, 2], {}, 10**400])
def test_object_that_is_no_number_is_refused_with_its_place(function, value):
    message = refusal(function, with_entry(X.astype(object), 1, 0, value))
    assert message == f"X must hold numbers, got {value!r} in row 1, column 0."
    message = refusal(function, X, weights=np.array([1, value, 1], object))
    assert message == f"weights must hold numbers, got {value!r} in row 1."


def test_missing_value_among_objects_is_refused(function):
    assert "row 1, column 0" in refusal(function, with_entry(X.astype(object), 1, 0, None))


def test_sparse_and_masked_arrays_are_refused(function):
    from scipy.sparse import csr_array, csr_matrix

    for sparse in (csr_array(X), csr_matrix(X)):
        assert "X.toarray()" in refusal(function, sparse, error=TypeError)
        assert "Y.toarray()" in refusal(function, X, sparse, error=TypeError)
    masked = np.ma.masked_array(X, mask=X > 3)
    assert "X is a masked array" in refusal(function, masked, error=TypeError)
    groups = np.ma.array([0, 1, 1], mask=[True, False, False])
    assert "groups is a masked array" in refusal(function, X, groups=groups, error=TypeError)


@pytest.mark.parametrize(
    ("bandwidth", "sentence"),
    [
        (0, "bandwidth must be positive and finite, got 0"),
        (-1.0, "bandwidth must be positive and finite, got -1.0."),
        (np.nan, "bandwidth must be positive and finite, got nan."),
        (np.inf, "bandwidth must be positive and finite, got inf."),
        ([1.0, 0.0], "bandwidth must be positive and finite, got 0.0."),
        (np.array([1.0, np.nan]), "bandwidth must be positive and finite, got nan."),
        ("silverman", "bandwidth must be a positive number or a vector of them, got 'silverman'."),
        (None, "bandwidth must be a positive number or a vector of them, got None."),
        ([], "bandwidth must be a positive number or a vector of them, got []."),
        ([[1.0]], "bandwidth must be a positive number or a vector of them, got [[1.0]]."),
        ([1.0, [2.0]], "bandwidth must be a positive number or a vector of them, got"),
        (True, "bandwidth must be a positive number or a vector of them, got True."),
        (1j, "bandwidth must be a positive number or a vector of them, got 1j."),
        ({"h": 1.0}, "bandwidth must be a positive number or a vector of them, got {'h': 1.0}."),
    ],
)
def test_bad_bandwidth_is_refused(function, bandwidth, sentence):
    assert sentence in refusal(function, X, bandwidth=bandwidth)


def test_bandwidth_is_needed(function):
    with pytest.raises(TypeError, match="bandwidth"):
        function(X)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"weights": np.ones(3)}, "one entry or row for each of the 4 rows"),
        ({"weights": 1.0}, "one entry or row for each of the 4 rows"),
        ({"weights": np.ones((1, 4))}, "got shape (1, 4)."),
        ({"weights": np.ones((4, 2, 2))}, "got shape (4, 2, 2)."),
        ({"weights": np.ones((4, 0))}, "weights has no columns."),
        ({"weights": np.ones(4) * 1j}, "weights must hold real numbers, got complex128."),
        ({"weights": ["a", "b", "c", "d"]}, "weights must hold real numbers, got <U1."),
        ({"groups": [[0], [1, 2]]}, "groups has rows of different lengths."),
        ({"groups": np.array([0, 1, 2**63, 0], np.uint64)}, f"got {2**63}."),
        ({"method": np.array(["auto", "x"])}, "method must be one of"),
        ({"exclude_self": "no"}, "exclude_self must be True or False, got 'no'."),
        ({"groups": [0, 1, -1, 0]}, "groups must be integers 0, 1, …, got -1."),
        ({"groups": [0.0, 1.0, 1.0, 0.0]}, "groups must be integers 0, 1, …, got float64"),
        ({"groups": [True, False, True, True]}, "groups must be integers 0, 1, …, got bool"),
        ({"groups": ["a", "b", "a", "b"]}, "sklearn.preprocessing.LabelEncoder"),
        ({"groups": [0, 1, 1]}, "groups must have one entry for each of the 4 rows"),
        ({"groups": [[0], [1], [1], [0]]}, "groups must have one entry for each of the 4 rows"),
        ({"groups": 0}, "groups must have one entry for each of the 4 rows"),
        ({"groups": [0, 1, 1, 0], "weights": np.ones((4, 2))}, "not with columns of weights."),
        ({"exclude_self": True}, "exclude_self=True goes with Y=None"),
        ({"kernel": "box"}, "'exponential', 'laplacian', 'epanechnikov', 'cauchy'; got 'box'."),
        ({"kernel": None}, "got None."),
        ({"kernel": ["gaussian"]}, "got ['gaussian']."),
        ({"method": "quick"}, "method must be one of 'auto', 'direct', 'fast'; got 'quick'."),
        ({"method": None}, "got None."),
        ({"precision": "low"}, "precision must be one of 'high', 'fast'; got 'low'."),
        ({"tol": 0}, "tol must be None or a number between 0 and 1, got 0."),
        ({"tol": -1e-3}, "tol must be None or a number between 0 and 1"),
        ({"tol": 2.0}, "tol must be None or a number between 0 and 1"),
        ({"tol": np.nan}, "tol must be None or a number between 0 and 1, got nan."),
        ({"tol": "1e-3"}, "tol must be None or a number between 0 and 1, got '1e-3'."),
    ],
)
def test_bad_options_are_refused(function, options, sentence):
    assert sentence in refusal(function, X, Y, **options)


def test_negative_weights_have_no_logarithm():
    message = refusal(sums.log_kernel_sum, X, Y, weights=[1.0, 1.0, -2.0, 1.0])
    assert message.startswith("log_kernel_sum needs weights that are not negative, got -2.0 in row")
    columns = with_entry(np.ones((4, 2)), 1, 1, -1e-300)
    assert "in row 1, column 1" in refusal(sums.log_kernel_sum, X, Y, weights=columns)


@pytest.mark.parametrize("weight", [1e200, 1e-200])
def test_weights_beyond_float32_are_refused_beside_float32_rows(function, weight):
    single = X.astype(np.float32)
    assert "pass X as float64" in refusal(function, single, weights=[1.0, weight, 1.0])
    options = {"weights": [1.0, weight, 1.0], **HERE}
    expected = getattr(oracle, function.__name__)(X, **options).astype(float)
    np.testing.assert_allclose(function(X, **options), expected, rtol=1e-13)
