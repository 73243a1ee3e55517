"""The ``mercer`` command: one thin file for each of its commands.

>>> from mercer.cli import main
>>> main(["--version"])  # doctest: +ELLIPSIS
mercer ...
0
"""

from mercer.cli._app import main

__all__ = ["main"]
