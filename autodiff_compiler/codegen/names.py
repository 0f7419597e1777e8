"""Names for values: which values share one Python variable, and what it is called.

Takes the values that are printed as statements. Gives each a name. Two values may share a variable if neither is needed
while the other lives, and if they are versions of one quantity: the user gave them one name, or one expression computes
both. Only arrays without a name share ``t``, ``t2`` and so on with others, so that their memory is freed. A life is a
set of intervals of print positions. It has holes for the branches of an ``if`` that do not read the value. It reaches
to the end of a loop that reads the value from outside. The user's names come first.

>>> from autodiff_compiler.api.stages import show, show_source
>>> def f(x):
...     h = x * x
...     for _ in range(9):
...         h = h * 0.5
...     return h
>>> show(f, 2.0)
func f(%x: float) {
  %h: float = * %x, %x
  %h3: float, %trips: int, %code: int = loop %_: int in range(0, 9, 1) with (%h2: float = %h) {
    %h4: float = * %h2, 0.5
    yield normal, %h4
  }
  return %h3
}
>>> show_source(f, 2.0)
def f_grad(x):
    h_bar = 1.0
    # adjoint of line 3: for _ in range(9):
    for _ in reversed(range(9)):
        # adjoint of line 4: h = h * 0.5
        h_bar *= 0.5
    return 2.0 * (h_bar * x)
"""

from __future__ import annotations

import builtins
import keyword
import sys
from bisect import bisect_left, bisect_right, insort
from operator import itemgetter
from typing import Any

from .. import rows
from ..ir.core import DERIVED, FUNC, IF, LOOP, TRY, UNDEF, Op, Prim, Region, Value, leaves, type_of
from ..ir.opset import DTYPE, NDIM, POP, PUSH, SHAPE_OF, SIZE, STORES
from ..ir.rewrite import handler_of, region_of
from ..ir.spelling import identifier
from ..ir.telling import Telling, telling

Interval = tuple[float, float]
Parts = tuple[list[int], set[int]]  # of `Numbers`
# Helpers that emitted code may call.
HELPERS = frozenset(
    [
        *rows.__all__,
        "accum",
        "cast",
        "copy",
        "dim",
        "finite",
        "format_",
        "full_like",
        "put_back",
        "rolled",
        "spread",
        "stored_part",
        "sum_to",
        "zeros",
    ]
)


def is_kernel(prim: Prim) -> bool:
    """The primitive is printed as a call of a kernel, which the runtime exports under the primitive's name."""
    return (getattr(prim.fn, "__module__", "") or "").startswith("autodiff_compiler.kernels.")


def home_of_kernel(prim: Prim) -> str:
    """The module from which emitted code imports a kernel: those of SciPy's parts are not in the runtime."""
    module: str = prim.fn.__module__
    return module if module.startswith("autodiff_compiler.kernels.scipy.") else "autodiff_compiler.runtime"


def part_of_scipy(prim: Prim) -> str:
    """How emitted code refers to the module of a function of SciPy's: "special" for `scipy.special.erf`."""
    module, _, name = prim.name.rpartition(".")
    if not module.startswith("scipy.") or getattr(sys.modules.get(module), name, None) is not prim.fn:
        return ""  # the function behind a property, say
    return module.rpartition(".")[2]


# `_` is what the printer calls a loop variable or a result that nobody reads.
RESERVED = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | frozenset(["np", "math", "_"]) | HELPERS


# Printed as an attribute of an array. For a value that may be a number, printed as a call of a helper of this name.
_ASKED = {SHAPE_OF: "shape", NDIM: "ndim", SIZE: "size", DTYPE: "dtype"}


def _is_helper(prim: Prim) -> bool:
    home = getattr(prim.fn, "__module__", "")
    return home == "autodiff_compiler.errors" or (home == "autodiff_compiler.runtime" and prim not in _ASKED)


def _is_asked(op: Op) -> bool:
    return type_of(op.args[0]).kind not in ("array", "generic")


class Group:
    """Values that share a variable.

    quantity: what they are versions of; groups with different ones have different names
    """

    __slots__ = ("values", "spans", "name", "nested", "home", "seen", "quantity")

    def __init__(self, value: Value, spans: list[Interval], nested: bool = False, home: Op | None = None):
        self.nested = nested  # a variable of the pullback
        self.home = home  # the recursive function whose variable it is, if any
        self.seen: set[Op | None] = {home}  # the functions in which it is named
        self.values = [value]
        self.spans = _merged(spans)
        self.name = ""
        self.quantity = ""


