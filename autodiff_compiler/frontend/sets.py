"""The order in which Python goes through a set.

It follows from the hashes of the members and from all that was done to the set: sets that are equal may be gone through
in different orders. So it is not computed here but asked of Python. With each set goes its history, and a real set to
which the same was done, with the same sets, dictionaries and lists.
"""

from __future__ import annotations

import dataclasses
import enum
import types
from collections.abc import Callable
from typing import Any

from ..ir.core import structural_key
from ..lowered import Path, is_steady
from .avals import Instance, Obj, Seq, is_constant, key_av
from .handlers import Val


class History:
    """How a set came to be: ``fn(*parts)``, where parts are histories and plain objects. With `before`, `fn` is a
    method that changed the set that was there before. With `path`, it is a set that was found outside.

    sure:   Python goes through it in one order, as long as the process lasts
    steady: and in the same order in any other process
    leaves: the sets from outside that went into it
    """

    __slots__ = ("before", "fn", "leaves", "parts", "path", "real", "steady", "sure")

    def __init__(
        self, fn: Callable[..., Any], parts: tuple[Any, ...], before: History | None = None, path: Path | None = None
    ):  # fmt: skip
        self.fn, self.parts, self.before, self.path = fn, parts, before, path
        known = [p for p in (before, *parts) if isinstance(p, History)]
        members = [m for p in parts if not isinstance(p, History) for m in (p if path or not _is_key(p) else (p,))]
        # A copy of a set from outside is not laid out as the set itself is.
        self.sure: bool = (
            all(p.sure for p in known) and all(map(_is_sure, members)) and (before is None or not before.path)
        )
        self.steady: bool = all(p.steady for p in known) and all(map(is_steady, members))
        self.leaves: tuple[History, ...] = tuple(dict.fromkeys([leaf for p in known for leaf in p.leaves]))
        if path is not None:
            self.leaves = (self,)
        self.real: Any = None  # the set, unless it was changed since

    def look(self) -> Any:
        """The real set. It must not be changed."""
        if self.real is None:
            self.real = self.made({})
        return self.real

    def made(self, outside: dict[History, Any]) -> Any:
        """The set made anew, from other sets in the place of those from outside."""

        def given(part: Any) -> Any:
            if not isinstance(part, History):
                return part
            return part.made(outside) if part.leaves and outside else part.look()

        steps: list[History] = []
        first = self
        while first.before is not None:
            steps.append(first)
            first = first.before
        if first.path is None:
            new = first.fn(*map(given, first.parts))
        else:
            new = outside.get(first, first.parts[0])
            new = new.copy() if steps else new
        for step in reversed(steps):
            step.fn(new, *map(given, step.parts))
        return new

    def changed(self, fn: Callable[..., Any], *parts: Val) -> tuple[History, Any]:
        """What becomes of it by ``fn(set, *parts)``, and what that returns."""
        new = History(fn, parts, before=self)
        real = self.look()
        if self.path is not None:
            real = real.copy()
        else:
            self.real = None  # it is changed now; whoever asks for the former state has it made anew
        result = fn(real, *[p.look() if isinstance(p, History) else p for p in parts])
        new.real = real
        return new, result

    @property
    def order(self) -> tuple[Any, ...]:
        return tuple(self.look())


def set_parts(history: History) -> dict[str, Any]:
    """What the heap holds of a set: its members in an order that says nothing, and its history."""
    members = sorted(history.look(), key=lambda k: (type(k).__name__, repr(k) if is_constant(k) else ""))
    return {"members": Seq(tuple(map(key_av, members))), "order": Obj(history)}


def is_set(av: Val) -> bool:
    return type(av) is Instance and av.cls in (set, frozenset)


def _is_key(part: Any) -> bool:
    return not isinstance(part, (list, dict, set, frozenset, type({}.keys()), type({}.items())))


def _is_sure(member: Any) -> bool:
    """Its hash is the same whenever it is asked for, in this process."""
    if isinstance(member, (tuple, frozenset)):
        return all(map(_is_sure, member))
    if isinstance(member, (float, complex)):
        return bool(member == member)  # the hash of nan is that of the object
    if isinstance(member, enum.Enum) or dataclasses.is_dataclass(type(member)):
        return True
    return not isinstance(getattr(type(member), "__hash__", None), types.FunctionType)


def literal_constant(code: types.CodeType, members: set[Any]) -> tuple[frozenset[Any] | None, bool]:
    """The constant from which a function's code makes a set of these members, if it has one; and whether it is the only
    one."""
    wanted = structural_key(frozenset(members))
    found = [c for c in _constants(code) if isinstance(c, frozenset) and structural_key(c) == wanted]
    orders = {structural_key(tuple(c)) for c in found}
    return (found[0] if found else None), len(orders) < 2


def _constants(code: types.CodeType) -> list[Any]:
    out: list[Any] = []
    for const in code.co_consts:
        out += _constants(const) if isinstance(const, types.CodeType) else [const]
    return out
