"""The same call on every kind of array, and Triton's kernels where there is no GPU."""

import numpy as np
import pytest

from mercer import sums
from sums.interpreted import fused, interpreter  # noqa: F401


class Backend:
    """Calls the public functions with arrays of one library, and gives back NumPy arrays."""

    def __init__(self, name, convert):
        self.name, self._convert = name, convert

    def _call(self, function, X, Y=None, *, weights=None, **options):
        X, Y, weights = (None if A is None else self._convert(A) for A in (X, Y, weights))
        return np.asarray(function(X, Y, weights=weights, **options))

    def kernel_sum(self, *args, **options):
        return self._call(sums.kernel_sum, *args, **options)

    def log_kernel_sum(self, *args, **options):
        return self._call(sums.log_kernel_sum, *args, **options)


@pytest.fixture(params=["numpy", "torch"])
def backend(request):
    if request.param == "numpy":
        return Backend("numpy", np.asarray)
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return Backend("torch", torch.as_tensor)
