"""Runs pullbacks. Where barriers lie between sources and targets, it runs them segment by segment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..transforms.batch import NotBatchedError
from .apply import call
from .connect import View, between, records_of
from .machine import runner
from .pullback import Pullback, Request, request
from .recording import BARRIER, CONSTANT, PULL, STATE, Recording, TrieNode
from .tensor import wrap


def run_pullback(
    rec: Recording, ask: Request, seeds: list[Any], cls: type[Any], stacked: bool = False, backend: str = "numpy"
) -> dict[int, Any]:
    """The cotangents of the sources of a request, as tensors by slot. They are recorded if a tape is open.

    stacked: the seeds are stacks of cotangents. Raises NotBatchedError where an operation has no batching rule.
    backend: of the tape, see `machine`.
    """
    values = rec.values
    pull = ask.pullback(values)
    if stacked:
        many = pull.stacked()
        if many is None:
            raise NotBatchedError("the pullback")
        pull = many
    out = runner(pull, backend)(*pull.fetch(values), *[s._value for s in seeds])
    if len(ask.sources) == 1:
        out = (out,)
    outer = STATE.rec
    first = -1 if outer is None else record_pull(outer, rec, pull, seeds, out)
    token = CONSTANT if outer is None or first < 0 else outer.token
    grads: dict[int, Any] = {}
    for k, slot in enumerate(ask.sources):
        t = cls()
        t._value = out[k]
        t._token = token
        t._slot = first + k if token is not CONSTANT else -1
        grads[slot] = t
    return grads


def conjugated(g: Any) -> Any:
    """The conjugate of a complex cotangent. It converts between the compiler's convention and a layer's."""
    return g if g is None or np.asarray(g._value).dtype.kind != "c" else call(np.conjugate, g)


def record_pull(outer: Recording, rec: Recording, pull: Pullback, seeds: list[Any], results: Any) -> int:
    """Record that a pullback was run. Gives the slot of its first result, or -1 if no open tape watches an operand.

    outer: the recording of the open tapes. rec: the recording whose pullback was run.
    """
    slots: list[int] = list(pull.needed)
    constants: list[Any] = []
    if outer is not rec:
        there = [outer.moved(rec.token, s) for s in slots] if outer.absorbed else [-1]
        if min(there) >= 0:
            slots = there
        else:  # the open tapes know only those values of `rec` that they were told to watch
            watched = {s: slot for slot, x in outer.known.values() if not x._trainable for s in rec.slots(x)}
            by_value = {id(outer.values[slot]): slot for slot, x in outer.known.values() if not x._trainable}
            slots = [watched.get(s, by_value.get(id(rec.values[s]), -1)) for s in slots]
            constants += [rec.values[s] for s, slot in zip(pull.needed, slots) if slot < 0]
    for s in seeds:
        slot = outer.find(s)
        slots.append(slot)
        if slot < 0:
            constants.append(s._value)
    if all(s < 0 for s in slots):
        return -1
    first = outer.step((PULL, pull, *slots), len(constants) + len(results)) + len(constants)
    outer.values.extend(constants)
    outer.values.extend(results)
    return first


def sweep(
    rec: Recording,
    view: View,
    ends: list[tuple[int, Any]],
    sources: tuple[int, ...],
    cls: type[Any],
    run: Callable[[Recording, Request, list[Any], type[Any]], dict[int, Any]] = run_pullback,
    stacked: bool = False,
) -> dict[int, Any]:
    """The cotangents of the sources, by slot, where barriers may lie between sources and targets.

    It goes from barrier to barrier, the last one first. `run` runs the pullback of each segment in between. stacked:
    the cotangents are stacks of them.
    """
    node, values = rec.node, rec.values
    records, alive = records_of(node, view, values)
    targets = {t for t, _ in ends}
    on_path, reached = between(records, {s for s in sources if s in alive or s in targets}, targets)
    useful = reached | {s for r in on_path for s in r.results}
    env: dict[int, Any] = {}

    def add(slot: int, g: Any) -> None:
        known = env.get(slot)
        env[slot] = g if known is None else known + g

    for t, seed in ends:
        if t in useful:
            add(t, wrap(cls, _ones_like(values[t])) if seed is None else seed)
    high = node.count
    for k in [*[k for k in range(len(on_path) - 1, -1, -1) if on_path[k].node.key[0] == BARRIER], -1]:
        barrier = on_path[k] if k >= 0 else None
        low = barrier.results.stop if barrier is not None else 0
        segment = [r for r in on_path if low <= r.results.start < high and r.node.key[0] != BARRIER]
        seeded = {s: env[s] for r in segment for s in r.results if s in env}
        if seeded:
            made = {s for r in segment for s in r.results}
            wanted = sorted(
                {o for r in segment for o in r.operands if o in useful and o not in made} | (reached & made)
            )
            ask = _segment(rec, view, tuple(sorted(seeded)), tuple(wanted), low, high)
            if ask.sources:
                grads = run(rec, ask, [seeded[s] for s in ask.targets], cls)
                for s in seeded:
                    if s not in grads:
                        continue
                    env.pop(s)  # the pullback has added its seed
                for s, g in grads.items():
                    add(s, g)
        if barrier is not None:
            given = [env.get(s) for s in barrier.results]
            if any(g is not None for g in given):
                first = barrier.results.start
                if cls._conjugate:
                    given = [conjugated(g) for g in given]
                own = rec.barriers[first]
                pull = own.stacked if stacked else own.pullback
                found = pull(given, [values[s] for s in barrier.results], cls)
                if cls._conjugate:
                    found = [conjugated(g) for g in found]
                for s, g in zip(barrier.operands, found):
                    if g is not None and s in useful:
                        check_cotangent(g, values[s], stacked)
                        add(s, g)
            high = barrier.results.start
    return {s: env[s] for s in sources if s in env and s in reached}


def check_cotangent(g: Any, value: Any, stacked: bool = False) -> None:
    """Refuse a cotangent, or a stack of them, from a user's gradient function that does not fit the operand.

    Raises ValueError for another shape than the operand's, TypeError for complex numbers where the operand is real.
    """
    given, wanted = np.asarray(g._value), np.asarray(value)
    shape = given.shape[stacked:]
    if shape != wanted.shape:
        raise ValueError(
            f"a gradient function returned shape {shape} for an operand of shape {wanted.shape}: "
            "the gradient must have the operand's shape"
        )
    if given.dtype.kind == "c" and wanted.dtype.kind != "c":
        raise TypeError("a gradient function returned complex numbers for a real operand: take np.real of them")


def _segment(
    rec: Recording, view: View, targets: tuple[int, ...], sources: tuple[int, ...], low: int, high: int
) -> Request:
    """The request for the records between two barriers, from slot `low` to slot `high`."""
    node: TrieNode = rec.node
    key = (targets, sources, view.spans, view.watched, view.auto, low, high)
    found = node.pulls.get(key)
    if found is None:
        records, alive = records_of(node, view, rec.values)
        inside = [r for r in records if low <= r.results.start < high and r.node.key[0] != BARRIER]
        found = node.pulls[key] = Request(node, targets, sources, True, inside, alive)
    return found


def _ones_like(value: Any) -> Any:
    return np.ones_like(value)[()]


__all__ = ["request", "run_pullback", "sweep"]
