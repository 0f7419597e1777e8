"""What stands for two abstract values where paths meet.

`join` and `join_contents` say which of its questions a `Joiner` is asked. Two branches (`state`), the top of a loop's
body (`loop_head`) and its end (`loop_end`) answer them.
"""

from __future__ import annotations

from typing import Any, Protocol

from .avals import MISSING, Aval, Columns, Conflict, Entries, ItemOf, Items, Ref, is_plain, same_keys


class Joiner(Protocol):
    """What becomes of two values where paths meet: those of two branches, or of the top and the end of a loop's body.

    One of the two may be `MISSING`. `at` is what the joiner knows of the place that holds them.
    """

    def number(self, a: Any, b: Any, at: Any) -> Any:
        """Constants or SSA values."""

    def array(self, a: Any, b: Any, at: Any) -> Any:
        """Arrays, or an array and a number."""

    def container(self, a: Any, b: Any, at: Any) -> Any:
        """Lists, dictionaries or objects of one kind."""

    def part(self, a: Any, b: Any, at: Any, k: int) -> Any:
        """The parts number `k` of two composite values."""

    def clash(self, a: Any, b: Any, at: Any) -> Any:
        """Values of different kinds."""

    # What a cell holds.

    def buffer(self, a: Any, b: Any, at: Any) -> Any:
        """Arrays, as SSA values, or numbers in their place."""

    def item(self, a: Any, b: Any, at: Any) -> Any:
        """Something of which one is an item of a list of run-time length."""

    def run_time_list(self, a: Any, b: Any, at: Any) -> Any:
        """Lists of different lengths, or of lengths known at run time only."""

    def held(self, a: Any, b: Any, at: Any, k: int) -> Any:
        """The items or entries number `k` of two containers."""

    def unknown(self, conflict: Conflict, at: Any) -> Any:
        """Lists of which an item has no common form."""
        return conflict

    def other_keys(self, a: Any, b: Any, at: Any) -> Any:
        """Contents of different kinds, or with different keys."""


def join(a: Any, b: Any, joiner: Joiner, at: Any) -> Any:
    """What stands for `a` on one path and `b` on the other; at least one of them is there."""
    first = b if a is MISSING else a
    if isinstance(first, Aval):
        return first.join(a, b, joiner, at)
    other = b if first is a else a
    if other is MISSING or is_plain(other):
        return joiner.number(a, b, at)
    return joiner.array(a, b, at) if type(other) is Ref else joiner.clash(a, b, at)


def join_contents(a: Any, b: Any, joiner: Joiner, at: Any) -> Any:
    """What a cell holds that holds `a` on one path and `b` on the other; at least one is there, and none is unknown."""
    kinds = (type(a), type(b))
    first = b if a is MISSING else a
    both = a is not MISSING and b is not MISSING
    if ItemOf in kinds:
        return joiner.item(a, b, at)
    if is_plain(first):
        return joiner.other_keys(a, b, at) if both and not is_plain(b) else joiner.buffer(a, b, at)
    if type(first) in (Items, Columns) and (not both or type(b) in (Items, Columns)):
        if Columns in kinds or (both and len(a.items) != len(b.items)):
            return joiner.run_time_list(a, b, at)
    if not isinstance(first, (Items, Entries)) or (both and (type(a) is not type(b) or not same_keys(a.keys, b.keys))):
        return joiner.other_keys(a, b, at)
    missing = (MISSING,) * len(first.items)
    xs, ys = [missing if content is MISSING else content.items for content in (a, b)]
    parts = [joiner.held(x, y, at, k) for k, (x, y) in enumerate(zip(xs, ys))]
    # An entry that has no common form is an error where it is read.
    bad = next((part for part in parts if type(part) is Conflict), None) if type(first) is Items else None
    return joiner.unknown(bad, at) if bad is not None else first.with_parts(parts)
