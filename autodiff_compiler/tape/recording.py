"""Recordings: the operations that ran while a tape was open, as values in slots and a node in the trie.

A record is a primitive with the slots of its operands. Each record is one step down in a trie, which all recordings
share. So the node that a recording has reached *is* its structure. The pullbacks compiled for a structure are kept at
its node. The recording holds the values. A tensor holds a token and the number of its slot, so it keeps no recording
alive.

A slot is the number of a value: a leaf, a constant, or the result of a record. Leaves are the values that one may
differentiate by. In the key of a record, operand -1 is a constant, which gets the next slot. A static operand stands
there as ``(type, value)``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.core import Prim
from ..ir.opset import GET

if TYPE_CHECKING:
    from .barrier import Barrier

# Heads of keys that are no primitives.
LEAF = "leaf"  # one value from outside, by which one may differentiate
BARRIER = "barrier"  # results whose pullback is a Python function
PULL = "pull"  # the results of a compiled pullback that was run

ndarray = np.ndarray
NOTHING: Any = MappingProxyType({})

MAX_NODES = 100_000
MAX_PULLBACKS = 2_000


class Leaf(tuple[Any, ...]):
    """The key of a leaf: `LEAF`, its name, whether reading it watches it, and the `signature` of its value or None.

    `leaf_key` makes one object for each content. So leaves are compared by identity.
    """

    __slots__ = ()
    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__

    def __reduce__(self) -> Any:
        return leaf_key, self[1:]


_leaf_keys: dict[Any, Leaf] = {}


def leaf_key(name: str = "", watched: bool = False, kind: Any = None) -> Leaf:
    """The key of a leaf. `kind`: the `signature` of its value."""
    content = (LEAF, name, watched, kind)
    found = _leaf_keys.get(content)
    if found is None and len(_leaf_keys) > MAX_NODES:
        _leaf_keys.clear()
    return _leaf_keys.setdefault(content, Leaf(content)) if found is None else found


TENSOR = leaf_key()  # that of all tensors
FULL = (np.dtype(np.float64), np.dtype(np.float32))
# Slots that are watched from the first on. The same objects each time: to compare these takes less time.
_PAIRS = [(slot, slot) for slot in range(64)]


def signature(values: Iterable[Any]) -> tuple[Any, ...]:
    """The key under which a compiled pullback serves these leaves: shape and dtype, or the class of a number."""
    return tuple([(v.shape, v.dtype) if v.__class__ is ndarray else v.__class__ for v in values])


class TrieNode:
    """A node of the trie. The path from the root to it is the structure of a recording.

    count: the number of slots on the path. last: the last of these slots.
    pulls: the requests for this structure, with their compiled pullbacks.
    next:  the nodes below, by the key of the record that leads to them.
    hot:   the node below that was reached last. It is tried before `next`: to compare the three parts of its key costs
           half of making a key and looking it up.
    whole: the range of the slots on the path, as the spans of a tape that recorded all of it. () until it is asked for.
    plan:  how to compute the gradient that was last asked for, see `plan`.
    masks: True: a cotangent that a choice makes zero stays zero beside an infinite partial, as in compiled functions.
           None: no zero does, also not beside the partial of a root. See `transforms.zeros`.
    """

    __slots__ = (
        "parent", "key", "count", "last", "next", "pulls", "hot", "head", "left", "right", "masks", "whole",
        "plan",
    )  # fmt: skip
    hot: TrieNode

    def __init__(self, parent: TrieNode | None = None, key: Any = None, count: int = 0, masks: bool | None = True):
        self.parent = parent
        self.key = key
        self.count = count
        self.last = count - 1
        self.next: dict[Any, TrieNode] = {}
        self.pulls: dict[Any, Any] = {}
        self.masks = masks
        self.whole: tuple[tuple[int, int], ...] = ()
        self.plan: Any = None
        # The parts of the key, if it is a primitive with one or two operands.
        short = key is not None and 2 <= len(key) <= 3
        self.head, self.left, self.right = (*key, None)[:3] if short else (None, None, None)
        self.hot = NOWHERE

    def go(self, key: Any, produced: int) -> TrieNode:
        """The node below for one more record, which takes `produced` slots."""
        global _nodes
        hot = self.hot
        if hot.key == key:  # quicker than to hash a nested key
            return hot
        found = self.next.get(key)
        if found is None:
            _nodes += 1
            if _nodes > MAX_NODES:
                plant()
            found = self.next.setdefault(key, TrieNode(self, key, self.count + produced, self.masks))
        self.hot = found
        return found

    def all_of_it(self) -> tuple[tuple[int, int], ...]:
        """The range of the slots on the path, see `whole`."""
        if self.count:
            self.whole = ((0, self.count),)
        return self.whole

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
NOWHERE: Any = None  # the `hot` of a node below which nothing was reached yet
NOWHERE = TrieNode()
_roots = {masks: TrieNode(masks=masks) for masks in (True, False, None)}


def count_pullback() -> None:
    """Count a compiled pullback. After too many, start a new trie."""
    global _pullbacks
    _pullbacks += 1
    if _pullbacks > MAX_PULLBACKS:
        plant()


def plant() -> None:
    """Start a new trie for the recordings to come. Structures that are never repeated would fill the memory."""
    global _nodes, _pullbacks, _roots
    _roots = {masks: TrieNode(masks=masks) for masks in (True, False, None)}
    _nodes = _pullbacks = 0


class Token:
    """Identifies the recording that a tensor's slot belongs to."""

    __slots__ = ()


