"""What foreign code may have changed: live objects that a callable of which nothing is known can reach.

Numbers and arrays in live objects are inputs, which are fetched when the call begins. After such a callable has run,
what it can reach may hold something else; to read it is an error. An array that was read before is read from a copy,
which is made when the call begins: its derivatives read it at the end.
"""

from __future__ import annotations

import ast
import datetime
import gc
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.core import Loc, Prim
from ..ir.foreign import GENERATOR, RANDOM_STATE, immutable_classes, is_inert, loaded
from ..ir.opset import (
    APPEND_TO,
    BUILD,
    CAUGHT,
    DEL_ATTRIBUTE,
    DEL_ENTRY,
    FILL_LIST,
    IS,
    KEEP,
    LIST_NEW,
    RAISE,
    SET_ATTRIBUTE,
    SET_ENTRY,
    STORE_INTO,
    STORES,
    TUPLE,
    TYPE_OF,
)
from ..late import late
from .avals import Obj, Poison
from .handlers import Node, Val
from .inputs import path_name
from .names import Names
from .own_code import ANYTHING, NOTHING
from .plan import Disturbed, FoundWanting

if TYPE_CHECKING:
    from .may_write import Effects

may_write, methods_run_by, run_by = late(__package__, "may_write", "may_write", "methods_run_by", "run_by")

BUILTIN_FUNCTIONS = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
)  # fmt: skip
_HELD = (np.ndarray, np.generic, bool, int, float, complex, str, tuple, list, dict)
_NUMBERS = (bool, int, float, complex)
REBOUND = -1  # among what was disturbed: what global names and variables are bound to, and what arrays hold
LIMIT = 2000  # objects that are followed; what reaches more may reach anything
# Of no object is it likely that foreign code changes its class or the functions that it holds.
_LEFT_ALONE = (
    type, types.ModuleType, types.FunctionType, types.MethodType, *BUILTIN_FUNCTIONS, np.ufunc,
)  # fmt: skip


def reachable(objects: list[Any]) -> dict[int, Any] | None:
    """The mutable objects that can be got to from these, by identity; None: any."""
    found: dict[int, Any] = {id(obj): obj for obj in objects if isinstance(obj, type)}
    left_alone = (*_LEFT_ALONE, *loaded(GENERATOR, RANDOM_STATE), *(immutable_classes() - {tuple, frozenset}))
    todo = [x for obj in objects for x in (vars(obj).values() if isinstance(obj, type) else [obj])]
    while todo:
        obj = todo.pop()
        if isinstance(obj, (types.FunctionType, types.MethodType)) and obj in objects:
            return None  # it is called, and may do anything
        if id(obj) in found or isinstance(obj, left_alone):
            continue
        found[id(obj)] = obj
        if len(found) > LIMIT:
            return None
        todo += gc.get_referents(obj)
    return found


def runs_python(called: Any) -> bool:
    """A callable that is no Python function holds one, which it may call."""
    if isinstance(called, (types.FunctionType, types.MethodType)):
        return False
    todo, seen = [called], set[int]()
    while todo and len(seen) <= LIMIT:
        obj = todo.pop()
        if isinstance(obj, (types.FunctionType, types.MethodType)) or (isinstance(obj, np.ufunc) and not is_inert(obj)):
            return True  # a ufunc made by np.frompyfunc does not say of which function
        if id(obj) not in seen and not isinstance(obj, _LEFT_ALONE):
            seen.add(id(obj))
            todo += gc.get_referents(obj)
    return bool(todo)


# What keeps or hands on an object that it is given, and runs nothing of it.
_KEEPING = STORES | {
    APPEND_TO, BUILD, CAUGHT, DEL_ATTRIBUTE, DEL_ENTRY, FILL_LIST, IS, KEEP, LIST_NEW, RAISE, SET_ATTRIBUTE, SET_ENTRY,
    STORE_INTO, TUPLE, TYPE_OF,
}  # fmt: skip
_LOOKING = (getattr, hasattr, isinstance, issubclass, callable, type, id)


