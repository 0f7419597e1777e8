"""Which handler lowers what: plain functions, entered under the object that a program calls.

A handler is ``fn(ctx, ...)``. After the interpreter `ctx` it has the parameters of what it lowers, and Python binds the
arguments, which are abstract values. ``ctx.node`` is the syntax node of the call, ``ctx.callee`` the object that is
called. `grep` for ``@lowers(np.reshape)`` finds what handles a call of `np.reshape`.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from ..errors import ArgumentError, is_interruption
from ..ir.roles import MAKERS, names_of, signature_of
from ..late import load
from ..locks import Lock
from ..records import record
from ..tree import class_lookup
from .avals import Obj

if TYPE_CHECKING:
    from .lower import Interpreter

Ctx: TypeAlias = "Interpreter"
# An abstract value: an `avals.Aval`, an `ir.core.Value`, or a constant, which stands for itself.
Val: TypeAlias = Any
# The syntax node that is being lowered, where one is at hand.
Node: TypeAlias = ast.AST | None

F = TypeVar("F", bound=Callable[..., Any])


@record
class Handler:
    """A handler with the object that it is entered under, which keeps the object, and so its `id`, alive."""

    obj: Any
    fn: Callable[..., Val]
    border: bool


# By identity: ``np.dtype(float) == float``, and some callables have no hash.
_HANDLERS: dict[int, Handler] = {}
_METHODS: dict[int, Handler] = {}  # of containers, which are found by class and name: the object may be a derived one
_BY_NAME: dict[str, Handler] = {}  # of functions in modules that only a program that uses them imports

# By the class of a syntax node: what lowers it, and what gives simpler statements for it.
_NODES: dict[type, Callable[[Any, Any], Any]] = {}
_EXPANSIONS: dict[type, Callable[[Any, Any], list[Any]]] = {}

# Modules of handlers that are imported when a program first uses what they are for: a callable, by its `id`; a class of
# syntax nodes; a class whose methods they lower; a module whose functions they lower.
_LATER: dict[Any, str] = {}
_MENTIONED: list[Any] = []  # keeps the objects alive, and so their `id`


def later(module: str, *things: Any) -> None:
    """The handlers of these stand in a module of this package that is imported when one is first asked for: of
    callables, of classes of syntax nodes, of the methods of the classes in a tuple, and of the functions in modules,
    which are named by a string."""
    _MENTIONED.extend(things)
    for thing in things:
        if isinstance(thing, tuple):
            _LATER.update({("methods of", cls): module for cls in thing})
        elif isinstance(thing, str):
            _LATER["functions in", thing] = module
        else:
            _LATER[thing if isinstance(thing, type) and issubclass(thing, ast.AST) else id(thing)] = module


def _places(obj: Any) -> list[Any]:
    """Where `_LATER` may name the module of the handler of an object."""
    if isinstance(obj, type) and issubclass(obj, ast.AST):
        return [obj]
    places: list[Any] = [id(obj)]
    if type(obj) in _PLAIN:  # of others, to look at an attribute may run code of the program
        module, owner = getattr(obj, "__module__", None), getattr(obj, "__objclass__", None)
        if owner is not None:
            places.append(("methods of", owner))
        if type(module) is str:
            places += [("functions in", module), ("functions in", module.split(".")[0])]
    return places


_PLAIN = (
    type, types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)  # fmt: skip


def _load_for(obj: Any) -> bool:
    """Import the modules that may have a handler of an object. False if there are none; another thread may have
    imported them just now."""
    if type(obj) is np.ufunc:
        return False
    found = [_LATER[place] for place in _places(obj) if place in _LATER]
    for name in found:
        if name not in _entered:
            _load(name)
    return bool(found)


def load_all() -> None:
    """Import all handlers."""
    for name in dict.fromkeys(_LATER.values()):
        _load(name)


_lock = Lock()
_entered: set[str] = set()
# By module, what it enters: other threads find nothing of it before it is whole.
_pending: dict[str, list[tuple[dict[Any, Any], Any, Any]]] = {}


def _load(name: str) -> None:
    with _lock:
        load(f"{__package__}.{name}")
        for table, key, value in _pending.pop(name, []):
            table[key] = value
        _entered.add(name)


def _enter(table: dict[Any, Any], key: Any, value: Any, fn: Any) -> None:
    name = fn.__module__.removeprefix(f"{__package__}.")
    if name in _LATER.values():
        _pending.setdefault(name, []).append((table, key, value))
    else:
        table[key] = value


def lowers(*objs: Any, border: bool = False) -> Callable[[F], F]:
    """The decorated function lowers a call of each of `objs`: callables, or names such as "statistics.mean" where the
    module is not to be imported, or classes of syntax nodes. The handler of an expression gives its value, that of a
    statement its exit code. With `border`, they are functions of NumPy's that make arrays of containers, and the
    handler gets the arrays."""

    def enter(fn: F) -> F:
        for obj in objs:
            _is_found(obj, fn)
            if isinstance(obj, str):
                _enter(_BY_NAME, obj, Handler(obj, fn, border), fn)
                continue
            if isinstance(obj, type) and issubclass(obj, ast.AST):
                _enter(_NODES, obj, fn, fn)
                continue
            table = _METHODS if _is_method(obj) else _HANDLERS
            if id(obj) in table:
                raise ValueError(f"{obj!r} has a handler: {table[id(obj)].fn}")
            _enter(table, id(obj), Handler(obj, fn, border), fn)
        return fn

    return enter


def expands(*nodes: type) -> Callable[[F], F]:
    """The decorated function gives the statements that do what a statement of these classes does."""

    def enter(fn: F) -> F:
        for node in nodes:
            _is_found(node, fn)
            _enter(_EXPANSIONS, node, fn, fn)
        return fn

    return enter


def _is_found(obj: Any, fn: Any) -> None:
    """Raise an error if the module of a handler is imported late, and would not be for this object."""
    name = fn.__module__.removeprefix(f"{__package__}.")
    if name not in _LATER.values():
        return
    if isinstance(obj, str):
        places: list[Any] = [("functions in", obj.rpartition(".")[0]), ("functions in", obj.split(".")[0])]
    else:
        places = _places(obj)
    if all(_LATER.get(place) != name for place in places):
        raise ValueError(f"{name} is imported late, and not for {obj!r}: name it in frontend/table/__init__.py")


def handler_of_node(node: ast.AST) -> Callable[[Any, Any], Any] | None:
    """The handler of an expression or a statement."""
    found = _NODES.get(type(node))
    return _NODES.get(type(node)) if found is None and _load_for(type(node)) else found


def expansion_of(stmt: ast.stmt) -> Callable[[Any, Any], list[Any]] | None:
    """What gives simpler statements for a statement."""
    found = _EXPANSIONS.get(type(stmt))
    return _EXPANSIONS.get(type(stmt)) if found is None and _load_for(type(stmt)) else found


def _is_method(obj: Any) -> bool:
    if isinstance(obj, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return obj.__objclass__ is not object
    return isinstance(obj, staticmethod) or (isinstance(obj, types.FunctionType) and "." in obj.__qualname__)


def handler_of(obj: Any) -> Handler | None:
    """The handler of a callable."""
    found = _HANDLERS.get(id(obj))
    if found is None and _load_for(obj):
        found = _HANDLERS.get(id(obj))
    if found is None and type(obj) is types.FunctionType:
        found = _BY_NAME.get(f"{obj.__module__}.{obj.__name__}")
        if found is not None and getattr(sys.modules.get(obj.__module__), obj.__name__, None) is obj:
            _HANDLERS[id(obj)] = found = Handler(obj, found.fn, found.border)
            return found
        return None
    if found is None and type(obj) is types.BuiltinFunctionType and isinstance(obj.__self__, type):
        raw = class_lookup(obj.__self__, obj.__name__)  # a class method is made when it is read
        return _HANDLERS.get(id(raw)) or (_HANDLERS.get(id(raw)) if _load_for(raw) else None)
    return found


@functools.cache
def method_of(cls: type, name: str) -> Handler | None:
    """The handler of the method that a class, or the nearest of its bases, has under a name."""
    raw = class_lookup(cls, name)
    found = _METHODS.get(id(raw)) or _HANDLERS.get(id(raw))
    if found is None and _load_for(raw):
        return _METHODS.get(id(raw)) or _HANDLERS.get(id(raw))
    return found


def at_border() -> list[Any]:
    """The functions whose containers are made arrays before their handlers get them."""
    load_all()
    return [handler.obj for handler in _HANDLERS.values() if handler.border]


def run(ctx: Any, handler: Handler, args: list[Val], kwargs: dict[str, Val], node: Node) -> Val:
    """Lower a call by its handler."""
    before = ctx.node, ctx.callee
    ctx.at(node)
    obj, fn = handler.obj, handler.fn
    ctx.node, ctx.callee = node, obj
    try:
        if handler.border:
            if obj in MAKERS:
                args, kwargs = ctx.accepted(obj, signature_of(obj), args, kwargs, node)
            else:
                args, kwargs = ctx.entering(obj, names_of(obj), args, kwargs, node)
        return fn(ctx, *args, **kwargs)
    except TypeError as error:
        if is_interruption(error):
            raise
        try:
            inspect.signature(fn).bind(ctx, *args, **kwargs)
        except TypeError as wrong:  # it was the binding that failed
            _misfit(ctx, obj, args, kwargs, str(wrong))
        raise
    finally:
        ctx.node, ctx.callee = before


def apply(ctx: Ctx, fn: Any, *args: Val, **kwargs: Val) -> Val:
    """Lower a call of a known function, at the node of the call that a handler lowers."""
    return ctx.call(Obj(fn), list(args), kwargs, ctx.node)


def _misfit(ctx: Ctx, obj: Any, args: list[Val], kwargs: dict[str, Val], reason: str) -> None:
    """A call that the handler does not take: the TypeError that Python raises, or a refusal if Python takes it.

    The handler of something that does not tell its signature has all its parameters.
    """
    name = getattr(obj, "__name__", str(obj))
    try:
        inspect.signature(obj).bind(*args, **kwargs)
    except TypeError as error:
        if is_interruption(error):
            raise
        ctx.raises(TypeError, f"{name}() {error}", ctx.node)
    except ValueError:
        ctx.raises(TypeError, f"{name}() {reason}", ctx.node)
    ctx.fail(f"{name}() is called with arguments that are not supported: {reason}", ctx.node, "", ArgumentError)
