"""Locks that are free in a child process, where the threads that held them do not exist."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any


class Lock:
    """A re-entrant lock. After a fork it is free in the child, unless the thread that forked holds it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        if len(_locks) > 64 and len(_locks) & (len(_locks) - 1) == 0:  # a power of two, so that it happens seldom
            _locks.difference_update([ref for ref in list(_locks) if ref() is None])
        _locks.add(weakref.ref(self))

    def acquire(self, blocking: bool = True) -> bool:
        return self._lock.acquire(blocking)

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: Any) -> None:
        self._lock.release()


# The references have no callbacks: Python would drop an exception that a signal handler raises in one.
_locks: set[weakref.ref[Lock]] = set()


def _renew() -> None:
    for ref in list(_locks):
        lock = ref()
        if lock is None:
            continue
        if lock._lock.acquire(blocking=False):
            lock._lock.release()
        else:
            lock._lock = threading.RLock()  # the thread that holds it exists only in the parent


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)

__all__ = ["Lock"]
