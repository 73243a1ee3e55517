from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mercer.datasets import DatasetInfo, list_datasets, load_dataset
from mercer.datasets._places import read_npz

Save = Callable[..., DatasetInfo]
Members = dict[str, np.ndarray]


@pytest.fixture
def saved(info: DatasetInfo, arrays: Members, save: Save) -> DatasetInfo:
    return save(info, **arrays)


def test_folder_argument_is_read(saved: DatasetInfo, arrays: Members, tmp_path: Path) -> None:
    dataset = load_dataset("made", folder=tmp_path)
    np.testing.assert_array_equal(dataset.X, arrays["X"])
    np.testing.assert_array_equal(dataset.y, arrays["y"])
    assert dataset.info == saved
    assert repr(dataset) == "<Dataset made: 6×2, 3 classes>"


@pytest.mark.usefixtures("saved")
def test_environment_variable_names_the_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    assert load_dataset("made").X.shape == (6, 2)
    monkeypatch.setenv("MERCER_DATA", str(tmp_path / "gone"))
    assert load_dataset("made", folder=tmp_path).X.shape == (6, 2)


@pytest.mark.usefixtures("saved")
def test_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load_dataset("made", folder="~").X.shape == (6, 2)


@pytest.mark.parametrize("function", [lambda: load_dataset("pima"), list_datasets])
def test_mercer_data_must_be_a_folder(
    function: Callable[[], object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "data"
    monkeypatch.setenv("MERCER_DATA", str(path))
    with pytest.raises(FileNotFoundError, match=f"^MERCER_DATA is {path}, and there is no such"):
        function()
    path.touch()
    with pytest.raises(NotADirectoryError, match=f"^MERCER_DATA is {path}, a file: "):
        function()


@pytest.mark.parametrize("name", ["pima", "iris"])
def test_folder_argument_must_be_a_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"^folder is .*gone, and there is no such folder"):
        load_dataset(name, folder=tmp_path / "gone")


@pytest.mark.usefixtures("saved")
def test_changed_file_is_refused_before_it_is_opened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "made.npz"
    path.write_bytes(path.read_bytes()[:-30])
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("the file was opened"))
    with pytest.raises(ValueError, match=f"^File {path} is damaged, incomplete or another version"):
        load_dataset("made", folder=tmp_path)


def test_registered_file_of_other_contents_is_refused(
    saved: DatasetInfo, register: Callable[[DatasetInfo], DatasetInfo], tmp_path: Path
) -> None:
    register(replace(saved, content_sha256="0" * 64))
    with pytest.raises(ValueError, match=r"made\.npz does not hold the registered data set 'made'"):
        load_dataset("made", folder=tmp_path)


@pytest.mark.parametrize("keep", [0, 40, -30])
@pytest.mark.usefixtures("saved")
def test_part_of_an_archive_is_named(keep: int, tmp_path: Path) -> None:
    path = tmp_path / "made.npz"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(
        ValueError, match=f"^File {path} is not an .npz archive, or only a part of one"
    ):
        read_npz(path, sha256=None)


@pytest.mark.usefixtures("saved")
def test_damage_inside_an_archive_is_named(tmp_path: Path) -> None:
    path = tmp_path / "made.npz"
    content = bytearray(path.read_bytes())
    content[60:80] = bytes(20)  # within the compressed X; the zip directory stays whole
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"^File {path} cannot be read as plain arrays: "):
        read_npz(path, sha256=None)


@pytest.mark.parametrize(
    ("place", "value"), [(8, 1), (8, 32), (8, 64), (6, 109), (10, 12), (10, 14), (10, 99)]
)
@pytest.mark.usefixtures("saved")
def test_a_directory_that_lies_is_damage(place: int, value: int, tmp_path: Path) -> None:
    """Encrypted, patched, of a later version, compressed otherwise: says one changed byte."""
    path = tmp_path / "made.npz"
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + place] = value
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"^File {path} cannot be read as plain arrays: "):
        read_npz(path, sha256=None)


class Trap:
    """Unpickling it fails the test."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return pytest.fail, ("the file was unpickled",)


def test_object_array_is_refused_and_never_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "made.npz"
    np.savez(path, X=np.array([[Trap()]], dtype=object), y=np.zeros(1, dtype=int))
    with pytest.raises(
        ValueError, match=f"^File {path} cannot be read as plain arrays: .* objects"
    ):
        read_npz(path, sha256=None)


def test_archive_without_y_is_named(tmp_path: Path) -> None:
    path = tmp_path / "made.npz"
    np.savez(path, X=np.zeros((2, 2)))
    with pytest.raises(ValueError, match=f"^File {path} has no arrays X and y"):
        read_npz(path, sha256=None)


@pytest.mark.usefixtures("saved")
def test_unreadable_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def deny(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", deny)  # chmod does not stop root
    path = tmp_path / "made.npz"
    with pytest.raises(PermissionError, match=f"^File {path} cannot be read: Permission denied.$"):
        load_dataset("made", folder=tmp_path)


@pytest.mark.parametrize(
    ("stored", "loaded"),
    [(np.uint8, np.float64), (np.float32, np.float32), (">f8", np.float64), (np.int16, np.float64)],
)
def test_features_are_float64_unless_stored_as_float32(
    stored: object, loaded: type, info: DatasetInfo, save: Save, tmp_path: Path
) -> None:
    X = np.asfortranarray(np.arange(12).reshape(6, 2).astype(stored))
    save(info, X=X, y=np.array([0, 1, 2, 0, 1, 2], dtype=np.int16))
    dataset = load_dataset("made", folder=tmp_path)
    assert dataset.X.dtype == loaded
    assert dataset.X.dtype.isnative
    assert dataset.X.flags.c_contiguous
    assert dataset.y.dtype == np.int64
    np.testing.assert_array_equal(dataset.X, X)


def test_images_are_flat_and_can_be_given_back(
    info: DatasetInfo, save: Save, tmp_path: Path
) -> None:
    images = np.arange(72, dtype=np.uint8).reshape(6, 4, 3)
    save(replace(info, columns=12, image_shape=(4, 3)), X=images, y=np.array([0, 1, 2, 0, 1, 2]))
    dataset = load_dataset("made", folder=tmp_path)
    assert dataset.X.shape == (6, 12)
    np.testing.assert_array_equal(dataset.X.reshape(-1, *dataset.image_shape), images)


def test_stored_partitions_are_kept(
    info: DatasetInfo, arrays: Members, save: Save, tmp_path: Path
) -> None:
    train = np.array([[0, 1, 2, 3], [1, 2, 4, 5]], dtype=np.int16)
    test = np.array([[4, 5], [0, 3]], dtype=np.int16)
    original = np.array([True, False])
    save(info, **arrays, train_idx=train, test_idx=test, is_original=original)
    dataset = load_dataset("made", folder=tmp_path)
    assert dataset.train_idx.dtype == dataset.test_idx.dtype == np.intp
    np.testing.assert_array_equal(dataset.train_idx, train)
    np.testing.assert_array_equal(dataset.test_idx, test)
    np.testing.assert_array_equal(dataset.is_original, original)
    assert repr(dataset) == "<Dataset made: 6×2, 3 classes, 2 partitions>"


def test_registered_training_part_becomes_the_one_partition(
    info: DatasetInfo, arrays: Members, save: Save, tmp_path: Path
) -> None:
    save(replace(info, n_train=4), **arrays)
    dataset = load_dataset("made", folder=tmp_path)
    assert dataset.train_idx.tolist() == [[0, 1, 2, 3]]
    assert dataset.test_idx.tolist() == [[4, 5]]
    assert dataset.is_original.tolist() == [True]
