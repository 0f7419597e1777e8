"""Python's built-in functions, and the methods of lists, dictionaries and strings."""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import operator
import sys
import traceback
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ir.core import Value, type_of
from ..ir.opset import OPERATORS, PRIMS, PRINT, TRUTH, opaque
from ..ir.types import py_int
from .avals import (
    COLLECTIONS,
    Instance,
    Obj,
    Partial,
    RangeOf,
    Seq,
    SliceOf,
    describe,
    is_constant,
    is_static_int,
)
from .dunders import IN_PLACE, changed
from .folds import proved
from .iterators import Handler
from .itertools_calls import Itertools, is_itertools
from .objects import is_object

_REFUSED = {
    "eval": "write the expression itself", "exec": "write the statements themselves", "globals": "name the variable",
    "locals": "name the variable", "input": "ask before, and pass the answer as an argument",
    "open": "read the file before, outside of the function, and pass what is in it",
    "compile": "write the code itself", "__import__": "use an import statement", "id": "compare with `is`",
    "memoryview": "use the array itself", "shares_memory": "ask outside of the function, of its arguments",
    "may_share_memory": "ask outside of the function, of its arguments",
    "exc_info": "name the exception, except ... as error", "exception": "name the exception, except ... as error",
    "_getframe": "pass what is asked for as an argument", "currentframe": "pass what is asked for as an argument",
    "stack": "pass what is asked for as an argument", "format_exc": "name the exception, and use str(error)",
    "print_exc": "name the exception, and print that", "extract_stack": "pass what is asked for as an argument",
}  # fmt: skip


