"""Compiles functions with values of types that only the run tells: it runs them to see, and then makes both stages.

What is seen of the values, the facts, becomes part of what the code is made for. A run ends at the first value of which
there is no fact yet. So the next run has one fact more, and takes what was done from the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..collector import collector_paused
from ..errors import ArgumentError, AutodiffError, SourceUnavailableError, UnsupportedError
from ..ir import budget
from ..lowered import Fact, Lowered, fetch, leaving_out, location_of
from .specialize import MISS, Dispatcher, Entry, fits, for_calls, split_arguments
from .two_stages import Log, Refit, Stages, Stopped, begun, covers, is_foreign, stages_of, writes_outside

MOST_RUNS = 100  # to observe the values of one call
_REMEDY = "make the value outside of the function, and pass it"
MOST_VARIANTS = 8  # of the code for one signature


def observed_entry(
    dispatch: Dispatcher, names: tuple[str, ...], values: tuple[Any, ...], facts: dict[int, Fact], done: list[Log],
    error: AutodiffError | None = None,
) -> Entry:  # fmt: skip
    """An entry in two stages, for what is observed of these arguments; `error` stands if that does not help.

    done: the log of what was done in this call so far, if anything was; the new log is appended.
    """
    from .compiler import lower

    positional, keywords = split_arguments(dispatch.fn, list(names), values)
    for _ in range(MOST_RUNS):
        with _watching(dispatch, facts, observing=True) as watch:
            try:
                seen = lower(dispatch.fn, positional, keywords)
            except AutodiffError as later:
                raise error or later from None
            if error is not None and not watch.met:
                raise error
            prologue = _prologue(dispatch, seen)
        log = Log(facts, location_of(dispatch.fn), done[-1] if done else None)
        paths = [item.path for item in seen.inputs]
        leaves = begun(log, paths, [fetch(path, values) for path in paths], is_foreign(seen))
        done.append(log)
        try:
            prologue(*leaves, log)
            log.check()
            break
        except Refit:
            facts = {**facts, **log.chosen}
        except Stopped:
            break
        except Exception:
            if log.failed is not None or not writes_outside(seen):
                raise
            break  # what is written before that is written by the body
    # Both begin with the last plan: where a fact is missing, code ends before what would ask for things to be static.
    with _watching(dispatch, facts, plan=watch.plan) as final:
        try:
            lowered = dispatch.lower(positional, keywords)
            final.plan = watch.plan
            primal = lower(dispatch.fn, positional, keywords)
            body = stages_of(lowered)[1]
            run = dispatch.compile_entry(body, positional, keywords)
        except AutodiffError as later:
            raise (error if isinstance(error, SourceUnavailableError) and later.certain else later) from None
        paths = [item.path for item in primal.inputs]
        if paths != [item.path for item in lowered.inputs]:
            raise error or UnsupportedError(
                "the function reads something else once the types of its values are known",
                location_of(dispatch.fn),
                _REMEDY,
            )
        prologue, loc = _prologue(dispatch, primal), location_of(dispatch.fn)
        stages = Stages(prologue, run, facts, paths, is_foreign(primal), loc, writes_outside(primal))

    return Entry(dispatch.fn, for_calls(body), stages, refit_by(dispatch, names, stages))


def refit_by(dispatch: Dispatcher, names: tuple[str, ...], stages: Stages) -> Callable[..., Any]:
    """What an entry does with a value that its code is not made for."""

    def refit(log: Log, values: tuple[Any, ...]) -> Callable[[], Any]:
        return _other(dispatch, names, values, log, stages.facts)

    return refit


def take_sites(dispatch: Dispatcher, sites: list[Any]) -> bool:
    """Number these sites in this order. False if this process has numbered them in another one."""
    known = list(dispatch.sites)
    shared = min(len(known), len(sites))
    if known[:shared] != sites[:shared]:
        return False
    for site in sites[shared:]:
        dispatch.sites[site] = len(dispatch.sites)
    return True


def _other(
    dispatch: Dispatcher, names: tuple[str, ...], values: tuple[Any, ...], log: Log, facts: dict[int, Fact]
) -> Callable[[], Any]:
    """A value was not what the code was made for: the call of code that fits, which goes on with the log."""
    done = [log]
    with dispatch.lock:
        variants = [e for e in dispatch.entries.get(names, ()) if isinstance(e.run, Stages) and fits(e, values)]

        entry = next((e for e in variants if _holds(e, log)), None)
        if entry is None and len(variants) >= MOST_VARIANTS:
            raise UnsupportedError(
                f"{log.label} gave values of more than {MOST_VARIANTS} types, one after the other",
                location_of(dispatch.fn),
                _REMEDY,
            )
        if entry is None:
            entry = leaving_out(lambda: observed_entry(dispatch, names, values, {**facts, **log.chosen}, done))
            dispatch.entries[names].insert(0, entry)
        dispatch._to_front(names, entry)  # the next value is most likely of the same type

    def again() -> Any:
        result = entry.call(*values, log=done[-1])
        if result is MISS:
            raise ArgumentError("an argument has changed during the call", location_of(dispatch.fn), "call it again")
        return result

    return again


def _holds(entry: Entry, log: Log) -> bool:
    """The code is made for what was seen so far."""
    assert isinstance(entry.run, Stages)
    facts = entry.run.facts
    return all(site in facts and covers(facts[site], fact) for site, fact in {**log.seen, **log.chosen}.items())


@contextmanager
def _watching(dispatch: Dispatcher, facts: dict[int, Fact], observing: bool = False, plan: Any = None) -> Iterator[Any]:
    """The context of lowering with these facts."""
    from .compiler import WATCH, Watch

    watch = Watch(facts, dispatch.sites, observing, plan=plan)
    name = getattr(dispatch.fn, "__name__", type(dispatch.fn).__name__)
    token = WATCH.set(watch)
    try:
        with collector_paused(), budget.compiling(name, location_of(dispatch.fn)):
            yield watch
    finally:
        WATCH.reset(token)


def _prologue(dispatch: Dispatcher, lowered: Lowered) -> Any:
    return dispatch.disk.generate(stages_of(lowered)[0])
