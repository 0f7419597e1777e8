"""Functions that are lowered from a definition in Python, in terms of simpler functions. Most are NumPy's.

A definition is inlined as a helper of the user's would be, so it needs no derivative rule and nests to any order. It
is not the user's, though: what it looks up is not guarded, and its errors are located at the user's call.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ..ir.foreign import module_of
from ..ir.opset import lookup as record_of
from ..late import load
from ..locks import Lock
from ..pristine import BUILTINS
from .avals import Obj, Seq, is_constant
from .handlers import Val

F = TypeVar("F", bound=Callable[..., Any])

DEFINED: dict[Any, types.FunctionType] = {}
# Of methods of ufuncs: by ufunc and name, or by the name alone, then the ufunc is the first argument.
METHODS: dict[Any, types.FunctionType] = {}
# Each says of an unknown callable whether it has now filled in the definitions that concern it.
LATE: list[Callable[[Any], bool]] = []
# What the modules define that are imported late (`later`): functions in these modules, without a record but for some.
_ROOTS = frozenset({"numpy", "math", "cmath"})
_ALSO_RECORDS = frozenset(
    {"split", "meshgrid", "diff", "nonzero", "histogram", "nanmean", "transpose", "eigh", "eig", "slogdet", "svd", "qr",
     "norm", "nan_to_num"}
)  # fmt: skip
_later: list[str] = []
_lock = Lock()
_pending: dict[Any, types.FunctionType] = {}  # of these: other threads find nothing of a module before it is whole
_modules: set[str] = set()


def defines(*keys: Val, table: dict[Any, types.FunctionType] = DEFINED) -> Callable[[F], F]:
    """The decorated function says what a call of these callables means."""

    def enter(definition: F) -> F:
        assert isinstance(definition, types.FunctionType)
        _modules.add(module_of(definition))
        late = table is DEFINED and definition.__module__.rpartition(".")[2] in _later
        assert not late or all(map(_may_be_later, keys)), keys
        (_pending if late else table).update(dict.fromkeys(keys, definition))
        if definition.__closure__ is not None and table is DEFINED:  # one of a family: errors name the function
            definition.__name__ = keys[0].__name__
        return definition

    return enter


defines_method = functools.partial(defines, table=METHODS)  # for methods of ufuncs


def refuse(message: str, remedy: str = "") -> None:
    """In a definition: the call is not supported. The frontend reports it where the user wrote the call."""
    raise NotImplementedError(message, remedy)


def folded(array: Any) -> Any:
    """In a definition: this array, of which several elements may be one in memory, so that nobody may store into it."""
    return array


def lifted(fun: Any, count: int, like: Any = None) -> Any:
    """In a definition: a function that a solver calls with `count` arguments, as a `Callback`, and the values that it
    reads from the functions around it. The callback takes these in front of its own arguments.

    `like`: the argument that the result is like, by its position; "number": the result is a number."""
    return None


def derived(callback: Any, which: str, *args: Any) -> Any:
    """In a definition: the callback that a method of `Callback` gives."""
    return None


def known(value: Val) -> bool:
    """In a definition: the value is known when the program is compiled."""
    return True


def may_be_zero(length: Val) -> bool:
    """In a definition: the length of an axis is not known to be at least 1."""
    return True


def place() -> Any:
    """In a definition: where the user wrote the call, for an error that is raised when the program runs."""
    return None


def definition_of(fn: Any) -> types.FunctionType | None:
    """The definition of a callable, which may have no hash."""
    try:
        found = DEFINED.get(fn)
    except TypeError:
        return None
    if found is None:
        if _later and _may_be_later(fn):
            load_all()
        any(load_for(fn) for load_for in LATE)
        return DEFINED.get(fn)  # another thread may have loaded it just now
    return found


def later(*modules: str) -> None:
    """Definitions of functions of NumPy's and of `math` stand in these modules of the library."""
    _later.extend(modules)


def _may_be_later(fn: Any) -> bool:
    """A module that is imported late may define the function."""
    if str(getattr(fn, "__module__", None)).split(".")[0] not in _ROOTS:
        return False
    return getattr(fn, "__name__", None) in _ALSO_RECORDS or record_of(fn) is None


def load_all() -> None:
    """Import all definitions but those of SciPy's functions."""
    with _lock:
        for name in _later:
            load(f"{__package__}.library.{name}")
        DEFINED.update(_pending)
        _later.clear()


def is_definition(fn: Any) -> bool:
    """The function is a definition, or a helper of one."""
    return isinstance(fn, types.FunctionType) and module_of(fn) in _modules


def stands_in(cls: type) -> bool:
    """A class of a definition's module. In a program its instances stand for those of a class of a library."""
    return cls.__module__ in _modules and not str(cls.__module__).startswith("numpy.")


def lookup(fn: types.FunctionType, name: str) -> Any:
    """What a name that is no local one is in a definition."""
    if name in fn.__code__.co_freevars and fn.__closure__ is not None:
        return constant(fn.__closure__[fn.__code__.co_freevars.index(name)].cell_contents)
    return constant(fn.__globals__[name] if name in fn.__globals__ else BUILTINS[name])


def constant(obj: Any) -> Any:
    """The abstract value of something that a definition refers to. It does not change, so it needs no guard."""
    if isinstance(obj, tuple):
        return Seq(tuple([constant(item) for item in obj]))
    return obj if is_constant(obj) else Obj(obj, None)


def are_definitions(functions: Iterable[Any]) -> None:
    """The modules of these functions hold definitions."""
    _modules.update(module_of(fn) for fn in functions if isinstance(fn, types.FunctionType))
