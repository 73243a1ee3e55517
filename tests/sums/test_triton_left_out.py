"""The fused left-out sums in Triton's interpreter, against torch's tiles in float64."""

import numpy as np
import pytest
from sklearn import config_context

from mercer.kernels import KERNELS
from mercer.sums import Removal, left_out_log_sums
from mercer.sums._problem import Problem
from mercer.sums.cuda import _layout as _triton_layout
from mercer.sums.torch._left_out import tiled_left_out_sums
from oracles import sums as oracle
from sums.interpreted import EPS, RUNTIME_WARNINGS, tensor

pytestmark = RUNTIME_WARNINGS


def left_out_case(d, n=140, n_rungs=5, is_sorted=True, removing=None, spread=1.0):
    rng = np.random.default_rng(d)
    X = (spread * rng.normal(size=(n, d))).astype(np.float32)
    X[1] = X[0] + np.float32(1e-3)  # a pair that all but empties a density
    groups = rng.integers(0, 3, n)
    if is_sorted:
        groups.sort()
    widths = tuple(float(0.7 * np.sqrt(d)) * 2.0 ** (-b / 2) for b in range(n_rungs))
    omega = rng.integers(1, 4, n).astype(float)
    weights = tensor(rng.uniform(0.1, 3, (n_rungs, n)))
    if removing is None:
        return tensor(X), groups, widths, weights, None
    d2 = oracle.squared_distances(X, X).astype(float)
    power = 2 if removing == "squared" else 1
    F = np.stack([np.exp(-power * d2 / (2 * b * b)) @ omega for b in widths])
    parts = (rng.uniform(0.3, 1, n), F, omega, removing == "squared", rng.uniform(0, 2, F.shape))
    parts = (tensor(A) if isinstance(A, np.ndarray) else A for A in parts)
    return tensor(X), groups, widths, weights, Removal(*parts)


def exact_left_out(X, groups, widths, weights, removal, rows):
    """Return what torch's tiles give in float64, which are held to a literal loop elsewhere."""
    order = np.argsort(groups, kind="stable")
    bounds = (0, *np.cumsum(np.bincount(groups)).tolist())
    problem = Problem(
        X.double(), X.double(), order, None, bounds, KERNELS["gaussian"], widths,
        log=True, self_sum=True, exclude_self=True, method="direct", tol=None, precision="high",
        rung_weights=weights, removal=removal, rows=rows,
    )  # fmt: skip
    return tiled_left_out_sums(problem)


def check_left_out(case, rows=None, within=1e-5):
    X, groups, widths, weights, removal = case
    logs, drifts = left_out_log_sums(
        X, groups, bandwidths=widths, weights=weights, removal=removal, rows=rows
    )
    expected, expected_drifts = exact_left_out(*case, rows)
    assert logs.shape == expected.shape
    np.testing.assert_allclose(logs, expected, rtol=within, atol=within)
    if removal is None:
        assert drifts is None
        return
    # ρ − 1 is a difference of numbers near 1, each off by a rounding or so.
    largest = removal.drift_weights.sum(1).max().item()
    atol = 2 * EPS * largest
    np.testing.assert_allclose(drifts, expected_drifts, rtol=10 * within, atol=atol)


@pytest.mark.parametrize("removing", [None, "squared", "plain"])
@pytest.mark.parametrize("d", [2, 7, 30, 70])
def test_left_out_sums(fused, d, removing):
    check_left_out(left_out_case(d, removing=removing))
    assert len(fused) == 2  # one for each four rungs


@pytest.mark.parametrize("removing", [None, "squared", "plain"])
def test_left_out_sums_of_some_rows_of_mixed_groups(fused, removing):
    case = left_out_case(7, is_sorted=False, removing=removing)
    for rows in (None, slice(3, 100, 2), np.array([139, 0, 1, 5, 5, 80, 2])):
        check_left_out(case, rows)


@pytest.mark.parametrize("spread", [0.0, 1.0, 300.0])
@pytest.mark.parametrize("d", [2, 7])
def test_tiles_in_which_nothing_is_removed_are_skipped(fused, d, spread):
    """Points far apart change no density but their own group's nearest; equal ones change all."""
    case = left_out_case(d, n_rungs=2, removing="squared", spread=spread)
    check_left_out(case)


def test_tiles_near_and_far(fused):
    """Two groups far apart: for a row, the tiles of its own group count, the others are skipped."""
    X, groups, widths, weights, removal = left_out_case(7, removing="squared")
    X = X + 10 * tensor(groups)[:, None]
    # Data much wider than the windows: logarithms that rows are judged by may lose a digit.
    check_left_out((X, groups, widths, weights, removal))


@pytest.mark.parametrize("removing", [None, "squared"])
def test_left_out_sums_in_slabs_and_pieces(fused, monkeypatch, removing):
    case = left_out_case(7, n=140, n_rungs=2, is_sorted=False, removing=removing)
    with config_context(working_memory=1e-3):
        check_left_out(case)
    monkeypatch.setattr(_triton_layout, "_FEWEST_TILES", 1)
    check_left_out(case, np.array([7, 3, 139]))


@pytest.mark.parametrize("where", ["weights", "densities", "amount"])
def test_nan_stays_in_left_out_sums(fused, where):
    X, groups, widths, weights, removal = left_out_case(7, removing="squared")
    if where == "weights":
        weights[:, 5] = np.nan
    else:
        getattr(removal, where)[..., 5] = np.nan
    logs, drifts = left_out_log_sums(X, groups, bandwidths=widths, weights=weights, removal=removal)
    nan, others = np.isnan(logs[:, :, groups[5]].numpy()), np.arange(len(X)) != 5
    assert nan[:, 5].all() if where == "amount" else nan[:, others].all()
    if where != "weights":
        assert np.isnan(drifts[:, :, groups[5]].numpy())[
            :, 5 if where == "amount" else others
        ].all()
