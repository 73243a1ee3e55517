"""Tables, caps, memory and what a run ran on.  For bench_full.py."""

import gc
import os
import platform
import signal
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import sklearn

PACKAGES = (
    "torch", "triton", "numpy", "scipy", "scikit-learn", "lightgbm", "xrfm", "torchkm", "falkon",
)  # fmt: skip


def print_header(options) -> None:
    """Print the command, the date, the machine and the versions."""
    found = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    if options.device == "cuda":
        import torch

        machine = f"{torch.cuda.get_device_name(0)}, CUDA {torch.version.cuda}, {machine}"
    versions = ", ".join(f"{name} {number}" for name, number in found.items())
    print("    " + " ".join(["python", *sys.argv]))
    print(f"\n{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {machine}, {versions}\n", flush=True)


def head(*names) -> None:
    row(*names)
    row(*("---" for _ in names))


def row(*cells) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def attempt(name: str, cap: float | None, work):
    """Return what `work` returns, or print the reason and return None if it fails.

    After `cap` seconds it is interrupted, as soon as it is back in Python.
    """

    def interrupt(*_):
        raise TimeoutError(f"took more than {cap:g} s")

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, cap or 0)
        return work()
    except Exception as failure:  # Each row of a table fails alone.
        signal.setitimer(signal.ITIMER_REAL, 0)
        reason = " ".join(str(failure).replace("|", "¦").split())[:300]
        frame = traceback.extract_tb(failure.__traceback__)[-1]
        where = f"{os.path.basename(frame.filename)}:{frame.lineno}"
        row(f"{name}: {type(failure).__name__}: {reason} ({where})")
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        free_memory()


def free_memory() -> None:
    """Give memory back that no array holds, that of a device too."""
    gc.collect()
    if "torch" in sys.modules and sys.modules["torch"].cuda.is_available():
        with suppress(RuntimeError):  # after an error that the device does not recover from
            sys.modules["torch"].cuda.empty_cache()


def device_memory(device: str) -> float:
    """Return the most gigabytes that tensors held since the last call; NaN without a device."""
    if device != "cuda":
        return float("nan")
    import torch

    most = torch.cuda.max_memory_allocated() / 1e9
    torch.cuda.reset_peak_memory_stats()
    return most


def on_device(X, device: str, dtype=None):
    """Return NumPy's rows, or a tensor on a CUDA device."""
    X = X if dtype is None else X.astype(dtype)
    if device == "cpu":
        return X
    import torch

    return torch.as_tensor(X, device=device)


def to_numpy(values):
    """Return an array of NumPy for one of NumPy, torch or Dask."""
    if hasattr(values, "cpu"):
        return values.cpu().numpy()
    return np.asarray(values)


@dataclass
class Fitted:
    """The classes that a model finds for test rows, what it chose, and what that cost.

    The model itself is not kept: its memory would count as that of the next.
    """

    found: np.ndarray
    solver: str
    iterations: str
    kernel: str
    fit_seconds: float
    cpu_seconds: float
    predict_seconds: float
    gigabytes: float

    def accuracy(self, y) -> float:
        """Return the per cent of test rows whose class was found."""
        return 100 * float(np.mean(self.found == y))

    def cells(self, columns, y) -> list[str]:
        """Return the cells of a table with these columns; y are the classes of the test rows."""
        known = {
            "accuracy, %": f"{self.accuracy(y):.2f}",
            "fit, s": seconds(self.fit_seconds),
            "CPU s": seconds(self.cpu_seconds),
            "predict, s": seconds(self.predict_seconds),
            "peak GB": f"{self.gigabytes:.1f}" if self.gigabytes == self.gigabytes else "–",
            "solver": self.solver,
            "iterations": self.iterations,
            "kernel": self.kernel,
        }
        return [known[name] for name in columns]


def fit_and_predict(fit, X, y, X_test, device: str) -> Fitted:
    """Time `fit(X, y)`, which returns a model, and its predictions."""
    device_memory(device)
    with sklearn.config_context(array_api_dispatch=hasattr(X, "cpu")):
        started, cpu = _now(device), time.process_time()
        model = fit(X, y)
        fitted, cpu = _now(device), time.process_time() - cpu
        found = to_numpy(model.predict(X_test))
        predicted = _now(device)
    scales = getattr(model, "column_scales_", None)
    return Fitted(
        found=found,
        solver=attribute(model, "solver_"),
        iterations=attribute(model, "n_iter_"),
        kernel=attribute(model, "kernel_") + ("" if scales is None else ", scales"),
        fit_seconds=fitted - started,
        cpu_seconds=cpu,
        predict_seconds=predicted - fitted,
        gigabytes=device_memory(device),
    )


def _now(device: str) -> float:
    """Return the clock's seconds, when the device has done what it was told."""
    if device == "cuda":
        import torch

        torch.cuda.synchronize()
    return time.perf_counter()


def attribute(model, name: str) -> str:
    """Return a fitted attribute as a cell of a table."""
    value = getattr(model, name, "–")
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def seconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"
