"""Every test here sees an empty home, no MERCER_DATA unless it is marked `data`, no network."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import sklearn.datasets

from mercer.datasets import DatasetInfo, _load, _registry
from mercer.datasets._dataset import content_sha256

Register = Callable[[DatasetInfo], DatasetInfo]


@pytest.fixture(autouse=True)
def isolation(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(**_: Any) -> None:
        pytest.fail("the network was asked")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    if request.node.get_closest_marker("data") is None:
        monkeypatch.delenv("MERCER_DATA", raising=False)


@pytest.fixture
def arrays() -> dict[str, np.ndarray]:
    """Six rows of two exact decimals, three classes."""
    X = np.array([[0.5, -1], [1.25, 2], [0, 3], [7, 7.75], [0.125, 1], [2, 2]])
    return {"X": X, "y": np.array([0, 1, 2, 2, 1, 0])}


@pytest.fixture
def info(arrays: dict[str, np.ndarray]) -> DatasetInfo:
    """An entry for ``arrays``, which no place holds yet."""
    return DatasetInfo(
        name="made",
        description="Made for a test.",
        rows=6,
        columns=2,
        target_names=("a", "b", "c"),
        licence="none",
        source="this test",
        sha256="0" * 64,
        content_sha256=content_sha256(arrays["X"], arrays["y"]),
    )


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Register]:
    """A function that makes an entry the only one in the registry."""

    def register_only(info: DatasetInfo) -> DatasetInfo:
        for module in (_registry, _load):
            monkeypatch.setattr(module, "registry", lambda: MappingProxyType({info.name: info}))
        return info

    return register_only


@pytest.fixture
def save(register: Register, tmp_path: Path) -> Callable[..., DatasetInfo]:
    """A function that writes ``made.npz`` into tmp_path and registers its checksums."""

    def save_and_register(info: DatasetInfo, **members: np.ndarray) -> DatasetInfo:
        path = tmp_path / f"{info.name}.npz"
        np.savez_compressed(path, **members)
        return register(
            replace(
                info,
                sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
                content_sha256=content_sha256(members["X"], members["y"]),
            )
        )

    return save_and_register
