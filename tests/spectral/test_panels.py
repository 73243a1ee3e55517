"""The Cholesky factor in float32 panels: it solves, inverts, and takes half of the memory."""

import numpy as np
import pytest

from mercer.spectral import PanelFactor, _panels, most_panel_rows

WIDTH = 8
# Below, at and above one panel; several panels, the last of which is full, of one column, or not.
SIZES = [1, 5, 8, 9, 16, 24, 25, 31]
LIBRARIES = ["numpy", "torch"]


@pytest.fixture
def panels(monkeypatch, request):
    """Return a maker of factors, with panels of eight columns that change five rows at a time."""
    monkeypatch.setattr(_panels, "WIDTH", WIDTH)
    monkeypatch.setattr(_panels, "_ROWS_AT_ONCE", 5)

    def make(A, library="numpy", dtype=np.float32):
        def lower(columns):
            asked.append(columns)
            part = A[columns.start :, columns].astype(dtype)
            if library == "numpy":
                return part
            return request.getfixturevalue("torch").as_tensor(part)

        asked = []
        factor = PanelFactor.of(lower, len(A))
        assert [(one.start, one.stop) for one in asked] == [
            (start, min(start + WIDTH, len(A))) for start in range(0, len(A), WIDTH)
        ]
        return factor

    return make


def _like(values, library):
    return values if library == "numpy" else pytest.importorskip("torch").as_tensor(values)


def _positive(n_rows, seed=0):
    """A matrix whose eigenvalues lie between 0.5 and 4, far from diagonal."""
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(n_rows, n_rows)))
    return (turn * np.linspace(0.5, 4, n_rows)) @ turn.T


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("n_rows", SIZES)
def test_solutions_are_those_of_double_precision_to_single(panels, n_rows, library):
    A = _positive(n_rows)
    B = np.random.default_rng(1).normal(size=(n_rows, 3))
    given = _like(B.copy(), library)
    found = panels(A, library).solve(given)
    assert str(found.dtype).endswith("float64")
    np.testing.assert_allclose(found, np.linalg.solve(A, B), atol=2e-5)
    np.testing.assert_array_equal(given, B)  # The right-hand sides are left as they were.


@pytest.mark.parametrize("library", LIBRARIES)
def test_right_hand_sides_may_be_of_any_scale(panels, library):
    """Residuals become as small as the tolerance asks, and a large ridge makes them smaller."""
    A, scales = _positive(25), np.array([1e-60, 1e-30, 0.0, 1.0, 1e60])
    B = np.random.default_rng(1).normal(size=(25, 5))
    found = np.asarray(panels(A, library).solve(_like(B * scales, library)))
    assert (found[:, 2] == 0).all()
    some = scales > 0
    expected = np.linalg.solve(A, B)[:, some]
    np.testing.assert_allclose(found[:, some] / scales[some], expected, atol=2e-5)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("n_rows", SIZES)
def test_the_diagonal_of_the_inverse(panels, n_rows, library):
    A = _positive(n_rows)
    factor = panels(A, library)
    found = factor.take_inverse_diagonal()
    assert str(found.dtype).endswith("float64")
    np.testing.assert_allclose(found, np.diag(np.linalg.inv(A)), rtol=1e-5)
    assert factor.panels == [], "the factor is used up"


@pytest.mark.parametrize("library", LIBRARIES)
def test_entries_in_double_precision_have_a_factor_in_double_precision(panels, library):
    A = _positive(31)
    B = np.random.default_rng(1).normal(size=(31, 3))
    factor = panels(A, library, np.float64)
    np.testing.assert_allclose(factor.solve(_like(B, library)), np.linalg.solve(A, B), atol=1e-13)
    diagonal = np.diag(np.linalg.inv(A))
    np.testing.assert_allclose(factor.take_inverse_diagonal(), diagonal, rtol=1e-13)
    # A matrix that is positive in double precision only.
    near = np.ones((12, 12)) + 1e-9 * np.eye(12)
    assert panels(near, library, np.float32) is None
    assert panels(near, library, np.float64) is not None


@pytest.mark.parametrize("n_rows", SIZES)
def test_panels_are_the_columns_of_the_literal_factor(panels, n_rows):
    A = _positive(n_rows)
    L = np.linalg.cholesky(A)
    for j, panel in enumerate(panels(A).panels):
        start, width = j * WIDTH, panel.shape[1]
        assert panel.dtype == np.float32
        # What stands above the diagonal of a panel is never read.
        expected = np.tril(L[start:, start : start + width])
        np.testing.assert_allclose(np.tril(panel), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("at", [0, 7, 8, 20])
def test_an_indefinite_matrix_has_no_factor(panels, at, library):
    values = np.ones(21)
    values[at] = -1e-2
    assert panels(np.diag(values), library) is None
    values[at] = 1e-2
    assert panels(np.diag(values), library) is not None


@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers_that_are_not_finite_have_no_factor(panels, library):
    A = _positive(12)
    A[11, 2] = A[2, 11] = np.nan
    assert panels(A, library) is None


def test_rows_are_as_many_as_half_a_matrix_in_single_precision_has_room_for(panels):
    n_rows = 40 * WIDTH
    factor = panels(np.eye(n_rows))
    full = 4 * n_rows**2
    stored = sum(panel.nbytes for panel in factor.panels)
    assert full / 2 <= stored <= full / 2 * (1 + 1.1 / 40)
    assert most_panel_rows(full // 2) == n_rows
    assert most_panel_rows(full // 2 - 1) == n_rows - 1
    assert most_panel_rows(full, 8) == n_rows
