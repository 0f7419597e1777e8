"""The questions that a program asks of values: whether one is true, two are equal, or one object, or one is in another.

Each is answered as Python's data model says. A method that is written in Python is inlined. Others are asked of the
live object when the program runs. What is known now is an answer with a proof: see `folds`.
"""

from __future__ import annotations

import collections
import enum
import numbers
import operator
import sys
import types
from functools import partial
from typing import Any, NoReturn

import numpy as np

from ..errors import UnsupportedError, is_interruption
from ..ir.core import Prim, Value, type_of
from ..ir.foreign import root_module
from ..ir.opset import BUILD, CONTAINS, EQ, IS, NOT, PRIMS, TRUTH, asked
from ..late import late
from ..tree import class_lookup
from .access import Access
from .avals import (
    BUILTIN,
    MISSING,
    Bound,
    Closure,
    Columns,
    DictRef,
    Instance,
    ListRef,
    Obj,
    Partial,
    RangeOf,
    Ref,
    Reference,
    Seq,
    SliceOf,
    ViewOf,
    describe,
    is_collection,
    is_constant,
    is_iterator,
    is_never_nan,
    is_number,
    is_set_like,
    is_whole,
)
from .bounds import bounded
from .folds import proved
from .handlers import Node, Val
from .inputs import is_lasting
from .library.iterables import is_in
from .objects import NATIVE, is_generated, is_object
from .sets import is_set

prefer_known = late(__package__, "causes", "prefer_known")

SIGNS = {
    operator.lt: "<", operator.le: "<=", operator.eq: "==", operator.ne: "!=", operator.ge: ">=", operator.gt: ">",
}  # fmt: skip
NAMES = {fn: f"__{fn.__name__}__" for fn in SIGNS}
REFLECTED = {**dict(zip(SIGNS, reversed(SIGNS))), operator.eq: operator.eq, operator.ne: operator.ne}
ASKED = {fn: asked(sign, fn) for fn, sign in SIGNS.items()}
ASKED_TRUTH, ASKED_IN = asked("bool", bool), asked("in", operator.contains)
ASKED_LENGTH, ASKED_HASH = asked("len", len), asked("hash", hash)
_NUMERIC = (int, float, complex)
# Sets, dictionaries with an order and what holds bytes are equal to objects of other classes too.
_KNOWS_ONLY_ITS_OWN = frozenset({*_NUMERIC, str, list, tuple, dict, types.SimpleNamespace})
_CALLABLES = (Closure, Bound, Partial)


