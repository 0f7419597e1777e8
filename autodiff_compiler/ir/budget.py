"""What one compilation may cost: a budget for unrolling, splitting and inlining, in operations and in seconds.

Operations are counted, so the same programs are refused on any machine. The limit in seconds catches all else.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import deep
from ..errors import ArgumentError, UnsupportedError

OPERATIONS = 20_000  # AUTODIFF_COMPILER_OPERATIONS
SECONDS = 60.0  # AUTODIFF_COMPILER_SECONDS
NOTICE = 2.0  # seconds after which a compilation says what it is doing, unless AUTODIFF_COMPILER_NOTICE is "off"

REMEDIES = {
    "unroll": "loop over a range or an array, so that nothing in the body depends on which iteration it is",
    "split": "make all paths agree, for instance with .copy(), so that what follows need not be compiled for each",
    "inline": "call it once and keep the result, or call it in a loop over a range or an array",
}


class Exhausted(Exception):
    """A compilation has grown beyond its budget. `final`: it has taken too long, whatever has grown."""

    def __init__(self, message: str, loc: Any, remedy: str, final: bool):
        super().__init__(message)
        self.message, self.loc, self.remedy, self.final = message, loc, remedy, final

    def located(self) -> UnsupportedError:
        return UnsupportedError(self.message, self.loc, self.remedy)


class Budget:
    """The cost of one compilation so far.

    grown: for each thing that is copied, by its kind and syntax node, how often, its name, and its place
    """

    def __init__(self, name: str, loc: Any):
        self.name, self.loc = name, loc
        self.operations = _number("AUTODIFF_COMPILER_OPERATIONS", OPERATIONS)
        self.seconds = _number("AUTODIFF_COMPILER_SECONDS", SECONDS)
        self.notice = NOTICE if os.environ.get("AUTODIFF_COMPILER_NOTICE", "on") != "off" else float("inf")
        self.began = time.perf_counter()
        self.ticks = 0
        self.task = "reading it"
        self.spent = 0
        self.copying = 0  # how many copies are being lowered, one within another
        self.grown: dict[tuple[str, Any], list[Any]] = {}
        self.last: list[Any] | None = None

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """A function is lowered from the start."""
        before = (self.spent, self.copying, self.grown, self.last)
        self.spent, self.copying, self.grown, self.last = 0, 0, {}, None
        try:
            yield
        finally:
            spent = self.spent
            self.spent, self.copying, self.grown, self.last = before
            if self.copying:
                self.spent += spent

    @contextmanager
    def copy(self, kind: str, node: Any, name: str, loc: Any, counts: bool = True) -> Iterator[None]:
        """All that is lowered in this context is one more copy of something. The function itself does not count."""
        if not counts:
            yield
            return
        found = self.grown.get((kind, node))
        if found is None:
            found = self.grown[kind, node] = [0, kind, name, loc]
        found[0] += 1
        self.last = found
        self.copying += 1
        try:
            self.spend(loc)
            yield
        finally:
            self.copying -= 1

    def tick(self, loc: Any = None) -> None:
        """Something small was done: look at the time now and then."""
        self.ticks += 1
        if not self.ticks & 63:
            self.look(loc)

    def spend(self, loc: Any, count: int = 1) -> None:
        """Operations were appended, or items to a list."""
        self.tick(loc)
        if self.copying:
            self.spent += count
            if self.spent > self.operations:
                raise self.exhausted(f"{self.operations:,.0f} operations", loc)

    def look(self, loc: Any = None) -> None:
        """Compare the time with the budget."""
        deep.check()
        passed = time.perf_counter() - self.began
        if passed > self.notice:
            self.notice = float("inf")
            doing = self.task if self.last is None else f"{self.task}; {_described(self.last)}"
            where = "" if self.loc is None else f" ({self.loc.file}:{self.loc.line})"
            print(f"autodiff_compiler: compiling {self.name}{where} has taken {passed:.0f} s; {doing}", file=sys.stderr)
        if passed > self.seconds:
            raise self.exhausted(f"{self.seconds:g} seconds, while {self.task}", loc, final=True)

    def exhausted(self, what: str, loc: Any, final: bool = False) -> Exhausted:
        most = sorted(self.grown.values(), key=lambda g: -g[0])[:3]
        causes = "; ".join(_described(g) for g in most if g[0] > 1)
        return Exhausted(
            f"compiling this takes more than {what}" + (f": {causes}" if causes else ""),
            loc if loc is not None else self.loc,
            REMEDIES[most[0][1]] if most else "compile smaller functions, or raise AUTODIFF_COMPILER_SECONDS",
            final,
        )


def _described(grown: list[Any]) -> str:
    times, kind, name, loc = grown
    if kind == "unroll":
        return f"unrolling the loop in line {loc.line} (iteration {times:,})"
    if kind == "split":
        return f"what follows {name} in line {loc.line} is compiled once for each path ({times:,})"
    return f"{name!r} is inlined in line {loc.line} ({times:,} times)"


def _number(variable: str, default: float) -> float:
    text = os.environ.get(variable)
    if not text:
        return default
    try:
        return float(text)
    except ValueError:
        raise ArgumentError(f"{variable} is {text!r}, which is no number") from None


_state = threading.local()


def current() -> Budget | None:
    """The budget of the compilation that runs in this thread, if one does."""
    return getattr(_state, "budget", None)


def doing(task: str) -> None:
    """Note the task that the compilation turns to."""
    budget = current()
    if budget is not None:
        budget.task = task
        budget.look()


@contextmanager
def compiling(name: str, loc: Any) -> Iterator[Budget]:
    """The context of one compilation. Compilations within it use the same budget."""
    budget = current()
    if budget is not None:
        yield budget
        return
    budget = _state.budget = Budget(name, loc)
    try:
        yield budget
    except Exhausted as error:
        raise UnsupportedError(error.message, error.loc, error.remedy) from None
    finally:
        _state.budget = None