class Variable:
    """A name that was given.

    homes: the functions with a variable of this name. For each, the functions that name the variable, and the times of
           its use.
    """

    __slots__ = ("nested", "quantity", "homes")

    def __init__(self, group: Group, spans: list[Interval]):
        self.nested = group.nested
        self.quantity = group.quantity
        self.homes: dict[Op | None, tuple[set[Op | None], list[Interval]]] = {}
        self.give(group, spans)

    def is_free(self, group: Group, spans: list[Interval]) -> bool:
        """The group may have it as well."""
        if self.nested != group.nested or self.quantity != group.quantity:
            return False
        for home, (seen, busy) in self.homes.items():
            if _meet(busy, spans) if home is group.home else seen & group.seen:
                return False
        return True

    def give(self, group: Group, spans: list[Interval]) -> None:
        seen, busy = self.homes.setdefault(group.home, (set(), []))
        seen |= group.seen
        for span in spans:
            insort(busy, span)


class Numbers:
    """When the numbers of the names with one stem are in use: a tree of halves of the time.

    Sets of numbers are integers, with a bit for each. A large program has thousands of lives and hundreds of names, so
    a life asks for all numbers at once.

    ranks: the places of the ends of all intervals in their order
    fixed: the numbers that cannot be had at any time; there is no number 0
    """

    def __init__(self, ranks: dict[float, int]) -> None:
        self.ranks = ranks
        self.fixed = 1
        self.whole: dict[int, int] = {}  # in use during all of a part of the tree
        self.some: dict[int, int] = {}  # in use at some time in it

    def taken(self, parts: list[Parts]) -> int:
        """The numbers that are in use at some time in these parts."""
        found = self.fixed
        whole, some = self.whole, self.some
        for inner, above in parts:
            for part in inner:
                found |= some.get(part, 0)
            for part in above:
                found |= whole.get(part, 0)
        return found

    def take(self, bit: int, parts: list[Parts]) -> None:
        """The number is in use in these parts."""
        whole, some = self.whole, self.some
        for inner, above in parts:
            for part in inner:
                whole[part] = whole.get(part, 0) | bit
                some[part] = some.get(part, 0) | bit
            for part in above:
                some[part] = some.get(part, 0) | bit

    def parts(self, span: Interval) -> Parts:
        """The parts of the tree that an interval is put together of, and all in which it begins or ends."""
        n = len(self.ranks)
        low, high = self.ranks[span[0]] + n, self.ranks[span[1]] + n
        parts: list[int] = []
        above: set[int] = set()
        if low < high:
            for part in (low, high - 1):
                while part := part >> 1:
                    above.add(part)
        while low < high:
            if low & 1:
                parts.append(low)
                low += 1
            if high & 1:
                high -= 1
                parts.append(high)
            low >>= 1
            high >>= 1
        return parts, above


