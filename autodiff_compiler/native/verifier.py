"""The verifier of the loop-nest form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .nest import (
    BOOL,
    FUNCTIONS,
    INDEX,
    AddProduct,
    Alloc,
    Array,
    Bail,
    Bind,
    Branch,
    Call,
    Expr,
    For,
    Foreign,
    Forever,
    Grow,
    Increase,
    Item,
    Leave,
    Length,
    Load,
    Name,
    NestError,
    NewStack,
    Parallel,
    Piece,
    Pop,
    Program,
    Push,
    Put,
    Reshape,
    Return,
    Row,
    Set,
    Stacked,
    Stmt,
    Store,
    Sum,
    part_dtype,
    show_expr,
)

_TRUTH = {"lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "isnan", "isinf", "isfinite"}
_ANY_OPERANDS = {"lt", "le", "gt", "ge", "eq", "ne", "isnan", "isinf", "isfinite", "convert"}


def verify(program: Program) -> None:
    """Check that names are bound before they are read, on every path; that buffers have as many axes as their indices;
    and that operands have the dtype of the operation. Raises NestError.
    """
    bindings(program.params, program.body)
    if not program.body or not isinstance(program.body[-1], Return):
        raise NestError("the program does not end with a return")


def bindings(params: Sequence[Name | Array | Stacked], block: Sequence[Stmt]) -> dict[str, Any]:
    """What is bound behind a block, which is checked: names with their dtypes and numbers of axes, None for numbers.
    In front of those of a stack stands "stack".
    """
    check = _Verifier()
    for p in params:
        if isinstance(p, Stacked):
            check.bind(p.name, ("stack", p.dtype, p.axes))
        else:
            check.bind(p.name, (p.dtype, p.axes if isinstance(p, Array) else None))
    check.block(block)
    return check.known


def kinds_of(program: Program) -> dict[str, Any]:
    """For each name of a program its dtype and its number of axes, which is None for a number."""
    check = _Verifier()
    for p in program.params:
        check.bind(p.name, (p.dtype, p.axes if isinstance(p, Array) else None))
    check.block(program.body)
    return check.every


class _Verifier:
    """Names in scope, each with a dtype and a number of axes, which is None for a number. `every`: also the others."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}
        self.every: dict[str, Any] = {}
        self.stacks: set[str] = set()

    def bind(self, name: str, what: Any) -> None:
        if self.known.setdefault(name, what) != what:
            raise NestError(f"{name} is {self.known[name]}, and is bound to {what}")
        self.every[name] = what

    def array(self, name: str) -> Any:
        found = self.known.get(name)
        if found is None or found[1] is None:
            raise NestError(f"{name} is read, and is no buffer here")
        return found

    def stack(self, name: str) -> Any:
        found = self.known.get(name)
        if found is None or found[0] != "stack":
            raise NestError(f"{name} is used as a stack, and is {found} here")
        return found

    def expr(self, e: Expr, dtype: Any = None) -> None:
        if dtype is not None and e.dtype != dtype:
            raise NestError(f"{show_expr(e)} has the dtype {e.dtype}, and {dtype} is wanted")
        if isinstance(e, Name) and self.known.get(e.name) != (e.dtype, None):
            raise NestError(f"{e.name} is read as {e.dtype}, and is {self.known.get(e.name)} here")
        if isinstance(e, Length) and not 0 <= e.axis < self.array(e.array)[1]:
            raise NestError(f"{e.array} has no axis {e.axis}")
        if isinstance(e, Load):
            self.element(e.array, e.index, e.dtype)
        if isinstance(e, Call):
            self.call(e)

    def call(self, e: Call) -> None:
        if FUNCTIONS.get(e.fn) != len(e.args):
            raise NestError(f"{e.fn} of {len(e.args)} operands")
        if e.fn in _TRUTH and e.dtype != BOOL:
            raise NestError(f"{e.fn} gives {e.dtype}")
        wanted = [None if e.fn in _ANY_OPERANDS else e.dtype] * len(e.args)
        if e.fn in ("real", "imag"):
            wanted = [np.result_type(e.dtype, np.complex64)]
        if e.fn == "complex":
            wanted = [part_dtype(e.dtype)] * 2
        if e.fn == "choose":
            wanted[0] = BOOL
        for arg, dtype in zip(e.args, wanted):
            self.expr(arg, dtype)
        if e.fn in _ANY_OPERANDS and len({arg.dtype for arg in e.args}) > 1:
            raise NestError(f"{show_expr(e)} has operands of several dtypes")

    def element(self, array: str, index: tuple[Expr, ...], dtype: Any) -> None:
        known, axes = self.array(array)
        if len(index) != axes or known != dtype:
            raise NestError(f"{array}, {known} with {axes} axes, has no element of {dtype} at {len(index)} indices")
        for i in index:
            self.expr(i, INDEX)

    def block(self, block: Sequence[Stmt]) -> None:
        for s in block:
            self.statement(s)

    def inner(self, *blocks: Sequence[Stmt]) -> None:
        """What all of the blocks bind is bound behind them."""
        before, ends = self.known, []
        for block in blocks:
            self.known = dict(before)
            self.block(block)
            ends.append(self.known)
        self.known = {name: what for name, what in ends[0].items() if all(end.get(name) == what for end in ends)}

    def parallel(self, s: Parallel) -> None:
        """What a part binds it reads only behind that, and nobody else reads it."""
        for e in (s.low, s.high, s.parts):
            self.expr(e, INDEX)
        before = self.known
        bound = set(_bound_in([*s.before, *s.body, *s.after]))
        self.known = {name: what for name, what in before.items() if name not in bound}
        for name in (s.part, s.first, s.last):
            self.bind(name, (INDEX, None))
        self.block(s.before)
        self.bind(s.index, (INDEX, None))
        self.block(s.body)
        self.block(s.after)
        self.known = before

    def statement(self, s: Any) -> None:
        if isinstance(s, (Set, Sum)):
            self.expr(s.value)
            self.bind(s.name, (s.value.dtype, None))
        elif isinstance(s, Alloc):
            for n in s.shape:
                self.expr(n, INDEX)
            self.bind(s.name, (s.dtype, len(s.shape)))
        elif isinstance(s, Bind):
            self.bind(s.name, self.array(s.source))
        elif isinstance(s, Row):
            dtype, axes = self.array(s.source)
            if not 0 < len(s.index) < axes:
                raise NestError(f"{s.source} has {axes} axes, and no part at {len(s.index)} indices")
            for i in s.index:
                self.expr(i, INDEX)
            self.bind(s.name, (dtype, axes - len(s.index)))
        elif isinstance(s, (Piece, Grow)):
            dtype, axes = self.array(s.source if isinstance(s, Piece) else s.array)
            if axes != 1:
                raise NestError(f"a piece of a buffer with {axes} axes, or one that grows")
            self.expr(s.length, INDEX)
            if isinstance(s, Piece):
                self.expr(s.start, INDEX)
                self.bind(s.name, (dtype, 1))
        elif isinstance(s, Reshape):
            self.bind(s.name, (self.array(s.source)[0], len(s.shape)))
        elif isinstance(s, (Store, Increase)):
            self.element(s.array, s.index, s.value.dtype)
            self.expr(s.value)
        elif isinstance(s, For):
            self.expr(s.start, INDEX)
            self.expr(s.stop, INDEX)
            before = dict(self.known)
            self.bind(s.index, (INDEX, None))
            self.block(s.body)
            self.known = before
        elif isinstance(s, Parallel):
            self.parallel(s)
        elif isinstance(s, Forever):
            self.block(s.body)
        elif isinstance(s, Branch):
            self.expr(s.condition, BOOL)
            self.inner(s.then, s.orelse)
        elif isinstance(s, (Bail, Leave)):
            self.expr(s.condition, BOOL)
        elif isinstance(s, NewStack):
            if s.dtype is None:
                raise NestError(f"nothing is pushed on {s.name}")
            self.bind(s.name, ("stack", s.dtype, s.axes))
        elif isinstance(s, (Push, Put)):
            _, dtype, axes = self.stack(s.stack)
            if isinstance(s, Put):
                self.expr(s.at, INDEX)
            found = self.array(s.value)
            if found != (dtype, axes):
                raise NestError(f"{found} is pushed on {s.stack}, a stack of {dtype} with {axes} axes")
        elif isinstance(s, Pop):
            _, dtype, axes = self.stack(s.stack)
            self.bind(s.name, (dtype, axes))
        elif isinstance(s, Item):
            _, dtype, axes = self.stack(s.stack)
            self.expr(s.at, INDEX)
            self.bind(s.name, (dtype, axes))
        elif isinstance(s, AddProduct):
            left, right = self.array(s.left), self.array(s.right)
            if not left[0] == right[0] == self.array(s.into)[0] or left[1] + right[1] - 2 != self.array(s.into)[1]:
                raise NestError(f"{s.left} @ {s.right} is added to {s.into}, which is {self.array(s.into)}")
        elif isinstance(s, Foreign):
            for x in s.args:
                if isinstance(x, str):
                    self.array(x)
                else:
                    self.expr(x)
            self.bind(s.done, (BOOL, None))
            for name, dtype, axes in s.results:
                self.bind(name, (dtype, axes))
        elif isinstance(s, Return):
            for v in s.values:
                if isinstance(v, str):
                    self.array(v)
                else:
                    self.expr(v)


def _bound_in(block: Sequence[Any]) -> Iterator[str]:
    """The names to which statements give something."""
    for s in block:
        if isinstance(s, Foreign):
            yield from [s.done, *[name for name, _, _ in s.results]]
        elif isinstance(s, (For, Parallel)):
            yield s.index
        elif isinstance(getattr(s, "name", None), str):
            yield s.name
        for slot in ("before", "body", "after", "then", "orelse"):
            yield from _bound_in(getattr(s, slot, ()))
