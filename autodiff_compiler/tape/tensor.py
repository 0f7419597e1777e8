"""Tensors and variables: NumPy values whose operations are recorded while a tape is interested in them.

`Operand` is what both have in common, and what the compatibility layers derive their own classes from. It has Python's
operators. It has no ``__array_ufunc__``: ``np.mean(t)`` gives an array and leaves the tape. The native `Tensor` adds
NumPy's two protocols, so that code may stay plain NumPy.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..api.transforms import Transformed, accept_operands
from ..codegen.load import load
from ..errors import RuleLookupError, UnsupportedError
from ..ir import numpy_ops  # noqa: F401  (fills the table)
from ..ir.core import Prim
from ..ir.opset import ABS, GET, PRIMS
from ..rules.registry import is_nondiff
from .recording import CALL, CONSTANT, LIST, SLICE, STATE, TUPLE, Leaf, Recording, leaf_key, signature

ndarray = np.ndarray


class Operand:
    """A value that operations can be recorded of.

    Class attributes for those who derive from it: `_tensor_class` is the class of results, which is called without
    arguments and fills nothing in, since that is the fastest way to make an object; `_strict` says whether two
    operands have to have the same dtype, `_conjugate` whether complex gradients are the conjugates of the compiler's,
    as those of TensorFlow and PyTorch are. `_coerce(other)` gives the NumPy value that another operand stands for, or
    NotImplemented.
    """

    __slots__ = ()
    __array_priority__ = 100.0
    _trainable: bool = False
    _strict: ClassVar[bool] = False
    _conjugate: ClassVar[bool] = False
    _name_hint: str = ""
    _leaf: ClassVar[Leaf | None] = None  # on a variable, its key as a leaf, which says the type of its values
    _tensor_class: ClassVar[type[Tensor]]
    # What compiled functions may ask of one that is not among their arguments.
    __autodiff_outside__ = frozenset(
        ("__class__", "__len__", "_value", "dtype", "name", "ndim", "numpy", "shape", "size")
    )
    _value: Any
    _token: Any
    _slot: int

    def _coerce(self, other: Any) -> Any:
        raise NotImplementedError

    @staticmethod
    def _exponent(other: Any) -> Any:
        """A plain exponent in the layer's dtypes."""
        return other

    def _mismatch(self, other: Any, name: str) -> None:
        """Called where `_strict` operands have two dtypes."""

    def _typed_leaf(self) -> Leaf:
        """The key of this operand as a leaf."""
        return leaf_key(self._name_hint)


def wrap(cls: type[Any], value: Any) -> Any:
    """A tensor of a value, which no recording knows."""
    t = cls()
    t._value = value
    t._token = CONSTANT
    t._slot = -1
    return t


# An operator of two operands. Every operation of a user goes through it, so it is written out for each operator, class
# and order, without a question that is answered beforehand.
_BINARY = """
def operation(self, other):
    x = self._value
    if isinstance(other, Operand):
        y = other._value
        {check}
        t = {cls}()
        t._value = out = {expression}
        rec = STATE.rec
        if rec is not None:
            token = rec.token
            at, to = self._token, other._token
            if at is token and to is token:
                i, j = self._slot, other._slot
                node = rec.node
                hot = node.hot
                if hot.head is prim and hot.left == {first} and hot.right == {second}:
                    rec.node = node = hot
                else:
                    rec.node = node = node.go((prim, {first}, {second}), 1)
                rec.append(out)
                t._token = token
                t._slot = node.last
                return t
            i = self._slot if at is token else -1 if at is CONSTANT and rec.alone else rec.find(self)
            j = other._slot if to is token else -1 if to is CONSTANT and rec.alone else rec.find(other)
            if i >= 0 or j >= 0:
                if {first} < 0:
                    rec.append({first_value})
                if {second} < 0:
                    rec.append({second_value})
                node = rec.node
                hot = node.hot
                if hot.head is prim and hot.left == {first} and hot.right == {second}:
                    rec.node = node = hot
                else:
                    rec.node = node = node.go((prim, {first}, {second}), 1 + (i < 0) + (j < 0))
                rec.append(out)
                t._token = token
                t._slot = node.last
                return t
        t._token = CONSTANT
        t._slot = -1
        return t
    y = {coerced}
    if y is NotImplemented:
        return NotImplemented
    t = {cls}()
    t._value = out = {plain_expression}
    rec = STATE.rec
    if rec is not None:
        token = rec.token
        i = self._slot if self._token is token else rec.find(self)
        if i >= 0:
            rec.append(y)
            rec.node = node = rec.node.go((prim, {constant}), 2)
            rec.append(out)
            t._token = token
            t._slot = node.last
            return t
    t._token = CONSTANT
    t._slot = -1
    return t
"""
_FULL = (np.dtype(np.float64), np.dtype(np.float32))
_EXPRESSIONS: dict[Any, str] = {
    np.sum: "reduce(x, None)",
    # Where there is something to average in full precision.
    np.mean: "reduce(x, None) / x.size if x.__class__ is ndarray and x.dtype in full and x.size else compute(x)",
    operator.add: "{0} + {1}",
    operator.sub: "{0} - {1}",
    operator.mul: "{0} * {1}",
    operator.truediv: "{0} / {1}",
    # ndarray.dot has less to decide than np.matmul; for two matrices it is the same.
    np.matmul: "{0}.dot({1}) if {0}.ndim == 2 == {1}.ndim else compute({0}, {1})",
}


