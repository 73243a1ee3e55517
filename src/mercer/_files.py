"""A file that is there whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["PARTIAL", "written_whole"]

PARTIAL = ".partial"


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give a place beside `path` to write to, which becomes `path` when all went well.

    What is written may be of any kind.  Its name carries the number of the process, so that two
    of them never write to the same place, and tells whose it was if it is ever left behind.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}{PARTIAL}")
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
