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


def survey_by_triton(interpreter, X, Y=None, weights=None):
    """Return what two launches over float32 tensors find, as a device would be asked to."""
    from mercer.sums.cuda._survey import read_look, start_looking

    rows = (X,) if Y is None else (X, Y)
    found = start_looking(rows, weights)
    return read_look(found, found.numpy(), X.shape[1])


@pytest.mark.parametrize("d", [1, 3, 16, 70])
@pytest.mark.parametrize("n", [(700, None), (700, 40), (1, 513)])
def test_one_look_by_triton(interpreter, d, n):
    rng = np.random.default_rng([d, n[0]])
    X = interpreter.as_tensor(rng.normal(5, 1, (n[0], d)).astype(np.float32))
    Y = None if n[1] is None else interpreter.as_tensor(rng.normal(4, 3, (d, n[1])).T.astype("f4"))
    w = interpreter.as_tensor(rng.uniform(-3, 2, 600).astype(np.float32))
    box, middle, ends = survey_by_triton(interpreter, X, Y, w)
    rows = X.numpy() if Y is None else np.concatenate([X.numpy(), Y.numpy()])
    np.testing.assert_array_equal([box.low, box.high], [rows.min(axis=0), rows.max(axis=0)])
    assert ends == (w.numpy().min(), w.numpy().max())
    centre = (rows.min(axis=0) + rows.max(axis=0).astype(float)) / 2
    if len(rows) > 1:
        np.testing.assert_allclose(middle.centre, centre, rtol=1e-6)
        radius = ((rows - middle.centre.numpy().astype(float)) ** 2).sum(axis=1).max()
        np.testing.assert_allclose([middle.number, middle.squared_radius[0]], radius, rtol=1e-5)


def test_a_look_by_triton_sees_zeros_of_both_signs(interpreter):
    """An atomic maximum of bits would take −0 for less than −∞."""
    X = interpreter.zeros(100, 3)
    X[:, 1] = -0.0
    X[0, 2] = -2.0
    box, _, ends = survey_by_triton(interpreter, X, None, X[:, 1])
    np.testing.assert_array_equal([box.low, box.high], [[0, 0, -2], [0, 0, 0]])
    assert ends == (0, 0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy, which interprets
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_look_by_triton_sees_what_is_not_finite(interpreter, bad):
    X, w = interpreter.ones(600, 20), interpreter.ones(600)
    assert survey_by_triton(interpreter, X, None, w)[0].is_finite
    X[-1, 17] = bad
    box, _, ends = survey_by_triton(interpreter, X, None, w)
    assert not box.is_finite
    assert ends == (1, 1)
    X[-1, 17], w[300] = 1, bad
    box, _, ends = survey_by_triton(interpreter, X, None, w)
    assert box.is_finite
    assert not np.isfinite(ends).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_a_look_by_triton_has_no_middle_beyond_float32(interpreter, scale):
    X = scale * interpreter.rand(600, 3)
    box, middle, _ = survey_by_triton(interpreter, X)
    np.testing.assert_array_equal(box.high, X.numpy().max(axis=0))
    assert middle is None
