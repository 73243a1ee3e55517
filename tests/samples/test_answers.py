"""What is made of a table of scores, how much classes count, and rows that are refused."""

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array, eye_array

from lazy import cut
from mercer import ParzenClassifier
from mercer.samples import (
    ProbabilityClassifier,
    check_class_weight,
    check_new_rows,
    check_priors,
    check_sample,
    validate_training,
)

FARTHEST = np.finfo(float).max


class Given(ProbabilityClassifier):
    """Answers by scores that are its rows."""

    def fit(self, X, y=None):
        self.X_fit_ = validate_training(self, X)
        self.classes_ = np.array(["b", "c", "e"])[: self.X_fit_.shape[1]]
        return self

    def _scores(self, X):
        return np.where(X < -1e9, -np.inf, X)


def test_of_two_classes_the_second_minus_the_first():
    model = Given().fit([[0.0, 0.0]])
    np.testing.assert_array_equal(model.decision_function([[1.0, 3.0]]), [2.0])
    found = model.decision_function([[1.0, -1e10], [-1e10, 1.0]])
    np.testing.assert_array_equal(found, [-FARTHEST, FARTHEST])


def test_scores_and_logarithms_of_nothing_are_the_lowest_number():
    model, rows = Given().fit([[0.0] * 3]), [[2.0, -1e10, -2000.0]]
    np.testing.assert_array_equal(model.decision_function(rows), [[2.0, -FARTHEST, -2000.0]])
    np.testing.assert_array_equal(model.predict_log_proba(rows), [[0.0, -FARTHEST, -2002.0]])
    shares = model.predict_proba(rows)
    np.testing.assert_array_equal(shares, [[1.0, 0.0, np.finfo(float).smallest_normal]])
    np.testing.assert_array_equal(model.predict(rows), ["b"])


def test_answers_to_blocks_are_those_to_rows():
    model, rows = Given().fit([[0.0] * 3]), np.random.default_rng(0).normal(size=(30, 3))
    for method in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
        answer = getattr(model, method)(rows)
        lazy = getattr(model, method)(cut(rows))
        assert lazy.dtype == answer.dtype
        np.testing.assert_array_equal(lazy.compute(), answer)


def test_priors_are_shares_equal_or_as_given():
    in_class = np.array([1.0, 3.0, 4.0])
    np.testing.assert_array_equal(check_priors(None, in_class), in_class / 8)
    np.testing.assert_array_equal(check_priors("uniform", in_class), [1 / 3] * 3)
    np.testing.assert_array_equal(check_priors([0, 0.25, 0.75], in_class), [0, 0.25, 0.75])


def test_balanced_classes_weigh_alike_and_all_together_as_before():
    in_class = np.array([1.0, 3.0, 4.0])
    factors = check_class_weight("balanced", np.arange(3), in_class)
    np.testing.assert_allclose(factors * in_class, [8 / 3] * 3)
    np.testing.assert_array_equal(check_class_weight({1: 2}, np.arange(3), in_class), [1, 2, 1])


def test_sparse_rows_are_made_dense_only_where_they_fit():
    rows = eye_array(600, format="csr")
    model = ParzenClassifier(bandwidth=1.0)
    with (
        sklearn.config_context(working_memory=1),
        pytest.raises(ValueError, match="X is sparse and would take 3 MiB as a dense array"),
    ):
        model.fit(rows, np.arange(600) % 2)
    model.fit(rows[:, :20].toarray(), np.arange(600) % 2)
    wide = csr_array(rows[:, :20])
    assert check_new_rows(model, wide, model.X_fit_).nnz == 20
    with sklearn.config_context(working_memory=1):
        np.testing.assert_allclose(
            model.decision_function(wide), model.decision_function(wide.toarray())
        )


def test_rows_of_weight_zero_are_gone_and_none_is_refused():
    X, weights = check_sample([[1.0], [2.0], [3.0]], [0.0, 2.0, 0.0])
    np.testing.assert_array_equal(X, [[2.0]])
    np.testing.assert_array_equal(weights, [2.0])


def test_blocks_name_the_row_of_the_table():
    X, y = np.ones((30, 2)), np.arange(30) % 2
    X[20, 1] = np.nan
    with pytest.raises(ValueError, match="X contains NaN in row 20, column 1"):
        ParzenClassifier(bandwidth=1.0).fit(cut(X), y).predict(np.ones((1, 2))).sum()
    weights = np.where(np.arange(30) == 21, -1.0, 1.0)
    with pytest.raises(ValueError, match="must be finite and not negative, got -1 in row 21"):
        ParzenClassifier(bandwidth=1.0).fit(cut(np.ones((30, 2))), y, cut(weights))
