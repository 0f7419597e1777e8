"""What the code of an object may write to, where a library runs it: special methods, callbacks, methods of a file.

A call that the compiler emits as it stands runs the special methods of what it is given: `math.sqrt(r)` calls
`r.__float__`. What they store is seen by reading their source, and that of the functions they call. A method whose
effects cannot be told is one that may write to anything.
"""

from __future__ import annotations

import ast
import builtins
import functools
import gc
import operator
import sys
import types
from collections.abc import Iterator
from typing import Any

from .. import runtime
from ..errors import AutodiffError
from ..ir.foreign import CALLED, EFFECTS, immutable_classes, is_inert, root_module, runs_own_code
from ..tree import class_lookup
from .avals import MISSING
from .own_code import ANYTHING, ITSELF, LEFT_ALONE, NOTHING
from .source import source_of

LIMIT = 20_000  # objects that are followed; what reaches more may hold anything
# Special methods that no library calls of an object that it is given, or that write to it where it is meant to be.
_NOT_CALLED = frozenset(
    {
        "__init__", "__new__", "__del__", "__init_subclass__", "__set_name__", "__class_getitem__", "__prepare__",
        "__subclasshook__", "__setattr__", "__delattr__", "__setitem__", "__delitem__", "__set__", "__delete__",
        "__setstate__", "__post_init__", "__enter__", "__exit__", "__next__", "__call__",
        "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__", "__ipow__", "__imatmul__",
        "__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__",
    }
)  # fmt: skip
_OF_FILES = ("write", "writelines", "flush", "read", "readline", "readlines", "seek", "tell", "close")
# Methods of text, containers and arrays that leave them as they are.
_READING = frozenset(
    name
    for cls in (str, bytes, tuple, frozenset, int, float, complex, range, slice)
    for name in vars(cls)
) | {
    "get", "items", "keys", "values", "copy", "index", "count", "union", "intersection", "difference", "issubset",
    "issuperset", "isdisjoint", "astype", "tolist", "item", "sum", "mean", "std", "var", "min", "max", "argmin",
    "argmax", "all", "any", "dot", "reshape", "ravel", "flatten", "transpose", "round", "prod", "cumsum", "nonzero",
    "squeeze", "conj", "view", "diagonal", "trace", "__repr__", "__str__", "__format__", "__eq__", "__hash__",
    "__getattribute__", "total_seconds", "isoformat", "utcoffset", "dst", "tzname", "strftime", "date", "time",
}  # fmt: skip
_BOUND = (types.BuiltinFunctionType, types.MethodWrapperType)  # to an object, or to a module


