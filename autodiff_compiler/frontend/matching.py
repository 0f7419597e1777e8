"""Lowering of ``match``: each case is an ``if`` on whether its pattern matches, then on its guard.

What a pattern asks of the subject's structure is known at compile time; what it asks of numbers is compared at run
time.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np

from ..ir.opset import PRIMS
from ..records import mutable_record, record
from .avals import (
    MISSING,
    DictRef,
    Entries,
    Items,
    ListRef,
    Obj,
    RangeOf,
    Seq,
    SliceOf,
    describe,
    is_collection,
    is_constant,
)
from .exits import NORMAL
from .expressions import Expressions
from .folds import proved
from .handlers import Ctx, Node, Val, expands
from .objects import is_object
from .pseudo import choice, computed, expanded, run, surely_exits

# Classes of which a positional pattern stands for the subject itself.
_STRUCTURED = 1 << 5 | 1 << 6  # the flags of classes that patterns take for sequences and for mappings
_ITSELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


@mutable_record
class Found:
    """Whether a pattern matches, a bool or a value that is one, and what it binds if it does."""

    flag: Any = True
    bound: dict[str, Any] = field(default_factory=dict)


@record
class Later:
    """An item that exists only if the pattern matches, so it is read once that is known."""

    read: Callable[[], Any]


def _value(bound: Any) -> Any:
    return bound.read() if type(bound) is Later else bound


def _captures(pattern: ast.pattern) -> list[str]:
    """The names that a pattern binds."""
    nodes = ast.walk(pattern)
    return [node.name for node in nodes if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name is not None] + [
        node.rest for node in ast.walk(pattern) if isinstance(node, ast.MatchMapping) and node.rest is not None
    ]


class Matching(Expressions):
    def cases(self, stmt: ast.Match, subject: Any, k: int) -> list[Any]:
        """The statements that run the first case from the `k`-th on that matches."""
        if k == len(stmt.cases):
            return []
        case = stmt.cases[k]
        found = _match_pattern(self, case.pattern, subject)
        if found.flag is False:
            return self.cases(stmt, subject, k + 1)
        body = [run(lambda: _capture(self, found, case.pattern), case.pattern), *case.body]
        if found.flag is True and case.guard is None:
            return body
        others = ast.Match(stmt.subject, stmt.cases[k + 1 :])
        leaves = bool(others.cases) and surely_exits([others])
        following = expanded(lambda: self.cases(stmt, subject, k + 1), case.pattern, leaves)

        def guarded() -> Any:
            _capture(self, found, case.pattern)
            return True if case.guard is None else self.condition(case.guard)

        test = computed(lambda: self.branch(found.flag, guarded, lambda: False, case.pattern), case.pattern)
        if case.guard is None:
            test = computed(lambda: found.flag, case.pattern)
        return [choice(test, body, [following] if others.cases else [], case.pattern)]

    # --- patterns -------------------------------------------------------------------------------------------------

    def equal(self, av: Val, other: Val, node: Node) -> Val:
        return self.truth(self.compare_with(operator.eq, av, other, node), node)

    def both(self, a: Found, b: Found, node: Node) -> Found:
        if a.flag is False or b.flag is False:
            return Found(False)
        if a.flag is True or b.flag is True:
            flag = b.flag if a.flag is True else a.flag
        else:
            flag = self.emit(node, PRIMS[operator.and_], a.flag, b.flag)
        return Found(flag, {**a.bound, **b.bound})


def _capture(ctx: Matching, found: Found, node: Node) -> int:
    for name, av in found.bound.items():
        ctx.bind(name, _value(av), node)
    return NORMAL


def _match_pattern(ctx: Matching, pattern: ast.pattern, av: Val) -> Found:
    if isinstance(pattern, ast.MatchValue):
        return Found(ctx.equal(av, ctx.ev(pattern.value), pattern))
    if isinstance(pattern, ast.MatchSingleton):
        same = ctx.compare(ast.Is(), av, pattern.value, pattern)
        return Found(same)
    if isinstance(pattern, ast.MatchAs):
        found = Found() if pattern.pattern is None else _match_pattern(ctx, pattern.pattern, av)
        if pattern.name is not None and found.flag is not False:
            found.bound[pattern.name] = av
        return found
    if isinstance(pattern, ast.MatchOr):
        return _match_or(ctx, pattern, av)
    if isinstance(pattern, ast.MatchSequence):
        return _match_sequence(ctx, pattern, av)
    if isinstance(pattern, ast.MatchMapping):
        return _match_mapping(ctx, pattern, av)
    if isinstance(pattern, ast.MatchClass):
        return _match_class(ctx, pattern, av)
    ctx.fail(f"the pattern `{type(pattern).__name__}` is not supported", pattern, "use if/elif")


def _all_of(ctx: Matching, pairs: list[tuple[ast.pattern, Any]], node: Node) -> Found:
    found = Found()
    for pattern, av in pairs:
        found = ctx.both(found, _match_pattern(ctx, pattern, av), node)
        if found.flag is False:
            break
    return found


def _either(ctx: Matching, a: Found, b: Found, node: Node) -> Found:
    bound = {}
    for name in a.bound:
        x, y = a.bound[name], b.bound[name]
        bound[name] = ctx.branch(a.flag, partial(_value, x), partial(_value, y), node)
    return Found(True if b.flag is True else ctx.emit(node, PRIMS[operator.or_], a.flag, b.flag), bound)


def _match_or(ctx: Matching, pattern: ast.MatchOr, av: Val) -> Found:
    found = Found(False)
    for alternative in pattern.patterns:
        other = _match_pattern(ctx, alternative, av)
        if other.flag is False:
            continue
        if found.flag is False or found.flag is True:
            found = other if found.flag is False else found
        else:
            found = _either(ctx, found, other, pattern)
        if found.flag is True:
            break
    return found


def _known_structure(ctx: Matching, av: Val, pattern: Node) -> None:
    """Fail if it is not known whether this is a sequence or a mapping."""
    cls = ctx.class_of(av, pattern)
    unknown = (type(av) is Obj or is_object(av)) and type(av) is not Seq
    if cls is None or unknown and cls.__flags__ & _STRUCTURED:
        ctx.fail(
            f"whether {describe(av)} has this structure is not known when the program is compiled",
            pattern,
            "use if/elif",
        )


def _structured(ctx: Matching, av: Val, pattern: Node) -> Val:
    """The sequence or the dictionary that a deque or a dictionary with a default is."""
    av = ctx.underlying(av, pattern, "__len__", "__iter__", "__getitem__", "get", "keys")
    _known_structure(ctx, av, pattern)
    return ctx.inner(av, pattern) if is_collection(av) and av.cls.__flags__ & _STRUCTURED else av


def _match_sequence(ctx: Matching, pattern: ast.MatchSequence, av: Val) -> Found:
    av = _structured(ctx, av, pattern)
    if type(av) is ListRef and type(ctx.checked(av.cell, pattern, "list")) is not Items:
        return _match_items(ctx, pattern, av)
    if type(av) is RangeOf and not all(is_constant(x) for x in (av.start, av.stop, av.step)):
        return _match_items(ctx, pattern, av)
    if type(av) not in (Seq, ListRef, RangeOf):
        # Patterns of newer versions of NumPy take arrays for sequences.
        taken = ctx.class_of(av, pattern) is np.ndarray and np.ndarray.__flags__ & _STRUCTURED
        return _match_items(ctx, pattern, av) if taken else Found(False)
    items = ctx.static_items(av, pattern)
    patterns = pattern.patterns
    star = next((k for k, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
    if star is None:
        return _all_of(ctx, list(zip(patterns, items)), pattern) if len(items) == len(patterns) else Found(False)
    after = len(patterns) - star - 1
    if len(items) < len(patterns) - 1:
        return Found(False)
    ends = [*zip(patterns[:star], items[:star]), *zip(patterns[star + 1 :], items[len(items) - after :])]
    found = _all_of(ctx, ends, pattern)
    starred = patterns[star]
    assert isinstance(starred, ast.MatchStar)
    if starred.name is not None and found.flag is not False:
        found.bound[starred.name] = ctx.new_list(items[star : len(items) - after])
    return found


def _match_items(ctx: Matching, pattern: ast.MatchSequence, av: Val) -> Found:
    """Match an array, or a list or range whose length only the run knows: first its length, then its items."""
    patterns = pattern.patterns
    star = next((k for k, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
    shortest = len(patterns) - (star is not None)
    compare = operator.eq if star is None else operator.ge
    flag: Any = True
    if star is None or shortest:  # `[*_]` does not ask for the length, which an array without axes has not
        flag = ctx.truth(ctx.compare_with(compare, ctx.length(av, pattern), shortest, pattern), pattern)

    def item(k: int) -> Any:
        if k == star:
            end = k - shortest or None
            return ctx.call(Obj(list, None), [ctx.subscript(av, SliceOf(k, end, None), pattern)], {}, pattern)
        return ctx.subscript(av, k if star is None or k < star else k - len(patterns), pattern)

    def flag_of(k: int) -> Any:
        return _match_pattern(ctx, patterns[k], item(k)).flag

    def capture_of(k: int, name: str) -> Any:
        return _value(_match_pattern(ctx, patterns[k], item(k)).bound[name])

    found = Found(flag)
    for k, p in enumerate(patterns):
        if isinstance(p, ast.MatchStar) or isinstance(p, ast.MatchAs) and p.pattern is None:
            if p.name is not None:
                found.bound[p.name] = Later(partial(item, k))
            continue
        found.flag = ctx.branch(found.flag, partial(flag_of, k), lambda: False, pattern)
        for name in _captures(p):
            found.bound[name] = Later(partial(capture_of, k, name))
    return found


def _match_mapping(ctx: Matching, pattern: ast.MatchMapping, av: Val) -> Found:
    av = _structured(ctx, av, pattern)
    if type(av) is not DictRef:
        return Found(False)
    content: Entries = ctx.checked(av.cell, pattern, "dictionary")
    entries = dict(zip(content.keys, content.items))
    keys = [ctx.static_key(ctx.ev(key), key) for key in pattern.keys]
    if any(key not in entries for key in keys):
        return Found(False)
    pairs = [(p, ctx.use(entries[key], repr(key), p)) for key, p in zip(keys, pattern.patterns)]
    found = _all_of(ctx, pairs, pattern)
    if pattern.rest is not None and found.flag is not False:
        found.bound[pattern.rest] = ctx.new_dict({k: v for k, v in entries.items() if k not in keys})
    return found


def _match_class(ctx: Matching, pattern: ast.MatchClass, av: Val) -> Found:
    cls = ctx.ev(pattern.cls)
    if type(cls) is not Obj or not isinstance(cls.obj, type):
        ctx.fail("this is not a class known when the program is compiled", pattern.cls, "name the class itself")
    found = Found(ctx.truth(ctx.call(Obj(isinstance, None), [av, cls], {}, pattern), pattern))
    if found.flag is False:
        return found
    ctx.pinned(cls)
    if cls.obj in _ITSELF and len(pattern.patterns) == 1 and not pattern.kwd_patterns:
        return ctx.both(found, _match_pattern(ctx, pattern.patterns[0], av), pattern)
    names = list(getattr(cls.obj, "__match_args__", ()))
    if len(pattern.patterns) > len(names):
        given = f"({len(pattern.patterns)} given)"
        ctx.raises(TypeError, f"{cls.obj.__name__}() accepts {len(names)} positional sub-patterns {given}", pattern)
    wanted = [*zip(names, pattern.patterns), *zip(pattern.kwd_attrs, pattern.kwd_patterns)]
    if wanted and found.flag is not True:
        ctx.fail(
            "whether this is an object of the class is not known when the program is compiled", pattern, "use if/elif"
        )
    pairs = []
    for name, sub in wanted:
        held = ctx.looked_up(av, name, True, pattern)
        if held is MISSING:
            return Found(proved("class", False))
        pairs.append((sub, held))
    return ctx.both(found, _all_of(ctx, pairs, pattern), pattern)


@expands(ast.Match)
def _match(ctx: Ctx, stmt: ast.Match) -> list[Any]:
    return ctx.cases(stmt, ctx.ev(stmt.subject), 0)
