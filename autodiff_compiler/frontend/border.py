"""The border: where a container reaches what takes an array, and becomes one as `np.asarray` would make it.

Nothing behind it meets a container: primitives of NumPy's, their rules and the transforms see numbers and arrays, and
sequences only where NumPy takes a sequence of arrays.
"""

from __future__ import annotations

import collections
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import is_interruption
from ..ir.core import Prim, Value, type_of
from ..ir.opset import PRIMS
from ..ir.roles import ARRAY, KNOWN, PLAIN, STRICT, is_numpys, role_of, signature_of
from ..ir.types import Ty
from .avals import Columns, Instance, ListRef, Obj, RangeOf, Seq
from .handlers import Node, Val
from .structures import Leaf

if TYPE_CHECKING:
    from .orders import Orders as Before
else:  # the parts between are imported when they are first needed, see `parts`
    from .collection_calls import Collections as Before


class Border(Before):
    def accepted(
        self, fn: Any, signature: inspect.Signature | None, args: list[Val], kwargs: dict[str, Val], node: Node
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call that Python would let through; those without a default are positional."""
        if signature is None:
            return args, kwargs
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            if is_interruption(error):
                raise
            self.raises(TypeError, f"{fn.__name__}() {error}", node)
        if not kwargs:
            return args, kwargs
        args, kwargs = list(args), dict(kwargs)
        for p in list(signature.parameters.values())[len(args) :]:
            if p.name not in kwargs or p.kind is not p.POSITIONAL_OR_KEYWORD or p.default is not p.empty:
                break
            args.append(kwargs.pop(p.name))
        return args, kwargs

    def entering(
        self, fn: Any, names: tuple[str, ...], args: list[Val], kwargs: dict[str, Val], node: Node
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call of a function of NumPy's: where it makes arrays of containers, these are arrays."""
        args, kwargs = self.accepted(fn, signature_of(fn), args, kwargs, node)
        last = names[-1] if names and names[-1].startswith("*") else ""
        converted = [
            self.convert(
                av, role_of(fn, names[k] if k < len(names) else last), k < len(names) and names[k][0] != "*", node
            )
            for k, av in enumerate(args)
        ]
        return converted, {name: self.convert(av, role_of(fn, name), True, node) for name, av in kwargs.items()}

    def entering_primitive(
        self, prim: Prim, args: list[Val], kwargs: dict[str, Val], node: Node
    ) -> tuple[list[Any], dict[str, Any]]:
        if not is_numpys(prim):
            return args, kwargs
        return self.entering(prim.fn, prim.params, args, kwargs, node)

    def convert(self, av: Val, role: str, sequence: bool, node: Node) -> Val:
        """`sequence`: the argument itself is the sequence of arrays, where the role is that of one."""
        if role in (PLAIN, KNOWN):
            return av
        if role == STRICT:
            if self.is_container(av):
                kind = {Seq: "tuple", RangeOf: "range"}.get(type(av), "list")
                self.raises(AttributeError, f"{kind!r} object has no attribute 'ndim'", node, "", "pass an array")
            return av
        if role == ARRAY or not sequence:
            return self.as_array(av, node)
        return self.as_arrays(av, node)

    def as_arrays(self, av: Val, node: Node) -> Val:
        """A sequence of which each item is an array; all else as it is."""
        av = self.held_items(self.use(av, "the value", node), node)
        if type(av) is Seq:
            return Seq(tuple([self.as_array(x, node) for x in av.items]))
        if type(av) is ListRef:
            content = self.checked(av.cell, node, "list")
            if type(content) is not Columns:
                items = [self.as_array(x, node) for x in content.items]
                return av if all(x is y for x, y in zip(items, content.items)) else self.new_list(items)
        return self.of_arrays(av, node)

    def of_arrays(self, av: Val, node: Node) -> Val:
        """A list of run-time length with what NumPy makes of its items; all else as it is."""
        content = self.run_time_items(av, node)
        if content is None or type(content.structure) is Leaf:
            return av
        return self.as_list(self.mapped(Obj(np.array, None), av, node=node), node)

    def run_time_items(self, av: Val, node: Node) -> Columns | None:
        """What a list of run-time length holds; None for all else."""
        content = self.checked(av.cell, node, "list") if type(av) is ListRef else None
        return content if type(content) is Columns else None

    def type_of_items(self, av: Val, node: Node) -> Ty | None:
        """The type of the items of a list of run-time length that are numbers or arrays."""
        content = self.run_time_items(av, node)
        return type_of(content.leaves[0]).elem if content is not None and type(content.structure) is Leaf else None

    def as_array(self, av: Val, node: Node) -> Val:
        """What `np.asarray` makes of a container; all else as it is."""
        av = self.held_items(self.use(av, "the value", node), node)
        if self.is_container(av):
            return self.call(Obj(np.array, None), [av], {}, node)
        if type(av) is RangeOf:
            return self.call(Obj(np.arange, None), [av.start, av.stop, av.step], {}, node)
        if type(av) in (list, tuple) or (type(av) is Value and av.type.kind == "list"):
            return self.emit(node, PRIMS[np.array], av if type(av) is not tuple else list(av))
        return av

    def held_items(self, av: Val, node: Node) -> Val:
        """The list or tuple that NumPy takes an object for whose class is derived from it: it goes through it."""
        if type(av) not in (Instance, Obj) or self.derived_from(av) not in (list, tuple):
            return av
        held = self.underlying(av, node, "__iter__", "__array__")
        return self.as_list(av, node) if held is av and self.is_native(av, "__array__") else held

    def is_container(self, av: Val) -> bool:
        return type(av) in (Seq, ListRef, RangeOf) or (type(av) is Instance and av.cls is collections.deque)


__all__ = ["Border"]
