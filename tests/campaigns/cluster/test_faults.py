"""What a cluster may do to a fit: lose a worker, or have less memory than the table takes."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from lazy import MEMORY_LIMIT, cut, labelled, most_memory, slowly, wide_rows
from mercer import LaplacianClassifier, SparseKernelFisherDiscriminant

da = pytest.importorskip("dask.array")


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_worker_that_is_killed_costs_time_only(client):
    X, y = labelled(400)
    new, _ = labelled(50, seed=1)
    expected = LaplacianClassifier(bandwidth=0.5).fit(X, y).decision_function(new)
    before = set(client.run(os.getpid).values())
    victim = min(before)

    def kill():
        while not any(client.processing().values()):
            time.sleep(0.01)
        time.sleep(0.3)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    slow = cut(X, (80,) * 5).map_blocks(slowly)
    model = LaplacianClassifier(bandwidth=0.5).fit(slow, y)
    assert not killer.is_alive(), "the fit was over before the worker was killed"
    found = model.decision_function(cut(new)).compute()
    killer.join()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    client.wait_for_workers(2, timeout=30)
    assert victim not in client.run(os.getpid).values()


def test_a_table_larger_than_any_worker(client):
    n, block = 5_000_000, 250_000
    numbers = da.arange(n, chunks=block, dtype=np.float64)
    X = numbers.map_blocks(
        wide_rows,
        n_features=4,
        new_axis=1,
        chunks=((block,) * (n // block), (16,)),
        dtype=np.float64,
    )
    y = (X[:, 0] + X[:, 4] > 1).astype(np.int8)
    assert X.nbytes > 1.2 * MEMORY_LIMIT
    model = SparseKernelFisherDiscriminant(max_nodes=10, gamma=1.0, random_state=0).fit(X, y)
    part = slice(0, 2 * block)
    assert (model.predict(X[part]) == y[part]).mean().compute() > 0.9
    used = client.run(most_memory)
    assert max(used.values()) < MEMORY_LIMIT
