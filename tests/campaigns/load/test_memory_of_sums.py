"""Peak memory: inputs, outputs and scikit-learn's working_memory, never an n × m matrix.

Each measurement runs in a process of its own, and compares its high-water mark before and after
large sums, when small ones have loaded the libraries and compiled the code.
"""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="this system does not tell peak memory"
)
BUDGET = 8  # MiB of working_memory
SLACK = 24  # MiB: what allocators keep, and threads' stacks
ROWS = 5000  # × 5000 numbers of 8 bytes are 190 MiB

PROGRAM = r"""
import re, sys
from pathlib import Path
import numpy as np
from sklearn import set_config
from mercer.sums import kernel_sum, log_kernel_sum

rows, budget, library, *cases = sys.argv[1:]
set_config(working_memory=float(budget))
convert = np.asarray
if library == "torch":
    import torch
    torch.set_num_threads(1)
    convert = torch.as_tensor

def go(n, case):
    X, Y = (convert(np.random.default_rng(i).normal(size=(n, 3))) for i in (0, 1))
    if case == "matrix":
        return (X @ Y.T).sum()
    options = {"bandwidth": 1.0}
    if "groups" in case:
        options["groups"] = np.arange(n) % 10
    if "columns" in case:
        options["weights"] = convert(np.random.default_rng(0).random((n, 4)))
    if "fast" in case:
        X, Y = X[:, :2], Y[:, :2]
        options = {**options, "method": "fast", "tol": 1e-6, "bandwidth": 0.05}
    if "backward" in case:
        X.requires_grad_(), Y.requires_grad_()
    function = log_kernel_sum if "log" in case else kernel_sum
    out = function(X, None if "self" in case else Y, **options)
    if "backward" in case:
        out.sum().backward()

def peak():
    # Not ru_maxrss: a new process starts with that of the one that started it.
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) / 1024

for n in (1200, int(rows)):
    before = peak()
    for case in cases:
        go(n, case)
print(peak() - before)
"""


def rise(library, *cases, rows=ROWS, budget=BUDGET):
    """MiB by which large sums raise the high-water mark of memory over that of small ones."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(rows), str(budget), library, *cases],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return float(run.stdout)


def test_numpy_sums_stay_within_the_budget():
    cases = ("plain", "log", "self", "log self", "groups", "log groups", "columns", "log columns")
    assert rise("numpy", *cases) < BUDGET + SLACK


def test_fast_sums_stay_within_the_budget():
    pytest.importorskip("finufft", reason="finufft is not installed")
    rows, budget = 200_000, 48
    arrays = 25 * 8 * rows / 2**20  # the ten sums of a row twice, inputs, orders
    assert rise("numpy", "fast", "fast groups", rows=rows, budget=budget) < budget + SLACK + arrays


def test_torch_sums_stay_within_the_budget(torch):
    assert rise("torch", "plain", "log", "log groups", "columns") < BUDGET + SLACK


def test_torch_gradients_stay_within_the_budget(torch):
    assert rise("torch", "plain backward", "log backward") < BUDGET + SLACK


def test_the_measurement_sees_a_matrix():
    assert rise("numpy", "matrix") > 4 * (BUDGET + SLACK)
