"""Sparse X, as encoders of categories give it: dense within the memory budget, or one sentence."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant

MODELS = {
    "exact": KernelFisherDiscriminant(gamma=0.1, alpha=1e-3),
    "landmarks": KernelFisherDiscriminant(gamma=0.1, alpha=1e-3, n_landmarks=30, random_state=0),
    "nodes": SparseKernelFisherDiscriminant(max_nodes=30, random_state=0),
}
FORMS = [
    sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array, sparse.coo_matrix,
    sparse.coo_array,
]  # fmt: skip
ANSWERS = ("decision_function", "predict", "predict_proba", "predict_log_proba", "transform")


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]


@pytest.fixture
def table():
    """Categories and a number, and classes that depend on both."""
    rng = np.random.default_rng(0)
    colour, shape = rng.choice(list("rgb"), 200), rng.choice(list("abcdefgh"), 200)
    size = rng.normal(size=200)
    y = np.where((colour == "r") ^ (shape < "d"), "yes", "no")
    y = np.where(size > 1, "large", y)
    return pd.DataFrame({"colour": colour, "shape": shape, "size": size}), y


def encoded(sparse_threshold):
    return ColumnTransformer(
        [
            ("categories", OneHotEncoder(), ["colour", "shape"]),
            ("numbers", StandardScaler(), ["size"]),
        ],
        sparse_threshold=sparse_threshold,
    )


def test_categories_that_an_encoder_made_sparse_are_taken(model, table):
    X, y = table
    assert sparse.issparse(encoded(1.0).fit_transform(X))
    taken = make_pipeline(encoded(1.0), model).fit(X[:150], y[:150])
    dense = make_pipeline(encoded(0.0), model).fit(X[:150], y[:150])
    assert taken.score(X[150:], y[150:]) > 0.8
    np.testing.assert_array_equal(taken.predict_proba(X[150:]), dense.predict_proba(X[150:]))


def test_all_forms_of_sparse_rows_give_the_answers_of_dense_ones(model, table):
    X, y = encoded(0.0).fit_transform(table[0]), table[1]
    model.fit(X, y)
    dense = {name: getattr(model, name)(X) for name in ANSWERS}
    for form in FORMS:
        model.fit(form(X), y)
        for name, expected in dense.items():
            np.testing.assert_array_equal(getattr(model, name)(form(X)), expected, form.__name__)


def test_stages_and_blocks_take_sparse_rows(table):
    X, y = encoded(0.0).fit_transform(table[0]), table[1]
    model = MODELS["nodes"].fit(X, y)
    stages = list(model.staged_predict(sparse.csr_array(X)))
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    blocks, dense = (SparseKernelFisherDiscriminant(max_nodes=30, random_state=0) for _ in "ab")
    for rows in (slice(0, 100), slice(100, 200)):
        blocks.partial_fit(sparse.csr_array(X[rows]), y[rows], classes=np.unique(y))
        dense.partial_fit(X[rows], y[rows], classes=np.unique(y))
    np.testing.assert_array_equal(blocks.predict_proba(X), dense.predict_proba(X))


def test_a_kernel_matrix_may_be_sparse(table):
    X, y = encoded(0.0).fit_transform(table[0]), table[1]
    model = KernelFisherDiscriminant(kernel="precomputed", alpha=1e-3).fit(X @ X.T, y)
    expected = model.predict_proba(X @ X.T)
    model.fit(sparse.csr_array(X @ X.T), y)
    np.testing.assert_array_equal(model.predict_proba(sparse.csr_array(X @ X.T)), expected)


def test_rows_beyond_the_budget_are_answered_some_at_a_time_and_not_fitted(model):
    rng = np.random.default_rng(0)
    X = sparse.random_array((1200, 300), density=0.05, format="csr", rng=rng)
    y = np.asarray(X[:, :10].sum(axis=1) > 0.25).astype(int)
    model.fit(X[:200], y[:200])
    expected = model.predict_proba(X.toarray())
    with config_context(working_memory=1):  # 1 MiB; as a dense array 2.7
        np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
        with pytest.raises(
            ValueError, match=r"X is sparse and would take 3 MiB .*working_mem"
        ) as e:
            model.fit(X, y)
    assert ("partial_fit" in str(e.value)) == hasattr(model, "partial_fit")


def test_sparse_rows_must_be_finite(model, table):
    X, y = encoded(0.0).fit_transform(table[0]), table[1]
    X[3, -1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(sparse.csr_array(X), y)