class Questions(Access):
    """Truth, identity, equality, order and membership."""

    # --- the live object ------------------------------------------------------------------------------------------

    def live_operand(self, av: Val, node: Node) -> Val:
        """The operand that is the object itself when the program runs, or `MISSING`."""
        kind = type(av)
        if is_constant(av) or (kind is Value and (av.type.is_scalar or av.type.kind in ("any", "object"))):
            return av
        if kind is Ref:
            return self.read(av, node)
        origin = self.origin(av) if kind is Obj or kind is Instance else None
        if origin is not None:
            self.only_looked_at(origin, "", node)
            if isinstance(origin.obj, np.dtype) and origin.path is None:
                return MISSING  # as a constant it stands for the class of its numbers
            if isinstance(origin.obj, np.dtype):
                return self.live_input(origin.obj, origin.path)
            if origin.path is None or is_lasting(origin.obj) or len(origin.path) == 1 and origin.path[0][0] == "object":
                return self.pinned(origin)
            return self.live_input(origin.obj, origin.path)
        if kind is RangeOf or kind is SliceOf:
            parts = [self.live_operand(x, node) for x in av.parts()]
            return self.emit(node, BUILD, range if kind is RangeOf else slice, (), *parts)
        if kind is Seq:
            items = [self.live_operand(x, node) for x in av.items]
            if not any(x is MISSING for x in items):
                return self.emit(node, BUILD, av.cls or tuple, (), *items)
        return MISSING

    def ask(self, prim: Prim, avs: list[Any], node: Node) -> Any:
        """The answer of the live objects, when the program runs; `MISSING` if one of them is not there then."""
        operands = [self.live_operand(x, node) for x in avs]
        if any(x is MISSING for x in operands):
            return MISSING
        return self.fresh(self.emit(node, prim, *operands))

    # --- truth ----------------------------------------------------------------------------------------------------

    def truth(self, av: Val, node: Node) -> Val:
        """``bool(av)``: a Python bool, or a value that is one."""
        av = self.use(av, "the value", node)
        if is_constant(av):
            return proved("constants", bool(av))
        if type(av) is Obj or is_object(av):
            held = self.underlying(av, node, "__bool__", "__len__")
            return _object_truth(self, av, node) if held is av else self.truth(held, node)
        av = self.holder(av, node)
        kind = type(av)
        if kind is Seq:
            return proved("length", len(av.items) > 0)
        if kind in (ListRef, DictRef):
            content = self.checked(av.cell, node, "list")
            if type(content) is Columns:
                return self.emit(node, TRUTH, content.leaves[0])
            return proved("length", len(content.items) > 0)
        if kind is RangeOf:
            n = self.length(av, node)
            return proved("length", n > 0) if isinstance(n, int) else self.emit(node, PRIMS[operator.gt], n, 0)
        if kind in _CALLABLES or kind is SliceOf or is_collection(av):
            return proved("class", True)
        x = self.operand(av, node)
        if type(x) is Value and x in self.known:
            return proved("constants", self.known[x])
        if bounded(operator.ne, x, 0, self.builder.dims):
            return proved("bounds", True)
        if type(x) is Value and x.type.dtype == np.dtype(bool) and x.type.kind in ("py", "generic"):
            return x
        return self.emit(node, TRUTH, x)

    def object_length(self, av: Val, node: Any) -> Any:
        """``len(av)`` of an object, or `MISSING` if it has none."""
        if is_collection(av):
            return MISSING
        method = self.special_method(av, "__len__", node)
        if method is MISSING:
            return MISSING
        if method is NATIVE:
            made = self.ask(ASKED_LENGTH, [av], node)
            if made is MISSING:
                self.not_known(f"the length of {describe(av)}", node, "keep it in a variable")
            return made
        made = self.call(method, [av], {}, node)
        _checked_truth(self, "__len__", made, node)
        return made if is_constant(made) else self.call(Obj(int, None), [made], {}, node)

    def not_known(self, what: str, node: Node, remedy: str, cause: Any = None) -> NoReturn:
        self.fail(f"{what} is not known when the program is compiled", node, remedy, cause=cause)

    def negated(self, flag: Any, node: Node) -> Any:
        """``not flag``, of what `truth` gave."""
        return proved("evaluated", not flag) if isinstance(flag, bool) else self.emit(node, NOT, flag)

    # --- identity -------------------------------------------------------------------------------------------------

    def identity(self, a: Val, b: Val, node: Node) -> Val:
        """Whether ``a is b``: a bool, a value that is one, or None if that is not known."""
        for x, y in ((a, b), (b, a)):
            if y is None or isinstance(y, bool) or y is Ellipsis:
                return _is_singleton(self, x, y, node)
        if a is b and type(a) is not Value and not (is_constant(a) and type(a) is not float):
            return proved("one object", True)
        if is_constant(a) and is_constant(b):
            return None if type(a) is type(b) and a == b else proved("two objects", False)
        if type(a) is Obj and type(b) is Obj:
            return _is_object_from_outside(self, a, b, node)
        for x, y in ((a, b), (b, a)):
            content = self.content(x.cell) if type(x) is Ref and not x.path else x
            if type(content) is Value and content.type.kind in ("any", "object"):
                if type(y) is not Obj:
                    return None
                return self.emit(node, IS, content, self.live_operand(y, node))
        classes = [self.class_of(x, node) for x in (a, b)]
        if None not in classes and classes[0] is not classes[1]:
            return proved("two classes", False)
        if type(a) is type(b) and isinstance(a, Reference):
            return _is_one_reference(self, a, b)
        if type(a) is Closure and type(b) is Closure and a.node is not b.node:
            return proved("two objects", False)
        return None

    def place_outside(self, av: Val) -> Any:
        """Where an array, list, dictionary or object was found, if it comes from outside."""
        if type(av) is Ref and av.path:
            return None
        found = self.inputs.outside.get(av.cell)
        return found[2] if found is not None else self.inputs.found_at.get(av.cell)

    def identical(self, a: Val, b: Val, node: Node) -> Val:
        """``a is b``: a bool, or a value that is one."""
        found = self.identity(a, b, node)
        if found is None:
            self.not_known("whether these are one object", node, "compare with ==", [a, b])
        return found

    # --- equality and order ---------------------------------------------------------------------------------------

    def compare_with(self, fn: Any, a: Val, b: Val, node: Node) -> Val:
        """``a == b``, ``a < b`` and so on."""
        a, b = (self.underlying(self.use(x, "the value", node), node, *NAMES.values()) for x in (a, b))
        if is_constant(a) and is_constant(b):
            try:
                made = fn(a, b)
            except TypeError as error:
                if is_interruption(error):
                    raise
                self.raises(TypeError, str(error), node)
            if type(made) is bool:
                return proved("constants", made)
            value = self.emit(node, PRIMS[fn], a, b)  # NumPy's bool, which is another object than Python's
            self.known[value] = bool(made)
            return value
        if any(type(x) is Obj or type(x) in _CALLABLES or is_object(x) for x in (a, b)):
            return _compare_objects(self, fn, a, b, node)
        kinds = (kind_of(a), kind_of(b))
        if kinds[0] != kinds[1] and None not in kinds:
            return _compare_kinds(self, fn, a, b, node)
        found = self.compare_containers(fn, a, b, node)
        if found is not NotImplemented:
            return found
        if (answer := bounded(fn, a, b, self.builder.dims)) is not None:
            return proved("bounds", answer)
        if a is b and is_whole(a):
            return proved("one number", fn in (operator.eq, operator.le, operator.ge))
        if any(type(x) in (RangeOf, SliceOf) for x in (a, b)):
            made = self.ask(ASKED[fn], [a, b], node)
            if made is not MISSING:
                return made
        return self.fresh(self.emit(node, PRIMS[fn], self.operand(a, node), self.operand(b, node)), like=(a, b))

    def same_item(self, a: Val, b: Val, node: Node) -> Val:
        """Whether containers take two items for equal: they are one object, or are equal."""
        once = a is b and not (type(a) is Value and a in self.builder.repeated)
        found = once or self.identity(a, b, node)
        if found is True:
            return proved("one object", True)
        if found is None and not (is_reflexive(a) and is_reflexive(b)) and not any(map(is_never_nan, (a, b))):
            self.not_known("whether these are one object", node, "compare the items", [a, b])
        if isinstance(found, Value):
            equal = lambda: self.truth(self.compare_with(operator.eq, a, b, node), node)
            return self.branch(found, lambda: proved("one object", True), equal, node)
        if _is_nan_decided_by_identity(a, b):
            flag = self.emit(node, EQ, a, a)
            if a is not b:
                flag = self.emit(node, PRIMS[operator.or_], flag, self.emit(node, EQ, b, b))
            message = "whether two values that are nan are one object is not known here: compare the items with =="
            self.raise_unless(flag, UnsupportedError, message, node)
            if a is b:
                return proved("one number", True)
        return self.truth(self.compare_with(operator.eq, a, b, node), node)

    def same_items(self, xs: list[Any], ys: list[Any], node: Node) -> Any:
        """Whether two sequences of items are equal."""
        return self.equal_parts(list(zip(xs, ys)), False, node) if len(xs) == len(ys) else proved("length", False)

    def is_item(self, a: Val, items: list[Any], node: Node) -> Val:
        return self.equal_parts([(item, a) for item in items], True, node)

    def equal_parts(self, pairs: list[tuple[Any, Any]], stop: bool, node: Node) -> Any:
        """Whether one of the pairs is equal, or, if `stop` is False, whether all are. Python stops at the first that
        settles it, and a comparison further on may raise."""
        prim = PRIMS[operator.or_ if stop else operator.and_]
        known = proved("equal parts", not stop)
        result: Any = known
        for k, (x, y) in enumerate(pairs):
            equal = self.same_item(x, y, node)
            if equal is known:
                continue
            result = equal if result is known else self.emit(node, prim, result, equal)
            if equal is stop:
                return result
            rest = pairs[k + 1 :]
            if not all(is_reflexive(z) for pair in rest for z in pair):
                later, settled = partial(self.equal_parts, rest, stop, node), lambda: proved("equal parts", stop)
                return self.branch(result, settled if stop else later, later if stop else settled, node)
        return result

    # --- membership -----------------------------------------------------------------------------------------------

    def contains(self, a: Val, b: Val, node: Node) -> Val:
        """``a in b``."""
        b = self.underlying(self.use(b, "the value", node), node, "__contains__")
        if type(b) is Obj and b.obj is sys.modules:
            return self.module_entry(sys.modules.__contains__, a, node)
        if type(b) is Obj or is_object(b) and type(b) is not Seq:
            return _object_contains(self, a, b, node)
        if is_set(b):
            self.require_hash(a, node)
            if is_constant(a) or type(a) is Obj:
                return proved("members", self.static_key(a, node) in self.set_of(b, node))
        if type(b) is not ViewOf or b.kind == "keys":
            b = self.holder(b, node)
        if type(b) is DictRef:
            keys = dict.fromkeys(self.checked(b.cell, node, "dictionary").keys)
            self.require_hash(a, node)
            return proved("members", self.static_key(a, node) in keys)
        if is_iterator(b):
            return self.found(b, lambda x: self.is_item(a, [x], node), False, Obj(is_in, None), node, (a,))
        if type(b) is ViewOf or type(b) is Instance:
            items = self.iterated(self.iterable(b, node), node)
            if items is not None:
                b = Seq(tuple(items))
        if is_constant(a) and is_constant(b):
            return proved("constants", self.folded(operator.contains, [b, a], {}, node))
        if type(b) in (Seq, ListRef) and not (type(b) is ListRef and type(self.content(b.cell)) is Columns):
            return self.is_item(a, self.static_items(b, node), node)
        return self.emit(node, CONTAINS, self.operand(b, node), self.operand(a, node))

    def require_hash(self, av: Val, node: Node) -> None:
        """What is looked up in a set or a dictionary has to be hashable."""
        cls = self.class_of(av, node)
        if cls is not None and class_lookup(cls, "__hash__") is None:
            self.raises(TypeError, f"unhashable type: {cls.__name__!r}", node)
        if type(av) is Seq:
            for item in av.items:
                self.require_hash(item, node)


