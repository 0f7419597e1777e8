"""Prints recordings as IR text, and pullbacks as Python with the recorded operations above them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.core import Builder, Function, Region, Value
from ..ir.opset import GET
from ..ir.printer import print_function
from .connect import Record, read
from .pullback import Pullback, Request, _Build, names_of
from .recording import BARRIER, LEAF, PULL, Reader, SlotRef, TrieNode, slots_in


def show_recording(node: TrieNode, values: list[Any]) -> str:
    """The recording as IR text. `values`: the values of its slots."""
    body = Region()
    env: dict[int, Value] = {}
    build = object.__new__(_Build)
    build.values, build.body, build.b, build.env = values, body, Builder(body), env
    build.opaque = build.plain = False
    build.sizes, build.leaves, build.fake, build.names = [], [], {}, names_of(node)
    for step in node.path():
        if step.key[0] == LEAF:
            build.value(step.count - 1)
        elif step.key[0] != BARRIER:
            record = read(step)
            if step.key[0] == PULL:
                build.inline(record)
            else:
                build.add(record)
    body.exit = tuple([env[s] for s in sorted(env) if s == len(values) - 1])
    for op in body.ops:
        op.loc = None  # it holds a slot number, and the name of the result shows that
    return print_function(Function("recording", body, {}))


def show_pullback(ask: Request, pull: Pullback) -> str:
    """The code of a pullback, below the recorded operations whose results it reads."""
    names = names_of(ask.node)
    needed = set(pull.needed)
    lines: list[str] = []
    for step in reversed(ask.node.path()):
        if step.key[0] == LEAF:
            continue
        record = read(step)
        if needed.isdisjoint(record.results):
            continue
        line, operands = _line(step, record, names)
        needed.update(operands)
        lines.append(f"# {line}\n")
    lines.reverse()
    head, mark, rest = pull.source.partition("def pullback(")
    return f"{head}{''.join(lines)}{mark}{rest}"


def _line(step: TrieNode, record: Record, names: dict[int, str]) -> tuple[str, list[int]]:
    """A record as a line of Python, and the slots of its operands."""

    def text(arg: Any) -> str:
        if type(arg) is SlotRef:
            return names.get(arg.number) or f"v{arg.number}"
        if isinstance(arg, tuple):
            inner = ", ".join([text(a) for a in arg])
            return f"({inner},)" if len(arg) == 1 else f"({inner})"
        if isinstance(arg, list):
            return f"[{', '.join([text(a) for a in arg])}]"
        if isinstance(arg, slice):
            return ":".join(["" if a is None else text(a) for a in (arg.start, arg.stop)]) + (
                "" if arg.step is None else f":{text(arg.step)}"
            )
        if arg is Ellipsis:
            return "..."
        return arg.__name__ if isinstance(arg, type) else repr(arg)

    results = ", ".join([text(SlotRef(s)) for s in record.results])
    if step.key[0] in (PULL, BARRIER):
        what = "a gradient" if step.key[0] == PULL else "a function with its own gradient"
        return f"{results} = {what} of {', '.join([text(SlotRef(s)) for s in record.operands])}", list(record.operands)
    prim, args, kwargs, _ = Reader(step).operands()
    read_slots = [s.number for s in slots_in((args, kwargs))]
    if prim is GET:
        (_, index), *_ = args[1]
        items = index if isinstance(index, tuple) else (index,)
        return f"{results} = {text(args[0])}[{', '.join([text(i) for i in items])}]", read_slots
    name = "@" if prim.fn is np.matmul else prim.name
    if not name.replace(".", "").replace("_", "").isalnum():
        operands = [text(a) for a in args]
        return f"{results} = {f' {name} '.join(operands) if len(operands) > 1 else name + operands[0]}", read_slots
    inner = ", ".join([*[text(a) for a in args], *[f"{k}={text(a)}" for k, a in kwargs.items()]])
    return f"{results} = {name}({inner})", read_slots
