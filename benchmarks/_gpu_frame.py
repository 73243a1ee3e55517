"""Times, caps, tables and what a run ran on.  For bench_gpu.py."""

import os
import platform
import signal
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from statistics import median

import torch

PACKAGES = ("torch", "triton", "numpy", "scipy", "scikit-learn", "cupy-cuda13x", "cuml", "pykeops")


class Clock:
    """Seconds between CUDA events, or by the clock of a CPU."""

    def __init__(self, device):
        self.device = device

    def once(self, run):
        """Return the seconds of one run and its result."""
        if self.device == "cpu":
            start = time.perf_counter()
            result = run()
            return time.perf_counter() - start, result
        torch.cuda.synchronize()
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        result = run()
        stop.record()
        torch.cuda.synchronize()
        return start.elapsed_time(stop) / 1e3, result

    def median(self, run, warm_up=None, budget=0.6, most=20):
        """Return the median seconds after two warm-ups, and the last result."""
        warm_up = warm_up or run
        self.first, _ = self.once(warm_up)  # compiles, where anything is to be compiled
        seconds, _ = self.once(warm_up)
        times = []
        for _ in range(min(most, max(3, int(budget / max(seconds, 1e-6))))):
            seconds, result = self.once(run)
            times.append(seconds)
        return median(times), result


class Caps:
    """Interrupts what takes too long, and says of what fails why, in one row of a table."""

    def __init__(self, minutes):
        self.minutes = minutes
        self.deadline = time.monotonic() + 60 * minutes

    def __call__(self, what, seconds, run, *, even_late=False):
        """Return what `run` returns within so many seconds, or None after saying why not."""

        def interrupt(*_):
            raise TimeoutError(f"took more than {allowed:.0f} s")

        left = seconds if even_late else self.deadline - time.monotonic()
        outer, _ = signal.getitimer(signal.ITIMER_REAL)
        allowed = min(seconds, left, outer or seconds)
        before, start = signal.getsignal(signal.SIGALRM), time.monotonic()
        try:
            if allowed <= 0:
                raise TimeoutError(f"the {self.minutes:g} minutes are spent")
            signal.signal(signal.SIGALRM, interrupt)
            signal.setitimer(signal.ITIMER_REAL, allowed)
            return run()
        except Exception as failure:  # rows and sections fail alone
            signal.setitimer(signal.ITIMER_REAL, 0)
            reason = " ".join(str(failure).replace("|", "¦").split())[:300]
            frame = traceback.extract_tb(failure.__traceback__)[-1]
            where = f"{os.path.basename(frame.filename)}:{frame.lineno}"
            row(f"skipped {what}: {type(failure).__name__}: {reason} ({where})")
            return None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            if outer:
                left = outer - (time.monotonic() - start)
                signal.setitimer(signal.ITIMER_REAL, max(left, 0.01))
            free()


def free():
    """Give the device's memory that no tensor holds back to it."""
    if torch.cuda.is_available():
        with suppress(RuntimeError):  # after an error that the device does not recover from
            torch.cuda.empty_cache()


def head(*names):
    row(*names)
    row(*("---" for _ in names))


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def number(value, form):
    return format(value, form) if value == value else "–"


def in_seconds(seconds):
    return f"{seconds:.4f}" if seconds < 1 else f"{seconds:.2f}"


def about(device):
    """Return date, command, device and versions."""
    found = {"date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")}
    found["command"] = " ".join(["python", *sys.argv])
    found["device"] = "CPU, to test the script: no figures of a GPU"
    if device == "cuda":
        properties = torch.cuda.get_device_properties(0)
        found["device"] = properties.name
        found["multiprocessors"] = properties.multi_processor_count
        found["GB"] = round(properties.total_memory / 1e9, 1)
        found["driver"], found["CUDA"] = _driver(), torch.version.cuda
    found["Python"] = platform.python_version()
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _driver():
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True)  # noqa: S603
        return done.stdout.split()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return "unknown"