class Naming:
    def __init__(self, body: Region, inlined: dict[Op, Op | Region], reserved: set[str], inner: set[Op] | None = None):
        """inner: the top-level operations that are printed in a nested function, which has its own variables."""
        self.body = body
        self.inner = inner or set()
        self.inlined = inlined
        self.start: dict[Any, float] = {}
        self.end: dict[Any, float] = {}
        self.home: dict[Region, Op | None] = {}  # the function of its own that the region is in, if any
        self.clock = 0.0
        self._number(body)
        self.used: dict[Value, list[tuple[float, Region]]] = {}
        self._collect(body)
        self.group: dict[Value, Group] = {}
        logged = {
            op.prim.fn.__dict__["logged"] for op in body.walk() if "logged" in getattr(op.prim.fn, "__dict__", ())
        }
        prims = {op.prim for op in body.walk()} | logged
        called = {prim.name for prim in prims if is_kernel(prim)}
        called |= {getattr(prim.fn, "__name__", "") for prim in prims if _is_helper(prim)}
        called |= set(map(part_of_scipy, prims))
        called |= {_ASKED[op.prim] for op in body.walk() if op.prim in _ASKED and _is_asked(op)}
        called |= {_ASKED[prim] for prim in logged if prim in _ASKED}
        self.fixed = RESERVED | reserved | called  # names that are not given, or not given again
        self.numbers: dict[
            tuple[str, str, Op | None], Numbers
        ] = {}  # of a stem for a quantity in a function of its own
        self.given: dict[str, Variable] = {}
        self._make_groups(body)
        self._coalesce(body)
        self._name()

    def of(self, v: Value) -> str:
        return self.group[v].name

    def is_taken(self, name: str) -> bool:
        return name in self.given or name in self.fixed

    def is_variable(self, name: str, nested: bool) -> bool:
        """A variable of the function has this name: of the nested one, if asked for."""
        known = self.given.get(name)
        return known is not None and known.nested == nested and None in known.homes

    def same(self, a: Value, b: Any) -> bool:
        return type(b) is Value and b in self.group and self.group[a] is self.group[b]

    def share(self, v: Value, other: Value) -> None:
        """Give a value that was to be nested the variable of another one."""
        self.group[v] = self.group[other]

    def name_late(self, v: Value, user: Op) -> None:
        """Name a value that was to be nested in a statement, and now is computed right in front of it."""
        some = self.group[user.results[0]] if user.results and user.results[0] in self.group else None
        ends = sorted(self.ranks)
        first = max(bisect_left(ends, self.start[user]) - 1, 0)  # what the statement reads is still there
        last = min(bisect_left(ends, self.start[user] + 0.5), len(ends) - 1)
        nested = some.nested if some is not None else any(user is op for op in self.inner)
        made = Group(v, [(ends[first], ends[last])], nested, self.home[user.parent])  # type: ignore[index]
        if not _is_large(made) and ends:
            made.spans = [(ends[0], ends[-1])]
        made.name = self._pick(_stem_of(v), made)
        self.group[v] = made

    # --- lives ----------------------------------------------------------------------------------------------------

    def _number(self, region: Region, home: Op | None = None) -> None:
        self.home[region] = home
        self.clock += 1
        self.start[region] = self.clock
        for op in region.ops:
            self.clock += 1
            self.start[op] = self.clock
            for inner in op.regions:
                self._number(inner, op if op.prim is FUNC else home)
            self.clock += 1
            self.end[op] = self.clock
        self.clock += 1
        self.end[region] = self.clock

    def _where(self, op: Op) -> float:
        """Where the operation is printed: at the statement that it is nested into."""
        if op not in self.inlined:
            return self.start[op]
        at: Any = op
        while isinstance(at, Op) and at in self.inlined:
            at = self.inlined[at]
        if at is not op and isinstance(at, Op) and at.prim is LOOP:
            return self._range_is_read(at)
        return self.end[at] if isinstance(at, Region) else self.start[at]

    def _range_is_read(self, loop: Op) -> float:
        """After the carried variables have got their first values."""
        return self.start[loop.regions[0]] + 0.6

    def _collect(self, region: Region) -> None:
        for op in region.ops:
            at = self._where(op)
            if op.prim is LOOP:
                for v in leaves(op.args[0]):
                    self.used.setdefault(v, []).append((self._range_is_read(op), region))
            for v in op.operands():
                self.used.setdefault(v, []).append((at, region))
            for inner in op.regions:
                self._collect(inner)
        for v in leaves(region.exit):
            self.used.setdefault(v, []).append((self.end[region], region))

    def _spans(self, v: Value) -> list[Interval]:
        home = region_of(v)
        if v.op is None:
            begin = self.start[home]
        else:
            begin = self.end[v.op] if v.op.regions else self.start[v.op]
        spans: list[Interval] = [(begin, begin + 0.5)]
        if v.op is not None and v.op.prim is LOOP and v in (v.op.trips, v.op.exit_code):
            spans.append((self.start[v.op], self.end[v.op]))  # counted while the loop runs
        if v.op is not None and v.op.prim is TRY and v in v.op.results[:2]:
            # Python deletes the name of the exception at the end of the handler.
            spans.append((self.start[v.op], self.end[handler_of(v.op, self.inlined) or v.op]))
        last = begin
        seen: dict[Region, bool] = {}  # regions with a use, deeper ones included; whether they lie in a loop
        for at, region in self.used.get(v, ()):
            if region is home:
                last = max(last, at)
                continue
            chain: list[Region] = []
            inner: Region | None = region
            while inner is not None and inner is not home and inner not in seen:
                chain.append(inner)
                inner = inner.op.parent if inner.op is not None else None
            looped = inner is not None and seen.get(inner, False)
            since = begin if inner is None or inner is home else self.start[inner]
            for step in reversed(chain):
                owner = step.op
                assert owner is not None
                if not looped:
                    looped = owner.prim is LOOP
                    spans.append((since, self.end[owner] if looped else self.start[owner]))
                seen[step] = looped
                since = self.start[step]
            if not looped:
                spans.append((self.start[region], at))
        if last > begin:
            spans.append((begin, last))
        return spans

    def _make_groups(self, region: Region, nested: bool = False, home: Op | None = None) -> None:
        for p in region.params:
            self._make_group(p, nested, home)
        for op in region.ops:
            within = nested or op in self.inner
            for r in op.results:
                if op not in self.inlined:
                    self._make_group(r, within, home)
            for inner in op.regions:
                self._make_groups(inner, within, op if op.prim is FUNC else home)
        if region is self.body:
            if self.inner:
                for p in region.params:
                    self.group[p].spans = [(0.0, float("inf"))]
                # The nested function may be called at any time, so the values that it reads live on.
                read = self.read_inside()
                for g in self.group.values():
                    if not g.nested and any(v in read for v in g.values):
                        g.spans = [(min(s for s, _ in g.spans), float("inf"))]

    def read_inside(self) -> set[Value]:
        """The values that the nested function reads."""
        read: set[Value] = set(leaves(self.body.exit))
        for op in self.inner:
            read.update(op.operands())
            for region in op.regions:
                read.update(leaves(region.exit))
                for inner in region.walk():
                    read.update(inner.operands())
                    for r in inner.regions:
                        read.update(leaves(r.exit))
        return read

    def _make_group(self, v: Value, nested: bool, home: Op | None) -> None:
        self.group[v] = made = Group(v, self._spans(v), nested, home)
        made.seen.update([self.home[region] for _, region in self.used.get(v, ())])
        if len(made.seen) > 1:
            # A function that reads it may be called at any time.
            made.spans = [(min(made.spans)[0], float("inf"))]

    # --- sharing --------------------------------------------------------------------------------------------------

    def _merge(self, a: Any, b: Any, force: bool = False, restored: bool = False) -> None:
        """Let two values have one variable, if they may. `restored`: `b` is `a`, as it was saved."""
        if type(a) is not Value or type(b) is not Value or a not in self.group or b not in self.group:
            return
        ga, gb = self.group[a], self.group[b]
        if ga is gb or ga.nested != gb.nested or ga.home is not gb.home:
            return
        few, many = sorted((ga.spans, gb.spans), key=len)
        if not force and _meet(many, few):
            return
        if not force and not restored and is_derived(a) != is_derived(b):
            return  # a cotangent does not go by the name of a primal value
        if not force and not is_derived(a) and not _is_one(_hint_of(ga), _hint_of(gb)):
            return  # nor a quantity by that of another. A cotangent may be that of several: each name is right
        ga.values += gb.values
        ga.spans = _joined(many, few)
        ga.seen |= gb.seen
        for v in gb.values:
            self.group[v] = ga

    def _coalesce(self, body: Region) -> None:
        stores = [op for op in body.walk() if op.prim in STORES]
        for op in stores:
            # Done in place: the result is the same object.
            base = op.args[0]
            if not (base.op is None and region_of(base) is self.body):
                self._merge(base, op.results[0], force=True)
        for op in body.walk():
            if not op.regions:
                continue
            if op.prim is LOOP:
                inner = op.regions[0]
                for k, init in enumerate(op.inits):
                    self._merge(inner.params[k + 1], inner.exit[k + 1])
                    self._merge(inner.params[k + 1], op.results[k])
                    self._merge(inner.params[k + 1], init)
            elif op.prim is IF:
                for k, r in enumerate(op.results):
                    for side in op.regions:
                        self._merge(r, side.exit[k])
            elif op.prim is TRY:
                for r, out in zip(op.results[2:], op.regions[0].exit):
                    self._merge(r, out)
        self._keep_saved(body)

    def _keep_saved(self, body: Region) -> None:
        """What is saved without a name comes back under the one that it gets."""
        pushed: dict[Value, list[Any]] = {}
        for op in body.walk():
            if op.prim is PUSH:
                pushed.setdefault(op.args[0], []).append(op.args[1])
        origin: dict[Value, Value] = {}  # of a list that was saved itself
        for op in body.walk():
            if op.prim is not POP:
                continue
            for saved in pushed.get(origin.get(op.args[0], op.args[0]), ()):
                for v, back in zip(saved if isinstance(saved, tuple) else (saved,), op.results):
                    if v not in self.group or back not in self.group:
                        continue
                    if v in pushed:
                        origin[back] = v
                    about = telling(v)
                    if about and (not back.hint or type(back.hint) is Telling):
                        back.hint = about
                    elif not any(_hint_of(self.group[x]) for x in (v, back)):
                        self._merge(v, back, restored=True)

    def _name(self) -> None:
        ordered = sorted(dict.fromkeys(self.group.values()), key=lambda g: min(g.spans)[0])
        ends = sorted({end for g in ordered for span in g.spans for end in span})
        self.ranks = {end: rank for rank, end in enumerate(ends)}
        for p in self.body.params:
            g = self.group[p]
            if not g.name:
                g.quantity = p.hint or "x"
                g.name = self._pick(g.quantity, g)
        # The user's names come first; temporaries take none of them.
        for g in ordered:
            if not g.name and (hint := _hint_of(g)) and type(hint) is str:
                g.quantity = f"index {hint}" if any(map(_is_index, g.values)) else hint
                g.name = self._pick(hint, g)
        self._end_of_kind()
        told = {g: about for g in ordered if not g.name and (about := _telling_of(g))}
        for g, about in told.items():
            g.quantity = about.exact or about
        crowded = _crowded(ordered)
        for g, about in told.items():
            if g.quantity in crowded or (about[-1].isdigit() and not self._is_free(about, g)):
                g.quantity = ""  # a number after a number would tell of another element
            else:
                g.name = self._pick(str(about), g)
        self._end_of_kind()
        whole = [(ends[0], ends[-1])] if ends else []
        first = next(iter(leaves(self.body.exit)), None)
        for g in ordered:
            if not g.name:
                if not _is_large(g):
                    g.spans = whole  # it keeps its name to itself
                is_result = first in g.values and not is_derived(g.values[0])
                g.name = self._pick("value" if is_result else _stem_of(g.values[0]), g)

    def _end_of_kind(self) -> None:
        """The names that were given so far are not given to what follows."""
        self.fixed |= self.given.keys()
        self.numbers.clear()

    def _is_free(self, name: str, group: Group) -> bool:
        known = self.given.get(name)
        return name not in self.fixed and (known is None or known.is_free(group, group.spans))

    def _pick(self, stem: str, group: Group) -> str:
        stem = identifier(stem, "t")
        spans = group.spans
        if stem not in self.given and stem not in self.fixed:
            self.given[stem] = Variable(group, spans)
            return stem
        kind = (stem, group.quantity, group.home)
        numbers = self.numbers.get(kind)
        if numbers is None:
            numbers = self.numbers[kind] = Numbers(self.ranks)
        parts = list(map(numbers.parts, spans))
        taken = numbers.taken(parts)
        while True:
            bit = ~taken & (taken + 1)  # of the lowest number that is free
            taken |= bit
            n = bit.bit_length() - 1
            name = stem if n == 1 else f"{stem}{n}" if not stem[-1].isdigit() else f"{stem}_{n}"
            known = self.given.get(name)
            if name in self.fixed or (known is not None and known.quantity != group.quantity):
                numbers.fixed |= bit
                continue
            if known is None:
                self.given[name] = Variable(group, spans)
            elif known.is_free(group, spans):
                known.give(group, spans)
            else:
                continue
            numbers.take(bit, parts)
            return name


