"""Conjugate gradients: several right-hand sides, their ends, and what ends them early."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.spectral import NotPositiveError, conjugate_gradients

LIBRARIES = ["numpy", "torch"]


def _positive(rng, n_rows, spread):
    """A matrix whose eigenvalues lie between 1 and 10^spread."""
    turn, _ = np.linalg.qr(rng.normal(size=(n_rows, n_rows)))
    values = 10 ** rng.uniform(0, spread, n_rows)
    return (turn * values) @ turn.T


def _same(V):
    return V


def _relative_residuals(A, X, B):
    return np.linalg.norm(B - A @ X, axis=0) / np.linalg.norm(B, axis=0)


class _Product:
    """Products of a matrix, which remember how many columns each had."""

    def __init__(self, A, interrupted_at=None):
        self.A, self.interrupted_at, self.widths = A, interrupted_at, []

    def __call__(self, V):
        self.widths.append(V.shape[1])
        if len(self.widths) == self.interrupted_at:
            raise KeyboardInterrupt
        return self.A @ V


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(1, 30),
    n_columns=st.integers(1, 4),
    spread=st.floats(0, 3),
    digits=st.integers(2, 10),
)
def test_every_positive_matrix_is_solved_to_the_tolerance(seed, n_rows, n_columns, spread, digits):
    rng = np.random.default_rng(seed)
    A, B = _positive(rng, n_rows, spread), rng.normal(size=(n_rows, n_columns))
    tol = np.full(n_columns, 10.0**-digits)
    found = conjugate_gradients(lambda V: A @ V, _same, B.copy(), tol=tol, max_iter=500)
    assert found.ended == "tol"
    residuals = _relative_residuals(A, found.X, B)
    assert (residuals <= 2 * tol + 1e-12).all()
    np.testing.assert_allclose(found.residuals, residuals, rtol=0.5, atol=1e-12)
    exact = np.linalg.solve(A, B)
    # The error is at most the residual, times the ratio of the extreme eigenvalues.
    most = 10**spread * (2 * tol + 1e-12) * np.linalg.norm(exact, axis=0)
    assert (np.linalg.norm(found.X - exact, axis=0) <= most).all()


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), n_rows=st.integers(2, 25))
def test_steps_are_at_most_the_different_eigenvalues(seed, n_rows):
    """Krylov: a matrix of k different eigenvalues is solved in k steps, by a polynomial."""
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(n_rows, n_rows)))
    values = rng.choice([1.0, 3.0, 10.0], n_rows)
    A, B = (turn * values) @ turn.T, rng.normal(size=(n_rows, 2))
    found = conjugate_gradients(lambda V: A @ V, _same, B, tol=np.full(2, 1e-9), max_iter=100)
    assert found.n_steps <= len(np.unique(values))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_preconditioner_that_inverts_needs_one_step(library):
    rng = np.random.default_rng(0)
    A, B = _positive(rng, 40, 6), rng.normal(size=(40, 3))
    inverse, exact = np.linalg.inv(A), np.linalg.solve(A, B)
    if library == "torch":
        A, B, inverse = map(pytest.importorskip("torch").as_tensor, (A, B, inverse))
    product = _Product(A)
    found = conjugate_gradients(
        product, lambda V: inverse @ V, B, tol=np.full(3, 1e-6), max_iter=50
    )
    assert (found.n_steps, found.ended) == (1, "tol")
    assert product.widths == [3]
    np.testing.assert_allclose(found.X, exact, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_rounded_preconditioner_still_leads_to_double_precision(library):
    rng = np.random.default_rng(0)
    A, B = _positive(rng, 60, 4), rng.normal(size=(60, 2))
    inverse = np.linalg.inv(A).astype(np.float32)
    exact = np.linalg.solve(A, B)
    if library == "torch":
        A, B, inverse = map(pytest.importorskip("torch").as_tensor, (A, B, inverse))

        def precondition(V):
            return (inverse @ V.float()).double()
    else:

        def precondition(V):
            return (inverse @ V.astype(np.float32)).astype(np.float64)

    found = conjugate_gradients(
        lambda V: A @ V, precondition, B, tol=np.full(2, 1e-12), max_iter=50
    )
    assert found.ended == "tol"
    assert found.n_steps <= 8
    np.testing.assert_allclose(found.X, exact, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_stop_apart_and_take_part_in_no_further_product(library):
    rng = np.random.default_rng(0)
    A, B = _positive(rng, 50, 2), rng.normal(size=(50, 4))
    B[:, 2] = 0.0
    tol = np.array([1e-8, 1e-1, 1e-8, 1e-3])
    literal = (A, B)
    if library == "torch":
        A, B = map(pytest.importorskip("torch").as_tensor, (A, B))
    product = _Product(A)
    found = conjugate_gradients(product, _same, B, tol=tol, max_iter=500)
    assert product.widths == sorted(product.widths, reverse=True)
    assert (product.widths[0], product.widths[-1]) == (3, 1), "a column of zeros needs none"
    assert set(product.widths) == {3, 2, 1}
    assert len(product.widths) == found.n_steps
    X = np.asarray(found.X)
    assert (X[:, 2] == 0).all()
    some = [0, 1, 3]
    residuals = _relative_residuals(literal[0], X[:, some], literal[1][:, some])
    assert (residuals <= tol[some] * (1 + 1e-6)).all()
    assert residuals[1] > 1e-3, "this one was left as it was when it was good enough"
    # Each column is what it would be alone.
    for column in some:
        alone = conjugate_gradients(
            _Product(A), _same, B[:, column : column + 1], tol=tol[[column]], max_iter=500
        )
        np.testing.assert_allclose(alone.X[:, 0], X[:, column], atol=1e-5)


@pytest.mark.parametrize("n_columns", [0, 3])
def test_zero_right_hand_sides_are_solved_without_a_product(n_columns):
    product = _Product(np.eye(5))
    found = conjugate_gradients(
        product, _same, np.zeros((5, n_columns)), tol=np.full(n_columns, 1e-9), max_iter=9
    )
    assert product.widths == []
    assert (found.n_steps, found.ended) == (0, "tol")
    np.testing.assert_array_equal(found.X, np.zeros((5, n_columns)))
    assert (found.residuals <= 1e-9).all()


def test_right_hand_sides_of_any_scale_are_solved_alike():
    rng = np.random.default_rng(0)
    A, b = _positive(rng, 30, 2), rng.normal(size=30)
    scales = np.array([1.0, 1e-100, 1e100])
    found = conjugate_gradients(
        lambda V: A @ V, _same, b[:, None] * scales, tol=np.full(3, 1e-9), max_iter=99
    )
    np.testing.assert_allclose(found.X / scales, np.tile(found.X[:, :1], 3), rtol=1e-6)


def test_no_more_products_than_max_iter():
    rng = np.random.default_rng(0)
    A, B = _positive(rng, 50, 5), rng.normal(size=(50, 2))
    product = _Product(A)
    found = conjugate_gradients(product, _same, B, tol=np.full(2, 1e-12), max_iter=4)
    assert (found.n_steps, found.ended, len(product.widths)) == (4, "max_iter", 4)
    np.testing.assert_allclose(found.residuals, _relative_residuals(A, found.X, B), rtol=1e-6)


def test_steps_lessen_the_error_in_the_norm_of_the_matrix():
    rng = np.random.default_rng(0)
    A, B = _positive(rng, 40, 4), rng.normal(size=(40, 2))
    exact, errors = np.linalg.solve(A, B), []

    def watch(_, X, residuals):
        errors.append(np.einsum("ij,ij->j", X - exact, A @ (X - exact)))
        return False

    conjugate_gradients(lambda V: A @ V, _same, B, tol=np.full(2, 1e-9), max_iter=30, watch=watch)
    assert (np.diff(errors, axis=0) < 0).all()


def test_who_watches_sees_each_step_and_may_end_it():
    rng = np.random.default_rng(0)
    A, B = _positive(rng, 50, 4), rng.normal(size=(50, 2))
    seen = []

    def watch(step, X, residuals):
        seen.append(step)
        np.testing.assert_allclose(residuals, _relative_residuals(A, X, B), rtol=1e-6)
        return step == 3

    found = conjugate_gradients(
        lambda V: A @ V, _same, B, tol=np.full(2, 1e-12), max_iter=30, watch=watch
    )
    assert seen == [1, 2, 3]
    assert (found.n_steps, found.ended) == (3, "watch")


@pytest.mark.parametrize("at", [2, 5])
def test_ctrl_c_returns_what_was_reached(at):
    rng = np.random.default_rng(0)
    A, B = _positive(rng, 50, 4), rng.normal(size=(50, 2))
    tol = np.full(2, 1e-12)
    found = conjugate_gradients(_Product(A, at), _same, B, tol=tol, max_iter=30)
    assert (found.n_steps, found.ended) == (at - 1, "interrupted")
    before = conjugate_gradients(_Product(A), _same, B, tol=tol, max_iter=at - 1)
    np.testing.assert_array_equal(found.X, before.X)
    np.testing.assert_array_equal(found.residuals, before.residuals)


def test_ctrl_c_before_the_first_step_is_ctrl_c():
    with pytest.raises(KeyboardInterrupt):
        conjugate_gradients(
            _Product(np.eye(3), 1), _same, np.eye(3), tol=np.full(3, 1e-9), max_iter=9
        )


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("value", [-1.0, 0.0, np.nan])
def test_a_direction_that_is_not_positive_is_said(value, library):
    A, B = np.diag([1.0, 2.0, value]), np.eye(3)
    if library == "torch":
        A, B = map(pytest.importorskip("torch").as_tensor, (A, B))
    with pytest.raises(NotPositiveError, match="not positive definite"):
        conjugate_gradients(_Product(A), _same, B, tol=np.full(3, 1e-9), max_iter=30)
