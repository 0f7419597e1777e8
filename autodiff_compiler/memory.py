"""Memory that is freed stays with the process: the next call of a gradient need not have the system map it again.

A gradient allocates, in each call, what its forward sweep saves, and frees it. Where glibc gives such memory back to
the system, each call waits for it page by page: for the logistic map of `benchmarks.by_hand` that is two thirds of its
time. glibc keeps what is freed up to a bound. It raises the bound, to 32 MB at most, when a program frees a block that
was larger (mallopt(3), M_MMAP_THRESHOLD, and M_TRIM_THRESHOLD, which follows it). Many programs do that some time.
"""

from __future__ import annotations

import functools
import os

from .pristine import np

VARIABLE = "AUTODIFF_COMPILER_MEMORY"
_LARGEST = (32 << 20) - (64 << 10)  # bytes; with the allocator's own, less than the largest bound


@functools.cache
def keep_freed_memory() -> bool:
    """Have glibc keep up to 64 MB that are freed, and tell whether that was asked of it.

    One block is allocated and freed, whose pages are never touched. It does nothing with another C library, or where
    the environment sets glibc's bounds (``MALLOC_TRIM_THRESHOLD_``).

    >>> keep_freed_memory()
    True
    """
    if os.environ.get(VARIABLE, "").strip().lower() == "system":
        return False
    np.empty(_LARGEST, np.uint8)
    return True


__all__ = ["VARIABLE", "keep_freed_memory"]
