"""One table in many containers: the answers are the same, or one sentence says what to pass."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils import get_tags

from contract.subjects import (
    answers,
    assert_close,
    assert_same_bits,
    baseline,
    every_classifier,
    every_estimator,
    every_subject,
    every_transformer,
    rows,
)


def _read_only(A):
    A = A.copy()
    A.flags.writeable = False
    return A


def _polars(A):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    return polars.DataFrame(A, schema=[f"column {i}" for i in range(A.shape[1])])


def _tensor(A):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return torch.tensor(A)


def _frame(dtype):
    return lambda A: pd.DataFrame(A, columns=[f"column {i}" for i in range(A.shape[1])]).astype(
        dtype
    )


CONTAINERS = {
    "list": lambda A: A.tolist(),
    "columns first": np.asfortranarray,
    "every other row of a larger one": lambda A: np.repeat(A, 2, axis=0)[::2],
    "rows from the end": lambda A: A[::-1].copy()[::-1],
    "the other byte order": lambda A: A.astype(">f8"),
    "objects": lambda A: A.astype(object),
    "read only": _read_only,
    "pandas": _frame("float64"),
    "pandas with an index of its own": lambda A: _frame("float64")(A).set_index(
        np.arange(len(A))[::-1] * 7
    ),
    "pandas Float64": _frame("Float64"),
    "pandas arrow": _frame("double[pyarrow]"),
    "polars": _polars,
    "tensor": _tensor,
}


@every_estimator
@pytest.mark.parametrize("container", CONTAINERS)
def test_a_table_is_a_table(subject, container):
    if "arrow" in container:
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    data, put = rows(), CONTAINERS[container]
    _, expected = baseline(subject)
    model = subject.fit(put(data.X), data.y)
    found = answers(model, put(data.new), subject.methods)
    assert_close(found, expected, 1e-9)  # products of rows and of columns round differently


LABELS = {
    "list": lambda y: y.tolist(),
    "objects": lambda y: y.astype(object),
    "Series": pd.Series,
    "Series of categories": lambda y: pd.Series(y, dtype="category"),
    "Series of objects": lambda y: pd.Series(y, dtype=object),
    "Series with an index of its own": lambda y: pd.Series(y, index=np.arange(len(y))[::-1]),
}


@every_estimator
@pytest.mark.parametrize("container", LABELS)
def test_labels_are_labels(subject, container):
    data = rows()
    _, expected = baseline(subject)
    found = answers(subject.fit(data.X, LABELS[container](data.y)), data.new, subject.methods)
    for method, wanted in expected.items():
        np.testing.assert_array_equal(found[method], wanted, err_msg=method)


@every_classifier
def test_labels_of_any_type_are_given_back(subject):
    data = rows()
    expected = baseline(subject)[1]["predict"]
    codes = np.searchsorted(["ant", "bee", "cat"], data.y)
    for values in (np.array([3, 7, 40], np.int8), np.array([0.0, 1.0, 2.0], np.float32)):
        found = subject.fit(data.X, values[codes]).predict(data.new)
        assert found.dtype == values.dtype
        names = np.array(["ant", "bee", "cat"])[np.searchsorted(values, found)]
        np.testing.assert_array_equal(names, expected)
    two = rows(2)
    found = subject.fit(two.X, two.y == "bee").predict(two.new)
    assert found.dtype == bool
    np.testing.assert_array_equal(found, baseline(subject, 2)[1]["predict"] == "bee")


@every_estimator
@pytest.mark.parametrize("dtype", ["int8", "uint8", "float16"])
def test_small_types_do_not_overflow(subject, dtype):
    data = rows()
    X, new = (np.abs(np.round(8 * A)).astype(dtype) for A in (data.X, data.new))
    expected = answers(subject.fit(X.astype(float), data.y), new.astype(float), subject.methods)
    assert_close(answers(subject.fit(X, data.y), new, subject.methods), expected, 1e-9)


@every_subject
def test_single_and_double_precision_agree(subject):
    subject.held_to("float32")
    data = rows()
    _, double = baseline(subject)
    single = subject.fit(data.X.astype(np.float32), data.y)
    found = answers(single, data.new.astype(np.float32), subject.methods)
    assert_close(found, double, max(2e-4, subject.tolerance))
    # and rows of one with a fit of the other
    assert_close(answers(single, data.new, subject.methods), double, max(2e-4, subject.tolerance))


KINDS = (sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array)


@every_estimator
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_sparse_rows_are_taken_or_refused(subject, kind):
    data = rows()
    X, new = (np.where(np.abs(A) < 1, 0.0, A) for A in (data.X, data.new))
    model = subject.fit(X, data.y)
    if get_tags(model).input_tags.sparse:
        found = answers(subject.fit(kind(X), data.y), kind(new), subject.methods)
        assert_same_bits(found, answers(model, new, subject.methods))
        return
    with pytest.raises(TypeError, match=r"^Sparse data was passed for X, but dense .*toarray"):
        subject.fit(kind(X), data.y)
    for method in subject.methods:
        with pytest.raises(TypeError, match=r"^Sparse data was passed for X, but dense .*toarray"):
            getattr(model, method)(kind(new))


@every_estimator
def test_names_of_columns_are_held(subject):
    data = rows()
    names = ["width", "height", "depth", "weight"]
    frame, new = (pd.DataFrame(A, columns=names) for A in (data.X, data.new))
    model = subject.fit(frame, data.y)
    assert model.feature_names_in_.tolist() == names
    for method in subject.methods:
        ask = getattr(model, method)
        with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
            ask(new[names[::-1]])
        with pytest.raises(ValueError, match=r"unseen at fit time:\n- size\n.*missing:\n- weight"):
            ask(new.rename(columns={"weight": "size"}))
        with pytest.raises(ValueError, match=r"seen at fit time, yet now missing:\n- depth"):
            ask(new.drop(columns="depth"))
        with pytest.warns(UserWarning, match="does not have valid feature names, but"):
            ask(data.new)
        with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4 features"):
            getattr(baseline(subject)[0], method)(data.new[:, :3])


@every_transformer
def test_coordinates_of_another_number_are_refused(subject):
    model, expected = baseline(subject)
    if not hasattr(model, "inverse_transform"):
        pytest.skip("there is no way back")
    assert model.inverse_transform(expected["transform"]).shape == (25, 4)
    n = expected["transform"].shape[1]
    with pytest.raises(ValueError, match=rf"X has 7 features, but .* is expecting {n}[: ]"):
        model.inverse_transform(np.zeros((3, 7)))


@every_transformer
def test_coordinates_in_a_frame(subject):
    model = subject.make()
    data = rows()
    expected = baseline(subject)[1]["transform"]
    new = pd.DataFrame(data.new, index=np.arange(len(data.new)) + 100)
    out = model.set_output(transform="pandas").fit(pd.DataFrame(data.X), data.y).transform(new)
    assert isinstance(out, pd.DataFrame)
    np.testing.assert_allclose(out.to_numpy(), expected, rtol=1e-9, atol=1e-9)
    assert out.columns.tolist() == model.get_feature_names_out().tolist()
    assert out.index.equals(new.index)
    both = subject.make().set_output(transform="pandas").fit_transform(pd.DataFrame(data.X), data.y)
    assert both.columns.tolist() == out.columns.tolist()


@every_transformer
def test_coordinates_in_a_frame_of_polars(subject):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    model = subject.make()
    data = rows()
    expected = baseline(subject)[1]["transform"]
    out = model.set_output(transform="polars").fit(data.X, data.y).transform(data.new)
    assert isinstance(out, polars.DataFrame)
    np.testing.assert_allclose(out.to_numpy(), expected, rtol=1e-9, atol=1e-9)
    assert out.columns == model.get_feature_names_out().tolist()