def is_derived(v: Value) -> bool:
    """Made by the reverse transform."""
    while True:
        op = v.op if v.op is not None else v.region.op if v.region is not None else None
        if op is None or op.tag == DERIVED or op.prim is not LOOP:
            return op is not None and op.tag == DERIVED
        # Such a loop may carry cotangents as well, which the operations of the backward sweep make.
        places = op.results if v.op is op else op.regions[0].params[1:]
        k = places.index(v) if v in places else len(op.inits)
        last = op.regions[0].exit[k + 1] if k < len(op.inits) else None
        if type(last) is not Value or last.op is None:
            return False
        v = last


def _hint_of(group: Group) -> str:
    """The user's name; else what the compiler calls one of the values."""
    hints = [v.hint for v in group.values if v.hint and v.hint != "_"]
    return next((hint for hint in hints if type(hint) is str), hints[0]) if hints else ""


def _is_one(a: str, b: str) -> bool:
    """Two values with these hints may be versions of one quantity."""
    return not (a and b) or a == b or Telling in (type(a), type(b))


def _telling_of(group: Group) -> Telling | None:
    """A name from an expression, if that is what each of the values is."""
    if any(map(_is_index, group.values)):
        return Telling("i", "index i")
    given = {v.hint for v in group.values if v.hint and type(v.hint) is Telling}
    if given:
        return given.pop() if len(given) == 1 else None
    made = [v for v in group.values if v.op is None or v.op.prim not in STORES]
    found = {telling(v) for v in made}
    if len(found) != 1 or (len(made) < len(group.values) and not all(map(_is_view, made))):
        return None
    return found.pop() or None


