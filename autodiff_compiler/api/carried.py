"""The source that a pickled gradient carries to another process.

A function of a notebook, a script or a prompt is pickled by value (by cloudpickle, which joblib, Dask and Ray use), and
its file means nothing to the process that loads it. So a transformed function is pickled with the text of these files:
its own, and those of the functions that it may call.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

from ..tree import class_lookup

Place = tuple[str, int]  # the qualified name of a function, and its first line
Texts = tuple[dict[str, str], dict[Place, str]]


def carried(fn: Any) -> Texts:
    """The text by the name of the file, for functions that another process may not find in a file of a module. And the
    names of the files of these functions: cloudpickle leaves them out."""
    texts: dict[str, str] = {}
    files: dict[Place, str] = {}
    for inner in _reachable(fn):
        file = inner.__code__.co_filename
        if inner.__module__ in ("__main__", None) or not os.path.exists(file):
            lines = linecache.getlines(file, inner.__globals__)
            if lines:
                texts[file] = "".join(lines)
                files[_place(inner)] = file
    return texts, files


def unpack(texts: Texts, parts: Any = ()) -> None:
    """Have the source of functions that were pickled by value found under the names of their files.

    parts: what holds these functions
    """
    for file, text in texts[0].items():
        if not os.path.exists(file):
            linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    for fn in _reachable(parts):
        if fn.__code__.co_filename == NAMELESS and _place(fn) in texts[1]:
            fn.__code__ = _of_file(fn.__code__, texts[1][_place(fn)])


NAMELESS = "<dynamic-code>"  # the file that code has which cloudpickle has pickled by value, from version 3.1.2 on


def _place(fn: types.FunctionType) -> Place:
    return fn.__qualname__, fn.__code__.co_firstlineno


def _of_file(code: types.CodeType, file: str) -> types.CodeType:
    """The code, and that of functions inside of it, as of this file."""
    inside = tuple([_of_file(c, file) if isinstance(c, types.CodeType) else c for c in code.co_consts])
    return code.replace(co_filename=file, co_consts=inside)


def restored(texts: Texts, cls: Any, parts: tuple[Any, ...], options: Any = None) -> Any:
    """What a pickled transformed function is made of anew."""
    unpack(texts, parts)
    made = cls(*parts)
    if options is not None:
        made.options = options
    return made


def is_found_by_name(obj: Any) -> bool:
    """A decorator has put the object under the function's name. Then pickle finds the object, not the function."""
    found: Any = sys.modules.get(obj.__module__)
    for part in obj.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is obj and not (obj.__module__ == "__main__" and is_by_value())


def is_by_value() -> bool:
    """cloudpickle is at work. It pickles what `__main__` defines by value: another process has another `__main__`."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(__name__.split(".")[0]):
        frame = frame.f_back
    return frame is not None and "cloudpickle" in str(frame.f_globals.get("__name__"))


def _reachable(fn: Any) -> Iterator[types.FunctionType]:
    """The Python functions that are pickled by value with a function, as far as names say."""
    todo, seen = [fn], {id(fn)}
    for obj in todo:  # which grows on the way
        parts: list[Any] = []
        if isinstance(obj, types.FunctionType):
            yield obj
            codes = [obj.__code__]
            for code in codes:
                codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
            names = {name for code in codes for name in code.co_names}
            parts += [obj.__globals__[name] for name in names if name in obj.__globals__]
            parts += [cell.cell_contents for cell in obj.__closure__ or () if _is_full(cell)]
            parts += [*(obj.__defaults__ or ()), *(obj.__kwdefaults__ or {}).values()]
        elif isinstance(obj, types.MethodType):
            parts += [obj.__func__, obj.__self__]
        elif isinstance(obj, functools.partial):
            parts += [obj.func, *obj.args, *obj.keywords.values()]
        elif isinstance(obj, (staticmethod, classmethod)):
            parts.append(obj.__func__)
        elif isinstance(obj, property):
            parts.append(obj.fget)
        elif isinstance(obj, type):
            parts += [*vars(obj).values(), *obj.__bases__]
        elif isinstance(obj, (list, tuple)):
            parts += obj
        elif isinstance(obj, dict):
            parts += obj.values()
        elif class_lookup(type(obj), "__autodiff_lower__") is not None:  # a gradient
            parts.append(obj.primal)
        else:
            parts += [type(obj), *getattr(obj, "__dict__", {}).values()]
        for part in parts:
            if id(part) not in seen and len(todo) < _MOST and _is_carried(part):
                seen.add(id(part))
                todo.append(part)


_MOST = 20_000  # objects that are looked at: an argument may be a list of a million numbers
_NONE_INSIDE = (str, bytes, int, float, complex, type(None), types.ModuleType, types.BuiltinFunctionType)


def _is_carried(obj: Any) -> bool:
    """It goes into the pickle by value, and it may hold a function."""
    if isinstance(obj, _NONE_INSIDE) or str(type(obj).__module__).startswith("numpy"):
        return False
    if isinstance(obj, types.FunctionType):
        anonymous = "<" in obj.__qualname__ or obj.__module__ in ("__main__", None)
        return anonymous or not os.path.exists(obj.__code__.co_filename)
    return not isinstance(obj, type) or "<" in obj.__qualname__ or obj.__module__ == "__main__"


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


__all__ = ["carried", "is_by_value", "is_found_by_name", "restored", "unpack"]