def _object_truth(ctx: Questions, av: Val, node: Any) -> Any:
    for name in ("__bool__", "__len__"):
        method = ctx.special_method(av, name, node)
        if method is NATIVE:
            return _native_truth(ctx, av, node)
        if method is not MISSING:
            return _checked_truth(ctx, name, ctx.call(method, [av], {}, node), node)
    return proved("no method", True)


def _native_truth(ctx: Questions, av: Val, node: Node) -> Val:
    """The truth of an object whose class has it from a class that is not written in Python."""
    if type(av) is Seq:
        return proved("length", len(av.items) > 0)
    if type(av) is Obj and isinstance(av.obj, enum.Enum):
        return proved("live", bool(ctx.pinned(av)))
    made = ctx.ask(ASKED_TRUTH, [av], node)
    if made is MISSING:
        ctx.not_known(f"the truth of {describe(av)}", node, "compare what it holds")
    return made


def _checked_truth(ctx: Questions, name: str, made: Any, node: Node) -> Any:
    """The truth that a method gives, which has to be a bool, or a length."""
    cls = ctx.class_of(made, node)
    if cls is None:
        ctx.not_known(f"whether {name} returns what it has to", node, "return bool(...) of it")
    if name == "__len__":
        if not issubclass(cls, (int, np.integer)):
            if class_lookup(cls, "__index__") is not None:
                ctx.fail(f"__len__ returns {cls.__name__}, which is no int", node, "return int(...) of it")
            ctx.raises(TypeError, f"{cls.__name__!r} object cannot be interpreted as an integer", node)
        negative = ctx.compare_with(operator.lt, made, 0, node)
        error = "__len__() should return >= 0"
        if negative is True:
            ctx.raises(ValueError, error, node)
        if negative is not False:
            ctx.raise_unless(ctx.emit(node, NOT, negative), ValueError, error, node)
    elif cls is not bool:
        ctx.raises(TypeError, f"__bool__ should return bool, returned {cls.__name__}", node)
    return ctx.truth(made, node)


