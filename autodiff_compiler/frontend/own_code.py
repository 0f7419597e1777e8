"""Which objects may have code of the program's, that a library may run: see `may_write`."""

from __future__ import annotations

import enum
import types
from typing import Any

import numpy as np

from ..ir.core import Value

NOTHING, ITSELF, ANYTHING = 0, 1, 2  # that code may write to, see `may_write.Effects`
LEFT_ALONE = (
    types.ModuleType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.MethodWrapperType, np.ufunc, np.ndarray, np.generic, np.dtype,
)  # fmt: skip
# Of these classes themselves, and not of derived ones.
_NO_CODE = frozenset({bool, int, float, complex, str, bytes, type(None), type(...), type, range})


def has_code(obj: Any) -> bool:
    """An object that may have methods of the program's, or hold one that has. What the compiler itself makes of such an
    object, a callback, is looked at there."""
    if type(obj).__module__.split(".")[0] == __name__.split(".")[0]:
        return False
    return type(obj) not in _NO_CODE and not isinstance(obj, (type, *LEFT_ALONE, types.FunctionType, enum.Enum))


def objects_among(held: dict[Any, list[Any]], operands: tuple[Any, ...]) -> list[Any]:
    """The live objects among operands, and those that operands hold, each once."""
    found: dict[int, Any] = {}
    todo = list(operands)
    for x in todo:  # which grows on the way
        cls = type(x)
        if cls is Value:
            if x in held:
                found.update((id(obj), obj) for obj in held[x])
        elif cls is tuple or cls is list:
            todo += x
        elif cls is slice:
            todo += (x.start, x.stop, x.step)
        elif cls not in _NO_CODE and has_code(x):
            found[id(x)] = x
    return list(found.values())