def binary(
    prim: Prim, compute: Callable[[Any, Any], Any], name: str, reflected: bool = False,
    cls: type[Any] | None = None, strict: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """An operator of two operands.

    `cls` is the class of results, asked of the operand if None; `strict`: both have to have one dtype.
    """
    check = "if x.dtype is not y.dtype: self._mismatch(other, name)"
    if not strict:
        check = "pass" if cls is not None else check.replace("if ", "if self._strict and ", 1)
    operands = ("y", "x") if reflected else ("x", "y")
    method = f"__{'r' if reflected else ''}{name}__"
    text = _BINARY.format(
        check=check,
        cls="cls" if cls is not None else "self._tensor_class",
        expression=_EXPRESSIONS.get(compute, "compute({0}, {1})").format(*operands),
        # A plain number has no `ndim`.
        plain_expression=(
            "compute({0}, {1})" if compute is np.matmul else _EXPRESSIONS.get(compute, "compute({0}, {1})")
        ).format(*operands),
        first="j" if reflected else "i",
        second="i" if reflected else "j",
        first_value=operands[0],
        second_value=operands[1],
        constant="-1, i" if reflected else "i, -1",
        # NumPy decides on the dtype of a plain number; a class that does that itself gives no `cls`.
        coerced="other if other.__class__ in plain else self._coerce(other)"
        if cls is not None
        else "self._coerce(other)",
    )
    scope = {
        "Operand": Operand,
        "STATE": STATE,
        "CONSTANT": CONSTANT,
        "cls": cls,
        "prim": prim,
        "compute": compute,
        "name": name,
    }
    scope["plain"] = frozenset((int, float))
    made = types.FunctionType(_code(text), scope, method)
    made.__qualname__ = f"Operand.{method}"
    return made


@functools.cache
def _code(text: str) -> types.CodeType:
    """The code of the function that a text defines: most operators have the same."""
    return load(text, "operation", {}).__code__


# An operation of one operand, likewise.
_UNARY = """
def operation(self):
    x = self._value
    out = {expression}
    if out is x:
        out = out[()]  # each tensor has a value of its own: a recording knows constants by it
    t = {cls}()
    t._value = out
    rec = STATE.rec
    if rec is not None:
        i = self._slot if self._token is rec.token else rec.find(self)
        if i >= 0:
            node = rec.node
            hot = node.hot
            if hot.head is prim and hot.left == i and hot.right is right:
                rec.node = node = hot
            else:
                rec.node = node = node.go((prim, i, *static), 1)
            rec.append(out)
            t._token = rec.token
            t._slot = node.last
            return t
    t._token = CONSTANT
    t._slot = -1
    return t
"""


def unary(
    prim: Prim, compute: Callable[[Any], Any], cls: type[Any] | None = None, arguments: tuple[Any, ...] = ()
) -> Callable[..., Any]:
    """An operation of one operand. `arguments`: plain ones that follow it, as part of the structure."""
    static = tuple([(type(a), a) for a in arguments])
    text = _UNARY.format(
        expression=_EXPRESSIONS.get(compute, "compute(x)"), cls="cls" if cls is not None else "self._tensor_class"
    )
    scope = {
        "STATE": STATE, "CONSTANT": CONSTANT, "cls": cls, "prim": prim, "compute": compute, "static": static,
        "right": static[0] if static else None, "reduce": np.add.reduce, "ndarray": ndarray, "full": _FULL,
    }  # fmt: skip
    return types.FunctionType(_code(text), scope, prim.name)


def reduction(prim: Prim, compute: Callable[[Any, Any, bool], Any], cls: type[Any] | None = None) -> Callable[..., Any]:
    """A reduction ``method(x, axis=None, keepdims=False)``; ``compute(value, axis, keepdims)`` gives its value."""
    tails: dict[Any, Any] = {}

    def method(self: Any, axis: Any = None, keepdims: bool = False) -> Any:
        out = compute(self._value, axis, keepdims)
        t = cls() if cls is not None else self._tensor_class()
        t._value = out
        rec = STATE.rec
        if rec is not None:
            i = self._slot if self._token is rec.token else rec.find(self)
            if i >= 0:
                node = rec.node
                if axis is None and not keepdims:
                    hot = node.hot
                    if hot.head is prim and hot.left == i and hot.right is None:
                        rec.node = node = hot
                    else:
                        rec.node = node = node.go((prim, i), 1)
                else:
                    try:
                        tail = tails[axis, keepdims, axis.__class__]
                    except KeyError:
                        tail = tails[axis, keepdims, axis.__class__] = (
                            ("axis", _encode(structural(axis), rec, [], False)),
                            ("keepdims", (bool, bool(keepdims))),
                        )
                    rec.node = node = node.go((prim, (CALL, i), tail), 1)
                rec.append(out)
                t._token = rec.token
                t._slot = node.last
                return t
        t._token = CONSTANT
        t._slot = -1
        return t

    return method


_reduce: Any = np.add.reduce


def add_up(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """``np.sum``, without the ways that it goes through."""
    return _reduce(x, axis, None, None, keepdims)


def average(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """``np.mean``, without the ways that it goes through where there is something to average in full precision."""
    if not keepdims and x.__class__ is ndarray and x.dtype in _FULL:
        size = x.size
        if not size:
            pass
        elif axis is None:
            return _reduce(x, None) / size
        elif axis.__class__ is int and x.ndim:
            return _reduce(x, axis) / x.shape[axis]
    return np.mean(x, axis=axis, keepdims=keepdims)


_ARITHMETIC: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
    "add": (operator.add, operator.add),
    "sub": (operator.sub, operator.sub),
    "mul": (operator.mul, operator.mul),
    "truediv": (operator.truediv, operator.truediv),
    "floordiv": (operator.floordiv, operator.floordiv),
    "mod": (operator.mod, operator.mod),
    "matmul": (np.matmul, np.matmul),
}
_COMPARISONS: dict[str, Any] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_BITWISE: dict[str, Any] = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}


def install_operators(owner: type[Any], cls: type[Any] | None = None, strict: bool = False) -> None:
    """Give a class of operands Python's operators, with results of class `cls`; see `binary`."""
    for name, (fn, compute) in _ARITHMETIC.items():
        setattr(owner, f"__{name}__", binary(PRIMS[fn], compute, name, False, cls, strict))
        setattr(owner, f"__r{name}__", binary(PRIMS[fn], compute, name, True, cls, strict))
    for name, fn in _COMPARISONS.items():
        setattr(owner, f"__{name}__", binary(PRIMS[fn], fn, name, False, cls, strict))
    for name, fn in _BITWISE.items():
        setattr(owner, f"__{name}__", binary(PRIMS[fn], fn, name, False, cls, strict))
        setattr(owner, f"__r{name}__", binary(PRIMS[fn], fn, name, True, cls, strict))
    for name, fn in (("neg", operator.neg), ("pos", operator.pos), ("invert", operator.invert)):
        setattr(owner, f"__{name}__", unary(PRIMS[fn], fn, cls))
    setattr(owner, "__abs__", unary(ABS, abs, cls))


install_operators(Operand)
POW = PRIMS[operator.pow]
_power = binary(POW, operator.pow, "pow")


_plain_powers: dict[Any, Callable[[Any], Any]] = {}


def _pow(self: Any, other: Any) -> Any:
    # A plain exponent is part of the structure: the derivative for 2 is not that for 3.
    if type(other) is int or type(other) is float:
        exponent = self._exponent(other)
        key = (exponent.__class__, exponent)
        power = _plain_powers.get(key)
        if power is None:
            if len(_plain_powers) > 1024:
                _plain_powers.clear()
            power = _plain_powers[key] = unary(POW, lambda v: v**exponent, arguments=(exponent,))
        return power(self)
    return _power(self, other)


setattr(Operand, "__pow__", _pow)
setattr(Operand, "__rpow__", binary(POW, operator.pow, "pow", reflected=True))


# --- any primitive ----------------------------------------------------------------------------------------------------


class Static:
    """Marks an operand that is part of the structure, though it could be a value: an exponent, say."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value


def plain(x: Any) -> Any:
    """An argument with NumPy values for operands."""
    return value_of(x, [])


def value_of(x: Any, found: list[Any]) -> Any:
    """An argument with NumPy values for operands, which are appended to `found`."""
    if isinstance(x, Operand):
        found.append(x)
        return x._value
    kind = x.__class__
    if kind in _PLAIN:
        return x
    if kind is tuple:
        return tuple([value_of(item, found) for item in x])
    if kind is list:
        return [value_of(item, found) for item in x]
    if kind is slice:
        return slice(value_of(x.start, found), value_of(x.stop, found), value_of(x.step, found))
    if kind is Static:
        return x.value
    return exact(x)


def exact(x: Any) -> Any:
    """Anything as it is. Raises UnsupportedError for a subclass of np.ndarray, such as a masked array: the derivative
    rules are those of arrays."""
    if isinstance(x, ndarray) and x.__class__ is not ndarray:
        raise UnsupportedError(
            f"{type(x).__name__}: subclasses of np.ndarray change what operations mean", None, "pass np.asarray of it"
        )
    return x


def operands_in(x: Any, out: list[Any]) -> None:
    """Append the operands in a nested argument."""
    if isinstance(x, Operand):
        out.append(x)
    elif type(x) is tuple or type(x) is list:
        for item in x:
            operands_in(item, out)
    elif type(x) is slice:
        operands_in((x.start, x.stop, x.step), out)


_STATIC = frozenset((int, bool, str, type(None), type(Ellipsis), type))
_WITH_NUMBERS = frozenset(
    (PRIMS[np.where], PRIMS[np.clip])
)  # plain numbers are values here too, as in elementwise ones


def _encode(x: Any, rec: Recording, constants: list[Any], numbers: bool) -> Any:
    """How an argument stands in a record's key; the values of constants are appended to `constants`. `numbers`: plain
    numbers are values, not part of the structure."""
    if isinstance(x, Operand):
        slot = x._slot if x._token is rec.token else rec.find(x)
        if slot < 0:
            constants.append(x._value)
        return slot
    kind = type(x)
    if kind is Static:
        return (type(x.value), x.value)
    if kind is tuple:
        return (TUPLE, *[_encode(item, rec, constants, numbers) for item in x])
    if kind is list:
        return (LIST, *[_encode(item, rec, constants, numbers) for item in x])
    if kind is slice:
        return (SLICE, *[_encode(item, rec, constants, False) for item in (x.start, x.stop, x.step)])
    if kind is ndarray or isinstance(x, np.generic) or (numbers and kind in (int, float, complex)):
        constants.append(x.copy() if kind is ndarray else x)  # its owner may write into it
        return -1
    if kind is float:
        return (float, x) if x == x and x != 0 else (float, x, repr(x))
    return (kind, x)


# Parameters that say how something is computed: what they are given is part of the structure.
_STRUCTURAL = frozenset(("axis", "axes", "axis1", "axis2", "keepdims", "shape", "newshape", "ddof", "n"))


@functools.cache
def _is_structural(prim: Prim, k: int) -> bool:
    """What the parameter at this place is given is part of the structure."""
    return k < len(prim.params) and prim.params[k] in _STRUCTURAL


def structural(x: Any) -> Any:
    """NumPy's integers and bools, in an axis or a shape, as Python's."""
    if isinstance(x, (tuple, list)):
        items = [structural(item) for item in x]
        return items if isinstance(x, list) else tuple(items)
    if isinstance(x, np.bool_):
        return bool(x)
    return int(x) if isinstance(x, np.integer) else x


def apply(prim: Prim, compute: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute a primitive, and record it. Arguments may hold operands anywhere; the result is a tensor of their
    class."""
    rec = STATE.rec
    found: list[Any] = []  # operands
    values: list[Any] = []
    codes: list[Any] = [prim]  # how the arguments stand in the key
    constants: list[Any] = []
    owned: list[int] = []  # those among the constants that their owner may write into
    numbers = prim.elementwise or prim in _WITH_NUMBERS
    token = None if rec is None else rec.token
    tracked = False
    for a in args:
        if isinstance(a, Operand):
            found.append(a)
            v = a._value
            values.append(v)
            if rec is not None:
                slot = a._slot if a._token is token else rec.find(a)
                if slot < 0:
                    constants.append(v)
                else:
                    tracked = True
                codes.append(slot)
        elif a.__class__ is ndarray:
            values.append(a)
            owned.append(len(constants))
            constants.append(a)
            codes.append(-1)
        elif numbers and a.__class__ in _NUMBERS:
            values.append(a)
            constants.append(a)
            codes.append(-1)
        elif a.__class__ in _STATIC:
            values.append(a)
            codes.append((a.__class__, a))
        elif a.__class__ is list and rec is not None and _are_operands(a):
            found += a
            values.append([x._value for x in a])
            slots = [x._slot if x._token is token else rec.find(x) for x in a]
            if min(slots) < 0:
                constants += [x._value for x, slot in zip(a, slots) if slot < 0]
            if max(slots) >= 0:
                tracked = True
            codes.append((LIST, *slots))
        else:
            before = len(found)
            values.append(value_of(a, found))
            if rec is not None:
                for x in found[before:]:
                    tracked = tracked or x._token is token or rec.find(x) >= 0
                if not numbers and len(codes) > 1 and _is_structural(prim, len(codes) - 1):
                    a = structural(a)
                codes.append(_encode(a, rec, constants, numbers))
    if kwargs:
        before = len(found)
        out = compute(*values, **{name: value_of(x, found) for name, x in kwargs.items()})
        if rec is not None:
            for x in found[before:]:
                tracked = tracked or x._token is token or rec.find(x) >= 0
    else:
        out = compute(*values)
    for x in found:
        if out is x._value:
            out = out[()]  # as in `unary`
    cls: Any = found[0]._tensor_class
    count = prim.nout
    if out.__class__ in _PYTHON:  # what has no derivative may give Python's numbers, or a tuple of arrays
        if count == 1 and out.__class__ is tuple:
            return tuple([wrap(cls, np.asarray(v)[()]) for v in out])
        out = np.asarray(out)[()] if count == 1 else out
    elif count == 1 and out.__class__ is not ndarray and not isinstance(out, np.generic):
        if not is_nondiff(prim):
            foreign = f"{type(out).__module__}.{type(out).__name__}"
            raise TypeError(
                f"{prim.name} of a tensor and of {foreign} would lose the gradient: make a tensor of it first"
            )
        out = np.asarray(out)[()]
    slot = -1
    if tracked:
        assert rec is not None
        for k in owned:
            constants[k] = constants[k].copy()
        key: Any = tuple(codes)
        if kwargs:
            named = []
            for name, x in kwargs.items():
                x = structural(x) if not numbers and name in _STRUCTURAL else x
                named.append((name, _encode(x, rec, constants, False)))
            key = (prim, (CALL, *key[1:]), tuple(named))
        node = rec.node
        slot = node.count
        if constants:
            slot += len(constants)
            rec.values.extend(constants)
        rec.node = node.go(key, slot - node.count + count)
        if count == 1:
            rec.append(out)
        else:
            rec.values.extend(out)
    if count != 1:
        return tuple([_tensor(cls, v, rec, slot + k if tracked else -1) for k, v in enumerate(out)])
    t = cls()
    t._value = out
    t._token = token if tracked else CONSTANT
    t._slot = slot
    return t


def _are_operands(items: list[Any]) -> bool:
    for x in items:
        if not isinstance(x, Operand):
            return False
    return bool(items)


_PLAIN = frozenset((int, float, complex, bool, str, type(None), type(Ellipsis), ndarray, np.float64, np.float32))
_NUMBERS = frozenset((int, float, complex))


_PYTHON = frozenset((bool, int, float, complex, tuple))


def _tensor(cls: type[Any], value: Any, rec: Recording | None, slot: int) -> Any:
    t = cls()
    t._value = value
    if slot >= 0:
        assert rec is not None
        t._token = rec.token
        t._slot = slot
    else:
        t._token = CONSTANT
        t._slot = -1
    return t


def call(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function of NumPy's, or another one with a derivative rule, on operands: its result is a tensor, recorded.

    Raises `RuleLookupError` for a function that the compiler has no primitive for.
    """
    prim = PRIMS.get(fn)
    if prim is None:
        raise missing(fn)
    return apply(prim, fn, args, kwargs)


def missing(fn: Any) -> Exception:
    name = getattr(fn, "__name__", repr(fn))
    return RuleLookupError(
        f"{name} is not a primitive of the compiler, so it cannot be recorded",
        None,
        "write it with functions that are (docs/functions.md), or take the NumPy value first: t.numpy()",
    )


def getitem(self: Any, index: Any) -> Any:
    """``self[index]``."""
    items = index if type(index) is tuple else (index,)
    rec = STATE.rec
    if rec is None:
        return wrap(self._tensor_class, self._value[plain(index)])
    tail: list[Any] = [TUPLE]
    for item in items:
        kind = item.__class__
        if kind is slice:
            part = _SLICES.get((item.start, item.stop, item.step)) if _plain_slice(item) else None
            if part is None:
                return apply(GET, _take, (self, items), {})
            tail.append(part)
        elif kind is int or item is None or item is Ellipsis:
            tail.append((kind, item))
        else:
            return apply(GET, _take, (self, items), {})
    out = self._value[index]
    i = self._slot if self._token is rec.token else rec.find(self)
    if i < 0:
        return wrap(self._tensor_class, out)
    rec.step((GET, (CALL, i, tuple(tail)), ()), 1)
    rec.append(out)
    return _tensor(self._tensor_class, out, rec, rec.node.last)


class _SliceKeys(dict[Any, Any]):
    """By (start, stop, step): how a slice of plain ints stands in a record's key."""

    def get(self, key: Any, default: Any = None) -> Any:
        found = super().get(key)
        if found is None:
            found = (SLICE, *[(type(v), v) for v in key])
            if len(self) < 4096:
                self[key] = found
        return found


_SLICES = _SliceKeys()
_BOUNDS = (int, type(None))


def _plain_slice(s: slice) -> bool:
    return s.start.__class__ in _BOUNDS and s.stop.__class__ in _BOUNDS and s.step.__class__ in _BOUNDS


def _take(x: Any, items: tuple[Any, ...]) -> Any:
    return x[items[0] if len(items) == 1 else items]


setattr(Operand, "__getitem__", getitem)


class Tensor(Operand):
    """An immutable NumPy value, whose operations are recorded while a tape is interested in it."""

    __slots__ = ("_value", "_token", "_slot", "__weakref__")

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


Operand._tensor_class = Tensor


class Variable(Operand):
    """A value that can be assigned anew; a trainable one is watched by the tapes that are open when it is read."""

    _token = None
    _slot = -1
    _trainable = True

    def _typed_leaf(self) -> Leaf:
        made = leaf_key(self._name_hint, self._trainable, signature((self._value,))[0])
        self._leaf = made  # type: ignore[misc]
        return made

    def __copy__(self) -> Any:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, _value=self._value[()])  # a recording knows constants by their values
        return made

    def _rebind(self, value: Any) -> None:
        """Give the variable another value."""
        old = self._value
        if value.__class__ is not old.__class__ or value.dtype is not old.dtype or value.shape != old.shape:
            self._leaf = None  # type: ignore[misc]
        self._value = value


def _call_transformed(transformed: Transformed, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from .function import on_operands

    return on_operands(transformed, args, kwargs)


accept_operands(Operand, _call_transformed)