class Effects:
    """What may be written to if a library runs the code of these objects; `read`: the functions that say so."""

    def __init__(self, objects: list[Any], names: frozenset[str] | None = None):
        self.names = names
        self.read: dict[types.FunctionType, None] = {}
        self.classes: dict[type, None] = {}
        self.seen: dict[int, Any] = {}
        self.callables = [obj for obj in objects if _is_called(obj)]
        self.todo = list(objects)
        self.asked: dict[types.FunctionType, int] = {}
        self.extent, self.name = NOTHING, ""

    def ask(self) -> None:
        """Follow the objects, and read what their classes say."""
        asked: set[type] = set()
        while self.extent < ANYTHING and (self.todo or self.callables or len(asked) < len(self.classes)):
            self.follow()
            while self.callables:
                obj = self.callables.pop()
                self.note(self.called(obj), obj)
            for cls in [c for c in self.classes if c not in asked]:
                asked.add(cls)
                for fn in _run_by_libraries(cls, self.names):
                    self.note(self.effect(fn, cls), fn)

    def note(self, effect: int, fn: Any) -> None:
        if effect > self.extent:
            self.extent, self.name = effect, getattr(fn, "__qualname__", type(fn).__name__)

    def follow(self) -> None:
        """Note the classes of what can be got to."""
        inert = immutable_classes() - {tuple, frozenset}
        while self.todo:
            obj = self.todo.pop()
            if isinstance(obj, _BOUND) and not isinstance(obj.__self__, types.ModuleType):
                obj = obj.__self__
            cls = type(obj)
            if cls in (int, float, str, bool, type(None)) or id(obj) in self.seen or isinstance(obj, LEFT_ALONE):
                continue
            self.seen[id(obj)] = obj
            if isinstance(obj, (types.FunctionType, type)):
                continue
            if not _is_of_a_library(cls):
                self.classes.setdefault(cls)
            if len(self.seen) > LIMIT:
                self.todo.clear()
                self.note(ANYTHING, obj)
            elif cls in inert and cls.__module__ == "datetime":
                self.todo.append(getattr(obj, "tzinfo", None))
            elif cls not in inert:
                self.todo += [x for x in gc.get_referents(obj) if not isinstance(x, type)]

    def called(self, obj: Any) -> int:
        """The effects of a call of an object."""
        if isinstance(obj, types.MethodType):
            self.todo.append(obj.__self__)
            if not isinstance(obj.__func__, types.FunctionType):
                return self.called(obj.__func__)
            return self.effect(obj.__func__, obj.__self__ if isinstance(obj.__self__, type) else type(obj.__self__))
        if isinstance(obj, types.FunctionType):
            return self.effect(obj, None)
        if isinstance(obj, functools.partial):
            return self.called(obj.func)
        call = class_lookup(type(obj), "__call__")
        if isinstance(call, types.FunctionType):
            return self.effect(call, type(obj))
        if isinstance(obj, type):
            if _is_of_a_library(obj) or obj.__module__ == "builtins":
                return NOTHING
            made = [class_lookup(obj, name) for name in ("__new__", "__init__", "__post_init__")]
            made = [getattr(fn, "__func__", fn) for fn in made]
            effects = [self.effect(fn, obj) for fn in made if isinstance(fn, types.FunctionType)]
            return ANYTHING if ANYTHING in effects or type(obj) is not type else NOTHING  # what it writes to is new
        if any(obj is fn for fn in _STORING):
            return ANYTHING
        if isinstance(obj, (types.MethodDescriptorType, types.WrapperDescriptorType)):
            return NOTHING if obj.__name__ in _READING else ANYTHING
        if isinstance(obj, types.BuiltinFunctionType) and isinstance(obj.__self__, types.ModuleType | None):
            return NOTHING if obj.__module__ in ("builtins", None) or _reads(obj) else ANYTHING
        return NOTHING if _reads(obj) else ANYTHING

    def effect(self, fn: types.FunctionType, cls: type | None) -> int:
        """The effects of a function, or of a method of the class."""
        if fn not in self.asked:
            self.asked[fn] = NOTHING  # of a call of itself
            self.asked[fn] = self._effect(fn, cls)
        return self.asked[fn]

    def _effect(self, fn: types.FunctionType, cls: type | None) -> int:
        if root_module(fn) in sys.stdlib_module_names or root_module(fn) in ("numpy", "scipy"):
            return NOTHING
        file = fn.__code__.co_filename
        if (file == "<string>" and cls is not None and hasattr(cls, "__dataclass_fields__")) or file.startswith(
            ("<attrs generated", "<__array_function__")
        ):
            return NOTHING
        try:
            tree = source_of(fn, None).node
        except AutodiffError:
            return ANYTHING
        self.read[fn] = None
        return _Body(self, fn, cls, tree).extent()