class Disturbances(Names):
    """What was disturbed up to here."""

    disturbed: dict[int, tuple[str, Loc]]  # by identity; 0: anything that a live object holds; `REBOUND`: all else, too

    def disturb(self, objects: list[Any], name: str, node: Node) -> None:
        """Foreign code called `name` runs, which was given these objects (itself the first)."""
        called, *given = objects
        given.append(getattr(called, "__self__", None) if isinstance(called, BUILTIN_FUNCTIONS) else called)
        given = [x for x in given[:-1] if not is_builtin_class(x)] + [x for x in given[-1:] if not isinstance(x, type)]
        # Of the function that is called itself, it is taken that it binds no names of the program's.
        asked = [x for x in given if x is not called or not isinstance(x, (types.FunctionType, types.MethodType))]
        known, names = run_by(called)
        effects = self.effects_of(asked if names is None else known, names)
        anything = names is None and any(map(runs_python, given[-1:])) or effects.extent == ANYTHING
        self.note_disturbed(None if anything else reachable(given), name, self.loc_of(node), anything)

    def handed_to(self, prim: Prim, objects: list[Any], node: Node) -> None:
        """What is called when the program runs is given these objects. It may run their special methods."""
        if prim in _KEEPING or prim.fn in _LOOKING or isinstance(prim.fn, type) and issubclass(prim.fn, BaseException):
            return
        self.may_run(objects, methods_run_by(prim.fn), node)

    def may_run(self, objects: list[Any], names: frozenset[str] | None, node: Node) -> None:
        """The methods of these names of the objects and of what they hold may run; None: of all names that libraries
        ask for."""
        effects = self.effects_of(objects, names)
        if effects.extent != NOTHING:
            anything = effects.extent == ANYTHING
            self.note_disturbed(None if anything else reachable(objects), effects.name, self.loc_of(node), anything)

    def effects_of(self, objects: list[Any], names: frozenset[str] | None = None) -> Effects:
        asked = [x for x in objects if x is not None]
        key = (tuple(map(id, asked)), names)
        if key not in self.inputs.effects:
            self.inputs.keep += asked
            self.inputs.effects[key] = may_write(asked, names)
        effects: Effects = self.inputs.effects[key]
        if effects.extent != NOTHING:
            for fn in effects.read:  # code on disk is for these texts
                self.functions[fn] = None
        return effects

    def note_disturbed(self, reached: dict[int, Any] | None, name: str, loc: Loc, anything: bool = False) -> None:
        keys = [0] if reached is None else list(reached)
        keys += [REBOUND] if anything else []
        if not keys:
            return
        self.inputs.keep += [] if reached is None else reached.values()
        for key in keys:
            self.disturbed.setdefault(key, (name, loc))
        if self.builder.region is not self.top and any(k not in self.plan.disturbed for k in keys):
            # In a loop, what stands above runs after it as well.
            raise FoundWanting(Disturbed(dict.fromkeys(keys, (name, loc))))
        poison = Poison(loc, f"can be reached by {name}, which may have changed it,")
        for key, paths in self.inputs.containers.items():
            for path in paths if key in keys or 0 in keys else ():
                held = self.inputs.by_path.get(path)
                if held is not None and path[0][0] != "arg":
                    self.state.heap[held.cell] = poison

    def outside(self, obj: Any, path: Any, node: Node) -> Any:
        if path and path[0][0] == "object" and isinstance(path[0][1], ast.AST) and type(obj) in _NUMBERS:
            return obj  # in the tree of a text, which the compiler has made itself
        if (REBOUND in self.disturbed or REBOUND in self.plan.disturbed) and isinstance(obj, _HELD):
            self.check_undisturbed(obj, node, repr(path_name(path)))
        if isinstance(obj, (datetime.datetime, datetime.time)):  # a value, whose time zone may be an object
            self.may_run([obj], None, node)
        return super().outside(obj, path, node)

    def arrays_disturbed(self) -> set[int]:
        """The numbers of the inputs from outside that are arrays which may have been changed in this call."""
        items = enumerate(self.inputs.inputs if REBOUND in self.disturbed else ())
        return {number for number, item in items if item.hidden and item.key[0] == "array"}

    def check_undisturbed(self, obj: Any, node: Node, known_as: str = "") -> None:
        """What a live object holds is read."""
        for known in (self.disturbed, self.plan.disturbed):
            if known and (id(obj) in known or 0 in known):
                name, loc = known.get(id(obj)) or known[0]
                what = known_as or f"this {obj.__name__ if isinstance(obj, type) else type(obj).__name__}"
                what += f" can be reached by {name} in line {loc.line}, which may have changed it"
                self.fail(what, node, f"read it before, or call {name} outside of the function")


OF_HANDLERS = frozenset({"emit", "handle", "filter"})


def handlers_of(args: list[Val]) -> dict[int, Any]:
    """The handlers of a user's that see what is logged, by identity."""
    import logging  # the program has done so

    found: dict[int, Any] = {}
    given = [a.obj for a in args if type(a) is Obj and isinstance(a.obj, logging.Logger)]
    for logger in [logging.root, *given]:
        above: logging.Logger | None = logger
        while above is not None:
            found.update({id(h): h for h in above.handlers if type(h).__module__.split(".")[0] != "logging"})
            above = above.parent
    return found


def is_builtin_class(obj: Any) -> bool:
    return isinstance(obj, type) and not obj.__flags__ & (1 << 9)
