"""Locks that are free in a child process, where the threads that held them do not exist."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

# A lock of C code: where an exception is thrown into a thread, ``with`` has the lock and the block, or neither. A
# method `__enter__` in Python could end between the two, and the lock would never be free again.
_Base: Any = type(threading.RLock())


class Lock(_Base):  # type: ignore[misc]
    """A re-entrant lock. After a fork it is free in the child, unless the thread that forked holds it."""

    def __init__(self) -> None:
        if len(_locks) > 64 and len(_locks) & (len(_locks) - 1) == 0:  # a power of two, so that it happens seldom
            _locks.difference_update([ref for ref in list(_locks) if ref() is None])
        _locks.add(weakref.ref(self))


# The references have no callbacks: Python would drop an exception that a signal handler raises in one.
_locks: set[weakref.ref[Any]] = set()


def _renew() -> None:
    for ref in list(_locks):
        lock = ref()
        if lock is not None and not lock._is_owned():
            lock._at_fork_reinit()  # the thread that holds it exists only in the parent


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)

__all__ = ["Lock"]
