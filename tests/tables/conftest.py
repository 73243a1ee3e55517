from collections.abc import Callable
from pathlib import Path

import pytest

Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Write a file of the given text or bytes and return its path."""

    def write(content: str | bytes, name: str = "people.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
