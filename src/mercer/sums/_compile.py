"""How the CPU backend's functions are compiled: without Python's lock, and cached on disk."""

from numba import njit


def compiled(*freedoms):
    """Compile a function by Numba, granting LLVM these freedoms with floating-point numbers.

    The machine code is cached beside the source, or in the user's cache folder; where neither
    can be written it is compiled anew in each process.  Numba compares the cache with
    the function's own file only: after editing a file from which compiled functions of another
    file are called, touch that other file.
    """

    def decorate(function):
        options = {"nogil": True, "fastmath": set(freedoms)}
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # Numba's word for: no folder to cache in
            return njit(**options)(function)

    return decorate