CONSTANT = Token()  # the token of a tensor on no recording, which is no leaf of any
WATCHED = Token()  # the token of such a tensor from when it was first made a leaf; its slot is the one that it got last


class Recording:
    """The values of one recording, and the node of the trie that it has reached."""

    __slots__ = (
        "token", "node", "values", "known", "again", "versions", "barriers", "became", "absorbed", "auto", "reads",
        "tapes", "leading", "forward",
    )  # fmt: skip

    values: list[Any]
    # Leaves, by the identity of the variable or watched tensor: its slot and itself, in the order of their first read.
    known: dict[int, tuple[int, Any]]
    # Few recordings have these five, so each is made at its first entry.
    again: dict[int, Any]  # variables by slots that they have beside that in `known`
    versions: dict[int, tuple[int, ...]]  # by identity: the slots of a leaf with several values
    barriers: dict[int, Barrier]  # by the first slot of their results
    # By the slot of a leaf that turned out to be a result: the slot of the result, and the slot since when.
    became: dict[int, tuple[int, int]]
    absorbed: dict[Token, list[int]]  # appended recordings: for each of their slots, the slot here

    def __init__(self, masks: bool | None = True, auto: bool = True, tapes: tuple[Any, ...] = ()) -> None:
        self.token = Token()
        self.node = _roots[masks]
        self.values = []
        self.known = {}
        self.again = self.versions = self.barriers = self.became = self.absorbed = NOTHING
        self.tapes = tapes  # the open tapes and accumulators
        self.forward = False  # an accumulator is open
        self.auto = auto  # an open tape watches variables when they are read
        self.leading = 0  # the first slots up to here are leaves that are tensors
        self.reads: list[Any] | None = None  # a list to which variables are appended when they are read

    # --- operands -------------------------------------------------------------------------------------------------

    def find(self, x: Any) -> int:
        """The slot of a tensor or variable, or -1 if no open tape watches it. A trainable variable becomes a leaf."""
        token = x._token
        if token is CONSTANT:
            return -1
        if token is WATCHED:
            # Another recording, maybe in another thread, may have set its slot; but no other tensor has its value.
            slot: int = x._slot
            if slot < self.leading and self.values[slot] is x._value:
                return slot
        at = id(x)
        entry = self.known.get(at)
        if entry is not None:
            if self.reads is not None and x._trainable:
                self.reads.append(x)
            slot = entry[0]
            try:
                if self.values[slot] is x._value:
                    return slot
            except IndexError:  # an operation was interrupted
                pass
            return self.leaf(x)  # it was assigned since
        if x._trainable:
            if self.reads is not None:
                self.reads.append(x)
            if not self.auto:
                return -1
            # As in `leaf`, but fast: each step of a training loop reads each variable for the first time.
            node, key = self.node, x._leaf or x._typed_leaf()
            slot = node.count
            hot = node.hot
            self.node = hot if hot.key is key else node.go(key, 1)
            self.values.append(x._value)
            self.known[at] = (slot, x)
            return slot
        if token is self.token:
            return x._slot  # type: ignore[no-any-return]
        return -1 if self.absorbed is NOTHING else self._taken_over(x)

    @property
    def variables(self) -> dict[int, Any]:
        """The trainable variables that are leaves, by slot, in the order of their first read."""
        found = {slot: x for slot, x in self.known.values() if x._trainable}
        return dict(sorted({**self.again, **found}.items())) if self.again else found

    def _taken_over(self, x: Any) -> int:
        """The slot here of a tensor of an appended recording, or -1."""
        return self.moved(x._token, x._slot)

    def moved(self, token: Any, slot: int) -> int:
        """The slot here of a slot of an appended recording, or -1."""
        places = self.absorbed.get(token, ())
        return places[slot] if 0 <= slot < len(places) else -1

    def knows(self, x: Any) -> bool:
        """An open tape watches the tensor or variable. Unlike `find`, it makes no leaf."""
        return self._here(x) >= 0 or (x._trainable and self.auto)

    def leaf(self, x: Any) -> int:
        """Make the tensor or variable a leaf, and give its slot."""
        node, key = self.node, x._leaf or x._typed_leaf()
        slot = node.count
        known = self.known.get(id(x))
        self.node = node.go(key, 1)
        self.values.append(x._value)
        if x._token is CONSTANT or x._token is WATCHED:
            x._slot = slot
            x._token = WATCHED
        if known is not None:
            self.set_versions(id(x), (*self.versions.get(id(x), (known[0],)), slot))
            if x._trainable:
                self.again = {**self.again, known[0]: x}
        self.known[id(x)] = (slot, x)
        return slot

    def watch_constants(self, tensors: Sequence[Any]) -> list[tuple[int, int]]:
        """Make the first of these tensors leaves, up to one that a record may have met.

        Gives for each its slot, and the slot from which on it is watched, which is the same.
        """
        known, values, node = self.known, self.values, self.node
        slot = first = len(values)
        if first != len(known) or self.absorbed is not NOTHING:
            return []
        for x in tensors:
            # As in `leaf`, but fast: some training loops watch their parameters at each step.
            at = id(x)
            try:
                token, value = x._token, x._value
                if at in known or (token is not WATCHED and token is not CONSTANT) or value.dtype not in FULL:
                    break
            except AttributeError:  # it is no tensor
                break
            hot = node.hot
            node = hot if hot.key is TENSOR else node.go(TENSOR, 1)
            values.append(value)
            known[at] = (slot, x)
            x._slot = slot
            x._token = WATCHED
            slot += 1
        self.node = node
        if self.leading == first:
            self.leading = slot
        return _PAIRS[first:slot] if slot <= len(_PAIRS) else [(k, k) for k in range(first, slot)]

    def set_versions(self, at: int, slots: tuple[int, ...]) -> None:
        """Note the slots of a leaf that has had several values. `at`: its identity."""
        if self.versions is NOTHING:
            self.versions = {}
        self.versions[at] = slots

    def watch(self, x: Any) -> tuple[int, ...]:
        """Make the tensor or variable a leaf unless it is recorded already, and give its slots.

        They include the slots where it was a constant of a record until now.
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
                self.known.setdefault(id(x), (slot, x))
        return self.slots(x)

    def slots(self, x: Any) -> tuple[int, ...]:
        """All slots of a tensor or variable, none if it was not recorded."""
        versions = self.versions.get(id(x))
        if versions is not None:
            return versions
        if x._token is self.token:
            return (x._slot,)
        entry = self.known.get(id(x))
        if entry is not None:
            return (entry[0],)
        slot = self._taken_over(x) if self.absorbed else -1
        return () if slot < 0 else (slot,)

    # --- records --------------------------------------------------------------------------------------------------

    def step(self, key: Any, produced: int) -> int:
        """Go down by one record, and give the first of the slots that it takes."""
        node = self.node
        self.node = node.go(key, produced)
        return node.count

    def operand(self, x: Any) -> int:
        """The slot of an operand, or -1 for a constant, whose value is appended."""
        if hasattr(x, "_token"):
            slot = self.find(x)
            if slot < 0:
                self.values.append(x._value)
            return slot
        self.values.append(x)
        return -1

    def barrier(self, barrier: Barrier, operands: list[Any], results: list[Any]) -> int:
        """Record results whose pullback is a Python function, and give the first of their slots."""
        slots = tuple([self.find(x) for x in operands])
        constants = [x._value for x, slot in zip(operands, slots) if slot < 0]
        # Only inexact results carry a derivative, so their dtypes are part of the structure.
        key = (BARRIER, slots, tuple([r.dtype.kind in "fc" for r in results]), barrier.depends())
        first = self.step(key, len(constants) + len(results)) + len(constants)
        self.values.extend(constants)
        self.values.extend(results)
        self.set_barrier(first, barrier)
        return first

    def set_barrier(self, first: int, barrier: Any) -> None:
        """Set the pullback of the record whose results start at this slot."""
        if self.barriers is NOTHING:
            self.barriers = {}
        self.barriers[first] = barrier

    def absorb(self, other: Recording) -> list[int]:
        """Append another recording, and give for each of its slots the slot here.

        This happens where a closed tape is opened again while other tapes are open. Records that were appended before
        are not appended again. A result of the other recording may be a leaf here, if it was watched. For the records
        so far it stays a leaf. From here on it is the result, and tapes that watch the leaf watch the result
        (`became`).
        """
        places = list(self.absorbed.get(other.token, ()))
        # Records that both hold already: the other one absorbed this one, or both absorbed a third.
        both = {at: s for s, at in enumerate(other.absorbed.get(self.token, ()))}
        for token, theirs in other.absorbed.items():
            both.update(zip(theirs, self.absorbed.get(token, ())))
        objects = {s: x for slot, x in other.known.values() for s in (*other.slots(x), slot)}
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
        for x_id, (slot, x) in other.known.items():
            fresh = [places[s] for s in other.slots(x)]
            if x_id in self.known:
                slots = tuple(dict.fromkeys((*self.slots(x), *fresh)))
                if len(slots) > 1:
                    self.set_versions(x_id, slots)
            else:
                self.known[x_id] = (places[slot], x)
                if len(fresh) > 1:
                    self.set_versions(x_id, tuple(fresh))
        self.again = {**self.again, **{places[slot]: x for slot, x in other.variables.items()}}
        self.barriers = {**self.barriers, **{places[slot]: b for slot, b in other.barriers.items()}}
        moved = {token: [places[s] for s in inner] for token, inner in other.absorbed.items()}
        self.absorbed = {**moved, **self.absorbed, other.token: places}
        for x_id, (slot, x) in list(self.known.items()):
            made = self._taken_over(x)
            if made >= 0 and made != slot and x_id not in other.known:
                self.became = {**self.became, slot: (made, self.node.count)}
                self.set_versions(x_id, (*self.versions.get(x_id, (slot,)), made))
                self.known[x_id] = made, x
        return places

    def _here(self, x: Any) -> int:
        """The slot of `x`, or -1 if it is not in this recording. It makes no leaf."""
        if x._token is self.token:
            return x._slot  # type: ignore[no-any-return]
        entry = self.known.get(id(x))
        if entry is not None:
            return entry[0]
        return self._taken_over(x) if self.absorbed else -1


def shift(key: Any, move: Callable[[int], int]) -> Any:
    """The key of a record with `move` applied to its slots."""
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


# Nested operands stand in a key as a marker, then the items.
CALL = "call"
TUPLE, LIST, SLICE = "tuple", "list", "slice"
CONTAINERS = frozenset((TUPLE, LIST, SLICE))


class Reader:
    """Reads the key of a record: its primitive, its operands and its slots."""

    def __init__(self, node: TrieNode):
        assert node.parent is not None
        self.node = node
        self.next = node.parent.count  # the slot of the next constant, then of the results

    def operands(self) -> tuple[Prim, Any, Any, list[int]]:
        """The primitive, its arguments, its keyword arguments, and the slots of the results.

        A `SlotRef` stands for each value among the arguments.
        """
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
    """Stands for the value of a slot among the operands of a record."""

    __slots__ = ("number", "constant")

    def __init__(self, number: int, constant: bool = False):
        self.number = number
        self.constant = constant


def slots_in(arg: Any) -> Iterator[SlotRef]:
    """The `SlotRef`s in a nested operand, left to right."""
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
    """Stands in a recording for an open tape that watches variables when they are read."""

    _auto = True
    _forward = False
    _start = 0
    _spans: tuple[tuple[int, int], ...] = ()

    def _leave_out(self, start: int, end: int) -> None:
        pass

    def _settle(self) -> None:
        pass


class _State(threading.local):
    """The state of this thread. `rec`: the recording of all open tapes."""

    rec: Recording | None = None
    sealed: bool = False  # no tensor may become an array here, since operations on the array are not recorded


STATE = _State()
