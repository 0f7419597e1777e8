"""Running operations on tensors: plain, recorded, as views, and in place. The other modules are written with these.

An operation is given as a function of arrays. It is called with NumPy arrays, or with the core's tensors while it is
recorded; so it uses NumPy's functions and operators only, and the functions of `array`.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ...tape.native import Tensor as Traced
from ..module_tables import not_there
from .array import put, to
from .record import STRUCTURES, System, Trace, Var, Version, give, learn, new, record, recording

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


class Base:
    """What every tensor consists of.

    _value: the array, which may share its memory with others. _memory: counts the writes into that memory.
    _own: the tensor's value in the graph, None if it requires no gradient.
    _base: of a view, the tensor whose memory it shares. _path: the functions that lead from the base to the view.
    _history: how often the value in the graph was replaced. _seen: the history of the base when `_own` was made.
    """

    _system: ClassVar[System]
    _value: np.ndarray[Any, Any]
    _memory: Version
    _own: Var | None = None
    _base: Any = None
    _path: tuple[Callable[..., Any], ...] = ()
    _view_name: str = ""
    _seen: int = 0
    _history: int = 0
    _blind: bool = False  # a view that was made while nothing was recorded
    _conjugate: ClassVar[bool] = False  # `engine.flipped` sees to that

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked for by NumPy and by Python
            raise AttributeError(name)
        cls = type(self)
        raise AttributeError(not_there(f"{cls.__name__!r} object", name, dir(cls)), name=name, obj=None)

    @property
    def _var(self) -> Var | None:
        base = self._base
        if base is not None and base._history != self._seen and not self._blind:
            self._refresh()
        return self._own

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._value.ndim

    def tolist(self) -> Any:
        """The elements, as nested lists of Python numbers."""
        return self._value.tolist()

    def __hash__(self) -> int:
        return id(self)

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __len__(self) -> int:
        if self._value.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._value)

    def __iter__(self) -> Any:
        if self._value.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter([self.__getitem__(k) for k in range(len(self._value))])

    def _become_leaf(self) -> None:
        """From now on the tensor is a leaf that gets a gradient."""
        self._base, self._path = None, ()
        self._own = Var(None, 0, self._memory)
        self._own.owner = weakref.ref(self)

    def _refresh(self) -> None:
        """The base was written to: the view is a view of its new value."""
        base, path = self._base, self._path
        self._seen = base._history
        if base._own is None:
            self._own = None
            return
        mode = base._system.mode
        saved, mode.grad = mode.grad, True
        try:
            self._own = run(self._view_name, lambda a: _follow(path, a), base)._own
        finally:
            mode.grad = saved
        if self._own is not None:
            _settle(self._own, self)


def _follow(path: tuple[Callable[..., Any], ...], a: Any) -> Any:
    for f in path:
        a = f(a)
    return a


def _settle(var: Var, t: Any) -> None:
    """The Var is the value of this tensor now."""
    var.version, var.count, var.owner = t._memory, t._memory.count, weakref.ref(t)


def new_tensor(system: System, value: Any, version: Version | None = None) -> Any:
    """A tensor of an array, which it does not copy."""
    t = new(system.cls)
    t._value = value if type(value) is np.ndarray else np.asarray(value)
    t._memory = Version() if version is None else version
    return t


def listed(x: Any) -> list[Any]:
    """The items of a tuple or list, or the one thing."""
    return list(x) if isinstance(x, (tuple, list)) else [x]


def tensors_in(args: Any, out: list[Any]) -> list[Any]:
    """The tensors in nested tuples and lists."""
    for a in args:
        if isinstance(a, Base):
            out.append(a)
        elif type(a) is tuple or type(a) is list:
            tensors_in(a, out)
    return out


def _mapped(leaf: Callable[[Any], Any], a: Any) -> Any:
    """What `leaf` makes of the tensors in nested tuples and lists."""
    if isinstance(a, Base):
        return leaf(a)
    if type(a) is tuple:
        return tuple([_mapped(leaf, x) for x in a])
    return [_mapped(leaf, x) for x in a] if type(a) is list else a


def _array(t: Any) -> Any:
    return t._value


def run(name: str, f: Callable[..., Any], *args: Any, layout: bool = False) -> Any:
    """``f(*args)`` as a tensor, or a tuple of them; recorded under this name where an operand requires a gradient.

    `layout`: the results keep the order in which NumPy gives the elements, that of the operands; else the last axis
    comes first.
    """
    found = tensors_in(args, [])
    try:
        if recording(found):
            return _traced(name, f, args, found, layout)
        with np.errstate(all="ignore"):  # infinities and NaN are values like others here
            out = f(*[_mapped(_array, a) for a in args])
    except (ValueError, IndexError) as error:
        raise found[0]._system.refused(error, name, [t._value.shape for t in found]) from None
    if type(out) is tuple or type(out) is list:
        return tuple([new_tensor(found[0]._system, _apart(x, found, layout)) for x in out])
    return new_tensor(found[0]._system, _apart(out, found, layout))


def _apart(value: Any, operands: list[Any], layout: bool) -> Any:
    """The value in memory that no operand has."""
    if type(value) is not np.ndarray:
        return np.array(value)
    if not layout and not value.flags.c_contiguous:
        return value.copy()
    shared = value.base is not None and not value.flags.writeable
    return value.copy() if shared or any(np.may_share_memory(value, t._value) for t in operands) else value


def _traced(name: str, f: Callable[..., Any], args: tuple[Any, ...], found: list[Any], layout: bool = False) -> Any:
    trace = Trace()
    given = tuple([_mapped(trace.operand, a) for a in args])
    with np.errstate(all="ignore"):
        out = trace.run(f, given)
    many = type(out) is tuple or type(out) is list
    outs = list(out) if many else [out]
    count = len(trace.vars)
    for k, x in enumerate(outs):
        if isinstance(x, Traced) and 0 <= x._slot < count:
            outs[k] = trace.run(np.positive, (x,))
    whole = trace.record(name)
    made = []
    for x in outs:
        slot = -1
        if isinstance(x, Traced):
            slot = x._slot if x._token is trace.rec.token else -1
            x = x._value
        t = new_tensor(found[0]._system, _apart(x, found, layout))
        if slot >= 0:
            whole.values[slot] = t._value if t._value.ndim else t._value[()]  # not what may share the operands' memory
        if slot >= 0 and t._value.dtype.kind in "fc":
            give(t, whole, slot)
        made.append(t)
    return tuple(made) if many else made[0]


def view(name: str, f: Callable[..., Any], t: Any, memory: Callable[[Any], Any] | None = None, key: Any = None) -> Any:
    """``f(t)`` as a view: it shares the memory. `memory` makes it where `f` itself does not.

    `key`: with the name and the number of axes it determines what is recorded, so that this is looked up.
    """
    system = t._system
    try:
        value = (memory or f)(t._value)
    except (ValueError, IndexError) as error:
        raise system.refused(error, name, [t._value.shape]) from None
    made = new_tensor(system, value, t._memory)
    if not made._value.flags.writeable and t._value.flags.writeable:
        made._value.flags.writeable = True  # diagonals, and what NumPy broadcasts, are not
    base = t._base
    made._base = t if base is None else base
    made._path = (*t._path, f)
    made._view_name = name
    var = t._own if base is None else t._var
    if var is not None:
        if system.mode.grad:
            _record_view(name, f, t, var, made, key)
        else:
            made._blind = True
    elif t._blind:
        made._blind = True
    made._seen = made._base._history
    return made


def _record_view(name: str, f: Callable[..., Any], t: Any, var: Var, made: Any, key: Any) -> None:
    x = t._value
    known = key is not None and (x.dtype is F32 or x.dtype is F64) and x.ndim and made._value.ndim
    key = (name, key, x.ndim)
    node = STRUCTURES.get(key) if known else None
    if node is not None:
        m = t._memory
        record(made, name, node, (var,), (m,), (m.count,), [x, made._value])
    else:
        made._own = _traced(name, f, (t,), [t])._own
        if known:
            learn(key, made._own)
    if made._own is not None:
        _settle(made._own, made)


def subscripts(index: Any, checked: Callable[[Any], Any]) -> tuple[tuple[Any, ...], bool]:
    """Subscripts as NumPy takes them, and whether they give a view. `checked` takes and gives the array of a tensor."""
    found: list[Any] = []
    for item in index if isinstance(index, tuple) else (index,):
        if isinstance(item, Base):
            item = checked(item._value)
            item = item.item() if item.ndim == 0 and item.dtype.kind != "b" else np.array(item)
        elif isinstance(item, (list, range)):
            item = np.array([x.item() if isinstance(x, Base) else x for x in item] or np.zeros(0, np.int64))
        elif isinstance(item, slice):
            item = slice(*[None if x is None else operator.index(x) for x in (item.start, item.stop, item.step)])
        elif isinstance(item, np.integer):
            item = int(item)
        found.append(item)
    return tuple(found), not any(isinstance(item, (np.ndarray, bool, np.bool_)) for item in found)


# --- in place ---------------------------------------------------------------------------------------------------------


def check_in_place(t: Any) -> None:
    """Raise where the tensor may not be written to now."""
    mode = t._system.mode
    if not mode.grad:
        return
    base = t._base
    if base is not None and base._own is not None:
        if base._own.record is None:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
        if t._blind:
            raise RuntimeError(
                "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that "
                "this use case is ambiguous and error-prone, it is forbidden."
            )
    if t._own is not None and t._own.record is None:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def assign(t: Any, compute: Callable[[Any], Any]) -> Any:
    """Write ``compute(t)``, a tensor, into the memory of `t`, in t's dtype, and return `t`.

    What is computed sees a copy of `t`, so that the graph keeps the value from before.
    """
    check_in_place(t)
    if not t._value.flags.writeable or overlaps(t._value):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )
    grad = t._system.mode.grad
    before = new_tensor(t._system, t._value.copy() if grad else t._value)
    before._own = t._var if grad else None
    result = compute(before)
    _check_result(t, result._value)
    if result._own is None:
        np.copyto(t._value, result._value, casting="unsafe")
        t._memory.written()
        return t
    dtype, shape = t._value.dtype, t._value.shape
    if result._value.dtype != dtype or result._value.shape != shape:
        result = run(result._own.record.name, lambda a: np.broadcast_to(to(a, dtype), shape), result)
    base = t._base
    if base is not None:
        old = new_tensor(t._system, base._value.copy())
        old._own = base._own
    np.copyto(t._value, result._value)
    t._memory.written()
    if base is not None:
        whole = _put_back(base, old, t._path, result)
        base._own = whole._own
        base._history += 1
        t._seen = base._history
        _settle(base._own, base)
    t._own = result._own
    t._history += 1
    _settle(t._own, t)
    return t


def _put_back(base: Any, old: Any, path: tuple[Callable[..., Any], ...], part: Any) -> Any:
    """The base with the part that the path leads to replaced."""
    where = np.asarray(_follow(path, np.arange(base._value.size).reshape(base._value.shape))).ravel()
    shape = base._value.shape
    return run(
        "CopySlices", lambda a, p: np.reshape(put(np.reshape(a, (-1,)), (where,), np.reshape(p, (-1,))), shape), old,
        part,
    )  # fmt: skip


def overlaps(value: np.ndarray[Any, Any]) -> bool:
    """Whether several elements lie in one place."""
    return any(s == 0 and n > 1 for s, n in zip(value.strides, value.shape))


def _check_result(t: Any, out: np.ndarray[Any, Any]) -> None:
    shape, whole = t._value.shape, np.broadcast_shapes(out.shape, t._value.shape)
    if whole != shape:
        raise RuntimeError(f"output with shape {list(shape)} doesn't match the broadcast shape {list(whole)}")
    if out.dtype != t._value.dtype:
        t._system.check_cast(out.dtype, t._value.dtype)