def _is_singleton(ctx: Questions, x: Any, y: Any, node: Node) -> Any:
    """``x is y`` for None, True, False or an ellipsis."""
    x = ctx.use(x, "the value", node)
    if is_constant(x):
        return proved("constants", x is y)
    if type(x) is Ref:
        content = ctx.checked(x.cell, node)
        if x.path or type_of(content).kind == "array":
            return proved("two classes", False)
        prefer_known(ctx, x)
        return ctx.emit(node, IS, content, y)
    if type(x) is Value:
        if not (x.type.kind in ("any", "object") or (isinstance(y, bool) and x.type.dtype == np.dtype(bool))):
            return proved("two classes", False)
        prefer_known(ctx, x)
        return ctx.emit(node, IS, x, y)
    return proved("two classes", type(x) is Obj and x.obj is y)


def _is_object_from_outside(ctx: Questions, a: Obj, b: Obj, node: Node) -> Any:
    same = a.obj is b.obj
    methods = [x.obj for x in (a, b) if isinstance(x.obj, types.BuiltinMethodType)]
    if a.path != b.path and not all(isinstance(fn.__self__, types.ModuleType) for fn in methods):
        return None  # a method of a built-in object is another one each time
    if None in (a.path, b.path) or is_lasting(a.obj) or is_lasting(b.obj):
        return proved("live", ctx.pinned(a) is ctx.pinned(b))
    if a.path != b.path:
        assert a.path is not None and b.path is not None
        ctx.inputs.guard(a.path, "same" if same else "distinct", b.path)
    return proved("same path", same)


