"""Less memory than a job wants: smaller blocks, or a sentence."""

import pytest

from faults.jobs import JOBS

pytestmark = pytest.mark.timeout(1200)


@pytest.mark.parametrize("name", [name for name in JOBS if name != "report"])
def test_out_of_memory(bench, bounded, share, name):
    """Steps of the memory beyond what is in use, up to what suffices."""
    share("kernel_sum", "fit", "compare")
    megabytes = [2, 0.1, 0.5, 1, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256]
    for more in bounded(megabytes, 1):
        bench.try_one(
            name,
            "little_memory",
            more=int(more * 2**20),
            with_old=True,
            label="address space limited",
            words=("memory", "allocate", "Unable", "failed"),
        )


def test_no_more_threads(bench, bounded):
    for name in bounded(["kernel_sum", "fit"], 1):
        done = bench.try_one(name, "no_more_threads", label="no thread can be started")
        assert done["code"] == 0
