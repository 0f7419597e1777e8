"""What was computed while a tape was open: values in slots, and a place in the trie of structures.

Each record, a primitive with the slots of its operands, is one step down in a trie that all recordings share; so the
node that a recording has reached *is* its structure, and what was compiled for the structure is found there. The
recording itself holds the values. A tensor holds a bare token and the number of its slot, so that it keeps no
recording alive.

A slot is the number of a value: the leaves (what is differentiated by, and constants) and the results of records. In a
record's key, operand -1 is a constant, which gets the next slot; a static operand stands there as ``(type, value)``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.core import Prim
from ..ir.opset import GET

if TYPE_CHECKING:
    from .barrier import Barrier

LEAF = "leaf"  # a record of one value that comes from outside, by which one may differentiate
BARRIER = "barrier"  # a record of results whose pullback is a Python function
PULL = "pull"  # a record of a compiled pullback that was run

ndarray = np.ndarray
NOTHING: Any = MappingProxyType({})

MAX_NODES = 100_000
MAX_PULLBACKS = 2_000


class Leaf(tuple[Any, ...]):
    """The key of a leaf: `LEAF`, the name, whether it is watched when it is read, and what is known of the value's
    type, or None.

    There is one object for each content (see `leaf_key`), so that it is found by identity.
    """

    __slots__ = ()
    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__

    def __reduce__(self) -> Any:
        return leaf_key, self[1:]


_leaf_keys: dict[Any, Leaf] = {}


def leaf_key(name: str = "", watched: bool = False, kind: Any = None) -> Leaf:
    """The key of a leaf. `kind`: what `signature` says of the values that it has."""
    content = (LEAF, name, watched, kind)
    found = _leaf_keys.get(content)
    if found is None and len(_leaf_keys) > MAX_NODES:
        _leaf_keys.clear()
    return _leaf_keys.setdefault(content, Leaf(content)) if found is None else found


def signature(values: Iterable[Any]) -> tuple[Any, ...]:
    """What the code that was compiled depends on of the leaves."""
    return tuple([(v.shape, v.dtype) if v.__class__ is ndarray else v.__class__ for v in values])


class TrieNode:
    """A structure: the records from the root of the trie to here.

    `count` is the number of slots that they take, `last` the last of them; `pulls` holds what was compiled for the
    structure. `hot` is the structure that was reached from here the last time. It is asked for before `next` is: three
    comparisons with the parts of its key cost half of looking up a key made for it. `masks`: a cotangent that is zero
    for sure stays zero beside an infinite partial, as in compiled functions. None: no zero does, also not beside the
    partial of a root. See `transforms.zeros`.
    """

    __slots__ = ("parent", "key", "count", "last", "next", "pulls", "hot", "head", "left", "right", "masks")
    hot: TrieNode

    def __init__(self, parent: TrieNode | None = None, key: Any = None, count: int = 0, masks: bool | None = True):
        self.parent = parent
        self.key = key
        self.count = count
        self.last = count - 1
        self.next: dict[Any, TrieNode] = {}
        self.pulls: dict[Any, Any] = {}
        self.masks = masks
        # The parts of a key of a primitive with one or two operands.
        short = key is not None and 2 <= len(key) <= 3
        self.head, self.left, self.right = (*key, None)[:3] if short else (None, None, None)
        self.hot = NOWHERE

    def go(self, key: Any, produced: int) -> TrieNode:
        """The structure with one record more, which takes `produced` slots."""
        global _nodes
        hot = self.hot
        if hot.key == key:  # quicker than the hash of a nested key
            return hot
        found = self.next.get(key)
        if found is None:
            _nodes += 1
            if _nodes > MAX_NODES:
                plant()
            found = self.next.setdefault(key, TrieNode(self, key, self.count + produced, self.masks))
        self.hot = found
        return found

    def path(self) -> list[TrieNode]:
        """The nodes from below the root to here: one for each record."""
        out = []
        node: TrieNode | None = self
        while node is not None and node.parent is not None:
            out.append(node)
            node = node.parent
        out.reverse()
        return out


_nodes = 0
_pullbacks = 0
NOWHERE: Any = None  # nothing was reached yet
NOWHERE = TrieNode()
_roots = {masks: TrieNode(masks=masks) for masks in (True, False, None)}


def count_pullback() -> None:
    """Say that one more pullback was compiled, which is kept with its structure."""
    global _pullbacks
    _pullbacks += 1
    if _pullbacks > MAX_PULLBACKS:
        plant()


def plant() -> None:
    """Let recordings start in a new trie: structures that nobody repeats would fill the memory."""
    global _nodes, _pullbacks, _roots
    _roots = {masks: TrieNode(masks=masks) for masks in (True, False, None)}
    _nodes = _pullbacks = 0


class Token:
    """Says which recording a tensor's slot belongs to."""

    __slots__ = ()


