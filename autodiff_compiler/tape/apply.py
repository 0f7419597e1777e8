"""Applies any primitive to operands: computes it, and records it where an open tape watches an operand."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import RuleLookupError, UnsupportedError
from ..ir.core import Prim
from ..ir.opset import GET, PRIMS
from .recording import CALL, CONSTANT, LIST, SLICE, STATE, TUPLE, Recording
from .tensor import Operand, wrap

ndarray = np.ndarray


class Static:
    """Marks a number, such as an exponent, as a part of the structure and not a value."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value


def plain(x: Any) -> Any:
    """An argument with the NumPy values of its operands in their place."""
    return value_of(x, [])


def value_of(x: Any, found: list[Any]) -> Any:
    """As `plain`. The operands are appended to `found`."""
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
    """`x` itself. Raises UnsupportedError for a subclass of np.ndarray, such as a masked array.

    The derivative rules hold for np.ndarray; a subclass may compute something else.
    """
    if isinstance(x, ndarray) and x.__class__ is not ndarray:
        raise UnsupportedError(
            f"{type(x).__name__}: subclasses of np.ndarray change what operations mean",
            None,
            "pass np.asarray of it",
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
# Primitives that are not elementwise, and whose plain numbers are values all the same.
_WITH_NUMBERS = frozenset((PRIMS[np.where], PRIMS[np.clip]))


def encode(x: Any, rec: Recording, constants: list[Any], numbers: bool) -> Any:
    """The form of an argument in the key of a record. The values of constants are appended to `constants`.

    numbers: plain numbers are values, and no part of the structure.
    """
    if isinstance(x, Operand):
        slot = x._slot if x._token is rec.token else rec.find(x)
        if slot < 0:
            constants.append(x._value)
        return slot
    kind = type(x)
    if kind is Static:
        return (type(x.value), x.value)
    if kind is tuple:
        return (TUPLE, *[encode(item, rec, constants, numbers) for item in x])
    if kind is list:
        return (LIST, *[encode(item, rec, constants, numbers) for item in x])
    if kind is slice:
        return (SLICE, *[encode(item, rec, constants, False) for item in (x.start, x.stop, x.step)])
    if kind is ndarray or isinstance(x, np.generic) or (numbers and kind in (int, float, complex)):
        constants.append(x.copy() if kind is ndarray else x)  # its owner may write into it
        return -1
    if hasattr(kind, "__array__") and not isinstance(
        x, type
    ):  # an array of another system: it may be written into, too
        constants.append(np.array(x)[()])
        return -1
    if kind is float:
        return (float, x) if x == x and x != 0 else (float, x, repr(x))
    return (kind, x)


# Parameters whose arguments are part of the structure.
_STRUCTURAL = frozenset(("axis", "axes", "axis1", "axis2", "keepdims", "shape", "newshape", "ddof", "n"))


@functools.cache
def _is_structural(prim: Prim, k: int) -> bool:
    """The argument at this place is part of the structure."""
    return k < len(prim.params) and prim.params[k] in _STRUCTURAL


def structural(x: Any) -> Any:
    """An axis or shape with Python's integers and bools in place of NumPy's."""
    if isinstance(x, (tuple, list)):
        items = [structural(item) for item in x]
        return items if isinstance(x, list) else tuple(items)
    if isinstance(x, np.bool_):
        return bool(x)
    return int(x) if isinstance(x, np.integer) else x


def apply(prim: Prim, compute: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute a primitive with `compute`, and record it. The result is a tensor of the operands' class.

    Arguments may hold operands at any depth. Raises TypeError where the result is no NumPy value and the primitive has
    a derivative.
    """
    rec = STATE.rec
    found: list[Any] = []  # operands
    values: list[Any] = []
    codes: list[Any] = [prim]  # the key
    constants: list[Any] = []
    owned: list[int] = []  # positions of constants that the user may write into later
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
                codes.append(encode(a, rec, constants, numbers))
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
    if out.__class__ in _PYTHON:  # a primitive without a derivative may give Python's numbers, or a tuple of arrays
        if count == 1 and out.__class__ is tuple:
            return tuple([wrap(cls, np.asarray(v)[()]) for v in out])
        out = np.asarray(out)[()] if count == 1 else out
    elif count == 1 and out.__class__ is not ndarray and not isinstance(out, np.generic):
        if not prim.nondiff:
            foreign = f"{type(out).__module__}.{type(out).__name__}"
            raise TypeError(
                f"{prim.name} of a tensor and a {foreign} would lose the gradient: convert the {foreign} to a tensor "
                "or an array first"
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
                named.append((name, encode(x, rec, constants, False)))
            key = (prim, (CALL, *key[1:]), tuple(named))
        node = rec.node
        slot = node.count
        if constants:
            slot += len(constants)
            rec.values.extend(constants)
        rec.node = node.go(key, slot - node.count + count)
        if count == 1:
            rec.values.append(out)
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
    """Call a function with a derivative rule on operands. The result is a tensor, and it is recorded.

    Raises `RuleLookupError` for a function without a rule.
    """
    prim = PRIMS.get(fn)
    if prim is None:
        raise missing(fn)
    return apply(prim, fn, args, kwargs)


def missing(fn: Any) -> Exception:
    """The error for a function without a derivative rule."""
    name = getattr(fn, "__name__", repr(fn))
    return RuleLookupError(
        f"{name} has no derivative rule, so the tape cannot record it",
        None,
        "use functions that have one (docs/functions.md), or take the NumPy value where no gradient is wanted: "
        "t.numpy()",
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
    rec.values.append(out)
    return _tensor(self._tensor_class, out, rec, rec.node.last)


class _SliceKeys(dict[Any, Any]):
    """The forms of slices of plain ints in keys of records, by (start, stop, step)."""

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
