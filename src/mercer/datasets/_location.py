"""Where a data set was found, and how to read it from there."""

from collections.abc import Callable
from dataclasses import dataclass

from mercer.datasets._arrays import Arrays

__all__ = ["Location"]


@dataclass(frozen=True, kw_only=True)
class Location:
    """One reachable copy of a data set.

    Parameters
    ----------
    where : str
        The kind of place, as :func:`list_datasets` shows it.
    origin : str
        The place itself, as the subject of an error message.
    read : callable
        Returns the arrays; nothing has been read before it is called.
    needs_network : bool
        Whether ``read`` goes to the network.
    """

    where: str
    origin: str
    read: Callable[[], Arrays]
    needs_network: bool = False
