"""The same call on every kind of array, and Triton's kernels where there is no GPU."""

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from mercer import sums
from mercer.sums import _problem
from mercer.sums.cuda import _layout as _triton_layout
from mercer.sums.cuda import _left_out as _triton_left_out
from mercer.sums.cuda import _run as _triton
from sums.interpreted import interpreted


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


@pytest.fixture(scope="session")
def interpreter():
    """Torch, with kernels that are interpreted: only where no device could run them compiled."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if find_spec("triton") is None:
        pytest.skip("Triton is not installed")
    if torch.cuda.is_available():
        pytest.skip("the compiled kernels are tested instead: pytest -m gpu")
    with interpreted():
        yield torch


@pytest.fixture
def fused(interpreter, monkeypatch):
    """Public functions take the fused sums, and no others; the forms that they took are listed."""
    forms = []
    choose = _triton_layout.Packer.of.__func__

    def of(cls, *args, **options):
        packer = choose(cls, *args, **options)
        forms.append(packer.form)
        return packer

    monkeypatch.setattr(_triton_layout.Packer, "of", classmethod(of))
    monkeypatch.setattr(_triton, "OWNS", ("torch",))
    monkeypatch.setattr(_triton, "_WORTH_COMPILING", 1)
    monkeypatch.setattr(_triton, "_MOST_FILL", np.inf)
    monkeypatch.setattr(_triton, "device_refuses", lambda device: None)
    monkeypatch.setattr(_problem, "_BACKENDS", ("mercer.sums._in_memory", "mercer.sums.cuda._run"))
    for module in (_triton, _triton_left_out):  # so that small sums have several chunks
        short = {form: replace(tile, chunk=2) for form, tile in module.TILES.items()}
        monkeypatch.setattr(module, "TILES", short)
    return forms
