"""What statements and expressions of the loop-nest form read and bind, and how to change them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .nest import (
    Alloc,
    Bind,
    Branch,
    Call,
    Const,
    Expr,
    For,
    Foreign,
    Forever,
    Grow,
    Item,
    Length,
    Load,
    Name,
    NewStack,
    Parallel,
    Piece,
    Pop,
    Program,
    Reshape,
    Row,
    Set,
    Stmt,
    Sum,
)


def names_in(e: Expr) -> Iterator[str]:
    """The names that an expression reads."""
    if isinstance(e, Name):
        yield e.name
    elif isinstance(e, (Load, Length)):
        yield e.array
        if isinstance(e, Load):
            for i in e.index:
                yield from names_in(i)
    elif isinstance(e, Call):
        for arg in e.args:
            yield from names_in(arg)


def parts(e: Expr) -> Iterator[Expr]:
    """An expression, and those that it is made of."""
    yield e
    for inner in e.index if isinstance(e, Load) else e.args if isinstance(e, Call) else ():
        yield from parts(inner)


def contains(e: Expr, part: Expr) -> bool:
    """An expression is another one, or has it for an operand."""
    return e == part or (isinstance(e, Call) and any(contains(arg, part) for arg in e.args))


def replaced(e: Expr, part: Expr, new: Expr) -> Expr:
    """The expression with `new` for each operand that is `part`."""
    if e == part:
        return new
    return Call(e.fn, tuple([replaced(arg, part, new) for arg in e.args]), e.dtype) if isinstance(e, Call) else e


def mapped(e: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The expression with `change` of each of its parts, the inner ones first."""
    if isinstance(e, Load):
        e = Load(e.array, tuple([mapped(i, change) for i in e.index]), e.dtype)
    elif isinstance(e, Call):
        e = Call(e.fn, tuple([mapped(arg, change) for arg in e.args]), e.dtype)
    return change(e)


def exprs_of(s: Any) -> Iterator[Expr]:
    """The expressions of a statement, without those of its blocks."""
    for slot in s.__slots__:
        part = getattr(s, slot)
        for item in part if isinstance(part, tuple) else (part,):
            if isinstance(item, (Const, Name, Load, Length, Call)):
                yield item


def map_exprs(s: Any, change: Callable[[Expr], Expr]) -> None:
    """Change the expressions of a statement, without those of its blocks."""
    for slot in s.__slots__:
        part = getattr(s, slot)
        if isinstance(part, (Const, Name, Load, Length, Call)):
            setattr(s, slot, mapped(part, change))
        elif isinstance(part, tuple):
            known = (Const, Name, Load, Length, Call)
            setattr(s, slot, tuple([mapped(x, change) if isinstance(x, known) else x for x in part]))


def walk(block: Sequence[Stmt]) -> Iterator[Any]:
    """The statements of a block, and of those inside."""
    for s in block:
        yield s
        for inner in blocks_of(s):
            yield from walk(inner)


def blocks_of(s: Any) -> list[list[Stmt]]:
    """The blocks of a statement."""
    if isinstance(s, Parallel):
        return [s.before, s.body, s.after]
    if isinstance(s, (For, Forever)):
        return [s.body]
    return [s.then, s.orelse] if isinstance(s, Branch) else []


def bound_by(s: Any) -> list[str]:
    """The names to which a statement gives a number or a buffer."""
    if isinstance(s, (Set, Sum, Alloc, Bind, Row, Piece, Reshape, NewStack, Pop, Item)):
        return [s.name]
    if isinstance(s, For):
        return [s.index]
    if isinstance(s, Parallel):
        return [s.index, s.part, s.first, s.last]
    if isinstance(s, Foreign):
        return [s.done, *[name for name, _, _ in s.results]]
    return [s.array] if isinstance(s, Grow) else []


def all_reads(block: Sequence[Stmt]) -> Iterator[str]:
    """The names that statements read."""
    for s in block:
        for slot in s.__slots__:
            part = getattr(s, slot)
            if isinstance(part, (Const, Name, Load, Length, Call)):
                yield from names_in(part)
            elif isinstance(part, list):
                yield from all_reads(part)
            elif isinstance(part, tuple):
                for item in part:
                    if isinstance(item, (Const, Name, Load, Length, Call)):
                        yield from names_in(item)
                    elif isinstance(item, str):
                        yield item
        for slot in ("source", "array", "into", "left", "right", "value", "stack"):
            part = getattr(s, slot, None)
            if isinstance(part, str):
                yield part


class Fresh:
    """Makes names that a program does not have."""

    def __init__(self, program: Program):
        self.taken = {*all_reads(program.body), *[p.name for p in program.params]}
        self.taken.update(name for s in walk(program.body) for name in bound_by(s))

    def __call__(self, stem: str) -> str:
        name, k = stem, 1
        while name in self.taken:
            k += 1
            name = f"{stem}_{k}" if stem[-1].isdigit() else f"{stem}{k}"
        self.taken.add(name)
        return name
