"""Nested containers and objects as a flat list of leaves and a description of their structure.

A description is a tree of small tuples. It can be compared and printed, and hashed if its keys can be:

``("leaf", k)``                    leaf number k
``("static", obj)``                a Python object known at compile time
``("tuple", items)``               also ``("list", items)``
``("dict", keys, items)``
``("make", cls, items)``           ``cls(*items)``: a named tuple
``("new", cls, names, items)``     an instance of the class with these attributes, made without ``__init__``
``("like", k, names, items)``      a copy of an object, leaf number k, with other values for these attributes
``("copy", obj, names, items)``    the same of an object known at compile time
"""

from __future__ import annotations

import enum
import sys
import types
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from .duck import is_duck

Tree = tuple[Any, ...]

_HEAP_TYPE = 1 << 9  # the flag of classes that a program makes, and of some in C extensions


def children(tree: Tree) -> tuple[Tree, ...]:
    """The descriptions inside a description.

    >>> children(("tuple", (("leaf", 0), ("leaf", 1))))
    (('leaf', 0), ('leaf', 1))
    """
    return () if tree[0] in ("leaf", "static") else tree[-1]


def with_children(tree: Tree, items: Sequence[Tree]) -> Tree:
    """The same description with other descriptions inside."""
    return tree if tree[0] in ("leaf", "static") else (*tree[:-1], tuple(items))


def count_leaves(tree: Tree) -> int:
    """The number of leaves in a description."""
    return (tree[0] in ("leaf", "like")) + sum(count_leaves(t) for t in children(tree))


def leaf_numbers(tree: Tree) -> list[int]:
    """The numbers of the leaves in a description."""
    own = [tree[1]] if tree[0] in ("leaf", "like") else []
    return own + [number for t in children(tree) for number in leaf_numbers(t)]


def shift(tree: Tree, by: int) -> Tree:
    """The same description with the numbers of its leaves raised by `by`."""
    if tree[0] == "leaf":
        return ("leaf", tree[1] + by)
    out = with_children(tree, [shift(t, by) for t in children(tree)])
    return (out[0], out[1] + by, *out[2:]) if out[0] == "like" else out


def renumbered(tree: Tree, numbers: Mapping[int, int]) -> Tree:
    """The same description with other numbers for its leaves.

    >>> renumbered(("tuple", (("leaf", 3), ("leaf", 5))), {3: 0, 5: 1})
    ('tuple', (('leaf', 0), ('leaf', 1)))
    """
    if tree[0] == "leaf":
        return ("leaf", numbers[tree[1]])
    out = with_children(tree, [renumbered(t, numbers) for t in children(tree)])
    return (out[0], numbers[out[1]], *out[2:]) if out[0] == "like" else out


def unflatten(tree: Tree, leaves: Sequence[Any]) -> Any:
    """The Python object with this description and these leaves.

    >>> unflatten(("tuple", (("leaf", 0), ("list", (("leaf", 1),)))), [1.0, 2.0])
    (1.0, [2.0])
    """
    kind = tree[0]
    if kind == "leaf":
        return leaves[tree[1]]
    if kind == "static":
        return tree[1]
    items = [unflatten(t, leaves) for t in children(tree)]
    if kind == "tuple":
        return tuple(items)
    if kind == "list":
        return items
    if kind == "dict":
        return dict(zip(tree[1], items))
    if kind == "make":
        return tree[1](*items)
    if kind == "new":
        return new_object(tree[1], tree[2], items)
    return copy_with(leaves[tree[1]] if kind == "like" else tree[1], tree[2], items)


def flatten(obj: Any) -> tuple[list[Any], Tree]:
    """The leaves of a nested object, and its description. Numbers and arrays are leaves; other values are static.

    >>> flatten({"w": 1.0, "b": [2.0, None]})
    ([1.0, 2.0], ('dict', ('w', 'b'), (('leaf', 0), ('list', (('leaf', 1), ('static', None))))))
    """
    leaves: list[Any] = []
    outer: list[Any] = []  # the objects around: a reference back to one of them is not followed

    def walk(x: Any) -> Tree:
        if is_leaf(x):
            leaves.append(x)
            return ("leaf", len(leaves) - 1)
        if type(x) is tuple:
            return ("tuple", tuple([walk(item) for item in x]))
        if type(x) is list:
            return ("list", tuple([walk(item) for item in x]))
        if type(x) is dict:
            return ("dict", tuple(x), tuple([walk(item) for item in x.values()]))
        if isinstance(x, tuple) and hasattr(type(x), "_fields"):
            return ("make", type(x), tuple([walk(item) for item in x]))
        if is_object(x) and not any(x is y for y in outer):
            outer.append(x)
            start, own = len(leaves), own_attributes(x)
            items = [walk(value) for value in own.values()]
            outer.pop()
            if len(leaves) > start:
                return ("copy", x, tuple(own), tuple(items))
        return ("static", x)

    return leaves, walk(obj)


def leaves_like(tree: Tree, obj: Any) -> list[Any]:
    """The leaves of an object that has the structure of a description, in the order of the description's leaves.

    None stands for an object that the description only copies. Raises TypeError for another structure.
    """
    found: dict[int, Any] = {}
    _collect(tree, obj, found)
    return [found[k] for k in sorted(found)]