CONSTANT = Token()  # of a tensor that nothing was recorded of: unless it is watched, no recording need be asked


class Recording:
    """The values of one recording, and the structure that it has reached."""

    __slots__ = (
        "token", "node", "values", "append", "known", "variables", "versions", "barriers", "became", "absorbed", "auto",
        "reads", "tapes", "alone",
    )  # fmt: skip

    def __init__(self, masks: bool | None = True) -> None:
        self.token = Token()
        self.node = _roots[masks]
        self.values: list[Any] = []
        self.append = self.values.append
        # By identity: the value that a variable or a watched tensor had when it became a leaf, the slot, and itself.
        self.known: dict[int, tuple[Any, int, Any]] = {}
        self.variables: dict[int, Any] = {}  # by slot, in order of the first read: variables that are watched when read
        # Few recordings have these four, so they are made when they are written.
        self.versions: dict[int, tuple[int, ...]] = NOTHING  # by identity: all slots of a leaf with several values
        self.barriers: dict[int, Barrier] = NOTHING  # by the first slot of their results
        self.became: dict[int, tuple[int, int]] = NOTHING  # by a leaf's slot: that of the result it is, and since when
        self.absorbed: dict[Token, list[int]] = NOTHING  # recordings appended to this one: where their slots are now
        self.tapes: tuple[Any, ...] = ()  # those that are open
        self.auto = True  # one of them watches what is read
        self.alone = True  # no tensor is a leaf and nothing is absorbed: those marked `CONSTANT` are not known here
        self.reads: list[Any] | None = None  # where variables that are read are noted, if somebody asks

    # --- operands -------------------------------------------------------------------------------------------------

    def find(self, x: Any) -> int:
        """The slot of a tensor or variable; -1 if no tape is interested in it. A variable that is read is watched."""
        at = id(x)
        entry = self.known.get(at)
        if x._trainable:
            if self.reads is not None:
                self.reads.append(x)
            if entry is None:
                if not self.auto:
                    return -1
                # The first read, as in `leaf`: every step of a training loop does it for each variable.
                node, value, key = self.node, x._value, x._leaf or x._typed_leaf()
                slot = node.count
                hot = node.hot
                self.node = hot if hot.key is key else node.go(key, 1)
                self.append(value)
                self.variables[slot] = x
                self.known[at] = (value, slot, x)
                return slot
        elif entry is None:
            if x._token is self.token:
                return x._slot  # type: ignore[no-any-return]
            return self._taken_over(x) if self.absorbed else -1
        return entry[1] if entry[0] is x._value else self.leaf(x)  # it may have been assigned to since

    def _taken_over(self, x: Any) -> int:
        """The slot of what a recording held that was appended to this one."""
        return self.moved(x._token, x._slot)

    def moved(self, token: Any, slot: int) -> int:
        """Where the slot of another recording is in this one; -1 if it is not."""
        places = self.absorbed.get(token, ())
        return places[slot] if 0 <= slot < len(places) else -1

    def knows(self, x: Any) -> bool:
        """An open tape is interested in the tensor or variable; nothing becomes a leaf."""
        return self._here(x) >= 0 or (x._trainable and self.auto)

    def leaf(self, x: Any) -> int:
        """Make the tensor or variable a leaf."""
        node, key = self.node, x._leaf or x._typed_leaf()
        slot = node.count
        known = self.known.get(id(x))
        value = x._value
        self.alone = False
        self.node = node.go(key, 1)
        self.append(value)
        if known is not None:
            self.set_versions(id(x), (*self.versions.get(id(x), (known[1],)), slot))
        if x._trainable:
            self.variables[slot] = x
        self.known[id(x)] = (value, slot, x)
        return slot

    def set_versions(self, at: int, slots: tuple[int, ...]) -> None:
        """Note all slots of a leaf that has had several values. `at`: its identity."""
        if self.versions is NOTHING:
            self.versions = {}
        self.versions[at] = slots

    def watch(self, x: Any) -> tuple[int, ...]:
        """Make the tensor or variable a leaf if it is not in the recording; the slots that stand for it.

        Where it was a constant of records so far, these slots are among them.
        """
        if self.find(x) < 0 or self.absorbed:
            value = x._value
            before = [s for s, v in enumerate(self.values) if v is value]
            slot = self.find(x)
            if slot < 0:
                slot = self.leaf(x)
            known = dict.fromkeys((*before, *self.versions.get(id(x), ()), slot))
            if len(known) > 1:
                known.pop(slot)
                self.set_versions(id(x), (*known, slot))
                self.known.setdefault(id(x), (value, slot, x))
        return self.slots(x)

    def slots(self, x: Any) -> tuple[int, ...]:
        """All slots of what one differentiates by; none if it was not recorded."""
        versions = self.versions.get(id(x))
        if versions is not None:
            return versions
        if x._token is self.token:
            return (x._slot,)
        entry = self.known.get(id(x))
        if entry is not None:
            return (entry[1],)
        slot = self._taken_over(x) if self.absorbed else -1
        return () if slot < 0 else (slot,)

    # --- records --------------------------------------------------------------------------------------------------

    def step(self, key: Any, produced: int) -> int:
        """Go down to the structure with one record more; the first of the slots that it takes."""
        node = self.node
        self.node = node.go(key, produced)
        return node.count

    def operand(self, x: Any) -> int:
        """The slot of an operand; that of a constant is -1, and its value is appended."""
        if hasattr(x, "_token"):
            slot = self.find(x)
            if slot < 0:
                self.values.append(x._value)
            return slot
        self.values.append(x)
        return -1

    def barrier(self, barrier: Barrier, operands: list[Any], results: list[Any]) -> int:
        """Record results of which only a Python function knows the pullback; the first of their slots."""
        slots = tuple([self.find(x) for x in operands])
        constants = [x._value for x, slot in zip(operands, slots) if slot < 0]
        # Which results are inexact decides what depends on what, so it is part of the structure.
        key = (BARRIER, slots, tuple([r.dtype.kind in "fc" for r in results]), barrier.depends())
        first = self.step(key, len(constants) + len(results)) + len(constants)
        self.values.extend(constants)
        self.values.extend(results)
        self.set_barrier(first, barrier)
        return first

    def set_barrier(self, first: int, barrier: Any) -> None:
        """Say which Python function pulls back through the record whose results start at this slot."""
        if self.barriers is NOTHING:
            self.barriers = {}
        self.barriers[first] = barrier

    def absorb(self, other: Recording) -> list[int]:
        """Append another recording: a tape that was closed is opened again while others are. Gives the slots here of
        its slots. What was appended before is not appended again.

        A result of the other one may have been watched here as if it came from outside. It stays that for what was
        recorded so far; from here on it is the result, and tapes that watch the one watch the other (`became`).
        """
        self.alone = False
        places = list(self.absorbed.get(other.token, ()))
        # What both hold already: records of this one that the other one took over before, or of a third.
        both = {at: s for s, at in enumerate(other.absorbed.get(self.token, ()))}
        for token, theirs in other.absorbed.items():
            both.update(zip(theirs, self.absorbed.get(token, ())))
        objects = {s: x for _, slot, x in other.known.values() for s in (*other.slots(x), slot)}
        for node in other.node.path():
            assert node.parent is not None
            first = node.parent.count
            if first < len(places):
                continue
            if all(s in both for s in range(first, node.count)):
                places.extend([both[s] for s in range(first, node.count)])
                continue
            if node.key[0] == LEAF and first in objects:
                here = self._here(objects[first])
                if here >= 0 and self.values[here] is other.values[first]:
                    places.append(here)
                    continue
            at = self.step(shift(node.key, places.__getitem__), node.count - first)
            places.extend(range(at, self.node.count))
            self.values.extend(other.values[first : node.count])
        for x_id, (value, slot, x) in other.known.items():
            fresh = [places[s] for s in other.slots(x)]
            if x_id in self.known:
                slots = tuple(dict.fromkeys((*self.slots(x), *fresh)))
                if len(slots) > 1:
                    self.set_versions(x_id, slots)
            else:
                self.known[x_id] = (value, places[slot], x)
                if len(fresh) > 1:
                    self.set_versions(x_id, tuple(fresh))
        self.variables.update({places[slot]: x for slot, x in other.variables.items()})
        self.barriers = {**self.barriers, **{places[slot]: b for slot, b in other.barriers.items()}}
        moved = {token: [places[s] for s in inner] for token, inner in other.absorbed.items()}
        self.absorbed = {**moved, **self.absorbed, other.token: places}
        for x_id, (value, slot, x) in list(self.known.items()):
            made = self._taken_over(x)
            if made >= 0 and made != slot and x_id not in other.known:
                self.became = {**self.became, slot: (made, self.node.count)}
                self.set_versions(x_id, (*self.versions.get(x_id, (slot,)), made))
                self.known[x_id] = value, made, x
        return places

    def _here(self, x: Any) -> int:
        """The slot of the value that `x` has now, if it is in this recording; nothing becomes a leaf."""
        if x._token is self.token:
            return x._slot  # type: ignore[no-any-return]
        entry = self.known.get(id(x))
        if entry is not None:
            return entry[1]
        return self._taken_over(x) if self.absorbed else -1


