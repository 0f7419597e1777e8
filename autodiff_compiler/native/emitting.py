"""The statements of a program that is being made, the names in it, and what is known of its numbers.

What is computed of ints that a loop does not change stands in front of it. So do checks of such ints, which make the
program bail. A condition that was checked is not checked again.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..ir.spelling import identifier
from .nest import BOOL, INDEX, Bail, Call, Const, Expr, Length, Load, Name, Set, Stmt, show_expr
from .numbers import NotNative
from .rewriting import names_in, parts
from .views import ONE, ZERO, base_and_offset, differs, plus

# What the text of a program calls.
RESERVED = frozenset({
    "np", "math", "numba", "inf", "nan", "bail", "range", "max", "min", "abs", "len", "int", "float", "Native", "njit",
    "plus", "longer", "choose", "bound", "minimum", "maximum", "bitand", "bitor", "threads",
    "thread_count", "pieces", "in_parts", "position", "opaque", "apart", "quotient", "complex", "many_exp", "many_log",
    "many_tanh", "buffer", "zeroed", "filled",
})  # fmt: skip


@dataclass(slots=True)
class Frame:
    """A block that is being filled.

    index:   of a loop over a range, the name of its index; `low` and `high` bound it, `high` excluded
    trips:   how many trips a loop has at most, or None
    defined: the names that there were before the block
    carried: the names that the loop gives other values
    checks:  what the loop checks before it starts
    """

    block: list[Stmt]
    is_loop: bool = False
    index: str | None = None
    low: Expr = ZERO
    high: Expr = ZERO
    trips: Expr | None = None
    defined: set[str] = field(default_factory=set)
    carried: frozenset[str] = frozenset()
    checks: list[Expr] = field(default_factory=list)
    equal: set[frozenset[Expr]] = field(default_factory=set)
    named: dict[Expr, Name] = field(default_factory=dict)


class Emitting:
    """A program that is being made.

    leasts: what some ints are not less than
    """

    def __init__(self) -> None:
        self.taken_names: set[str] = set(RESERVED)
        self.frames: list[Frame] = [Frame([])]
        self.leasts: dict[Name | Length, int] = {}

    # --- statements ---------------------------------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def emit(self, statement: Stmt) -> None:
        self.frame.block.append(statement)

    @contextmanager
    def block(self, **facts: Any) -> Iterator[Frame]:
        """Statements go to a block of their own."""
        self.frames.append(Frame([], defined=set(self.taken_names), **facts))
        try:
            yield self.frame
        finally:
            self.frames.pop()

    def bail(self, condition: Expr) -> None:
        """Leave the function to NumPy if the condition is true."""
        if not self.is_false(condition):
            self.emit(Bail(condition))

    def bail_early(self, condition: Expr) -> Frame:
        """Likewise, in front of the loops that do not change the condition. Gives the frame.

        A loop without trips may make it leave where it need not. What NumPy computes is right then, too.
        """
        depth, known = len(self.frames) - 1, self.depth_of(condition)
        while depth > known and self.frames[depth].is_loop:
            depth -= 1
        if not self.is_false(condition):
            self.frames[depth].block.append(Bail(condition))
        return self.frames[depth]

    def check_once(self, condition: Expr) -> None:
        """Bail if a condition is true that stays what it is."""
        if self.is_false(condition):
            return
        key = frozenset((condition,))
        if not any(key in frame.equal for frame in self.frames):
            self.bail(condition)
            self.frame.equal.add(key)

    # --- names --------------------------------------------------------------------------------------------------------

    def fresh(self, stem: str) -> str:
        """A name that stands for nothing yet."""
        stem = identifier(stem or "t", "t")
        name, n = stem, 1
        while name in self.taken_names or keyword.iskeyword(name):
            n += 1
            name = f"{stem}_{n}" if stem[-1].isdigit() else f"{stem}{n}"
        self.taken_names.add(name)
        return name

    def named(self, e: Expr, stem: str) -> Expr:
        """A name for a number; one for equal ones."""
        e = self.shorter(e)
        if isinstance(e, (Name, Const, Length)):
            return e
        for frame in reversed(self.frames):
            if e in frame.named:
                return frame.named[e]
        return self.set_where_known(self.fresh(stem), e)

    def set_where_known(self, name: str, e: Expr) -> Name:
        """Give a number a name. What is computed of ints that a loop does not change is computed in front of it."""
        depth = self.depth_of(e) if e.dtype == INDEX else len(self.frames) - 1
        self.frames[depth].block.append(Set(name, e))
        for frame in self.frames[depth + 1 :]:
            frame.defined.add(name)
        found = Name(name, e.dtype)
        self.frames[depth].named[e] = found
        self.know_least(found, e)
        return found

    def depth_of(self, e: Expr) -> int:
        """The outermost frame in which a number has the value that it has here."""
        names, depth = set(names_in(e)), len(self.frames) - 1
        if any(isinstance(part, Load) for part in parts(e)):
            return depth
        while depth and names <= self.frames[depth].defined - self.frames[depth].carried:
            depth -= 1
        return depth

    # --- what is known of ints ----------------------------------------------------------------------------------------

    def least(self, e: Expr) -> int | None:
        """What an int is not less than."""
        if isinstance(e, Const):
            return int(e.value)
        if isinstance(e, (Name, Length)):
            return self.leasts.get(e, 0 if isinstance(e, Length) else None)
        if not isinstance(e, Call) or len(e.args) != 2:
            return None
        if e.fn == "bound":
            return 0
        a, b = map(self.least, e.args)
        if e.fn == "sub" and isinstance(e.args[1], Const):
            b = -e.args[1].value
        elif e.fn == "maximum":
            return max([k for k in (a, b) if k is not None], default=None)
        elif e.fn != "add":
            return None
        return None if a is None or b is None else a + b

    def know_least(self, name: Name, e: Expr) -> None:
        least = self.least(e) if e.dtype == INDEX else None
        if least is not None:
            self.leasts[name] = least

    def is_false(self, condition: Expr) -> bool:
        """The condition is known not to be true."""
        if isinstance(condition, Const):
            return not condition.value
        if not isinstance(condition, Call) or condition.fn not in ("lt", "le", "eq"):
            return False
        n, k = condition.args
        least = self.least(n) if n.dtype == INDEX else None
        if least is None or not isinstance(k, Const):
            return False
        return bool(least >= k.value if condition.fn == "lt" else least > k.value)

    def shorter(self, e: Expr) -> Expr:
        """A length or a position without a bound that it keeps anyway."""
        if isinstance(e, Call) and e.fn in ("minimum", "maximum") and isinstance(e.args[0], Const) and e.dtype == INDEX:
            low, n = e.args
            least = self.least(n)
            if least is not None and least >= low.value:  # type: ignore[union-attr]
                return low if e.fn == "minimum" else n
        return e

    def at_most(self, e: Expr, n: Expr) -> bool:
        """A number is known not to be more than another one, if the loops around have trips at all."""
        for frame in reversed(self.frames):
            base, offset = base_and_offset(e)
            if base_and_offset(n)[0] == base:
                break
            if frame.index is not None and base == Name(frame.index, INDEX):
                e = plus(frame.high, Const(offset - 1, INDEX))
        base, offset = base_and_offset(e)
        other, room = base_and_offset(n)
        return base == other and offset <= room

    def checked_before(self, form: tuple[str, int], n: Expr) -> bool:
        """The position is the index of a loop plus a number; the loop checks its range before it starts."""
        for frame in reversed(self.frames):
            if not frame.is_loop:
                return False
            if frame.index == form[0]:
                if not set(names_in(n)) <= frame.defined - frame.carried:
                    return False
                offset = Const(form[1], INDEX)
                low, last = plus(frame.low, offset), plus(plus(frame.high, Const(-1, INDEX)), offset)
                if isinstance(low, Const) and low.value < 0:
                    return False  # it counts from the end in some trips
                wrong = [] if isinstance(low, Const) else [Call("lt", (low, ZERO), BOOL)]
                if not self.at_most(plus(last, ONE), n):
                    wrong.append(Call("ge", (last, n), BOOL))
                runs = Call("lt", (frame.low, frame.high), BOOL)
                for e in wrong:
                    check = Call("and", (runs, e), BOOL)
                    if check not in frame.checks:
                        frame.checks.append(check)
                return True
        return False

    # --- lengths that are equal ---------------------------------------------------------------------------------------

    def equal(self, a: Expr, b: Expr) -> bool:
        """Two lengths are known to be equal."""
        return a == b or b in self.equals(a)

    def equals(self, n: Expr) -> list[Expr]:
        """The lengths that are known to be equal to one, with itself."""
        pairs = [key for frame in self.frames for key in frame.equal if len(key) == 2]
        found = [n]
        for e in found:
            found += [other for key in pairs if e in key for other in key if other not in found]
        return found

    def first_name(self, n: Expr) -> Expr:
        """One name for all lengths that are known to be equal, so that loops over them have the same range."""
        return min(self.equals(self.named(n, "n")), key=lambda e: (self.depth_of(e), len(show_expr(e)), show_expr(e)))

    def want_equal(self, a: Expr, b: Expr) -> None:
        """Bail unless two lengths are equal."""
        if not self.equal(a, b):
            if isinstance(a, Const) and isinstance(b, Const):
                raise NotNative("shapes that do not fit together")
            self.bail_early(differs(a, b)).equal.add(frozenset((a, b)))
