"""A file that is there whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["PARTIAL", "read_at_most", "written_whole"]

PARTIAL = ".partial"


def read_at_most(stream: IO[bytes], max_bytes: int) -> bytes:
    """Read to the end, or one block beyond the bound; memory is taken for what there is."""
    blocks, n_bytes = [], 0
    while n_bytes <= max_bytes and (block := stream.read(1 << 20)):
        blocks.append(block)
        n_bytes += len(block)
    return b"".join(blocks)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give a place beside `path` to write to, which becomes `path` when all went well.

    The place is an empty file that nobody else made and whose name nobody could foresee: in a
    folder that others may write to, a link under a name they know would lead anywhere.  Its name
    also carries the number of the process and tells whose it was, if it is ever left behind.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.{os.getpid()}{PARTIAL}")
    os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
