"""What identifies a function, class or module in another process: a text that differs when its code does.

A function is identified by its compiled code, without the lines: a comment changes nothing. Of a function whose text
went into emitted code, `places` compares the syntax tree as well.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import importlib
import sys
import types
from typing import Any

import numpy as np

from ..ir.core import structural_key
from ..lowered import BAKED_MODULES, is_of_python, is_steady
from .cache import digest

_PACKAGE = __name__.split(".")[0]
_KNOWN_MODULES = frozenset((*BAKED_MODULES, _PACKAGE, "types", "dataclasses", "enum", "abc", "numbers"))
# Classes whose name is no attribute of their module.
_RENAMED = {
    types.MethodType: "MethodType",
    types.FunctionType: "FunctionType",
    types.BuiltinFunctionType: "BuiltinFunctionType",
    types.ModuleType: "ModuleType",
    type(None): "NoneType",
    type(Ellipsis): "EllipsisType",
}


class NotPortable(Exception):
    """This cannot be recognised in another process, so nothing that depends on it is kept on disk."""


def fingerprint(obj: Any) -> str:
    """The text by which another process can tell whether it has the same thing."""
    name = import_name(obj)
    if name is not None:
        return f"import {name[0]} {name[1]} {_version(name[0])}"
    if isinstance(obj, types.FunctionType):
        return "function " + function_print(obj)
    if isinstance(obj, types.MethodType):
        if isinstance(obj.__func__, types.FunctionType):
            return f"method {function_print(obj.__func__)}"
    elif isinstance(obj, types.ModuleType):
        if sys.modules.get(obj.__name__) is obj:
            return f"module {obj.__name__}"
    elif isinstance(obj, enum.Enum):
        return f"member {type(obj).__qualname__}.{obj.name} {class_print(type(obj))}"
    elif isinstance(obj, type):
        return "class " + class_print(obj)
    elif str(type(obj).__module__).startswith(_PACKAGE + ".") and hasattr(obj, "__autodiff_portable__"):
        return "transformed " + " ".join([*obj.__autodiff_portable__(), fingerprint(obj.primal)])
    raise NotPortable(type(obj).__name__)


def function_print(fn: types.FunctionType) -> str:
    """Identifies the code of a Python function: not what its globals, closure cells and defaults hold."""
    code = fn.__code__
    return digest(
        fn.__qualname__,
        *_code_parts(code),
        str(len(fn.__defaults__ or ())),
        repr(sorted(fn.__kwdefaults__ or ())),
    )


def _code_parts(code: types.CodeType) -> list[str]:
    parts = [
        code.co_name, code.co_code.hex(),
        repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)),
        repr((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)),
    ]  # fmt: skip
    for const in code.co_consts:
        parts += _code_parts(const) if isinstance(const, types.CodeType) else [_constant(const)]
    return parts


def _constant(x: Any) -> str:
    if isinstance(x, frozenset):
        members = [_constant(y) for y in x]
        # The order says something of numbers. That of strings differs between processes.
        return "frozenset " + " ".join(members if all(map(is_steady, x)) else sorted(members))
    if isinstance(x, tuple):
        return "tuple " + digest(*[_constant(y) for y in x])
    if isinstance(x, (float, complex)):
        return repr(structural_key(x))
    return f"{type(x).__name__} {x!r}"


_NO_PART_OF_IT = frozenset(
    {
        "__dict__", "__weakref__", "__module__", "__doc__", "__annotations__", "_abc_impl", "__firstlineno__",
        "__static_attributes__",
    }
)  # fmt: skip


def class_print(cls: type) -> str:
    """Identifies a class by what it and its bases define."""
    parts = []
    for klass in cls.__mro__:
        parts.append(f"{klass.__module__}.{klass.__qualname__}" if import_name(klass) else f"{klass.__qualname__}")
        if import_name(klass) is None:
            for name, value in sorted(klass.__dict__.items()):
                if name not in _NO_PART_OF_IT:
                    parts += [name, _member(value)]
    return digest(*parts)


def _member(value: Any) -> str:
    if isinstance(value, types.FunctionType):
        return function_print(value)
    if isinstance(value, (staticmethod, classmethod)):
        return f"{type(value).__name__} {_member(value.__func__)}"
    if isinstance(value, property):
        return "property " + " ".join(_member(f) for f in (value.fget, value.fset, value.fdel))
    if isinstance(value, functools.cached_property):
        return "cached " + _member(value.func)
    if (
        value is None
        or isinstance(value, (bool, int, float, complex, str, bytes))
        and type(value).__module__ == "builtins"
    ):
        return _constant(value)
    if isinstance(value, tuple) and all(isinstance(x, (str, int)) for x in value):
        return repr(value)
    if isinstance(value, dict) and all(isinstance(f, dataclasses.Field) for f in value.values()):
        return " ".join(_field(f) for f in value.values())
    return type(value).__qualname__


def _field(f: dataclasses.Field[Any]) -> str:
    factory = "" if f.default_factory is dataclasses.MISSING else fingerprint(f.default_factory)
    return repr((f.name, f.init, f.kw_only, f.default is dataclasses.MISSING, factory))


# --- things found by name ---------------------------------------------------------------------------------------------


def import_name(obj: Any) -> tuple[str, str] | None:
    """The module and the name under which something of NumPy, the standard library or this package is found; None for
    all else."""
    if isinstance(obj, types.ModuleType):
        return (obj.__name__, "") if _is_known(obj.__name__) and sys.modules.get(obj.__name__) is obj else None
    try:
        if obj in _RENAMED:
            return ("types", _RENAMED[obj])
    except TypeError:
        return None
    if isinstance(obj, np.ufunc):
        modules = ["numpy", "scipy.special"]
    else:
        module = str(getattr(obj, "__module__", None) or "")
        # Functions of `operator` name `_operator`, and those of `random` are methods of an object.
        modules = [module, module.removeprefix("_"), type(getattr(obj, "__self__", None)).__module__]
    for name in (getattr(obj, "__qualname__", ""), getattr(obj, "__name__", "")):
        for module in modules if isinstance(name, str) and name else ():
            # Modules like numpy.linalg's functions name the module they are documented in.
            if _is_known(module) and find(module, name) is obj:
                return (module, str(name))
    return None


def _is_known(module: str) -> bool:
    root = module.split(".")[0]
    if root in _KNOWN_MODULES:
        return True
    file = getattr(sys.modules.get(root), "__file__", None)
    return root in sys.stdlib_module_names and (file is None or is_of_python(file))


def find(module: str, name: str) -> Any:
    """What a loaded module has under a dotted name, or None.

    Nothing is imported but this package's own modules, and what NumPy and SciPy load when it is asked for.
    """
    found: Any = sys.modules.get(module)
    if found is None and module.startswith(_PACKAGE + "."):
        with contextlib.suppress(ImportError):
            found = importlib.import_module(module)
    if found is None and "." in module:
        found = find(*module.rsplit(".", 1))
    for part in name.split(".") if name else ():
        found = getattr(found, part, None)
    return found


def _version(module: str) -> str:
    return str(getattr(sys.modules.get(module.split(".")[0]), "__version__", ""))


__all__ = ["NotPortable", "class_print", "digest", "find", "fingerprint", "function_print", "import_name"]
