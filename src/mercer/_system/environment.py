"""What results were made with: versions and the machine."""

import os
import platform
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from mercer import __version__

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "numba")


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Return the versions that results depend on."""
    packages = {name: version(name) for name in _PACKAGES}
    return {"mercer": __version__, "python": platform.python_version(), **packages}


def machine() -> dict[str, str | int | float]:
    """Return the system, the processor, the cores that may be used and the memory."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": usable_cores(),
        "memory_gb": _memory_gb(),
    }


def usable_cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory_gb() -> float:
    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9, 1)
    except (AttributeError, ValueError, OSError):
        return 0.0
