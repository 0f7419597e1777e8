"""Pullbacks of recordings as machine code, for tapes that ask for it.

A recording met again finds its pullback in the trie, see `pullback`. With ``backend="native"`` its first run makes
machine code of it, which takes its place for tapes with this backend. With ``backend="auto"`` its runs are timed, in
all tapes with this backend together, and machine code is made in another thread once they have taken a second (see
`api.auto`). So a structure that is met once never costs a compilation.

Machine code takes what the NumPy code takes: the values of the slots that the pullback needs, and the seeds. Where it
bails, the NumPy code computes the result.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..api import auto
from ..api.cache import keep_machine_code
from ..codegen.load import load
from ..errors import AutodiffError
from ..ir.rewrite import clone_function

if TYPE_CHECKING:
    from .pullback import Pullback

LOG = logging.getLogger("autodiff_compiler")
NAME = "pullback"


class Machine:
    """The machine code of a pullback.

    run:    what a tape with ``backend="native"`` calls: NumPy code, if there is no machine code
    source: the text of its module
    why:    why there is no machine code, or None
    """

    def __init__(self, pull: Pullback):
        from ..api.compiler import emit_native

        function, _ = clone_function(pull.function)
        emitted = emit_native(function, NAME, recorded=True)
        self.source = emitted.source
        self.why: str | None = None
        if "\n@Native\n" not in self.source:
            (reason,) = [line for line in emitted.lines if line.startswith("# no machine code")]
            self.why = reason.partition(": ")[2]
            self.run = pull.run
            return
        keep_machine_code()
        self.run = load(self.source, emitted.name, emitted.objects)


def native(pull: Pullback) -> Machine:
    """The machine code of a pullback, which is made at the first call."""
    found = pull.machine
    if found is None:
        with pull.lock:
            found = pull.machine
            if found is None:
                found = pull.machine = Machine(pull)
                if found.why is not None:
                    LOG.warning("the pullback of a tape is NumPy code: %s", found.why)
    return found


class Clock:
    """Runs a pullback, and times it until machine code has been made of it.

    spent, calls: seconds in all, and how often
    done:         is set when machine code has taken over, or will not
    """

    def __init__(self, pull: Pullback):
        self.pull = pull
        self.spent, self.calls = 0.0, 0
        self.started = False
        self.done = threading.Event()
        self.run: Callable[..., Any] = self.timed

    def timed(self, *args: Any) -> Any:
        start = perf_counter()
        out = self.pull.run(*args)
        self.spent += perf_counter() - start
        self.calls += 1
        if self.spent >= auto.SPENT and self.calls >= auto.CALLS and not self.started:
            with self.pull.lock:
                begins, self.started = not self.started, True
            if begins:
                self.begin(args)
        return out

    def begin(self, args: tuple[Any, ...]) -> None:
        """Compile machine code in another thread."""
        self.run = self.pull.run
        try:
            made = Machine(self.pull)
        except AutodiffError as error:
            LOG.debug("a pullback stays NumPy code: %s", error)
            self.done.set()
            return
        if made.why is not None:
            self.done.set()
            return
        work = (made, [auto.copied(x) for x in args], self.spent, self.calls)
        threading.Thread(target=self.compile, args=work, name=auto.NAME, daemon=True).start()

    def compile(self, made: Machine, leaves: list[Any], spent: float, calls: int) -> None:
        if auto.is_faster("the pullback of a tape", made.run, leaves, spent, calls):
            self.pull.machine, self.run = made, made.run
        self.done.set()


def runner(pull: Pullback, backend: str) -> Callable[..., Any]:
    """What a tape with this backend calls."""
    if backend == "numpy":
        return pull.run
    if backend == "native":
        return native(pull).run
    clock = pull.clock
    if clock is None:
        with pull.lock:
            clock = pull.clock = pull.clock or Clock(pull)
    return clock.run


def source_of(pull: Pullback, backend: str) -> str | None:
    """The text of the machine code that a tape with this backend runs, if it does."""
    found = pull.machine
    if backend == "numpy" or found is None or found.why is not None:
        return None
    return found.source if backend == "native" or (pull.clock is not None and pull.clock.run is found.run) else None


__all__ = ["Clock", "Machine", "native", "runner", "source_of"]
