"""Names that a package loads when they are first asked for: a command loads what it needs."""

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def names_when_asked(
    package: str, homes: Mapping[str, Iterable[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package that loads a module with its first name.

    Parameters
    ----------
    package : str
        Its full name.
    homes : dict of str to iterable of str
        Modules within the package, and the names that each of them gives.

    Returns
    -------
    get : callable
        Loads a name; an unknown one is an AttributeError.
    names : callable
        Lists all names.

    Examples
    --------
    >>> from mercer._system.lazy import names_when_asked
    >>> get, names = names_when_asked("mercer.kernels", {"_kernels": ["Kernel"]})
    >>> get("Kernel").__name__, names()
    ('Kernel', ['Kernel'])
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)  # The next one who asks finds it there.
        return value

    return get, lambda: sorted(home_of)