def _collect(t: Tree, x: Any, found: dict[int, Any]) -> None:
    kind = t[0]
    if kind == "leaf":
        found[t[1]] = x
    elif kind in ("new", "like", "copy"):
        if kind == "like":
            found[t[1]] = None
        for name, item in zip(t[2], t[-1]):
            if count_leaves(item):
                _collect(item, getattr(x, name), found)
    elif kind == "dict":
        needed = {key: item for key, item in zip(t[1], t[-1]) if count_leaves(item)}
        if not isinstance(x, dict) or not set(needed) <= set(x) <= set(t[1]):
            raise TypeError(f"it needs a dict with the keys {', '.join(map(repr, needed))}")
        for key, item in needed.items():
            _collect(item, x[key], found)
    elif kind != "static":
        if not isinstance(x, (tuple, list)) or len(x) != len(t[-1]):
            raise TypeError(f"it needs a {kind if kind != 'make' else t[1].__name__} of {len(t[-1])} items")
        for item, y in zip(t[-1], x):
            _collect(item, y, found)


def is_leaf(x: Any) -> bool:
    """The value is a number or an array. A bool is not a number here."""
    if isinstance(x, (int, float, complex, np.ndarray, np.generic)):
        return not isinstance(x, (bool, np.bool_, enum.Enum))
    return is_duck(x)


# --- objects ----------------------------------------------------------------------------------------------------------


def is_object(x: Any) -> bool:
    """The value is an instance of a user's class. Its attributes are its parts."""
    cls = type(x)
    if isinstance(x, (type, tuple, list, dict, str, bytes, int, float, complex, BaseException, enum.Enum, np.ndarray)):
        return False
    if cls is types.SimpleNamespace:
        return True
    if str(cls.__module__).startswith("scipy.sparse."):
        return getattr(x, "format", None) in ("csr", "csc", "coo", "dia")  # its entries are in `data`
    return not is_library_class(cls, sys.stdlib_module_names | {"numpy", "scipy", "autodiff_compiler"})


def is_library_class(cls: type, modules: Collection[str] = ("numpy", "scipy", "math")) -> bool:
    """The class is from one of these modules, or built into the interpreter."""
    if str(cls.__module__).startswith("numpy.polynomial."):
        return False
    module = str(cls.__module__).split(".")[0]  # some classes have a descriptor there
    if cls is types.SimpleNamespace:
        return False
    return not cls.__flags__ & _HEAP_TYPE or (module in modules and module != "builtins")


def class_lookup(cls: type, name: str, missing: Any = None) -> Any:
    """What a class, or one of its bases, has under a name; `missing` if nothing."""
    for klass in cls.__mro__:
        if name in klass.__dict__:
            return klass.__dict__[name]
    return missing


def slot_names(cls: type) -> list[str]:
    """The names of the slots of a class and its bases.

    >>> class Point:
    ...     __slots__ = ("x", "y")
    >>> slot_names(Point)
    ['x', 'y']
    """
    found = [n for c in cls.__mro__ for n, raw in c.__dict__.items() if isinstance(raw, types.MemberDescriptorType)]
    return [n for n in found if n != "__dict__"]


def own_attributes(x: Any) -> dict[str, Any]:
    """An object's own attributes, in its dictionary and its slots. No method of the class runs."""
    slots = {name: getattr(x, name) for name in slot_names(type(x)) if hasattr(x, name)}
    return {**getattr(x, "__dict__", {}), **slots}


def own_steps(x: Any, name: str) -> tuple[tuple[str, Any], ...]:
    """The steps of a path from an object to its own attribute. There is one path for each, however it is asked for.

    Where the class computes an attribute of that name, `getattr` does not give the object's own.

    >>> import types
    >>> own_steps(types.SimpleNamespace(x=1.0), "x")
    (('attr', 'x'),)
    """
    if name in getattr(x, "__dict__", ()) and hasattr(type(class_lookup(type(x), name)), "__set__"):
        return ("attr", "__dict__"), ("item", name)
    return (("attr", name),)


def new_object(cls: Any, names: Sequence[str], values: Sequence[Any]) -> Any:
    """An instance of a class with these attributes. No method of the class runs."""
    new = cls.__new__(cls) if cls is types.SimpleNamespace else object.__new__(cls)
    store_own(new, dict(zip(names, values)))
    return new


def store_own(x: Any, values: Mapping[str, Any]) -> None:
    """Give an object these attributes of its own. No method of the class runs."""
    held = getattr(x, "__dict__", None)
    slots = slot_names(type(x))
    for name, value in values.items():
        if held is None or name in slots:
            object.__setattr__(x, name, value)
        else:
            held[name] = value


def copy_with(obj: Any, names: Sequence[str], values: Sequence[Any]) -> Any:
    """A shallow copy of an object, frozen or not, with other values for these attributes.

    >>> import dataclasses
    >>> Point = dataclasses.make_dataclass("Point", ["x", "y"], frozen=True)
    >>> copy_with(Point(1.0, 2.0), ["y"], [5.0])
    Point(x=1.0, y=5.0)
    """
    held = {**own_attributes(obj), **dict(zip(names, values))}
    return new_object(type(obj), tuple(held), tuple(held.values()))
