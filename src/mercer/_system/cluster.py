"""A Dask cluster that runs whole jobs: connected to, checked, and left as it was."""

import os
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from mercer._system.environment import versions
from mercer._system.extras import how_to_install

__all__ = ["connected", "n_threads", "require_on_workers"]

_SECONDS = 8  # until a scheduler that does not answer is given up


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to the scheduler at this address; refuse a cluster whose results would differ.

    Raises
    ------
    ValueError
        If Dask is not installed, nobody answers, no worker is there, or the packages that results
        depend on are not the same there.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ValueError(
            f"A scheduler needs Dask, which is not installed: {how_to_install('dask')}."
        ) from None
    try:
        _knock(address)
        client = Client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"No Dask scheduler answers at {address!r} ({error}): give an address such as "
            "tcp://10.0.0.1:8786, which dask scheduler prints when it starts."
        ) from None
    try:
        if not client.nthreads():
            raise ValueError(
                f"The scheduler at {address!r} has no workers: start some with "
                f"dask worker {address}."
            )
        _require_same_versions(client)
        yield client
    finally:
        client.close(timeout=2)


def _knock(address: str) -> None:
    """Raise OSError or ValueError where nobody listens: a client would go on trying."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    if parts.hostname is None or parts.port is None:
        raise ValueError("it has no host and port")
    socket.create_connection((parts.hostname, parts.port), timeout=_SECONDS).close()


def n_threads(client: Any) -> int:
    """Return how many tasks run at the same time."""
    return int(sum(client.nthreads().values()))


def require_on_workers(client: Any, paths: Iterable[str], option: str) -> None:
    """Refuse paths that a worker does not have."""
    for path in paths:
        for worker, is_there in _on_workers(client, partial(os.path.exists, path)):
            if not is_there:
                raise ValueError(
                    f"{path} ({option}) is not on the worker {worker}: put it at the same place "
                    "on all machines, or on a disk that they share."
                )


def _require_same_versions(client: Any) -> None:
    def ask() -> dict[str, str] | None:  # sent as code: Mercer may not be there
        try:
            from mercer._system.environment import versions
        except ImportError:
            return None
        return versions()

    here = versions()
    for worker, there in _on_workers(client, ask):
        if there is None:
            raise ValueError(f"Mercer is not installed on the worker {worker}.")
        for name, version in here.items():
            if there.get(name) != version:
                raise ValueError(
                    f"{name} is {there.get(name)} on the worker {worker} and {version} here: "
                    "results would depend on where they were computed; install the same version."
                )


def _on_workers(client: Any, question: Callable[[], Any]) -> list[tuple[str, Any]]:
    return sorted(client.run(question).items())