class BuiltinCalls(Itertools):
    def special(self, obj: Any) -> Handler | None:
        try:
            name = _BUILTINS.get(obj) or _of_statistics(obj)
        except TypeError:
            return None
        if name is None:
            if is_itertools(obj):
                return lambda args, kwargs, node: self.itertools_call(obj, args, kwargs, node)
            if obj in COLLECTIONS:
                return lambda args, kwargs, node: self.construct_collection(obj, args, kwargs, node)
            if obj in IN_PLACE:
                return lambda args, kwargs, node: changed(self, IN_PLACE[obj], args[0], args[1], node)
            if obj in OPERATORS:
                return lambda args, kwargs, node: self.operator_call(obj, args, kwargs, node)
            if getattr(obj, "__self__", None) is dict and obj.__name__ == "fromkeys":
                return lambda args, kwargs, node: self.from_keys(args, node)
            return super().special(obj)
        if name in _REFUSED:
            return lambda args, kwargs, node: self.fail(f"{name}() is not supported", node, _REFUSED[name])
        return getattr(self, "b_" + name, None)

    def operator_call(self, fn: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        """A function of `operator` that is a binary operator."""
        self.only(args, 2, 2, kwargs, node, fn.__name__)
        if fn in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
            return self.compare_with(fn, args[0], args[1], node)
        return self.binary(fn, args[0], args[1], node)

    def b_getitem(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 2, kwargs, node, "getitem")
        return self.subscript(args[0], args[1], node)

    def b_setitem(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 3, 3, kwargs, node, "setitem")
        self.store_item(args[0], args[1], args[2], node)

    def b_delitem(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 2, kwargs, node, "delitem")
        self.delete_item(args[0], args[1], node)

    def b_contains(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 2, kwargs, node, "contains")
        return self.contains(args[1], args[0], node)

    # --- iterables ------------------------------------------------------------------------------------------------

    def b_range(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 3, kwargs, node, "range")
        values = [self.integer(a, node) for a in args]
        if len(values) == 1:
            return RangeOf(0, values[0], 1)
        if len(values) == 3 and values[2] == 0 and is_static_int(values[2]):
            self.raises(ValueError, "range() arg 3 must not be zero", node)
        return RangeOf(values[0], values[1], values[2] if len(values) == 3 else 1)

    def integer(self, av: Any, node: Any) -> Any:
        x = self.operand(av, node)
        t = type_of(x)
        if not (t.dtype is not None and t.dtype.kind in "iub") and not (
            t.kind in ("any", "scalar") and t.dtype is None
        ):
            self.fail(f"{describe(av)} cannot be interpreted as an integer", node, "", ArgumentError)
        if type(x) is Value and t.kind != "py":
            return self.emit(node, opaque_index(), x) if t.kind in ("any", "array") or t.dtype is None else x
        return int(x) if isinstance(x, bool) else x

    def b_list(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 0, 1, kwargs, node, "list")
        return self.as_list(args[0], node) if args else self.new_list([])

    def b_tuple(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 0, 1, kwargs, node, "tuple")
        if not args:
            return Seq(())
        if type(args[0]) is Value and args[0].type.kind == "shape":
            return args[0]
        items = self.iterated(self.iterable(args[0], node), node)
        if items is None:
            self.fail("tuple() of something whose length is known at run time only", node, "use a list", cause=args[0])
        return Seq(tuple(items))

    def b_dict(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 0, 1, {}, node, "dict")
        return self.new_dict({**(self.entries_of(args[0], node) if args else {}), **kwargs})

    def b_set(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.construct_collection(set, args, kwargs, node)

    def b_frozenset(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.construct_collection(frozenset, args, kwargs, node)

    # --- numbers --------------------------------------------------------------------------------------------------

    def b_len(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 1, kwargs, node, "len")
        return self.length(args[0], node)

    def number_call(self, fn: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if all(is_constant(a) for a in args) and not kwargs:
            try:
                return fn(*args)
            except (ValueError, TypeError, OverflowError, ZeroDivisionError):
                pass
        if args and (type(args[0]) is Instance or type(args[0]) is Obj):
            method = self.type_attribute(args[0], f"__{fn.__name__}__")
            if method is not None:
                return self.call(method, args, {}, node)
        return self.call_prim(PRIMS[fn], args, kwargs, node)

    def b_abs(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.number_call(abs, args, kwargs, node)

    def b_round(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.number_call(round, args, kwargs, node)

    def b_float(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if args and type(args[0]) is Value and str(args[0].type) == "float":
            return args[0]
        return self.number_call(float, args, kwargs, node) if args else 0.0

    def b_int(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if args and type(args[0]) is Value and args[0].type.kind == "py" and str(args[0].type) == "int":
            return args[0]
        return self.number_call(int, args, kwargs, node) if args else 0

    def b_complex(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.number_call(complex, args, kwargs, node)

    def b_bool(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 0, 1, kwargs, node, "bool")
        flag = self.truth(args[0], node) if args else proved("constants", False)
        if type(flag) is Value and flag.type.kind != "py":
            return self.emit(node, TRUTH, flag)  # NumPy's bool is another object
        return flag

    def b_not(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 1, kwargs, node, "not_")
        return self.negated(self.truth(args[0], node), node)

    def b_isfortran(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 1, kwargs, node, "isfortran")
        return self.attribute(self.attribute(args[0], "flags", node), "fnc", node)

    def b_is(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 2, kwargs, node, "is_")
        return self.identical(args[0], args[1], node)

    def b_is_not(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.negated(self.b_is(args, kwargs, node), node)

    def b_pow(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 2, kwargs, node, "pow")
        return self.binary(operator.pow, args[0], args[1], node)

    def b_divmod(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 2, kwargs, node, "divmod")
        a, b = args
        return Seq((self.binary(operator.floordiv, a, b, node), self.binary(operator.mod, a, b, node)))

    # --- objects --------------------------------------------------------------------------------------------------

    def b_print(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.emit(
            node, PRINT, *[self.plain(a, node) for a in args], **{k: self.plain(v, node) for k, v in kwargs.items()}
        )
        return None

    def b_str(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.text(str, args, node)

    def b_repr(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.text(repr, args, node)

    def b_format(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.text(format, args, node)

    def text(self, fn: Any, args: list[Any], node: Any) -> Any:
        if all(is_constant(a) for a in args):
            return fn(*args)
        if is_object(args[0]) and len(args) == 1:
            for name in ("__str__", "__repr__")[fn is repr :]:
                made = self.call_special(args[0], name, [], node)
                if made is not NotImplemented:
                    return made
            if type(args[0]) is Instance:
                self.fail(f"{fn.__name__}() of {describe(args[0])}", node, "write __repr__")
        return self.emit(node, opaque(fn, fn.__name__), *[self.plain(a, node) for a in args])

    def b_partial(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return Partial(args[0], tuple(args[1:]), tuple(kwargs), tuple(kwargs.values()))

    def b_slice(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 3, kwargs, node, "slice")
        return SliceOf(None, args[0], None) if len(args) == 1 else SliceOf(*args, *[None] * (3 - len(args)))

    def b_object(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.fail("object() is not supported", node, "use None, or a string")


def opaque_index() -> Any:
    """``operator.index`` as a primitive: an int of what may be one."""
    prim = opaque(operator.index, "operator.index")
    prim.infer = lambda b, a, k: py_int()
    return prim


_BUILTINS: dict[Any, str] = {
    obj: name
    for name, obj in vars(builtins).items()
    if not name.startswith("_") and callable(obj) and not (isinstance(obj, type) and issubclass(obj, BaseException))
}

# What looks at the frames of the program: those of the compiled code are others.
_LOOKS = {sys: ("exc_info", "exception", "_getframe"), inspect: ("currentframe", "stack")}
_LOOKS[traceback] = ("format_exc", "print_exc", "extract_stack")
_BUILTINS |= {getattr(module, n): n for module, names in _LOOKS.items() for n in names if hasattr(module, n)}
_BUILTINS[functools.partial] = "partial"
_BUILTINS[functools.reduce] = "reduce"
_BUILTINS |= {getattr(math, n): n for n in ("fsum", "prod", "dist", "sumprod") if hasattr(math, n)}
_BUILTINS |= {getattr(operator, n): n for n in ("getitem", "setitem", "delitem", "contains")}
_BUILTINS |= {operator.truth: "bool", operator.not_: "not", operator.is_: "is", operator.is_not: "is_not"}
_BUILTINS |= {np.isfortran: "isfortran", np.shares_memory: "shares_memory", np.may_share_memory: "may_share_memory"}


def _of_statistics(obj: Any) -> str | None:
    """How a mean of the module `statistics` is lowered. Only a program that uses it has imported the module."""
    loaded = sys.modules.get("statistics")
    return "mean" if loaded is not None and (obj is loaded.mean or obj is loaded.fmean) else None
