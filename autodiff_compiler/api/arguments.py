"""Finds the parameters to differentiate by, and the structure in which their cotangents are returned."""

from __future__ import annotations

import collections
import collections.abc
import inspect
from typing import Any, NoReturn

import numpy as np

from ..duck import is_duck, name_of
from ..errors import ArgumentError, IntegerArgumentError, UnsupportedError
from ..frontend.inputs import Inputs, base_of, place_of
from ..frontend.plan import Plan
from ..frontend.state import Cells
from ..ir.foreign import CALLED, root_module
from ..lowered import Lowered, held
from ..tree import flatten, is_leaf, is_object, own_attributes, own_steps


def argument_place(
    which: int | str, names: list[str], values: list[Any], signature: Any
) -> tuple[tuple[Any, ...], Any, str]:
    """The path, the value and the name of the argument that `argnums` means. Positions run on through ``*args``.

    Raises ArgumentError if there is no such argument.
    """
    kinds = {} if signature is None else {n: p.kind for n, p in signature.parameters.items()}
    if isinstance(which, str):
        if which in names:
            at = names.index(which)
            return (("arg", at),), values[at], which
        for at, name in enumerate(names):
            if kinds.get(name) is inspect.Parameter.VAR_KEYWORD and which in values[at]:
                return (("arg", at), ("item", which)), values[at][which], which
        raise ArgumentError(
            f"argnums is {which!r}, but the arguments of this call are {', '.join(names) or 'none'}",
            None,
            "name one of them, or give its position",
        )
    places: list[tuple[tuple[Any, ...], Any, str]] = []
    for at, name in enumerate(names):
        if kinds.get(name) is inspect.Parameter.VAR_POSITIONAL:
            places += [((("arg", at), ("item", k)), x, f"{name}[{k}]") for k, x in enumerate(values[at])]
        elif kinds.get(name) is not inspect.Parameter.VAR_KEYWORD:
            places.append(((("arg", at),), values[at], name))
    if not -len(places) <= which < len(places):
        raise ArgumentError(
            f"argnums is {which}, but this call has {len(places)} arguments",
            None,
            "give the name of an argument, or its position, counted from 0",
        )
    return places[which]