def shift(key: Any, move: Callable[[int], int]) -> Any:
    """The key of a record with its slots moved."""
    head = key[0]
    if head == LEAF:
        return key
    if head == BARRIER:
        return (BARRIER, tuple([_moved(s, move) for s in key[1]]), *key[2:])
    if head == PULL:
        return (PULL, key[1], *[_moved(s, move) for s in key[2:]])
    if type(key[1]) is tuple and key[1][:1] == (CALL,):
        args, kwargs = key[1][1:], key[2]
        return (head, (CALL, *[_moved(a, move) for a in args]), tuple([(name, _moved(a, move)) for name, a in kwargs]))
    return (head, *[_moved(s, move) for s in key[1:]])


def _moved(arg: Any, move: Callable[[int], int]) -> Any:
    if type(arg) is int:
        return arg if arg < 0 else move(arg)
    if type(arg) is tuple and arg and arg[0] in CONTAINERS:
        return (arg[0], *[_moved(a, move) for a in arg[1:]])
    return arg


# How nested operands stand in a key: a marker, then the items.
CALL = "call"
TUPLE, LIST, SLICE = "tuple", "list", "slice"
CONTAINERS = frozenset((TUPLE, LIST, SLICE))


class Reader:
    """Reads the key of a record: which primitive, and its operands, with slots mapped by `value_of`."""

    def __init__(self, node: TrieNode):
        assert node.parent is not None
        self.node = node
        self.next = node.parent.count  # the slot of the next constant, then of the results

    def operands(self) -> tuple[Prim, Any, Any, list[int]]:
        """The primitive, its arguments and keyword arguments, where a `SlotRef` stands for each value, and the slots of
        the results."""
        key = self.node.key
        head = key[0]
        if type(key[1]) is tuple and key[1][:1] == (CALL,):
            args = [self.read(a) for a in key[1][1:]]
            kwargs = {name: self.read(a) for name, a in key[2]}
        else:
            args = [self.read(a) for a in key[1:]]
            kwargs = {}
        if head is GET:
            args[1] = (("index", args[1]),)
        return head, tuple(args), kwargs, list(range(self.next, self.node.count))

    def read(self, arg: Any) -> Any:
        if type(arg) is int:
            if arg >= 0:
                return SlotRef(arg)
            self.next += 1
            return SlotRef(self.next - 1, constant=True)
        if arg[0] == TUPLE:
            return tuple([self.read(a) for a in arg[1:]])
        if arg[0] == LIST:
            return [self.read(a) for a in arg[1:]]
        if arg[0] == SLICE:
            return slice(*[self.read(a) for a in arg[1:]])
        return arg[1]


class SlotRef:
    """Stands for the value of a slot in the operands of a record."""

    __slots__ = ("number", "constant")

    def __init__(self, number: int, constant: bool = False):
        self.number = number
        self.constant = constant


def slots_in(arg: Any) -> Iterator[SlotRef]:
    """The slots in a nested operand, left to right."""
    if type(arg) is SlotRef:
        yield arg
    elif isinstance(arg, (tuple, list)):
        for item in arg:
            yield from slots_in(item)
    elif isinstance(arg, dict):
        for item in arg.values():
            yield from slots_in(item)
    elif isinstance(arg, slice):
        for item in (arg.start, arg.stop, arg.step):
            yield from slots_in(item)


class Watcher:
    """Stands in a recording for an open tape that watches what is read."""

    _auto = True
    _start = 0
    _spans: tuple[tuple[int, int], ...] = ()


class _State(threading.local):
    """Of this thread: the recording that operations go to, that of all open tapes."""

    rec: Recording | None = None
    sealed: bool = False  # a tensor must not become an array: what is computed from it would not be recorded


STATE = _State()