def _is_view(v: Value) -> bool:
    return v.op is not None and v.op.prim.alias == "view"


def _is_large(group: Group) -> bool:
    """An array with memory of its own, which goes when its variable gets another value."""
    return any(not v.type.is_scalar and not _is_view(v) for v in group.values)


def _crowded(groups: list[Group]) -> set[str]:
    """The quantities that get no variable of their own, since too many arrays would be in memory at once.

    A variable keeps its array until the function returns, or until it gets another one. The arrays that nothing reads
    any more must not be more than what there is room for: with those that are read, never more than are read at once
    at some other time. The user's variables count as read to the end. Arrays with fewer axes than others do not count.
    """
    large = [g for g in groups if _is_large(g)]
    axes = [max([v.type.ndim or 0 for v in g.values]) for g in large]
    lives: dict[str, Interval] = {}
    for k, g in enumerate(large):
        if axes[k] == max(axes):
            start, end = g.spans[0][0], float("inf") if g.name else g.spans[-1][1]
            about = f"variable {g.name}" if g.name else g.quantity or f"value {k}"
            before = lives.get(about, (start, end))
            lives[about] = (min(before[0], start), max(before[1], end))
    # From the end of the function to its start: the life of an array begins with its end.
    events = sorted([event for about, (s, e) in lives.items() for event in ((-e, 0, about), (-s, 1, about))])
    count, room, found = 0, 0, set()
    for _, begun, _ in events:
        count += -1 if begun else 1
        room = max(room, count)
    count = most = 0
    for at, begun, about in events:
        if not begun and at > -float("inf") and not about.startswith("value "):
            if most < room:
                most += 1
            else:
                found.add(about)
        count += -1 if begun else 1
        most = max(most, count)
    return found


