"""What one look at tensors tells of them is what their checks would ask for."""

import numpy as np
import pytest

from mercer.sums import kernel_sum


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.mark.parametrize("n_groups", [1, 3, 300])
def test_rows_by_group(torch, n_groups):
    """More groups than are counted at once are arranged without that."""
    from mercer.sums.torch._survey import survey

    rng = np.random.default_rng(n_groups)
    X, groups = rng.normal(size=(900, 3)), rng.integers(0, n_groups, 900)
    groups[0] = n_groups - 1
    w = rng.uniform(-1, 2, 900)
    seen = survey((torch.as_tensor(X),), torch.as_tensor(w), torch.as_tensor(groups))
    assert seen.weight_ends == (w.min(), w.max())
    assert seen.group_ends == (groups.min(), groups.max())
    np.testing.assert_array_equal([seen.box.low, seen.box.high], [X.min(axis=0), X.max(axis=0)])
    if n_groups == 300:
        assert seen.by_group is None
        return
    np.testing.assert_array_equal(seen.by_group.order, np.argsort(groups, kind="stable"))
    np.testing.assert_array_equal(seen.by_group.counts, np.bincount(groups))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_groups_whose_weights_differ_by_far(torch, dtype):
    """One power of two serves all groups, and no digit is lost by it."""
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(300, 2)).astype(dtype), rng.integers(0, 4, 300)
    w = ((2.0**-12) ** groups * rng.uniform(0.5, 1, 300)).astype(dtype)
    out = kernel_sum(*(torch.as_tensor(A) for A in (X,)), weights=torch.as_tensor(w),
                     groups=torch.as_tensor(groups), bandwidth=1.0)  # fmt: skip
    expected = kernel_sum(X.astype(float), weights=w.astype(float), groups=groups, bandwidth=1.0)
    np.testing.assert_allclose(out, expected, rtol=1e-5 if dtype == np.float32 else 1e-11)
