"""One real cluster: two workers, each a process of its own with one thread."""

import logging
import warnings

import pytest

from lazy import MEMORY_LIMIT


@pytest.fixture(scope="session")
def cluster():
    distributed = pytest.importorskip("distributed")
    logging.getLogger("distributed").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sockets and loops of others
        local = distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=MEMORY_LIMIT,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        )
        yield local
        local.close(timeout=5)


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster, timeout=20) as one:
        yield one
