"""A lowered function: its SSA form, and what ties it to the Python world.

The frontend makes these, and a call needs no more than this module to use what was compiled for one: the paths by which
its inputs are found, and the guards that have to hold. So a call that finds its code on disk loads no frontend.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import os
import sys
import types
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np

from .duck import is_duck
from .errors import ArgumentError, AutodiffError, UnsupportedError, is_interruption
from .ir.core import Function, Loc
from .ir.types import Ty
from .tree import class_lookup

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")
# From the interpreter and the abstract arguments of a call, by position and by keyword, to its abstract result.
Lowering = Callable[[Any, list[Any], dict[str, Any]], Any]
# Where an object comes from: ("arg", k), ("global", fn, name), ("cell", fn, name), ("default", fn, k or name), then
# any number of ("item", key), ("attr", name), ("call", arguments, their key) and ("member", name): what a class or its
# bases have under the name.
Path = tuple[tuple[Any, ...], ...]
BAKED_MODULES = (
    "numpy",
    "math",
    "cmath",
    "operator",
    "functools",
    "itertools",
    "builtins",
    "scipy",
    "collections",
    "typing",
)
OBJECT_KEY = ("object",)
_PYTHON = os.path.dirname(os.__file__) + os.sep
_INSTALLED = tuple([_PYTHON + name + os.sep for name in ("site-packages", "dist-packages")])
# What was seen of a value: ("py", class), ("generic", dtype), ("array", dtype, number of axes, the axes of length 1 and
# ~axis for those of length 0, or None if these differ), ("tuple", its class or None, a fact for each item), ("object",
# its class, "iterator", or "")
Fact = tuple[Any, ...]
ANYTHING: Fact = ("anything",)  # several kinds of things were seen at one place

# What is said of transformations that cannot be called in a compiled function, and what to do instead.
NO_WEAK_ZEROS = (
    "strong_zeros=False in a function that is compiled is not supported",
    "leave it out: the gradient then has the zeros that would be nan",
)
NO_INTEGERS = ("allow_int=True in a function that is compiled is not supported", "pass floats there")
NO_SPARSITY = (
    "sparsity=... in a function that is compiled is not supported",
    "leave it out there, or call the sparse derivative outside of the function",
)
USE_GRAD = "use grad there, of the sum of the result times the cotangent"


class ObjectStep(tuple[Any, ...]):
    """``("object", obj)``, compared by identity: an object may be unhashable, or equal to another and yet different."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectStep) and self[1] is other[1]

    def __hash__(self) -> int:
        return id(self[1])


@dataclass(slots=True)
class Input:
    """One parameter of the lowered function: a number or an array, and where a call finds it."""

    path: Path
    name: str
    type: Ty
    # ("number", Python type) or ("array", dtype, ndim, tuple of the axes of length 1, and ~axis for those of length 0);
    # ("duck", dtype, ndim, the same axes, its class) for an array of another library;
    # ("object",) for an object that is handed through
    key: tuple[Any, ...]
    hidden: bool
    shape: tuple[int, ...] | None = None  # the one shape that the code is for, where lengths are known at compile time


@dataclass(slots=True)
class Guard:
    """What has to hold at a call for the lowered function to be valid.

    kind: "is" (identity), "eq" (type and value), "type" (exact type), "len", "keys" (a tuple of them, in order),
    "absent" (the global name `expected` does not exist), "lacks" (the object itself has no attribute `expected`),
    "without" (neither it nor its class has), "same" and "distinct" (what is at the path `expected`), "apart" (it and
    what is at the paths `expected` are all different objects),
    "order" (an `OrderOf`; the path is that of its first set), "process" (it holds in this process, maybe in no other),
    "missing" (no module has the name `expected`),
    "type_key" (an Input's key). Values and keys are the same by type and value, see `structural_key`.
    """

    path: Path
    kind: str
    expected: Any


@dataclass(slots=True)
class Lowered:
    """A function in IR, with what ties it to the Python world.

    function: the IR; its parameters are `inputs` in order; its results are the leaves of `out`
    inputs:   where each parameter comes from at a call
    guards:   what has to hold at a call for this lowering to be valid
    out:      the structure of the return value (see `tree.unflatten`)
    sources:  the texts of all functions that went into it, by qualified name
    params:   the names of the top-level parameters, in the order that ("arg", k) paths count
    no_alias: pairs of inputs (indices) that must not share memory, as one is written to; an input with itself: its
    elements must not
    stored:   the inputs (indices) that the function writes to
    """

    function: Function
    inputs: list[Input]
    guards: list[Guard]
    out: Any
    sources: list[str]
    params: list[str]
    no_alias: list[tuple[int, int]] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)
    loc: Loc | None = None  # of the definition
    functions: list[Any] = field(default_factory=list)  # those whose text went into it
    reasons: list[str] = field(default_factory=list)  # for which attempts to lower it were found wanting: see `plan`
    alone: str = ""  # of a function of stacks: why it runs once for each example, if it does
    orders: int = 1  # how many derivatives are to be taken of it at once: see `Repeatable`


def is_missing(module: str) -> bool:
    """No module has this full name: to import it raises ModuleNotFoundError."""
    try:
        return importlib.util.find_spec(module) is None
    except ModuleNotFoundError:  # what it would be in
        return True
    except ValueError:  # a module that a program has put there by hand
        return False


