"""When the cyclic garbage collector of Python runs."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """A context without the cyclic garbage collector.

    It would traverse the growing IR again and again. That takes half of the time of a long compilation and frees
    nothing, since the IR is in use.
    """
    enabled, token = gc.isenabled(), object()
    try:
        if enabled:
            _pausing.add(token)
            gc.disable()
        yield
    finally:
        if enabled:
            _pausing.discard(token)
            gc.enable()


_pausing: set[object] = set()  # the compilations for which the collector is off


def _resume_collector() -> None:
    """Turn the collector on in a child process, where the threads that were compiling do not exist."""
    if _pausing:
        _pausing.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_resume_collector)


def make_old() -> None:
    """Let all objects there are count as old, as if they had outlived many runs of the collector.

    The modules of the compiler have tens of thousands, which live as long as the process. Its next run would look at
    each of them, for a tenth of the time of a first gradient.
    """
    if not gc.get_freeze_count():  # else the program has frozen its own, and they would not stay so
        gc.freeze()
        gc.unfreeze()


__all__ = ["collector_paused", "make_old"]
