"""Runs work on a large stack, for code that nests deeply, such as a chain of a thousand ``elif``.

Work that overflows the stack of the calling thread starts again in a thread with a large stack. Nearly all programs are
short, and they are compiled in the calling thread.
"""

from __future__ import annotations

import contextvars
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

STACK = 1 << 29  # bytes; the system provides memory only as the stack grows
FRAMES = 60_000  # nested calls


class Stopped(BaseException):
    """The caller no longer waits for the result."""


class _Here(threading.local):
    """The state of a thread. `stop` is None unless its stack is large. It is set when the work is no longer wanted."""

    stop: threading.Event | None = None


_here = _Here()
_lock = threading.Lock()
_running = 0
_usual = 0  # the recursion limit of the program


def is_deep() -> bool:
    """This thread has the large stack."""
    return _here.stop is not None


def check() -> None:
    """Raise `Stopped` if the work is no longer wanted. Long work calls this from time to time."""
    if _here.stop is not None and _here.stop.is_set():
        raise Stopped


def run(work: Callable[[], Any]) -> Any:
    """The result of ``work()``, run on the large stack. An exception of a signal handler ends the wait and the work."""
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
    """Restore the recursion limit in a child process, where only the forking thread exists."""
    global _lock, _running
    _lock = threading.Lock()
    if _running and not is_deep():
        _running = 0
        sys.setrecursionlimit(_usual)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


__all__ = ["Stopped", "check", "is_deep", "run"]
