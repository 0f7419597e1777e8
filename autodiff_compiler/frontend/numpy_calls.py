"""Methods of arrays and of ufuncs, and dtypes as they are written."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError, RuleLookupError, is_interruption
from ..ir.core import Prim, Value, type_of
from ..ir.opset import lookup
from ..ir.types import ANY
from ..late import load
from ..operations.draws import drawn_from, generator_class, makes_generator
from . import library  # noqa: F401  (fills the table of definitions)
from .avals import DictRef, ListRef, Obj, Ref, Seq, describe
from .copies import Copies
from .definitions import METHODS
from .handlers import Node, Val, method_of, run


class NumpyCalls(Copies):
    def dtype_of(self, av: Val, node: Node) -> Val:
        """A dtype argument as an np.dtype, a value, or None."""
        if av is None:
            return None
        if type(av) is Value:
            return av
        try:
            return np.dtype(_static_spec(self, av, node))
        except TypeError as error:
            if is_interruption(error):
                raise
            self.fail(str(error), node, "", ArgumentError)

    # --- methods --------------------------------------------------------------------------------------------------

    def array_method(self, av: Val, name: str, args: list[Val], kwargs: dict[str, Val], node: Node) -> Val:
        if type(av) is Obj and isinstance(av.obj, np.ufunc):
            return _ufunc_method(self, av.obj, name, args, kwargs, node)
        if type(av) not in (Ref, Value):
            self.fail(f"{describe(av)} has no attribute {name!r} that is supported", node, "use a function of NumPy's")
        if type(av) is Value and av.type.kind in ("object", "any") and av.type.dims is None and av.type.dtype is None:
            shuffles = name == "shuffle" and makes_generator(av.op) and len(args) == 1 and not kwargs
            if shuffles and type(args[0]) in (Ref, ListRef):
                return self.call_shuffle(av, args[0], node)
            draw = drawn_from(av.op, name)
            if draw is not None:
                definition = load(f"{__package__}.library.draws").DRAWN.get((generator_class(av.op), name))
                return self.call_draw(draw, definition, av, args, kwargs, node)
            return self.call_foreign(method_prim(name), [av], args, kwargs, None, f"the method .{name}()", node)
        if type(av) is Ref and av.cell not in self.cells.numpy and self.read(av, node).type == ANY:
            # An object that some unknown function made, a random generator for instance.
            if method_of(np.ndarray, name) is None:
                return self.array_method(self.read(av, node), name, args, kwargs, node)
        _require_method(self, av, name, node)
        method = method_of(np.ndarray, name)
        if method is None:
            self.fail(
                f"the method .{name}() of arrays is not supported",
                node,
                "use a function of NumPy's, or keep the value out of the differentiated path",
                RuleLookupError,
            )
        return run(self, method, [av, *args], kwargs, node)


def _static_spec(ctx: NumpyCalls, av: Val, node: Node) -> Val:
    """A dtype as it is written: a class, a name, a list of the fields of a record."""
    if type(av) in (ListRef, Seq):
        items = [_static_spec(ctx, x, node) for x in ctx.static_items(av, node)]
        return items if type(av) is ListRef else tuple(items)
    if type(av) is DictRef:
        return {k: _static_spec(ctx, x, node) for k, x in ctx.entries_of(av, node).items()}
    return av.obj if type(av) is Obj else av


def _require_method(ctx: NumpyCalls, av: Val, name: str, node: Node) -> None:
    """NumPy's numbers do not have all methods of arrays."""
    t = type_of(ctx.operand(av, node))
    cls = np.ndarray if t.kind == "array" else t.dtype.type if t.kind == "generic" and t.dtype is not None else None
    if cls is not None and not hasattr(cls, name):
        ctx.raises(AttributeError, f"'{cls.__module__}.{cls.__name__}' object has no attribute {name!r}", node)


def _ufunc_method(ctx: NumpyCalls, ufunc: Any, name: str, args: list[Val], kwargs: dict[str, Val], node: Node) -> Any:
    method = method_of(np.ufunc, name)
    if method is not None:
        return run(ctx, method, [Obj(ufunc), *args], kwargs, node)
    bound = getattr(ufunc, name)
    prim = lookup(bound)
    if prim is not None:
        return ctx.call_prim(prim, args, kwargs, node)
    definition = METHODS.get((ufunc, name), METHODS.get(name))
    if definition is not None and not kwargs.get("out"):
        given = args if (ufunc, name) in METHODS else [Obj(ufunc, None), *args]
        return ctx.inline_function(Obj(definition, None), given, kwargs, node)
    ctx.fail(f"np.{ufunc.__name__}.{name} with these arguments is not supported", node, "", RuleLookupError)


_methods: dict[str, Prim] = {}


def method_prim(name: str) -> Prim:
    """A primitive that calls the method of an object of which nothing is known."""
    prim = _methods.get(name)
    if prim is None:

        def fn(obj: Any, *args: Val, **kwargs: Val) -> Any:
            return getattr(obj, name)(*args, **kwargs)

        fn.__name__ = name
        prim = _methods[name] = Prim(
            f"method {name}",
            fn,
            infer=lambda b, a, k: ANY,
            params=("*args",),
            alias="maybe",
            effects=True,
            foreign=True,
        )
    return prim