def _is_at(ctx: Questions, a: Val, b: Val) -> bool:
    """Whether two paths lead to one object, under a guard."""
    if a == b:
        return proved("one object", True)
    same = ctx.inputs.met[a] is ctx.inputs.met[b]
    ctx.inputs.guard(a, "same" if same else "distinct", b)
    return proved("same path", same)


def _is_one_reference(ctx: Questions, a: Any, b: Any) -> Any:
    """Whether two arrays or containers are one object. A view is an object of its own, and what shares no memory is
    another."""
    if a.cell == b.cell:
        return None if type(a) is Ref else proved("one object", True)
    places = [ctx.place_outside(x) for x in (a, b)]
    if None not in places:
        return _is_at(ctx, *places)
    near = ctx.state.links.get(a.cell, ()) if type(a) is Ref else ()
    family = () if type(a) is Ref else ctx.cells.family(a.cell) & ctx.cells.family(b.cell)
    return None if family or b.cell in near else proved("two objects", False)


def _compare_kinds(ctx: Questions, fn: Any, a: Val, b: Val, node: Node) -> Val:
    """A comparison of what is never equal, and has no order."""
    if fn in (operator.eq, operator.ne):
        return proved("two kinds", fn is operator.ne)
    _no_order(ctx, fn, a, b, node)