class Wanted:
    """The float leaves of the arguments to differentiate by, as parameters of the lowered function.

    wrt:  the numbers of these parameters, in the order of the leaves of the result
    kept: the numbers of parameters that are returned as they are. They are objects, of which the result has a copy, and
          values inside of containers that have no derivative. Their leaves are numbered after the others. For those in
          `zeroed`, zeros are returned.
    """

    def __init__(self, lowered: Lowered, exact: bool, zeros: bool = False):
        self.lowered = lowered
        self.exact = exact or zeros  # integer arguments are allowed, and their cotangent is None
        self.zeros = zeros  # it is zero instead
        self.wrt: list[int] = []
        self.kept: list[int] = []
        self.zeroed: set[int] = set()  # of these, zeros are returned in their place, by their number here
        self.inputs = Inputs(lowered.function.body, Cells(), Plan())
        self.inputs.inputs, self.inputs.guards = lowered.inputs, lowered.guards
        self.outer: list[Any] = []  # the objects around: a reference back to one of them is not followed

    def tree(self, value: Any, path: tuple[Any, ...], name: str) -> Any:
        """The structure of the cotangent of an argument."""
        before = len(self.wrt)
        if isinstance(value, (bool, np.bool_)) and not self.exact:
            raise IntegerArgumentError(
                f"cannot differentiate with respect to {name!r}, which is a bool",
                self.lowered.loc,
                "leave it out of argnums, or pass allow_int=True to get zero",
            )
        out = self.walk(value, path, name)
        if len(self.wrt) == before and not self.exact:
            raise ArgumentError(
                f"cannot differentiate with respect to {name!r}: it holds no floating numbers or arrays",
                self.lowered.loc,
                "pass floats, float arrays, or objects, tuples, lists and dicts of them",
            )
        return out

    def walk(self, x: Any, path: tuple[Any, ...], name: str) -> Any:
        if is_leaf(x):
            number = self.parameter(x, path, name)
            t = self.lowered.inputs[number].type
            if t.is_float:
                self.wrt.append(number)
                return ("leaf", len(self.wrt) - 1)
            if self.outer:
                return self.keep(x, path, name)
            whole = _dtype_of(x).kind in "biu"
            if not self.exact or self.zeros and not whole:
                raise IntegerArgumentError(
                    f"cannot differentiate with respect to {self.lowered.inputs[number].name!r}, "
                    f"which is {t} (not a floating type)",
                    self.lowered.loc,
                    _remedy(x, self.lowered.inputs[number].name),
                )
            return self.zero(number, x) if self.zeros else ("static", None)
        named = isinstance(x, tuple) and hasattr(type(x), "_fields")
        if type(x) in (tuple, list) or named:
            self.inputs.guard(path, "type", type(x))
            self.inputs.guard(path, "len", len(x))
            items = tuple([self.walk(y, (*path, ("item", k)), f"{name}_{k}") for k, y in enumerate(x)])
            return ("make", type(x), items) if named else (type(x).__name__, items)
        if type(x) is dict:
            self.inputs.guard(path, "type", dict)
            self.inputs.guard(path, "keys", tuple(x))
            return ("dict", tuple(x), tuple([self.walk(y, (*path, ("item", k)), f"{name}_{k}") for k, y in x.items()]))
        if isinstance(x, (dict, list, tuple, collections.deque)):
            return self.walk_container(x, path, name)
        if root_module(type(x)) in CALLED and any(_dtype_of(leaf).kind in "fc" for leaf in flatten(x)[0]):
            raise UnsupportedError(
                f"cannot differentiate with respect to {name!r}, a {name_of(type(x))}: what it computes is not known",
                self.lowered.loc,
                "pass its numbers as an array, and make the object of them in the function, or leave it out of argnums",
            )
        if is_object(x) and not any(x is y for y in self.outer):
            return self.walk_object(x, path, name)
        if isinstance(x, collections.abc.Collection) and holds_floats(x):
            self.refuse(x, name)
        if self.outer:
            self.inputs.guard(path, "type", type(x))
            return self.keep(x, path, name)
        return ("static", None if self.exact else x)

    def zero(self, number: int, x: Any) -> Any:
        """Zeros for an integer, in the shape of it and the dtype of a float."""
        if not isinstance(x, np.ndarray) and not is_duck(x):
            return ("static", 0.0)
        self.kept.append(number)
        self.zeroed.add(len(self.kept) - 1)
        return ("leaf", -len(self.kept))  # see `finished`

    def walk_container(self, x: Any, path: tuple[Any, ...], name: str) -> Any:
        """The structure for a container of another class: its gradient is a plain dictionary, tuple or list."""
        if any(map(holds_floats, own_attributes(x).values())):
            self.refuse(x, name)
        kind = type(x)
        self.inputs.guard(path, "type", kind)
        derived = base_of(kind) is not None
        if derived and base_of(kind) not in (list, tuple, dict):
            if holds_floats(x):
                self.refuse(x, name)
            return ("static", None if self.exact else x)
        there = place_of(x, path) if derived else path
        plain = held(x) if derived else x
        if isinstance(plain, dict):
            self.inputs.guard(there, "keys", tuple(plain))
            items = [self.walk(y, (*there, ("item", k)), f"{name}_{k}") for k, y in plain.items()]
            return ("dict", tuple(plain), tuple(items))
        self.inputs.guard(there, "len", len(plain))
        items = [self.walk(y, (*there, ("item", k)), f"{name}_{k}") for k, y in enumerate(plain)]
        return ("tuple" if isinstance(plain, tuple) else "list", tuple(items))

    def refuse(self, x: Any, name: str) -> NoReturn:
        raise UnsupportedError(
            f"cannot differentiate with respect to {name!r}: it holds floats in a {type(x).__name__}",
            self.lowered.loc,
            "pass them in a list, a tuple, a dict or an object, or leave it out of argnums",
        )

    def walk_object(self, x: Any, path: tuple[Any, ...], name: str) -> Any:
        """A copy of the object with cotangents for the attributes that hold floats."""
        self.inputs.guard(path, "type", type(x))
        if hasattr(x, "__dict__"):
            self.inputs.guard((*path, ("attr", "__dict__")), "keys", tuple(x.__dict__))
        self.outer.append(x)
        names, items = [], []
        for attribute, value in own_attributes(x).items():
            before, kept = len(self.wrt), len(self.kept)
            item = self.walk(value, (*path, *own_steps(x, attribute)), attribute)
            if len(self.wrt) > before:
                names.append(attribute)
                items.append(item)
            else:
                del self.kept[kept:]  # the copy of the object has this attribute
        self.outer.pop()
        _, number = self.keep(x, path, name)
        return ("like", number, tuple(names), tuple(items))

    def parameter(self, x: Any, path: tuple[Any, ...], name: str) -> int:
        """The number of the parameter at the path. It is added if the function does not read it."""
        inputs = self.lowered.inputs
        found = self.inputs.numbered.find(inputs, (path, False))
        if found is None:
            self.inputs.wrap(x, path, name, hidden=False)
            found = len(inputs) - 1
        return found

    def keep(self, x: Any, path: tuple[Any, ...], name: str) -> Any:
        self.kept.append(self.inputs.object_at(x, path, name))
        return ("leaf", -len(self.kept))  # see `finished`

    def finished(self, tree: Any) -> Any:
        """The structure with the leaves in `kept` numbered behind the others."""
        if tree[0] in ("leaf", "like") and tree[1] < 0:
            tree = (tree[0], len(self.wrt) - tree[1] - 1, *tree[2:])
        return tree if tree[0] in ("leaf", "static") else (*tree[:-1], tuple([self.finished(t) for t in tree[-1]]))


def holds_floats(x: Any) -> bool:
    """The value is a float, or a container or object that holds one."""
    if is_leaf(x):
        return bool(_dtype_of(x).kind in "fc")
    if isinstance(x, (str, bytes)) or not isinstance(x, collections.abc.Collection):
        return any(bool(_dtype_of(leaf).kind in "fc") for leaf in flatten(x)[0])
    return any(map(holds_floats, x.values() if isinstance(x, collections.abc.Mapping) else x))


def _dtype_of(x: Any) -> np.dtype[Any]:
    return x.dtype if is_duck(x) else np.result_type(x)


def _remedy(x: Any, name: str) -> str:
    if _dtype_of(x).kind not in "biu":
        return "pass it as a float, or leave it out of argnums"
    if isinstance(x, np.ndarray) or is_duck(x):
        return f"pass {name}.astype(float), or leave it out of argnums, or pass allow_int=True to get zeros"
    return f"pass it as a float, float({name}), or leave it out of argnums, or pass allow_int=True to get zeros"
