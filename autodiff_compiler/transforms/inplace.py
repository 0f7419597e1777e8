"""Restore updates in place: the bridge from functional stores to NumPy's.

Takes a function in which every store makes a new version of its array. Gives the function with copies in it, such that
every store may be done in the buffer of the version that it takes.

>>> import numpy as np
>>> from autodiff_compiler.ir.core import Builder, Function, Region
>>> from autodiff_compiler.ir.opset import ADD, GET, MUL, SET
>>> from autodiff_compiler.ir.printer import print_function
>>> from autodiff_compiler.ir.types import array
>>> b = Builder(Region())
>>> x = b.region.param(array(float, (b.dims.fresh(),)), "x")
>>> y = b.emit(MUL, x, 2.0)
>>> part = b.emit(GET, y, (("index", (slice(1, None),)),))
>>> new = b.emit(SET, y, (("index", (0,)),), 5.0)  # writes beside the part, but that is not known
>>> b.region.exit = (new, b.emit(MUL, part, 3.0))
>>> fn = Function("f", b.region)
>>> rounds = InPlace(fn, False)
>>> while rounds.find_conflicts():
...     rounds.insert_copies()
>>> print(print_function(fn))
func f(%x: float64[d1]) {
  %v1: float64[d1] = * %x, 2.0
  %v2: float64[d1-1] = get %v1, (('index', (1:,)),)
  %v3: float64[d1-1] = copy %v2
  %v4: float64[d1] = set %v1, (('index', (0,)),), 5.0
  %v5: float64[d1-1] = * %v3, 3.0
  return %v4, %v5
}
<BLANKLINE>

The invariant
-------------
A value v has the *roots* R(v): the buffers that it may occupy (`analysis.sharing`). A store s takes a version d(s) and
makes the next version w(s). Done in place, s writes into a buffer of R(d(s)), and w(s) occupies the same buffer.

For a point p of an execution, let Live(p) be the values that are defined before p and whose content is read after p.
"After" follows the execution: an operation that stands before s in the body of a loop runs after s, in the next
iteration. A value that each iteration defines anew is another instance there, and not in Live(p). The pass establishes,
for every store s, with p(s) the point just after it:

(1)  for all u in Live(p(s)), u != w(s):  R(u) and R(d(s)) are disjoint
(2)  all of R(d(s)) is *owned*: allocated by this run of the function, and not handed to the caller or to a pullback
(3)  the results of the function have no root in common, and none that is not owned
(4)  a loop whose iterations store into a carried parameter owns one buffer for it, its *slot*. What an iteration yields
     for it is that buffer, or one that this iteration allocated, and it is yielded once. Slots that swap their buffers
     form a *family*, and (1) holds for the family.

Claim: the function computes in place what it computes with versions. Proof, by induction over the execution: before
each operation, the buffer of each value of Live holds what the value holds with versions. An operation that is no store
writes only into a new buffer, which no live value occupies. A store writes into R(d(s)). By (1), no live value but w(s)
occupies that, and w(s) is what the store makes. By (2) and (3), nobody outside sees the difference. At the end of an
iteration, (4) lets the next one begin with buffers that are as different as the values that they hold.

Where (1) does not hold for some u, the cheapest of these copies makes it hold: of the view that u is, of what is put on
a stack or into a list (a *capture*: it may be read at any time), or else of the array, before the store.

A round looks at the stores and plans copies. The next round looks only at stores that share a root with something that
has changed: a value with other roots, or with other uses.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from dataclasses import field
from typing import Any

from ..analysis.order import Order, may_share
from ..analysis.sharing import EXTERNAL, STORED, Root, Sharing
from ..ir import opset
from ..ir.budget import current
from ..ir.core import CALL, DERIVED, IF, LOOP, Function, Op, Region, Value, leaves, type_of
from ..ir.opset import ACCUM, ADD, COPY, GET, LIST_GET, PUSH, STORES
from ..ir.rewrite import enclosing_func, region_of
from ..records import record
from .copies import Changes, Site

LIST_STORES = {*STORED, opset.LIST_DROP, opset.LIST_CUT}  # of items that are not in another list
CAPTURES = {PUSH, CALL, opset.LIST_NEW, opset.LIST_APPEND, opset.LIST_SET, opset.LIST_INSERT, opset.TUPLE}
FOREVER = float("inf")
MOST_ROUNDS = 200


class InPlace:
    """The rounds of this pass: find the conflicts, insert copies, until there are none.

    `split`: the backward sweep (the operations tagged as derived) becomes a function of its own that may be called
    again; it must then leave the forward sweep's buffers alone.
    """

    def __init__(self, fn: Function, split: bool):
        self.fn, self.split = fn, split
        self.rounds = 0
        for op in fn.body.walk():
            if op.prim is ACCUM and type_of(op.args[0]).is_scalar:
                op.prim = ADD  # it was no number when it was added to: a number has no memory to add into
        self._start()

    def _start(self) -> None:
        self.order = Order(self.fn.body)
        self.sharing = Sharing(self.order)
        self.conflicts = Conflicts(self.order, self.sharing, self.split)
        self.dirty: set[Root] | None = None  # the roots that have changed; None: all
        self.again: set[Site] = set()

    def find_conflicts(self) -> bool:
        """Plan copies for the conflicts; whether there are any."""
        self.rounds += 1
        assert self.rounds <= MOST_ROUNDS, "the in-place analysis does not settle"
        self.plan = self.conflicts.find(self.dirty, self.again)
        return bool(self.plan.copies)

    def insert_copies(self) -> None:
        """Insert the planned copies, and find out what has changed."""
        order, sharing = self.order, self.sharing
        changes = Changes(order)
        for action, *rest in self.plan.copies:
            action(changes, *rest)
        changes.drop_unread()
        renumbered = changes.place()
        if any(op.prim is CALL for op in order.ops):
            self._start()  # what functions read from outside may be different
            return
        values = {v: (sharing.of(v), sharing.inside_of(v)) for v in changes.values}
        mutated, family = sharing.mutated, sharing.family
        sharing.forget(changes.dropped)
        values.update(sharing.update(changes.steps))
        dirty: set[Root] = set()
        for v, (roots, inner) in values.items():
            dirty.update(roots, inner, sharing.of(v), sharing.inside_of(v))
        for known in (family, sharing.family) if family != sharing.family else (family,):
            dirty.update(*[known[root] for root in dirty if root in known])
        if family != sharing.family:
            dirty.update(r for r in {**family, **sharing.family} if family.get(r) != sharing.family.get(r))
        self.dirty, self.again = dirty, self.plan.again
        for param in mutated ^ sharing.mutated:
            loop = param.region.op  # type: ignore[union-attr]
            self.again.update((loop, k) for k in range(len(loop.args[1])))  # type: ignore[union-attr, misc]
        self.conflicts.forget(values, dirty, renumbered)


@record
class Plan:
    """The copies of one round.

    copies: what is to be done, each with its arguments
    stale:  buffers that a copy replaces, with the stores that it stands before: what may be stored to them later is
            looked at in the next round
    again:  stores to be looked at in the next round
    """

    copies: list[tuple[Any, ...]] = field(default_factory=list)
    keys: set[Any] = field(default_factory=set)
    stale: dict[Root, list[Op]] = field(default_factory=dict)
    again: set[Site] = field(default_factory=set)

    def add(self, key: Any, action: Callable[..., None], *rest: Any) -> None:
        if key not in self.keys:
            self.keys.add(key)
            self.copies.append((action, *rest))


class Lives:
    """Values with the positions from and to which they live. The questions come at increasing positions, so a chain of
    stores does not look at all of its versions for each of them."""

    def __init__(self, lives: list[tuple[float, float, Value]]):
        self.waiting = sorted(((first, k, last, v) for k, (first, last, v) in enumerate(lives)), reverse=True)
        self.alive: list[tuple[int, float, Value]] = []
        self.gone: set[Value] = set()  # values whose readers will read a copy

    def at(self, position: int) -> list[Value]:
        """The values that live at this position, in the order given."""
        while self.waiting and self.waiting[-1][0] <= position:
            _, k, last, v = self.waiting.pop()
            insort(self.alive, (k, last, v))
        self.alive = [
            life for life in self.alive if life[1] >= position and (life[2] not in self.gone or life[1] == FOREVER)
        ]
        return [v for _, _, v in self.alive]


# --- conflicts --------------------------------------------------------------------------------------------------------


class Conflicts:
    """The stores that the invariant does not hold for, and the copies that make it hold."""

    def __init__(self, order: Order, sharing: Sharing, split: bool):
        self.order, self.sharing = order, sharing
        self.body = order.body
        self.split = split
        self.some_captures = any(op.prim in CAPTURES for op in order.ops)
        self._captures: dict[Root, list[tuple[Op, Value]]] = {}
        self._lives: dict[Value, tuple[float, float]] = {}

    def forget(self, values: Any, roots: set[Root], renumbered: bool) -> None:
        """Forget what was found out about these values and roots; if `renumbered`, all that names positions."""
        for root in roots:
            self._captures.pop(root, None)
        if renumbered:
            self._lives.clear()
        for v in values:
            self._lives.pop(v, None)

    def find(self, dirty: set[Root] | None, again: set[Site]) -> Plan:
        """Plan copies for the stores that may write into one of the `dirty` roots (None: any), and for `again`."""
        self.plan = Plan()
        self.lives: dict[Root, Lives] = {}
        self.first: dict[Value, Value] = {}
        of, mutated = self.sharing.of, self.sharing.mutated
        budget = current()
        for op in self.order.writers:
            if budget is not None:
                budget.tick(op.loc)
            if op.prim is LOOP:
                body = op.regions[0]
                for k, init in enumerate(op.args[1]):
                    if body.params[k + 1] not in mutated:
                        continue
                    site, out = (op, k), body.exit[k + 1]
                    everything = dirty is None or site in again
                    if type(init) is Value and (everything or not dirty.isdisjoint(of(init))):  # type: ignore[union-attr]
                        self._check_store(site, init)
                    if type(out) is Value and (everything or not dirty.isdisjoint(of(out))):  # type: ignore[union-attr]
                        self._check_handover(op, k, out)
            elif op.prim in STORES and type(op.args[0]) is Value:
                dest = op.args[0]
                if dirty is None or (op, None) in again or not dirty.isdisjoint(of(dest)):
                    self._check_store((op, None), dest)
        self._check_returns()
        return self.plan

    # --- ownership ------------------------------------------------------------------------------------------------

    def owned(self, root: Root, writer: Op) -> bool:
        """The buffer may be written into by this operation, if nobody reads it afterwards."""
        if root[0] in (EXTERNAL, "before"):
            return False
        func = enclosing_func(writer.parent)
        maker = self.sharing.made.get(root)
        if func is not None and (maker is None or not self.order.contains(func.regions[0], maker)):
            return False  # only what the activation has made itself
        return not (self.split and maker is not None and self._is_forward(maker) and not self._is_forward(writer))

    def _is_forward(self, op: Op) -> bool:
        """It belongs to the function itself, as do copies that are made for it."""
        while op.parent is not self.body:
            assert op.parent is not None and op.parent.op is not None
            op = op.parent.op
        return bool(op.tag != DERIVED)

    # --- stores ---------------------------------------------------------------------------------------------------

    def _check_store(self, site: Site, dest: Value) -> None:
        op = site[0]
        if not may_share(dest):
            return
        if self._is_stale(dest, op):
            if self._is_read_itself(site, dest):
                # Wherever it will be: each store of a long chain would have a round of its own otherwise.
                return self._copy_dest(site, dest)
            self.plan.again.add(site)
            return None
        sharing = self.sharing
        views: list[Op] = []
        captures: list[tuple[Op, Value]] = []
        made_at = self._made_at(dest)
        moved = (
            self.some_captures
            and dest.type.kind == "list"
            and all(self._taken_out(dest, root, op) for root in sharing.of(dest))
        )
        for root in sharing.of(dest):
            if not self.owned(root, op):
                return self._copy_dest(site, dest)
            if root[0] == "items" and not self._taken_out(dest, root, op) and self._still_listed(root, op):
                return self._copy_dest(site, dest)
            if root not in self.lives:
                self.lives[root] = Lives([(*self._life(v), v) for v in sharing.in_order(root)])
            alive = self.lives[root].at(self.order.position[op])
            if dest in self.lives[root].gone:
                alive.append(dest)
            for v in alive:
                if self.order.defined_at(v) < made_at:
                    continue  # it holds the buffer of an earlier iteration, if any
                for user, content in self.order.uses.get(v, ()):
                    if not content or (user is op and self._only_as_dest(site, v)):
                        continue
                    if isinstance(user, Op) and user.prim in CAPTURES and _captures(user, v):
                        if self._after_capture(user, op, root) and not (moved and self._moves(user, v, root)):
                            captures.append((user, v))
                            continue
                    if not self._reads_after(v, user, op):
                        continue
                    if v is not dest and v.op is not None and v.op.prim.alias == "view" and v.type.kind != "list":
                        views.append(v.op)
                    else:
                        return self._copy_dest(site, dest)
        if made_at < 0 and self.some_captures:
            for root in sharing.of(dest):
                for other in sharing.relatives(root):
                    for user, v in self.captures_of(other):
                        if self._after_capture(user, op, root) and not (moved and self._moves(user, v, other)):
                            captures.append((user, v))
        if captures and (_read_from_list(dest) is not None or any(self._is_copied(v) for _, v in captures)):
            # A copy put into the list would come out of it again.
            return self._copy_dest(site, dest)
        for view in views:
            self.plan.again.add(site)
            self.plan.add(("view", view), Changes.copy_view, view)
            for root in sharing.of(view.results[0]):
                if root in self.lives:
                    self.lives[root].gone.add(view.results[0])
        for user, v in captures:
            self.plan.again.add(site)
            self.plan.add(("capture", user, v), Changes.copy_captured, user, v)
        return None

    def _is_read_itself(self, site: Site, dest: Value) -> bool:
        """What a store writes into is read afterwards under its own name."""
        op = site[0]
        if self.order.defined_at(dest) < self._made_at(dest):
            return False
        if any(root in self.lives and dest in self.lives[root].gone for root in self.sharing.of(dest)):
            return False
        return any(
            content
            and not (user is op and self._only_as_dest(site, dest))
            and not (isinstance(user, Op) and user.prim in CAPTURES and _captures(user, dest))
            and self._reads_after(dest, user, op)
            for user, content in self.order.uses.get(dest, ())
        )

    def _copy_dest(self, site: Site, dest: Value) -> None:
        self.plan.again.add(site)
        for root in self.sharing.of(dest):
            self.plan.stale.setdefault(root, []).append(site[0])
        self.plan.add(("dest", *site), Changes.copy_dest, site, dest)

    def _is_stale(self, v: Value, op: Op) -> bool:
        """A copy planned in this round stands before a store to the same buffer, and may run before `op`."""
        return any(
            not self._apart(copied, op) for root in self.sharing.of(v) for copied in self.plan.stale.get(root, ())
        )

    def _apart(self, a: Op, b: Op) -> bool:
        """On different sides of an ``if`` that runs once: neither is run before the other."""
        parted = self.order.parted_by(a, b)
        return parted is not None and not self.order.loops[parted.parent]  # type: ignore[index]

    def _life(self, v: Value) -> tuple[float, float]:
        """From where to where a store to the memory of `v` may matter to a reader of `v`."""
        if v not in self._lives:
            self._lives[v] = self._find_life(v)
        return self._lives[v]

    def _find_life(self, v: Value) -> tuple[float, float]:
        order = self.order
        mine = order.loops[region_of(v)]
        last = -1.0
        for user, content in order.uses.get(v, ()):
            if not content:
                continue
            if isinstance(user, Op) and user.prim in CAPTURES and _captures(user, v):
                return -1.0, FOREVER
            where = user if isinstance(user, Region) else user.parent
            assert where is not None
            # The loops around the user in which `v` stays the same: their next iterations read it again.
            again = next((loop for loop in order.loops[where] if loop not in mine), None)
            last = max(last, order.when(user) if again is None else order.end[again])
        return order.defined_at(v), last

    def _made_at(self, dest: Value) -> int:
        """Where the buffer of `dest` is allocated, if `dest` surely has the buffer allocated last; else -1."""
        dest = self.first_version(dest)
        own = ("new", dest)
        if dest.op is None or self.sharing.of(dest) != {own} or self.sharing.made.get(own) is not dest.op:
            return -1
        return self.order.position[dest.op]

    def first_version(self, v: Value) -> Value:
        """The value that the stores that made `v` started from."""
        versions = []
        while v not in self.first and v.op is not None and v.op.prim in STORES:
            versions.append(v)
            v = v.op.args[0]
        v = self.first.get(v, v)
        self.first.update(dict.fromkeys(versions, v))
        return v

    def _only_as_dest(self, site: Site, v: Value) -> bool:
        """The store reads `v` only as what it stores into.

        The stored value and the subscripts are read before the store, so they may share memory with it. In the next
        iteration of a loop that does not make `v` anew, its old content is wanted again.
        """
        op, k = site
        if k is not None and (op.args[1][k] is not v or sum(1 for x in leaves(op.args) if x is v) != 1):
            return False
        return not self.order.runs_again(v, op, op)

    def _reads_after(self, v: Value, user: Op | Region, store: Op) -> bool:
        """`user` may read the same instance of `v` after the store has run, and `v` has not seen the store."""
        if v in store.results:
            return False
        order = self.order
        defined = order.defined_at(v)
        at = order.position[store]
        if store.prim is LOOP:
            if v.op is None and v.region is store.regions[0]:
                return False
            if defined > at:
                return False
            # The loop stores in each of its iterations, so what is read inside of it is read after.
        elif defined >= at:
            return False
        if user is store:
            return True
        after = order.when(user) > at
        return (after and order.parted_by(user, store) is None) or order.runs_again(v, user, store)

    # --- captures -------------------------------------------------------------------------------------------------

    def captures_of(self, root: Root) -> list[tuple[Op, Value]]:
        """The operations that put a value with this root on a stack or into a list, each with the value."""
        if not self.some_captures:
            return []
        known = self._captures.get(root)
        if known is None:
            known = self._captures[root] = [
                (user, v)
                for v in self.sharing.in_order(root)
                for user, _ in self.order.uses.get(v, ())
                if isinstance(user, Op) and user.prim in CAPTURES and _captures(user, v)
            ]
        return known

    def _after_capture(self, capture: Op, store: Op, root: Root) -> bool:
        """The store may run after the capture on the same buffer."""
        assert capture.parent is not None and store.parent is not None
        inner = self.order.loops[store.parent]
        for loop in self.order.loops[capture.parent]:
            if loop in inner and not all(self.sharing.made_inside(r, loop) for r in self.sharing.relatives(root)):
                return True
        if capture is store:
            return False
        after = self.order.position[store] > self.order.position[capture]
        return after and self.order.parted_by(capture, store) is None

    def _still_listed(self, root: Root, op: Op) -> bool:
        """A list that may hold the item is read after the store."""
        return any(
            content and self._reads_after(held, user, op)
            for held in self.sharing.holding.get(root, ())
            for user, content in self.order.uses.get(held, ())
        )

    def _taken_out(self, dest: Value, root: Root, op: Op) -> bool:
        """The item leaves its list where it is read, and was in no other."""
        get = _read_from_list(dest)
        if get is None or region_of(get.args[0]) is not get.parent:
            return False
        held, index = get.args
        for user, content in self.order.uses.get(held, ()):
            if not content or user is get:
                continue
            if isinstance(user, Region) or user.args[0] is not held:
                return False
            if user.prim not in (opset.LIST_DROP, opset.LIST_SET) or user.args[1] is not index:
                return False
        return all(
            isinstance(user, Region)
            or user.prim in (IF, LOOP, LIST_GET, opset.LEN, *LIST_STORES)
            or not content
            or (user.prim is opset.ZEROS and not self._reads_after(other, user, op))
            for other in self.sharing.holding.get(root, ())
            for user, content in self.order.uses.get(other, ())
        )

    def _moves(self, capture: Op, v: Value, root: Root) -> bool:
        """The list gets the only reference to the buffer: it was just allocated, or taken out of the list there."""
        if self._puts_back(capture, v):
            return True
        others = [user for user, x in self.captures_of(root) if user.prim is not PUSH and not self._puts_back(user, x)]
        if capture.prim not in STORED or others != [capture]:
            return False
        makers = [self.sharing.made.get(r) for r in self.sharing.relatives(root)]
        return all(maker is not None and maker.parent is capture.parent for maker in makers)

    def _puts_back(self, capture: Op, v: Value) -> bool:
        """What was read at a place of a list goes back there."""
        get = self.first_version(v).op
        if get is None or get.prim is not LIST_GET or capture.prim is not opset.LIST_SET:
            return False
        return all(x is y for x, y in zip(get.args, capture.args))

    def _is_copied(self, v: Value) -> bool:
        """A copy that was made for the one place that reads it."""
        return v.op is not None and v.op.prim is COPY and len(self.order.uses.get(v, ())) == 1

    # --- loops and results ----------------------------------------------------------------------------------------

    def _check_handover(self, loop: Op, k: int, out: Value) -> None:
        """Part (4) of the invariant: an iteration yields for a slot a buffer of the loop's own, and yields it once."""
        if not may_share(out):
            return
        if self._is_stale(out, loop):
            self.plan.again.add((loop, k))
            return
        sharing, body = self.sharing, loop.regions[0]
        for root in sharing.of(out):
            mine = root[0] == "slot" and sharing.made.get(root) is loop
            if not mine and (not self.owned(root, loop) or not sharing.made_inside(root, loop)):
                return self._copy_yielded(loop, k)
            for j, other in enumerate(body.exit[1:]):
                if j != k and type(other) is Value and (root in sharing.of(other) or root in sharing.inside_of(other)):
                    if j < k or body.params[j + 1] not in sharing.mutated:
                        return self._copy_yielded(loop, k)
            for user, v in self.captures_of(root) if not mine else ():
                if self._is_copied(v):
                    return self._copy_yielded(loop, k)
                self.plan.again.add((loop, k))
                self.plan.add(("capture", user, v), Changes.copy_captured, user, v)
        return None

    def _copy_yielded(self, loop: Op, k: int) -> None:
        self.plan.again.add((loop, k))
        self.plan.add(("out", loop, k), Changes.copy_yielded, loop, k)

    def _check_returns(self) -> None:
        """Part (3) of the invariant: each result has memory of its own."""
        taken: set[Root] = set()
        for k, out in enumerate(self.body.exit):
            if type(out) is not Value or not may_share(out):
                continue
            roots = self.sharing.of(out) | self.sharing.inside_of(out)
            if not roots.isdisjoint(self.plan.stale):
                continue
            if any(root[0] in (EXTERNAL, "before") or root in taken for root in roots):
                self.plan.add(("return", k), Changes.copy_result, k)
            taken |= roots


def _captures(user: Op, v: Value) -> bool:
    """The operation puts `v` itself somewhere, and not only something that it reads from `v`."""
    if user.prim in STORED:
        return user.args[STORED[user.prim]] is v
    if user.prim is CALL:
        return any(x is v for x in leaves(user.args))
    return user.prim is not PUSH or user.args[1] is v


def _read_from_list(v: Value) -> Op | None:
    """The read of the item of a list that `v` is, or is part of."""
    op = v.op
    while op is not None and (op.prim in STORES or op.prim is GET or op.prim.alias == "view"):
        op = op.args[0].op if type(op.args[0]) is Value else None
    return op if op is not None and op.prim is LIST_GET else None


__all__ = ["InPlace"]
