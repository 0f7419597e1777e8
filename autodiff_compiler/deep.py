"""A stack large enough for code that nests deeply: chains of a thousand ``elif``, each in the ``else`` before it.

What does not fit into the stack of the calling thread is done again in a thread with a large one. So short programs,
which are nearly all, are compiled in the thread of the caller.
"""

from __future__ import annotations

import contextvars
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

STACK = 1 << 29  # bytes; memory is taken only as far as the stack grows
FRAMES = 60_000  # calls within each other


class Stopped(BaseException):
    """The caller does not wait for the result any more."""


class _Here(threading.local):
    """Of the thread: set when its work is no longer wanted, if its stack is a large one."""

    stop: threading.Event | None = None


_here = _Here()
_lock = threading.Lock()
_running = 0
_usual = 0  # the recursion limit that holds while nothing runs here


def is_deep() -> bool:
    """The code that runs here has the large stack."""
    return _here.stop is not None


def check() -> None:
    """Called now and then by what runs long."""
    if _here.stop is not None and _here.stop.is_set():
        raise Stopped


def run(work: Callable[[], Any]) -> Any:
    """The result of ``work()``, with the large stack; a signal handler's exception ends the wait and the work."""
    stop, done = threading.Event(), threading.Event()
    outcome: list[Any] = [None, None]
    context = contextvars.copy_context()

    def target() -> None:
        _here.stop = stop
        try:
            outcome[0] = context.run(work)
        except BaseException as error:
            outcome[1] = error
        finally:
            _here.stop = None
            done.set()

    _start(threading.Thread(target=target, name="autodiff_compiler", daemon=True))
    try:
        done.wait()
    except BaseException:
        stop.set()
        done.wait()
        raise
    finally:
        _end()
    if outcome[1] is not None:
        try:
            raise outcome[1]
        finally:
            outcome.clear()
    return outcome[0]


def _start(thread: threading.Thread) -> None:
    global _running, _usual
    with _lock:
        if not _running:
            _usual = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_usual, FRAMES))
        _running += 1
        before = threading.stack_size()
        try:
            threading.stack_size(STACK)
            thread.start()
        except BaseException as error:
            _finished()
            if isinstance(error, (RuntimeError, ValueError, MemoryError)):
                raise RecursionError("no memory for a larger stack") from None
            raise
        finally:
            threading.stack_size(before)


def _end() -> None:
    with _lock:
        _finished()


def _finished() -> None:
    global _running
    _running -= 1
    if not _running and sys.getrecursionlimit() == max(_usual, FRAMES):
        sys.setrecursionlimit(_usual)


def _in_child() -> None:
    """After a fork only the forking thread is there."""
    global _lock, _running
    _lock = threading.Lock()
    if _running and not is_deep():
        _running = 0
        sys.setrecursionlimit(_usual)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


__all__ = ["Stopped", "check", "is_deep", "run"]
