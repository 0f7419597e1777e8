"""Nested containers: what a function returns, or takes, as a flat list of leaves and a description.

A description is a tree of small tuples, so that it can be compared, hashed where its keys can, and printed:

``("leaf", k)``             leaf number k
``("static", obj)``         a Python object known at compile time
``("tuple", items)``        also ``("list", items)``
``("dict", keys, items)``
``("make", cls, items)``    ``cls(*items)``: a named tuple or a dataclass
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

Tree = tuple[Any, ...]


def unflatten(tree: Tree, leaves: Sequence[Any]) -> Any:
    """The Python object that the tree describes, with these leaves.

    >>> unflatten(("tuple", (("leaf", 0), ("list", (("leaf", 1),)))), [1.0, 2.0])
    (1.0, [2.0])
    """
    kind = tree[0]
    if kind == "leaf":
        return leaves[tree[1]]
    if kind == "static":
        return tree[1]
    if kind == "tuple":
        return tuple([unflatten(t, leaves) for t in tree[1]])
    if kind == "list":
        return [unflatten(t, leaves) for t in tree[1]]
    if kind == "dict":
        return {k: unflatten(t, leaves) for k, t in zip(tree[1], tree[2])}
    return tree[1](*[unflatten(t, leaves) for t in tree[2]])


def flatten(obj: Any) -> tuple[list[Any], Tree]:
    """The leaves of nested containers, and their description. Numbers and arrays are leaves; None, bools and others
    static.

    >>> flatten({"w": 1.0, "b": [2.0, None]})
    ([1.0, 2.0], ('dict', ('w', 'b'), (('leaf', 0), ('list', (('leaf', 1), ('static', None))))))
    """
    leaves: list[Any] = []

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
        if dataclasses.is_dataclass(x) and not isinstance(x, type):
            fields = [f for f in dataclasses.fields(x) if f.init]
            return ("make", type(x), tuple([walk(getattr(x, f.name)) for f in fields]))
        return ("static", x)

    return leaves, walk(obj)


def is_leaf(x: Any) -> bool:
    """A number or an array (a bool is not one)."""
    return isinstance(x, (int, float, complex, np.ndarray, np.generic)) and not isinstance(x, (bool, np.bool_))