def _is_index(v: Value) -> bool:
    """Counted by a loop."""
    loop = v.region.op if v.op is None and v.region is not None else None
    return loop is not None and loop.prim is LOOP and v is loop.regions[0].params[0]


def _stem_of(v: Value) -> str:
    """The name of a value without a hint: one for lengths, one for conditions, one for all else."""
    t = v.type
    if v.op is not None and v.op.prim is TRY and v in v.op.results[:2]:
        return "completed" if v is v.op.completed else "error"
    if t.kind == "py" and t.dtype is not None and t.dtype.kind in "ib":
        return "n" if t.dtype.kind == "i" else "cond"
    return "t"


def _merged(spans: list[Interval]) -> list[Interval]:
    """The same time, in order, as intervals that do not overlap."""
    out: list[Interval] = []
    for s, e in sorted(spans):
        if out and s < out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], e))
        else:
            out.append((s, e))
    return out


def _joined(many: list[Interval], few: list[Interval]) -> list[Interval]:
    """`_merged` of two lists that are merged already. The longer list is changed."""
    for s, e in few:
        first = bisect_right(many, s, key=itemgetter(1))
        last = bisect_left(many, e, first, key=itemgetter(0))
        if first < last:
            s, e = min(s, many[first][0]), max(e, many[last - 1][1])
        many[first:last] = [(s, e)]
    return many


def _meet(busy: list[Interval], spans: list[Interval]) -> bool:
    """An interval overlaps one of `busy`. These are in order and do not overlap, so their ends are in order, too."""
    for s, e in spans:
        k = bisect_left(busy, (e,))
        if k and busy[k - 1][1] > s:
            return True
    return False


__all__ = ["Naming", "UNDEF"]
