"""A function with values of types that only the run tells, in two stages.

The *prologue* does everything of the function that is seen outside or depends on it, in order: it draws, reads, prints,
calls what is unknown. It keeps what each of these gave in a `Log`, and checks that it is of the type that the code was
made for. The *body* is what is differentiated. It takes those values from the log. So effects happen once and in order,
whatever is found out on the way: a prologue that fails a check is followed by one that fits, which takes from the log
what has been done. Writes to what lives outside are done by the body: nothing that the prologue does may look at them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from ..errors import UnsupportedError
from ..ir.core import Loc
from ..ir.foreign import common_class
from ..ir.types import OBJECT
from ..live import is_collection
from ..lowered import ANYTHING, OBJECT_KEY, Fact, Input, Lowered, Path

# What an observed object is of is known if it is one of these.
OBJECT_CLASSES = (list, dict, set, frozenset, str, bytes, type(None))
LOG = (("log",),)  # the path of the log among the inputs


class Refit(BaseException):
    """A value is not what the code was made for. It passes the handlers of the user's program."""

    def __init__(self, log: Log):
        self.log = log


class Stopped(BaseException):
    """The end of a run that observes."""


class Log:
    """What the effects of one call gave, in order.

    facts:  what the code takes for granted, by site
    seen:   what was seen of each site in this call, by any code
    chosen: of these, what the code has to be made for that is run next; it is only ever widened
    leaves: the inputs of the call, as they were when it began
    live:   arrays that may live outside, each with what it held when it was given
    """

    def __init__(self, facts: dict[int, Fact], loc: Loc, before: Log | None = None):
        self.facts = facts
        self.loc = loc
        self.entries: list[tuple[str, Any, Exception | None]] = [] if before is None else before.entries
        self.seen: dict[int, Fact] = {} if before is None else before.seen
        self.chosen: dict[int, Fact] = {} if before is None else before.chosen
        self.leaves: dict[Path, Any] = {} if before is None else before.leaves
        self.live: list[tuple[Any, Any]] = [] if before is None else before.live
        self.label = ""  # of the value that did not fit
        self.done = 0
        self.failed: BaseException | None = None

    def do(self, label: str, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Do what has an effect, or take what it gave."""
        self.check()
        if self.done == len(self.entries):
            try:
                value, error = fn(*args, **kwargs), None
            except Exception as raised:
                value, error = None, raised
            self.entries.append((label, copied(value), error))
        else:
            value, error = self._entry(self.done, label)
            value = copied(value)
        self.done += 1
        if error is not None:
            raise error
        return value

    def call(self, label: str, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """As `do`, where what is given may be an array that lives outside and is changed later."""
        first = self.done == len(self.entries)
        value = self.do(label, fn, *args, **kwargs)
        if first and isinstance(value, (np.ndarray, tuple)):
            self.live.append((value, self.entries[-1][1]))
        return value

    def _entry(self, k: int, label: str) -> tuple[Any, Exception | None]:
        if k >= len(self.entries) or self.entries[k][0] != label:
            raise UnsupportedError(
                f"{label} was not reached when the function ran before: what it calls has changed what it depends on",
                self.loc,
                "make the value outside of the differentiated function, and pass it",
            )
        return self.entries[k][1:]

    def see(self, value: Any, site: int, label: str) -> None:
        """Check a value at its site."""
        self.check()
        fact = fact_of(value)
        self.seen[site] = joined(self.seen.get(site), fact)
        known = self.facts.get(site)
        if known is None or not covers(known, fact):
            self.label = label
            self.chosen[site] = joined(self.chosen.get(site), fact)
            if has_anything(self.chosen[site]):
                self.failed = UnsupportedError(
                    f"{label} gives values of several types or numbers of axes in one call", self.loc,
                    "give each its own place in the program, or make them outside of the function",
                )  # fmt: skip
            else:
                self.failed = Refit(self)
            raise self.failed

    def stop(self) -> NoReturn:
        self.failed = Stopped()
        raise self.failed

    def check(self) -> None:
        """The run has not ended: a handler or a `finally` of the program may have gone on."""
        if self.failed is not None:
            raise self.failed

    def given(self) -> Callable[[str], Any]:
        """A function that gives what the effects gave, one after the other."""
        at = -1

        def take(label: str) -> Any:
            nonlocal at
            at += 1
            value, error = self._entry(at, label)
            if error is not None:
                raise error
            return copied(value)

        return take


def copied(value: Any) -> Any:
    """A value that is not changed when the program stores into the array that it got."""
    if type(value) is np.ndarray:
        return value.copy(order="K")
    if isinstance(value, tuple) and any(isinstance(x, (np.ndarray, tuple)) for x in value):
        return tuple.__new__(type(value), [copied(x) for x in value])
    return value


def fact_of(value: Any) -> Fact:
    cls = type(value)
    if cls in (bool, int, float, complex):
        return ("py", cls)
    if cls is np.ndarray and value.dtype.kind in "biufc":
        return ("array", value.dtype, value.ndim, tuple([k if n else ~k for k, n in enumerate(value.shape) if n < 2]))
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return ("generic", value.dtype)
    if isinstance(value, tuple) and len(value) <= 8 and (cls is tuple or hasattr(cls, "_fields")):
        return ("tuple", None if cls is tuple else common_class(cls), tuple([fact_of(x) for x in value]))
    if cls in OBJECT_CLASSES:
        return ("object", cls)
    return ("object", "iterator" if hasattr(cls, "__iter__") and not is_collection(value) else "")


def joined(a: Fact | None, b: Fact) -> Fact:
    """What holds of both."""
    if a is None or a == b:
        return b
    if a[0] == b[0] == "array" and a[1:3] == b[1:3]:
        return (*a[:3], None)
    if a[0] == b[0] == "tuple" and a[1] is b[1] and len(a[2]) == len(b[2]):
        return ("tuple", a[1], tuple([joined(x, y) for x, y in zip(a[2], b[2])]))
    if a[0] == b[0] == "object":
        return ("object", "")
    return ANYTHING


def has_anything(fact: Fact) -> bool:
    """Several kinds of things were seen at one place."""
    return fact == ANYTHING or (fact[0] == "tuple" and any(map(has_anything, fact[2])))


def covers(known: Fact, fact: Fact) -> bool:
    return known == ANYTHING or joined(known, fact) == known


def stages_of(lowered: Lowered) -> tuple[Lowered, Lowered]:
    """The prologue and the body of a lowered function. Each takes the log as its last input."""
    from .compiler import stages

    prologue, body = stages(lowered.function)
    inputs = [*lowered.inputs, Input(LOG, "log", OBJECT, OBJECT_KEY, True)]
    return (
        replace(lowered, function=prologue, inputs=inputs, out=("tuple", ())),
        replace(lowered, function=body, inputs=inputs),
    )


class Stages:
    """Runs the prologue, then the body. `paths` are those of the inputs; `writes`: the body writes to the outside.

    Behind the inputs and the log, a call gives what the gradient hands through from the arguments, for the body alone.
    """

    def __init__(
        self, prologue: Callable[..., Any], body: Callable[..., Any], facts: dict[int, Fact], paths: list[Path],
        foreign: bool, loc: Loc, writes: bool,
    ):  # fmt: skip
        self.writes = writes
        self.prologue = prologue
        self.body = body
        self.facts = facts
        self.paths = paths
        self.foreign = foreign
        self.loc = loc
        for name in ("arity", "emitted", "details"):
            setattr(self, f"__autodiff_{name}__", getattr(body, f"__autodiff_{name}__", None))
        self.__autodiff_source__ = f"{prologue.__autodiff_source__}\n\n{body.__autodiff_source__}"  # type: ignore[attr-defined]

    def __call__(self, *given: Any) -> Any:
        count = len(self.paths)
        leaves, before, kept = given[:count], given[count], given[count + 1 :]
        log = Log(self.facts, self.loc, before)
        values = begun(log, self.paths, leaves, self.foreign)
        try:
            self.prologue(*values, log)
        except Exception:
            if self.writes and log.failed is None:
                self.body(*values, log, *kept)  # which writes, and then raises the same
            raise
        log.check()
        check_unchanged([*zip(leaves, values), *log.live], self.loc)
        return self.body(*values, log, *kept)


def is_foreign(lowered: Lowered) -> bool:
    """It calls what may change what lives outside."""
    return any(op.prim.foreign for op in lowered.function.body.walk())


def writes_outside(lowered: Lowered) -> bool:
    """It writes to what lives outside of the function."""
    from .compiler import WRITES

    return any(op.prim in WRITES for op in lowered.function.body.walk())


def begun(log: Log, paths: list[Path], leaves: Sequence[Any], foreign: bool) -> list[Any]:
    """The inputs as they were when the call began; `foreign`: what the function calls may change arrays."""
    known = log.leaves
    for path, leaf in zip(paths, leaves):
        if path not in known:
            known[path] = leaf.copy(order="K") if foreign and type(leaf) is np.ndarray else leaf
    return [known[path] for path in paths]


def check_unchanged(arrays: list[tuple[Any, Any]], loc: Loc) -> None:
    """What the function calls has left arrays alone: it is not known which reads come before a change.

    arrays: each as it is now, and as it was; or tuples that hold some.
    """
    for now, was in arrays:
        if type(now) is np.ndarray and now is not was and not np.array_equal(was, now, now.dtype.kind in "fc"):
            raise UnsupportedError(
                "what the function calls has changed an array that the function reads",
                loc,
                "pass a copy of the array, or make the call outside of the differentiated function",
            )
        if isinstance(now, tuple) and now is not was:
            check_unchanged(list(zip(now, was)), loc)
