"""Columns and blocks of neighbours: M⁻¹ against M built densely, and how rows are cut up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.spectral import NotPositiveError, NystromBlocks, _nystrom, split_in_neighbours

LIBRARIES = ["numpy", "torch"]


@pytest.fixture(autouse=True)
def _piece_by_piece(monkeypatch):
    monkeypatch.setattr(_nystrom, "_NUMBERS_AT_ONCE", 500)


def _like(values, library):
    return values if library == "numpy" else pytest.importorskip("torch").as_tensor(values)


def _kernel(X, gamma=0.3):
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


class _Problem:
    """A kernel matrix with a ridge, scaled to a unit diagonal, as the solver scales it."""

    def __init__(self, n_rows=60, seed=0, alpha=0.1, X=None, library="numpy"):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(n_rows, 2)) if X is None else X
        weights = rng.uniform(0.5, 2, len(self.X))
        scale = (weights + alpha) ** -0.5  # the diagonal of the kernel is one
        outer = scale * np.sqrt(weights)
        self.K = outer[:, None] * _kernel(self.X) * outer
        self.ridge = scale**2 * alpha
        self.library = library

    def build(self, size, rank, seed=0):
        X, K = (_like(A, self.library) for A in (self.X, self.K))
        blocks = split_in_neighbours(X, size, np.random.RandomState(seed))
        self.blocks = blocks
        return NystromBlocks.of(
            lambda rows, columns: K[rows][:, columns],
            _like(np.diag(self.K).copy(), self.library),
            _like(self.ridge, self.library),
            blocks,
            rank,
            np.random.RandomState(seed),
        )

    def shared(self, built):
        """F, from G = WF and the stored W, with rows in their own order."""
        G, order = np.asarray(built.shared, dtype=np.float64), np.asarray(built.order)
        F = np.zeros((built.n_rows + 1, G.shape[1]))
        size = built.whiten.shape[1]
        for b, W in enumerate(np.asarray(built.whiten, dtype=np.float64)):
            n = len(self.blocks[b])
            here = order[b * size : b * size + n]
            F[here] = np.linalg.solve(W[:n, :n], G[b * size : b * size + n])
        return F[:-1]

    def literal(self, built):
        """M = FFᵀ + blockdiag(K − FFᵀ + ridge), built densely."""
        F = self.shared(built)
        M = F @ F.T
        for rows in self.blocks:
            at = np.ix_(rows, rows)
            M[at] = self.K[at] + np.diag(self.ridge[rows])
        return M


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("n_rows", [60, 61, 64])
@pytest.mark.parametrize(("size", "rank"), [(10, 1), (8, 12), (1, 20), (20, 5)])
def test_solutions_are_those_of_the_literal_matrix(n_rows, size, rank, library):
    problem = _Problem(n_rows, library=library)
    built = problem.build(size, rank)
    inverse = np.linalg.inv(problem.literal(built))
    one = _like(np.eye(n_rows), library)
    found = np.asarray(built.solve(one))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, inverse, atol=2e-4 * np.abs(inverse).max())
    np.testing.assert_allclose(found, found.T, atol=1e-4 * np.abs(inverse).max())
    assert np.linalg.eigvalsh((found + found.T) / 2).min() > 0
    diagonal = np.asarray(built.inverse_diagonal())
    np.testing.assert_allclose(diagonal, np.diag(inverse), rtol=1e-3)
    np.testing.assert_allclose(diagonal, np.diag(found), rtol=1e-3)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("size", "rank"), [(60, 1), (60, 20), (100, 5), (7, 60)])
def test_with_one_block_or_all_columns_it_is_the_matrix_itself(size, rank, library):
    problem = _Problem(library=library)
    built = problem.build(size, rank)
    whole = problem.K + np.diag(problem.ridge)
    found = np.asarray(built.solve(_like(whole, library)))
    np.testing.assert_allclose(found, np.eye(60), atol=2e-3)
    diagonal = np.diag(np.linalg.inv(whole))
    np.testing.assert_allclose(np.asarray(built.inverse_diagonal()), diagonal, rtol=2e-3)


def test_columns_explain_the_matrix_better_the_more_there_are():
    problem, last = _Problem(200), np.inf
    for rank in (2, 8, 32):
        built = problem.build(10, rank)
        F = problem.shared(built)
        left = problem.K - F @ F.T
        assert F.shape == (200, rank)
        # A Nyström approximation leaves a positive matrix, and exactly nothing at its columns.
        assert np.linalg.eigvalsh(left).min() > -1e-4
        assert (np.sort(np.diag(left))[:rank] < 1e-4).all()
        assert np.trace(left) < last / 2
        last = np.trace(left)


@pytest.mark.parametrize("library", LIBRARIES)
def test_it_makes_conjugate_directions_few(library):
    """The matrix, preconditioned, has eigenvalues near one."""
    problem = _Problem(200, alpha=1e-3, library=library)
    built = problem.build(20, 40)
    whole = problem.K + np.diag(problem.ridge)
    values = np.linalg.eigvals(np.asarray(built.solve(_like(whole, library)))).real
    plain = np.linalg.cond(whole)
    assert values.max() / values.min() < plain / 20


@pytest.mark.parametrize("library", LIBRARIES)
def test_rows_that_are_all_alike_need_one_column(library):
    problem = _Problem(X=np.ones((30, 2)), library=library)
    built = problem.build(7, 20)
    whole = problem.K + np.diag(problem.ridge)
    # One round of draws explains everything, however many columns are allowed.
    assert built.shared.shape[1] < 20
    found = np.asarray(built.solve(_like(whole, library)))
    np.testing.assert_allclose(found, np.eye(30), atol=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_are_there_several_times(seed):
    X = np.repeat(np.random.default_rng(seed).normal(size=(12, 2)), 5, axis=0)
    problem = _Problem(X=X, seed=seed)
    for size, rank in ((9, 4), (9, 40), (60, 60)):
        built = problem.build(size, rank)
        inverse = np.linalg.inv(problem.literal(built))
        found = built.solve(np.eye(60))
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found, inverse, atol=2e-3 * np.abs(inverse).max())
        np.testing.assert_allclose(built.inverse_diagonal(), np.diag(inverse), rtol=2e-3)


def test_a_kernel_that_is_clearly_not_positive_is_refused():
    problem = _Problem(40)
    problem.K = -problem.K + 2 * np.diag(np.diag(problem.K))
    with pytest.raises(NotPositiveError, match="not positive"):
        problem.build(20, 5)


def test_draws_decide_and_nothing_else():
    one, same, other = (_Problem(100).build(10, 8, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.solve(np.eye(100)), same.solve(np.eye(100)))
    assert not np.array_equal(one.solve(np.eye(100)), other.solve(np.eye(100)))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(1, 70),
    n_features=st.integers(1, 3),
    size=st.integers(1, 80),
    kind=st.sampled_from(["normal", "constant", "duplicates"]),
)
def test_blocks_are_a_partition_of_nearly_one_size(seed, n_rows, n_features, size, kind):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    X = {"normal": X, "constant": 0 * X + 3, "duplicates": np.round(X)}[kind]
    blocks = split_in_neighbours(X, size, np.random.RandomState(seed))
    np.testing.assert_array_equal(np.sort(np.concatenate(blocks)), np.arange(n_rows))
    sizes = [len(rows) for rows in blocks]
    assert 1 <= min(sizes) <= max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("library", LIBRARIES)
def test_blocks_are_of_neighbours(library):
    """On a line, blocks are intervals; in a plane, rows of a block are nearer than others."""
    line = np.random.default_rng(0).permutation(64).astype(float)[:, None]
    for rows in split_in_neighbours(_like(line, library), 8, np.random.RandomState(0)):
        assert np.ptp(line[rows]) == 7
    X = np.random.default_rng(0).normal(size=(400, 2)) * [5.0, 1.0]
    blocks = split_in_neighbours(_like(X, library), 25, np.random.RandomState(0))
    within = np.mean([np.var(X[rows], axis=0).sum() for rows in blocks])
    assert within < 0.2 * np.var(X, axis=0).sum()
