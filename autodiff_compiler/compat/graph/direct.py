"""Operations of one primitive, which are computed and recorded directly: what they would record is known beforehand.

Each takes the operation in general, which covers other dtypes, other operands, and the errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.core import Prim
from ...tape.recording import TrieNode, leaf_key
from .core import F32, F64, Base, run
from .record import STRUCTURES, System, Version, learn, new, record, recording

ndarray = np.ndarray
General = Callable[..., Any]


def structure(operands: int, key: Any, produced: int = 1) -> TrieNode:
    """The structure of one primitive on so many operands. It hangs in no trie: it is only read."""
    node = TrieNode()
    for _ in range(operands):
        node = TrieNode(node, leaf_key(), node.count + 1)
    return TrieNode(node, key, node.count + produced)


def tensor_of(system: System, out: Any) -> Any:
    """A tensor of what NumPy has just computed, in memory that nobody else has."""
    t = new(system.cls)
    t._value = out if out.__class__ is ndarray else np.array(out)
    t._memory = memory = new(Version)
    memory.count = 0
    return t


def binary(system: System, name: str, prim: Prim, f: General, general: General, reflected: bool = False) -> General:
    """An operation of two floating tensors of one dtype, or of one and a Python number."""
    mode, numbers = system.mode, (int, float)
    both = structure(2, (prim, 1, 0) if reflected else (prim, 0, 1))
    number = structure(1, (prim, -1, 0) if reflected else (prim, 0, -1), 2)

    def operation(self: Any, other: Any) -> Any:
        x: Any = self._value
        kind = x.dtype
        if not (kind is F32 or kind is F64):
            return general(self, other)
        tensor = isinstance(other, Base)
        if tensor:
            y: Any = other._value
            if y.dtype is not kind:
                return general(self, other)
        elif other.__class__ in numbers:
            y = float(other)
        else:
            return general(self, other)
        try:
            out = mode.quiet(f, y, x) if reflected else mode.quiet(f, x, y)
        except Exception:
            return general(self, other)
        t = tensor_of(system, out)
        if mode.grad:
            a, b = self._own if self._base is None else self._var, None
            m, given = self._memory, x if x.ndim else x[()]
            if tensor:
                b = other._own if other._base is None else other._var
                if a is not None or b is not None:
                    n, values = other._memory, [given, y if y.ndim else y[()], out]
                    record(t, name, both, (a, b), (m, n), (m.count, n.count), values)
            elif a is not None:
                record(t, name, number, (a,), (m,), (m.count,), [given, y, out])
        return t

    operation.__doc__ = general.__doc__
    return operation


def unary(key: Any, name: str, f: General, t: Any, layout: bool = True) -> Any:
    """``f(t)``, as `core.run` gives it.

    `key` says which operation this is; with the number of axes, it determines what is recorded, which is learned when
    it is first done. A function of more than one primitive is run in general each time.
    """
    x = t._value
    kind = x.dtype
    system = t._system
    mode = system.mode
    if not (kind is F32 or kind is F64):
        return run(name, f, t, layout=layout)
    key = (key, x.ndim)
    node = STRUCTURES.get(key)
    if node is None:
        made = run(name, f, t, layout=layout)
        learn(key, made._own)
        return made
    try:
        out = mode.quiet(f, x)
    except Exception:
        return run(name, f, t, layout=layout)
    if out.base is not None or out is x or not (layout or out.flags.c_contiguous):
        return run(name, f, t, layout=layout)
    made = tensor_of(system, out)
    if mode.grad:
        a = t._own if t._base is None else t._var
        if a is not None:
            m = t._memory
            record(made, name, node, (a,), (m,), (m.count,), [x if x.ndim else x[()], out])
    return made


def several(key: Any, name: str, f: General, steps: General, *tensors: Any) -> Any:
    """``f(*tensors)``, as `core.run` gives it, where it is made of several primitives. ``steps(*arrays)`` gives the
    list of their values, in order. `key` is as in `unary`."""
    first = tensors[0]
    system = first._system
    kind = first._value.dtype
    if not (kind is F32 or kind is F64) or len(set(map(id, tensors))) < len(tensors):
        return run(name, f, *tensors)
    values: list[Any] = []
    for t in tensors:
        x = t._value
        if x.dtype is not kind:
            return run(name, f, *tensors)
        values.append(x if x.ndim else x[()])
    key = (key, *[np.ndim(x) for x in values])
    node = STRUCTURES.get(key)
    try:
        values += system.mode.quiet(steps, *values)
    except Exception:
        return run(name, f, *tensors)
    if node is None:
        made = run(name, f, *tensors)
        learn(key, made._own, len(values))
        return made
    out = values[-1]
    if out.ndim > 1 and not out.flags.c_contiguous:
        out = values[-1] = out.copy()
    made = tensor_of(system, out)
    if recording(list(tensors)):
        versions = tuple([t._memory for t in tensors])
        record(made, name, node, tuple([t._var for t in tensors]), versions, tuple([v.count for v in versions]), values)
    return made


def in_place(system: System, f: General, general: General) -> General:
    """An operation written into its first operand, where nothing is recorded and both have one shape and dtype."""
    mode = system.mode

    def operation(self: Any, other: Any, **options: Any) -> Any:
        x: Any = self._value
        kind = x.dtype
        if options or not (kind is F32 or kind is F64):
            return general(self, other, **options)
        flags = x.flags
        if not (flags.c_contiguous and flags.writeable):
            return general(self, other)
        if isinstance(other, Base):
            y: Any = other._value
            if y.dtype is not kind or y.shape != x.shape:
                return general(self, other)
            free = other._own is None and other._base is None
        elif other.__class__ is float or other.__class__ is int:
            y, free = float(other), True
        else:
            return general(self, other)
        if mode.grad and not (free and self._own is None and self._base is None):
            return general(self, other)
        try:
            mode.quiet(f, x, y, x)
        except Exception:
            return general(self, other)
        self._memory.written()
        return self

    return operation
