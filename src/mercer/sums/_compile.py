"""How the CPU backend's functions are compiled: without Python's lock, and cached on disk.

Numba keeps machine code in files beside the source, or in the user's cache folder, and compares
them with the file of the function itself.  Code from our other files, inlined, would go
unnoticed, and mixing two versions of it corrupts memory.  So the name under which a function
is cached carries a digest of all files that compiled code comes from.
"""

from hashlib import sha256
from pathlib import Path

from numba import njit

SOURCES = (
    "_compile.py",
    "_exp2.py",
    "_left_out_loops.py",
    "_loops.py",
    "_simd.py",
    "_tiles.py",
)
_FOLDER = Path(__file__).parent
_DIGEST = sha256(b"".join((_FOLDER / name).read_bytes() for name in SOURCES)).hexdigest()[:16]


def compiled(*freedoms):
    """Compile a function by Numba, granting LLVM these freedoms with floating-point numbers.

    Where no cache can be written, the function is compiled anew in each process.
    """

    def decorate(function):
        function.__qualname__ += f"_{_DIGEST}"
        # By default a division is guarded by a branch, and no loop with one is vectorised.
        options = {"nogil": True, "error_model": "numpy", "fastmath": set(freedoms)}
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # Numba's word for: no folder to cache in
            return njit(**options)(function)

    return decorate
