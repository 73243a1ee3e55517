"""The box that holds all points."""

import numpy as np
import pytest

from mercer.sums._problem import Box


@pytest.mark.parametrize("d", [1, 8, 9, 20])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_ends_of_all_rows(library, d):
    rng = np.random.default_rng(d)
    X, Y = rng.normal(size=(30, d)).astype(np.float32), 2 * rng.normal(size=(7, d))
    Y = Y.astype(np.float32)
    convert = np.asarray
    if library == "torch":
        convert = pytest.importorskip("torch", reason="torch is not installed").as_tensor
    box = Box.of(convert(X), convert(Y[:0]), convert(Y))
    both = np.concatenate([X, Y])
    np.testing.assert_array_equal(box.low, both.min(axis=0))
    np.testing.assert_array_equal(box.high, both.max(axis=0))
    assert box.extent == np.abs(both).max()
    assert box.is_finite
    for bad in (np.nan, np.inf, -np.inf):
        X[3, d - 1] = bad
        assert not Box.of(convert(X)).is_finite
