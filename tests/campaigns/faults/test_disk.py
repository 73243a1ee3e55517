"""A disk that is full: at every point at which a command writes, once or from then on."""

import os

import pytest

from faults.jobs import JOBS

pytestmark = pytest.mark.timeout(1200)

WRITERS = [name for name in JOBS if name not in ("print", "measure", "kernel_sum")]


@pytest.mark.parametrize("name", WRITERS)
def test_full_at_every_point(bench, bounded, long, share, name):
    """SQLite's way: count the points of an undisturbed run, then fail at each of them."""
    share("fit", "compare", "reproduce")
    counted = bench.send(name, "full_disk", bench.folder(name, with_old=True), at=0)
    assert counted["code"] == 0
    assert counted["points"] >= 4  # open, write, fsync, replace
    for at in bounded(range(1, counted["points"] + 1), 2):
        for once in (True, False) if long else (at % 2 == 0,):
            label = "disk full at the k-th call, " + ("once" if once else "from then on")
            with_old = (at % 2 == 0) == once
            bench.try_one(name, "full_disk", at=at, once=once, with_old=with_old, label=label)


@pytest.mark.parametrize("name", WRITERS)
def test_files_that_cannot_grow(bench, bounded, share, name):
    share("fit")
    sizes = [512, 0, 1, 100, 1000, 2000, 4096, 8192, 20_000, 50_000, 200_000]
    for most in bounded(sizes, 1):
        bench.try_one(
            name, "small_files", most=most, with_old=True, label="files limited in size (EFBIG)"
        )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("name", ["fit", "print", "measure"])
def test_standard_output_on_a_full_disk(bench, share, name):
    share("fit")
    bench.try_one(name, "nothing", stdout="/dev/full", words=("Standard output",),
                  label="standard output on a full disk")  # fmt: skip
