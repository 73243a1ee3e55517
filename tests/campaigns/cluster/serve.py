"""A cluster of two workers, each a process with one thread, until standard input ends."""

import logging
import sys


def main(memory_limit: int) -> None:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        memory_limit=memory_limit,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(int(sys.argv[1]))
