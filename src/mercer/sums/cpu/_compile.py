"""How the CPU backend's functions are compiled: without Python's lock, and cached on disk.

Numba keeps machine code in files beside the source, or in the user's cache folder, and compares
them with the file of the function itself.  Code from our other files, inlined, would go
unnoticed, and mixing two versions of it corrupts memory.  So the name under which a function
is cached carries a digest of all files that compiled code comes from.

The sums do not depend on the cache: code that cannot be read, or is not what was written, is
compiled again, and code that cannot be written is kept in memory only.
"""

import pickle
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numba
from numba import njit
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

from mercer._system.files import written_whole

SOURCES = (
    "_compile.py",
    "_exp2.py",
    "_lattice_loops.py",
    "_left_out_loops.py",
    "_loops.py",
    "_near_loops.py",
    "_share_loops.py",
    "_simd.py",
)
_FOLDER = Path(__file__).parent
_DIGEST = sha256(b"".join((_FOLDER / name).read_bytes() for name in SOURCES)).hexdigest()[:16]
_DIGEST_BYTES = 32  # the length of a SHA-256 digest


def compiled(*freedoms):
    """Compile a function by Numba, granting LLVM these freedoms with floating-point numbers.

    Where no cache can be written, the function is compiled again in each process.
    """

    def decorate(function):
        function.__qualname__ += f"_{_DIGEST}"
        # By default Numba guards a division by a branch, and no loop with a branch is vectorised:
        # hence NumPy's error model.  A called function is always inlined.  Otherwise the process
        # that compiles would run the function's own copy, and one that loads the caller from the
        # cache the copy that LLVM adapted to the caller, which differs in the last bits.
        dispatcher = njit(
            nogil=True, error_model="numpy", fastmath=set(freedoms), forceinline=True
        )(function)
        with suppress(RuntimeError):  # Numba raises it where no folder can hold the cache.
            dispatcher._cache = _Cache(function)
        return dispatcher

    return decorate


class _Cache(FunctionCache):
    """Numba's cache of a function; faults of the disk are not errors."""

    def __init__(self, function):
        super().__init__(function)
        self._cache_file = _Files(Path(self._cache_path), self._impl.filename_base)

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # Whatever is wrong with the file, the function can be compiled again.
            return None

    def save_overload(self, sig, data):
        with suppress(OSError):  # On a full disk the code stays in memory only.
            super().save_overload(sig, data)


class _Files:
    """Machine code on disk: a file for each function, its arguments' types and the CPU.

    Numba numbers its files and keeps an index.  Two processes that start together may give one
    number to different code, and then run what was compiled for other types.  Here the name
    follows from what the code is for, and a digest over that and the code itself stands before it.
    """

    def __init__(self, folder, base):
        self._folder, self._base = folder, base

    def load(self, key):
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        digest, code = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        # Numba unpickles its cache files too; here the digest shows that the file is as written.
        return pickle.loads(code) if digest == _digest(key, code) else None  # noqa: S301

    def save(self, key, data):
        code = dumps(data)
        with written_whole(self._path(key)) as beside:
            beside.write_bytes(_digest(key, code) + code)

    def _path(self, key):
        return self._folder / f"{self._base}.{_digest(key, b'').hex()[:16]}.nbc"


def _digest(key, code):
    return sha256(f"{numba.__version__} {key!r} ".encode() + code).digest()