class _Body:
    """The effects of what stands in a function."""

    def __init__(self, effects: Effects, fn: types.FunctionType, cls: type | None, tree: Any):
        self.effects, self.fn, self.cls, self.tree = effects, fn, cls, tree
        spec = tree.args
        params = [a.arg for a in (*spec.posonlyargs, *spec.args)]
        self.owner = params[0] if cls is not None and params else None
        self.shared = {name for n in ast.walk(tree) if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
        outer = tree.body if isinstance(tree.body, list) else [tree.body]
        self.nodes = [n for part in outer for n in ast.walk(part)]
        self.made = self.made_here()
        self.parameters = {a.arg for n in ast.walk(tree) if isinstance(n, ast.arguments) for a in _all_of(n)}
        self.stored = {n.id for n in self.nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        self.local_functions = {n.name for n in self.nodes if isinstance(n, ast.FunctionDef)}

    def extent(self) -> int:
        return max([self.of(n) for n in self.nodes], default=NOTHING)

    def made_here(self) -> set[str]:
        """Variables that only ever hold a container which this function makes."""
        made: dict[str, bool] = {}
        for n in self.nodes:
            if isinstance(n, ast.Assign) and all(isinstance(t, ast.Name) for t in n.targets):
                for t in n.targets:
                    made[t.id] = made.get(t.id, True) and _is_fresh(n.value)  # type: ignore[attr-defined]
        others = {n.id for n in self.nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)} - set(made)
        counted = dict.fromkeys(made, 0)
        for n in self.nodes:
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id in counted:
                counted[n.id] += 1
            if isinstance(n, ast.Assign):
                for t in n.targets:
                    if isinstance(t, ast.Name) and t.id in counted:
                        counted[t.id] -= 1
        return {name for name, fresh in made.items() if fresh and not counted[name]} - others - self.shared

    def of(self, n: ast.AST) -> int:
        if isinstance(n, ast.Name):
            return self.of_name(n)
        if isinstance(n, (ast.Attribute, ast.Subscript)) and not isinstance(n.ctx, ast.Load):
            return self.written(n.value)
        if isinstance(n, ast.Attribute):
            return self.of_attribute(n)
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            return self.written(n.target, NOTHING)  # `x += y` may store into what x holds
        if isinstance(n, ast.Call):
            return self.of_call(n)
        if isinstance(n, (ast.Await, ast.AsyncFor, ast.AsyncWith)):
            return ANYTHING
        return NOTHING

    def of_name(self, n: ast.Name) -> int:
        if not isinstance(n.ctx, ast.Load):
            return ANYTHING if n.id in self.shared else NOTHING
        held = self.held(n.id)
        if held is not None and not isinstance(held, (types.FunctionType, types.MethodType, type)):
            self.effects.todo.append(held)
        return NOTHING

    def of_attribute(self, n: ast.Attribute) -> int:
        """Properties run when they are read."""
        found = NOTHING
        for cls in self.classes_of(n.value):
            held = class_lookup(cls, n.attr)
            if isinstance(held, property) and isinstance(held.fget, types.FunctionType):
                found = max(found, self.by_another(n.value, self.effects.effect(held.fget, cls)))
            elif hasattr(held, "func") and isinstance(held.func, types.FunctionType):  # a cached property
                found = max(found, self.by_another(n.value, ITSELF), self.effects.effect(held.func, cls))
        return found

    def classes_of(self, of: ast.expr) -> list[type]:
        """The classes that what is written here may have: that of the owner, or any that was met."""
        if isinstance(of, ast.Name) and of.id == self.owner and self.cls is not None:
            return [self.cls]
        return list(self.effects.classes)

    def by_another(self, of: ast.expr, effect: int) -> int:
        """A method that writes to its own object, which this expression gives."""
        return effect if effect != ITSELF else self.written(of)

    def written(self, target: ast.expr, of_numbers: int = ANYTHING) -> int:
        """What this expression gives is written to."""
        of_fresh = NOTHING
        while isinstance(target, (ast.Attribute, ast.Subscript)):
            target, of_numbers, of_fresh = target.value, ANYTHING, ANYTHING  # an item of what is new may be older
        if not isinstance(target, ast.Name):
            return of_fresh if _is_fresh(target) else ANYTHING
        if target.id == self.owner:
            return ITSELF
        if target.id in self.made:
            return of_fresh
        if target.id in self.shared or target.id not in self.stored:
            return ANYTHING
        return of_numbers

    def of_call(self, n: ast.Call) -> int:
        func = n.func
        if isinstance(func, ast.Name):
            if func.id in self.local_functions and func.id not in self.parameters:
                return NOTHING  # its body is among the nodes
            if func.id in self.parameters or func.id in self.stored:
                return ANYTHING
            if func.id == "super":
                return NOTHING
            held = self.held(func.id, ANYTHING)
            if held is setattr or held is delattr:
                return self.written(n.args[0]) if n.args else ANYTHING
            if held is next and n.args and isinstance(n.args[0], (ast.GeneratorExp, ast.Call)):
                return NOTHING
            return ANYTHING if held is ANYTHING else self.of_callee(held)
        if isinstance(func, ast.Subscript) and isinstance(func.value, (ast.List, ast.Tuple)):
            return max([self.of_call(ast.Call(one, n.args, n.keywords)) for one in func.value.elts], default=NOTHING)
        if not isinstance(func, ast.Attribute):
            return ANYTHING
        if isinstance(func.value, ast.Call) and isinstance(func.value.func, ast.Name) and func.value.func.id == "super":
            return self.of_super(func.attr)
        known = self.resolved(func)
        if known is not MISSING:
            return self.of_callee(known)
        found, methods = NOTHING, 0
        for cls in self.classes_of(func.value):
            held = class_lookup(cls, func.attr)
            held = getattr(held, "__func__", held)
            if isinstance(held, types.FunctionType):
                methods += 1
                found = max(found, self.by_another(func.value, self.effects.effect(held, cls)))
        if methods or func.attr in _READING:
            return found
        if isinstance(func.value, ast.Name) and func.value.id == self.owner and self.cls is not None:
            if class_lookup(self.cls, func.attr) is None:
                return ANYTHING  # a function in an attribute
        return self.written(func.value) if any(hasattr(c, func.attr) for c in (list, dict, set)) else ANYTHING

    def of_super(self, name: str) -> int:
        bases = self.cls.__mro__[1:] if self.cls is not None else ()
        held = next((vars(c)[name] for c in bases if name in vars(c)), None)
        held = getattr(held, "__func__", held)
        return self.effects.effect(held, self.cls) if isinstance(held, types.FunctionType) else NOTHING

    def of_callee(self, held: Any) -> int:
        found = self.effects.called(held)
        return ANYTHING if found else NOTHING  # what a function calls its own is one of its arguments here

    def resolved(self, n: ast.expr) -> Any:
        """What a dotted name gives that begins with the name of a module or class, or `MISSING`."""
        if isinstance(n, ast.Name):
            held = None if n.id in self.parameters or n.id in self.stored else self.held(n.id)
            return held if isinstance(held, (types.ModuleType, type)) else MISSING
        if isinstance(n, ast.Attribute):
            of = self.resolved(n.value)
            return MISSING if of is MISSING else getattr(of, n.attr, MISSING)
        return MISSING

    def held(self, name: str, otherwise: Any = None) -> Any:
        """What a name stands for that is not one of the function's own."""
        if name in self.parameters or (name in self.stored and name not in self.shared):
            return otherwise
        fn = self.fn
        if name in fn.__code__.co_freevars:
            cell = fn.__closure__[fn.__code__.co_freevars.index(name)]  # type: ignore[index]
            try:
                return cell.cell_contents
            except ValueError:
                return otherwise
        if name in fn.__globals__:
            return fn.__globals__[name]
        return getattr(builtins, name, otherwise)


_STORING = (setattr, delattr, exec, eval, next, vars, globals, locals)
_FRESH = (ast.List, ast.Dict, ast.Set, ast.Tuple, ast.ListComp, ast.DictComp, ast.SetComp, ast.Constant, ast.JoinedStr)


def _all_of(spec: ast.arguments) -> Iterator[ast.arg]:
    yield from (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)
    yield from [a for a in (spec.vararg, spec.kwarg) if a is not None]


def _is_fresh(n: ast.expr) -> bool:
    """It makes a new container, a number or a text."""
    if isinstance(n, ast.Call) and isinstance(n.func, ast.Name):
        return n.func.id in (
            "list",
            "dict",
            "set",
            "str",
            "repr",
            "sorted",
            "int",
            "float",
            "len",
            "tuple",
            "bytearray",
        )
    if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
        return n.func.attr in ("copy", "join", "format", "replace", "split", "strip", "zeros", "empty", "array")
    return isinstance(n, _FRESH)


def _reads(fn: Any) -> bool:
    """A function of a library that writes to nothing of the program's."""
    return is_inert(fn) or runs_own_code(fn) or root_module(fn) in ("math", "operator", "_operator", "itertools")


def _is_called(obj: Any) -> bool:
    """A function or an object that can be called, which a library may call if it is given it."""
    if isinstance(obj, (types.FunctionType, types.MethodType, functools.partial)):
        return True
    return isinstance(class_lookup(type(obj), "__call__"), types.FunctionType)


def _is_of_a_library(cls: type) -> bool:
    """A class of the standard library's, of NumPy's or of one whose objects write to nothing of the program's."""
    root = root_module(cls)
    return (
        root in ("builtins", "numpy", "scipy")
        or root in CALLED
        or (root in sys.stdlib_module_names and cls.__module__ != "__main__")
    )


def _run_by_libraries(cls: type, names: frozenset[str] | None) -> list[types.FunctionType]:
    """The methods of a class that a library may call by itself: special ones, those of files, and those that stand in
    place of a method of a library's class."""
    own = [c for c in cls.__mro__ if not _is_of_a_library(c)]
    bases = [c for c in cls.__mro__ if _is_of_a_library(c) and c is not object]
    found = []
    for name in {name: None for c in own for name in vars(c)}:
        held = class_lookup(cls, name)
        held = getattr(held, "__func__", held)
        special = name.startswith("__") and name.endswith("__") and name not in _NOT_CALLED
        if (
            isinstance(held, types.FunctionType)
            and (names is None or name in names)
            and (special or name in _OF_FILES or (not name.startswith("__") and any(name in vars(c) for c in bases)))
        ):
            found.append(held)
    return found


def may_write(objects: list[Any], names: frozenset[str] | None = None) -> Effects:
    """The effects of the methods of these names of the objects and of what they hold; None: of all names that a library
    asks for."""
    effects = Effects(objects, names)
    effects.ask()
    return effects


_TEXT = frozenset({"__repr__", "__str__", "__format__"})
_NUMBERS = frozenset({"__index__", "__int__", "__float__", "__trunc__", "__complex__", "__getitem__", "__missing__"})
_ORDER = frozenset(
    {
        "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__bool__", "__len__", "__contains__",
        "__iter__", "__getitem__", "__index__",
    }
)  # fmt: skip
_KEYS = frozenset(["__eq__", "__hash__"])
_SHOWING = (str, repr, ascii, format, str.format, runtime.format_)
_ASKING = (
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.contains,
    bool,
    len,
    hash,
)


def methods_run_by(fn: Any) -> frozenset[str] | None:
    """The names of the methods that a function asks for of what it is given; None: it may be any.

    >>> sorted(methods_run_by(repr)), methods_run_by(sum)
    (['__format__', '__repr__', '__str__'], None)
    """
    if any(fn is shown for shown in _SHOWING):
        return _TEXT
    if fn is operator.mod or root_module(fn) in EFFECTS:
        return _TEXT | _NUMBERS
    return _ORDER if any(fn is asked for asked in _ASKING) else None


def run_by(obj: Any) -> tuple[list[Any], frozenset[str] | None]:
    """The objects of which a callable that changes nothing itself may run methods, and the names of these; None: any.

    >>> held, names = run_by({"a": 1, 2: "b"}.get)
    >>> held, sorted(names or ())
    ([2], ['__eq__', '__hash__'])
    """
    held = getattr(obj, "__self__", None)
    if type(held) is dict and obj.__name__ in ("get", "__contains__", "__getitem__"):
        return [key for key in list(held) if type(key) is not str], _KEYS  # such as `sys.modules`, which holds all
    return [obj], None
