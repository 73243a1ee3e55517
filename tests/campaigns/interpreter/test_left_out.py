"""The fused left-out sums in Triton's interpreter, against torch's tiles in float64."""

import numpy as np
import pytest
from sklearn import config_context

from mercer.sums import left_out_log_sums
from mercer.sums.cuda import _layout as _triton_layout
from sums.interpreted import RUNTIME_WARNINGS, check_left_out, left_out_case

pytestmark = RUNTIME_WARNINGS


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
