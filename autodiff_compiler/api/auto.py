"""``backend="auto"``: NumPy code at first, and machine code once that has paid for itself.

A derivative starts as NumPy code, whose calls are timed. When they have taken as long together as a compilation takes,
machine code is made in a thread of its own, beside further calls. It is run there on copies of the arguments. If it
gives the results without NumPy's help, and faster, it takes over, and the logger says so. It has conditions of its own:
of the lengths at hand, more may hold than of those that the NumPy code was made for. Where they fail, that code runs.
To wait until as much time is lost as the remedy costs is at most twice as slow as to know the future: this is the
ski-rental problem (Karlin, Manasse, Rudolph and Sleator, "Competitive snoopy caching", Algorithmica 3, 1988).

Where a call gives a function, as `vjp` does, the calls of that function are timed, too. Machine code has to be faster
for as many calls of both as there have been.
"""

from __future__ import annotations

import inspect
import logging
import threading
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import AutodiffError, is_interruption
from .specialize import MISS

if TYPE_CHECKING:
    from .specialize import Entry
    from .transforms import Transformed

LOG = logging.getLogger("autodiff_compiler")
SPENT = 1.0  # seconds in NumPy code, after which machine code is made: about what Numba takes for it
CALLS = 3  # at least so many: another one is likely then
FASTER = 0.9  # of the time of the NumPy code, at most
NAME = "autodiff-compiler-native"


class Watch:
    """An entry whose calls are timed until machine code is made of it.

    spent, calls: seconds in all, and how often it was called
    inner:        how often what it gives was called
    done:         is set when machine code has taken over, or will not, and the logger has said so
    """

    def __init__(self, entry: Entry, transformed: Transformed, names: tuple[str, ...]):
        self.entry = entry
        self.transformed = transformed
        self.names = names
        self.call = entry.call
        self.spent, self.calls, self.inner = 0.0, 0, 0
        self.started = False
        self.done = threading.Event()
        entry.call = self
        if hasattr(entry.run, "clock"):
            entry.run.clock = self.timed

    def timed(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        """The function, whose calls are timed."""

        def call(*seeds: Any) -> Any:
            start = perf_counter()
            out = inner(*seeds)
            self.spent += perf_counter() - start
            self.inner += 1
            return out

        return inner if self.started else call

    def __call__(self, *values: Any, **staged: Any) -> Any:
        start = perf_counter()
        out = self.call(*values, **staged)
        if out is MISS or self.started:
            return out
        self.spent += perf_counter() - start
        self.calls += 1
        if self.spent >= SPENT and self.calls >= CALLS:
            self.started = True
            self.begin(values)
        return out

    def begin(self, values: tuple[Any, ...]) -> None:
        """Make the source of the machine code here, where the arguments are, and compile it in another thread."""
        try:
            found = native_of(self.transformed, self.names, values)
        except AutodiffError as error:
            found = None
            LOG.debug("%s stays NumPy code: %s", self.transformed.__name__, error)
        if found is None:
            self.finish(None)
            return
        work = (*found, self.spent, self.calls, self.inner)
        threading.Thread(target=self.compile, args=work, name=NAME, daemon=True).start()

    def compile(self, made: Entry, leaves: list[Any], spent: float, calls: int, inner: int) -> None:
        """Compile machine code by running it, and let it take over if it is faster."""
        pays = is_faster(self.transformed.__name__, made.run, leaves, spent, calls, inner)
        self.finish(made if pays else None)

    def finish(self, made: Entry | None) -> None:
        """Take the clock away. `made`: what takes over."""
        front = self.entry.call = self.call
        if made is not None:
            self.entry.prefer(made)
            front = made.call
        fronts = self.transformed._fronts
        for n, found in list(fronts.items()):
            if found is self:
                fronts[n] = front
        self.done.set()


def native_of(
    transformed: Transformed, names: tuple[str, ...], values: tuple[Any, ...]
) -> tuple[Entry, list[Any]] | None:
    """The entry of the same derivative with machine code, not compiled yet, and copies of what it takes for these
    arguments."""
    twin = transformed._with_backend("native")
    entry = twin._dispatch.make(names, values, [], [])
    if not programs_of(entry.run):
        return None
    leaves: list[Any] = []
    entry.namespace["run"] = lambda *given: leaves.extend(given)
    try:
        if entry.call(*values) is MISS:
            return None
    finally:
        entry.namespace["run"] = entry.run
    return entry, [copied(x) for x in leaves]


def copied(x: Any) -> Any:
    return np.array(x, copy=True, order="K") if isinstance(x, np.ndarray) else x


def is_faster(
    name: str, run: Callable[..., Any], leaves: list[Any], spent: float, calls: int, inner: int = 0
) -> bool:  # fmt: skip
    """Compile machine code by running it. Whether it gives the results of `calls` calls without NumPy's help, and in
    less time than was `spent` on them. The logger says so."""
    try:
        seconds_of(run, leaves)
        outer, of_inner = seconds_of(run, leaves)
    except Exception as error:  # NumPy code raises where the user sees it
        if is_interruption(error):
            raise
        return False
    now, unit = outer * calls + of_inner * inner, 1e3 / calls
    if any(program.stopped is not None or program.bails for program in programs_of(run)):
        return False
    pays = now <= FASTER * spent
    if pays:
        LOG.info("%s is machine code from now on: %.3g ms a call, %.3g ms before", name, now * unit, spent * unit)
    else:
        LOG.info("%s stays NumPy code: %.3g ms a call, %.3g ms as machine code", name, spent * unit, now * unit)
    return pays


def seconds_of(run: Callable[..., Any], leaves: list[Any]) -> tuple[float, float]:
    """How long a call takes, and one of what it gives, if that is called."""
    start = perf_counter()
    if not hasattr(run, "seeds"):
        run(*leaves)
        return perf_counter() - start, 0.0
    results, inner = run.__wrapped__(*leaves)  # type: ignore[attr-defined]
    between = perf_counter()
    seeds = run.seeds(results, leaves)
    behind = perf_counter()
    inner(*seeds)
    return between - start, perf_counter() - behind


def programs_of(run: Any) -> list[Any]:
    """The programs of an emitted function, which Numba compiles."""
    namespace = getattr(inspect.unwrap(run), "__globals__", {})
    return [x for x in namespace.values() if type(x).__name__ == "Native"]


__all__ = ["CALLS", "NAME", "SPENT", "Watch", "copied", "is_faster", "native_of", "programs_of"]