def fetch(path: Path, args: tuple[Any, ...]) -> Any:
    """The object at the path, now."""
    obj: Any = None
    for step in path:
        kind = step[0]
        if kind == "arg":
            obj = args[step[1]]
        elif kind == "global":
            obj = step[1].__globals__[step[2]]
        elif kind == "cell":
            obj = step[1].__closure__[step[1].__code__.co_freevars.index(step[2])].cell_contents
        elif kind == "default":
            obj = step[1].__defaults__[step[2]] if isinstance(step[2], int) else step[1].__kwdefaults__[step[2]]
        elif kind == "object":
            obj = step[1]
        elif kind == "item":
            obj = obj[step[1]]
        elif kind == "member":
            obj = class_lookup(obj, step[1])
        elif kind == "call":
            obj = obj(*step[1])
        elif kind == "held":
            obj = held(obj)
        elif kind == "inner":
            pass  # the list or dictionary that it is
        else:
            obj = getattr(obj, step[1])
    return obj


def held(obj: Any) -> Any:
    """A plain copy of the list, tuple or dictionary that an object is, whatever its class says of it."""
    if isinstance(obj, dict):
        return {key: dict.__getitem__(obj, key) for key in dict.__iter__(obj)}
    return list.copy(obj) if isinstance(obj, list) else tuple(tuple.__iter__(obj))


def key_of(obj: Any) -> tuple[Any, ...]:
    """The part of a leaf that code is specialised on."""
    if type(obj) is np.ndarray:
        return ("array", obj.dtype, obj.ndim, tuple([k if n else ~k for k, n in enumerate(obj.shape) if n < 2]))
    if is_duck(obj):
        short = tuple([k if n else ~k for k, n in enumerate(obj.shape) if n < 2])
        return ("duck", obj.dtype, len(obj.shape), short, type(obj))
    return ("number", type(obj))


def is_steady(member: Any) -> bool:
    """Its hash is the same in all processes."""
    if type(member) is tuple:
        return all(map(is_steady, member))
    return type(member) in (bool, int, float, complex)


def bind_arguments(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[str], list[Any], Any]:
    """The parameters that a call gives, in order: names and values, and how they go back into (args, kwargs).

    Parameters left at their defaults are not among them.
    """
    try:
        bound = inspect.signature(fn, follow_wrapped=False).bind(*args, **kwargs)
    except TypeError as error:
        if is_interruption(error):
            raise
        raise ArgumentError(f"{getattr(fn, '__name__', 'the function')}() {error}", location_of(fn)) from None
    except ValueError:
        if kwargs:
            raise ArgumentError("this callable takes no keyword arguments") from None
        return [f"x{k}" for k in range(len(args))], list(args), None
    return list(bound.arguments), list(bound.arguments.values()), bound.signature


def is_of_python(file: str) -> bool:
    """The file is one of the standard library's."""
    return file.startswith(_PYTHON) and not file.startswith(_INSTALLED)


def location_of(fn: Any) -> Loc:
    """Where a function begins. A built-in function begins nowhere: it is the call that brought it here."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    made_by: Any
    for made_by in (fn, getattr(fn, "__func__", None), class_lookup(type(fn), "__call__")):
        code = getattr(made_by, "__code__", None)
        if code is not None:
            return Loc(code.co_filename, code.co_firstlineno, 0, -1, made_by.__name__)
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
        frame = frame.f_back
    if frame is None:  # the thread with the large stack, see `deep`
        return Loc(f"<built-in {getattr(fn, '__name__', type(fn).__name__)}>", 1, 0, 0)
    name = frame.f_code.co_name
    return Loc(frame.f_code.co_filename, frame.f_lineno, 0, 0, "" if name.startswith("<") else name)


# Not in the functions themselves: `functools.wraps` copies what a function holds to the one that wraps it.
_LOWERINGS: weakref.WeakKeyDictionary[types.FunctionType, Lowering] = weakref.WeakKeyDictionary()


def lowers_by(lowering: Lowering) -> Callable[[F], F]:
    """Decorator: `lowering` gives the abstract result of a call of the function."""

    def enter(fn: F) -> F:
        _LOWERINGS[cast(types.FunctionType, fn)] = lowering
        return fn

    return enter


# Whether paths that cannot be compiled are left out, see `frontend.left_out`.
LEAVING_OUT: ContextVar[bool] = ContextVar("leaving_out", default=False)


def leaving_out(compiled: Callable[[], R]) -> R:
    """What `compiled` gives, if need be without paths that cannot be compiled and may never be taken."""
    try:
        return compiled()
    except AutodiffError as error:
        if not error.on_a_path or LEAVING_OUT.get():
            raise
        token = LEAVING_OUT.set(True)
        try:
            return compiled()
        except AutodiffError:
            raise error from None
        finally:
            LEAVING_OUT.reset(token)


# Functions of others that users have given a rule of their own: by identity, with the object, which keeps it alive.
REGISTERED: dict[int, tuple[Any, Lowering]] = {}


def refused(message: str, remedy: str) -> Lowering:
    """The lowering of a call that is not supported in compiled functions."""

    def lowering(interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        raise UnsupportedError(message, interp.builder.loc, remedy)

    return lowering


def lowering_of(obj: Any) -> Any:
    """What a function or object of this package's says of how a call of it is lowered; None: nothing. An object of a
    user's is not asked, as its class may compute attributes."""
    if id(obj) in REGISTERED:
        return REGISTERED[id(obj)][1]
    if isinstance(obj, types.FunctionType):
        return _LOWERINGS.get(obj)
    found = class_lookup(type(obj), "__autodiff_lower__")
    return None if found is None else found.__get__(obj)
