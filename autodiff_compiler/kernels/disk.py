"""Snapshots of arrays in files.

A file has no name (on Windows, it is deleted with its last handle). So nothing is left behind, however the process
ends, and a process that is forked has nothing to clean up. What is read are parts of a `numpy.memmap`. What is written
goes through the file, so that a full disk is an error, and not a signal.
"""

from __future__ import annotations

import os
import weakref
from typing import Any

import numpy as np

SMALL = 4096  # bytes below which an array stays in memory: a place in a file takes a page, and Python's objects for it
MOST = 1 << 32  # bytes of one file, if one array is not larger


class SnapshotFile:
    """Places for arrays in files. See `snapshot_file`.

    A place is free again when nothing refers to the array in it. Files are twice as long each time, so they are few.
    """

    def __init__(self, on_disk: int, in_memory: int, directory: str | None):
        self.on_disk, self.in_memory, self.directory = on_disk, in_memory, directory
        self.free: dict[int, list[tuple[Any, Any, int]]] = {}
        self.made: dict[int, int] = {}  # how many places of a size there are
        self.held = 0  # arrays in memory
        self.watched: dict[int, weakref.ref[Any]] = {}

    def copy(self, x: Any, depth: int) -> Any:
        """A copy of `x`, in memory if `depth` other copies lie below it, and there is room."""
        if depth >= self.on_disk and self.held < self.in_memory:
            made = x.copy()
            self.held += 1
            self.watch(made, self.let_go)
            return made
        size = -(-x.nbytes // 64) * 64
        try:
            file, mapped, at = place = self.place(size)
            made = np.ndarray(x.shape, x.dtype, mapped, at)
            if os.name == "nt":  # where a file has its room as soon as it is long, and the two ways may not agree
                made[...] = x
            else:
                file.seek(at)
                left = np.ascontiguousarray(x).reshape(-1).view(np.uint8).data
                while left:
                    left = left[file.write(left) :]
        except OSError as error:
            import tempfile

            where = tempfile.gettempdir() if self.directory is None else self.directory
            error.strerror = (
                f"a snapshot of {x.nbytes} bytes cannot be written to {where!r} ({error.strerror}); give checkpointed "
                "another directory=, or less disk="
            )
            raise
        self.watch(made, lambda: self.free[size].append(place))
        return made

    def place(self, size: int) -> tuple[Any, Any, int]:
        free = self.free.setdefault(size, [])
        if not free:
            count = max(1, min(self.made.get(size, 1), MOST // size))
            import tempfile  # four milliseconds, which few programs need

            # It is closed when the last array in it is gone.
            file: Any = tempfile.TemporaryFile(buffering=0, dir=self.directory)  # noqa: SIM115
            file.truncate(count * size)
            mapped = np.memmap(file, np.uint8, "r+", shape=(count * size,))
            self.made[size] = self.made.get(size, 0) + count
            free += [(file, mapped, at) for at in reversed(range(0, count * size, size))]
        return free.pop()

    def watch(self, x: Any, then: Any) -> None:
        """Call a function when `x` is gone."""

        def gone(ref: Any) -> None:
            del self.watched[id(ref)]
            then()

        ref = weakref.ref(x, gone)
        self.watched[id(ref)] = ref

    def let_go(self) -> None:
        self.held -= 1


def snapshot_file(on_disk: int, in_memory: int, directory: str | None) -> SnapshotFile:
    """Where snapshots are written to: the first `on_disk` that there are at a time, and those for which the memory, of
    `in_memory` arrays, is full."""
    if on_disk < 1:
        raise ValueError(f"checkpointed needs at least one snapshot on disk, not {on_disk}")
    return SnapshotFile(on_disk, in_memory, directory)


__all__ = ["SMALL", "SnapshotFile", "snapshot_file"]
