"""Files that are there whole or not at all, whatever happens to the process that writes them."""

import glob
import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

_CAN_LOCK = os.name == "posix"  # elsewhere nothing is locked and nothing swept
if _CAN_LOCK:
    import fcntl

PARTIAL = ".partial"


def shown_path(path: str | os.PathLike[str]) -> str:
    """Return a path as sentences show it; a name with odd characters is spelled out."""
    text = os.fspath(path)
    return text if text.isprintable() and text.strip() else repr(text)


def read_at_most(stream: IO[bytes], max_bytes: int) -> bytes:
    """Read to the end, or one block beyond the bound; memory is taken for what there is."""
    blocks, n_bytes = [], 0
    while n_bytes <= max_bytes and (block := stream.read(1 << 20)):
        blocks.append(block)
        n_bytes += len(block)
    return b"".join(blocks)


@contextmanager
def written_whole(path: Path, shown: str | None = None) -> Iterator[Path]:
    """Give a place beside `path` to write a file to, which becomes `path` when all went well.

    It is a new file under a name that nobody can foresee: in a folder that others may write to, a
    link under a name they know would lead anywhere.  It is locked while it is unfinished, so that
    :func:`sweep` can tell what a process that was killed left behind, and its content is on the
    disk before it gets its name.  If that fails, the OSError names the file (as `shown`), and
    nothing is left behind.
    """
    beside = _beside(path)
    try:
        try:
            with _locked(beside, os.O_CREAT | os.O_EXCL | os.O_RDWR):
                yield beside
                with open(beside, "rb+") as stream:
                    os.fsync(stream.fileno())
                os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise _cannot_write(shown or str(path), error) from error


def make_folder(path: Path) -> None:
    """Make a folder, and those that it is in, where they are not there yet."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_write(f"Folder {path}", error) from error


@contextmanager
def moved_in_whole(
    folder: Path,
    last: str,
    outdated: Collection[str] = (),
    still_wanted: Callable[[], bool] = lambda: True,
) -> Iterator[Path]:
    """Give a place to write files to, which are moved into `folder` together at the end.

    `last` is the file that says that all others are there: it goes first and comes last.
    `outdated` files go too.  Just before, while no other process writes there, `still_wanted` is
    asked: if it says no, nothing is moved.  If anything fails, the folder is as it was; should the
    disk refuse even the way back, the error says where the older files are, until the next run.
    """
    is_new = not folder.exists()
    make_folder(folder)
    place = _beside(folder / "results")
    new, old = place / "new", place / "old"
    try:
        place.mkdir()
        with _locked(place, os.O_RDONLY):
            new.mkdir()
            old.mkdir()
            yield new
            names = sorted((file.name for file in new.iterdir()), key=lambda name: name == last)
            with one_at_a_time(folder):
                if still_wanted():
                    _exchange(folder, new, old, names, outdated)
    except BaseException as error:
        if old.is_dir() and any(old.iterdir()):
            raise OSError(f"{error}; the older files are in {old}") from None
        shutil.rmtree(place, ignore_errors=True)
        if is_new:
            with suppress(OSError):  # somebody else writes there too
                folder.rmdir()
        raise
    shutil.rmtree(place, ignore_errors=True)


def _exchange(
    folder: Path, new: Path, old: Path, names: list[str], outdated: Collection[str]
) -> None:
    """Move files out of the folder and the new ones in, or none at all."""
    placed = []
    try:
        for name in [*reversed(names), *outdated]:
            with suppress(FileNotFoundError):
                os.replace(folder / name, old / name)
        for name in names:
            os.replace(new / name, folder / name)
            placed.append(name)
    except BaseException:
        with suppress(OSError):
            for name in placed:
                (folder / name).unlink()
            for file in sorted(old.iterdir(), key=lambda file: file.name == names[-1]):
                os.replace(file, folder / file.name)
        raise


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Wait until no other process is in such a block for the same folder."""
    with _locked(folder, os.O_RDONLY, wait=True):
        yield


@contextmanager
def held_alone(folder: Path) -> Iterator[bool]:
    """Hold a folder until the end; gives False where another process holds it."""
    with ExitStack() as stack:
        try:
            stack.enter_context(_locked(folder, os.O_RDONLY, must=True))
        except BlockingIOError:
            yield False
            return
        except OSError:  # there are no locks here
            yield True
            return
        yield True


def sweep(folder: Path, name: str | None = None) -> None:
    """Remove what killed processes left unfinished: of the file `name`, or everywhere below."""
    if not _CAN_LOCK:
        return
    end = f".{'[0-9a-f]' * 8}{PARTIAL}"
    found = folder.rglob(f".*{end}") if name is None else folder.glob(f".{glob.escape(name)}{end}")
    for partial in list(found):
        with suppress(OSError), _locked(partial, os.O_RDONLY, must=True):
            shutil.rmtree(partial) if partial.is_dir() else partial.unlink()


def _cannot_write(name: str, error: OSError) -> OSError:
    """Return the error whose sentence says which file cannot be written, and what may help."""
    remedy = "free some space or choose another place"
    if isinstance(error, PermissionError):
        remedy = "choose a folder in which you may write"
    elif isinstance(error, FileNotFoundError | NotADirectoryError):
        remedy = "make the folder first"
    return type(error)(f"{name} cannot be written ({error.strerror or error}): {remedy}.")


def _beside(path: Path) -> Path:
    """Return a hidden name that nobody else has, not in another container either."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}{PARTIAL}")


@contextmanager
def _locked(path: Path, flags: int, *, wait: bool = False, must: bool = False) -> Iterator[None]:
    """Hold the lock of a file or folder; where there are no locks, go on unless one `must` be."""
    if not _CAN_LOCK:
        yield
        return
    descriptor = os.open(path, flags, 0o666)
    try:
        with suppress(*(() if must else (OSError,))):
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(descriptor)