def _no_order(ctx: Questions, fn: Any, a: Val, b: Val, node: Node) -> NoReturn:
    names = [getattr(ctx.class_of(x, node), "__name__", "object") for x in (a, b)]
    ctx.raises(TypeError, f"{SIGNS[fn]!r} not supported between instances of {names[0]!r} and {names[1]!r}", node)


def _compare_objects(ctx: Questions, fn: Any, a: Val, b: Val, node: Node) -> Val:
    """A comparison in which an object takes part: by the methods of both classes, then by identity."""
    classes = [ctx.class_of(x, node) for x in (a, b)]
    tries = [(a, NAMES[fn], b), (b, NAMES[REFLECTED[fn]], a)]
    if None not in classes and classes[0] is not classes[1] and issubclass(classes[1], classes[0]):
        tries.reverse()
    native = False
    for x, name, y in tries:
        made = _compared_by(ctx, x, name, y, native, node)
        if made is NATIVE:
            native = True
        elif made is not NotImplemented:
            return made
    if native:
        return _compare_live(ctx, fn, a, b, node)
    if fn not in (operator.eq, operator.ne):
        _no_order(ctx, fn, a, b, node)
    found = ctx.identity(a, b, node)
    if found is None:
        ctx.not_known("whether these are equal", node, "compare what they hold", [a, b])
    return found if fn is operator.eq else ctx.negated(found, node)


def _compared_by(ctx: Questions, x: Any, name: str, y: Any, native: bool, node: Any) -> Any:
    """What the class of `x` says of a comparison; NATIVE if only the live object knows."""
    if not (type(x) is Obj or is_object(x)):
        cls = ctx.class_of(x, node)
        if type(x) is Bound and kind_of(y) is not None:
            return NotImplemented
        if cls is None or issubclass(cls, (np.generic, np.ndarray)):
            return NATIVE
        other = ctx.class_of(y, node)
        return NATIVE if other is None or issubclass(other, cls) else NotImplemented
    method = ctx.special_method(x, name, node)
    if name == "__ne__" and class_lookup(ctx.cls_of(x), name) in (None, object.__ne__):
        made = _compared_by(ctx, x, "__eq__", y, native, node)
        return made if made is NATIVE or made is NotImplemented else ctx.negated(ctx.truth(made, node), node)
    if method is MISSING or method is NATIVE:
        return NotImplemented if method is MISSING or _is_plain_slot(ctx, x, name, y, node) else NATIVE
    if native:
        return NATIVE  # what that one says comes first
    if type(method) is Obj and is_generated(method.obj):
        return ctx.compare_fields(name, x, y, node)
    made = ctx.call(method, [x, y], {}, node)
    return NotImplemented if type(made) is Obj and made.obj is NotImplemented else made


def _is_plain_slot(ctx: Questions, av: Val, name: str, other: Val, node: Node) -> bool:
    """The method is that of `object`, by identity, or of a built-in class that knows only objects of its own."""
    raw = class_lookup(ctx.cls_of(av), name)
    if raw is class_lookup(object, name):
        return True
    owner, cls = getattr(raw, "__objclass__", None), ctx.class_of(other, node)
    if owner not in _KNOWS_ONLY_ITS_OWN or cls is None:
        return False
    numpy = any(root_module(base) == "numpy" for base in cls.__mro__)
    related = issubclass(cls, owner) or (issubclass(owner, _NUMERIC) and issubclass(cls, numbers.Number))
    return not (numpy or related)


