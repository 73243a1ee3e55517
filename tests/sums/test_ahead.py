"""What a fit on a device will launch is compiled ahead of it: the way there, without a device."""

from contextlib import nullcontext

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from mercer.sums import _api, expect_left_out_sums  # noqa: E402
from mercer.sums.cuda import _ahead, _launch  # noqa: E402


@pytest.mark.parametrize(("n_rows", "is_asked"), [(2000, True), (100, False)])
def test_a_fit_that_is_worth_it_asks_for_its_kernels(monkeypatch, n_rows, is_asked):
    asked = []
    monkeypatch.setattr(_api, "kind_of", lambda X: "cuda")
    monkeypatch.setattr(_ahead, "device_refuses", lambda device: None)
    monkeypatch.setattr(_ahead, "_expect", lambda *given: asked.append(given[1:]))
    expect_left_out_sums(torch.zeros(n_rows, 3), removes=True, squared=False)
    assert asked == ([(3, True, False)] if is_asked else [])


def test_a_launch_ahead_compiles_and_does_not_run(monkeypatch):
    class Kernel:
        compiled, launched = (), ()

        def warmup(self, *arguments, **options):
            self.compiled += ((arguments, options),)

        def __getitem__(self, grid):
            def run(*arguments, **options):
                self.launched += ((grid, arguments, options),)

            return run

    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "device", lambda device: nullcontext())
    monkeypatch.setattr(_launch, "_started", {})
    kernel = Kernel()
    with _launch.compiling_ahead():
        _launch.launch(kernel, 3, 1, 2, WIDTH=16)
        _launch.launch(kernel, 3, 1, 2, WIDTH=16)
    for started in _launch._started.values():
        started.result(timeout=10)
    assert kernel.compiled == (((1, 2), {"grid": (1,), "WIDTH": 16}),)  # once
    assert kernel.launched == ()
    _launch.launch(kernel, 3, 1, 2, WIDTH=16)
    assert kernel.launched == (((3,), (1, 2), {"WIDTH": 16}),)
