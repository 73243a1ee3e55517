"""Growth with workers: the same work in memory and on a cluster of 1 and 2 processes.

    python benchmarks/bench_dask.py [--quick]

Each worker is a process with one thread, and in memory one thread works too, so that the columns
compare like with like.  CPU seconds are those of the client and all workers together: what a busy
machine leaves them, or how they wait, does not count.  Workers import and load compiled code before
the clock starts, and hold the table.  Tasks and bytes are counted by the workers: bytes are what
one worker fetched from another.  The last lines are what the formulas of docs/cluster.md need:
pairs and rows per second of one core, and seconds of one task that does nothing.
"""

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from mercer import LaplacianClassifier, SparseKernelFisherDiscriminant
from mercer.sums import kernel_sum

D = 8
BLOCKS = 8
NODES = 100


def rows(n: int) -> tuple[Any, Any]:
    """Return rows and labels that workers make for themselves: 3 classes in D columns."""
    numbers = da.arange(n, chunks=n // BLOCKS)
    y = (numbers * 7919 % 3).astype(np.int8)

    def normal(block: Any) -> Any:
        rng = np.random.default_rng(int(block[0]) if len(block) else 0)
        return rng.normal(size=(len(block), D)) + (block * 7919 % 3)[:, None]

    return numbers.map_blocks(normal, new_axis=1, chunks=(numbers.chunks[0], (D,)), dtype=float), y


def cases(quick: bool) -> list[tuple[str, int, Callable[[Any, Any], Any]]]:
    scale = 4 if quick else 1

    def plain_sum(X: Any, y: Any) -> Any:
        return np.asarray(kernel_sum(X, X[:], bandwidth=1.0))

    def laplacian(X: Any, y: Any) -> Any:
        model = LaplacianClassifier(bandwidth=0.7).fit(X, y)
        return np.asarray(model.predict(X))

    def fisher(X: Any, y: Any) -> Any:
        model = SparseKernelFisherDiscriminant(
            max_nodes=NODES, gamma=0.1, alpha=1e-4, random_state=0
        ).fit(X, y)
        return np.asarray(model.predict(X[:1000]))

    return [
        ("kernel_sum", 32_000 // scale, plain_sum),
        ("kernel_sum", 64_000 // scale, plain_sum),
        ("LaplacianClassifier", 16_000 // scale, laplacian),
        ("LaplacianClassifier", 32_000 // scale, laplacian),
        ("SparseKernelFisher", 500_000 // scale, fisher),
        ("SparseKernelFisher", 2_000_000 // scale, fisher),
    ]


def counters(client: Client) -> np.ndarray:
    """Return tasks, bytes fetched and CPU seconds of all workers so far."""

    def ask(dask_worker: Any) -> tuple[float, ...]:
        fetched = sum(entry["total"] for entry in dask_worker.transfer_incoming_log)
        return dask_worker.state.executed_count, fetched, time.process_time()

    return np.array(list(client.run(ask).values())).sum(axis=0)


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return seconds by the clock, CPU seconds of this process, and the result."""
    start, cpu = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - start, time.process_time() - cpu, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a quarter of the rows")
    quick = parser.parse_args().quick
    memory: dict[tuple[str, int], tuple[float, float, Any]] = {}
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core, and one thread
    for name, n, work in cases(quick):
        X, y = (A.compute(scheduler="synchronous") for A in rows(n))
        work(X[:1000], y[:1000])  # compiles
        memory[name, n] = timed(lambda work=work, X=X, y=y: work(X, y))
    os.sched_setaffinity(0, range(os.cpu_count() or 1))

    print(f"d = {D}, {BLOCKS} blocks, one thread for each process, {os.cpu_count()} cores")
    head = f"{'':<20} {'rows':>9}  {'memory: s':>10} {'CPU s':>6}"
    for w in (1, 2):
        head += f"  {f'{w} worker(s): s':>14} {'CPU s':>6} {'tasks':>5} {'MB':>5}"
    print(head)
    lines = {
        (name, n): f"{name:<20} {n:>9,}  {seconds:10.2f} {cpu:6.2f}"
        for (name, n), (seconds, cpu, _) in memory.items()
    }
    idle = {}
    for n_workers in (1, 2):
        with (
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, memory_limit="3GiB",
                dashboard_address=":0", silence_logs=50,
            ) as cluster,
            Client(cluster) as client,
        ):  # fmt: skip
            for name, n, work in cases(quick):
                lazy, labels = (A.persist() for A in rows(n))
                part = slice(0, 2 * (n // BLOCKS))
                work(lazy[part][::50], labels[part][::50])
                before = counters(client)
                seconds, cpu, found = timed(lambda work=work, X=lazy, y=labels: work(X, y))
                tasks, fetched, theirs = counters(client) - before
                expected = memory[name, n][2]
                assert np.allclose(found, expected, rtol=1e-6), name
                lines[name, n] += (
                    f"  {seconds:14.2f} {cpu + theirs:6.2f} {int(tasks):5d} {fetched / 1e6:5.1f}"
                )
            empty = da.zeros(1000, chunks=1).map_blocks(np.copy).sum(split_every=8)
            empty.compute()
            before = counters(client)
            _, cpu, _ = timed(empty.compute)
            tasks, _, theirs = counters(client) - before
            idle[n_workers] = (cpu + theirs) / max(1, tasks)
    print("\n".join(lines.values()))

    n = cases(quick)[1][1]
    _, cpu, _ = memory["kernel_sum", n]
    print(f"\none core: {n * n / cpu:.3g} pairs a CPU second (d = {D}, float64)")
    (a, (_, s, _)), (b, (_, t, _)) = list(memory.items())[-2:]
    print(f"one core: {(b[1] - a[1]) / (t - s):.3g} rows a CPU second ({NODES} nodes)")
    for n_workers, each in idle.items():
        print(f"{n_workers} worker(s): {1e3 * each:.2f} CPU ms for a task that does nothing")


if __name__ == "__main__":
    main()