def _compare_live(ctx: Questions, fn: Any, a: Val, b: Val, node: Node) -> Val:
    """A comparison by methods that are not written in Python."""
    if all(is_constant(x) or (type(x) is Obj and is_lasting(x.obj)) for x in (a, b)):
        try:
            made = fn(*[ctx.pinned(x) if type(x) is Obj else x for x in (a, b)])
        except TypeError as error:
            if is_interruption(error):
                raise
            ctx.raises(TypeError, str(error), node)
        if type(made) is bool:
            return proved("live", made)
    if all(is_object(x) and ctx.cls_of(x) is types.SimpleNamespace for x in (a, b)) and Instance in map(type, (a, b)):
        held = [ctx.attribute(x, "__dict__", node) for x in (a, b)]
        return ctx.compare_with(fn, held[0], held[1], node)
    if all(type(x) is Seq for x in (a, b)):
        return ctx.compare_containers(fn, Seq(a.items), Seq(b.items), node)
    for x, y in ((a, b), (b, a)):
        if type(x) is Seq and kind_of(y) is not None:
            return _compare_kinds(ctx, fn, a, b, node)
    made = ctx.ask(ASKED[fn], [a, b], node)
    if made is MISSING:
        if all(type(x) in _CALLABLES or type(x) is Obj for x in (a, b)):
            return _compare_callables(ctx, fn, a, b, node)
        ctx.not_known("whether these are equal", node, "compare what they hold", [a, b])
    return made


def _compare_callables(ctx: Questions, fn: Any, a: Val, b: Val, node: Node) -> Val:
    """Bound methods are equal if they are one function of one object; other callables by identity."""
    if fn not in (operator.eq, operator.ne):
        _no_order(ctx, fn, a, b, node)
    if type(a) is Bound and type(b) is Bound:
        found: Any = False
        if isinstance(a.fn, str) and isinstance(b.fn, str):
            found = proved("two objects", False) if a.fn != b.fn else ctx.identity(a.self, b.self, node)
        elif not isinstance(a.fn, str) and not isinstance(b.fn, str):
            found = ctx.identity(a.fn, b.fn, node)
            if found is True:
                found = ctx.identity(a.self, b.self, node)
    else:
        found = ctx.identity(a, b, node)
    if not isinstance(found, bool):
        ctx.not_known("whether these functions are equal", node, "keep a flag")
    return proved("equal parts", found == (fn is operator.eq))


def _object_contains(ctx: Questions, a: Val, b: Val, node: Any) -> Any:
    method = ctx.special_method(b, "__contains__", node)
    if method is MISSING and type(b) is not Obj:
        items = ctx.iterated(ctx.iterable(b, node), node)
        if items is not None:
            return ctx.is_item(a, items, node)
    if method is MISSING or method is NATIVE:
        made = ctx.ask(ASKED_IN, [b, a], node)
        if made is MISSING:
            ctx.not_known(f"what {describe(b)} contains", node, "look for it in a loop", [a, b])
        return made
    return ctx.truth(ctx.call(method, [b, a], {}, node), node)


def kind_of(av: Val) -> str | None:
    """Of which of Python's built-in kinds a value is, if it is of one: values of two kinds are never equal."""
    if is_constant(av):
        return _KINDS.get(type(av))
    if type(av) is Value:
        return "number" if av.type.kind == "py" else None
    if is_set_like(av):
        return "set"
    if is_collection(av):
        return None if is_iterator(av) else "deque" if av.cls is collections.deque else "dict"
    return BUILTIN[type(av)].__name__ if type(av) in BUILTIN else None


def _is_nan_decided_by_identity(a: Val, b: Val) -> bool:
    """Two floating numbers that may be one object. It matters to containers if they are nan."""
    for x in (a, b):
        if type(x) is not Value or (x.type.dtype is not None and x.type.dtype.kind not in "fc"):
            return False
        if a is not b and x.op is not None and x.op.prim in _ARITHMETIC:
            return False  # a new object
    return True


_ARITHMETIC = {PRIMS[fn] for fn in (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg)}


def is_reflexive(av: Val) -> bool:
    """A number or a string: equal to itself, NaN aside, and its comparisons do not raise."""
    return is_number(av) or kind_of(av) is not None and is_constant(av) or type(av) is Value and av.type.is_scalar


_KINDS: dict[type, str] = {
    bool: "number", int: "number", float: "number", complex: "number", str: "str", bytes: "bytes",
    type(None): "None", type(...): "ellipsis",
}  # fmt: skip
