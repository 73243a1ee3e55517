"""Weighted sums of absolute differences by column: the literal loop, in NumPy and torch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.sums import weighted_differences


def literal(M, X):
    """Σᵢⱼ Mᵢⱼ |xᵢₖ − xⱼₖ|, term by term."""
    found = np.zeros(X.shape[1])
    for i in range(len(X)):
        for j in range(len(X)):
            for k in range(X.shape[1]):
                found[k] += M[i, j] * abs(X[i, k] - X[j, k])
    return found


def problem(n_rows, n_columns, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_rows)), rng.normal(size=(n_rows, n_columns))


@settings(max_examples=60)
@given(st.integers(1, 40), st.integers(1, 9), st.integers(0, 10**6))
def test_every_column_is_the_literal_sum_over_all_ordered_pairs(n_rows, n_columns, seed):
    M, X = problem(n_rows, n_columns, seed)  # M is not symmetric
    expected = literal(M, X)
    np.testing.assert_allclose(weighted_differences(M, X), expected, rtol=1e-10, atol=1e-10)
    by_columns = weighted_differences(np.asfortranarray(M), np.asfortranarray(X))
    np.testing.assert_allclose(by_columns, expected, rtol=1e-10, atol=1e-10)


def test_one_row_has_no_differences():
    np.testing.assert_array_equal(weighted_differences(np.ones((1, 1)), np.ones((1, 3))), 0)


@pytest.mark.parametrize("n_rows", [1, 7, 33])
def test_tensors_answer_as_arrays(torch, n_rows):
    M, X = problem(n_rows, 4, 1)
    found = weighted_differences(torch.as_tensor(M), torch.as_tensor(X))
    np.testing.assert_allclose(found.numpy(), literal(M, X), rtol=1e-10, atol=1e-10)
